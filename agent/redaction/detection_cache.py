"""A cache of detections by text, so that a prompt sent to several models is analysed only once.

The cache contains digests of texts, spans and entities, but no text. It is held in memory, and also in the site's store
if an export requests it.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Protocol

from agent.redaction.spans.span import Span

# A detection takes about 200 bytes, so the cache takes at most 40 MB.
MAX_DETECTIONS = 200_000
_WRITTEN_AT_ONCE = 500  # texts per transaction of the store


# The detections in a text, one tuple per view (see agent.redaction.views.views).
Detections = tuple[tuple[Span, ...], ...]


class DetectionStore(Protocol):
    """A sealed store that keeps detections between processes. Each name is a digest of the text and the rules."""

    def find(self, name: bytes) -> bytes | None:
        """Return the detections stored under `name`."""
        ...

    def keep(self, findings: Mapping[bytes, bytes]) -> None:
        """Store detections under their names."""
        ...


class DetectionCache:
    """Detections by text. The least recently used text is evicted first.

    Args:
        most: maximum number of detections in memory. A text without detections counts as one.
        store: keeps the detections for the next process as well.
        rules: digest of everything that affects detection. Detections stored under another digest are ignored.
    """

    def __init__(
        self, most: int = MAX_DETECTIONS, store: DetectionStore | None = None, rules: bytes = b""
    ) -> None:
        self._most = most
        self._store = store
        self._rules = rules
        self._size = 0
        self._detections: OrderedDict[bytes, Detections] = OrderedDict()
        self._unwritten: dict[bytes, bytes] = {}  # not yet in the store

    def get(self, text: str) -> Detections | None:
        """Return the detections in exactly this text, or None if the text is not in the cache."""
        key = self._key(text)
        if key in self._detections:
            self._detections.move_to_end(key)
        elif self._store is not None and (stored := self._store.find(key)) is not None:
            self._add(
                key, tuple(tuple(Span(*span) for span in view) for view in json.loads(stored))
            )
        return self._detections.get(key)

    def put(self, text: str, detections: Detections) -> None:
        """Add the detections in a text."""
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
