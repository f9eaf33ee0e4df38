"""Find quotations in the texts that a judge was shown, regardless of spacing, escaping or accents."""

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property

from agent.jury.fence import break_control_tokens

_MAX_SEARCHED = 100_000_000  # characters, over all searches for one reply

_SIGNS = re.compile(r"[\W_]+")
_WHOLE_NUMBER = re.compile(r"(?<=\d)\.0+(?!\d)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class SearchLimitError(Exception):
    """Raised when reading a reply would take too long."""


class ShownTexts:
    """The texts shown to judges, in every form in which a judge may quote them; prepared at the first search."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._budget = _MAX_SEARCHED

    def holds(self, quotation: str) -> bool:
        """Return whether a text contains `quotation`, regardless of spacing and punctuation.

        Raises:
            SearchLimitError: the searches for this reply have used up their limit.
        """
        squeezed = squeeze(quotation)
        self._spend()
        return any(squeezed in reading for reading in self._readings)

    def states_number(self, name: str) -> bool:
        """Return whether a number follows `name` in a text, directly or after the word "score".

        Raises:
            SearchLimitError: see `holds`.
        """
        self._spend()
        stated = re.compile(rf"{re.escape(squeeze(name))}(?:score)?[0-9]")
        return any(stated.search(reading) for reading in self._readings)

    def _spend(self) -> None:
        self._budget -= sum(map(len, self._readings))
        if self._budget < 0:
            raise SearchLimitError

    @cached_property
    def _readings(self) -> list[str]:
        """Return each form of the texts in one string: unchanged, unescaped once or twice, or with HTML unescaped."""
        original = "\n".join(self._texts)
        readings: dict[str, None] = {}
        for text in dict.fromkeys((original, break_control_tokens(original))):
            unescaped = _unescape(text)
            spellings = (text, unescaped, _unescape(unescaped), html.unescape(text))
            # Most of these forms are identical, and squeezing a long text is the slow step.
            for spelling in dict.fromkeys(spellings):
                readings[squeeze(spelling)] = None
        return list(readings)


def squeeze(text: str) -> str:
    """Return only the letters and digits of a text, in one case and without accents; 5.0 becomes 5.

    Combining marks are removed before normalisation, because sorting a long run of them takes quadratic time.
    """
    plain = _WHOLE_NUMBER.sub("", text)
    plain = _SIGNS.sub("", plain)
    return _SIGNS.sub("", unicodedata.normalize("NFKD", plain).casefold())


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_read_escape, text)


def _read_escape(escape: re.Match[str]) -> str:
    code_point, character = escape.groups()
    if code_point:
        return chr(int(code_point, 16))
    return _ESCAPED.get(character, character)
