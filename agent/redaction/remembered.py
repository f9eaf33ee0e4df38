"""Findings of texts seen before, so that a prompt that several models were asked is searched once.

In memory for as long as the process lives, and where a shelf is given (the site's store) from one export to the next.
Never with any text: digests, places and kinds.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Protocol

from agent.redaction.spans import Span

# A finding takes about 200 bytes: 40 MB at most.
MOST_FINDINGS = 200_000
_KEPT_AT_ONCE = 500  # texts


# What was found in a text, by view (see agent.redaction.reading.views).
Findings = tuple[tuple[Span, ...], ...]


class Shelf(Protocol):
    """Keeps findings between processes, sealed. Names are digests of text and rules together."""

    def findings(self, name: bytes) -> bytes | None:
        """Return what was kept under `name`."""
        ...

    def keep_findings(self, found: Mapping[bytes, bytes]) -> None:
        """Keep findings by name."""
        ...


class Remembered:
    """Findings by text. Those not asked for longest are forgotten first.

    Args:
        most: findings in memory; a text without any counts as one.
        shelf: keeps them for the next process too.
        rules: digest of whatever decides what is found: under other rules nothing on the shelf counts.
    """

    def __init__(self, most: int = MOST_FINDINGS, shelf: Shelf | None = None, rules: bytes = b"") -> None:
        self._most = most
        self._shelf = shelf
        self._rules = rules
        self._held = 0
        self._findings: OrderedDict[bytes, Findings] = OrderedDict()
        self._fresh: dict[bytes, bytes] = {}  # not on the shelf yet

    def get(self, text: str) -> Findings | None:
        """Return what was found in exactly this text, or None when that is not known (any more)."""
        key = self._key(text)
        if key in self._findings:
            self._findings.move_to_end(key)
        elif self._shelf is not None and (kept := self._shelf.findings(key)) is not None:
            self._hold(key, tuple(tuple(Span(*span) for span in view) for view in json.loads(kept)))
        return self._findings.get(key)

    def put(self, text: str, findings: Findings) -> None:
        """Keep what was found in a text that was not known."""
        key = self._key(text)
        self._hold(key, findings)
        if self._shelf is not None:
            self._fresh[key] = json.dumps(
                [[(span.start, span.end, span.entity) for span in view] for view in findings]
            ).encode()
            if len(self._fresh) >= _KEPT_AT_ONCE:
                self.shelve()

    def shelve(self) -> None:
        """Put on the shelf what is not there yet."""
        if self._shelf is not None and self._fresh:
            self._shelf.keep_findings(self._fresh)
            self._fresh = {}

    def _hold(self, key: bytes, findings: Findings) -> None:
        self._findings[key] = findings
        self._held += _size(findings)
        while self._held > self._most:
            _, forgotten = self._findings.popitem(last=False)
            self._held -= _size(forgotten)

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(self._rules + text.encode()).digest()


def _size(findings: Findings) -> int:
    return max(1, sum(map(len, findings)))
