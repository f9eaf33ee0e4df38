"""What is written in the place of each finding: a tag, a surrogate, a moved date, a year, a capped age.

Decided by the policy's `operators`; written by presidio-anonymizer (see `agent.redaction.engine`). Where an operator
cannot be applied (a date without a year cannot be moved) a tag is written, and never the value.
"""

from collections.abc import Iterable, Sequence

import regex

from agent.redaction.policy import RedactionPolicy
from agent.redaction.writing.date_values import read_date, read_year
from agent.redaction.writing.people import Gender, People, Person, titled
from agent.redaction.writing.surrogates import GIVEN_NAMES, Keyed, Surrogates
from agent.redaction.writing.tags import TagTable

_MOST_WEEKS = 52  # dates are moved by 1 to this many weeks, back or forth: a weekday beside one stays true
_OLDEST = 89  # years; a date further back may say that somebody is over 89, which not even the year may (HIPAA)
_BETWEEN = regex.compile(r"(\s+(?:and|to|through|until|y|al?|hasta)\s+|\s+-\s+|;\s+)", regex.IGNORECASE)
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

    def of_record(self, texts: Sequence[str], found: Iterable[tuple[str, str]], unit: str | None) -> "RecordOperators":
        """Return the operators for one record.

        Args:
            texts: all of its texts.
            found: what will be replaced in any of them, as (entity, value).
            unit: the patient it belongs to: same unit, same surrogates, same number of days. Without one, values have
                the same surrogates in all records, and dates move by a number of days of this record's own.
        """
        return RecordOperators(self, texts, list(found), unit)


class RecordOperators:
    """What is written in one record; see `Operators.of_record`."""

    def __init__(self, of: Operators, texts: Sequence[str], found: Sequence[tuple[str, str]], unit: str | None) -> None:
        self._of = of
        self._people = People((value for entity, value in found if entity == "NAME"), of.usual_names)
        self._tags = TagTable(texts, self._people, of.language)
        self._surrogates: Surrogates | None = None
        if of.policy.keyed_operators:
            words = {word.casefold() for text in texts for word in _WORD.findall(text)}
            values = {"".join(_WORD.findall(value)).casefold() for _, value in found}
            scope = Keyed(of.key, "" if unit is None else unit)
            self._genders: dict[Person, Gender] = {
                self._people.who(value): gender
                for entity, value in reversed(found)
                if entity == "NAME" and (gender := titled(value))
            }
            self._surrogates = Surrogates(scope, words | values, of.given_names)
            weeks = Keyed(of.key, "\0".join(texts) if unit is None else unit).number(2 * _MOST_WEEKS, "weeks")
            self._days = 7 * (weeks - _MOST_WEEKS if weeks < _MOST_WEEKS else weeks - _MOST_WEEKS + 1)

    def written(self, entity: str, value: str, after: str = "") -> str:
        """Return what stands for `value`.

        Args:
            entity: what it was found as.
            value: as it reads.
            after: the character after it.
        """
        made: str | None = None
        match self._of.policy.operator(entity):
            case "surrogate" if self._surrogates is not None:
                if entity == "NAME":
                    person = self._people.who(value)
                    made = self._surrogates.name(value, person.words, self._genders.get(person))
                else:
                    made = self._surrogates.value(entity, value)
            case "shift":
                made = self._moved(value)
            case "year":
                year = read_year(value, this_year=self._of.this_year)
                made = None if year is None or self._is_old(year) else str(year)
            case "cap":
                made = "90" if after == "+" else "90+"
            case _:
                pass
        return made or self._tags.tag(entity, value)

    def _moved(self, value: str) -> str | None:
        """Return a date, or several that were found as one, moved; None unless each can be."""
        parts = _BETWEEN.split(value)  # dates, and what is between them
        moved = [self._moved_date(part) if nth % 2 == 0 else part for nth, part in enumerate(parts)]
        return None if None in moved else "".join(part or "" for part in moved)

    def _moved_date(self, value: str) -> str | None:
        read = read_date(value, language=self._of.language, this_year=self._of.this_year)
        if read is None or self._is_old(read.date.year - 1):
            return None
        return read.moved(self._days)

    def _is_old(self, year: int) -> bool:
        return year < self._of.this_year - _OLDEST
