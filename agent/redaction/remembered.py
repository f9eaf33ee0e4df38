"""Findings of texts seen lately, so that a prompt that several models were asked is searched once.

In memory only, for as long as the process lives, and without any text: digests, places and kinds.
"""

import hashlib
from collections import OrderedDict

from agent.redaction.spans import Span

# A finding takes about 200 bytes: 40 MB at most.
MOST_FINDINGS = 200_000


class Remembered:
    """Findings by text. Those not asked for longest are forgotten first."""

    def __init__(self, most: int = MOST_FINDINGS) -> None:
        """Keep at most `most` findings; a text without any counts as one."""
        self._most = most
        self._held = 0
        self._findings: OrderedDict[bytes, tuple[Span, ...]] = OrderedDict()

    def get(self, text: str) -> tuple[Span, ...] | None:
        """Return what was found in exactly this text, or None when that is not known (any more)."""
        key = _digest(text)
        if key in self._findings:
            self._findings.move_to_end(key)
        return self._findings.get(key)

    def put(self, text: str, findings: tuple[Span, ...]) -> None:
        """Keep what was found in a text that was not known."""
        self._findings[_digest(text)] = findings
        self._held += max(1, len(findings))
        while self._held > self._most:
            _, forgotten = self._findings.popitem(last=False)
            self._held -= max(1, len(forgotten))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
