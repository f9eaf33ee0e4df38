"""Days in running text."""

import pytest

from agent.redaction.identity.days import WrittenDay, find_days
from agent.redaction.identity.words import split_words
from tests.agent.redaction.identity.covered_texts import covered


def list_days(text: str) -> list[WrittenDay]:
    return list(find_days(text, split_words(text)))


@pytest.mark.parametrize("text", ["{} March 2022", "March {} 2022"])
def test_a_number_of_thousands_of_digits_beside_a_month_is_no_day(text: str) -> None:
    assert len(list_days(text.format("14"))) == 1
    assert all(day.end - day.start < 20 for day in list_days(text.format("1" * 5_000)))


PLAIN = [
    # a value as its dataset says it, how a text writes it, and what must be covered of it
    ("DATE", "2022-03-14", "seen 14.03.2022 again", "14.03.2022"),
    ("DATE", "03/14/2022", "seen 20220314 again", "20220314"),
    ("DATE", "03/14/2022", "seen March 14th, 2022 again", "March 14th, 2022"),
    ("DATE", "March 14, 2022", "seen 3/14 again", "3/14"),
    ("DATE", "14 de marzo de 2022", "seen 14-Mar-22 again", "14-Mar-22"),
    ("DATE", "2022-03-14T00:00:00", "seen the 14th of March again", "14th of March"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("entity", "value", "text", "gone"), PLAIN, ids=[f"{row[1]}: {row[2]}" for row in PLAIN]
)
def test_a_day_is_found_however_another_text_writes_it(
    entity: str, value: str, text: str, gone: str
):
    assert covered(text, (entity, value)) == text.replace(gone, "#" * len(gone))


HARMLESS = [
    ("DATE", "2022-03-04", "3/4 of a tablet, pain 3/10, grade 4/3, 2022, 4 of 3"),
    ("DATE", "2022-05-14", "she may take 14 mg"),
]


@pytest.mark.parametrize(
    ("entity", "value", "text"), HARMLESS, ids=[f"{row[1]}: {row[2]}" for row in HARMLESS]
)
def test_what_only_resembles_a_known_day_stays(entity: str, value: str, text: str):
    assert covered(text, (entity, value)) == text
