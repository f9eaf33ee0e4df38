"""Find the option that a short text means by its words, where the option's whole text does not occur.

A word decides if it occurs in one option only: of "Thiazide diuretic" and "Loop diuretic", "a thiazide" means the
first. Words are compared as stems, so that number, spelling and one slip of the pen make no difference. Two names of
one thing, "adrenaline" and "epinephrine", are the same word if words.yaml says so. Otherwise no meaning is guessed: a
synonym finds nothing, and a word of a second option makes the text unclear.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from agent.errors import ConfigError
from agent.io.yaml_map import read_yaml
from agent.reading.choice.number_words import NumberWords
from agent.reading.words import ASCII_MARKS

_MIN_LONG = 6  # letters of an option's word in which a slip of the pen is allowed
_MIN_WITH_SLIP = 5  # letters of such a word with a slip: "yelow"
_MIN_JOINED = 4  # letters of each of two words that may be written as one
_MIN_OTHER_VOWEL = 7  # letters of a word with another vowel
_ENDING = 3  # letters of an ending, in which a vowel tells words apart
_VOWELS = "aeiou"
_MAX_SHORT = 8  # words of a text in which initials are looked for
_MAX_WORDS = 60  # of a text that is compared
_WORD = re.compile(r"\d[\d.,]{0,30}\d%?|\d%?|[^\W\d_][^\W_]*(?:'[a-z]+)?|\d[^\W_]*")
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]++(?:-[^\W_]++)+")
_BRACKET = re.compile(r"\([^()]{0,200}\)")
_ABBREVIATION = re.compile(r"(?<![\w-])[A-Z][A-Za-z]{0,4}[A-Z](?=s?(?![\w-]))")
_BRACKETED_ABBREVIATION = re.compile(r"(?<=[a-z]) ?\(([A-Z]{2,5})\)\W*$")
# "neg." in "neg. cross test"
_SHORTENED = re.compile(r"(?<![\w.])([A-Za-z]{3,8})\.(?=\s[a-z0-9])")
_LONE_LETTER = re.compile(r"(?<=[a-z]\s)[A-Z](?![\w'])")
_NEGATION = re.compile(
    r"\b(?:no|not|never|without|none|neither|nor|cannot|except|non|nothing)\b|n't\b",
    re.IGNORECASE,
)
_SUFFIXES = (
    *("izations", "ization", "ations", "ation", "ments", "ment", "ings", "ing", "edly", "ies", "ied"),
    *("ions", "ion", "ed", "es", "ly", "us", "um", "s", "y", "e", "i"),
)  # fmt: skip
_SPELLINGS = (
    *(("ae", "e"), ("oe", "e"), ("sulph", "sulf"), ("isation", "ization"), ("yse", "yze")),
    *(("behaviour", "behavior"), ("labour", "labor"), ("humour", "humor"), ("vapour", "vapor")),
    *(("colour", "color"), ("tumour", "tumor"), ("odour", "odor"), ("fibre", "fiber"), ("litre", "liter")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WordList:
    """The lists of words.yaml, as stems."""

    empty: frozenset[str]
    generic: frozenset[str]
    opposites: dict[str, frozenset[str]]
    confusable: frozenset[frozenset[str]]
    synonyms: dict[str, str]
    """The stem by which a stem is replaced."""


@dataclass(frozen=True, slots=True)
class _Option:
    """An option's words.

    Attributes:
        stems: the stems of all content words.
        distinctive: those that no other option has.
        main: those of them outside brackets.
        letters: single capital letters behind a word, as in "Vitamin K".
        numbers: the numbers.
        initials: the first letters of its words, in capitals.
    """

    stems: frozenset[str]
    distinctive: frozenset[str]
    main: frozenset[str]
    letters: frozenset[str]
    numbers: frozenset[str]
    initials: frozenset[str]
    abbreviation: str
    is_negative: bool
    begins_with_number: bool


class OptionWords:
    """The words of a question's options."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._numbers = NumberWords(texts)
        stems = [self._find_stems(text) for text in texts]
        self.options = [self._describe(text, index, stems) for index, text in enumerate(texts)]
        self._compounds = {
            find_stem(compound.replace("-", "")): self._find_stems(compound)
            for text in texts
            for compound in (*_COMPOUND.findall(_unify(text)), *_list_pairs(text))
        }
        self._known = frozenset().union(*stems)
        self._long_words = {
            word.lower(): _find_name(word)
            for text in texts
            for word in _split(_unify(text))
            if len(word) >= _MIN_LONG
        }
        self._distinctive = {
            stem: index for index, option in enumerate(self.options) for stem in option.distinctive
        }

    def find_option(
        self,
        text: str,
        named: frozenset[int],
        *,
        is_strict: bool = False,
        is_exact: bool = False,
        is_decision: bool = False,
    ) -> int | None:
        """Return the option that a text means by its words, or None.

        Args:
            text: a sentence, a line or a part of one.
            named: options to which the text refers by their whole text or letter.
            is_strict: whether all words of the text must be the option's, unless it names the option whole.
            is_exact: whether they must be the option's even then.
            is_decision: whether the text is known to choose an option, so that one of its words is enough.
        """
        if is_exact:
            text = self._drop_abbreviation(text)
        words = _split(text)
        if not words or len(words) > _MAX_WORDS:
            return None
        stems = self._mend(text, words, self._find_stems(text))
        hits: dict[int, set[str]] = {index: set() for index in named}
        for stem in stems | self._find_compounds(text, stems):
            if stem in self._distinctive:
                hits.setdefault(self._distinctive[stem], set()).add(stem)
        abbreviated = self._find_abbreviated(text, words)
        for index in abbreviated:
            hits.setdefault(index, set())
        if not hits:
            return None if _NEGATION.search(text) else self._find_combination(stems)
        if len(hits) != 1:
            return None
        ((index, found),) = hits.items()
        is_whole = index in named or index in abbreviated
        option = self.options[index]
        content = frozenset(stem for stem in stems if stem not in load_words().generic)
        if all(stem[0].isdigit() for stem in stems) and not option.begins_with_number:
            return None  # "1" is not "hopping on one leg"
        is_subset = bool(content) and content <= option.stems
        if is_whole and not is_subset and self._is_part_of_other(index):
            return None
        if not is_subset and (is_exact or (is_strict and not is_whole)):
            return None
        is_enough = is_whole or is_subset or is_decision or _is_covered(option, found)
        if not is_enough:
            return None
        if not is_whole and not self._agrees(text, stems, option):
            return None
        if index not in named and bool(_NEGATION.search(text)) != option.is_negative:
            return None
        return index

    def _drop_abbreviation(self, text: str) -> str:
        """Return a text without the abbreviation in brackets at its end, if no option has it."""
        end = _BRACKETED_ABBREVIATION.search(text)
        if end is None or find_stem(end[1]) in self._known:
            return text
        is_initials = any(end[1] in option.initials for option in self.options)
        return text if is_initials else text[: end.start()]

    def _find_combination(self, stems: frozenset[str]) -> int | None:
        """Return the option with just the words of a text, if none of them is in that option only."""
        generic = load_words().generic
        content = stems - generic
        found = [
            index
            for index, option in enumerate(self.options)
            if content == option.stems - generic and not option.letters and not option.is_negative
        ]
        return found[0] if len(found) == 1 and len(content) > 1 else None

    def _is_part_of_other(self, index: int) -> bool:
        """Return whether another option has all words of an option: "retrograde" of "antegrade and retrograde"."""
        stems = self.options[index].stems
        return any(
            stems <= other.stems for other in self.options if other is not self.options[index]
        )

    def mentions(self, text: str) -> bool:
        """Return whether a text has a word of an option that no other option has."""
        return any(stem in self._distinctive for stem in self._find_stems(text))

    def list_mentioned(self, text: str) -> set[int]:
        """Return the options of which a text has a word that no other option has."""
        stems = self._find_stems(text)
        return {self._distinctive[stem] for stem in stems if stem in self._distinctive}

    def _describe(self, text: str, index: int, stems: list[frozenset[str]]) -> _Option:
        others = frozenset().union(*(stems[i] for i in range(len(stems)) if i != index))
        distinctive = stems[index] - others - load_words().generic - load_words().empty
        outside = self._find_stems(_BRACKET.sub(" ", text))
        abbreviation = _ABBREVIATION.fullmatch(text.strip(" ."))
        return _Option(
            stems=stems[index],
            distinctive=distinctive,
            main=distinctive & outside or distinctive,
            letters=frozenset(_LONE_LETTER.findall(text)),
            numbers=self._numbers.find(text),
            initials=_find_initials(_BRACKET.sub(" ", text)),
            abbreviation=abbreviation[0].upper() if abbreviation else "",
            is_negative=_NEGATION.search(text) is not None,
            begins_with_number=self._numbers.write_digits(text)[:1].isdigit(),
        )

    def _find_stems(self, text: str) -> frozenset[str]:
        """Return the stems of a text's content words."""
        text = self._numbers.write_digits(_unify(text))
        empty = load_words().empty
        stems: set[str] = set()
        for word in _split(text):
            stem = _find_name(word)
            if (
                (len(word) > 1 or word.isdigit())
                and word.lower() not in empty
                and stem not in empty
            ):
                stems.add(stem)
        return frozenset(stems)

    def _find_compounds(self, text: str, stems: frozenset[str]) -> set[str]:
        """Return further stems of a text: "methylmalonic" of "methyl-malonic", or the parts of the joined word."""
        found: set[str] = set()
        for compound in _COMPOUND.findall(_unify(text)):
            found.add(find_stem(compound.replace("-", "")))
        for joined, parts in self._compounds.items():
            if joined in stems:
                found |= parts
        return found

    def _mend(self, text: str, words: list[str], stems: frozenset[str]) -> frozenset[str]:
        """Return a text's stems; those of the options' long words replace words that misspell or shorten them."""
        mended = set(stems)
        for beginning in _SHORTENED.findall(text):
            completed = {
                stem
                for word, stem in self._long_words.items()
                if word.startswith(beginning.lower())
            }
            if len(completed) == 1 and find_stem(beginning) not in self._known:
                mended = mended - {find_stem(beginning)} | completed
        for word in words:
            if len(word) < _MIN_WITH_SLIP or find_stem(word) in self._known:
                continue
            similar = {
                stem for other, stem in self._long_words.items() if _is_slip(word.lower(), other)
            }
            if len(similar) == 1:
                mended = mended - {find_stem(word)} | similar
        return frozenset(mended)

    def _find_abbreviated(self, text: str, words: list[str]) -> set[int]:
        """Return the options of which the text has the initials, or the initials of which are an option."""
        found: set[int] = set()
        abbreviations = {match.upper() for match in _ABBREVIATION.findall(text)}
        if len(words) > _MAX_SHORT:
            abbreviations = {name for name in abbreviations if len(name) > 2}
            return {
                index
                for index, option in enumerate(self.options)
                if not abbreviations.isdisjoint(option.initials)
            }
        initials = "".join(word[0] for word in _split(text)).upper()
        for index, option in enumerate(self.options):
            if not abbreviations.isdisjoint(option.initials):
                found.add(index)
            if len(option.abbreviation) >= 3 and option.abbreviation in initials:
                found.add(index)
        return found

    def _agrees(self, text: str, stems: frozenset[str], option: _Option) -> bool:
        """Return whether the text has no word that contradicts the option, such as "left" for "right"."""
        if option.letters and option.letters.isdisjoint(re.findall(r"(?<!\w)[A-Z](?![\w'])", text)):
            return False
        opposites = load_words().opposites
        for stem in stems - option.stems:
            if not opposites.get(stem, frozenset()).isdisjoint(option.stems):
                return False
            for prefix, opposite in (
                ("hypo", "hyper"),
                ("hyper", "hypo"),
                ("intra", "extra"),
                ("extra", "intra"),
            ):
                if stem.startswith(prefix) and opposite + stem.removeprefix(prefix) in option.stems:
                    return False
        return self._numbers.agree(text, option.numbers)


def _is_covered(option: _Option, found: set[str]) -> bool:
    """Return whether the words found are enough of the option's."""
    share = len(found & option.main) / max(1, len(option.main))
    share = max(share, len(found) / max(1, len(option.distinctive)))
    return share > 0.5 or (len(found) >= 2 and share >= 0.5) or (len(found) >= 3 and share >= 0.4)


def _list_pairs(text: str) -> list[str]:
    """Return each two neighbouring words, joined by a hyphen: "hyperstimulation" may be written in two words."""
    words = _split(_unify(text))
    return [
        f"{first}-{second}"
        for first, second in pairwise(words)
        if min(len(first), len(second)) >= _MIN_JOINED and f"{first}{second}".isalpha()
    ]


def _split(text: str) -> list[str]:
    return _WORD.findall(text)


def _unify(text: str) -> str:
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text).translate(ASCII_MARKS)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


@lru_cache(5000)
def find_stem(word: str) -> str:
    """Return a word in lower case, in American spelling and without the endings of number and tense."""
    stem = word.lower().removesuffix("'s")
    if not stem.isalpha() or not stem.isascii():
        return stem
    for british, american in _SPELLINGS:
        stem = stem.replace(british, american)
    for _ in range(2):
        for suffix in _SUFFIXES:
            rest = stem.removesuffix(suffix)
            if (
                rest != stem
                and len(rest) >= 3
                and not rest.endswith("s" if suffix == "s" else "\0")
            ):
                stem = rest
                break
    if len(stem) > 3 and stem[-1] == stem[-2]:
        stem = stem[:-1]
    return stem


def _find_name(word: str) -> str:
    """Return a word's stem, or that of the synonym by which the lists replace it."""
    stem = find_stem(word)
    return load_words().synonyms.get(stem, stem)


def _is_slip(word: str, other: str) -> bool:
    """Return whether two words differ by a letter that is missing or repeated, or by two neighbours swapped."""
    if word[:1] != other[:1] or abs(len(word) - len(other)) > 1:
        return False
    if frozenset({word, other}) in load_words().confusable:
        return False
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    if len(word) == len(other):
        if len(word) >= _MIN_OTHER_VOWEL and 2 <= start < len(word) - _ENDING:
            # "nadalol", but not "nitrite" for "nitrate" or "macrocytic" for "microcytic"
            is_vowel = word[start] in _VOWELS and other[start] in _VOWELS
            if is_vowel and word[start + 1 :] == other[start + 1 :]:
                return True
        swapped = word[:start] + word[start : start + 2][::-1] + word[start + 2 :]
        return swapped == other
    longer, shorter = (word, other) if len(word) > len(other) else (other, word)
    return longer[:start] + longer[start + 1 :] == shorter


def _find_initials(text: str) -> frozenset[str]:
    """Return the initials of a text's words, with the parts of compounds and without."""
    found: set[str] = set()
    empty = load_words().empty
    for version in (text, text.replace("-", "")):
        words = [
            word for word in _split(version) if word.lower() not in empty and word[0].isalpha()
        ]
        if 2 <= len(words) <= 6:
            found.add("".join(word[0] for word in words).upper())
    return frozenset(initials for initials in found if len(initials) >= 2)


@lru_cache(1)
def load_words() -> WordList:
    """Return the lists of words.yaml.

    Raises:
        ConfigError: the file is missing or wrong.
    """
    path = Path(__file__).with_name("words.yaml")
    data = read_yaml(path, ConfigError)
    opposites: dict[str, set[str]] = {}
    for pair in data.names("opposites"):
        one, other = map(find_stem, pair.split())
        opposites.setdefault(one, set()).add(other)
        opposites.setdefault(other, set()).add(one)
    words = WordList(
        empty=_read_stems(data.names("empty"), keep_words=True),
        generic=_read_stems(data.names("generic")),
        opposites={stem: frozenset(others) for stem, others in opposites.items()},
        confusable=frozenset(frozenset(pair.split()) for pair in data.names("confusable")),
        synonyms=_read_synonyms(data.names("synonyms")),
    )
    data.finish()
    if data.problems:
        raise ConfigError(f"{path}: {'; '.join(data.problems)}")
    return words


def _read_synonyms(lines: tuple[str, ...]) -> dict[str, str]:
    """Return the first word's stem for the stem of each further word of a line."""
    synonyms: dict[str, str] = {}
    for line in lines:
        first, *others = map(find_stem, line.split())
        synonyms.update(dict.fromkeys(others, first))
    return synonyms


def _read_stems(lines: tuple[str, ...], *, keep_words: bool = False) -> frozenset[str]:
    words = {word for line in lines for word in line.split()}
    stems = {find_stem(word) for word in words if len(word) > 3}
    return frozenset(words | stems) if keep_words else frozenset(map(find_stem, words))
