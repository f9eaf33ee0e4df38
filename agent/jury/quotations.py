"""The texts that a judge was shown, as what it may quote from: however spaced, escaped, accented or spelt."""

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property

from agent.jury.fence import tame

_MOST_SEARCHED = 100_000_000  # characters, in all searches for one reply

_SIGNS = re.compile(r"[\W_]+")
_WHOLE_NUMBER = re.compile(r"(?<=\d)\.0+(?!\d)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class TooMuchError(Exception):
    """Reading would take too long."""


class Shown:
    """Texts as they are and as judges see them. Worked out only when something is sought."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._left = _MOST_SEARCHED

    def holds(self, said: str) -> bool:
        """Tell whether `said` stands in a text, whatever its spaces and signs.

        Raises:
            TooMuchError: so much was sought that going on would take too long.
        """
        sought = squeezed(said)
        self._left -= sum(map(len, self._squeezed))
        if self._left < 0:
            raise TooMuchError
        return any(sought in text for text in self._squeezed)

    @cached_property
    def _squeezed(self) -> list[str]:
        text = "\n".join(self._texts)
        found: dict[str, None] = {}
        for shown in dict.fromkeys((text, tame(text))):
            once = _unescaped(shown)
            readings = (shown, once, _unescaped(once), html.unescape(shown))
            found.update(dict.fromkeys(map(squeezed, dict.fromkeys(readings))))
        return list(found)


def squeezed(text: str) -> str:
    """Return letters and digits alone, in one case and without accents; 5.0 is 5.

    Marks go before anything is normalised: a long run of them is sorted in quadratic time.
    """
    plain = _SIGNS.sub("", _WHOLE_NUMBER.sub("", text))
    return _SIGNS.sub("", unicodedata.normalize("NFKD", plain).casefold())


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _ESCAPED.get(m[2], m[2]), text)
