"""EHRSQL: questions with the schema of the site's database."""

import json
import sqlite3
from pathlib import Path

import pytest

from agent.metrics import score
from tests.agent.datasets.sources.public import PUBLIC, load, problem, prompt


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "eicu.sqlite") as connection:
        connection.execute("create table drug (name text)")
        connection.execute("insert into drug values ('aspirin')")
    connection.close()
    (tmp_path / "eicu.sql").write_text(
        "DROP TABLE IF EXISTS drug;\nCREATE TABLE drug\n(\n    name TEXT\n) ;\n"
    )
    questions = [
        {
            "id": "a",
            "question": "how many?",
            "query": "select count(*) from drug",
            "is_impossible": False,
            "value": {},
        },
        {"id": "b", "question": "will it rain?", "query": "null", "is_impossible": True},
    ]
    (tmp_path / "valid.json").write_text(json.dumps(questions))
    return tmp_path


def test_questions_are_asked_with_the_schema_and_scored_on_the_sites_database(ward):
    made = load("ehr_sql", ward)
    assert [i.extra["is_impossible"] for i in made] == ["false", "true"]
    assert "CREATE TABLE drug\n(\n    name TEXT\n) ;\n\nQuestion: how many?" in prompt(made[0])
    assert "DROP TABLE" not in prompt(made[0])
    assert Path(made[0].extra["database"]) == (ward / "eicu.sqlite").resolve()
    assert score("ehr_sql_execution_accuracy", "select 1", made[0]) == 1.0


def test_the_public_database_is_told_to_hold_next_to_nothing():
    (database,) = (file for file in PUBLIC["ehr_sql"].files if file.name == "eicu.sqlite")
    assert "7 patients" in database.known[0].note


def test_a_folder_without_schema_or_database_is_refused(ward):
    (ward / "eicu.sqlite").rename(ward / "elsewhere")
    assert "expected the SQLite database (eicu.sqlite) in the folder" in problem("ehr_sql", ward)
    (ward / "eicu.sqlite").write_text("not a database")
    assert "eicu.sqlite: the whole file: is not a SQLite database" in problem("ehr_sql", ward)
    (ward / "elsewhere").replace(ward / "eicu.sqlite")
    (ward / "eicu.sql").write_text("nothing")
    assert "expected CREATE TABLE statements" in problem("ehr_sql", ward)
    (ward / "eicu.sql").unlink()
    assert "expected the schema (eicu.sql) in the folder" in problem("ehr_sql", ward)


def test_questions_that_contradict_themselves_are_named(ward):
    questions = json.loads((ward / "valid.json").read_text())
    questions[0]["is_impossible"] = True
    questions.append({"id": "c", "question": "no query"})
    (ward / "valid.json").write_text(json.dumps(questions))
    message = problem("ehr_sql", ward)
    assert "valid.json: question 1: is_impossible and query contradict each other" in message
    assert (
        "valid.json: question 3: expected an object with the strings id, question and query"
        in message
    )
