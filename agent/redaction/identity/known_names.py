"""Names that are known of a record, however a text writes them.

A name is known by its words. One that tells people apart by itself (**strong**: three letters or more, and no everyday
word) is looked for alone, in any case, also with one typing error and joined to another ("jholloway"). Any other
(**weak**: "Will", "Rose", "Li") counts only beside another word of the same name, after a title, or in the middle of a
sentence with a capital. A **common** word ("Wren", "Preschool") of a name that has a strong one counts with a capital
alone: what was taken for a name by mistake must not take a diagnosis with it. What stands beside a word that was found
and belongs to the same name goes with it: further words in any order, initials, particles.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

import regex

from agent.redaction.identity.words_of import Word, keys_of, plain, words_of

Place = tuple[int, int]

_STRONG_LETTERS = 3
_JOINED_LETTERS = 6  # letters that two joined parts must have together
_ABBREVIATION = 4  # letters
_MISTYPED_LETTERS = 5  # letters of a word that may hold a typing error; one more where it has no capital
_REACH = 6  # words of one name on each side of one that was found
_NAMES_OF_A_WORD = 8  # more people of one family name are not told apart
_GAP = 3  # characters between two words of a name: ", " and the like


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TITLES = _set(
    "mr mrs ms miss mx mister dr drs doctor prof professor sir dame rev reverend capt captain sgt lt judge nurse sr sra"
    " srta senor senora don dona doctora herr frau mme mlle patient pt client resident paciente"
)
_NO_NAME = _TITLES | _set("md do phd rn np pa jr ii iii iv dds esq the and of y e")
_PARTICLES = _set(
    "van von der den de del della delle di da das dos do du la le las los el al bin ibn ben ter ten zu zur af av st"
    " san santa"
)
_BEFORE_INITIALS = _TITLES | {"initials", "subject", "name"}
_TERMS = _set(
    "disease diseases syndrome sign test score scale criteria criterion classification catheter tube stain palsy"
    " lymphoma sarcoma procedure operation fracture reflex node nodule body bodies cell cells disorder ataxia chorea"
    " dystrophy anemia anaemia thyroiditis contracture position maneuver manoeuvre phenomenon rule law index"
)
_JOINTS = frozenset({"'", "-", "_", "-\n", "\u2019", "\u2010", "\u2011"})
_LETTERS = regex.compile(r"[\p{L}\p{M}]{3,}")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]{2,}")


class KnownNames:
    """Names to look for.

    Args:
        names: full names and parts of names, as they were found or given.
        everyday: words in small letters that identify nobody when they stand alone.
        is_common: tells whether a word in small letters is one of the language, and no usual name.
    """

    def __init__(
        self, names: Iterable[str], everyday: frozenset[str], is_common: Callable[[str], bool] | None = None
    ) -> None:
        self._everyday = everyday
        self._is_common = is_common or (lambda _: False)
        self._with_capital: set[str] = set()  # common words
        self._as_found: set[str] = set()  # words that nothing but their place told to be names: no errors are undone
        self._in_capitals: set[str] = set()  # what may be an abbreviation: looked for with a capital
        self._surely: set[str] = set()  # words of names that are written as names
        self._words: list[frozenset[str]] = []  # of each name: what may stand beside a word of it
        self._strong: set[str] = set()
        self._accented: set[str] = set()  # words that are everyday ones but for their accents: "Ján"
        self._at: dict[str, list[int]] = defaultdict(list)  # names by each word that is looked for
        self._initials: dict[str, str] = {}  # full name by its initials in small letters
        self._last_letters: set[str] = set()
        self._by_head: dict[str, list[str]] = defaultdict(list)
        self._by_tail: dict[str, list[str]] = defaultdict(list)
        self._unspaced: set[str] = set()
        seen: set[tuple[str, ...]] = set()
        for name in names:
            self._unspaced.update(_UNSPACED.findall(name))
            family, _, given = name.partition(",")
            words = tuple(key for key in (*keys_of(given), *keys_of(family)) if key not in _NO_NAME)
            if words and words not in seen and len(words) <= 2 * _REACH:
                seen.add(words)
                self._add(name, words)
        self._in_capitals -= self._surely
        for word in self._strong - (self._as_found - self._surely) - self._with_capital:
            if len(word) >= _MISTYPED_LETTERS:
                self._by_head[word[:2]].append(word)
                self._by_tail[word[-2:]].append(word)

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._at or self._unspaced)

    def _add(self, name: str, words: tuple[str, ...]) -> None:
        number = len(self._words)
        full = tuple(word for word in words if len(word) > 1 and word not in _PARTICLES)
        self._words.append(frozenset(words) | {word[0] for word in full})
        joined = {"".join(pair) for pair in _attached(name)} | self._logins(words, full)
        strong = {word for word in full if len(word) >= _STRONG_LETTERS} | joined
        strong = {word for word in strong if word not in self._everyday and not word.isdigit()}
        common = {word for word in strong if self._is_common(word)}
        if common == strong:
            strong = set()
        self._with_capital |= common
        for word in strong:
            self._look_for(word, number)
        if len(words) == 1 and not any(map(str.isupper, name)):
            self._as_found |= strong
        elif len(words) == 1 and len(words[0]) <= _ABBREVIATION and name.isupper():
            self._in_capitals |= strong
        else:
            self._surely |= strong
        for word in set(full) - strong:
            self._look_for(word, number)
        self._strong |= strong
        if not name.isascii():
            words_as_written = map(str.casefold, _LETTERS.findall(name))
            self._accented.update(
                word for word in words_as_written if word not in self._everyday and plain(word) in self._everyday
            )
        if len(full) > 1:
            for letters in ("".join(word[0] for word in full), full[0][0] + full[-1][0], full[-1][0] + full[0][0]):
                self._initials.setdefault(letters, name)
            self._last_letters.update((full[0][0], full[-1][0]))

    def _look_for(self, word: str, number: int) -> None:
        if len(self._at[word]) < _NAMES_OF_A_WORD:
            self._at[word].append(number)

    def _logins(self, words: tuple[str, ...], full: tuple[str, ...]) -> set[str]:
        """The ways in which the words of one name are written as one."""
        if len(full) < 2:
            return set()
        first, last = full[0], full[-1]
        family = "".join(words[words.index(first) + 1 :])  # with its particles
        ways = {first + last, last + first, first + family, first[0] + last, first[0] + family, last + first[0]}
        ways |= {family} if family != last and len(full) == 2 else set()
        return {way for way in ways if len(way) >= _JOINED_LETTERS}

    def find(self, text: str, words: Sequence[Word]) -> Iterator[Place]:
        """Yield where names stand in `text`, whose words are `words`; places may overlap."""
        for name in self._unspaced:
            at = text.find(name)
            while at >= 0:
                yield at, at + len(name)
                at = text.find(name, at + len(name))
        if not self._at:
            return
        for index, (key, start, end) in enumerate(words):
            if key in self._at and (key not in self._in_capitals or text[start].isupper()):
                yield from self._named(text, words, index, index, key)
                continue
            if index + 1 < len(words) and text[end : words[index + 1][1]] in _JOINTS:
                joined = key + words[index + 1][0]
                if joined in self._strong:
                    yield from self._named(text, words, index, index + 1, joined)
                    continue
            if end - start == 1:
                if text[start].isupper():
                    yield from self._letters(text, words, index)
            elif (meant := self._mistyped(key, capital=text[start].isupper())) is not None:
                yield from self._named(text, words, index, index, meant)
            elif key in self._initials and text[start:end].isupper() and _key_before(words, index) in _BEFORE_INITIALS:
                yield start, end

    def _mistyped(self, key: str, *, capital: bool) -> str | None:
        """Return the word of a name that `key` is but for one typing error."""
        if len(key) < _MISTYPED_LETTERS + (not capital):
            return None
        near = (*self._by_head.get(key[:2], ()), *self._by_tail.get(key[-2:], ()))
        if not near or self._is_everyday(key):
            return None
        meant = next((word for word in near if one_error(key, word)), None)
        return None if meant is None or self._is_common(key) else meant

    def _is_everyday(self, key: str) -> bool:
        stems = (key, key.removesuffix("s"), key.removesuffix("es"), key.removesuffix("ed"), key.removesuffix("ing"))
        return any(stem in self._everyday for stem in stems)

    def _named(self, text: str, words: Sequence[Word], first: int, last: int, word: str) -> Iterator[Place]:
        """Yield the places of the names that have `word`, around where it stands, if enough of each is there."""
        hit = words[first]
        strong = word in self._strong or text[hit[1] : hit[2]].casefold() in self._accented
        if strong and last + 1 < len(words) and words[last + 1][0] in _TERMS and _capital(text, hit):
            strong = False  # a disease that is called as the person is
        if word in self._with_capital and not _capital(text, hit):
            strong = False
        for number in self._at[word]:
            own = self._words[number]
            begin, end = first, last
            while begin > 0 and first - begin < _REACH and self._belongs(text, words, begin - 1, begin, own, hit):
                begin -= 1
            while end + 1 < len(words) and end - last < _REACH and self._belongs(text, words, end + 1, end, own, hit):
                end += 1
            more = any(
                len(key) > 1 and key not in _PARTICLES
                for key, _, _ in (*words[begin:first], *words[last + 1 : end + 1])
            )
            if strong or more or self._stands_as_name(text, words, first):
                yield words[begin][1], _past_point(text, words[end])

    def _belongs(
        self, text: str, words: Sequence[Word], candidate: int, beside: int, own: frozenset[str], hit: Word
    ) -> bool:
        """Tell whether a word goes with its neighbour, which is part of the name with the words `own`."""
        key, start, end = words[candidate]
        before = candidate < beside
        between = text[end : words[beside][1]] if before else text[words[beside][2] : start]
        capital = text[start].isupper()
        if between in _JOINTS:  # O'Brien, Smith-Jones: what is not known of it goes with what is
            if end - start == 1:
                return capital or (before and between == "'")
            return key in own or (capital and key not in self._everyday)
        if key not in own or not between or len(between) > _GAP or between.strip(" \t\n,.'-"):
            return False
        earlier = words[candidate] if before else words[beside]
        if "." in between and earlier[2] - earlier[1] > 2:
            return False  # a sentence ends here
        return capital or (end - start > 1 and (key not in self._everyday or not _capital(text, hit)))

    def _stands_as_name(self, text: str, words: Sequence[Word], index: int) -> bool:
        """Tell whether a word that may be another word too is written as a name."""
        if not _capital(text, words[index]) or (index + 1 < len(words) and words[index + 1][0] in _TERMS):
            return False
        if _key_before(words, index) in _TITLES and text[words[index - 1][2] : words[index][1]] in (
            " ",
            ". ",
            ".",
            ": ",
        ):
            return True
        if not 0 < index < len(words) - 1 or words[index][2] - words[index][1] < _STRONG_LETTERS:
            return False
        _, start, end = words[index]
        before, after = text[words[index - 1][2] : start], text[end : words[index + 1][1]]
        small = text[words[index - 1][1]].islower() and text[words[index + 1][1]].islower()
        return small and before == " " and after in (" ", ", ", "'") and text[start + 1].islower()

    def _letters(self, text: str, words: Sequence[Word], index: int) -> Iterator[Place]:
        """Yield initials that stand alone: "J.S.", "Ms. H."."""
        key, start, end = words[index]
        letters, last = key, index
        while last + 1 < min(len(words), index + _REACH) and text[words[last][2] : words[last + 1][1]] in (".", ". "):
            if words[last + 1][2] - words[last + 1][1] > 1 or not text[words[last + 1][1]].isupper():
                break
            last += 1
            letters += words[last][0]
        if len(letters) > 1 and letters in self._initials and text[words[last][2] : words[last][2] + 1] == ".":
            yield start, words[last][2] + 1
        elif (
            key in self._last_letters
            and _key_before(words, index) in _TITLES
            and text[words[index - 1][2] : start] in (" ", ". ", ".")
        ):
            yield start, end


def one_error(one: str, other: str) -> bool:
    """Tell whether one letter more, one less, another one, or two exchanged make `one` of `other`; equal is none."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    head = 0
    while head < min(len(one), len(other)) and one[head] == other[head]:
        head += 1
    a, b = one[head:], other[head:]
    if len(a) == len(b):
        return a[1:] == b[1:] or (a[2:] == b[2:] and a[:2] == b[1::-1])
    return a[1:] == b or a == b[1:]


def _attached(name: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a name that a hyphen or an apostrophe joins."""
    for (one, _, end), (other, start, _) in pairwise(words_of(name)):
        if name[end:start] in _JOINTS:
            yield one, other


def _past_point(text: str, word: Word) -> int:
    """Return the end of a word, with the point after it where it is an initial."""
    _, start, end = word
    return end + 1 if end - start == 1 and text[end : end + 1] == "." else end


def _capital(text: str, word: Word) -> bool:
    return text[word[1]].isupper()


def _key_before(words: Sequence[Word], index: int) -> str:
    return words[index - 1][0] if index else ""
