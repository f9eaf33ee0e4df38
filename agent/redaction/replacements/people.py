"""Who is who in one record: names as they were found, and the person each of them means.

"Margaret Holloway", "HOLLOWAY, Margaret", "M. Holloway", "Mrs. Holloway's" and "Hollowya" are one person. "Mr. Long"
and "Mrs. Long" are two, as are "John Long, Jr." and "John Long Sr.", and all whose given names differ.
"""

from collections.abc import Iterable, Set
from typing import Literal, NamedTuple

import regex

from agent.redaction.identity.known_names import differs_by_one_error
from agent.redaction.replacements.surrogate_names import surrogate_words

Gender = Literal["female", "male"]

TITLES = frozenset(surrogate_words("titles"))  # compared without their point
_FEMALE_TITLES, _MALE_TITLES = frozenset(surrogate_words("titles_female")), frozenset(surrogate_words("titles_male"))
_FEMALE = frozenset(map(str.casefold, surrogate_words("given_female")))
_MALE = frozenset(map(str.casefold, surrogate_words("given_male")))
_WORD = regex.compile(r"[\p{L}\p{M}\d]+(?:['’][\p{L}\p{M}]+)*")
_POSSESSIVE = regex.compile(r"['’]s?$", regex.IGNORECASE)
_GENERATIONS = {"sr": "sr", "senior": "sr", "jr": "jr", "junior": "jr", "ii": "ii", "iii": "iii", "iv": "iv"}
_MISSPELT_LETTERS = 5  # letters a word needs so that one typing error in it is forgiven
_CONSIDERED = 50  # people a name is compared with


class Person(NamedTuple):
    """Who a name means.

    Attributes:
        words: of the fullest name, in small letters.
        number: tells people of the same words apart.
    """

    words: tuple[str, ...]
    number: int = 0


class _Name(NamedTuple):
    words: tuple[str, ...]
    gender: Gender | None = None  # as its title says
    generation: str = ""  # "jr", "sr", "iii"


def titled(name: str) -> Gender | None:
    """Return the gender that a title in `name` says, if any does."""
    return _name(name).gender


def _name(name: str) -> _Name:
    """Return a name's words in small letters, without titles and possessives (all of them if none is left)."""
    words = [_POSSESSIVE.sub("", word.group()).casefold() for word in _WORD.finditer(name)]
    own = tuple(word for word in words if word not in TITLES)
    first = next((place for place, word in enumerate(words) if word not in TITLES), len(words))
    # "Sr. Pérez" is a man, "Tyrell Pérez Sr." a father.
    generation = next((_GENERATIONS[word] for word in words[first + 1 :] if word in _GENERATIONS), "")
    said = {word for place, word in enumerate(words) if place < first or word not in _GENERATIONS}
    gender: Gender | None = "female" if said & _FEMALE_TITLES else "male" if said & _MALE_TITLES else None
    return _Name(own or tuple(words), gender, generation)


class RecordPeople:
    """The people of one record.

    Args:
        names: every name found in the record, in order. Of two people who could be meant, the first is.
        usual: names, in small letters, that are no misspelling of another: Hansen is not Jansen.
    """

    def __init__(self, names: Iterable[str], usual: Set[str] = frozenset()) -> None:
        self._usual = usual
        found = list(dict.fromkeys(map(_name, names)))
        self._people: dict[str, list[Person]] = {}
        self._person: dict[_Name, Person] = {}
        self._of_words: dict[tuple[str, ...], int] = {}  # people of the same words so far
        self._gender: dict[Person, Gender | None] = {}
        self._generation: dict[Person, str] = {}
        before: set[tuple[str, ...]] = set()
        apart: set[_Name] = set()  # "John Long Sr.", where a "John Long" came first
        for name in found:
            if not name.generation:
                before.add(name.words)
            elif name.words in before:
                apart.add(name)
        for name in sorted(found, key=lambda one: _fullness(one, apart)):  # the sort keeps the order of the record
            if self._known(name) is None:
                self._add(name)

    def _add(self, name: _Name) -> None:
        number = self._of_words.get(name.words, 0)
        self._of_words[name.words] = number + 1
        person = self._person[name] = Person(name.words, number)
        self._gender[person] = name.gender or _usual_gender(name.words)
        self._generation[person] = name.generation
        for key in _keys(name.words):
            self._people.setdefault(key, []).append(person)

    def who(self, name: str) -> Person:
        """Return whoever `name` means; somebody of these very words, for a stranger."""
        asked = _name(name)
        return self._known(asked) or Person(asked.words)

    def person(self, name: str) -> tuple[str, ...]:
        """Return the words of the fullest name of whoever `name` means; its own words for a stranger."""
        return self.who(name).words

    def _known(self, name: _Name) -> Person | None:
        known = self._person.get(name)
        if known is None:
            words = name.words
            longest = max(words, key=len, default="")
            asked = ("=" + longest,) if len(words) == 1 else ()
            if len(longest) > 1:
                asked = (*asked, longest[:2] + "-", "-" + longest[-2:])
            near = dict.fromkeys(person for key in asked for person in self._people.get(key, ())[:_CONSIDERED])
            meant = (one for one in near if self._fits(name, one) and self._means(words, one.words))
            known = next(meant, None)
            if name.gender and known is not None and self._gender[known] is None:
                # Rather somebody of whom it is known that the title is right.
                known = next((one for one in meant if self._gender[one] == name.gender), known)
            if known is not None:
                self._person[name] = known
                self._gender[known] = self._gender[known] or name.gender
        return known

    def _fits(self, name: _Name, person: Person) -> bool:
        """Whether what titles and suffixes say leaves it open that `name` is `person`."""
        gender = self._gender[person]
        if name.gender and gender and name.gender != gender:
            return False
        return not name.generation or name.generation == self._generation[person]

    def _means(self, name: tuple[str, ...], person: tuple[str, ...]) -> bool:
        """Whether `name` can be `person`: written together, by initials alone, or by words of it and initials."""
        if len(name) == 1 and len(person) > 1:
            joined = "".join(person), "".join(reversed(person)), "".join(word[0] for word in person)
            if name[0] in joined:
                return True
        left = list(person)
        for word in sorted(name, key=len, reverse=True):
            meant = next((one for one in left if self._same(word, one)), None)
            if meant is None:
                return False
            left.remove(meant)
        return any(len(word) > 1 for word in name)

    def _same(self, word: str, other: str) -> bool:
        if len(word) == 1 or len(other) == 1:
            return word[:1] == other[:1]
        if word == other:
            return True
        return (
            min(len(word), len(other)) >= _MISSPELT_LETTERS
            and word not in self._usual
            and differs_by_one_error(word, other)
        )


def _usual_gender(words: tuple[str, ...]) -> Gender | None:
    """Return whose given name it is, where the name has one and it is always a woman's or always a man's."""
    if len(words) < 2:
        return None
    female = any(word in _FEMALE and word not in _MALE for word in words[:1])
    male = any(word in _MALE and word not in _FEMALE for word in words[:1])
    return "female" if female else "male" if male else None


def _keys(name: tuple[str, ...]) -> set[str]:
    """Return under what a name is looked up: one typing error leaves the begin or the end of a long word as it is."""
    keys = {key for word in name if len(word) > 1 for key in (word[:2] + "-", "-" + word[-2:])}
    if len(name) > 1:
        keys |= {"=" + "".join(name), "=" + "".join(reversed(name)), "=" + "".join(word[0] for word in name)}
    return keys


def _fullness(name: _Name, apart: Set[_Name]) -> tuple[int, int, int]:
    """Return what sorts the fullest name first. A suffix makes a name fuller, unless it sets somebody apart."""
    whole = sum(len(word) > 1 for word in name.words)
    return -whole, -len(name.words), -1 if name.generation and name not in apart else 0
