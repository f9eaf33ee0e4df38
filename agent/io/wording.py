"""Words of people in messages: the nearest known one, and characters that would not be seen as they are."""

import difflib
import re
from collections.abc import Iterable

# What a terminal or a page would obey instead of show: controls, lone surrogates, line separators, and marks that
# turn the direction of the text around them.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return " (did you mean ...?)" for the most similar known word, or nothing."""
    by_case = {name.casefold(): name for name in known}
    found = difflib.get_close_matches(word.casefold(), by_case, n=1, cutoff=0.6)
    return f" (did you mean {by_case[found[0]]!r}?)" if found else ""


def counted(count: int, of: str) -> str:
    """Return a count with its word: "1 run", "2 runs"."""
    return f"1 {of}" if count == 1 else f"{count:,} {of}s"


def unseen(text: str, *, one_line: bool = True) -> str:
    """Return the first character of `text` that would not be seen as it is, as "U+001B", or nothing.

    A name in one line has only printable characters; longer text may also have line ends, tabs and rare spaces.
    """
    if one_line:
        found = next((character for character in text if not character.isprintable()), "")
    else:
        match = _UNSEEN.search(text)
        found = match[0] if match else ""
    return f"U+{ord(found):04X}" if found else ""
