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

from agent.datasets.readers.csv_table import read_csv
from agent.datasets.readers.files import Files
from agent.datasets.readers.table import Problems, Row, Table
from agent.errors import BenchmarkError

COLUMNS = ("id", "subject_id", "hadm_id", "document", "discharge_text", "radiology_reports", "target")
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
_WORDS_OF_A_COPY = 8  # so many words in a row are no chance: fewer ("Stable.") stand in a note for other reasons


def without_section(text: str, heading: str, target: str) -> str:
    """Take a section out of a discharge text, and any other copy of its text.

    The section is what follows its heading: the target where that stands there (however its lines are broken), else
    everything up to the next heading. Words of the target elsewhere stay: only a copy of the whole of it goes.
    """
    words = target.split()
    copies = list(_copies(text, words)) if words else []
    cuts = list(copies) if len(words) >= _WORDS_OF_A_COPY else []
    found = re.search(rf"^[ \t]*{re.escape(heading)}[ \t]*:", text, re.IGNORECASE | re.MULTILINE)
    if found:
        after = found.end()
        start = len(text) - len(text[after:].lstrip())
        end_of_target = next((end for begin, end in copies if begin == start), None)
        following = _NEXT_HEADING.search(text, after)
        # The longer of the two: a target that was cut short must not leave its end behind.
        up_to_next = following.start() if following else len(text) if end_of_target is None else after
        cuts.append((after, max(end_of_target or after, up_to_next)))
    return _without(text, cuts)


def _copies(text: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where the words stand one behind the other, whatever white space is between them."""
    tokens = list(re.finditer(r"\S+", text))
    joined, wanted = " ".join(token[0] for token in tokens), " ".join(words)
    starts = [0, *accumulate(len(token[0]) + 1 for token in tokens)]  # of each token in `joined`

    def place(index: int) -> int:
        token = bisect_right(starts, index) - 1
        return tokens[token].start() + index - starts[token]

    at = joined.find(wanted)
    while at >= 0:
        yield place(at), place(at + len(wanted) - 1) + 1
        at = joined.find(wanted, at + len(wanted))


def _without(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    kept, done = [], 0
    for begin, end in sorted(cuts):
        if begin >= done:
            kept.append(text[done:begin])
        done = max(done, end)
    return "\n___\n\n".join((*kept, text[done:]))


def load_dischargeme(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Join the three files. The targets and radiology reports are held in memory, the discharge texts are not.

    Raises:
        BenchmarkError: a file is missing.
    """
    names = {last: _named(files, last) for last in (_DISCHARGE, _RADIOLOGY, _TARGET)}
    targets = _targets(files, names[_TARGET])
    reports = _reports(files, names[_RADIOLOGY])
    problems = files.problems(names[_DISCHARGE])
    with files.text(names[_DISCHARGE]) as file:
        texts = read_csv(file, problems).needs(("subject_id", "hadm_id", "text"), problems)
        yield Table(COLUMNS, _rows(texts, targets, reports, problems)), problems


def _named(files: Files, last: str) -> str:
    names = [name for name in files.names if name.rsplit("/", 1)[-1] == last]
    if len(names) != 1:
        raise BenchmarkError(f"{last}: is missing; expected the files of test_phase_1 as PhysioNet gives them")
    return names[0]


def _rows(
    texts: Table, targets: dict[str, Mapping[str, str]], reports: Mapping[str, str], problems: Problems
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
                "discharge_text": without_section(row.cells["text"], section.document, gold).strip(),
                "radiology_reports": reports.get(admission, "(none)"),
                "target": gold.strip(),
            }
            yield Row(f"{row.where}, {section.column}", cells)
    if open_targets:
        problems.add("the whole file", f"has no text for {len(open_targets)} admissions of {_TARGET}")


def _targets(files: Files, name: str) -> dict[str, Mapping[str, str]]:
    problems = files.problems(name)
    columns = tuple(section.column for section in _SECTIONS)
    found: dict[str, Mapping[str, str]] = {}
    with files.text(name) as file:
        for row in read_csv(file, problems).needs(("hadm_id", *columns), problems).rows:
            admission = row.cells["hadm_id"].strip()
            if admission in found:
                problems.add(row.where, "is a second row of one hadm_id")
            for column in columns:
                if not row.cells[column].strip():
                    problems.add(row.where, f"the column {column!r} is empty")
            found[admission] = {column: row.cells[column] for column in columns}
    problems.check()
    return found


def _reports(files: Files, name: str) -> dict[str, str]:
    """Return all reports of each admission in one text, in the order of their time."""
    problems = files.problems(name)
    found: dict[str, list[tuple[str, str]]] = {}
    with files.text(name) as file:
        table = read_csv(file, problems).needs(("hadm_id", "text"), problems)
        for row in table.rows:
            report = (row.cells.get("charttime", ""), row.cells["text"].strip())
            found.setdefault(row.cells["hadm_id"].strip(), []).append(report)
    problems.check()
    return {
        admission: "\n\n".join(
            f"## Report {number} of {len(reports)}\n{text}"
            for number, (_, text) in enumerate(sorted(reports, key=lambda report: report[0]), 1)
        )
        for admission, reports in found.items()
    }
