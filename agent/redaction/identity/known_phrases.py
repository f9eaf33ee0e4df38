"""Search texts, word by word, for the known places, institutions, streets and web addresses of a record."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import regex

from agent.redaction.identity.words import Word, plain_words

_GAP = 3  # maximum characters between two words of a phrase
_MAX_LENGTH = 16  # words
_LETTERS = 4  # minimum letters of a location or a short form that is searched for on its own
_STREETS = (
    "street st str", "avenue ave av", "road rd", "boulevard blvd", "drive dr", "lane ln", "court ct", "circle cir",
    "place pl", "terrace ter", "parkway pkwy", "highway hwy", "square sq", "trail trl", "crescent cres", "way", "close",
    "calle c", "avenida avda av", "plaza pza pl", "paseo pso",
)  # fmt: skip
_STREET_WORDS = {word: tuple(kind.split()) for kind in _STREETS for word in kind.split()}
GENERIC = frozenset(
    word
    for words in (
        "hospital hospitals hosp hospice infirmary clinic clinics medical med center centre ctr health healthcare care",
        "cancer heart surgical surgery trauma rehabilitation rehab nursing home institute system group associates",
        "network partners campus facility services university college school pharmacy laboratory laboratories general",
        "community regional county city national memorial department of the and for at in de la del y el los las inc",
        "llc ltd corp corporation company co gmbh foundation trust unit ward centro clinica instituto universidad",
        "universitario general nacional san santa saint st",
    )
    for word in words.split()
)
_CUT = regex.compile(r"[,;\n]+")
_MAILBOXES = frozenset({"contact", "support", "office", "noreply", "hospital", "clinic", "records"})


class _Form(NamedTuple):
    """The words for which a text is searched, and whether the first must be capitalised."""

    words: tuple[str, ...]
    needs_capital: bool = False


class _Phrase(NamedTuple):
    """The entity of a phrase, and whether its first word must be capitalised."""

    entity: str
    needs_capital: bool


class KnownPhrases:
    """Phrases that are searched for.

    Args:
        values: (entity, value) pairs.
        everyday: lower-case words that do not identify a person on their own.
        is_common: returns whether a lower-case word is an ordinary word, which must be capitalised to match.
    """

    def __init__(
        self,
        values: Iterable[tuple[str, str]],
        everyday: frozenset[str],
        is_common: Callable[[str], bool] | None = None,
    ) -> None:
        self._everyday = everyday
        self._is_common = is_common or (lambda _: True)
        self._phrases: dict[tuple[str, ...], _Phrase] = {}
        # For each word, the lengths in words of the phrases that begin with it.
        self._lengths: dict[str, set[int]] = {}
        for entity, value in values:
            for form in self._list_forms(entity, value):
                if form.words and len(form.words) <= _MAX_LENGTH:
                    self._phrases.setdefault(form.words, _Phrase(entity, form.needs_capital))
                    self._lengths.setdefault(form.words[0], set()).add(len(form.words))

    def __bool__(self) -> bool:
        """Return whether there is any phrase to search for."""
        return bool(self._phrases)

    def find(self, text: str, words: Sequence[Word]) -> Iterator[tuple[int, int, str]]:
        """Yield the start, end and entity of known phrases in `text`, which consists of `words`."""
        if not self._phrases:
            return
        for index, word in enumerate(words):
            for length in self._lengths.get(word.key, ()):
                words_here = words[index : index + length]
                phrase = self._phrases.get(tuple(word_here.key for word_here in words_here))
                if phrase is None or (phrase.needs_capital and not text[word.start].isupper()):
                    continue
                if _are_close(words_here):
                    yield word.start, words_here[-1].end, phrase.entity

    def _list_forms(self, entity: str, value: str) -> Iterator[_Form]:
        match entity:
            case "LOCATION":
                for piece in _CUT.split(value):
                    yield from self._form_alone(plain_words(piece))
            case "ADDRESS":
                for piece in _CUT.split(value):
                    yield from self._form_address(plain_words(piece))
            case "FACILITY" | "ORGANIZATION":
                yield from self._form_institution(plain_words(value))
            case "EMAIL":
                yield from self._form_email(value)
            case _:
                yield _Form(plain_words(value))

    def _form_alone(self, words: tuple[str, ...]) -> Iterator[_Form]:
        """Yield the words as one phrase if they are long enough and not all of them are ordinary."""
        if sum(map(len, words)) >= _LETTERS and not self._are_ordinary(words):
            yield _Form(words, needs_capital=all(map(self._is_usual, words)))

    def _are_ordinary(self, words: tuple[str, ...]) -> bool:
        """Return whether all words are everyday words or occur in the names of many institutions."""
        return all(word in self._everyday or word in GENERIC for word in words)

    def _is_usual(self, word: str) -> bool:
        """Return whether a word must be capitalised to be a place, because it is an ordinary word or very short."""
        return (
            len(word) <= _LETTERS
            or word in self._everyday
            or word in GENERIC
            or self._is_common(word)
        )

    def _form_institution(self, words: tuple[str, ...]) -> Iterator[_Form]:
        """Yield the whole name of an institution, and its name without an ending such as "General Hospital"."""
        if len(words) == 1:
            yield from self._form_alone(words)
            return
        if self._are_ordinary(words):
            return
        yield _Form(words)
        short = words
        while short and short[-1] in GENERIC:
            short = short[:-1]
        if short != words and not all(word in GENERIC for word in short):
            yield from self._form_alone(short)

    def _form_email(self, value: str) -> Iterator[_Form]:
        yield _Form(plain_words(value))
        mailbox = value.partition("@")[0]
        if len(mailbox) > _LETTERS + 1 and mailbox.lower() not in _MAILBOXES | self._everyday:
            yield _Form(plain_words(mailbox))

    def _form_address(self, words: tuple[str, ...]) -> Iterator[_Form]:
        """Yield a street with and without its number, in each spelling of the kind of street."""
        kind_index = _find_street_kind(words)
        if kind_index is None:
            yield from self._form_without_kind(words)
            return
        name_index = 0
        while name_index < kind_index and words[name_index].isdigit():
            name_index += 1
        if name_index == kind_index:
            name_index = 0  # in "5 Street", the number is treated as the name
        name = words[name_index:kind_index]
        for kind in _STREET_WORDS[words[kind_index]]:
            yield _Form((*words[:kind_index], kind))
            if name and sum(map(len, name)) >= _LETTERS - 1:
                yield _Form((*name, kind), needs_capital=True)
        if name_index and name:
            yield _Form(words[:kind_index])

    def _form_without_kind(self, words: tuple[str, ...]) -> Iterator[_Form]:
        """Yield a line of an address that does not end in a kind of street: "Calle Mayor 12", "28013 Madrid"."""
        without_numbers = tuple(word for word in words if not word.isdigit())
        has_number = without_numbers != words
        if has_number and len(words) > 1:
            yield _Form(words)
        if has_number and words[0] in _STREET_WORDS:
            yield _Form(words[1:])  # Calle Mayor 12, C/ Mayor 12
        elif not has_number or words[0].isdigit():
            yield from self._form_alone(without_numbers)  # 28013 Madrid


def _find_street_kind(words: tuple[str, ...]) -> int | None:
    """Return the index of the last word that is a kind of street, ignoring the first word of a line."""
    for index in range(len(words) - 1, 0, -1):
        if words[index] in _STREET_WORDS:
            return index
    return None


def _are_close(words: Sequence[Word]) -> bool:
    """Return whether only small gaps separate the words."""
    return all(following.start - word.end <= _GAP for word, following in pairwise(words))
