"""What the store holds of one run, and how to delete it."""

import sqlite3
from dataclasses import dataclass
from typing import Final

from agent.store.scores import DRAFT

_TABLES: Final = ("scores", "labelled", "seats", "run_scores", "subgroups", "run_instances", "runs")
_MINE: Final = "run_id IN (:run, :draft)"
# Texts that the run shares with no other one. The lists are of keys: one pass over a table each, whatever its size.
_LONELY: Final = {
    "answers": ("request_key", "run_instances"),
    "records": ("record_key", "run_instances"),
    "judgements": ("judgement_key", "seats"),
}


@dataclass(frozen=True, slots=True)
class RunContent:
    """What the store holds of a run.

    Attributes:
        instances: number of instances.
        scored: number of instances with a score.
        verdicts: number of judges' verdicts.
        answers: number of answers that no other run uses.
        records: number of questions, with their references, that no other run uses.
        judgements: number of judges' replies that no other run uses.
        shared: number of texts that another run uses too, so that they stay.
        unused: number of texts that no run uses, such as those of earlier plans of this run. They are deleted as well,
            because the store does not know whose they were.
    """

    instances: int
    scored: int
    verdicts: int
    answers: int
    records: int
    judgements: int
    shared: int
    unused: int

    @property
    def texts(self) -> int:
        """Number of texts that go with the run."""
        return self.answers + self.records + self.judgements + self.unused


def count_content(connection: sqlite3.Connection, run_id: str) -> RunContent:
    """Return what the store holds of a run."""
    keys = _name_keys(run_id)

    def count(table: str, condition: str, what: str = "*") -> int:
        query = f"SELECT COUNT({what}) FROM {table} {condition}"  # noqa: S608
        return int(connection.execute(query, keys).fetchone()[0])

    lonely = {table: count(table, _choose(table)) for table in _LONELY}
    used = sum(count(table, _choose_used(table)) for table in _LONELY)
    unneeded = sum(count(table, _choose_unneeded(table)) for table in _LONELY)
    return RunContent(
        instances=count("run_instances", "WHERE run_id = :run"),
        scored=count("scores", "WHERE run_id = :run AND value IS NOT NULL", "DISTINCT position"),
        verdicts=count("seats", "WHERE run_id = :run AND grades IS NOT NULL"),
        **lonely,
        shared=used - sum(lonely.values()),
        unused=unneeded - sum(lonely.values()),
    )


def delete_content(connection: sqlite3.Connection, run_id: str) -> RunContent:
    """Delete a run within the open transaction, while no run begins; return what was deleted.

    All findings of redaction are deleted, too: they are kept by digests of texts, and made again when needed.
    """
    content = count_content(connection, run_id)
    keys = _name_keys(run_id)
    for table in _LONELY:
        connection.execute(f"DELETE FROM {table} {_choose_unneeded(table)}", keys)  # noqa: S608
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE {_MINE}", keys)  # noqa: S608
    connection.execute("DELETE FROM findings")
    return content


def _name_keys(run_id: str) -> dict[str, str]:
    return {"run": run_id, "draft": run_id + DRAFT}


def _choose_used(table: str) -> str:
    """Return the condition for the texts in a table that the run uses."""
    key, users = _LONELY[table]
    return f"WHERE {key} IN (SELECT {key} FROM {users} WHERE {_MINE})"  # noqa: S608


def _choose(table: str) -> str:
    """Return the condition for the texts in a table that only this run uses."""
    return f"{_choose_used(table)} AND {_name_unneeded(table)}"


def _choose_unneeded(table: str) -> str:
    """Return the condition for the texts in a table that no other run uses."""
    return f"WHERE {_name_unneeded(table)}"


def _name_unneeded(table: str) -> str:
    key, users = _LONELY[table]
    return f"{key} NOT IN (SELECT {key} FROM {users} WHERE NOT {_MINE} AND {key} IS NOT NULL)"  # noqa: S608
