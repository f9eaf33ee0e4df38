"""The notation of sentences that mean a label: "the answer (contradicts|denies) the (given |)abstract...". Pure.

Parentheses enclose alternatives, of which an empty one may be left out; "..." stands for up to 60 characters of the
same clause. This module compiles nothing on import, because definitions are read before any answer is.
"""

import re

_NOTATION = {"(": "(?:", ")": ")", "|": "|", "...": r"[^.,;:!?\n]{0,60}"}
_MARK = r"([()|]|\.\.\.)"
# The end of the clause, or a conjunction that goes on with its reason.
_END = r"(?=\s?$|\s?\n|\s?[.,;:!)\]\"'](?!\w)|\s-\s|\s(?:because|since|as|so|and|here|overall|whatsoever|imo)\b)"


def is_sentence(name: str) -> bool:
    """Return whether one of the words for a label is a pattern of sentences: it has alternatives in parentheses."""
    return "(" in name and "|" in name


def is_balanced(name: str) -> bool:
    """Return whether every parenthesis of a pattern is opened and closed, in this order."""
    depth = 0
    for character in name:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def compile_sentence(name: str) -> re.Pattern[str]:
    """Return a pattern compiled for text in lower case; its parentheses must be balanced."""
    pieces = [_NOTATION.get(piece) or _escape(piece) for piece in re.split(_MARK, name.lower())]
    return re.compile(rf"(?:{''.join(pieces)}){_END}")


def _escape(text: str) -> str:
    return r"\s".join(map(re.escape, text.split(" ")))
