"""The site's encrypted store: SQLite (WAL), texts sealed, identities as keyed hashes.

A run is written in three steps, each safe to repeat: `begin_run` (its instances), `settle` (answers and scores, in
small transactions as they arrive) and `end_run`. A killed run leaves whole transactions only.
"""

import time

from agent.store.audit import AuditLog
from agent.store.calibrations import Calibrations
from agent.store.database import said_plainly
from agent.store.findings import Findings
from agent.store.releases import Releases
from agent.store.reviews import Reviews
from agent.store.writing import RunWriter

DAY_S = 86_400


class Store(RunWriter, AuditLog, Releases, Findings, Calibrations, Reviews):
    """One open connection to the site's store. Not for several threads."""

    def purge(self, older_than_days: int, now: float | None = None) -> int:
        """Delete texts that no run has used for `older_than_days` times 24 hours; scores stay. Returns how many went.

        0 deletes every text that there is.
        """
        last = int(time.time() if now is None else now) - older_than_days * DAY_S
        with self._transaction():
            gone = self._db.execute("DELETE FROM answers WHERE created_at <= ?", (last,)).rowcount
            gone += self._db.execute("DELETE FROM judgements WHERE created_at <= ?", (last,)).rowcount
            gone += self._db.execute("DELETE FROM records WHERE last_used_at <= ?", (last,)).rowcount
            gone += self._db.execute(
                "UPDATE reviewed_texts SET sealed = NULL WHERE sealed IS NOT NULL"
                " AND review IN (SELECT name FROM reviews WHERE made_at <= ?)",
                (last,),
            ).rowcount
            self._db.execute("DELETE FROM findings")  # made again from texts that are still there
        with said_plainly("written"):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.execute("VACUUM")
        return gone
