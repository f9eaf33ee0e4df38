"""Match many patterns in one pass over a text, trying each only at words or numbers with which it can begin.

Most patterns of identifiers begin with one of a few words ("MRN", "born", "March") or with digits. A separate search
for each pattern would scan the text a hundred times; this scans it once and looks up each word.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import regex
from presidio_analyzer import EntityRecognizer, RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.beginnings import read_first_words
from agent.redaction.rules.word_lists import compile_pattern, read_entries, write_lists

SURE = 0.9  # confidence of all our rules, whose patterns include their evidence


class Digits(NamedTuple):
    """The start of a rule that begins with digits that follow no letter or digit.

    Attributes:
        least: minimum number of digits.
        most: maximum number of digits; 10 stands for 10 or more.
        then: the kinds of text that may follow: `a` a letter; `A` white space and a capital, or a letter outside ASCII;
            `9` white space and a digit; a space any other white space, or the end of the text; each of `/-.),` itself;
            `*` anything else. None if anything may follow.
    """

    least: int = 1
    most: int = 10
    then: str | None = None


class Listed(NamedTuple):
    """The start of a rule that begins with a word of a list, for patterns that can begin with any word.

    Attributes:
        name: the name of the list.
        endings: the endings that may be added to a word of the list.
    """

    name: str
    endings: tuple[str, ...] = ("",)


class Signs(NamedTuple):
    """The start of a rule that is tried at signs such as `@`. A lookbehind matches preceding text (see `Rule`)."""

    texts: tuple[str, ...]


# Other starts of rules, apart from lists of words.
WORDS: Final = "<words>"  # the words with which the pattern can begin
CODE: Final = "<code>"  # letters followed by digits, as in "AB12345" or "14Mar"; not within a word
LONG: Final = "<long>"  # searched in every run of 32 or more characters without white space
ANYWHERE: Final = "<anywhere>"

_WORD = re.compile(r"[^\W\d_]+")
_LONG = re.compile(r"\S{32,}")
_DIGITS = re.compile(r"[0-9]+")
_MAX_CODE_LENGTH = 40  # maximum letters before the first digit
_DISTINGUISHED_SIGNS = "/-.),"  # after digits
_SHORT = 4  # maximum letters of a phrase that could be an abbreviation if written in capitals
_TRIED_AT_ONCE = 256  # words between two checks of the deadline


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern for one entity.

    Attributes:
        entity: the entity of a match.
        begins: the start of a match. WORDS, if the words with which a match begins (including text before `\\K`) can
            be found from the pattern; otherwise these words in lower case, separated by white space, or their list;
            or digits or signs; or CODE, LONG or ANYWHERE.
        pattern: a pattern for the `regex` module. It refers to word lists of the language by name (`\\L<months>`), and
            is case-sensitive unless it contains `(?i)`. The whole match is the detection, starting at the group
            `since` if there is one, which may be in a lookbehind. Every repetition is bounded, so that the time of
            one attempt does not depend on the length of the text. With ANYWHERE and LONG, the deadline is enforced.
        needs: with ANYWHERE, lower-case texts, one of which must occur for the pattern to be searched.
    """

    entity: Entity
    begins: str | Listed | Digits | Signs
    pattern: str
    needs: tuple[str, ...] = ()


# A finder yields (entity, start, end).
Finder = Callable[[str, Deadline], Iterable[tuple[Entity, int, int]]]
# Returns the position of a detection that begins at a position of a text, or None.
Judge = Callable[[str, int], "Place | None"]
_Try = tuple[Entity, Callable[[str, int], Any], bool]


class Place(NamedTuple):
    """The position of a phrase in a text."""

    since: int
    until: int

    def start(self) -> int:
        """Return the start of the phrase."""
        return self.since

    def end(self) -> int:
        """Return the end of the phrase, exclusive."""
        return self.until


class Phrase:
    """One or more words that must occur literally, except that a hyphen also matches a space.

    Args:
        phrase: the words.
        unless: text that must not follow the phrase, as in "New York Heart Association".
    """

    def __init__(self, phrase: str, unless: "re.Pattern[str]") -> None:
        self._unless = unless
        self._spellings = tuple(
            {phrase, phrase.replace("-", " "), phrase.upper() if len(phrase) > _SHORT else phrase}
        )

    def match(self, text: str, place: int) -> Place | None:
        """Return the position of the phrase if it begins at `place` and consists of whole words."""
        for spelling in self._spellings:
            end = place + len(spelling)
            if text.startswith(spelling, place) and not text[end : end + 1].isalnum():
                part = (place and text[place - 1] == "-") or self._unless.match(text, end)
                return None if part else Place(place, end)
        return None


class Rulebook(EntityRecognizer):
    """All rules of a language, and finders with their own search."""

    def __init__(
        self,
        language: str,
        rules: Iterable[Rule],
        deadline: Deadline,
        *,
        phrases: Mapping[Entity, Iterable[str]] = MappingProxyType({}),
        unless: str = r"(?!)",
        finders: Iterable[tuple[frozenset[Entity], Finder]] = (),
        judged: Iterable[tuple[Entity, frozenset[str], Judge]] = (),
    ) -> None:
        """Store the rules. `judged` lists entities with the words before them and a function that checks each place."""
        rules, self._finders, self._judged = tuple(rules), tuple(finders), tuple(judged)
        found_otherwise = frozenset[str]().union(
            phrases,
            *(finder_entities for finder_entities, _ in self._finders),
            (entity for entity, _, _ in self._judged),
        )
        entities = sorted(found_otherwise.union(rule.entity for rule in rules))
        super().__init__(
            supported_entities=entities, name=f"Rules ({language})", supported_language=language
        )
        self._deadline = deadline
        self._language = language
        self._rules = rules
        self._unless = re.compile(unless)
        self._phrases = [
            (entity, phrase) for entity, entries in phrases.items() for phrase in entries
        ]
        self._wanted: tuple[str, ...] | None = None
        self._by_word: dict[str, tuple[_Try, ...]] = {}
        self._long: list[tuple[Rule, regex.Pattern[str]]] = []
        self._by_sign: dict[str, list[_Try]] = {}
        self._by_digits: list[tuple[Digits, _Try]] = []
        # Rules for digits, cached by number of digits and following text.
        self._by_number: dict[tuple[int, str], tuple[_Try, ...]] = {}
        self._anywhere: list[tuple[Rule, regex.Pattern[str]]] = []

    def load(self) -> None:
        """Do nothing: rules are compiled when the wanted entities are known."""

    def _compile(self, wanted: tuple[str, ...]) -> None:
        """Compile the rules of the wanted entities, which do not change under one policy."""
        by_word: defaultdict[str, list[_Try]] = defaultdict(list)
        self._anywhere = []
        self._long = []
        self._by_sign = {}
        self._by_digits = []
        self._by_number = {}
        for rule in self._rules:
            if rule.entity in wanted:
                self._compile_rule(rule, by_word)
        for entity, begins, judge in self._judged:
            if entity in wanted:
                for word in begins:
                    by_word[word].append((entity, judge, False))
        for entity, phrase in self._phrases:
            first_word = _WORD.match(phrase)
            if entity in wanted and first_word is not None:
                attempt = (entity, Phrase(phrase, self._unless).match, False)
                by_word[first_word.group().lower()].append(attempt)
        self._by_word = {word: tuple(tries) for word, tries in by_word.items()}
        self._wanted = wanted

    def _compile_rule(self, rule: Rule, by_word: defaultdict[str, list[_Try]]) -> None:
        """Compile a rule, and register it under the signs, digits or words with which it begins."""
        pattern = compile_pattern(rule.pattern, self._language, regex.MULTILINE)
        if rule.begins == ANYWHERE:
            self._anywhere.append((rule, pattern))
            return
        if rule.begins == LONG:
            self._long.append((rule, pattern))
            return
        attempt: _Try = (rule.entity, pattern.match, "since" in pattern.groupindex)
        if isinstance(rule.begins, Digits):
            self._by_digits.append((rule.begins, attempt))
        elif isinstance(rule.begins, Signs):
            for sign in rule.begins.texts:
                self._by_sign.setdefault(sign, []).append(attempt)
        else:
            for word in _list_first_words(rule, self._language):
                by_word[word].append(attempt)

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Return the detections of `entities` in `text`.

        Raises:
            TimeoutError: the deadline passed.
        """
        del nlp_artifacts
        wanted = tuple(entities)
        if wanted != self._wanted:
            self._compile(wanted)
        detections = set(self._match_at_starts(text))
        detections.update(self._search_patterns(text))
        for entities_of_finder, find in self._finders:
            if not entities_of_finder.isdisjoint(wanted):
                detections.update(
                    detection for detection in find(text, self._deadline) if detection[0] in wanted
                )
        return [
            RecognizerResult(entity, start, end, SURE)
            for entity, start, end in _drop_nested(detections)
        ]

    def _match_at_starts(self, text: str) -> Iterator[tuple[Entity, int, int]]:
        for tries, position in self._find_starts(text):
            for entity, match, has_since in tries:
                matched = match(text, position)
                if matched is None:
                    continue
                start = matched.start()
                if has_since and matched.start("since") >= 0:
                    start = matched.start("since")
                if start < matched.end():
                    yield entity, start, matched.end()

    def _find_starts(self, text: str) -> Iterator[tuple[Sequence[_Try], int]]:
        """Yield each position at which rules can begin, with these rules."""
        by_word = self._by_word
        for count, word in enumerate(_WORD.finditer(text)):
            if not count % _TRIED_AT_ONCE:
                self._deadline.left()
            if tries := by_word.get(word.group().lower()):
                yield tries, word.start()
        for sign, signed in self._by_sign.items():
            place = text.find(sign)
            while place >= 0:
                yield signed, place
                place = text.find(sign, place + len(sign))
        codes = by_word.get(CODE, ())
        end_of_code = -1
        for count, digits in enumerate(_DIGITS.finditer(text)):
            if not count % _TRIED_AT_ONCE:
                self._deadline.left()
            start = begin = digits.start()
            while begin and text[begin - 1].isalnum() and start - begin < _MAX_CODE_LENGTH:
                begin -= 1
            if begin == start:
                yield self._list_number_rules(text, start, digits.end()), start
            elif begin > end_of_code:
                yield codes, begin
            end_of_code = digits.end()

    def _list_number_rules(self, text: str, start: int, end: int) -> tuple[_Try, ...]:
        """Return the rules that can begin with the digits `text[start:end]`."""
        key = min(end - start, 10), _classify_following(text[end : end + 2])
        if key not in self._by_number:
            self._by_number[key] = tuple(
                attempt
                for digits, attempt in self._by_digits
                if digits.least <= key[0] <= digits.most
                and (digits.then is None or key[1] in digits.then)
            )
        return self._by_number[key]

    def _search_patterns(self, text: str) -> Iterator[tuple[Entity, int, int]]:
        lower = text.lower() if self._anywhere else ""
        for rule, pattern in self._anywhere:
            if not rule.needs or any(needed in lower for needed in rule.needs):
                for match in pattern.finditer(text, timeout=self._deadline.left()):
                    if match.start() < match.end():
                        yield rule.entity, match.start(), match.end()
        for stretch in _LONG.finditer(text) if self._long else ():
            for rule, pattern in self._long:
                for match in pattern.finditer(
                    text, stretch.start(), stretch.end(), timeout=self._deadline.left()
                ):
                    yield rule.entity, match.start(), match.end()


@cache
def _list_first_words(rule: Rule, language: str) -> tuple[str, ...]:
    """Return the words, in lower case, at which a rule is tried."""
    if rule.begins == WORDS:
        return tuple(sorted(read_first_words(write_lists(rule.pattern, language))))
    if isinstance(rule.begins, Listed):
        words = read_entries(language, rule.begins.name)
        return tuple(word + ending for word in words for ending in rule.begins.endings)
    return tuple(str(rule.begins).split())


def _classify_following(two: str) -> str:
    """Return the kind, as in `Digits.then`, of the next two characters."""
    first, second = two[:1], two[1:]
    if not first or first.isspace():
        if second.isdigit():
            return "9"
        return "A" if second.isupper() or second > "\x7f" else " "
    if first.isalpha():
        return "a"
    return first if first in _DISTINGUISHED_SIGNS else "*"


def _drop_nested(
    detections: Iterable[tuple[Entity, int, int]],
) -> Iterator[tuple[Entity, int, int]]:
    """Drop detections within another of the same entity, to avoid Presidio's comparison of all pairs."""
    last: tuple[str, int, int] = ("", 0, 0)
    for detection in sorted(detections, key=lambda each: (each[0], each[1], -each[2])):
        if detection[0] != last[0] or detection[2] > last[2]:
            yield detection
            last = detection
