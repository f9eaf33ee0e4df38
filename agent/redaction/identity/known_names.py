"""Search texts for the known names of a record, in every form in which people write a name.

A name is searched for by its words:

- A **strong** word (three letters or more, and not an everyday word) identifies its person on its own. It matches in
  any case, with one typing error, and joined to another word ("jholloway").
- A **weak** word ("Will", "Rose", "Li") matches only next to another word of the same name, after a title, or if it is
  capitalised in the middle of a sentence.
- A **common** word ("Wren", "Preschool") of a name that also has a strong word matches only if it is capitalised.
  Otherwise, if a diagnosis was wrongly detected as a name, it would be redacted everywhere.

Adjacent words that belong to the same name are included in a match: further words in any order, initials, particles.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import regex

from agent.redaction.identity.words import TextWords, plain_words, split_words, to_plain

Stretch = tuple[int, int]  # start and end (exclusive)

_STRONG_LETTERS = 3
_JOINED_LETTERS = 6  # minimum total letters of two joined parts
_ABBREVIATION = 4  # maximum letters of an abbreviation
# Minimum letters of a word that may contain a typing error; one more if the word has no capital.
_MISTYPED_LETTERS = 5
_REACH = 6  # maximum words of one name on each side of the word that matched
_NAMES_OF_A_WORD = 8  # maximum number of people with the same family name that are distinguished
_GAP = 3  # maximum characters between two words of a name, such as ", "


def _read_words(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TITLES = _read_words(
    "mr mrs ms miss mx mister dr drs doctor prof professor sir dame rev reverend capt captain sgt lt judge nurse sr sra"
    " srta senor senora don dona doctora herr frau mme mlle patient pt client resident paciente"
)
_NO_NAME = _TITLES | _read_words("md do phd rn np pa jr ii iii iv dds esq the and of y e")
_PARTICLES = _read_words(
    "van von der den de del della delle di da das dos do du la le las los el al bin ibn ben ter ten zu zur af av st"
    " san santa"
)
_BEFORE_INITIALS = _TITLES | {"initials", "subject", "name"}
_TERMS = _read_words(
    "disease diseases syndrome sign test score scale criteria criterion classification catheter tube stain palsy"
    " lymphoma sarcoma procedure operation fracture reflex node nodule body bodies cell cells disorder ataxia chorea"
    " dystrophy anemia anaemia thyroiditis contracture position maneuver manoeuvre phenomenon rule law index"
)
_JOINTS = frozenset({"'", "-", "_", "-\n", "\u2019", "\u2010", "\u2011"})
_LETTERS = regex.compile(r"[\p{L}\p{M}]{3,}")
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]{2,}"
)


class KnownNames:
    """Names to search for.

    Args:
        names: full names and parts of names, as they were detected or stated.
        everyday: lower-case words that do not identify a person on their own.
        is_common: returns whether a lower-case word is an ordinary word and not a common name.
    """

    def __init__(
        self,
        names: Iterable[str],
        everyday: frozenset[str],
        is_common: Callable[[str], bool] | None = None,
    ) -> None:
        self._everyday = everyday
        self._is_common = is_common or (lambda _: False)
        # For each name, the words and initials that may occur next to a match.
        self._words_of_names: list[frozenset[str]] = []
        # For each searched word, the indices of the names that contain it.
        self._names_by_word: dict[str, list[int]] = defaultdict(list)
        self._strong: set[str] = set()
        self._need_capital: set[str] = set()  # common words
        self._may_be_abbreviations: set[str] = set()  # matched only if capitalised
        # Words that become everyday words without their accents: "Ján".
        self._accented: set[str] = set()
        self._initials: set[str] = set()  # of full names, in lower case
        self._title_initials: set[str] = set()  # letters that may follow a title: "Ms. H."
        self._unspaced: set[str] = set()  # names in scripts without spaces between words
        # The words in which a typing error is matched, by two letters and length: an error changes the length by one.
        self._by_first_letters: dict[tuple[str, int], list[str]] = defaultdict(list)
        self._by_last_letters: dict[tuple[str, int], list[str]] = defaultdict(list)

        self._add_all(names)

    def _add_all(self, names: Iterable[str]) -> None:
        """Add each distinct name, and choose the words for which typing errors are also matched."""
        written_as_names: set[str] = set()
        # Names known only from their context: typing errors in them are not matched.
        in_small_letters: set[str] = set()
        added: set[tuple[str, ...]] = set()
        for name in names:
            self._unspaced.update(_UNSPACED.findall(name))
            words = _order_words(name)
            if not words or words in added or len(words) > 2 * _REACH:
                continue
            added.add(words)
            strong = self._add(name, words)
            is_one_word = len(words) == 1
            if is_one_word and not any(map(str.isupper, name)):
                in_small_letters |= strong
            elif is_one_word and len(words[0]) <= _ABBREVIATION and name.isupper():
                self._may_be_abbreviations |= strong
            else:
                written_as_names |= strong
        self._may_be_abbreviations -= written_as_names
        for word in self._strong - (in_small_letters - written_as_names) - self._need_capital:
            if len(word) >= _MISTYPED_LETTERS:
                self._by_first_letters[word[:2], len(word)].append(word)
                self._by_last_letters[word[-2:], len(word)].append(word)

    def __bool__(self) -> bool:
        """Whether there is any name to search for."""
        return bool(self._names_by_word or self._unspaced)

    def _add(self, name: str, words: tuple[str, ...]) -> set[str]:
        """Add a name, and return its strong words."""
        number = len(self._words_of_names)
        full_words = tuple(word for word in words if len(word) > 1 and word not in _PARTICLES)
        self._words_of_names.append(frozenset(words) | {word[0] for word in full_words})
        strong, common = self._choose_strong(name, words, full_words)
        self._strong |= strong
        self._need_capital |= common
        for word in (*strong, *(set(full_words) - strong)):
            if len(self._names_by_word[word]) < _NAMES_OF_A_WORD:
                self._names_by_word[word].append(number)
        if not name.isascii():
            self._add_accented(name)
        if len(full_words) > 1:
            first, last = full_words[0][0], full_words[-1][0]
            self._initials.update(
                ("".join(word[0] for word in full_words), first + last, last + first)
            )
            self._title_initials.update((first, last))
        return strong

    def _add_accented(self, name: str) -> None:
        """Add the words of a name that only their accents distinguish from everyday words."""
        for letters in _LETTERS.findall(name):
            word = letters.casefold()
            if word not in self._everyday and to_plain(word) in self._everyday:
                self._accented.add(word)

    def _choose_strong(
        self, name: str, words: tuple[str, ...], full_words: tuple[str, ...]
    ) -> tuple[set[str], set[str]]:
        """Return the words of a name that identify its person on their own, and those of them that are common words."""
        joined = {"".join(pair) for pair in _list_joined_words(name)} | _join_as_logins(
            words, full_words
        )
        long_words = {word for word in full_words if len(word) >= _STRONG_LETTERS}
        strong = {
            word
            for word in long_words | joined
            if word not in self._everyday and not word.isdigit()
        }
        common = {word for word in strong if self._is_common(word)}
        return (set() if common == strong else strong), common

    def find(self, text: TextWords) -> Iterator[Stretch]:
        """Yield the occurrences of names in a text, which may overlap."""
        for name in self._unspaced if not text.text.isascii() else ():
            start = text.text.find(name)
            while start >= 0:
                yield start, start + len(name)
                start = text.text.find(name, start + len(name))
        if self._names_by_word:
            for index in range(len(text.words)):
                yield from self._find_at(text, index)

    def _find_at(self, text: TextWords, index: int) -> Iterator[Stretch]:
        """Yield the names to which a word of a text belongs."""
        word = text.words[index]
        if word.key in self._names_by_word and (
            word.key not in self._may_be_abbreviations or text.has_capital(index)
        ):
            yield from self._find_around(text, index, index, word.key)
            return
        if index + 1 < len(text.words) and text.read_gap(index) in _JOINTS:
            joined = word.key + text.words[index + 1].key
            if joined in self._strong:
                yield from self._find_around(text, index, index + 1, joined)
                return
        has_capital = text.has_capital(index)
        if word.end - word.start == 1:
            if has_capital:
                yield from self._find_initials(text, index)
            return
        correct = self._correct(word.key, has_capital=has_capital)
        if correct is not None:
            yield from self._find_around(text, index, index, correct)
        elif (
            word.key in self._initials
            and text.text[word.start : word.end].isupper()
            and text.key_before(index) in _BEFORE_INITIALS
        ):
            yield word.start, word.end

    def _correct(self, key: str, *, has_capital: bool) -> str | None:
        """Return the strong word that differs from `key` by one typing error, if there is one."""
        if len(key) < _MISTYPED_LETTERS + (not has_capital):
            return None
        near = list(self._list_near(key))
        if not near or self._is_everyday(key):
            return None
        correct = next((word for word in near if differs_by_one_error(key, word)), None)
        return None if correct is None or self._is_common(key) else correct

    def _list_near(self, key: str) -> Iterator[str]:
        """Yield the words that begin or end like `key` and are about as long."""
        for length in range(len(key) - 1, len(key) + 2):
            yield from self._by_first_letters.get((key[:2], length), ())
            yield from self._by_last_letters.get((key[-2:], length), ())

    def _is_everyday(self, key: str) -> bool:
        stems = (
            key,
            key.removesuffix("s"),
            key.removesuffix("es"),
            key.removesuffix("ed"),
            key.removesuffix("ing"),
        )
        return any(stem in self._everyday for stem in stems)

    def _find_around(
        self, text: TextWords, first: int, last: int, searched: str
    ) -> Iterator[Stretch]:
        """Yield each name that contains the word `searched`, if enough of the name occurs around `first` to `last`."""
        words = text.words
        strong = self._is_strong_at(text, first, last, searched)
        for number in self._names_by_word[searched]:
            own_words = self._words_of_names[number]
            begin, end = first, last
            while (
                begin > 0
                and first - begin < _REACH
                and self._belongs(text, begin - 1, begin, own_words, first)
            ):
                begin -= 1
            while (
                end + 1 < len(words)
                and end - last < _REACH
                and self._belongs(text, end + 1, end, own_words, first)
            ):
                end += 1
            beside = (*words[begin:first], *words[last + 1 : end + 1])
            has_more = any(len(word.key) > 1 and word.key not in _PARTICLES for word in beside)
            if strong or has_more or self._is_written_as_name(text, first):
                yield words[begin].start, _find_end_of_word(text, end)

    def _is_strong_at(self, text: TextWords, first: int, last: int, searched: str) -> bool:
        """Return whether a matched word identifies a person on its own at its position."""
        word = text.words[first]
        if (
            searched not in self._strong
            and text.text[word.start : word.end].casefold() not in self._accented
        ):
            return False
        if text.has_capital(first):
            # Excludes diseases named after their discoverer.
            return last + 1 == len(text.words) or text.words[last + 1].key not in _TERMS
        return searched not in self._need_capital

    def _belongs(
        self, text: TextWords, candidate: int, neighbour: int, own_words: frozenset[str], hit: int
    ) -> bool:
        """Return whether a word belongs to a name of `own_words` around `hit`, as its `neighbour` does."""
        word = text.words[candidate]
        is_before = candidate < neighbour
        gap = text.read_gap(min(candidate, neighbour))
        has_capital = text.has_capital(candidate)
        if gap in _JOINTS:  # O'Brien, Smith-Jones: an unknown part belongs to the known part
            if word.length == 1:
                return has_capital or (is_before and gap == "'")
            return word.key in own_words or (has_capital and word.key not in self._everyday)
        if word.key not in own_words or not gap or len(gap) > _GAP or gap.strip(" \t\n,.'-"):
            return False
        if "." in gap and text.words[min(candidate, neighbour)].length > 2:
            return False  # a sentence ends here, because the full stop follows neither an initial nor "Dr"
        return has_capital or (
            word.length > 1 and (word.key not in self._everyday or not text.has_capital(hit))
        )

    def _is_written_as_name(self, text: TextWords, index: int) -> bool:
        """Return whether an ambiguous word is written as a name: after a title, or capitalised in lower-case text."""
        words = text.words
        is_last = index + 1 == len(words)
        if not text.has_capital(index) or (not is_last and words[index + 1].key in _TERMS):
            return False
        if text.key_before(index) in _TITLES and text.read_gap(index - 1) in (" ", ". ", ".", ": "):
            return True
        if index == 0 or is_last or words[index].length < _STRONG_LETTERS:
            return False
        return (
            text.text[words[index - 1].start].islower()
            and text.text[words[index + 1].start].islower()
            and text.read_gap(index - 1) == " "
            and text.read_gap(index) in (" ", ", ", "'")
            and text.text[words[index].start + 1].islower()
        )

    def _find_initials(self, text: TextWords, index: int) -> Iterator[Stretch]:
        """Yield initials on their own: "J.S.", "Ms. H."."""
        words = text.words
        letters, last = words[index].key, index
        while last + 1 < min(len(words), index + _REACH) and text.read_gap(last) in (".", ". "):
            if words[last + 1].length > 1 or not text.has_capital(last + 1):
                break
            last += 1
            letters += words[last].key
        start, end = words[index].start, words[last].end
        if len(letters) > 1 and letters in self._initials and text.text[end : end + 1] == ".":
            yield start, end + 1
        elif (
            words[index].key in self._title_initials
            and text.key_before(index) in _TITLES
            and text.read_gap(index - 1) in (" ", ". ", ".")
        ):
            yield start, words[index].end


def _order_words(name: str) -> tuple[str, ...]:
    """Return the plain words of a name without titles and suffixes, given names first even for "Holloway, Anna"."""
    family, _, given = name.partition(",")
    words = (*plain_words(given), *plain_words(family))
    return tuple(word for word in words if word not in _NO_NAME)


def differs_by_one_error(word: str, correct: str) -> bool:
    """Return whether two different words differ by one inserted, missing, replaced or transposed letter."""
    if word == correct or abs(len(word) - len(correct)) > 1:
        return False
    head = 0
    while head < min(len(word), len(correct)) and word[head] == correct[head]:
        head += 1
    tail, correct_tail = word[head:], correct[head:]
    if len(tail) != len(correct_tail):
        return tail[1:] == correct_tail or tail == correct_tail[1:]
    are_exchanged = tail[:2] == correct_tail[1::-1] and tail[2:] == correct_tail[2:]
    return are_exchanged or tail[1:] == correct_tail[1:]


def _join_as_logins(words: tuple[str, ...], full_words: tuple[str, ...]) -> set[str]:
    """Return the login names that can be formed from the words of a name: "jholloway"."""
    if len(full_words) < 2:
        return set()
    first, last = full_words[0], full_words[-1]
    family = "".join(words[words.index(first) + 1 :])  # including its particles
    logins = {
        first + last,
        last + first,
        first + family,
        first[0] + last,
        first[0] + family,
        last + first[0],
    }
    if family != last and len(full_words) == 2:
        logins.add(family)
    return {login for login in logins if len(login) >= _JOINED_LETTERS}


def _list_joined_words(name: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of words of a name that are joined by a hyphen or an apostrophe."""
    for word, following in pairwise(split_words(name)):
        if name[word.end : following.start] in _JOINTS:
            yield word.key, following.key


def _find_end_of_word(text: TextWords, index: int) -> int:
    """Return the end of a word, including the full stop that follows an initial."""
    word = text.words[index]
    return (
        word.end + 1 if word.length == 1 and text.text[word.end : word.end + 1] == "." else word.end
    )
