"""EHRSQL: questions over an intensive-care database, the schema they are asked with, and the database itself.

The folder holds the official files: question files (`valid.json`, `test.json`), the schema (`eicu.sql`) and the
SQLite database. The database is built from credentialed data, so a site brings its own.
"""

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from agent.datasets.readers.files import Files
from agent.datasets.readers.json_table import load_json, text_of
from agent.datasets.readers.lines import LONGEST, LongLineError, whole
from agent.datasets.readers.table import Problems, Row, Table
from agent.errors import BenchmarkError

COLUMNS = ("id", "question", "schema", "query", "is_impossible", "value", "database")
_NEEDED = ("id", "question", "query")
_CREATE = re.compile(r"^\s*CREATE TABLE.*?;\s*$", re.MULTILINE | re.DOTALL | re.IGNORECASE)


def load_ehr_sql(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read every question file; each row carries the schema's CREATE TABLE statements and the database's path.

    Raises:
        BenchmarkError: the schema or the database is missing, or is something else.
    """
    schema, database = _schema(files), _database(files)
    for name in files.names:
        if PurePosixPath(name).suffix == ".json":
            problems = files.problems(name)
            with files.text(name) as file:
                questions = load_json(file, problems)
            if not isinstance(questions, list):
                raise problems.stop("the whole file", "expected a list of questions")
            yield Table(COLUMNS, _rows(questions, schema, database, problems)), problems


def _rows(questions: list[object], schema: str, database: str, problems: Problems) -> Iterator[Row]:
    for number, question in enumerate(questions, 1):
        where = f"question {number}"
        if not isinstance(question, dict) or not all(isinstance(question.get(key), str) for key in _NEEDED):
            problems.add(where, "expected an object with the texts id, question and query")
            continue
        impossible = question.get("is_impossible") is True
        if impossible is not (question["query"].strip().lower() == "null"):
            problems.add(where, "is_impossible and query contradict each other: only an impossible question's is null")
            continue
        cells = {key: text_of(question.get(key)) for key in _NEEDED}
        value = json.dumps(question.get("value") or {}, ensure_ascii=False)
        more = {"schema": schema, "is_impossible": str(impossible).lower(), "value": value, "database": database}
        yield Row(where, cells | more)


def _schema(files: Files) -> str:
    name = _only(files, (".sql",), "the schema (eicu.sql)")
    with files.text(name) as file:
        try:
            text = whole(file)
        except LongLineError:
            raise files.problems(name).stop("the whole file", f"has more than {LONGEST} characters") from None
    statements = [re.sub(r"[ \t]+\n", "\n", match[0]).strip() for match in _CREATE.finditer(text)]
    if not statements:
        raise files.problems(name).stop("the whole file", "expected CREATE TABLE statements")
    return "\n\n".join(statements)


def _database(files: Files) -> str:
    name = _only(files, (".sqlite", ".db"), "the SQLite database (eicu.sqlite)")
    with files.binary(name) as file:  # looks at the digest
        if file.read(16) != b"SQLite format 3\0":
            raise files.problems(name).stop("the whole file", "is not a SQLite database")
    return str(files.paths[name].resolve())


def _only(files: Files, endings: tuple[str, ...], what: str) -> str:
    found = [name for name in files.names if name.endswith(endings)]
    if len(found) != 1:
        raise BenchmarkError(
            f"ehr_sql: expected {what} once beside the questions, found {len(found)}",
            "Put the official files in one folder; see the benchmark's description for how the database is built.",
        )
    return found[0]
