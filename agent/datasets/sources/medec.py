"""MEDEC's official CSV: notes with at most one wrong sentence, and empty rows where the gated part was cut out.

Most vignettes stand there twice, with the error and without or with two errors, and no column says so. Two notes are
taken for one vignette if they share more than half of their runs of five words: pairs of the public test set share at
least 66%, other notes 21% at most. (The first sentence alone does not tell: in six pairs the error is there.)
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TextIO

from agent.datasets.readers.csv_table import read_csv
from agent.datasets.readers.table import Problems, Row, Table

_NEEDED = ("Sentences", "Error Flag", "Error Sentence ID", "Corrected Sentence")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"^\d+ ", re.M)  # of a sentence
_RUN = 5  # words


def read_medec(file: TextIO, problems: Problems) -> Table:
    """Read the CSV, leave out rows that are empty in every column, and add the columns `gold` and `vignette`.

    `gold` is "CORRECT", or the wrong sentence's id, a space and the corrected sentence; `vignette` is the number of the
    first row that has it.
    """
    table = read_csv(file, problems)
    missing = [column for column in _NEEDED if column not in table.columns]
    if missing:
        raise problems.stop("the header line", f"lacks {', '.join(missing)}")
    return replace(table, columns=(*table.columns, "gold", "vignette"), rows=_rows(table.rows, problems))


def _rows(rows: Iterable[Row], problems: Problems) -> Iterator[Row]:
    vignettes = _Vignettes()
    for number, row in enumerate(rows, 1):
        if not any(row.cells.values()):
            continue
        flag, sentence = row.cells["Error Flag"].strip(), row.cells["Error Sentence ID"].strip()
        correction = row.cells["Corrected Sentence"].strip()
        if flag == "1" and correction not in ("", "NA") and sentence.isascii() and sentence.isdigit():
            gold = f"{sentence} {correction}"
        elif flag == "0" and sentence == "-1" and correction == "NA":
            gold = "CORRECT"
        else:
            problems.add(row.where, "Error Flag, Error Sentence ID and Corrected Sentence do not fit together")
            continue
        yield Row(row.where, {**row.cells, "gold": gold, "vignette": vignettes.of(row.cells["Sentences"], number)})


class _Vignettes:
    """Tells which notes are one vignette, in whatever order they come."""

    def __init__(self) -> None:
        self._holders: dict[tuple[str, ...], list[str]] = {}  # vignettes, by the runs of words that they hold
        self._sizes: dict[str, int] = {}

    def of(self, sentences: str, number: int) -> str:
        """Return the vignette of a note: an earlier one's, or `number`."""
        words = _WORD.findall(_NUMBER.sub("", sentences).lower())
        runs = {tuple(words[start : start + _RUN]) for start in range(max(len(words) - _RUN, 0) + 1)}
        shared = Counter(vignette for run in runs for vignette in self._holders.get(run, ()))
        for vignette, count in shared.most_common(1):
            if 2 * count > max(len(runs), self._sizes[vignette]):
                return vignette
        vignette = str(number)
        self._sizes[vignette] = len(runs)
        for run in runs:
            self._holders.setdefault(run, []).append(vignette)
        return vignette
