"""The audit log: numbered events, chained under a key that cannot be derived from the data key."""

import hmac
import time

from agent.errors import StoreError
from agent.store.audit_chain import (
    AuditEvent,
    AuditHead,
    StoredRow,
    compare_head,
    encode_event,
    find_changes,
    open_event,
    seal_event,
    seal_head,
)
from agent.store.database import Database

_SHOWN_CHANGES = 10  # maximum number of changes that an error lists
_ADVICE = (
    "Find out who can write to the store's folder, and keep a copy of its current state. Events not named here "
    "are unchanged."
)

_STOPPED = (
    "Logging has stopped so that no evidence is overwritten. Find out who can write to the store's folder, and restore "
    "store/ from a backup."
)


class AuditLog:
    """The site's log of events, such as texts revealed, purged or exported. It never contains patient text."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection
        self._audit_key = database.audit_key

    def record(self, event: str, detail: str, by: str = "") -> None:
        """Append an event. `detail` must not contain patient text.

        The new event follows the head even if earlier events are missing, so the gap remains visible.

        Args:
            event: the event, in two or three words.
            detail: codes, ids and counts.
            by: id of the account that caused it; empty on the command line.

        Raises:
            StoreError: the log's head was changed or restored from a backup, or the log cannot be written.
        """
        if by:
            detail = f"{detail} account={by}"
        with self._database.transaction():
            head = self._open_head()
            new = AuditEvent(head.number + 1, int(time.time()), event, detail, head.link, "")
            encoded = encode_event(new)
            link = seal_event(encoded, self._audit_key)
            self._require_free_place(new.number)
            self._connection.execute(
                "INSERT INTO audit_events VALUES (?, ?, ?)", (new.number, encoded, link)
            )
            self._database.write_head(AuditHead(new.number, link))

    def read_events(self) -> list[AuditEvent]:
        """Return all events, oldest first.

        Raises:
            StoreError: events were changed, moved, added or removed; the message lists them. Only `compare_head`
                detects that the whole store was restored from an older copy.
        """
        with self._database.snapshot():
            head = self._open_head()
            rows = self._read_rows()
        changes = find_changes(rows, head, self._audit_key)
        if changes:
            shown = changes[:_SHOWN_CHANGES]
            if len(changes) > len(shown):
                shown.append(f"and {len(changes) - len(shown)} more")
            raise StoreError(f"the audit log was changed: {'; '.join(shown)}", _ADVICE)
        events = (open_event(row, self._audit_key) for row in rows)
        return [event for event in events if event is not None]

    def read_later(self, number: int) -> list[AuditEvent]:
        """Return the events after the one with this number, without the check of the whole log.

        Events that were changed are left out.
        """
        events = (open_event(row, self._audit_key) for row in self._read_rows(number))
        return [event for event in events if event is not None]

    def read_head(self) -> AuditHead:
        """Return the number and link of the last event, to be kept by someone else.

        Raises:
            StoreError: the log's head was changed.
        """
        return self._open_head()

    def compare_head(self, number: int, link: str) -> str:
        """Compare the log with a head that someone else kept.

        Args:
            number: number of the event that was the last one then, at least 1.
            link: its link, 64 hex digits.

        Returns:
            "" if the log still contains that event and all earlier ones; otherwise a description of the difference.

        Raises:
            StoreError: the log itself was changed, or `number` is less than 1.
        """
        if number < 1:
            raise StoreError(
                "event numbers start at 1",
                "Give a head in the form that `intramural audit` prints.",
            )
        return compare_head(AuditHead(number, link), self.read_events())

    def _require_free_place(self, number: int) -> None:
        """Refuse to overwrite a row after the head: either the row was added, or an older head was restored."""
        taken = self._connection.execute(
            "SELECT 1 FROM audit_events WHERE number = ?", (number,)
        ).fetchone()
        if taken is not None:
            raise StoreError(
                f"the audit log was changed: it contains event {number} after its last event",
                _STOPPED,
            )

    def _read_rows(self, after: int | None = None) -> list[StoredRow]:
        """Return the rows of all events, or of those after a number.

        They are read as bytes because an attacker's row need not be valid text.
        """
        rows = self._connection.execute(
            "SELECT number, CAST(record AS BLOB), CAST(link AS BLOB) FROM audit_events "
            "WHERE ?1 IS NULL OR number > ?1 ORDER BY number",
            (after,),
        ).fetchall()
        return [
            StoredRow(place, record.decode("utf-8", "replace"), link.decode("utf-8", "replace"))
            for place, record, link in rows
        ]

    def _open_head(self) -> AuditHead:
        """Return the head after checking its seal."""
        row = self._connection.execute(
            "SELECT number, CAST(link AS BLOB), CAST(seal AS BLOB) FROM audit_head"
        ).fetchone()
        if row is not None:
            number, link, seal = row
            head = AuditHead(number, link.decode("utf-8", "replace"))
            if hmac.compare_digest(seal_head(head, self._audit_key).encode(), seal):
                return head
        raise StoreError(
            "the head of the audit log is missing or was changed by someone without the seal key",
            _STOPPED,
        )
