"""Text that neither steers a terminal nor becomes a formula in a spreadsheet."""

import re
from typing import Any

_TERMINAL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]"
)  # controls it, or no character


# A spreadsheet takes cells that begin so for formulas, in full-width signs too.
FORMULA_START = re.compile(r"\s*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


# Where lists are written with semicolons, as in German, it begins a cell after each of a text, and a row at each break.
_WITHIN = r"""(?<=[;\t\r\n])(?=(?:[^\S\t\r\n]|")*[%s])"""


_FORMULA_WITHIN = re.compile(_WITHIN % "=@\uff1d\uff20")


# + and - are marks of a list too: they are left alone in a line that calls nothing.
_CALL = re.compile(r"[(|!\uff08]")


_CALL_WITHIN = re.compile(_WITHIN % r"=+\-@\uff1d\uff0b\uff0d\uff20")


_LINE = re.compile(r"[\r\n]?[^\r\n]+")


def format_cell(value: Any) -> str:
    """Write a value as a cell of a CSV file, with an apostrophe before each text that a spreadsheet would run."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = _LINE.sub(_quote_formulas, value)
    return "'" + text if FORMULA_START.match(text) else text


def _quote_formulas(line: re.Match[str]) -> str:
    formula = _CALL_WITHIN if _CALL.search(line[0]) else _FORMULA_WITHIN
    return formula.sub("'", line[0])


def printable(text: str) -> str:
    """Return text without control characters, which could take over a terminal, or lone surrogates."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
