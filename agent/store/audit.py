"""The audit log: numbered events, chained under a key that the data key does not lead to."""

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

_SHOWN_CHANGES = 10  # sentences of one error
_ADVICE = (
    "Find out who can write to the store's folder, and keep a copy as it is now. What an event says that is not named "
    "here is as it was written."
)

_STOPPED = (
    "Nothing more is logged, so that nothing is covered up. Find out who can write to the store's folder, and restore "
    "store/ from a back-up."
)


class AuditLog:
    """Events of the site: texts revealed, purged and exported. Events never hold text of a case."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection
        self._audit_key = database.audit_key

    def record(self, event: str, detail: str) -> None:
        """Append an event. `detail` never holds text of a case.

        The new event follows the head, whatever became of the events before it: what is missing stays missing.

        Raises:
            StoreError: the log's head was changed or put back, or the disk refuses.
        """
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
            StoreError: events were changed, moved, added or removed; says which. That the whole store was put back
                from an older copy is seen by `compare_head` alone.
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

    def read_head(self) -> AuditHead:
        """Return number and link of the last event, to be kept by somebody else.

        Raises:
            StoreError: the log's head was changed.
        """
        return self._open_head()

    def compare_head(self, number: int, link: str) -> str:
        """Compare the log with a head that somebody else kept.

        Args:
            number: of the event that was the last then, at least 1.
            link: its link, 64 hex digits.

        Returns:
            Nothing where the log still holds that event and all before it; else what is missing, in words.

        Raises:
            StoreError: the log itself was changed, or there is no event of such a number.
        """
        if number < 1:
            raise StoreError(
                "the number of an event begins with 1",
                "Give a head as `intramural audit` prints it.",
            )
        return compare_head(AuditHead(number, link), self.read_events())

    def _require_free_place(self, number: int) -> None:
        """Refuse to write over a row after the head: it was added, or it is genuine and the head was put back."""
        taken = self._connection.execute(
            "SELECT 1 FROM audit_events WHERE number = ?", (number,)
        ).fetchone()
        if taken is not None:
            raise StoreError(
                f"the audit log was changed: an event {number} stands after the log's last",
                _STOPPED,
            )

    def _read_rows(self) -> list[StoredRow]:
        """Return the rows of all events. They are read as bytes: an attacker's need not be text."""
        rows = self._connection.execute(
            "SELECT number, CAST(record AS BLOB), CAST(link AS BLOB) FROM audit_events ORDER BY number"
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
            "the head of the audit log is missing or was changed by somebody without the seal key",
            _STOPPED,
        )
