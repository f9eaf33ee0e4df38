"""Places, institutions, streets and addresses on the net that are known of a record, word by word."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import regex

from agent.redaction.identity.words import Word, plain_words

_GAP = 3  # characters between two words of a phrase
_LONGEST = 16  # words
_LETTERS = 4  # of a location or a short form that is searched for by itself
_PHRASES_OF_A_WORD = 50  # further ones that begin with one word are not searched for
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


class _Phrase(NamedTuple):
    words: tuple[str, ...]
    entity: str
    needs_capital: bool


class KnownPhrases:
    """Phrases to search for.

    Args:
        values: as (entity, value).
        everyday: words in small letters that identify no person when they stand alone.
        is_common: tells whether a word in small letters is one of the language: it needs a capital.
    """

    def __init__(
        self,
        values: Iterable[tuple[str, str]],
        everyday: frozenset[str],
        is_common: Callable[[str], bool] | None = None,
    ) -> None:
        self._everyday = everyday
        self._is_common = is_common or (lambda _: True)
        self._phrases_by_word: dict[str, list[_Phrase]] = defaultdict(list)
        seen: set[tuple[str, ...]] = set()
        for entity, value in values:
            for words, needs_capital in self._forms(entity, value):
                if not words or len(words) > _LONGEST or words in seen:
                    continue
                seen.add(words)
                phrases = self._phrases_by_word[words[0]]
                if len(phrases) < _PHRASES_OF_A_WORD:
                    phrases.append(_Phrase(words, entity, needs_capital))

    def __bool__(self) -> bool:
        """Whether there is any phrase to search for."""
        return bool(self._phrases_by_word)

    def find(self, text: str, words: Sequence[Word]) -> Iterator[tuple[int, int, str]]:
        """Yield where known phrases stand in `text`, whose words are `words`: start, end, entity."""
        if not self._phrases_by_word:
            return
        for index, word in enumerate(words):
            for phrase in self._phrases_by_word.get(word.key, ()):
                if phrase.needs_capital and not text[word.start].isupper():
                    continue
                if _stands_at(phrase.words, words, index):
                    yield word.start, words[index + len(phrase.words) - 1].end, phrase.entity

    def _forms(self, entity: str, value: str) -> Iterator[tuple[tuple[str, ...], bool]]:
        """Yield the words under which a value is searched for, and whether a capital must begin them."""
        match entity:
            case "LOCATION":
                for piece in _CUT.split(value):
                    yield from self._alone(plain_words(piece))
            case "ADDRESS":
                for piece in _CUT.split(value):
                    yield from self._street(plain_words(piece))
            case "FACILITY" | "ORGANIZATION":
                words = plain_words(value)
                if len(words) > 1 and not all(word in self._everyday or word in GENERIC for word in words):
                    yield words, False
                    short = words
                    while short and short[-1] in GENERIC:
                        short = short[:-1]
                    if short != words and not all(word in GENERIC for word in short):
                        yield from self._alone(short)
                elif len(words) == 1:
                    yield from self._alone(words)
            case "EMAIL":
                yield plain_words(value), False
                mailbox = value.partition("@")[0]
                if len(mailbox) > _LETTERS + 1 and mailbox.lower() not in _MAILBOXES | self._everyday:
                    yield plain_words(mailbox), False
            case _:
                yield plain_words(value), False

    def _alone(self, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bool]]:
        if sum(map(len, words)) >= _LETTERS and not all(word in self._everyday or word in GENERIC for word in words):
            yield words, all(map(self._is_usual, words))

    def _is_usual(self, word: str) -> bool:
        """Tell whether a word needs a capital to be a place: of the language, or too short to be sure."""
        return len(word) <= _LETTERS or word in self._everyday or word in GENERIC or self._is_common(word)

    def _street(self, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bool]]:
        """Yield a street with its number, and by itself, with each way to write what kind of street it is."""
        kinds = [place for place, word in enumerate(words) if place and word in _STREET_WORDS]
        if not kinds or len(words) < 2:
            named = tuple(word for word in words if not word.isdigit())
            if named != words and len(words) > 1:
                yield words, False
            if words and words[0] in _STREET_WORDS and named != words:
                yield words[1:], False  # Calle Mayor 12, C/ Mayor 12
            elif words[:1] != named[:1] or named == words:
                yield from self._alone(named)  # 28013 Madrid
            return
        place = kinds[-1]
        number = next((at for at, word in enumerate(words[:place]) if not word.isdigit()), 0)
        name = words[number:place]
        for kind in _STREET_WORDS[words[place]]:
            yield (*words[:place], kind), False
            if name and sum(map(len, name)) >= _LETTERS - 1:
                yield (*name, kind), True
        if number and name:
            yield words[:place], False


def _stands_at(phrase: tuple[str, ...], words: Sequence[Word], index: int) -> bool:
    """Tell whether `phrase` stands at the word `index`, its words close to one another."""
    if index + len(phrase) > len(words):
        return False
    for offset, key in enumerate(phrase):
        if words[index + offset].key != key:
            return False
        if offset and words[index + offset].start - words[index + offset - 1].end > _GAP:
            return False
    return True
