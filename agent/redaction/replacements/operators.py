"""Replacements of detected values: a tag, a surrogate, a moved date, a year, a capped age.

The policy's `operators` decide which; presidio-anonymizer writes them (see `agent.redaction.engine`). Where an operator
cannot be applied (a date without a year cannot be moved) the replacement is a tag, and never the value.
"""

from collections.abc import Iterable, Sequence

import regex

from agent.redaction.policy.policy import RedactionPolicy
from agent.redaction.replacements.date_values import read_date, read_year
from agent.redaction.replacements.people import Gender, Person, RecordPeople, read_title_gender
from agent.redaction.replacements.surrogates import GIVEN_NAMES, KeyedChoice, Surrogates
from agent.redaction.replacements.tags import TagTable

_MAX_WEEKS = (
    52  # dates are moved by 1 to this many weeks, back or forth: a weekday beside one stays true
)
_OLDEST = 89  # years; a date further back may say that somebody is over 89, which not even the year may (HIPAA)
_BETWEEN = regex.compile(
    r"(\s+(?:and|to|through|until|y|al?|hasta)\s+|\s+-\s+|;\s+)", regex.IGNORECASE
)
_WORD = regex.compile(r"[\p{L}\p{M}\d]+")


class Operators:
    """The operators of a policy.

    Args:
        policy: names them.
        key: 32 random bytes: the site's, so that surrogates and moved dates stay the same; or of this process alone.
        this_year: decides which years point at people over 89.
        given_names: in small letters; they tell a name's first part from its last.
        family_names: in small letters.
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
        self.language = policy.languages[0]

    def for_record(
        self, texts: Sequence[str], detected: Iterable[tuple[str, str]], unit: str | None
    ) -> "RecordOperators":
        """Return the operators for one record.

        Args:
            texts: all of its texts.
            detected: the values to replace in any of them, as (entity, value).
            unit: the patient it belongs to: same unit, same surrogates, same number of days. Without one, values have
                the same surrogates in all records, and dates move by a number of days of this record's own.
        """
        return RecordOperators(self, texts, list(detected), unit)


class RecordOperators:
    """The operators for one record; see `Operators.for_record`."""

    def __init__(
        self,
        operators: Operators,
        texts: Sequence[str],
        detected: Sequence[tuple[str, str]],
        unit: str | None,
    ) -> None:
        self._operators = operators
        names = [value for entity, value in detected if entity == "NAME"]
        self._people = RecordPeople(names, operators.usual_names)
        self._tags = TagTable(texts, self._people, operators.language)
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
        """Return the gender of each person by the first title in the record."""
        genders: dict[Person, Gender] = {}
        for name in reversed(names):  # the first title is written last, over later ones
            gender = read_title_gender(name)
            if gender:
                genders[self._people.find_person(name)] = gender
        return genders

    def get_replacement(self, entity: str, value: str, after: str = "") -> str:
        """Return the replacement of `value`.

        Args:
            entity: as which it was detected.
            value: as the plain view has it.
            after: the character after it.
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
        """Return a date, or several dates detected as one, moved; None unless each can be."""
        dates_and_links = _BETWEEN.split(value)
        for index in range(0, len(dates_and_links), 2):
            moved = self._move_date(dates_and_links[index])
            if moved is None:
                return None
            dates_and_links[index] = moved
        return "".join(dates_and_links)

    def _move_date(self, value: str) -> str | None:
        date_value = read_date(
            value, language=self._operators.language, this_year=self._operators.this_year
        )
        if date_value is None or self._is_old(date_value.date.year - 1):
            return None
        return date_value.move(self._days)

    def _is_old(self, year: int) -> bool:
        return year < self._operators.this_year - _OLDEST


def _list_words(texts: Sequence[str], detected: Iterable[tuple[str, str]]) -> set[str]:
    """Return the words and values of a record, in small letters.

    A surrogate is none of these, for a reader could take it for the original.
    """
    words: set[str] = set()
    for text in texts:
        words.update(word.casefold() for word in _WORD.findall(text))
    for _, value in detected:
        words.add("".join(_WORD.findall(value)).casefold())
    return words


def _choose_days(choice: KeyedChoice) -> int:
    """Return by how many days to move dates: from -52 to 52 weeks without 0, which would leave dates as they are."""
    weeks = choice.choose_number(2 * _MAX_WEEKS, "weeks") - _MAX_WEEKS
    return 7 * (weeks if weeks < 0 else weeks + 1)
