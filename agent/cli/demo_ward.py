"""The demo's private benchmark: invented patients of four wards, with one question about each."""

import csv
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agent.io.atomic_files import write_atomically

BENCHMARK: Final = "discharge-questions"
WARDS: Final = {"surgery": 80, "medicine": 70, "geriatrics": 24, "icu": 6}
"""Patients per ward. The last ward is too small to be reported, so a second one must be withheld as well."""

SUBGROUPS: Final = f"{BENCHMARK}:ward={','.join(WARDS)}"
"""The value of the option `--subgroup` with which `intramural benchmarks scorecard` adds cells for the wards."""

_DEFINITION: Final = """\
# Invented patients: a hospital's own benchmark, as `intramural benchmarks new` makes one.
name: discharge-questions
display_name: Discharge questions (invented)
description: Which drug a patient was discharged with, from an invented note.
category: Administration and Workflow
prompt_file: prompt.txt
dataset_file: data.csv
max_tokens: 16
choices:
  columns: [option_a, option_b, option_c]
gold: {column: answer, form: letter}
metrics:
  - name: exact_match
unit: patient
unit_column: patient
subgroup_columns: {ward: ward}
"""
_PROMPT: Final = """\
Note:
{note}

Question: Which of these drugs did the patient take home?

{options}

Answer with the letter of the right option and nothing else.
"""
_COLUMNS: Final = ("patient", "ward", "note", "option_a", "option_b", "option_c", "answer")
_COMPLAINTS: Final = (
    "chest pain",
    "a fall at home",
    "shortness of breath",
    "fever and cough",
    "a swollen leg",
)
_DRUGS: Final = (
    "apixaban",
    "metformin",
    "ramipril",
    "amoxicillin",
    "furosemide",
    "pantoprazole",
    "bisoprolol",
)
_SEED: Final = 20_700


def write_benchmark(folder: Path) -> None:
    """Write the benchmark's three files into a new folder, with the same patients each time."""
    folder.mkdir(parents=True)
    write_atomically(folder / "prompt.txt", _PROMPT.encode())
    with (folder / "data.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _COLUMNS)
        writer.writeheader()
        writer.writerows(_invent_patients())
    write_atomically(
        folder / "benchmark.yaml", _DEFINITION.encode()
    )  # written last: its presence makes the folder a benchmark


def _invent_patients() -> Iterator[dict[str, str]]:
    chance = random.Random(_SEED)  # noqa: S311 (invented patients, not secrets)
    number = 0
    for ward, patients in WARDS.items():
        for _ in range(patients):
            number += 1
            yield _invent_patient(number, ward, chance)


def _invent_patient(number: int, ward: str, chance: random.Random) -> dict[str, str]:
    options = chance.sample(_DRUGS, 3)
    # The first option is the right one slightly more often, so that the baselines' scores differ.
    place = chance.choices(range(3), weights=(5, 3, 2))[0]
    taken_home = options[place]
    mentioned = chance.choice(options)
    age, days = chance.randint(19, 93), chance.randint(2, 21)
    note = (
        f"Invented patient {number}, {age} years, admitted for {days} days with {chance.choice(_COMPLAINTS)}. "
        f"On admission {mentioned} was considered. Discharged home with {taken_home}, control in {days + 7} days."
    )
    return {
        "patient": f"P{number:04d}",
        "ward": ward,
        "note": note,
        "option_a": options[0],
        "option_b": options[1],
        "option_c": options[2],
        "answer": "ABC"[place],
    }
