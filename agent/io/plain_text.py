"""Text that can neither control a terminal nor become a formula in a spreadsheet."""

import re
from typing import Any

_TERMINAL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]"
)  # control characters and lone surrogates

# Controls that a page does not show, or that would let a text rearrange its surroundings.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


# A spreadsheet treats cells that begin with these signs, including full-width ones, as formulas.
FORMULA_START = re.compile(r"\s*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


# In locales with semicolon-separated lists, such as German, each semicolon starts a new cell and each line break a new
# row.
_WITHIN = r"""(?<=[;\t\r\n])(?=(?:[^\S\t\r\n]|")*[%s])"""


_FORMULA_WITHIN = re.compile(_WITHIN % "=@\uff1d\uff20")


# + and - also mark items of a list, so they are allowed in lines that call no function.
_CALL = re.compile(r"[(|!\uff08]")


_CALL_WITHIN = re.compile(_WITHIN % r"=+\-@\uff1d\uff0b\uff0d\uff20")


_LINE = re.compile(r"[\r\n]?[^\r\n]+")


def format_cell(value: Any) -> str:
    """Format a value as a CSV cell, with an apostrophe before each text that a spreadsheet would evaluate."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = _LINE.sub(_quote_formulas, value)
    return "'" + text if FORMULA_START.match(text) else text


def _quote_formulas(line: re.Match[str]) -> str:
    formula = _CALL_WITHIN if _CALL.search(line[0]) else _FORMULA_WITHIN
    return formula.sub("'", line[0])


def printable(text: str) -> str:
    """Return text without control characters, which could control a terminal, and without lone surrogates."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def replace_controls(text: str) -> str:
    """Return text for a page, without controls of terminals or of the writing direction, and of the same length.

    White space stays as it is, so that words which a reader copies from the page are found in the text again.
    """
    return _UNSEEN.sub("\ufffd", text)
