"""Days written as an ordinal number alone, and what else ordinal numbers count."""

from collections.abc import Iterator

import pytest

from agent.redaction.deadline import Deadline
from agent.redaction.rules.en.ordinal_days import find_ordinal_days

DAYS = (
    ("redness since the 9th, spreading", ["9th"]),
    ("thurs the 12th at 10", ["12th"]),
    ("eeg from 11th . she rang", ["11th"]),
    ("rv on the 22nd", ["22nd"]),
    ("due the 3rd, will call", ["3rd"]),
    ("seen 4th at 10 and back 9th", ["4th", "9th"]),
    ("back on 21st @ 9", ["21st"]),
    ("until the 30th", ["30th"]),
    ("booked for the 14th", ["14th"]),
    ("appt 18th at 0930", ["18th"]),
    ("from 2nd to 5th she was fine", ["2nd", "5th"]),
    ("on the 3rd of last month", ["3rd"]),
)
OTHERS = (
    "tender over the 9th rib, from 5th to the 9th.",
    "fracture of the 4th toe, on the 5th digit",
    "on the 9th centile, wt on the 9th",
    "from 11th rib",
    "deviation to the 6th nerve",
    "between 4th and 5th ics",
    "for the 3rd time, to the 2nd floor",
    "on 2nd day, by 3rd dose",
    "weight 25th, height from 9th to 25th",
    "came 3rd in race",
    "grade 3rd degree burns to 4th.",
    "4th ventricle, 3rd trimester",
    "5th metatarsal base",
    "on the 9th and 10th ribs",
    "the 7th and 8th nerves",
    "up to the 4th floor and back",
)


def find(text: str) -> Iterator[str]:
    deadline = Deadline()
    deadline.start(60)
    for _, start, end in find_ordinal_days(text, deadline):
        yield text[start:end]


@pytest.mark.parametrize(("text", "days"), DAYS)
def test_a_day_after_a_preposition_or_a_weekday_is_a_date(text: str, days: list[str]):
    assert list(find(text)) == days


@pytest.mark.parametrize("text", OTHERS)
def test_ribs_toes_centiles_and_floors_are_no_dates(text: str):
    assert list(find(text)) == []
