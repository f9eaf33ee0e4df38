"""Words in messages: the nearest of several names, counts, and characters that are not seen as they are."""

import difflib
import re
from collections.abc import Iterable

# Characters that a terminal or a page obeys instead of showing: controls, lone surrogates, line separators, and marks
# that turn the direction of the text around them.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def nearest(word: str, names: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the most similar of the names, or an empty text."""
    names_by_case = {name.casefold(): name for name in names}
    matches = difflib.get_close_matches(word.casefold(), names_by_case, n=1, cutoff=0.6)
    return f" (did you mean {names_by_case[matches[0]]!r}?)" if matches else ""


def format_count(count: int, noun: str) -> str:
    """Return a count with its noun: "1 run", "2 runs"."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def find_unseen(text: str, *, one_line: bool = True) -> str:
    """Return the first character of `text` that is not seen as it is, as "U+001B", or an empty text.

    A name in one line has only printable characters; longer text may also have line ends, tabs and rare spaces.
    """
    if one_line:
        character = next((character for character in text if not character.isprintable()), "")
    else:
        match = _UNSEEN.search(text)
        character = match[0] if match else ""
    return f"U+{ord(character):04X}" if character else ""
