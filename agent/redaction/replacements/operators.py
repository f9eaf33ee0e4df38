"""Replacements of detected values: a tag, a surrogate, a moved date, a year or a capped age.

The policy's `operators` determine which. If an operator cannot be applied (a date without a year cannot be moved), the
replacement is a tag, never the value.
"""

from collections.abc import Iterable, Sequence

import regex

from agent.redaction.policy.policy import RedactionPolicy
from agent.redaction.replacements.date_values import read_date, read_year
from agent.redaction.replacements.people import Gender, Person, RecordPeople, read_title_gender
from agent.redaction.replacements.surrogates import GIVEN_NAMES, KeyedChoice, Surrogates
from agent.redaction.replacements.tags import TagTable

# Dates are moved by 1 to this many whole weeks, back or forth, so that weekdays in the text remain correct.
_MAX_WEEKS = 52
# Years. Even the year of an older date may reveal that a person is over 89 (HIPAA).
_OLDEST = 89
_BETWEEN = regex.compile(
    r"(\s+(?:and|to|through|until|y|al?|hasta)\s+|\s+-\s+|;\s+)", regex.IGNORECASE
)
_WORD = regex.compile(r"[\p{L}\p{M}\d]+")


class Operators:
    """The operators that a policy lists.

    Args:
        policy: the policy.
        key: 32 random bytes: the site's key, so that surrogates and moved dates are stable, or a key for this process.
        this_year: determines which years indicate people over 89.
        given_names: given names in lower case, which distinguish the first part of a name from the last.
        family_names: family names in lower case.
    """

    def __init__(
        self,
        policy: RedactionPolicy,
        key: bytes,
        this_year: int,
        given_names: frozenset[str] = frozenset(),
        family_names: frozenset[str] = frozenset(),
    ) -> None:
        self.policy = policy
        self.key = key
        self.this_year = this_year
        self.given_names = given_names | GIVEN_NAMES
        self.usual_names = given_names | family_names

    def for_record(
        self,
        texts: Sequence[str],
        detected: Iterable[tuple[str, str]],
        unit: str | None,
        language: str = "en",
    ) -> "RecordOperators":
        """Return the operators for one record.

        Args:
            texts: all texts of the record.
            detected: the (entity, value) pairs to replace in any of the texts.
            unit: the patient of the record. Records of one unit share surrogates and the number of days by which dates
                move. Without a unit, all records share surrogates, and the number of days is the record's own.
            language: the language of the record, which determines what 03/04/2022 means.
        """
        return RecordOperators(self, texts, list(detected), unit, language)


class RecordOperators:
    """The operators applied to one record; see `Operators.for_record`."""

    def __init__(
        self,
        operators: Operators,
        texts: Sequence[str],
        detected: Sequence[tuple[str, str]],
        unit: str | None,
        language: str,
    ) -> None:
        self._operators = operators
        self._language = language
        names = [value for entity, value in detected if entity == "NAME"]
        self._people = RecordPeople(names, operators.usual_names)
        self._tags = TagTable(texts, self._people, language)
        self._genders: dict[Person, Gender] = {}
        self._surrogates: Surrogates | None = None
        self._days = 0
        if operators.policy.keyed_operators:
            self._genders = self._read_genders(names)
            surrogate_choice = KeyedChoice(operators.key, "" if unit is None else unit)
            words_in_use = _list_words(texts, detected)
            self._surrogates = Surrogates(surrogate_choice, words_in_use, operators.given_names)
            date_choice = KeyedChoice(operators.key, "\0".join(texts) if unit is None else unit)
            self._days = _choose_days(date_choice)

    def _read_genders(self, names: Sequence[str]) -> dict[Person, Gender]:
        """Return the gender of each person, according to the first title in the record."""
        genders: dict[Person, Gender] = {}
        for name in reversed(names):  # the first title is processed last, so it takes precedence
            gender = read_title_gender(name)
            if gender:
                genders[self._people.find_person(name)] = gender
        return genders

    def get_replacement(self, entity: str, value: str, after: str = "") -> str:
        """Return the replacement for `value`.

        Args:
            entity: the entity as which the value was detected.
            value: the value as it appears in the plain view.
            after: the character after the value.
        """
        replacement: str | None = None
        match self._operators.policy.choose_operator(entity):
            case "surrogate" if self._surrogates is not None:
                if entity == "NAME":
                    person = self._people.find_person(value)
                    replacement = self._surrogates.replace_name(
                        value, person.words, self._genders.get(person)
                    )
                else:
                    replacement = self._surrogates.replace_value(entity, value)
            case "shift":
                replacement = self._move_dates(value)
            case "year":
                year = read_year(value, this_year=self._operators.this_year)
                if year is not None and not self._is_old(year):
                    replacement = str(year)
            case "cap":
                replacement = "90" if after == "+" else "90+"
        return replacement or self._tags.write_tag(entity, value)

    def _move_dates(self, value: str) -> str | None:
        """Return `value` with its date or dates moved, or None if any of them cannot be moved."""
        dates_and_links = _BETWEEN.split(value)
        for index in range(0, len(dates_and_links), 2):
            moved = self._move_date(dates_and_links[index])
            if moved is None:
                return None
            dates_and_links[index] = moved
        return "".join(dates_and_links)

    def _move_date(self, value: str) -> str | None:
        date_value = read_date(value, language=self._language, this_year=self._operators.this_year)
        if date_value is None or self._is_old(date_value.date.year - 1):
            return None
        return date_value.move(self._days)

    def _is_old(self, year: int) -> bool:
        return year < self._operators.this_year - _OLDEST


def _list_words(texts: Sequence[str], detected: Iterable[tuple[str, str]]) -> set[str]:
    """Return the words and values of a record, in lower case.

    They cannot serve as surrogates, because a reader could mistake such a surrogate for the original.
    """
    words: set[str] = set()
    for text in texts:
        words.update(word.casefold() for word in _WORD.findall(text))
    for _, value in detected:
        words.add("".join(_WORD.findall(value)).casefold())
    return words


def _choose_days(choice: KeyedChoice) -> int:
    """Return the number of days by which to move dates: a multiple of 7 within 52 weeks, except 0."""
    weeks = choice.choose_number(2 * _MAX_WEEKS, "weeks") - _MAX_WEEKS
    return 7 * (weeks if weeks < 0 else weeks + 1)
