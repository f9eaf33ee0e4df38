"""Helpers for messages: similar names, counts with nouns, and invisible characters."""

import difflib
import re
from collections.abc import Iterable

# Characters that a terminal or page does not display: control characters, lone surrogates, line separators, and marks
# that change the direction of the surrounding text.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def nearest(word: str, names: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the most similar name, or "" if none is similar."""
    names_by_case = {name.casefold(): name for name in names}
    matches = difflib.get_close_matches(word.casefold(), names_by_case, n=1, cutoff=0.6)
    return f" (did you mean {names_by_case[matches[0]]!r}?)" if matches else ""


def format_count(count: int, noun: str) -> str:
    """Return a count with its noun: "1 run", "2 runs"."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def format_size(size: int) -> str:
    """Return a number of bytes in the unit that suits it: "250 kB", "3.4 GB"."""
    value, unit = size / 1000, "kB"
    for larger in ("MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:,.0f} {unit}" if value >= 10 else f"{value:,.1f} {unit}"


def format_range_s(low: float, high: float) -> str:
    """Return an interval of seconds in the unit that suits its end: "24 to 38 s", "1.5 to 2.1 min", "3.0 to 4.4 h".

    Ends that look alike when rounded are given once, as "about 24 s".
    """
    divisor, unit = 1.0, "s"
    if high >= 5400:
        divisor, unit = 3600.0, "h"
    elif high >= 90:
        divisor, unit = 60.0, "min"
    decimals = 0 if high >= 10 * divisor else 1
    ends = [f"{low / divisor:,.{decimals}f}", f"{high / divisor:,.{decimals}f}"]
    if ends[0] == ends[1]:
        return f"about {ends[0]} {unit}"
    return f"{ends[0]} to {ends[1]} {unit}"


def find_unseen(text: str, *, one_line: bool = True) -> str:
    """Return the first invisible character of `text` in the form "U+001B", or "" if there is none.

    One-line names may contain printable characters only; longer text also line breaks, tabs and unusual spaces.
    """
    if one_line:
        character = next((character for character in text if not character.isprintable()), "")
    else:
        match = _UNSEEN.search(text)
        character = match[0] if match else ""
    return f"U+{ord(character):04X}" if character else ""
