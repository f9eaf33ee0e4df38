"""Grow detections over the words beside them that belong to the same identifier.

Rules and models often find the part of a name that nothing else can be, and leave the rest: "[NAME], F", "[LOCATION]
Gap", "sat [DATE]". Here a detection grows over its neighbours if these can be nothing but its other parts.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache

import regex

from agent.redaction.rules.en.vocabulary import is_unlisted
from agent.redaction.rules.word_lists import compile_pattern, read_words
from agent.redaction.spans.span import Span

_NUMBERS = frozenset(
    {"MRN", "PLAN", "ACCOUNT", "ENCOUNTER", "LICENSE", "VEHICLE", "DEVICE", "SSN", "ID"}
)
_PLACES = frozenset({"LOCATION", "FACILITY", "ORGANIZATION"})
_REACH = 40  # characters examined on each side

_WEEKDAY_BEFORE = compile_pattern(
    r"(?i)(?<![\p{L}\d])(?:\L<weekdays>|\L<weekdays_in_short>)s?\.?,? {1,2}(?:the )?$", "en"
)
_PART_OF_MONTH_BEFORE = regex.compile(r"(?i)(?<![\p{L}\d])(?:mid|early|late)[ -]$")
_NUMERIC = regex.compile(r"\d{1,2}[/.-]\d")
_EXTENSION_BEFORE = regex.compile(r"(?i)(?<![\p{L}\d])(?:ext?n?\.?|x) ?$")
_GROUP_BEFORE = regex.compile(r"(?<![\w./,-])(?:\d{1,6}/|(?:\d{3,6} ){1,3})$")
# "tracking RR 771 203 918", "hosp no rx 33 09 82": letters between the word for a number and its digits.
_LETTERS_BEFORE = regex.compile(
    r"(?i)(?:#|(?<!\p{L})(?:no\.?|num(?:ber)?|id|serial|tracking|ref(?:erence)?|chart|card|code|case|file|session)"
    r"[:#]? ?)(?<!\p{L})(?!(?:MRN|NHS|NHI|NPI|DEA|SSN|DOB|TEL|FAX)\b)((?-i:[A-Z]{2,5})|[b-df-hj-np-tv-z]{2,4})[ -]$"
)
_REST_AFTER = regex.compile(r"_\w{1,20}")

_INITIAL_AFTER = regex.compile(
    r"(?:, ?|(?<=\p{L}, ?\p{L}{2,20}) )\p{Lu}\.?(?=$|[;)\n]| {2}| \d)|(?<=[\p{Lu}])(?: {1,2})\p{Lu}(?= {2}|\n|$)"
)
_GIVEN_AFTER = regex.compile(r",\p{Lu}[\p{Lu}-]{1,20}(?![\p{L}\d])")
# "TUHIWAI, Mere A": an initial follows, and then nothing of a sentence.
_GIVEN_AND_INITIAL_AFTER = regex.compile(
    r", ?(?!(?:Stage|Grade|Type|Class|Group|Hepatitis|Vitamin|Influenza)\b)\p{Lu}\p{Ll}{1,14} \p{Lu}\.?"
    r"(?=$|[;,)\n]| {2})"
)
_CAPITALS_BEFORE = regex.compile(r"(?<![\p{L}\d-])(\p{Lu}{3,20})(?: {2,3}|, ?)$")
_SURNAME_AFTER = regex.compile(r"[)\"”’'] (\p{Lu}\p{Ll}{3,20})(?![\p{L}\d])(?!['’]s? )")
_SECOND_IN_BRACKETS = regex.compile(r" \p{Lu}\p{Ll}{2,20}(?=\))")  # "(David Child)"
_DEGREE_AFTER = compile_pattern(r",? (?:BSN|CNM|MSN|DVM|RMN|FNP|MBBS|FRCP|FRCS)(?![\p{L}\d])", "en")

_TITLE_AFTER = regex.compile(r" (\p{Lu}[\p{L}]{0,15}(?:['’]s)?)(?![\p{L}\d])")
_SMALL_AFTER = regex.compile(r" (\p{Ll}{2,15})(?![\p{L}\d'’-])")
_MOST_WORDS = 3  # by which a place grows
_NOT_GROWN = regex.compile(r"\d|\b(?:ed|er|icu|or|ward|unit|floor|bed|room|rm)\b", regex.IGNORECASE)

_CUE_BEFORE = regex.compile(
    r"(?i)(?<!\p{L})(?:at|from|to|via|with|w/|of|under|near|behind|outside|in|the|by) (?:the )?$"
)

_Grow = Callable[[str, int, int], tuple[int, int]]


def grow_spans(spans: Iterable[Span], text: str) -> list[Span]:
    """Return the spans, in order and without overlaps, each grown over the words that belong to it."""
    grown: list[Span] = []
    for span, limit in _pair_with_next(list(spans), len(text)):
        first = grown[-1].end if grown else 0
        start, end = span.start, span.end
        for grow in _choose_rules(span.entity):
            start, end = grow(text, start, end)
        start, end = max(start, first), min(end, limit)
        grown.append(Span(start, start + len(text[start:end].rstrip()), span.entity))
    return grown


def _pair_with_next(spans: list[Span], length: int) -> Iterator[tuple[Span, int]]:
    """Yield each span with the position up to which it may grow."""
    for index, span in enumerate(spans):
        yield span, spans[index + 1].start if index + 1 < len(spans) else length


def _choose_rules(entity: str) -> tuple[_Grow, ...]:
    if entity == "DATE":
        return (_add_weekday,)
    if entity == "PHONE":
        return (_add_extension_label,)
    if entity in _NUMBERS:
        return (_add_extension_label, _add_groups)
    if entity == "NAME":
        return (_add_parts_of_name, _add_words_of_named_place)
    return (_add_words_of_place,) if entity in _PLACES else ()


def _add_weekday(text: str, start: int, end: int) -> tuple[int, int]:
    for pattern in (_PART_OF_MONTH_BEFORE, _WEEKDAY_BEFORE):
        before = pattern.search(text, max(0, start - _REACH), start)
        if before is not None:
            start = before.start()
    return start, end


def _add_extension_label(text: str, start: int, end: int) -> tuple[int, int]:
    if not text[start].isdigit():
        return start, end
    before = _EXTENSION_BEFORE.search(text, max(0, start - _REACH), start)
    return (before.start() if before else start), end


def _add_groups(text: str, start: int, end: int) -> tuple[int, int]:
    """Grow over the groups of digits and letters before a number, and over the rest of a code after an underscore."""
    if text[start].isdigit() or text[max(0, start - 1) : start] == "/":
        before = _GROUP_BEFORE.search(text, max(0, start - _REACH), start)
        if before is not None:
            start = before.start()
        letters = _LETTERS_BEFORE.search(text, max(0, start - _REACH), start)
        if letters is not None:
            start = letters.start(1)
    after = _REST_AFTER.match(text, end)
    return start, after.end() if after else end


def _add_parts_of_name(text: str, start: int, end: int) -> tuple[int, int]:
    value = text[start:end]
    before = _CAPITALS_BEFORE.search(text, max(0, start - _REACH), start)
    if before is not None and value.isupper() and _is_unlisted(before.group(1)):
        start = before.start(1)
    for pattern in (_INITIAL_AFTER, _DEGREE_AFTER):
        after = pattern.match(text, end)
        if after is not None:
            end = after.end()
    if value.isupper():
        for pattern in (_GIVEN_AFTER, _GIVEN_AND_INITIAL_AFTER):
            given = pattern.match(text, end)
            end = given.end() if given else end
    surname = _SURNAME_AFTER.match(text, end)
    if surname is not None and _is_unlisted(surname.group(1)):
        end = surname.end()
    second = _SECOND_IN_BRACKETS.match(text, end)
    if second is not None and value.isalpha() and text[max(0, start - 1) : start] == "(":
        end = second.end()
    rest = _REST_AFTER.match(text, end)
    return start, rest.end() if rest else end


def _add_words_of_named_place(text: str, start: int, end: int) -> tuple[int, int]:
    """Grow a name as that of a place if it has capitals, or a preposition precedes it: "at casa verde linens"."""
    is_small = text[start:end].islower()
    if is_small and _CUE_BEFORE.search(text, max(0, start - _REACH), start) is None:
        return start, end
    return _add_words_of_place(text, start, end)


def _add_words_of_place(text: str, start: int, end: int) -> tuple[int, int]:
    """Grow a place or an organisation over the words that continue its name, in the case in which it is written."""
    value = text[start:end]
    if not value[-1:].isalpha() or _NOT_GROWN.search(value):
        return start, end
    pattern = _SMALL_AFTER if value.islower() else _TITLE_AFTER
    for _ in range(_MOST_WORDS):
        following = pattern.match(text, end)
        if following is None or following.group(1).lower().replace("’", "'") not in _read_ends():
            break
        end = following.end()
    return start, end


def _is_unlisted(word: str) -> bool:
    return is_unlisted(word.lower())


@cache
def _read_ends() -> frozenset[str]:
    return read_words("en", "ends_of_names")
