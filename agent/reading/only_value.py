"""Find the value of an answer that names no quantity, by the kind of value that its question asks for. Pure.

The only duration in weeks and days is the gestational age. The only value in a unit that nothing else of the
calculation has is its result, or the sum of such values. A list that adds up point by point ends with the total. "None
of the criteria are met" is a count of zero, and "All four criteria are met" of four.
"""

import itertools
import re

from agent.reading.mentions import Mention, Mentions, V
from agent.reading.quantity import Quantity
from agent.reading.sentence_value import SentenceReader, adds_up, are_close

_MIN_LINES = 4  # of a list with a running total
_MAX_LINES = 60
_MAX_TEXT = 20_000  # characters; a longer answer is an endless repetition
_MAX_NONE = 400  # characters of an answer that says "none"

# "HR 97 < 100 -> count = 0", "7. Cerebrovascular disease (10): yes → 82"
_RUNNING = re.compile(
    r"^[^\n]{1,120}?(?:→|=|:)[ ]?(?P<label>[a-z ]{0,20}?)[ =:]{0,3}(?P<value>-?\d{1,3}(?:\.\d)?)(?: points?)?[.;,]?$",
    re.MULTILINE | re.IGNORECASE,
)
_UNCHANGED = re.compile(
    r"\b(?:no|not|none|absent|negative|normal|nein|kein\w*|non|ninguno|ausente|0)\b", re.IGNORECASE
)
_COUNTS = re.compile(r"\b(?:count|total|sum|subtotal|score|points)\s?$", re.IGNORECASE)
_NONE = re.compile(
    r"(?:^|[.:\n] ?)\W{0,3}(?:so |thus |therefore |hence |overall |in total )?,? ?"
    r"(?:the patient (?:meets|has|fulfils|fulfills|satisfies) )?"
    r"(?P<none>none|no|zero)(?: of)?(?: the| these)?(?: (?:four|eight|4|8))?(?: [\w-]{1,12}){0,2} criteria\b"
    r"(?: (?:is|are|was|were|have been|has been)(?: [a-z]{1,10})?)?(?: (?:met|positive|present|fulfilled"
    r"|satisfied))?(?=[.!;,\n]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_ALL_OF_THEM = r"all (?:of the )?(?P<{}>four|eight|4|8)(?: [\w-]{{1,12}}){{0,2}} criteria\b"
# "All four criteria are met.", "The patient meets all four SIRS criteria."
_ALL = re.compile(
    rf"(?<!\bnot )(?<!n't )\b{_ALL_OF_THEM.format('count')} (?:are|were) (?:met|positive|present|fulfilled|satisfied)\b"
    r"|(?:^|[.:\n] ?)\W{0,3}(?:so |thus |therefore |hence |overall )?,? ?(?:the patient|she|he)"
    rf" (?:meets|has met|fulfils|fulfills|satisfies) {_ALL_OF_THEM.format('met')}(?=[.!;,\n]|$)",
    re.IGNORECASE,
)
_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
_COUNT = rf"(?:{'|'.join(_NUMBER_WORDS)}|[0-8])"
_OF_ALL = r"(?: ?/ ?| (?:out )?of (?:the )?)(?:4|8|four|eight)\b"
_MET = r"(?:met|positive|present|fulfilled|satisfied)"
# "Three SIRS criteria are met.", "I make that two SIRS criteria", "Criteria met: 1 of 4", "Three: fever, ..."
_COUNTED = re.compile(
    rf"(?:^|(?<=[.!?] ))(?:(?:so|thus|hence|therefore|overall|in total),? )?(?P<met>{_COUNT})(?:{_OF_ALL})?"
    rf" (?:[\w-]{{1,12}} ){{0,2}}criteria (?:are|were|is|was) {_MET}\b"
    rf"|\bi (?:make|count|get|find)(?: that| it)? (?P<made>{_COUNT}) (?:[\w-]{{1,12}} )?criteria\b"
    rf"|^\W{{0,3}}(?:(?:number of )?criteria (?:met|present|positive)|total(?: (?:met|score))?)[ :=]{{1,6}}"
    rf"(?P<of>{_COUNT}){_OF_ALL}"
    rf"|\A\W{{0,3}}(?P<first>{'|'.join(_NUMBER_WORDS)})(?=: |\.? *\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_COUNTS_OF_ALL = {"four": 4.0, "4": 4.0, "eight": 8.0, "8": 8.0}


def find_only_value(
    text: str, mentions: Mentions[V], sentences: SentenceReader[V], quantity: Quantity
) -> Mention[V] | None:
    """Return the value that can only be the one asked for, or None."""
    if len(text) > _MAX_TEXT:
        return None
    match quantity.kind:
        case "duration":
            return _find_only_duration(text, mentions, sentences)
        case "points":
            return _find_running_total(text, mentions)
        case "criteria":
            total = _find_running_total(text, mentions)
            return total or _find_stated_count(text, mentions) or _find_none_or_all(text, mentions)
        case "amount":
            return _find_only_in_unit(text, mentions, sentences, quantity)
        case "date":
            return None


def _find_only_duration(
    text: str, mentions: Mentions[V], sentences: SentenceReader[V]
) -> Mention[V] | None:
    stated = mentions.list_between(0, len(text))
    if not stated or len({mention.value for mention in stated}) > 1:
        return None
    last = stated[-1]
    is_limited = sentences.is_bound(last) or sentences.is_denied(last)
    return None if is_limited or last.value is None else last


def _find_only_in_unit(
    text: str, mentions: Mentions[V], sentences: SentenceReader[V], quantity: Quantity
) -> Mention[V] | None:
    stated: list[Mention[V]] = []
    for mention in mentions.list_between(0, len(text)):
        if quantity.units.match(text, mention.end) and not sentences.is_bound(mention):
            stated.append(mention)
    if not stated or sentences.is_denied(stated[-1]) or sentences.is_operand(stated[-1]):
        return None
    last = stated[-1]
    others = [other.value for other in stated[:-1]]
    if last.value is None:
        return None
    if adds_up(others, last.value) or all(are_close(last.value, other) for other in others):
        return last
    return None


def _find_running_total(text: str, mentions: Mentions[V]) -> Mention[V] | None:
    """Return the last total of a list in which each line states the total so far."""
    lines = list(_RUNNING.finditer(text))[-_MAX_LINES:]
    if len(lines) < _MIN_LINES:
        return None
    shows_total = False
    for previous, line in itertools.pairwise(lines):
        before, value = float(previous["value"]), float(line["value"])
        words = line[0][: line.start("value") - line.start()]
        if value < before and not re.search(r"-\d", words):
            return None
        if value == before and value > 0 and _UNCHANGED.search(words):
            shows_total = True
        if value > before > 0 and _COUNTS.search(line["label"]):
            shows_total = True
    labels = [line["label"].strip().lower() for line in lines]
    if labels.count("count") >= len(labels) - 1:
        shows_total = True
    stated = mentions.list_between(lines[-1].start("value"), lines[-1].end("value"))
    return stated[-1] if shows_total and stated else None


def _find_stated_count(text: str, mentions: Mentions[V]) -> Mention[V] | None:
    """Return the count that one or more sentences state in the same words as the question; None if they differ."""
    counts: list[Mention[V]] = []
    for match in _COUNTED.finditer(text):
        words = match[match.lastgroup or 0].lower()
        value = _NUMBER_WORDS.index(words) if words in _NUMBER_WORDS else int(words)
        count = mentions.make_number(float(value), *match.span(match.lastgroup or 0))
        if count:
            counts.append(count)
    return counts[-1] if len({count.value for count in counts}) == 1 else None


def _find_none_or_all(text: str, mentions: Mentions[V]) -> Mention[V] | None:
    if len(text) > _MAX_NONE:
        return None
    all_met = _ALL.search(text)
    if all_met:
        group = "count" if all_met["count"] else "met"
        count = _COUNTS_OF_ALL[all_met[group].lower()]
        return mentions.make_number(count, *all_met.span(group))
    match = _NONE.search(text)
    if match is None or re.search(r"[1-9]", text):
        return None
    return mentions.make_number(0.0, *match.span("none"))
