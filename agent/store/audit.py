"""The audit log: entries chained under the site's key, with a seal on the last."""

import json
import time

from agent.errors import StoreError
from agent.store.database import Database


class AuditLog(Database):
    """What was revealed, purged and made here. Entries never hold text of a case."""

    def audit(self, event: str, detail: str) -> None:
        """Append to the audit log, chained under the site's key. `detail` never holds text of a case."""
        with self._transaction():
            row = self._db.execute("SELECT seq, chain FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
            seq, previous = row or (0, b"")
            at = int(time.time())
            chain = self._audit_link(previous, at, event, detail)
            self._db.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?)", (seq + 1, at, event, detail, chain))
            self._set_seal("audit head", chain)

    def audit_log(self) -> list[tuple[int, str, str]]:
        """Return (seconds since 1970, event, detail), oldest first.

        Raises:
            StoreError: an entry was changed or removed. That the whole store was put back from an older copy cannot
                be seen here.
        """
        previous, entries = b"", []
        for at, event, detail, chain in self._db.execute("SELECT at, event, detail, chain FROM audit ORDER BY seq"):
            if self._audit_link(previous, at, event, detail) != chain:
                raise StoreError("the audit log was changed: an entry does not follow from the one before it")
            previous = chain
            entries.append((at, event, detail))
        head = self._seal("audit head")
        if (b"" if head is None else self._vault.open(b"seal\0audit head", head)) != previous:
            raise StoreError("the audit log was changed: its last entries are missing")
        return entries

    def _audit_link(self, previous: bytes, at: int, event: str, detail: str) -> bytes:
        return self._vault.keyed_hash("audit", previous + json.dumps([at, event, detail]).encode())
