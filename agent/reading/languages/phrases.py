"""Load the phrases of a language, and find the languages in which an answer may be written.

The files are read when the first answer is, not when the module is imported.
"""

import re
import string
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agent.errors import ConfigError
from agent.io.yaml_map import YamlMap, read_yaml
from agent.reading.words import ASCII_MARKS

_FOLDER = Path(__file__).parent
LANGUAGES = (
    *("ar", "de", "es", "fr", "hi", "it", "ja", "ko"),
    *("nl", "pl", "pt", "ru", "sv", "tr", "zh"),
)
_KEYS_WITH_CUE_WORDS = (
    *("states", "finals", "calls_right", "calls_wrong"),
    *("because", "retracts", "option_words"),
)
_ENGLISH_WORDS = frozenset(
    (
        *("also", "alternative", "attends", "basta", "come", "correct", "correction", "definitive"),
        *("exact", "faux", "final", "finale", "halt", "incorrect", "inexact", "item"),
        *("juste", "letter", "marco", "moment", "option", "pardon", "plus", "pour"),
        *("probable", "proposition", "seria", "solution", "sono", "sorry", "vera", "want"),
        *("ware"),
    )
)
"""Words of the phrases that occur in English answers too, and so show nothing."""
_MIN_FOLDED = 4  # letters; "è" (is) and "e" (and) are different words
_NEVER = "(?!)"
_WORD = re.compile(r"[^\W\d_]{4,}")
_PUNCTUATION_TO_SPACES = str.maketrans(dict.fromkeys(string.punctuation, " "))
_OTHER_SCRIPT = re.compile("[\u0600-\u06ff\u0900-\u097f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Example:
    """An answer and the letter that it names, or None if it is unread."""

    answer: str
    letter: str | None


@dataclass(frozen=True, slots=True)
class Language:
    """A language's phrases. Those of the answer's statements are patterns for text in lower case.

    Each pattern is the source of a regular expression without capturing groups; README.md describes the lists.
    """

    code: str
    name: str
    is_checked: bool
    has_spaces: bool
    options: tuple[str, ...]
    cue_words: frozenset[str]
    states: str
    finals: str
    calls_right: str
    calls_wrong: str
    denies: str
    sure: str
    conditions: str
    because: str
    leads: str
    fillers: str
    option_words: str
    follows: str
    and_words: str
    or_words: str
    retracts: str
    examples: tuple[Example, ...]
    traps: tuple[Example, ...]


def find_languages(text: str) -> tuple[Language, ...]:
    """Return the languages of which most cue words occur in the text; often none.

    Related languages share words: a Spanish answer with "alternativa" and "correcta" is not read as Portuguese too.
    """
    languages_by_word = _load_cue_words()
    lower_text = text.lower()
    if text.isascii():
        # Most answers are in English and end here, so this is the faster way to find the words.
        words = lower_text.translate(_PUNCTUATION_TO_SPACES).split()
        if languages_by_word.keys().isdisjoint(words):
            return ()
    else:
        words = _WORD.findall(lower_text)
    counts: Counter[str] = Counter()
    for word in set(words):
        counts.update(languages_by_word.get(word, ()))
    if not text.isascii() and _OTHER_SCRIPT.search(lower_text):
        for language in _load_languages():
            if not language.has_spaces:
                counts[language.code] += sum(cue in lower_text for cue in language.cue_words)
    most = max(counts.values(), default=0)
    if not most:
        return ()
    return tuple(load_language(code) for code in sorted(counts) if counts[code] == most)


@lru_cache(None)
def _load_languages() -> tuple[Language, ...]:
    return tuple(load_language(code) for code in LANGUAGES)


@lru_cache(None)
def _load_cue_words() -> dict[str, frozenset[str]]:
    """Return the languages of each cue word."""
    codes: dict[str, set[str]] = {}
    for language in _load_languages():
        if language.has_spaces:
            for word in language.cue_words:
                codes.setdefault(word, set()).add(language.code)
    return {word: frozenset(of_word) for word, of_word in codes.items()}


@lru_cache(None)
def load_language(code: str) -> Language:
    """Return a language's phrases.

    Raises:
        ConfigError: the language's file is missing or wrong.
    """
    path = _FOLDER / f"{code}.yaml"
    data = read_yaml(path, ConfigError)
    has_spaces = data.flag("has_spaces", True)

    def compile_list(key: str) -> str:
        return _compile_phrases(data.names(key), has_spaces)

    language = Language(
        code=data.choice("code", (code,)),
        name=data.name("name"),
        is_checked=data.flag("checked_by_native_speaker", False),
        has_spaces=has_spaces,
        options=data.names("options"),
        cue_words=_read_cue_words(data, has_spaces),
        states=compile_list("states"),
        finals=compile_list("finals"),
        calls_right=compile_list("calls_right"),
        calls_wrong=compile_list("calls_wrong"),
        denies=compile_list("denies"),
        sure=compile_list("sure"),
        conditions=compile_list("conditions"),
        because=compile_list("because"),
        leads=compile_list("leads"),
        fillers=compile_list("fillers"),
        option_words=compile_list("option_words"),
        follows=compile_list("follows"),
        and_words=compile_list("and"),
        or_words=compile_list("or"),
        retracts=compile_list("retracts"),
        examples=_read_examples(data, "examples"),
        traps=_read_examples(data, "traps"),
    )
    data.finish()
    if data.problems:
        raise ConfigError(f"{path}: {'; '.join(data.problems)}")
    return language


def _read_examples(data: YamlMap, key: str) -> tuple[Example, ...]:
    examples: list[Example] = []
    for item in data.maps(key):
        letter = item.choice("letter", ("A", "B", "C", "D", "E", "-"))
        examples.append(Example(item.text("answer"), None if letter == "-" else letter))
        item.finish()
    return tuple(examples)


def _read_cue_words(data: YamlMap, has_spaces: bool) -> frozenset[str]:
    """Return the words that show that a text may be in the language: with spaces, the longer words of its phrases."""
    if not has_spaces:
        return frozenset(_normalise(word) for word in data.names("cue_words"))
    words: set[str] = set()
    for key in _KEYS_WITH_CUE_WORDS:
        for phrase in data.names(key):
            for word in _WORD.findall(_normalise(phrase)):
                words |= {word, _drop_accents(word)}
    return frozenset(words - _ENGLISH_WORDS)


def _normalise(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(ASCII_MARKS).lower()


def _drop_accents(text: str) -> str:
    plain = unicodedata.normalize("NFD", text.replace("ı", "i").replace("ł", "l"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _compile_phrases(phrases: tuple[str, ...], has_spaces: bool) -> str:
    """Return a pattern that finds any of the phrases, the longest first; for no phrases, one that finds nothing."""
    patterns = [_compile_phrase(_normalise(phrase), has_spaces) for phrase in phrases]
    patterns.sort(key=len, reverse=True)
    return f"(?:{'|'.join(patterns)})" if patterns else _NEVER


def _compile_phrase(phrase: str, has_spaces: bool) -> str:
    space = r"\s" if has_spaces else r"\s?"
    pattern = ""
    has_words = False
    for part in re.findall(r"\[[^\]]*\]|[^\s\[\]]+", phrase):
        is_optional = part.startswith("[")
        alternatives: list[str] = []
        choices = part.strip("[]").split("|")
        if choices[-1].endswith(":") and choices[-1] != ":":
            # In "antwort|lösung:" the colon belongs to both.
            choices = [choice.rstrip(":") + ":" for choice in choices]
        for choice in choices:
            words = space.join(_compile_word(word) for word in choice.split())
            # A colon needs no space before it.
            needs_space = has_words and not choice.startswith(":")
            # The space belongs to the optional words, so that none is left when they are missing.
            ends_with_space = is_optional and not has_words
            alternatives.append(
                (space if needs_space else "") + words + (space if ends_with_space else "")
            )
        pattern += f"(?:{'|'.join(alternatives)})" + ("?" if is_optional else "")
        has_words = has_words or not is_optional
    if not has_spaces:
        return pattern
    begins_with_word = re.match(r"\[?\w", phrase) is not None
    ends_with_word = re.search(r"\w\]?$", phrase) is not None
    boundary = r"(?<!\w)" if begins_with_word else ""
    return boundary + pattern + (r"(?!\w)" if ends_with_word else "")


def _compile_word(word: str) -> str:
    """Return a pattern for a word in which accents may be missing, with spaces allowed before a colon."""
    has_colon = word.endswith(":")
    letters = word.rstrip(":")
    is_folded = len(letters) >= _MIN_FOLDED
    pattern = "".join(_compile_letter(letter, is_folded) for letter in letters)
    return pattern + (r"\s?:" if has_colon else "")


def _compile_letter(letter: str, is_folded: bool) -> str:
    if letter == "*":
        return r"\w{0,20}"
    plain = _drop_accents(letter)
    if not is_folded or plain == letter or not plain.isascii():
        return re.escape(letter)
    return f"[{letter}{plain}]"
