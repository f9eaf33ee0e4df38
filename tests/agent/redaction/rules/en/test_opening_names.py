"""Names with which a note begins, in a prompt after its label, whatever the surname is."""

import pytest

from agent.redaction.deadline import Deadline
from agent.redaction.engine import open_engine
from agent.redaction.redacted import CuedText
from agent.redaction.rules.en.opening_names import find_opening_names

NAMES = (
    "Finn Example", "Dov Nobody", "Ola Table", "Mara Person", "Ines Sample", "Rosa Bright", "Nia Cold", "Kofi Day",
    "Uma Field", "Jorge Small", "Priya Last", "Wren Winter",
)  # fmt: skip
CUES = ("", "Note:\n", "Patient note:\n", "Question: ", "Case:\n")
NOTES = (
    "{}. 9 y, asthma. Salbutamol given at 0300, SpO2 96 %.",
    "{}, 44 y, chest pain since the morning. Troponin negative.",
    "{} is a 54-year-old with a cough.",
    "{} 31 F, fell on the stairs, no loss of consciousness.",
)
HEADINGS = (
    "Asthma Exacerbation. 9 y, salbutamol given.",
    "Chest Pain. 44 y, troponin negative.",
    "Crohn Disease. 31 y, on infliximab.",
    "Hashimoto Thyroiditis, 44 F, levothyroxine.",
    "Left Knee. 12 y, effusion.",
    "Whipple Procedure. Uneventful.",
    "Acute Appendicitis: 12 y, surgery today.",
    "Background: Type 2 diabetes.",
    "Metformin Hydrochloride. 500 mg twice daily.",
    "Dear Colleague, thank you for the referral.",
    "Physical Examination: unremarkable.",
    "Past History: none.",
)


def find(text: str) -> list[str]:
    deadline = Deadline()
    deadline.start(60)
    return [text[start:end] for _, start, end in find_opening_names(text, deadline)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("note", NOTES)
@pytest.mark.parametrize("cue", CUES)
def test_a_given_name_and_any_word_that_begin_a_note_are_a_name(cue: str, note: str, name: str):
    assert find(cue + note.format(name)) == [name]


@pytest.mark.parametrize("name", ["Finn Example", "Dov Nobody", "Tadeusz Paper"])
def test_a_name_of_no_list_begins_a_note_without_an_age(name: str):
    assert find(f"Note:\n{name}. Asthma since childhood.") == [name]
    assert find(f"The plan was discussed with the family. {name}. Asthma since childhood.") == []


@pytest.mark.parametrize("heading", HEADINGS)
@pytest.mark.parametrize("cue", CUES)
def test_a_heading_or_a_disease_begins_a_note(cue: str, heading: str):
    assert find(cue + heading) == []


@pytest.mark.parametrize("cue", CUES)
def test_the_engine_takes_such_a_name_in_a_cell_after_its_label(cue: str):
    engine = open_engine("hipaa_safe_harbor")
    for name in ("Finn Example", "Dov Nobody"):
        cell = CuedText(NOTES[0].format(name), (cue,) if cue else ())
        assert name.split()[0] not in engine.redact_record([cell])[0]
