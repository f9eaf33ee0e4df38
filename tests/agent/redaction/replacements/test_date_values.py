"""Dates are read as they are meant, moved together, and written as they were."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.replacements.date_values import read_date, read_year


@pytest.mark.parametrize(
    ("text", "language", "moved"),
    [
        ("03/14/2022", "en", "03/24/2022"),
        ("3/14/22", "en", "3/24/22"),
        ("14.03.2022", "en", "24.03.2022"),
        ("03/04/2022", "en", "03/14/2022"),
        ("03/04/2022", "es", "13/04/2022"),
        ("2022-03-14", "en", "2022-03-24"),
        ("2022-12-28T10:15:00Z", "en", "2023-01-07T10:15:00Z"),
        ("03/14/2022 14:30", "en", "03/24/2022 14:30"),
        ("March 14, 2022", "en", "March 24, 2022"),
        ("MARCH 28TH, 2022", "en", "APRIL 07TH, 2022"),
        ("Mar. 14, 2022", "en", "Mar. 24, 2022"),
        ("Sept 28, 2022", "en", "oct 08, 2022".capitalize()),
        ("14 March 2022", "en", "24 March 2022"),
        ("14-Mar-2022", "en", "24-Mar-2022"),
        ("March 2022", "en", "March 2022"),
        ("14 de marzo de 2022", "es", "24 de marzo de 2022"),
        ("28 de Diciembre del 2022", "es", "07 de Enero del 2023"),
        ("14 mar 2022", "es", "24 mar 2022"),
        ("Feb 20, '22", "en", "Mar 02, '22"),
    ],
)
def test_a_date_is_moved_and_written_as_it_was(text: str, language: str, moved: str):
    read = read_date(text, language=language, this_year=2026)
    assert read is not None
    assert read.move(10) == moved


@pytest.mark.parametrize(
    "text",
    [
        "March 14",
        "March",
        "14/03",
        "2022",
        "March 14 - 16, 2022",
        "03/14/2022 and 03/16/2022",
        "02/30/2022",
        "Monday, March 14, 2022",
        "13/14/2022",
        "March 14, 2022 bed 12",
        "",
        "the fourteenth of March, 2022",
    ],
)
def test_what_cannot_be_moved_without_guessing_is_not_read(text: str):
    assert read_date(text, this_year=2026) is None


FORMS = ("%m/%d/%Y", "%Y-%m-%d", "%B %d, %Y", "%d %b %Y", "%m-%d-%Y", "%d %B, %Y")
DAYS = st.dates(date(1938, 1, 1), date(2026, 12, 31))


@given(DAYS, DAYS, st.integers(-364, 364), st.sampled_from(FORMS), st.sampled_from(FORMS))
def test_days_between_two_dates_stay_whatever_the_form(
    one: date, other: date, days: int, form: str, form2: str
):
    moved = [read_date(day.strftime(f), this_year=2026) for day, f in ((one, form), (other, form2))]
    then = [
        read_date(written.move(days) or "", this_year=2026)
        for written in moved
        if written is not None
    ]
    assert [written.date for written in then if written] == [
        one + timedelta(days),
        other + timedelta(days),
    ]


def test_where_the_calendar_ends_nothing_is_written():
    read = read_date("2099-12-31")
    assert read is not None
    assert read.move(10**7) is None


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("March 14, 2022", 2022),
        ("Monday, March 14, 2022", 2022),
        ("3/14/22", 2022),
        ("3/14/38", 1938),
        ("March 14", None),
        ("2021-2022", None),
        ("fourteenth of March, 2022", 2022),
    ],
)
def test_the_year_of_a_date(text: str, year: int | None):
    assert read_year(text, this_year=2026) == year
