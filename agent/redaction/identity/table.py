"""The identity table of one record: all values known to identify its people, searched for in all of its texts.

A value is known because the dataset states it (`Identifier`) or because it was detected in one of the texts. Values are
compared with the words of a text rather than with its exact spelling: names match in any order, in part, as initials,
joined together or with a typing error; numbers match with other separators or without leading zeros; days match in
other formats; streets match with other spellings of words such as "street".
"""

import re
from collections.abc import Callable, Iterable, Iterator

from agent.redaction.deadline import Deadline
from agent.redaction.identity.days import Day, KnownDays, find_days
from agent.redaction.identity.known_names import KnownNames
from agent.redaction.identity.known_numbers import KnownNumbers
from agent.redaction.identity.known_phrases import KnownPhrases
from agent.redaction.identity.words import TextWords, split_words
from agent.redaction.spans.span import Span

# Entities whose values many people share. Where they identify a person, their own rules detect them in each text.
_NOT_SEARCHED = frozenset(
    {
        "AGE",
        "AGE_BELOW_90",
        "RELATIVE_DATE",
        "SEX",
        "FAMILY",
        "PROFESSION",
        "NATIONALITY",
        "UNKNOWN_WORD",
    }
)
# Entities whose values are compared word by word even if they contain a number: "12 Oak Street".
_WORDS_WITH_DIGITS = frozenset({"ADDRESS", "FACILITY", "ORGANIZATION", "EMAIL", "URL", "LOCATION"})
_POSTAL_CODE = re.compile(r"\b\d{5}(?:-\d{4})?\b")
_SEARCHED_LETTERS = 3  # minimum letters or digits of a value that is searched for
_SEARCHED_LENGTH = 200  # characters; longer values are encoded data


class KnownValues:
    """The known values of a record, to be searched for in all of its texts.

    Args:
        values: (entity, value) pairs, detected or stated.
        everyday: lower-case words that do not identify a person on their own.
        is_common: returns whether a lower-case word is an ordinary word and not a common name; None if no
            word list is available.
    """

    def __init__(
        self,
        values: Iterable[tuple[str, str]],
        everyday: frozenset[str],
        is_common: Callable[[str], bool] | None = None,
    ) -> None:
        names: list[str] = []
        days: set[Day] = set()
        numbers: list[tuple[str, str]] = []
        phrases: list[tuple[str, str]] = []
        for entity, value in dict.fromkeys((entity, value.strip()) for entity, value in values):
            if entity in _NOT_SEARCHED or len(value) > _SEARCHED_LENGTH:
                continue
            if entity == "NAME":
                names.append(value)
            elif entity == "DATE":
                for written in find_days(value, split_words(value)):
                    days |= written.readings
            elif _is_distinctive(value, everyday):
                group = numbers if _is_number(entity, value) else phrases
                group.append((entity, value))
                if entity == "ADDRESS":
                    numbers += [("ZIP", code) for code in _POSTAL_CODE.findall(value)]
        self.names = KnownNames(names, everyday, is_common)
        self.numbers = KnownNumbers(numbers)
        self.phrases = KnownPhrases(phrases, everyday, is_common)
        self.days = KnownDays(days)

    def __bool__(self) -> bool:
        """Return whether there is any value to search for."""
        return bool(self.names or self.numbers or self.phrases or self.days)


def search_known_values(text: str, known: KnownValues, deadline: Deadline) -> Iterator[Span]:
    """Yield the occurrences of known values, as whole words, in folded text.

    The time depends only on the length of the text.

    Raises:
        TimeoutError: the deadline passed.
    """
    if not known:
        return
    words = split_words(text)
    deadline.left()
    for start, end in known.names.find(TextWords(text, words)):
        yield Span(start, end, "NAME")
    deadline.left()
    for start, end, entity in known.numbers.find(text, words):
        yield Span(start, end, entity)
    deadline.left()
    for start, end, entity in known.phrases.find(text, words):
        yield Span(start, end, entity)
    deadline.left()
    if known.days:
        for written in find_days(text, words):
            if known.days.may_include(written.readings):
                yield Span(written.start, written.end, "DATE")


def _is_distinctive(value: str, everyday: frozenset[str]) -> bool:
    """Return whether a value has enough letters and digits and is not an everyday word."""
    return sum(map(str.isalnum, value)) >= _SEARCHED_LETTERS and value.casefold() not in everyday


def _is_number(entity: str, value: str) -> bool:
    """Return whether a value is searched for by its characters alone, in any grouping."""
    return entity not in _WORDS_WITH_DIGITS and any(map(str.isdigit, value))
