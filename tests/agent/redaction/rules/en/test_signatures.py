"""Initials, logins and a name below thanks say who wrote a text."""

import pytest

from agent.redaction.engine import Engine


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("RO log ok initials pk\nLUA AVF placed", "pk"),
        ("updated in consult room by MFH 1612. Pt flew home.", "MFH"),
        ("Please call & fax the form back TODAY  - JH", "JH"),
        ("tc from pt, swelling less.  kd\nwill call again", "kd"),
        ("signed kpatel2 tech 1904", "kpatel2"),
        ("user name on the lab site is mquispe_71 if needed", "mquispe_71"),
        ("last edited anna.wojcik yesterday", "anna.wojcik"),
        ("thank u, god bless\nmari\n", "mari"),
        ("referrer: S. Blewitt, practice nurse", "Blewitt"),
    ],
)
def test_whoever_signed_is_not_shown(engine: Engine, text: str, gone: str):
    assert gone not in engine.redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "Vitamin D given by IV. Confirmed by CT and MRI.",
        "ABG on room air. Transfer to the floor - MRI",
        "Measured by PCR 2019; seen by PT and OT.",
        "bcl2, her2 and sglt2 were measured.",
        "Stable on room air.  ok\nNext dose at noon.",
    ],
)
def test_methods_units_and_services_stay(engine: Engine, text: str):
    assert engine.redact(text) == text
