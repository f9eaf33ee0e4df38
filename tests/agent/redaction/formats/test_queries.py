"""The code of database queries stays; their literals, comments and prose like a query are searched."""

import time

import pytest

from agent.redaction.engine import Engine
from agent.redaction.formats.form import write_form

QUERY = (
    "select max(vitalperiodic.sao2) from vitalperiodic join patient on t1.uniquepid = t2.uniquepid where "
    "strftime('%m-%d',vitalperiodic.observationtime) = '11-18' and datetime(vitalperiodic.observationtime) >= "
    "datetime(current_time,'-70 month') order by vitalperiodic.observationtime desc limit 1"
)


def test_code_stays(engine: Engine):
    query = QUERY.replace("'11-18'", "'a'")
    assert engine.redact(query) == query


def test_query_after_prose_stays(engine: Engine):
    text = f"Here is the query for Mr. Holloway:\n```sql\n{QUERY.replace('11-18', 'a')}\n```"
    redacted = engine.redact(text)
    assert redacted == text.replace("Mr. Holloway", "[NAME-1]")


@pytest.mark.parametrize(
    ("text", "identifying"),
    [
        ("select * from patient where name = 'Margaret Holloway' and id = '005-1'", "Holloway"),
        ("select * from patient where mrn = 84829101", "84829101"),
        ("select * from patient -- for Dr. Margaret Holloway", "Holloway"),
        ("select margaret.holloway from patient where id = 1", "holloway"),
        ("select smith.name, (x) from smith", "smith"),
        ("select * from Martha where Martha.Quincy = 1", "Quincy"),
        ("select * from patient where last_name = 'Rose' and age > 4", "Rose"),
        ("select * from patient where last_name in ('Black', 'Young')", "Young"),
        ("select * from patient where last_name = 'O''Leary'", "Leary"),
        ("select * from patient where zip = 02139", "02139"),
        ("Please select one for Mrs. Holloway where she lives (4 Elm Street).", "Holloway"),
    ],
)
def test_identifiers_in_and_like_queries_are_taken(engine: Engine, text: str, identifying: str):
    assert identifying not in engine.redact(text)


def test_prose_is_no_query():
    assert write_form("Select one from Ostrowska where she lives (in town), please.") is None


def test_time_is_linear():
    start = time.process_time()
    write_form("select a, b from " * 20_000)
    assert time.process_time() - start < 5
