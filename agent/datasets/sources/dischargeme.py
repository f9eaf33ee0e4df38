"""Discharge Me! (MIMIC-IV): discharge texts, radiology reports and targets of one admission, joined by `hadm_id`.

Every admission gives two rows, the brief hospital course and the discharge instructions, each with that section taken
out of its discharge text. Diagnoses, triage and ED stays of the release are not read: MedHELM joins them and uses
nothing of them.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from agent.datasets.readers.csv_table import read_csv
from agent.datasets.readers.files import Files
from agent.datasets.readers.table import Problems, Row, Table
from agent.errors import BenchmarkError

COLUMNS = (
    "id",
    "subject_id",
    "hadm_id",
    "document",
    "discharge_text",
    "radiology_reports",
    "target",
)
_DISCHARGE, _RADIOLOGY, _TARGET = "discharge.csv.gz", "radiology.csv.gz", "discharge_target.csv.gz"


@dataclass(frozen=True, slots=True)
class _Section:
    """A section to write: its name in prompts, its column in the targets' file, and its heading in the text."""

    document: str
    column: str


_SECTIONS = (
    _Section("Brief Hospital Course", "brief_hospital_course"),
    _Section("Discharge Instructions", "discharge_instructions"),
)
# What may follow one of the two sections in MIMIC-IV's discharge notes.
_NEXT_HEADING = re.compile(
    r"^[ \t]*(?:medications on admission|discharge medications|discharge disposition|facility|discharge diagnosis|"
    r"discharge condition|discharge instructions|followup instructions|brief hospital course)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
# A shorter target ("Stable.") may stand elsewhere in a note for other reasons; 8 words in a row are no coincidence.
_WORDS_OF_A_COPY = 8


class _Cut(NamedTuple):
    """A stretch of a text to be taken out."""

    start: int
    end: int


def remove_section(text: str, heading: str, target: str) -> str:
    """Take a section out of a discharge text, and any other copy of its text.

    The section is what follows its heading: the target where that stands there (however its lines are broken), else
    everything up to the next heading. Words of the target elsewhere stay: only a copy of the whole of it goes.
    """
    words = target.split()
    copies = list(_find_copies(text, words)) if words else []
    cuts = list(copies) if len(words) >= _WORDS_OF_A_COPY else []
    match = re.search(rf"^[ \t]*{re.escape(heading)}[ \t]*:", text, re.IGNORECASE | re.MULTILINE)
    if match:
        cuts.append(_find_section(text, match.end(), copies))
    return _remove(text, cuts)


def _find_section(text: str, after_heading: int, copies: Sequence[_Cut]) -> _Cut:
    first_character = len(text) - len(text[after_heading:].lstrip())
    next_heading = _NEXT_HEADING.search(text, after_heading)
    end_of_target = next((copy.end for copy in copies if copy.start == first_character), None)
    if end_of_target is None:
        return _Cut(after_heading, next_heading.start() if next_heading else len(text))
    # The longer of the two: a target that was cut short must not leave its end behind.
    end = max(end_of_target, next_heading.start()) if next_heading else end_of_target
    return _Cut(after_heading, end)


def _find_copies(text: str, words: Sequence[str]) -> Iterator[_Cut]:
    """Yield where the words stand one behind the other, with any white space between them."""
    tokens = list(re.finditer(r"\S+", text))
    joined_text = " ".join(token[0] for token in tokens)
    joined_words = " ".join(words)
    starts = [
        0,
        *accumulate(len(token[0]) + 1 for token in tokens),
    ]  # of each token in `joined_text`

    def locate_in_text(index: int) -> int:
        number = bisect_right(starts, index) - 1
        return tokens[number].start() + index - starts[number]

    start = joined_text.find(joined_words)
    while start >= 0:
        end = start + len(joined_words)
        yield _Cut(locate_in_text(start), locate_in_text(end - 1) + 1)
        start = joined_text.find(joined_words, end)


def _remove(text: str, cuts: Sequence[_Cut]) -> str:
    """Join the text between the cuts, which may overlap."""
    parts = []
    end = 0
    for cut in sorted(cuts):
        if cut.start >= end:
            parts.append(text[end : cut.start])
        end = max(end, cut.end)
    parts.append(text[end:])
    return "\n___\n\n".join(parts)


def load_dischargeme(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Join the three files. The targets and radiology reports are held in memory, the discharge texts are not.

    Raises:
        BenchmarkError: a file is missing.
    """
    targets = _read_targets(files, _find_file(files, _TARGET))
    reports = _read_reports(files, _find_file(files, _RADIOLOGY))
    name = _find_file(files, _DISCHARGE)
    problems = files.problems(name)
    with files.open_text(name) as file:
        texts = read_csv(file, problems).require(("subject_id", "hadm_id", "text"), problems)
        yield Table(COLUMNS, _join_rows(texts, targets, reports, problems)), problems


def _find_file(files: Files, file_name: str) -> str:
    names = [name for name in files.names if name.rsplit("/", 1)[-1] == file_name]
    if len(names) != 1:
        raise BenchmarkError(
            f"{file_name}: is missing; expected the files of test_phase_1 as PhysioNet gives them"
        )
    return names[0]


def _join_rows(
    texts: Table,
    targets: Mapping[str, Mapping[str, str]],
    reports: Mapping[str, str],
    problems: Problems,
) -> Iterator[Row]:
    open_targets = dict(targets)
    for row in texts.rows:
        admission = row.cells["hadm_id"].strip()
        target = open_targets.pop(admission, None)
        if target is None:
            # Without a target there is nothing to write; a second text of one admission would make two golds of one.
            if admission in targets:
                problems.add(row.where, "is a second discharge text of one hadm_id")
            continue
        for section in _SECTIONS:
            gold = target[section.column]
            cells = {
                "id": f"{admission}/{section.column}",
                "subject_id": row.cells["subject_id"],
                "hadm_id": admission,
                "document": section.document,
                "discharge_text": remove_section(row.cells["text"], section.document, gold).strip(),
                "radiology_reports": reports.get(admission, "(none)"),
                "target": gold.strip(),
            }
            yield Row(f"{row.where}, {section.column}", cells)
    if open_targets:
        problems.add(
            "the whole file", f"has no text for {len(open_targets)} admissions of {_TARGET}"
        )


def _read_targets(files: Files, name: str) -> dict[str, Mapping[str, str]]:
    """Return both targets of each admission, by column."""
    problems = files.problems(name)
    columns = tuple(section.column for section in _SECTIONS)
    targets: dict[str, Mapping[str, str]] = {}
    with files.open_text(name) as file:
        for row in read_csv(file, problems).require(("hadm_id", *columns), problems).rows:
            admission = row.cells["hadm_id"].strip()
            if admission in targets:
                problems.add(row.where, "is a second row of one hadm_id")
            for column in columns:
                if not row.cells[column].strip():
                    problems.add(row.where, f"the column {column!r} is empty")
            targets[admission] = {column: row.cells[column] for column in columns}
    problems.check()
    return targets


@dataclass(frozen=True, slots=True)
class _Report:
    """A radiology report and its time, as the file writes it."""

    time: str
    text: str


def _read_reports(files: Files, name: str) -> dict[str, str]:
    """Return all reports of each admission in one text, in the order of their time."""
    problems = files.problems(name)
    reports: dict[str, list[_Report]] = {}
    with files.open_text(name) as file:
        table = read_csv(file, problems).require(("hadm_id", "text"), problems)
        for row in table.rows:
            report = _Report(row.cells.get("charttime", ""), row.cells["text"].strip())
            reports.setdefault(row.cells["hadm_id"].strip(), []).append(report)
    problems.check()
    return {admission: _join_reports(of_admission) for admission, of_admission in reports.items()}


def _join_reports(reports: list[_Report]) -> str:
    by_time = sorted(reports, key=lambda report: report.time)
    blocks = [
        f"## Report {number} of {len(reports)}\n{report.text}"
        for number, report in enumerate(by_time, 1)
    ]
    return "\n\n".join(blocks)
