"""MedAlign: clinicians' instructions, their own answers, and one XML record per patient.

The first file lists the responses of several models to each instruction, so that each instruction is repeated. The
second file lists the clinicians' answers. They are joined on `instruction_id`, and rows without a match are skipped.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from agent.datasets.readers.csv_table import read_tsv
from agent.datasets.readers.files import Files
from agent.datasets.readers.safe_xml import XmlError, read_elements
from agent.datasets.readers.table import Problems, Row, Table
from agent.errors import BenchmarkError

COLUMNS = ("instruction_id", "person_id", "question", "record", "response")
_INSTRUCTIONS, _RESPONSES = (
    "clinician-reviewed-model-responses.tsv",
    "clinician-instruction-responses.tsv",
)
_RECORDS = "medalign_ehr_xml"
_RECORD_NAME = re.compile(r"(?:EHR_)?(\d+)")
_ANNOTATOR = "Annotator_1"  # the annotator whose answer is the gold answer, as in MedHELM


def load_medalign(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Join instructions, answers and records. Each record is only read when its row is requested.

    Raises:
        BenchmarkError: a file is missing, or an instruction has two texts or two patients.
    """
    for name in (_INSTRUCTIONS, _RESPONSES):
        if name not in files.names:
            raise BenchmarkError(
                f"{name}: is missing; expected both TSV files and the folder {_RECORDS}"
            )
    instructions = _read_instructions(files)
    records = _find_records(files)
    problems = files.problems(_RESPONSES)
    with files.open_text(_RESPONSES) as file:
        table = read_tsv(file, problems).require(
            ("instruction_id", "annotator_num", "clinician_response"), problems
        )
        yield Table(COLUMNS, _join_rows(files, table, instructions, records, problems)), problems


@dataclass(frozen=True, slots=True)
class _Instruction:
    """A clinician's instruction: the patient that it is about, and its text."""

    person: str
    question: str


def _read_instructions(files: Files) -> dict[str, _Instruction]:
    """Return the instructions by id."""
    problems = files.problems(_INSTRUCTIONS)
    instructions: dict[str, _Instruction] = {}
    with files.open_text(_INSTRUCTIONS) as file:
        table = read_tsv(file, problems).require(
            ("instruction_id", "person_id", "question"), problems
        )
        for row in table.rows:
            instruction_id = _normalise_number(row.cells["instruction_id"])
            instruction = _Instruction(
                _normalise_number(row.cells["person_id"]), row.cells["question"].strip()
            )
            if not instruction_id or not instruction.person or not instruction.question:
                problems.add(row.where, "expected an instruction_id, a person_id and a question")
            elif instructions.setdefault(instruction_id, instruction) != instruction:
                problems.add(
                    row.where,
                    "has the instruction_id of an earlier row, but another person_id or question",
                )
    problems.check()
    return instructions


def _find_records(files: Files) -> dict[str, str]:
    """Return the file name of each patient's record: `123.xml`, or `EHR_123.xml` as in the release's documentation."""
    records: dict[str, str] = {}
    for name in files.names:
        path = PurePosixPath(name)
        match = _RECORD_NAME.fullmatch(path.stem)
        if path.parent.name == _RECORDS and match:
            person = _normalise_number(match[1])
            if person in records:
                raise BenchmarkError(f"{_RECORDS}: {path.name} is a second record of a patient")
            records[person] = name
    return records


def _join_rows(
    files: Files,
    table: Table,
    instructions: Mapping[str, _Instruction],
    records: Mapping[str, str],
    problems: Problems,
) -> Iterator[Row]:
    for row in table.rows:
        instruction_id = _normalise_number(row.cells["instruction_id"])
        instruction = instructions.get(instruction_id)
        if row.cells["annotator_num"].strip() != _ANNOTATOR or instruction is None:
            continue
        if instruction.person not in records:
            problems.add(row.where, f"the patient has no record in {_RECORDS}")
            continue
        record = _read_record(files, records[instruction.person], row.where, problems)
        if record is not None:
            cells = {
                "instruction_id": instruction_id,
                "person_id": instruction.person,
                "question": instruction.question,
                "record": record,
                "response": row.cells["clinician_response"],
            }
            yield Row(row.where, cells)


def _read_record(files: Files, name: str, where: str, problems: Problems) -> str | None:
    """Check that a record is valid XML, and return it unchanged, because the model is given the XML, as in MedHELM."""
    try:
        with files.open_binary(name) as file:
            read_elements(file)
    except XmlError as why:
        problems.add(where, f"the record {PurePosixPath(name).name}, {why.where}, {why.problem}")
        return None
    with files.open_text(name) as text:
        return text.read().strip()


def _normalise_number(text: str) -> str:
    """Normalise a whole number, because pandas wrote ids in columns with missing values as 12.0."""
    return text.strip().removesuffix(".0").lstrip("0")
