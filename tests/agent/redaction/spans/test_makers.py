"""Makers and products stay; where somebody works, and people of that name, are taken."""

import pytest

from agent.redaction.engine import Engine
from agent.redaction.spans.makers import is_maker
from agent.redaction.spans.span import Span

HARMLESS = (
    "Dual chamber device by Medtronic, Biotronik or Boston Scientific; interrogate before theatre.",
    "Scanned on a 3T Siemens Skyra without contrast.",
    "Analyser: Roche cobas 8000, back-up Abbott Architect.",
    "Serum in Sarstedt Monovette, plasma in BD Vacutainer.",
    "Ventilated on a Hamilton-C6, then a Dräger Evita.",
    "Blood gas on the Radiometer ABL90, lactate 1.2.",
    "Dressing: Mepilex Border, then Allevyn.",
    "Hearing aids Oticon, tubing replaced.",
    "Feeding tube Corpak at 65 cm.",
    "Convatec pouch leaking, changed to Coloplast.",
    "Dexcom G7 paired with the Omnipod.",
    "She messages him by WhatsApp.",
    "Cook exchange catheter over the bougie.",
    "Sysmex and Beckman-Coulter counts agree.",
)
PEOPLE = (
    ("works at Medtronic as a fitter", "Medtronic"),
    ("Employer: Biotronik", "Biotronik"),
    ("retired Medtronic engineer, 71", "Medtronic"),
    ("Laid off from Siemens in May.", "Siemens"),
    ("20 years at Pfizer on the line", "Pfizer"),
    ("Dr Cook will review.", "Cook"),
    ("Seen by Nurse Abbott.", "Abbott"),
    ("Mr Zimmer, 81, fell.", "Zimmer"),
    ("Baxter was told of the plan.", "Baxter"),
    ("Mrs Edwards and her son", "Edwards"),
    ("Lucas wants to go home.", "Lucas"),
    ("Kendall lives alone.", "Kendall"),
)


@pytest.mark.parametrize("text", HARMLESS)
def test_a_maker_or_product_stays(engine: Engine, text: str):
    assert engine.redact(text) == text


@pytest.mark.parametrize(("text", "name"), PEOPLE)
def test_an_employer_and_a_person_of_that_name_are_no_maker(text: str, name: str):
    start = text.index(name)
    assert not is_maker(Span(start, start + len(name), "ORGANIZATION"), text)


def test_a_surname_beside_a_product_is_taken_with_its_title(engine: Engine):
    assert "Cook" not in engine.redact("Dr Cook fitted the Medtronic device on 3/4/2021.")
