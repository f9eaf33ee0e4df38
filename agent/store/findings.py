"""What redaction found in texts, sealed, so that the next export need not search them again."""

from collections.abc import Mapping

from agent.store.database import Database


class Findings(Database):
    """The part of the store that holds findings. `name` says which text by which rules, without the text."""

    def findings(self, name: bytes) -> bytes | None:
        """Return what was kept under `name`."""
        key = self._vault.keyed_hash("findings", name)
        row = self._db.execute("SELECT sealed FROM findings WHERE text_key = ?", (key,)).fetchone()
        return None if row is None else self._vault.open(b"findings\0" + key, row[0])

    def keep_findings(self, found: Mapping[bytes, bytes]) -> None:
        """Keep findings by name, in one transaction."""
        keys = {self._vault.keyed_hash("findings", name): value for name, value in found.items()}
        with self._transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO findings VALUES (?, ?)",
                [(key, self._vault.seal(b"findings\0" + key, value)) for key, value in keys.items()],
            )
