"""EHRSQL: questions about an intensive-care database, shown with its schema, and the database itself.

The folder contains the official files: question files (`valid.json`, `test.json`), the schema (`eicu.sql`) and the
SQLite database. The database is built from credentialed data, so each site must build its own.
"""

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from agent.datasets.readers.files import Files
from agent.datasets.readers.json_table import load_json
from agent.datasets.readers.lines import MAX_LENGTH, LongLineError, read_whole
from agent.datasets.readers.table import Problems, Row, Table
from agent.errors import BenchmarkError

COLUMNS = ("id", "question", "schema", "query", "is_impossible", "value", "database")
_NEEDED = ("id", "question", "query")
_SQLITE_MAGIC = b"SQLite format 3\0"
_CREATE = re.compile(r"^\s*CREATE TABLE.*?;\s*$", re.MULTILINE | re.DOTALL | re.IGNORECASE)


def load_ehr_sql(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read every question file; each row includes the schema's CREATE TABLE statements and the database's path.

    Raises:
        BenchmarkError: the schema or the database is missing or is not of the expected type.
    """
    schema = _read_schema(files)
    database = _find_database(files)
    for name in files.names:
        if PurePosixPath(name).suffix == ".json":
            problems = files.problems(name)
            with files.open_text(name) as file:
                questions = load_json(file, problems)
            if not isinstance(questions, list):
                raise problems.stop("the whole file", "expected a list of questions")
            yield Table(COLUMNS, _read_questions(questions, schema, database, problems)), problems


def _read_questions(
    questions: list[object], schema: str, database: str, problems: Problems
) -> Iterator[Row]:
    for number, question in enumerate(questions, 1):
        where = f"question {number}"
        if not isinstance(question, dict) or not all(
            isinstance(question.get(key), str) for key in _NEEDED
        ):
            problems.add(where, "expected an object with the strings id, question and query")
            continue
        is_impossible = question.get("is_impossible") is True
        has_no_query = question["query"].strip().lower() == "null"
        if is_impossible is not has_no_query:
            problems.add(
                where,
                "is_impossible and query contradict each other: the query must be null only if is_impossible is true",
            )
            continue
        cells = {
            "id": question["id"],
            "question": question["question"],
            "query": question["query"],
            "schema": schema,
            "is_impossible": "true" if is_impossible else "false",
            "value": json.dumps(question.get("value") or {}, ensure_ascii=False),
            "database": database,
        }
        yield Row(where, cells)


def _read_schema(files: Files) -> str:
    """Return the schema's CREATE TABLE statements, separated by blank lines."""
    name = _find_file(files, (".sql",), "the schema (eicu.sql)")
    with files.open_text(name) as file:
        try:
            text = read_whole(file)
        except LongLineError:
            raise files.problems(name).stop(
                "the whole file", f"has more than {MAX_LENGTH} characters"
            ) from None
    statements = [re.sub(r"[ \t]+\n", "\n", match[0]).strip() for match in _CREATE.finditer(text)]
    if not statements:
        raise files.problems(name).stop("the whole file", "expected CREATE TABLE statements")
    return "\n\n".join(statements)


def _find_database(files: Files) -> str:
    """Check the digest and first bytes of the database, and return its path."""
    name = _find_file(files, (".sqlite", ".db"), "the SQLite database (eicu.sqlite)")
    with files.open_binary(name) as file:  # also checks the digest
        if file.read(len(_SQLITE_MAGIC)) != _SQLITE_MAGIC:
            raise files.problems(name).stop("the whole file", "is not a SQLite database")
    return str(files.paths[name].resolve())


def _find_file(files: Files, endings: tuple[str, ...], kind: str) -> str:
    names = [name for name in files.names if name.endswith(endings)]
    if len(names) != 1:
        raise BenchmarkError(
            f"ehr_sql: expected {kind} in the folder of the questions, found {len(names)} such files",
            "Put the official files in one folder; the benchmark's description explains how to build the database.",
        )
    return names[0]
