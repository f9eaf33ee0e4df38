"""n2c2 2018, track 1: one XML file per patient, with all notes in one text and one tag per criterion."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from agent.datasets.readers.files import Files
from agent.datasets.readers.safe_xml import Element, XmlError, read_elements
from agent.datasets.readers.table import Problems, Row, Table
from agent.errors import BenchmarkError

COLUMNS = ("id", "patient", "criterion", "definition", "note_count", "notes", "current_date", "met")
_BETWEEN_NOTES = re.compile(r"\*{100,}")  # a line of 100 asterisks
_DATE = re.compile(r"Record date:\s*(\d{4}-\d{2}-\d{2})")
_MET = {"met": "yes", "not met": "no"}


def load_n2c2(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the patients' files. The run entry's `subject` is the criterion; `data.options` contains its definition."""
    criterion = files.arguments["subject"]
    definition = files.options.get(criterion)
    if definition is None:
        raise BenchmarkError(
            f"subject={criterion}: the definition lacks a text for this criterion in data.options"
        )
    problems = files.problems("test")
    yield Table(COLUMNS, _read_patients(files, criterion, definition, problems)), problems


def _read_patients(
    files: Files, criterion: str, definition: str, problems: Problems
) -> Iterator[Row]:
    for name in files.names:
        file_name = PurePosixPath(name)
        try:
            with files.open_binary(name) as file:
                elements = read_elements(file)
        except XmlError as why:
            problems.add(f"{file_name.name} {why.where}", why.problem)
            continue
        cells = _read_patient(elements, criterion, file_name.name, problems)
        if cells is not None:
            fixed = {
                "id": f"{criterion}/{file_name.stem}",
                "patient": file_name.stem,
                "criterion": criterion,
                "definition": definition,
            }
            yield Row(file_name.name, {**fixed, **cells})


def _read_patient(
    elements: list[Element], criterion: str, where: str, problems: Problems
) -> dict[str, str] | None:
    texts = [element.text for element in elements if element.path[-1] == "TEXT"]
    tags = [element for element in elements if element.path[-2:] == ("TAGS", criterion)]
    met = None
    if len(tags) == 1:
        met = _MET.get(tags[0].attributes.get("met", ""))
    if len(texts) != 1:
        problems.add(where, f"expected one <TEXT>, found {len(texts)}")
    if met is None:
        problems.add(
            where, f'expected one <{criterion}> in <TAGS>, with met="met" or met="not met"'
        )
    if len(texts) != 1 or met is None:
        return None
    notes = _split_notes(texts[0])
    dates = []
    blocks = []
    for number, note in enumerate(notes, 1):
        heading = f"## Note {number} of {len(notes)}"
        match = _DATE.search(note)
        if match:
            dates.append(match[1])
            heading += f", written {match[1]}"
        blocks.append(f"{heading}\n{note}")
    if not dates:
        problems.add(
            where, "no note has a `Record date: YYYY-MM-DD`, so the current date is unknown"
        )
        return None
    # Use the latest date instead of the last note's, because notes may be out of order.
    return {
        "note_count": str(len(notes)),
        "notes": "\n\n".join(blocks),
        "current_date": max(dates),
        "met": met,
    }


def _split_notes(text: str) -> list[str]:
    """Return the notes that are not empty, with repeated blank lines merged into one."""
    notes = []
    for part in _BETWEEN_NOTES.split(text):
        note = re.sub(r"\n{3,}", "\n\n", part.strip())
        if note:
            notes.append(note)
    return notes
