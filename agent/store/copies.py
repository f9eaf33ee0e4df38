"""Known copies of this site, the deletions of texts that they precede, and the copy from which it was restored."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agent.errors import ConfigError
from agent.store.clock import StoreClock
from agent.store.database import Database

_SHORTEST_ID: Final = 4
_BEFORE_UPGRADE: Final = b"store before an upgrade"
_COLUMNS: Final = "copy_id, made_at, after_purge, label, has_keys, finished"


@dataclass(frozen=True, slots=True)
class KnownCopy:
    """A copy of this site that is known to have been made.

    Attributes:
        copy_id: 16 hex digits.
        made_at: seconds since 1970.
        after_purge: number of the last deletion of texts before.
        label: what people call it; "" if nothing.
        has_keys: whether it has the site's keys, sealed with a passphrase.
        is_finished: whether it is known to be complete.
        holds_deleted_texts: whether texts were deleted since, which the copy still holds.
    """

    copy_id: str
    made_at: int
    after_purge: int
    label: str
    has_keys: bool
    is_finished: bool
    holds_deleted_texts: bool


@dataclass(frozen=True, slots=True)
class Deletion:
    """A deletion of texts: its number, and when it was, in seconds since 1970."""

    number: int
    at: int


@dataclass(frozen=True, slots=True)
class Restoration:
    """A restoration of this site from a copy.

    Attributes:
        number: counts the restorations.
        copy_id: the copy.
        made_at: when it was made, in seconds since 1970.
        restored_at: when the site was restored from it.
        earlier_reset: digest of the last request for a new epoch that was in the copy; "" if there was none.
        ended_at: when the site could submit again; None if it cannot yet.
    """

    number: int
    copy_id: str
    made_at: int
    restored_at: int
    earlier_reset: str
    ended_at: int | None


class Copies:
    """Copies of the site that are known to exist, and what they still hold."""

    def __init__(self, database: Database, clock: StoreClock) -> None:
        self._database = database
        self._connection = database.connection
        self._vault = database.vault
        self._clock = clock

    def begin(self, copy_id: str, place: str, *, label: str, has_keys: bool) -> KnownCopy:
        """Record that a copy is being made; an earlier one in the same place no longer exists.

        Raises:
            ClockError: the machine's clock is wrong, so that the copy's age would be.
        """
        path_key = self._vault.keyed_hash("copy", place.encode("utf-8", "surrogateescape"))
        with self._database.transaction():
            made_at, last = self._clock.stamp(), self.find_last_deletion()
            after_purge = 0 if last is None else last.number
            self._connection.execute("DELETE FROM copies WHERE path_key = ?", (path_key,))
            self._connection.execute(
                "INSERT INTO copies VALUES (?, ?, ?, ?, ?, ?, 0)",
                (copy_id, made_at, after_purge, label, path_key, int(has_keys)),
            )
        return KnownCopy(
            copy_id, made_at, after_purge, label, has_keys, False, holds_deleted_texts=False
        )

    def note_upgrade(self, version: int) -> str:
        """Record, within the open transaction, the file with the store before an upgrade; return its id.

        An earlier file of this kind has been replaced.
        """
        copy_id, last = secrets.token_hex(8), self.find_last_deletion()
        path_key = self._vault.keyed_hash("copy", _BEFORE_UPGRADE)
        self._connection.execute("DELETE FROM copies WHERE path_key = ?", (path_key,))
        self._connection.execute(
            "INSERT INTO copies VALUES (?, ?, ?, ?, ?, 0, 1)",
            (
                copy_id,
                self._clock.read().now,
                0 if last is None else last.number,
                f"store before the upgrade from {version}",
                path_key,
            ),
        )
        return copy_id

    def note_purged_upgrades(self) -> None:
        """Record, within the open transaction, that the store before an upgrade was purged too."""
        last = self.find_last_deletion()
        if last is not None:
            self._connection.execute(
                "UPDATE copies SET after_purge = ? WHERE path_key = ?",
                (last.number, self._vault.keyed_hash("copy", _BEFORE_UPGRADE)),
            )

    def forget_upgrade(self) -> None:
        """Forget the file with the store before an upgrade, which no longer exists."""
        path_key = self._vault.keyed_hash("copy", _BEFORE_UPGRADE)
        with self._database.transaction():
            self._connection.execute("DELETE FROM copies WHERE path_key = ?", (path_key,))

    def finish(self, copy_id: str) -> None:
        """Record that a copy is complete."""
        with self._database.transaction():
            self._connection.execute("UPDATE copies SET finished = 1 WHERE copy_id = ?", (copy_id,))

    def forget(self, copy_id: str) -> KnownCopy:
        """Forget a copy that no longer exists, and return it.

        Args:
            copy_id: its id, or at least its first 4 characters.

        Raises:
            ConfigError: no copy, or more than one, has this id.
        """
        found = [copy for copy in self.read_all() if copy.copy_id.startswith(copy_id)]
        if len(copy_id) < _SHORTEST_ID or len(found) != 1:
            raise ConfigError(
                f"{len(found) if len(copy_id) >= _SHORTEST_ID else 'no'} known copies have this id",
                "`intramural copies list` shows the ids.",
            )
        with self._database.transaction():
            self._connection.execute("DELETE FROM copies WHERE copy_id = ?", (found[0].copy_id,))
        return found[0]

    def read_all(self) -> list[KnownCopy]:
        """Return the known copies, oldest first."""
        last = self.find_last_deletion()
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM copies ORDER BY made_at, rowid"  # noqa: S608 (from above)
        )
        copies = []
        for copy_id, made_at, after_purge, label, has_keys, finished in rows:
            holds = last is not None and last.number > after_purge
            copies.append(
                KnownCopy(
                    copy_id, made_at, after_purge, label, bool(has_keys), bool(finished), holds
                )
            )
        return copies

    def list_holding_deleted(self) -> Sequence[KnownCopy]:
        """Return the known copies that hold texts which were deleted since."""
        return [copy for copy in self.read_all() if copy.holds_deleted_texts]

    def note_deletion(self, texts: int) -> None:
        """Record, within the open transaction, that texts were deleted which older copies still hold."""
        if texts:
            self._connection.execute(
                "INSERT INTO purges (at, texts) VALUES (?, ?)", (self._clock.read().now, texts)
            )

    def find_last_deletion(self) -> Deletion | None:
        """Return the last deletion of texts; None if none was ever deleted."""
        row = self._connection.execute(
            "SELECT number, at FROM purges ORDER BY number DESC LIMIT 1"
        ).fetchone()
        return None if row is None else Deletion(*row)

    def find_restoration(self) -> Restoration | None:
        """Return the last restoration of this site from a copy; None if it never was."""
        row = self._connection.execute(
            "SELECT number, copy_id, made_at, restored_at, earlier_reset, ended_at FROM restorations"
            " ORDER BY number DESC LIMIT 1"
        ).fetchone()
        return None if row is None else Restoration(*row)

    def mark_restored(self, copy_id: str, made_at: int, earlier_reset: str) -> None:
        """Record that this store came out of a copy, which is complete."""
        with self._database.transaction():
            self.finish(copy_id)
            self._connection.execute(
                "INSERT INTO restorations (copy_id, made_at, restored_at, earlier_reset)"
                " VALUES (?, ?, ?, ?)",
                (copy_id, made_at, self._clock.read().now, earlier_reset),
            )

    def end_restoration(self) -> None:
        """Record that this site may submit again."""
        with self._database.transaction():
            self._connection.execute(
                "UPDATE restorations SET ended_at = ? WHERE ended_at IS NULL",
                (self._clock.read().now,),
            )
