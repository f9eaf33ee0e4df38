"""Months and years of a study stay; those of a person, and days, are taken."""

import pytest

from agent.redaction.engine import Engine
from agent.redaction.spans.study_periods import is_study_period

STUDIES = (
    ("All patients admitted from {} to December 2012 were reviewed.", "January 2010"),
    ("Between {} and November 2012, 145 patients were treated.", "January 2008"),
    ("Data were gathered during the {} in a survey.", "winter of 2007/2008"),
    ("We analysed 236 consecutive patients from {}.", "May 1994 through November 2004"),
    ("A retrospective cohort of infants, {}.", "July 1993"),
    ("Two consecutive months of {} were compared.", "October 2004"),
    ("Women who died before {} were included in the registry.", "April 1997"),
    ("Of 18 patients, ten were operated on after {}.", "June 2005"),
    ("Claims data from {} were analyzed.", "January 2006"),
    ("The incidence rose in {}.", "September 1995"),
)
PEOPLE = (
    ("She was seen with other patients in {}.", "January 2010"),
    ("The patient joined a cohort in {}.", "January 2008"),
    ("Mr. Fenwick took part in a survey in {}.", "May 2007"),
    ("A 54-year-old woman of a cohort was operated on in {}.", "May 1994"),
    ("My mother died in {}; 145 patients were on the ward.", "July 1993"),
    ("Biopsy in {}.", "October 2004"),
    ("Last admission {}.", "April 1997"),
    ("Pt seen in {}, data from 20 patients.", "June 2005"),
    ("All patients were seen on {}.", "6 January 2006"),
    ("The cohort was examined on {}.", "09/14/1995"),
)


@pytest.mark.parametrize(("text", "period"), STUDIES)
def test_the_months_of_a_study_are_no_date_of_a_person(text: str, period: str):
    start = text.index("{}")
    text = text.format(period)
    assert is_study_period(text, start, start + len(period))


@pytest.mark.parametrize(("text", "period"), PEOPLE)
def test_the_months_of_a_person_and_days_are_dates(engine: Engine, text: str, period: str):
    start = text.index("{}")
    text = text.format(period)
    assert not is_study_period(text, start, start + len(period))
    assert period not in engine.redact(text)
