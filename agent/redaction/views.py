"""A text as the recognisers read it, with the way back: every character of a view knows its place in the original."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from agent.redaction.folding import folded, invisible, is_text
from agent.redaction.redacted import Withheld


@dataclass(frozen=True, slots=True)
class View:
    """One reading of a text.

    Attributes:
        text: what the recognisers read.
        starts: by character of `text`, where what it stands for begins in the original; None: at the same place.
            Never falling.
        ends: by character of `text`, where that ends, exclusive.
    """

    text: str
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original of `text[start:end]`, which is not empty."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]

    def within(self, start: int, end: int) -> str:
        """Return what this view reads in `original[start:end]`."""
        if self.starts is None or self.ends is None:
            return self.text[start:end]
        return self.text[bisect_right(self.ends, start) : bisect_left(self.starts, end)]


def views_of(text: str) -> tuple[View, ...] | Withheld:
    """Return how `text` can be read, the plain reading first; or why it cannot be judged at all."""
    if not is_text(text):
        return Withheld.UNDECODABLE
    kept = [place for place, character in enumerate(text) if not invisible(character)] if not text.isascii() else None
    if kept is None or len(kept) == len(text):
        return (View(folded(text)),)
    return (View(folded("".join(text[place] for place in kept)), kept, [place + 1 for place in kept]),)
