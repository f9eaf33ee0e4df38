"""Find words in a text in upper or lower case, several times faster than with `re.IGNORECASE`. Pure.

For a pattern that ignores case, the engine of `re` tries every alternative at every position. Where the case is known,
it passes over most positions by their first letter. So the text is turned to lower case before it is searched.
"""

import re
import sys
from collections.abc import Iterator
from functools import lru_cache

_SHORT = 250  # characters of a text that is turned to lower case as fast as it is looked up
# Escapes and names of groups keep their case.
_PIECE_OF_PATTERN = re.compile(r"\\.|\(\?P[<=]\w+|.", re.DOTALL)


class CaselessPattern:
    """A pattern that ignores case. Its matches have the positions of the text, but their groups are in lower case.

    Attributes:
        lowered: the pattern that is searched in the text in lower case.
    """

    __slots__ = ("lowered",)

    def __init__(self, lowered: re.Pattern[str]) -> None:
        self.lowered = lowered

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match in the text, as `re.Pattern.search` does."""
        return self.lowered.search(lower(text), start, end)

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the match that begins at `start`, as `re.Pattern.match` does."""
        return self.lowered.match(lower(text), start, end)

    def finditer(
        self, text: str, start: int = 0, end: int = sys.maxsize
    ) -> Iterator[re.Match[str]]:
        """Yield the matches in the text, as `re.Pattern.finditer` does."""
        return self.lowered.finditer(lower(text), start, end)


def compile_caseless(pattern: str, flags: int = 0) -> CaselessPattern:
    """Compile a pattern that ignores case.

    Args:
        pattern: a pattern of `re`.
        flags: flags of `re` other than IGNORECASE.
    """
    return CaselessPattern(re.compile(_PIECE_OF_PATTERN.sub(_lower_piece, pattern), flags))


def _lower_piece(piece: re.Match[str]) -> str:
    return piece[0] if piece[0].startswith(("\\", "(?P")) else piece[0].lower()


def lower(text: str) -> str:
    """Return the text in lower case, with each character at its position."""
    # Readers search a long answer sentence by sentence.
    if len(text) > _SHORT:
        return _lower_long(text)
    lowered = text.lower()
    return lowered if lowered.isascii() else _lower_new(text)


def _lower_new(text: str) -> str:
    lowered = text.lower()
    if lowered.isascii():
        return lowered
    # "İ" would become two characters. The others are equal to i and s for `re.IGNORECASE` too.
    lowered = lowered if len(lowered) == len(text) else text.replace("İ", "i").lower()
    return lowered.replace("ı", "i").replace("ſ", "s")


_lower_long = lru_cache(maxsize=8)(_lower_new)
