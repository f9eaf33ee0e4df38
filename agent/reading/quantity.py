"""Find the quantity that a question asks for, and the names under which an answer may state it.

"What is the patient's CURB-65 score?" asks for a number of points. quantities.yaml lists the quantities of medical
calculators with their names and abbreviations. For any other quantity, the names are taken from the question: its words
before "?", the abbreviation in brackets, and the initials.
"""

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from agent.errors import ConfigError
from agent.io.yaml_map import YamlMap, read_yaml
from agent.reading.caseless import CaselessPattern, compile_caseless, lower

QuantityKind = Literal["points", "criteria", "amount", "date", "duration"]

_OtherNames = tuple[tuple[str, tuple[re.Pattern[str] | CaselessPattern, ...]], ...]

_NEVER = "(?!)"
_MAX_QUESTION = 2_000  # characters; a longer text is no question, but a whole prompt
_DRUG = "{drug}"
_LONGEST_ABBREVIATION = 3  # letters; "map" and "ga" are words and syllables
_GAP = r"(?:'s)?[ _/-]{0,2}"
_PART = re.compile(r"\[[^\]]*\]|\S+")
_LITERAL = re.compile(r"[^\[\]|()?*+\\^$.{}]+")
_WITH_CASE = "(?-i:"
_ASKED = re.compile(
    r"\bwhat (?:is|are|was) (?:the )?(?:the )?(?:patient's |value of |estimated )*(?:the )?([^?\n]{3,100}?)"
    r"(?: \(([A-Z][\w-]{1,12})\))?(?: (?:in|using|based on|for|of this|according to|by) [^?\n]{0,200})?\?",
    re.IGNORECASE,
)
_SMALL_WORDS = frozenset(("of", "the", "for", "and", "in", "to", "a", "an"))


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """The quantity that a question asks for.

    Attributes:
        kind: what type of value it has.
        names: finds names of the quantity.
        others: finds names of other quantities: a word in lower case with the patterns of the names that hold it. The
            words are looked for first, because that is faster.
        behind: matches a name that stands directly behind the value: "of oral cortisone" in "211 mg of oral cortisone".
        rivals: finds words that make a value one of another method or version.
        unit: matches the unit that the question asks for; None if it asks for none, or results are stated in no other.
        source: matches the name of the drug whose dose is given, behind that dose.
        units: matches a unit in which, of all that a calculation uses, only this quantity is stated.
    """

    kind: QuantityKind
    names: re.Pattern[str]
    others: _OtherNames
    behind: re.Pattern[str]
    rivals: re.Pattern[str]
    unit: re.Pattern[str] | None
    source: re.Pattern[str]
    units: re.Pattern[str]

    def find_names(self, text: str) -> tuple["QuantityName", ...]:
        """Return the names of quantities in a text; of those that overlap, the first, then the longest."""
        return _find_names(self, text)


@dataclass(frozen=True, slots=True)
class QuantityName:
    """A name of the quantity asked for, or of another one, in a text."""

    start: int
    end: int
    is_asked: bool


@dataclass(frozen=True, slots=True)
class _Entry:
    """A quantity of quantities.yaml, with its names as sources of patterns."""

    question: tuple[str, ...]
    names: tuple[str, ...]
    behind: tuple[str, ...]
    drug: str
    source: str
    kind: QuantityKind
    rivals: tuple[str, ...]
    neutral: tuple[str, ...]
    unit: str
    units: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _GeneralNames:
    """Names that an answer may use for whatever was asked: of any score, and of any answer."""

    scores: tuple[str, ...]
    answers: tuple[str, ...]

    def list_names(self, kind: QuantityKind) -> tuple[str, ...]:
        return (*self.scores, *self.answers) if kind in ("points", "criteria") else self.answers


@lru_cache(8)  # the claims and the comments of an answer are about the same names
def _find_names(quantity: Quantity, text: str) -> tuple[QuantityName, ...]:
    found = [QuantityName(*match.span(), is_asked=True) for match in quantity.names.finditer(text)]
    lowered = lower(text)
    for word, patterns in quantity.others:
        if word not in lowered:
            continue
        for pattern in patterns:
            if isinstance(pattern, CaselessPattern):
                matches = pattern.lowered.finditer(lowered)
            else:
                matches = pattern.finditer(text)
            for match in matches:
                found.append(QuantityName(match.start(), match.end(), is_asked=False))
    found.sort(key=lambda name: (name.start, -name.end, not name.is_asked))
    names: list[QuantityName] = []
    for name in found:
        if not names or name.start >= names[-1].end:
            names.append(name)
    return tuple(names)


@lru_cache(256)
def find_quantity(question: str) -> Quantity | None:
    """Return the quantity that a question asks for, or None.

    Raises:
        ConfigError: quantities.yaml is missing or wrong.
    """
    question = " ".join(question.replace("\u2019", "'").split())
    if not question or len(question) > _MAX_QUESTION:
        return None
    entries, others, general = _load()
    entry = _find_entry(entries, question)
    if entry is None:
        return _read_question(question)
    drug = re.search(entry.drug, question, re.IGNORECASE) if entry.drug else None
    filled = [name.replace(_DRUG, drug[1]) if drug else name for name in entry.names]
    filled += general.list_names(entry.kind)
    behind = [name.replace(_DRUG, drug[1]) if drug else name for name in entry.behind]
    rival_names: list[str] = list(others)
    for other in entries:
        is_neutral = any(phrase in other.question for phrase in entry.neutral)
        if other is not entry and not is_neutral:
            rival_names += (name for name in other.names if name not in entry.names)
    return Quantity(
        entry.kind,
        _compile([name for name in filled if _DRUG not in name]),
        _compile_others(rival_names),
        _compile([name for name in behind if _DRUG not in name]),
        _compile(list(entry.rivals)),
        re.compile(rf" ?(?:{entry.unit})(?![A-Za-z])", re.IGNORECASE) if entry.unit else None,
        _compile_source(entry, question, drug),
        re.compile(rf" ?(?:{'|'.join(entry.units) or _NEVER})", re.IGNORECASE),
    )


def _compile_source(entry: _Entry, question: str, drug: re.Match[str] | None) -> re.Pattern[str]:
    source = re.search(entry.source, question, re.IGNORECASE) if entry.source else None
    if source is None or (drug and drug[1].lower() == source[1].lower()):
        return re.compile(_NEVER)
    return re.compile(
        rf" ?mg (?:\w{{2,12}} ){{0,2}}{re.escape(source[1])}(?!\w)(?! (?:dose|equivalent))",
        re.IGNORECASE,
    )


def _find_entry(entries: tuple[_Entry, ...], question: str) -> _Entry | None:
    """Return the entry with the longest phrase that stands in the question."""
    lowered = question.lower()
    best: tuple[int, _Entry] | None = None
    for entry in entries:
        for phrase in entry.question:
            if phrase.lower() in lowered and (best is None or len(phrase) > best[0]):
                best = len(phrase), entry
    return best[1] if best else None


def _read_question(question: str) -> Quantity | None:
    """Return the quantity of a question that quantities.yaml does not list."""
    entries, others, general = _load()
    asked = _ASKED.search(question)
    if asked is None:
        return None
    words = asked[1].split()
    names = [re.escape(word) for word in words]
    initials = "".join(word[0] for word in words if word.lower() not in _SMALL_WORDS).upper()
    found = [" ".join(names)]
    if asked[2]:
        found.append(re.escape(asked[2]))
    if len(initials) > 2:
        found.append(re.escape(initials))
    rival_names = list(others)
    for entry in entries:
        rival_names += entry.names
    kind: QuantityKind = "points" if words[-1].lower() == "score" else "amount"
    found += general.list_names(kind)
    never = re.compile(_NEVER)
    return Quantity(
        kind, _compile(found), _compile_others(rival_names), never, never, None, never, never
    )


def _compile(names: list[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of the names, the longest first."""
    longest_first = sorted(names, key=len, reverse=True)
    alternatives: list[str] = []
    for is_latin, run in itertools.groupby(longest_first, _is_latin):
        alternatives.append(_bound("|".join(map(_compile_name, run)), is_latin=is_latin))
    return re.compile("|".join(alternatives) or _NEVER, re.IGNORECASE)


def _compile_others(names: list[str]) -> _OtherNames:
    """Return the patterns of names by their longest word."""
    patterns: dict[str, list[re.Pattern[str] | CaselessPattern]] = {}
    for name in dict.fromkeys(names):
        if _DRUG not in name:
            patterns.setdefault(_find_longest_word(name), []).append(_compile_other(name))
    return tuple((word, tuple(found)) for word, found in patterns.items())


def _find_longest_word(name: str) -> str:
    """Return the longest word that every form of a name holds, in lower case; "" if there is none."""
    required = [part for part in _PART.findall(name) if _LITERAL.fullmatch(part)]
    return max(required, key=len).lower() if required else ""


@lru_cache(1_000)
def _compile_other(name: str) -> re.Pattern[str] | CaselessPattern:
    pattern = _bound(_compile_name(name), is_latin=_is_latin(name))
    if _WITH_CASE in name:
        return re.compile(pattern, re.IGNORECASE)
    return re.compile(pattern) if _is_abbreviation(name) else compile_caseless(pattern)


def _is_abbreviation(name: str) -> bool:
    """Return whether a name is too short to be found in small letters."""
    return name.isalpha() and name.isupper() and len(name) <= _LONGEST_ABBREVIATION


def _is_latin(name: str) -> bool:
    """Return whether a name is written in a script with spaces between words."""
    return name.isascii() or not re.search("[\u3040-\u9fff\uac00-\ud7af]", name)


def _bound(names: str, *, is_latin: bool) -> str:
    """Return a pattern that finds names at the boundaries of words, if their script has any."""
    return rf"(?<![^\W_])(?:{names})(?![^\W\d_])" if is_latin else f"(?:{names})"


def _compile_name(name: str) -> str:
    """Return the source of a pattern for a name in the notation of quantities.yaml."""
    if _is_abbreviation(name):
        return f"(?-i:{name})"
    pattern = ""
    has_words = False
    for part in _PART.findall(name):
        if part.startswith("["):
            words = f"(?:{part[1:-1].replace(' ', _GAP)})"
            pattern += f"(?:{_GAP}{words})?" if has_words else f"(?:{words}{_GAP})?"
        else:
            pattern += (_GAP if has_words else "") + f"(?:{part})"
            has_words = True
    return pattern


@lru_cache(1)
def _load() -> tuple[tuple[_Entry, ...], tuple[str, ...], _GeneralNames]:
    """Return the quantities of quantities.yaml, the names of others that questions do not ask for, and general names.

    Raises:
        ConfigError: the file is missing or wrong.
    """
    path = Path(__file__).with_name("quantities.yaml")
    data = read_yaml(path, ConfigError)
    shared = data.named_texts("shared")
    entries: list[_Entry] = []
    for item in data.maps("quantities"):
        entries.append(_read_entry(item, shared))
        item.finish()
    others = data.names("others")
    general = _GeneralNames(data.names("scores"), data.names("answers"))
    data.finish()
    if data.problems:
        raise ConfigError(f"{path}: {'; '.join(data.problems)}")
    return tuple(entries), others, general


def _read_entry(item: YamlMap, shared: dict[str, tuple[str, ...]]) -> _Entry:
    kinds: tuple[QuantityKind, ...] = get_args(QuantityKind)
    kind_name = item.choice("kind", kinds)
    like = item.name("like", "")
    return _Entry(
        question=item.names("question"),
        names=(*item.names("names"), *shared.get(like, ())),
        behind=item.names("behind"),
        drug=item.text("drug", ""),
        source=item.text("source", ""),
        kind=next(kind for kind in kinds if kind == kind_name),
        rivals=item.names("rivals"),
        neutral=item.names("neutral"),
        unit=item.text("unit", ""),
        units=item.names("units"),
    )
