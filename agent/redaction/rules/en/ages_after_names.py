"""Ages over 89 directly after a name, as in lists of patients: "MacGillivray, 93, delirious", "Anselmo (94!)"."""

from collections.abc import Iterator

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.en.names import words
from agent.redaction.rules.en.small_letters import is_known

_AGE = regex.compile(
    r"(?<![\p{L}\d'’-])(?P<name>\p{Lu}[\p{L}'’-]{1,20}\p{Ll}),? [(]?\K(?P<age>9\d|1[01]\d)"
    r"(?:(?<=, \d{2,3})(?=,(?! \d)|\n)|(?<=[(]\d{2,3})(?=!{0,2}[)]))"
)


def find_ages_after_names(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield numbers from 90 to 119 between commas or in brackets, after a capitalised word that names no value.

    Raises:
        TimeoutError: the deadline passed.
    """
    for match in _AGE.finditer(text, timeout=deadline.left()):
        if _may_be_name(match["name"]):
            yield "AGE", *match.span("age")


def _may_be_name(word: str) -> bool:
    lower = word.lower()
    if lower in words("function_words"):
        return False
    lists = ("given_names", "surnames", "family", "roles")
    return not is_known(word) or any(lower in words(name) for name in lists)
