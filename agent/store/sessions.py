"""Sessions of people who are signed in, by keyed hashes of their secrets, and the latest time that was seen."""

import secrets

from agent.store.database import Database
from agent.store.stored_accounts import SessionRow

_COLUMNS = "session_id, account_id, opened_at, seen_at"


class Sessions:
    """The open sessions. An ended session is deleted, so that nothing can make it valid again."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection
        self._vault = database.vault

    def add(self, secret: str, account_id: str, now: int) -> SessionRow:
        """Store a session that begins `now`, in seconds since 1970."""
        row = SessionRow(secrets.token_hex(8), account_id, now, now)
        with self._database.transaction():
            self._connection.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)",
                (self._key(secret), row.session_id, account_id, now, now),
            )
        return row

    def find(self, secret: str) -> SessionRow | None:
        """Return the session with this secret, or None."""
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM sessions WHERE session_key = ?",  # noqa: S608 (names of this module)
            (self._key(secret),),
        ).fetchone()
        return None if row is None else SessionRow(*row)

    def read_all(self) -> list[SessionRow]:
        """Return every open session, the one used last first."""
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM sessions ORDER BY seen_at DESC, session_id"  # noqa: S608
        ).fetchall()
        return [SessionRow(*row) for row in rows]

    def note_seen(self, session_id: str, now: int) -> None:
        """Record the time of a request, in seconds since 1970."""
        with self._database.transaction():
            self._connection.execute(
                "UPDATE sessions SET seen_at = ? WHERE session_id = ?", (now, session_id)
            )

    def end(self, session_id: str) -> None:
        """End a session."""
        with self._database.transaction():
            self._connection.execute("DELETE FROM sessions WHERE session_id = ?", (session_id,))

    def end_all(self, account_id: str, *, except_id: str = "") -> int:
        """End the sessions of an account, except one if it is named. Return their number."""
        with self._database.transaction():
            return self._connection.execute(
                "DELETE FROM sessions WHERE account_id = ? AND session_id <> ?",
                (account_id, except_id),
            ).rowcount

    def end_oldest(self, account_id: str, most: int) -> None:
        """End the sessions of an account that were used longest ago, so that `most` remain."""
        with self._database.transaction():
            self._connection.execute(
                "DELETE FROM sessions WHERE session_id IN (SELECT session_id FROM sessions"
                " WHERE account_id = ? ORDER BY seen_at DESC, opened_at DESC LIMIT -1 OFFSET ?)",
                (account_id, most),
            )

    def end_older(self, *, opened_by: int, seen_by: int) -> None:
        """End the sessions that were opened or last used at these times or before, in seconds since 1970."""
        with self._database.transaction():
            self._connection.execute(
                "DELETE FROM sessions WHERE opened_at <= ? OR seen_at <= ?", (opened_by, seen_by)
            )

    def end_everybodys(self) -> int:
        """End every session. Return their number."""
        with self._database.transaction():
            return self._connection.execute("DELETE FROM sessions").rowcount

    def read_latest_time(self) -> int:
        """Return the latest time at which sessions were checked, in seconds since 1970; 0 if they never were."""
        row = self._connection.execute("SELECT latest_at FROM access_clock").fetchone()
        return 0 if row is None else int(row[0])

    def keep_latest_time(self, now: int) -> None:
        """Store the latest time at which sessions were checked."""
        with self._database.transaction():
            self._connection.execute("INSERT OR REPLACE INTO access_clock VALUES (1, ?)", (now,))

    def derive_csrf(self, secret: str) -> str:
        """Return the 64 hex digits that forms of the session with this secret must contain."""
        return self._vault.keyed_hash("session csrf", _encode(secret)).hex()

    def _key(self, secret: str) -> bytes:
        return self._vault.keyed_hash("session", _encode(secret))


def _encode(secret: str) -> bytes:
    return secret.encode("utf-8", "surrogatepass")
