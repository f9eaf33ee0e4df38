"""Who is who in one record: names as they were found, and the person each of them means.

"Margaret Holloway", "HOLLOWAY, Margaret", "M. Holloway", "Mrs. Holloway's" and "Hollowya" are one person.
"""

from collections.abc import Iterable, Set

import regex

from agent.redaction.known_names import one_error
from agent.redaction.surrogate_names import surrogate_words

TITLES = frozenset(surrogate_words("titles"))  # compared without their point
_WORD = regex.compile(r"[\p{L}\p{M}\d]+(?:['’][\p{L}\p{M}]+)*")
_POSSESSIVE = regex.compile(r"['’]s?$", regex.IGNORECASE)
_MISSPELT_LETTERS = 5  # letters a word needs so that one typing error in it is forgiven
_CONSIDERED = 50  # people a name is compared with


def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a name in small letters, without titles and possessives; all of them if none is left."""
    words = [_POSSESSIVE.sub("", word.group()).casefold() for word in _WORD.finditer(name)]
    return tuple([word for word in words if word not in TITLES] or words)


class People:
    """The people of one record.

    Args:
        names: every name found in the record, in order. Of two people who could be meant, the first is.
        usual: names, in small letters, that are no misspelling of another: Hansen is not Jansen.
    """

    def __init__(self, names: Iterable[str], usual: Set[str] = frozenset()) -> None:
        self._usual = usual
        words = list(dict.fromkeys(map(name_words, names)))
        self._people: dict[str, list[tuple[str, ...]]] = {}
        self._person: dict[tuple[str, ...], tuple[str, ...]] = {}
        for name in sorted(words, key=_fullness):  # fullest first; the sort keeps the order of the record
            self.person(" ".join(name))
            if self._person[name] == name:
                for key in _keys(name):
                    self._people.setdefault(key, []).append(name)

    def person(self, name: str) -> tuple[str, ...]:
        """Return the words of the fullest name of whoever `name` means; its own words for a stranger."""
        words = name_words(name)
        if words not in self._person:
            longest = max(words, key=len, default="")
            asked = ("=" + longest,) if len(words) == 1 else ()
            if len(longest) > 1:
                asked = (*asked, longest[:2] + "-", "-" + longest[-2:])
            near = (person for key in asked for person in self._people.get(key, ())[:_CONSIDERED])
            self._person[words] = next((person for person in near if self._means(words, person)), words)
        return self._person[words]

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
        return min(len(word), len(other)) >= _MISSPELT_LETTERS and word not in self._usual and one_error(word, other)


def _keys(name: tuple[str, ...]) -> set[str]:
    """Return under what a name is looked up: one typing error leaves the begin or the end of a long word as it is."""
    keys = {key for word in name if len(word) > 1 for key in (word[:2] + "-", "-" + word[-2:])}
    if len(name) > 1:
        keys |= {"=" + "".join(name), "=" + "".join(reversed(name)), "=" + "".join(word[0] for word in name)}
    return keys


def _fullness(name: tuple[str, ...]) -> tuple[int, int]:
    whole = sum(len(word) > 1 for word in name)
    return -whole, -len(name)
