"""Names in another code are read, and numbers and short words are no code."""

import pytest

from agent.redaction.redacted import Withheld
from agent.redaction.views.views import build_views
from tests.agent.redaction.views.disguised_texts import list_views


def test_a_disguise_in_a_disguise_is_read():
    text = "id %55%6D%46%71%5A%58%4E%6F%49%46%42%68%64%47%56%73"  # base64 in URL escapes
    assert any("Rajesh Patel" in view.text for view in list_views(text))


@pytest.mark.parametrize("reference", ["&#1;", "&#11;", "&#x1F;", "&#xFDD0;"])
def test_a_reference_to_no_character_spoils_nothing(reference: str):
    assert isinstance(build_views(f"Vitals {reference} fine"), tuple)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("the patient is Sm9z6SBO+vFleg== today", "José Núñez"),
        ("data TWFy Z2Fy ZXQg SG9s bG93 YXk= seen", "Margaret Holloway"),
        ("id 48;6f;6c;6c;6f;77;61;79", "Holloway"),
        ("id 48.6f.6c.6c.6f.77.61.79", "Holloway"),
        ("id 72/111/108/108/111/119/97/121", "Holloway"),
        ("%u0048%u006f%u006c%u006c%u006f%u0077%u0061%u0079", "Holloway"),
        ('["H", "o","l","l","o","w","a","y"]', "Holloway"),
        (r"\N{LATIN CAPITAL LETTER H}olloway", "Holloway"),
        ("\u2813\u2815\u2807\u2807\u2815\u283a\u2801\u283d", "Holloway"),
        ("member number k t seven two eight five", "KT7285"),
        ("Ho[NAME-1]ll[ID-7]oway", "Holloway"),
    ],
)
def test_a_name_in_another_code_is_read(written: str, read: str):
    views = build_views(written)
    assert not isinstance(views, Withheld)
    assert any(read in view.text for view in views)


@pytest.mark.parametrize(
    "text", ["BP 120/80/72/60, then 98/64", "that have been seen with them", "pH 7.35.40, 10.20.30"]
)
def test_numbers_and_words_of_four_letters_are_no_code(text: str):
    views = build_views(text)
    assert not isinstance(views, Withheld)
    assert len(views) == 1
