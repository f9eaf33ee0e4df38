"""MEDEC's official CSV: notes with at most one wrong sentence, and empty rows in place of the gated part.

Most vignettes occur twice, with and without an error or with two different errors, and no column shows this. Two notes
count as the same vignette if they share more than half of their runs of five words. In the public test set, pairs
share at least 66%, and other notes at most 21%. (The first sentence is not sufficient: in six pairs it has the error.)
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from agent.catalog.template import describe_found_columns
from agent.datasets.readers.csv_table import read_csv
from agent.datasets.readers.table import Problems, Row, Table

_NEEDED = ("Sentences", "Error Flag", "Error Sentence ID", "Corrected Sentence")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"^\d+ ", re.M)  # number of a sentence
_RUN = 5  # words


def read_medec(file: TextIO, problems: Problems) -> Table:
    """Read the CSV, skip rows that are entirely empty, and add the columns `gold` and `vignette`.

    `gold` is "CORRECT", or the wrong sentence's id, a space and the corrected sentence. `vignette` is the number of the
    first row with the same vignette.
    """
    table = read_csv(file, problems)
    missing = [column for column in _NEEDED if column not in table.columns]
    if missing:
        found = describe_found_columns(table.columns, _NEEDED)
        raise problems.stop("the header line", f"lacks {', '.join(missing)}; {found}")
    return table.add_columns(("gold", "vignette"), _read_rows(table.rows, problems))


def _read_rows(rows: Iterable[Row], problems: Problems) -> Iterator[Row]:
    vignettes = _Vignettes()
    for number, row in enumerate(rows, 1):
        if not any(row.cells.values()):
            continue
        gold = _read_gold(row.cells)
        if gold is None:
            problems.add(
                row.where,
                "Error Flag, Error Sentence ID and Corrected Sentence contradict each other",
            )
            continue
        vignette = vignettes.assign(row.cells["Sentences"], number)
        yield row._replace(cells={**row.cells, "gold": gold, "vignette": vignette})


def _read_gold(cells: Mapping[str, str]) -> str | None:
    """Return the right answer, or None if the three columns contradict each other."""
    flag = cells["Error Flag"].strip()
    sentence = cells["Error Sentence ID"].strip()
    correction = cells["Corrected Sentence"].strip()
    if flag == "0" and sentence == "-1" and correction == "NA":
        return "CORRECT"
    names_sentence = sentence.isascii() and sentence.isdigit()
    if flag == "1" and names_sentence and correction not in ("", "NA"):
        return f"{sentence} {correction}"
    return None


class _Vignettes:
    """Assigns notes to vignettes."""

    def __init__(self) -> None:
        # Run of words -> vignettes that contain it.
        self._holders: dict[tuple[str, ...], list[str]] = {}
        # Vignette -> number of runs.
        self._sizes: dict[str, int] = {}

    def assign(self, sentences: str, number: int) -> str:
        """Return the vignette of a note: that of a similar earlier note, or else `number`."""
        runs = _split_runs(sentences)
        earlier = self._find(runs)
        if earlier is not None:
            return earlier
        vignette = str(number)
        self._sizes[vignette] = len(runs)
        for run in runs:
            self._holders.setdefault(run, []).append(vignette)
        return vignette

    def _find(self, runs: set[tuple[str, ...]]) -> str | None:
        """Return the vignette that shares more than half of the longer note's runs, if there is one."""
        shared: Counter[str] = Counter()
        for run in runs:
            shared.update(self._holders.get(run, ()))
        for vignette, count in shared.most_common(1):
            if 2 * count > max(len(runs), self._sizes[vignette]):
                return vignette
        return None


def _split_runs(sentences: str) -> set[tuple[str, ...]]:
    """Return all runs of `_RUN` words; a shorter note is a single run."""
    words = _WORD.findall(_NUMBER.sub("", sentences).lower())
    last_start = max(len(words) - _RUN, 0)
    return {tuple(words[start : start + _RUN]) for start in range(last_start + 1)}
