"""Failed attempts to sign in, which limit further ones, and people who are at the OpenID provider."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from agent.store.database import Database


@dataclass(frozen=True, slots=True)
class AttemptCounts:
    """Failed or unfinished attempts in a stretch of time, under one name and under all names."""

    of_name: int
    overall: int


class SignIns:
    """Attempts that failed or have not ended, and sign-ins that wait for the OpenID provider."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection
        self._vault = database.vault

    def count_attempts(self, name_key: bytes, since: int) -> AttemptCounts:
        """Count the attempts after `since`, in seconds since 1970."""
        of_name, overall = self._connection.execute(
            "SELECT count(*) FILTER (WHERE name_key = ?), count(*) FROM sign_in_attempts WHERE at > ?",
            (name_key, since),
        ).fetchone()
        return AttemptCounts(of_name, overall)

    def add_attempt(self, name_key: bytes, now: int) -> None:
        """Record an attempt before its outcome is known, so that attempts at the same time count each other."""
        with self._database.transaction():
            self._connection.execute(
                "INSERT INTO sign_in_attempts (name_key, at) VALUES (?, ?)", (name_key, now)
            )

    def forget_attempts(self, name_key: bytes) -> None:
        """Delete the attempts under one name."""
        with self._database.transaction():
            self._connection.execute("DELETE FROM sign_in_attempts WHERE name_key = ?", (name_key,))

    def delete_older(self, until: int) -> None:
        """Delete attempts up to `until`, in seconds since 1970, which no longer count."""
        with self._database.transaction():
            self._connection.execute("DELETE FROM sign_in_attempts WHERE at <= ?", (until,))

    def move_back(self, now: int) -> None:
        """Date attempts of the future to `now`: the clock was set back, and they must not count for longer."""
        with self._database.transaction():
            self._connection.execute("UPDATE sign_in_attempts SET at = ? WHERE at > ?", (now, now))

    def add_pending(self, secret: str, content: Mapping[str, str], *, expires_at: int) -> None:
        """Store what the answer of the OpenID provider will be compared with."""
        key = self._key(secret)
        sealed = self._vault.seal(_bind(key), json.dumps(dict(content)).encode())
        with self._database.transaction():
            self._connection.execute(
                "INSERT INTO pending_sign_ins VALUES (?, ?, ?)", (key, sealed, expires_at)
            )

    def take_pending(self, secret: str, now: int) -> dict[str, str] | None:
        """Return and delete the values stored with this secret; None if there are none, or they have expired."""
        key = self._key(secret)
        with self._database.transaction():
            row = self._connection.execute(
                "DELETE FROM pending_sign_ins WHERE pending_key = ? RETURNING sealed, expires_at",
                (key,),
            ).fetchone()
            self._connection.execute("DELETE FROM pending_sign_ins WHERE expires_at <= ?", (now,))
        if row is None or row[1] <= now:
            return None
        content: dict[str, str] = json.loads(self._vault.open(_bind(key), row[0]))
        return content

    def count_pending(self) -> int:
        """Return the number of sign-ins that wait for the OpenID provider."""
        return int(self._connection.execute("SELECT count(*) FROM pending_sign_ins").fetchone()[0])

    def delete_pending(self, now: int) -> None:
        """Delete the sign-ins whose time is over."""
        with self._database.transaction():
            self._connection.execute("DELETE FROM pending_sign_ins WHERE expires_at <= ?", (now,))

    def _key(self, secret: str) -> bytes:
        return self._vault.keyed_hash("pending sign-in", secret.encode("utf-8", "surrogatepass"))


def _bind(key: bytes) -> bytes:
    return b"pending sign-in\0" + key
