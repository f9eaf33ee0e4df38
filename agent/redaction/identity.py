"""The identity table of one record: every value known to identify its people, searched in all of its texts.

Known are what the dataset says of the record (`Identifier`) and what was found in any of its texts.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.spans import Span

_NOT_SEARCHED = frozenset({"AGE", "ZIP", "DATE", "LOCATION"})  # found again by their own rules where they matter
_SEARCHED_LETTERS = 3  # letters or digits a value needs to be searched
_SEARCHED_LENGTH = 100  # characters; longer values are encoded data or whole addresses
_NAME_PART = regex.compile(r"[\p{L}\p{M}]+(?:['-][\p{L}\p{M}]+)*")
_WHOLE_WORD = r"(?<![\p{L}\d])\L<values>(?![\p{L}\d])"


@dataclass(frozen=True, slots=True)
class KnownValues:
    """Values found somewhere in a record, to be searched in all of its texts.

    Attributes:
        whole: entity by full value, in lower case; searched in any case.
        parts: full name by a part of it in lower case (a family name, say); searched in any case.
    """

    whole: Mapping[str, str]
    parts: Mapping[str, str]


def known_values(findings: Iterable[tuple[str, str]], everyday: frozenset[str]) -> KnownValues:
    """Return what to search for, given the record's findings as (entity, value).

    `everyday` are lower-case words that identify nobody when they stand alone.
    """
    whole: dict[str, str] = {}
    parts: dict[str, str] = {}
    for entity, found in findings:
        value = found.strip()
        if entity in _NOT_SEARCHED or len(value) > _SEARCHED_LENGTH or value.casefold() in everyday:
            continue
        if sum(map(str.isalnum, value)) < _SEARCHED_LETTERS:
            continue
        whole.setdefault(value.lower(), entity)
        if entity == "NAME":
            for part in _NAME_PART.findall(value):
                if len(part) >= _SEARCHED_LETTERS and part.casefold() not in everyday:
                    parts[part.lower()] = max(parts.get(part.lower(), ""), value, key=len)
    return KnownValues(whole, parts)


def search(text: str, known: KnownValues, deadline: Deadline) -> Iterator[Span]:
    """Find every known value in folded text, as whole words.

    Raises:
        TimeoutError: the deadline passed.
    """
    if known.whole:
        for match in regex.finditer(
            _WHOLE_WORD, text, regex.IGNORECASE, timeout=deadline.left(), values=list(known.whole)
        ):
            yield Span(match.start(), match.end(), known.whole.get(match.group().lower(), "ID"))
    if known.parts:
        for match in regex.finditer(
            _WHOLE_WORD, text, regex.IGNORECASE, timeout=deadline.left(), values=list(known.parts)
        ):
            yield Span(match.start(), match.end(), "NAME")
