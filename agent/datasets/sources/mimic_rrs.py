"""MIMIC-RRS: two text files whose lines belong together, findings and impressions of one radiology report a line."""

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import zip_longest

from agent.datasets.readers.files import Files
from agent.datasets.readers.lines import MAX_LENGTH, LongLineError, read_lines
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
            raise BenchmarkError(
                f"{name}: is missing; expected it beside the other of {_FINDINGS}, {_IMPRESSIONS}"
            )
    finding_count = sum(1 for _ in _iter_lines(files, _FINDINGS))
    impression_count = sum(1 for _ in _iter_lines(files, _IMPRESSIONS))
    if finding_count != impression_count:
        raise BenchmarkError(
            f"{_FINDINGS} has {finding_count} lines, and {_IMPRESSIONS} has {impression_count}: "
            "findings and impressions no longer belong together; copy both files again"
        )
    yield Table(COLUMNS, _pair_lines(files)), files.problems(_FINDINGS)


def _iter_lines(files: Files, name: str) -> Generator[str, None, None]:
    number = 0
    with files.open_text(name) as file:
        try:
            for number, line in enumerate(read_lines(file), 1):  # noqa: B007 - the last number is for the message
                yield line
        except LongLineError:
            raise files.problems(name).stop(
                f"line {number + 1}", f"has more than {MAX_LENGTH} characters"
            ) from None


def _pair_lines(files: Files) -> Iterator[Row]:
    with (
        closing(_iter_lines(files, _FINDINGS)) as findings,
        closing(_iter_lines(files, _IMPRESSIONS)) as impressions,
    ):
        pairs = zip_longest(findings, impressions, fillvalue="")
        for number, (finding, impression) in enumerate(pairs, 1):
            cells = {
                "line": str(number),
                "findings": finding.strip(),
                "impression": impression.strip(),
            }
            if cells["findings"] and cells["impression"]:
                yield Row(f"line {number}", cells)
