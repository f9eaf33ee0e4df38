"""MIMIC-RRS: two parallel text files, whose lines are the findings and the impression of one radiology report each."""

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
    """Read the two files in parallel, and skip lines that are empty in one of them, as in MedHELM.

    Raises:
        BenchmarkError: a file is missing, or the files have different numbers of lines, so that it is uncertain
            which lines belong together.
    """
    for name in (_FINDINGS, _IMPRESSIONS):
        if name not in files.names:
            raise BenchmarkError(
                f"{name}: is missing; expected both {_FINDINGS} and {_IMPRESSIONS}"
            )
    finding_count = sum(1 for _ in _iter_lines(files, _FINDINGS))
    impression_count = sum(1 for _ in _iter_lines(files, _IMPRESSIONS))
    if finding_count != impression_count:
        raise BenchmarkError(
            f"{_FINDINGS} has {finding_count} lines, but {_IMPRESSIONS} has {impression_count}: findings and "
            "impressions cannot be matched; copy both files again"
        )
    yield Table(COLUMNS, _pair_lines(files)), files.problems(_FINDINGS)


def _iter_lines(files: Files, name: str) -> Generator[str, None, None]:
    number = 0
    with files.open_text(name) as file:
        try:
            for number, line in enumerate(read_lines(file), 1):  # noqa: B007 - the error message uses the number
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
