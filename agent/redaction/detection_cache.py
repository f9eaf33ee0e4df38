"""A cache of detections by text, so that a prompt that several models were asked is searched once.

It holds digests of texts, spans and entities, never a text. It lives in memory, and in the site's store where an export
asks for that.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Protocol

from agent.redaction.spans.span import Span

# A detection takes about 200 bytes: 40 MB at most.
MAX_DETECTIONS = 200_000
_WRITTEN_AT_ONCE = 500  # texts; each write to the store is one transaction


# The detections in a text, by view (see agent.redaction.views.views).
Detections = tuple[tuple[Span, ...], ...]


class DetectionStore(Protocol):
    """Keeps detections between processes, sealed. Names are digests of text and rules together."""

    def find(self, name: bytes) -> bytes | None:
        """Return the detections stored under `name`."""
        ...

    def keep(self, findings: Mapping[bytes, bytes]) -> None:
        """Store detections by name."""
        ...


class DetectionCache:
    """Detections by text. The text that was not asked for longest leaves first.

    Args:
        most: detections in memory; a text without any counts as one.
        store: keeps them for the next process too.
        rules: digest of all that decides about detections: those stored under other rules do not count.
    """

    def __init__(
        self, most: int = MAX_DETECTIONS, store: DetectionStore | None = None, rules: bytes = b""
    ) -> None:
        self._most = most
        self._store = store
        self._rules = rules
        self._size = 0
        self._detections: OrderedDict[bytes, Detections] = OrderedDict()
        self._unwritten: dict[bytes, bytes] = {}  # not in the store yet

    def get(self, text: str) -> Detections | None:
        """Return the detections in exactly this text, or None if they are not in the cache."""
        key = self._key(text)
        if key in self._detections:
            self._detections.move_to_end(key)
        elif self._store is not None and (stored := self._store.find(key)) is not None:
            self._add(
                key, tuple(tuple(Span(*span) for span in view) for view in json.loads(stored))
            )
        return self._detections.get(key)

    def put(self, text: str, detections: Detections) -> None:
        """Keep the detections in a text."""
        key = self._key(text)
        self._add(key, detections)
        if self._store is None:
            return
        views = [[(span.start, span.end, span.entity) for span in view] for view in detections]
        self._unwritten[key] = json.dumps(views).encode()
        if len(self._unwritten) >= _WRITTEN_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write new detections to the store."""
        if self._store is not None and self._unwritten:
            self._store.keep(self._unwritten)
            self._unwritten = {}

    def _add(self, key: bytes, detections: Detections) -> None:
        self._detections[key] = detections
        self._size += _count(detections)
        while self._size > self._most:
            _, oldest = self._detections.popitem(last=False)
            self._size -= _count(oldest)

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(self._rules + text.encode()).digest()


def _count(detections: Detections) -> int:
    return max(1, sum(map(len, detections)))
