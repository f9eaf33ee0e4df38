"""Find quotations in the texts that a judge was shown, however the judge spaced, escaped or accented them."""

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property

from agent.jury.fence import break_control_tokens

_MAX_SEARCHED = 100_000_000  # characters, in all searches for one reply

_SIGNS = re.compile(r"[\W_]+")
_WHOLE_NUMBER = re.compile(r"(?<=\d)\.0+(?!\d)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class SearchLimitError(Exception):
    """Reading would take too long."""


class ShownTexts:
    """Texts as they are and as judges see them. They are prepared at the first search."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._budget = _MAX_SEARCHED

    def holds(self, quotation: str) -> bool:
        """Tell whether `quotation` stands in a text, however spaced and punctuated.

        Raises:
            SearchLimitError: the searches for this reply have used up their budget.
        """
        squeezed = squeeze(quotation)
        self._budget -= sum(map(len, self._readings))
        if self._budget < 0:
            raise SearchLimitError
        return any(squeezed in reading for reading in self._readings)

    @cached_property
    def _readings(self) -> list[str]:
        """The ways in which a judge may spell the texts: as they are, unescaped once or twice, without HTML."""
        original = "\n".join(self._texts)
        readings: dict[str, None] = {}
        for text in dict.fromkeys((original, break_control_tokens(original))):
            unescaped = _unescape(text)
            spellings = (text, unescaped, _unescape(unescaped), html.unescape(text))
            # Most spellings are alike, and to squeeze a long text is the costly step.
            for spelling in dict.fromkeys(spellings):
                readings[squeeze(spelling)] = None
        return list(readings)


def squeeze(text: str) -> str:
    """Return letters and digits alone, in one case and without accents; 5.0 is 5.

    Marks go before the text is normalised, because sorting a long run of them takes quadratic time.
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
