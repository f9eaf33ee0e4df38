"""Discharge Me! (MIMIC-IV): the discharge text, radiology reports and targets of each admission, joined by `hadm_id`.

Every admission gives two rows, one for the brief hospital course and one for the discharge instructions. That section
is removed from the row's discharge text. The release's diagnoses, triage and ED stays are not read; MedHELM joins
them, but does not use them.
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
    """A section that the model must write.

    Attributes:
        document: the section's name in prompts, which is also its heading in the text.
        column: the section's column in the file of targets.
    """

    document: str
    column: str


_SECTIONS = (
    _Section("Brief Hospital Course", "brief_hospital_course"),
    _Section("Discharge Instructions", "discharge_instructions"),
)
# Headings that may follow one of the two sections in MIMIC-IV's discharge notes.
_NEXT_HEADING = re.compile(
    r"^[ \t]*(?:medications on admission|discharge medications|discharge disposition|facility|discharge diagnosis|"
    r"discharge condition|discharge instructions|followup instructions|brief hospital course)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
# A short target ("Stable.") may occur elsewhere in a note by coincidence; a copy of 8 words is not a coincidence.
_WORDS_OF_A_COPY = 8


class _Cut(NamedTuple):
    """A span of a text that is to be removed."""

    start: int
    end: int


def remove_section(text: str, heading: str, target: str) -> str:
    """Remove a section from a discharge text, together with any other copy of the whole target.

    The section is the text after its heading: the target if it follows the heading (with any line breaks), or
    everything up to the next heading if it does not. Parts of the target that occur elsewhere are kept.
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
    # Use the later end: if the target was truncated, the rest of the section must be removed as well.
    end = max(end_of_target, next_heading.start()) if next_heading else end_of_target
    return _Cut(after_heading, end)


def _find_copies(text: str, words: Sequence[str]) -> Iterator[_Cut]:
    """Yield each span that contains exactly these words, with any white space between them."""
    tokens = list(re.finditer(r"\S+", text))
    joined_text = " ".join(token[0] for token in tokens)
    joined_words = " ".join(words)
    # The start of each token in `joined_text`.
    starts = [0, *accumulate(len(token[0]) + 1 for token in tokens)]

    def locate_in_text(index: int) -> int:
        number = bisect_right(starts, index) - 1
        return tokens[number].start() + index - starts[number]

    start = joined_text.find(joined_words)
    while start >= 0:
        end = start + len(joined_words)
        yield _Cut(locate_in_text(start), locate_in_text(end - 1) + 1)
        start = joined_text.find(joined_words, end)


def _remove(text: str, cuts: Sequence[_Cut]) -> str:
    """Remove the cuts, which may overlap, and join the rest."""
    parts = []
    end = 0
    for cut in sorted(cuts):
        if cut.start >= end:
            parts.append(text[end : cut.start])
        end = max(end, cut.end)
    parts.append(text[end:])
    return "\n___\n\n".join(parts)


def load_dischargeme(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Join the three files. Targets and radiology reports are kept in memory, but discharge texts are not.

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
            f"{file_name}: is missing; expected the files of test_phase_1 as published by PhysioNet"
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
            # Skip admissions without a target. Refuse a second text for an admission, which would repeat its right
            # answers.
            if admission in targets:
                problems.add(row.where, "is a second discharge text for the same hadm_id")
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
        count = len(open_targets)
        admissions = "1 admission" if count == 1 else f"{count} admissions"
        problems.add("the whole file", f"has no text for {admissions} of {_TARGET}")


def _read_targets(files: Files, name: str) -> dict[str, Mapping[str, str]]:
    """Return the two targets of each admission, by column."""
    problems = files.problems(name)
    columns = tuple(section.column for section in _SECTIONS)
    targets: dict[str, Mapping[str, str]] = {}
    with files.open_text(name) as file:
        for row in read_csv(file, problems).require(("hadm_id", *columns), problems).rows:
            admission = row.cells["hadm_id"].strip()
            if admission in targets:
                problems.add(row.where, "is a second row for the same hadm_id")
            for column in columns:
                if not row.cells[column].strip():
                    problems.add(row.where, f"the column {column!r} is empty")
            targets[admission] = {column: row.cells[column] for column in columns}
    problems.check()
    return targets


@dataclass(frozen=True, slots=True)
class _Report:
    """A radiology report and its time as written in the file."""

    time: str
    text: str


def _read_reports(files: Files, name: str) -> dict[str, str]:
    """Return the reports of each admission as one text, ordered by time."""
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
