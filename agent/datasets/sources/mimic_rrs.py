"""MIMIC-RRS: two text files whose lines belong together, findings and impressions of one radiology report a line."""

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import zip_longest

from agent.datasets.readers.files import Files
from agent.datasets.readers.lines import LONGEST, LongLineError, lines
from agent.datasets.readers.table import Problems, Row, Table
from agent.errors import BenchmarkError

COLUMNS = ("line", "findings", "impression")
_FINDINGS, _IMPRESSIONS = "test.findings.tok", "test.impression.tok"


def load_mimic_rrs(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the two files side by side; a line that is empty on one side is left out, as in MedHELM.

    Raises:
        BenchmarkError: a file is missing, or one has more lines than the other: then no line can be trusted to
            belong to its neighbour.
    """
    for name in (_FINDINGS, _IMPRESSIONS):
        if name not in files.names:
            raise BenchmarkError(f"{name}: is missing; expected it beside the other of {_FINDINGS}, {_IMPRESSIONS}")
    counts = [sum(1 for _ in _lines(files, name)) for name in (_FINDINGS, _IMPRESSIONS)]
    if counts[0] != counts[1]:
        raise BenchmarkError(
            f"{_FINDINGS} has {counts[0]} lines, and {_IMPRESSIONS} has {counts[1]}: findings and impressions no "
            "longer belong together; copy both files again"
        )
    yield Table(COLUMNS, _rows(files)), files.problems(_FINDINGS)


def _lines(files: Files, name: str) -> Generator[str, None, None]:
    number = 0
    with files.text(name) as file:
        try:
            for number, line in enumerate(lines(file), 1):  # noqa: B007 - the last number names the place
                yield line
        except LongLineError:
            raise files.problems(name).stop(f"line {number + 1}", f"has more than {LONGEST} characters") from None


def _rows(files: Files) -> Iterator[Row]:
    with closing(_lines(files, _FINDINGS)) as findings, closing(_lines(files, _IMPRESSIONS)) as impressions:
        pairs = zip_longest(findings, impressions, fillvalue="")
        for number, pair in enumerate(pairs, 1):
            finding, impression = (text.strip() for text in pair)
            if finding and impression:
                yield Row(f"line {number}", dict(zip(COLUMNS, (str(number), finding, impression), strict=True)))
