"""Choose the languages in which the fields of a record are searched."""

import re
from collections.abc import Sequence

from agent.redaction.policy.policy import Language

_WORD = re.compile(r"[^\W\d_]+")
_EN = frozenset(
    ["the", "of", "and", "is", "was", "with", "for", "on", "not", "has", "he", "she", "an", "to"]
)
_ES = frozenset(
    [
        "el",
        "la",
        "los",
        "las",
        "de",
        "que",
        "y",
        "en",
        "un",
        "una",
        "con",
        "por",
        "para",
        "se",
        "del",
        "al",
        "es",
        "su",
    ]
)


def choose_languages(texts: Sequence[str]) -> list[tuple[Language, ...]]:
    """Return the languages in which each text of a record is searched."""
    chosen: list[tuple[Language, ...]] = []
    for text in texts:
        words = _WORD.findall(text.lower())
        english = sum(word in _EN for word in words)
        spanish = sum(word in _ES for word in words)
        chosen.append(("es",) if spanish > english else ("en",))
    return chosen
