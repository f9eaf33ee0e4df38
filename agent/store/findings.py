"""Sealed detections from redaction, stored so that the next export does not search the same texts again."""

from collections.abc import Mapping

from agent.store.database import Database


class Findings:
    """Stored detections by name; a name identifies a text and the rules without revealing the text."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection
        self._vault = database.vault

    def find(self, name: bytes) -> bytes | None:
        """Return the detections stored under `name`, or None."""
        key = self._vault.keyed_hash("findings", name)
        row = self._connection.execute(
            "SELECT sealed FROM findings WHERE text_key = ?", (key,)
        ).fetchone()
        return None if row is None else self._vault.open(b"findings\0" + key, row[0])

    def keep(self, findings: Mapping[bytes, bytes]) -> None:
        """Store detections by name, in one transaction."""
        keys = {self._vault.keyed_hash("findings", name): value for name, value in findings.items()}
        with self._database.transaction():
            self._connection.executemany(
                "INSERT OR REPLACE INTO findings VALUES (?, ?)",
                [
                    (key, self._vault.seal(b"findings\0" + key, value))
                    for key, value in keys.items()
                ],
            )
