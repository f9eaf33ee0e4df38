"""Detections kept in memory, as a store keeps them."""

from collections.abc import Mapping


class MemoryStore(dict[bytes, bytes]):
    """A store in memory."""

    def find(self, name: bytes) -> bytes | None:
        return self.get(name)

    def keep(self, findings: Mapping[bytes, bytes]) -> None:
        self.update(findings)
