"""Detect people's names in Spanish text by titles, cues, and lists of common names."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.beginnings import read_first_words
from agent.redaction.rules.es.patterns import STOP
from agent.redaction.rules.es.unknown import safe_words
from agent.redaction.rules.es.word_lists import people, words
from agent.redaction.rules.rulebook import Judge, Place
from agent.redaction.rules.word_lists import compile_pattern

Span = tuple[int, int]

_WORD = r"(?:(?:Ma|Fco|Jse|Gpe)\.|\p{Lu}[\p{L}\p{M}]*(?:['´’-]\p{L}[\p{L}\p{M}]*)*|\p{Lu}\.(?:ª|[ao]\b)?|M\.?ª)"
_LINK = r"(?:de(?: los?| las?| la)?|del|y|e|i|da|do|dos|van|von|der|den|la|(?:vda|viuda)\.? de)"
_RUN = rf"{STOP}{_WORD}(?:[ ]{{1,2}}(?:{_LINK} ){{0,2}}{STOP}{_WORD}){{0,6}}"
_TITLED = compile_pattern(
    r"(?:(?i:dres|dras|dr|dra|sres|sr|sra|srta|prof|profa|lic|enf|dña|dn|fdo|firmado|d\.ª)\b"
    r" ?[.:]{0,2}|D\.|(?:Dª|Dña)(?!\p{L})\.?|D\.ª"
    r"|(?i:don|doña|doctora?|profesora?|señora?|señorita)(?![\p{L}])) ?"
    rf"(?:(?i:dr|dra|d|dª|dña|don|doña)\.? )?(?P<name>{_RUN})(?:(?:, ?| y )(?:(?i:dra?s?)\. ?)?(?:{_RUN})){{0,5}}",
    "es",
)
_CUED = compile_pattern(
    r"(?i)(?:paciente|madre|padres?|hij[oa]|herman[oa]|espos[oa]|marido|mujer|pareja|atte\.?|atentamente"
    rf"|responsable(?: cl[íi]nico)?|autora?|hola|estimad[oa]|querid[oa])[,:]? {{1,2}}(?P<name>(?-i:{_RUN}))",
    "es",
)
# After one of these expressions, a given name is a name even if it is an everyday word, too: "acude Rosa".
_ACTING = compile_pattern(
    r"(?i)(?:acud(?:e|ió)|ingres(?:a|ó)|habl(?:o|a|é|ó|ado) con|avis(?:o|ar|ado) a|llam(?:o|ar|ado) a)"
    rf" {{1,2}}(?P<name>(?-i:{_RUN}))",
    "es",
)
# "Rosa, 45 años"
_AGE_AFTER = regex.compile(r", ?(?:de )?\d{1,3} (?i:años|meses|días)(?!\p{L})")
# The text after one of these expressions is a name, even if no list contains it.
_NAMED = compile_pattern(
    r"(?i)(?:(?:(?<=\bse )llama|(?<=\bme )llamo|llamad[oa]|(?<=\bde )nombre)(?!\p{L})|(?<=\b(?:mi|su|el) )nombre es"
    r"|firmad[oa] por|(?:remitid|derivad)[oa] por(?: (?:el|la))?|acompañad[oa] (?:por|de) (?:su \w{1,20},? )?)"
    rf"[,:]? {{0,2}}(?P<name>(?-i:{_RUN}))",
    "es",
)
_PLAIN = compile_pattern(rf"(?<![\p{{L}}\d_'-]){_RUN}(?![\p{{L}}\d_])", "es")
_TOKEN = regex.compile(r"[\p{L}\p{M}]+(?:['´’-][\p{L}\p{M}]+)*\.?ª?")
_CAPITALISED = re.compile(r"[^\W\d_a-zß-öø-ÿ][^\W\d_]+")
_BOUNDS = "\n,;:("  # a name does not continue after one of these
_FURTHEST = 400  # maximum characters of the text searched around a listed name
_LOWER_WORD = re.compile(r"(?<![\w-])[a-záéíóúüñçàèò]{2,}(?![\w-])")
_LETTERS = re.compile(r"[^\W\d_]+")
# Abbreviated given names that precede other names.
_SHORTENED = frozenset(["ma", "m", "fco", "j", "jse", "gpe"])
_SMALL = frozenset(
    [
        "de",
        "del",
        "la",
        "las",
        "los",
        "lo",
        "y",
        "e",
        "i",
        "da",
        "do",
        "dos",
        "van",
        "von",
        "der",
        "den",
    ]
)
# After one of these expressions, a name is an eponym: "enfermedad de", "signo de", "test de", "síndrome de".
_EPONYM_BEFORE = compile_pattern(
    r"(?i)\b(?:\L<eponyms>|\L<eponyms_before_whole_names>)"
    r"(?: (?-i:\p{Ll}+ ){0,2})?(?:de |del |de la |tipo |según )?(?:la |los |el )?$",
    "es",
)
_NOT_AFTER = regex.compile(r"^ ?(?:et al|y cols|y col\b|®|™|-?\d)")


def _judge_title(text: str, place: int) -> Place | None:
    match = _TITLED.match(text, place)
    if match is None:
        return None
    # "D." may also be a vitamin or a dimension.
    if match.group().startswith("D.") and not _find_listed_name(
        text, *match.span("name"), cued=True
    ):
        return None
    return Place(*match.span())


def _judge_cue(text: str, place: int) -> Place | None:
    match = _CUED.match(text, place)
    span = match and _find_listed_name(text, *match.span("name"), cued=True)
    return Place(*span) if span else None


def _judge_acting(text: str, place: int) -> Place | None:
    match = _ACTING.match(text, place)
    if match is None:
        return None
    tokens = _read_tokens(text, *match.span("name"))
    if not tokens or tokens[0].word not in words("given_names"):
        return None
    return Place(tokens[0].start, _find_end(tokens))


def _judge_naming(text: str, place: int) -> Place | None:
    match = _NAMED.match(text, place)
    if (
        match is None
        or match["name"].casefold() in words("everyday_words")
        or len(match["name"]) <= len("Al")
    ):
        return None
    return Place(*match.span("name"))


_IN_SMALL = compile_pattern(
    r"(?i)(?:doctora?|dra?\.?|señora?|sr(?:t?a)?\.?|don|doña|me llamo|se llama|soy|habla|llamad[oa]|paciente"
    r"|(?<=\b(?:mi|su) )(?:hij[oa]|espos[oa]|marido|mujer|madre|padre|herman[oa]))"
    r" (?P<name>\p{Ll}{3,20})(?P<more>(?: (?:de |del |de la )?\p{Ll}{3,20}){0,3})",
    "es",
)
_TITLES_IN_SMALL = frozenset(
    ["doctor", "doctora", "dr", "dra", "señor", "señora", "sr", "sra", "srta", "don", "doña"]
)
_MAX_FAMILY_NAMES = 2


def _judge_in_small_letters(text: str, place: int) -> Place | None:
    """Return the position of a name in lower case after a title or a cue: "la doctora lidia pumarejo refiere".

    The name begins with a listed given name or, after a title, with an unlisted word. It continues through words that
    are not in a list of ordinary words.
    """
    match = _IN_SMALL.match(text, place)
    if match is None:
        return None
    first, ordinary = match["name"], _read_ordinary_words()
    title = match.group().split()[0].rstrip(".").lower() in _TITLES_IN_SMALL
    if first in ordinary or first in people() or not (title or first in words("given_names")):
        return None
    end, taken = match.end("name"), 0
    for more in _LETTERS.finditer(text, match.start("more"), match.end("more")):
        if more.group() in _SMALL:
            continue
        if taken == _MAX_FAMILY_NAMES or (
            more.group() in ordinary and more.group() not in words("surnames")
        ):
            break
        end, taken = more.end(), taken + 1
    return Place(match.start("name"), end)


# Words that precede a name, and the function that decides whether a name follows.
JUDGED: tuple[tuple[frozenset[str], Judge], ...] = (
    (read_first_words(_TITLED.pattern), _judge_title),
    (read_first_words(_CUED.pattern), _judge_cue),
    (read_first_words(_ACTING.pattern), _judge_acting),
    (read_first_words(_NAMED.pattern), _judge_naming),
    (read_first_words(_IN_SMALL.pattern), _judge_in_small_letters),
)


def find_names(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield listed names in folded text, as (entity, start, end), which may overlap.

    Raises:
        TimeoutError: the deadline passed.
    """
    for start, end in _find_in_lower_case(text):
        yield "NAME", start, end
    for first, last in _find_surroundings(text):
        for match in _PLAIN.finditer(text, first, last, timeout=deadline.left()):
            if span := _find_listed_name(text, *match.span(), cued=False):
                yield "NAME", *span


def _find_surroundings(text: str) -> Iterator[Span]:
    """Yield the ranges of a text around capitalised words that are in a list of names."""
    listed = _read_parts_of_names()
    end = 0
    for word in _CAPITALISED.finditer(text):
        if word.start() < end or word.group().lower() not in listed:
            continue
        start = max(end, word.start() - _FURTHEST)
        for bound in _BOUNDS:
            start = max(start, text.rfind(bound, start, word.start()) + 1)
        end = min(len(text), word.end() + _FURTHEST)
        for bound in _BOUNDS:
            before_bound = text.find(bound, word.end(), end)
            end = before_bound if before_bound >= 0 else end
        yield start, end


@cache
def _read_parts_of_names() -> frozenset[str]:
    """Return the words of listed names, except for family names that are everyday words."""
    listed = words("given_names") | (words("surnames") - words("everyday_words"))
    return frozenset(part for name in listed for part in _LETTERS.findall(name))


@cache
def _read_ordinary_words() -> frozenset[str]:
    return words("everyday_words") | safe_words()


@cache
def _read_rare_given_names() -> frozenset[str]:
    """Return the given names that are not everyday words."""
    return words("given_names") - words("everyday_words")


def _find_in_lower_case(text: str) -> Iterator[Span]:
    """Yield names in lower case: a listed given name and family name, neither of which is an everyday word."""
    given, family, everyday = words("given_names"), words("surnames"), words("everyday_words")
    if _read_rare_given_names().isdisjoint(_LOWER_WORD.findall(text)):
        return
    begun: tuple[int, int] | None = None  # the name so far
    for word in _LOWER_WORD.finditer(text):
        listed = word.group()
        goes_on = begun is not None and text[begun[1] : word.start()] in (
            " ",
            " de ",
            " del ",
            " de la ",
        )
        if begun is not None and goes_on and listed in family and listed not in everyday:
            begun = (begun[0], word.end())
            yield begun
        elif listed in given and listed not in everyday:
            begun = word.span()
        elif listed not in _SMALL:
            begun = None


class _Token(NamedTuple):
    """A word of a run, in lower case, and its position."""

    word: str
    start: int
    end: int


def _find_listed_name(text: str, start: int, end: int, *, cued: bool) -> Span | None:
    """Return the part of a run of capitalised words that is a name according to the lists, or None."""
    tokens = _read_tokens(text, start, end)
    for index, token in enumerate(tokens):
        if not _may_begin_name(token.word, cued=cued):
            continue
        has_age = _AGE_AFTER.match(text, token.end) is not None
        is_sure = has_age or token.word not in words("everyday_words")
        is_paired = _is_paired(tokens[index : index + 2], is_sure=is_sure)
        is_alone = is_sure and index == 0 and _is_one_given_name(text, tokens)
        if not ((cued and is_sure) or is_paired or is_alone):
            continue
        is_person = is_paired and token.word in words(
            "given_names"
        )  # "test de Coombs de Ana Gil": not an eponym
        if not is_person and _EPONYM_BEFORE.search(text, max(0, token.start - 60), token.start):
            return None
        if _NOT_AFTER.match(text[token.end : token.end + 8]):
            return None
        first = token
        if index and tokens[index - 1].word in _SHORTENED:  # "Ma. Guadalupe"
            first = tokens[index - 1]
        return first.start, _find_end(tokens[index : index + 5])
    return None


def _read_tokens(text: str, start: int, end: int) -> list[_Token]:
    """Return the words of a run without "de", "la" and the like."""
    tokens = []
    for match in _TOKEN.finditer(text, start, end):
        word = match.group().rstrip(".ª").casefold()
        if word not in _SMALL:
            tokens.append(_Token(word, match.start(), match.end()))
    return tokens


def _may_begin_name(word: str, *, cued: bool) -> bool:
    """Return whether a word, or its first half, is a listed name. An initial can begin a name only after a cue."""
    if len(word) < len("Al") and not cued:
        return False
    if word in words("given_names") or (
        "-" in word and word.split("-", maxsplit=1)[0] in words("given_names")
    ):
        return True
    return word in words("surnames") and word not in words("everyday_words")


def _is_paired(tokens: list[_Token], *, is_sure: bool) -> bool:
    """Return whether a second word of a name follows, which must be listed if the first is an everyday word."""
    if len(tokens) == 1 or not _goes_on(tokens[1].word):
        return False
    return is_sure or tokens[1].word in words("surnames") or tokens[1].word in words("given_names")


def _is_one_given_name(text: str, tokens: list[_Token]) -> bool:
    """Return whether a run is a single given name that is not written in capitals."""
    word, start, end = tokens[0]
    return (
        len(tokens) == 1
        and word in words("given_names")
        and len(word) > 3
        and not text[start:end].isupper()
    )


def _find_end(tokens: list[_Token]) -> int:
    """Return the end of the name that begins with the first of `tokens`."""
    end = tokens[0].end
    for token in tokens[1:]:
        if not _goes_on(token.word):
            break
        end = token.end
    return end


def _goes_on(word: str) -> bool:
    """Return whether a name can continue with a word: a listed name, an initial, or any word but an everyday one."""
    if word in words("surnames") or word in words("given_names") or len(word) == 1:
        return True
    return len(word) > 1 and word not in words("everyday_words")
