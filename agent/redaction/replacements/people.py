"""Match the names in one record to people.

"Margaret Holloway", "HOLLOWAY, Margaret", "M. Holloway", "Mrs. Holloway's" and "Hollowya" are one person. "Mr. Long"
and "Mrs. Long" are two people, as are "John Long, Jr." and "John Long Sr.", and any names with different given names.
"""

from collections.abc import Iterable, Set
from typing import Literal, NamedTuple

import regex

from agent.redaction.identity.known_names import differs_by_one_error
from agent.redaction.replacements.surrogate_names import surrogate_words

Gender = Literal["female", "male"]

TITLES = frozenset(surrogate_words("titles"))  # compared without their full stop
_FEMALE_TITLES, _MALE_TITLES = (
    frozenset(surrogate_words("titles_female")),
    frozenset(surrogate_words("titles_male")),
)
_FEMALE = frozenset(map(str.casefold, surrogate_words("given_female")))
_MALE = frozenset(map(str.casefold, surrogate_words("given_male")))
_WORD = regex.compile(r"[\p{L}\p{M}\d]+(?:['’][\p{L}\p{M}]+)*")
_POSSESSIVE = regex.compile(r"['’]s?$", regex.IGNORECASE)
_GENERATIONS = {
    "sr": "sr",
    "senior": "sr",
    "jr": "jr",
    "junior": "jr",
    "ii": "ii",
    "iii": "iii",
    "iv": "iv",
}
_MISSPELT_LETTERS = 5  # minimum letters of a word that may contain a typing error
_CONSIDERED = 50  # maximum number of people with whom a name is compared


class Person(NamedTuple):
    """A person of a record.

    Attributes:
        words: words of the fullest name, in lower case.
        number: distinguishes people with the same words.
    """

    words: tuple[str, ...]
    number: int = 0


class _Name(NamedTuple):
    words: tuple[str, ...]
    gender: Gender | None = None  # according to the title
    generation: str = ""  # "jr", "sr", "iii"


def read_title_gender(name: str) -> Gender | None:
    """Return the gender implied by a title in `name`, or None."""
    return _parse_name(name).gender


def _parse_name(name: str) -> _Name:
    """Return a name's words in lower case without titles and possessives, or all words if none would remain."""
    words = [_POSSESSIVE.sub("", match.group()).casefold() for match in _WORD.finditer(name)]
    name_words = tuple(word for word in words if word not in TITLES)
    first = 0
    while first < len(words) and words[first] in TITLES:
        first += 1
    # "Sr. Pérez" is a man ("señor"), "Tyrell Pérez Sr." a father.
    generation = next(
        (_GENERATIONS[word] for word in words[first + 1 :] if word in _GENERATIONS), ""
    )
    titles = set(words[:first]) | {word for word in words if word not in _GENERATIONS}
    gender: Gender | None = None
    if titles & _FEMALE_TITLES:
        gender = "female"
    elif titles & _MALE_TITLES:
        gender = "male"
    return _Name(name_words or tuple(words), gender, generation)


class RecordPeople:
    """The people of one record.

    Args:
        names: all names detected in the record, in order. An ambiguous name is matched to the first person it fits.
        usual: names, in lower case, that are not misspellings of other names: Hansen is not Jansen.
    """

    def __init__(self, names: Iterable[str], usual: Set[str] = frozenset()) -> None:
        self._usual = usual
        self._people: dict[str, list[Person]] = {}  # by search key
        self._person: dict[_Name, Person] = {}
        # Number of people with the same words so far.
        self._same_words: dict[tuple[str, ...], int] = {}
        self._gender: dict[Person, Gender | None] = {}
        self._generation: dict[Person, str] = {}
        parsed = list(dict.fromkeys(map(_parse_name, names)))
        apart = _find_set_apart(parsed)
        # Process the fullest names first, so that shorter ones are matched to them. The sort is stable.
        for name in sorted(parsed, key=lambda name: _rank_fullness(name, apart)):
            if self._match(name) is None:
                self._add(name)

    def _add(self, name: _Name) -> None:
        number = self._same_words.get(name.words, 0)
        self._same_words[name.words] = number + 1
        person = self._person[name] = Person(name.words, number)
        self._gender[person] = name.gender or _find_usual_gender(name.words)
        self._generation[person] = name.generation
        for key in _list_search_keys(name.words):
            self._people.setdefault(key, []).append(person)

    def find_person(self, name: str) -> Person:
        """Return the person whom `name` denotes, or a new person with these words if none in the record matches."""
        parsed = _parse_name(name)
        return self._match(parsed) or Person(parsed.words)

    def _match(self, name: _Name) -> Person | None:
        """Return the person of the record whom `name` denotes, and remember the match."""
        if name in self._person:
            return self._person[name]
        candidates = (
            person for person in self._list_near(name.words) if self._may_mean(name, person)
        )
        person = next(candidates, None)
        if person is None:
            return None
        if name.gender and self._gender[person] is None:
            # Prefer a person known to fit the title over one of unknown gender.
            person = next(
                (later for later in candidates if self._gender[later] == name.gender), person
            )
        self._person[name] = person
        self._gender[person] = self._gender[person] or name.gender
        return person

    def _list_near(self, words: tuple[str, ...]) -> list[Person]:
        """Return the people whose names share a search key with `words`."""
        longest = max(words, key=len, default="")
        keys: list[str] = []
        if len(words) == 1:
            keys.append("=" + longest)
        if len(longest) > 1:
            keys += [longest[:2] + "-", "-" + longest[-2:]]
        near: dict[Person, None] = {}
        for key in keys:
            near.update(dict.fromkeys(self._people.get(key, ())[:_CONSIDERED]))
        return list(near)

    def _may_mean(self, name: _Name, person: Person) -> bool:
        return self._fits(name, person) and self._has_words(name.words, person.words)

    def _fits(self, name: _Name, person: Person) -> bool:
        """Return whether the title and suffix of `name` are compatible with `person`."""
        gender = self._gender[person]
        if name.gender and gender and name.gender != gender:
            return False
        return not name.generation or name.generation == self._generation[person]

    def _has_words(self, name: tuple[str, ...], person: tuple[str, ...]) -> bool:
        """Return whether `name` consists of words of `person`: joined, as initials, or as words and initials."""
        if len(name) == 1 and len(person) > 1 and name[0] in _join_words(person):
            return True
        remaining = list(person)
        for word in sorted(name, key=len, reverse=True):
            matched = next((part for part in remaining if self._is_same(word, part)), None)
            if matched is None:
                return False
            remaining.remove(matched)
        return any(len(word) > 1 for word in name)

    def _is_same(self, word: str, part: str) -> bool:
        """Return whether `word` equals a part of a name, or is its initial or a misspelling of it."""
        if len(word) == 1 or len(part) == 1:
            return word[:1] == part[:1]
        if word == part:
            return True
        if min(len(word), len(part)) < _MISSPELT_LETTERS or word in self._usual:
            return False
        return differs_by_one_error(word, part)


def _find_set_apart(names: Iterable[_Name]) -> set[_Name]:
    """Return the names with a suffix that occur after the name without it: "John Long Sr." after "John Long"."""
    plain: set[tuple[str, ...]] = set()
    apart: set[_Name] = set()
    for name in names:
        if not name.generation:
            plain.add(name.words)
        elif name.words in plain:
            apart.add(name)
    return apart


def _find_usual_gender(words: tuple[str, ...]) -> Gender | None:
    """Return the gender of the given name if it is used only for women or only for men; otherwise None."""
    if len(words) < 2:
        return None
    given_name = words[0]
    if given_name in _FEMALE and given_name not in _MALE:
        return "female"
    if given_name in _MALE and given_name not in _FEMALE:
        return "male"
    return None


def _join_words(words: tuple[str, ...]) -> tuple[str, str, str]:
    """Return a name's words joined in both orders, and its initials."""
    return "".join(words), "".join(reversed(words)), "".join(word[0] for word in words)


def _list_search_keys(words: tuple[str, ...]) -> set[str]:
    """Return the search keys of a name. One typing error changes only the beginning or only the end of a long word."""
    keys: set[str] = set()
    for word in words:
        if len(word) > 1:
            keys |= {word[:2] + "-", "-" + word[-2:]}
    if len(words) > 1:
        keys |= {"=" + joined for joined in _join_words(words)}
    return keys


def _rank_fullness(name: _Name, apart: Set[_Name]) -> tuple[int, int, int]:
    """Return a sort key, lowest for the fullest name. A suffix makes a name fuller unless it denotes another person."""
    whole_words = sum(len(word) > 1 for word in name.words)
    has_suffix = bool(name.generation) and name not in apart
    return -whole_words, -len(name.words), -1 if has_suffix else 0
