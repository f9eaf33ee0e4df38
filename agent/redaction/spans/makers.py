"""Names of makers of devices, analysers, dressings and drugs, and of their products: "Roche cobas 8000".

A name that is also a person's or an ordinary word ("Cook", "Zimmer") counts only beside another maker or product, or
before a device. Where somebody works identifies, so that a maker after a word for work is kept.
"""

from functools import cache

import regex

from agent.redaction.rules.en.names import is_introduced, words
from agent.redaction.rules.en.unknown import is_safe
from agent.redaction.rules.word_lists import compile_pattern, read_entries
from agent.redaction.spans.eponyms import has_term, is_said_of_person
from agent.redaction.spans.span import Span

_WORD = regex.compile(r"[\p{L}\p{M}\d&]+(?:[-.][\p{L}\p{M}\d&]+)*")
_MODEL = regex.compile(r"(?=[A-Z]*\d)[A-Z]{0,4}-?\d{1,5}[A-Za-z]{0,2}|[IVX]{1,4}|[A-Z]{1,4}")
_MODEL_NUMBER = regex.compile(r"[A-Z]{0,4}-?\d{1,4}[A-Za-z]{0,2}|[A-Z]")
_LINKS = frozenset({"and", "or", "by", "from"})
_OF_WORK = compile_pattern(
    r"(?i)(?<!\p{L})(?:works?|worked|working|employed|employee|employer|job|retired|retd|shifts?|hired|laid off|fired"
    r"|driver|engineer|foreman|fitter|clerk|manager|career|yrs|years|occupation|occ|team leader)"
    r"(?: (?:for|at|by|of|from|with|@|in))?(?: the)?[ :@]{1,3}$",
    "en",
)
_WORKER_AFTER = regex.compile(
    r"(?i)[’']?s? (?:employee|engineer|worker|factory|plant|warehouse|staff|site"
    r"|rep(?:resentative)?s?|driver|pension|depot)(?!\p{L})"
)
_NEXT = regex.compile(r"(?:,? (?:and |or )?| ?/ ?|-)([\p{L}\d&]+(?:-[\p{L}\d&]+)?)")
_LAST = regex.compile(r"([\p{L}\d&]+(?:-[\p{L}\d&]+)?)(?:,? (?:and |or )?| ?/ ?|-)$")
_WORD_BEFORE = regex.compile(r"([\p{L}\d&]{1,20})[ -]$")
_REACH = 60  # characters examined on each side
_MOST_WORDS = 8


def is_maker(span: Span, text: str) -> bool:
    """Return whether a detection is the name of a maker or a product, and nobody works there."""
    value = text[span.start : span.end]
    found = _WORD.findall(value)
    if not 0 < len(found) <= _MOST_WORDS:
        return False
    sure, doubtful = _count(found)
    sure += "".join(found).lower() in _list_sure()  # "Flo Trac", as a view of "FloTrac" reads
    if sure + doubtful == 0 and not _is_half_of_maker(text, span):
        return False
    sure += sure + doubtful == 0
    before = text[max(0, span.start - _REACH) : span.start]
    if _OF_WORK.search(before) or _WORKER_AFTER.match(text, span.end):
        return False
    if is_introduced(text, span.start):
        return False
    if sure > 0 or doubtful > 1:
        return True
    if is_said_of_person(text, span):
        return False
    return has_term(text, span) or _is_beside_maker(text, span)


def _count(found: list[str]) -> tuple[int, int]:
    """Return how many of the words are sure names of makers or products, and how many doubtful; or none at all.

    A word that is neither, and no model ("8000", "XN", "IV"), may be a person's name.
    """
    sure = doubtful = place = 0
    while place < len(found):
        pair = "-".join(found[place : place + 2]).lower()
        word = found[place].lower()
        if pair in _list_sure() and place + 1 < len(found):
            sure += 1
            place += 2
            continue
        if word in _list_sure() or word in words("drug_brands"):
            sure += 1
        elif word in _list_doubtful():
            doubtful += 1
        elif not (word in _LINKS or (place and _is_model(found[place], has_product=sure > 0))):
            return 0, 0
        place += 1
    return sure, doubtful


def _is_model(word: str, *, has_product: bool) -> bool:
    """Return whether a word behind another is a model ("8000", "IV") or, behind a product, a plain word ("Border")."""
    if _MODEL.fullmatch(word) is not None:
        return True
    lower = word.lower()
    is_name = lower in words("given_names") or lower in words("surnames")
    return has_product and not is_name and is_safe(word)


def _is_half_of_maker(text: str, span: Span) -> bool:
    """Return whether a detection is one word of a maker of two: "[Boston] Scientific"."""
    value = text[span.start : span.end].strip(" ,.;:()").lower()
    following = _WORD.match(text, span.end + 1)
    preceding = _WORD_BEFORE.search(text, max(0, span.start - _REACH), span.start)
    return (following is not None and f"{value}-{following.group().lower()}" in _list_sure()) or (
        preceding is not None and f"{preceding.group(1).lower()}-{value}" in _list_sure()
    )


def _is_beside_maker(text: str, span: Span) -> bool:
    """Return whether a maker or product stands directly before or after, as in a list."""
    following = _NEXT.match(text, span.end)
    preceding = _LAST.search(text, max(0, span.start - _REACH), span.start)
    beside = [match.group(1).lower() for match in (following, preceding) if match is not None]
    return any(word in _list_sure() or word in _list_doubtful() for word in beside)


def is_model_of_maker(text: str, start: int, end: int) -> bool:
    """Return whether a maker or product stands before the number of a model: "Sysmex XN-9000"."""
    maker = _WORD_BEFORE.search(text, max(0, start - _REACH), start)
    if maker is None or _MODEL_NUMBER.fullmatch(text, start, end) is None:
        return False
    return is_listed_maker(maker.group(1))


def is_sure_maker(word: str) -> bool:
    """Return whether a word is the name of a maker or product and nothing else."""
    return word.lower() in _list_sure()


def is_listed_maker(word: str) -> bool:
    """Return whether a word is the name of a maker or product, whatever else it means."""
    return word.lower() in _list_sure() or word.lower() in _list_doubtful()


@cache
def _list_sure() -> frozenset[str]:
    return frozenset(read_entries("en", "makers"))


@cache
def _list_doubtful() -> frozenset[str]:
    return frozenset(read_entries("en", "makers_in_context"))
