"""Find every number, date or duration that a plain text mentions, with its place. Pure.

Digits that are not values are passed over: those of units ("mL/min/1.73 m2", "10^9/L", "kg/m2", "H2O"), of names
("CURB-65", "FIB-4", "2021 CKD-EPI"), of a scale's maximum ("7 out of 10", "7/10 points"), of ages ("87 years old"),
spans of time before a noun ("10-year risk") and the numbers of steps and list items.
"""

import bisect
import datetime
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from agent.reading.caseless import CaselessPattern, compile_caseless

V = TypeVar("V", bound=float | datetime.date)


@dataclass(frozen=True, slots=True)
class Mention(Generic[V]):
    """A value in a plain text, from `start` to `end`. None as a value: a value of the kind that cannot be read."""

    value: V | None
    start: int
    end: int


class Mentions(Generic[V]):
    """The mentions of a plain text, found when a span of the text is asked for, a line at a time.

    Most answers of many lines state their value in the last ones, so most lines are never searched.
    """

    def __init__(
        self,
        text: str,
        find_in_line: Callable[[int, int], list[Mention[V]]],
        only: Mention[V] | None = None,
        from_number: Callable[[float], V] | None = None,
    ) -> None:
        self.only = only
        """The mention, if the text is one and nothing else but its unit or "The answer is"."""
        self._text = text
        self._find_in_line = find_in_line
        self._from_number = from_number
        self._lines: dict[int, tuple[list[Mention[V]], list[int]]] = {}

    def make_number(self, value: float, start: int, end: int) -> Mention[V] | None:
        """Return a mention of a number that is not written in digits; None if the values are not numbers."""
        if self._from_number is None:
            return None
        return Mention(self._from_number(value), start, end)

    def list_between(self, start: int, end: int) -> list[Mention[V]]:
        """Return the mentions that begin between two positions."""
        found: list[Mention[V]] = []
        line_start = self._text.rfind("\n", 0, start) + 1
        while line_start < end:
            line_end = self._text.find("\n", line_start)
            line_end = len(self._text) if line_end < 0 else line_end
            if line_start not in self._lines:
                mentions = self._find_in_line(line_start, line_end)
                self._lines[line_start] = mentions, [mention.start for mention in mentions]
            mentions, starts = self._lines[line_start]
            if mentions:
                first = bisect.bisect_left(starts, start)
                found += mentions[first : bisect.bisect_left(starts, end)]
            line_start = line_end + 1
        return found


def _list_found(text: str, found: list[Mention[V]]) -> Mentions[V]:
    """Return mentions that are all found already."""
    starts = [mention.start for mention in found]

    def find_in_line(start: int, end: int) -> list[Mention[V]]:
        return found[bisect.bisect_left(starts, start) : bisect.bisect_right(starts, end)]

    return Mentions(text, find_in_line)


# Lengths are bounded and no match begins inside a number, so that hostile text takes no longer than any other text.
# "7/10" is a score, but "1/2" and "3/4" may be fractions unless the text mentions points.
_OF_MAXIMUM = re.compile(
    r"(?<![\d.])(\d{1,9}(?:\.\d{1,9})?)(?: ?points?| ?pts)?"
    r"((?: ?/ ?| out of (?:a )?(?:(?:possible|maximum|max|total) (?:of )?)?| of (?:a )?(?:possible"
    r"|maximum) (?:of )?)"
    r"(?:(\d{1,9}(?:\.\d)?)(?= ?-?(?:points?|pts|(?:[A-Za-z]{2,12} )?criteria)\b)"
    r"|(?<=[oe] of )(\d{1,9})\b|(?<=t of )(\d{1,9})\b(?!\.\d)"
    r"|([5-9]|\d{2,9}(?:\.\d)?|(?:(?<=[A-Zes] \d/)|(?<=[A-Za-z]: \d/))[34])(?= ?(?:$|[✔✓✅✗✘❌]|[,.;)(] ?(?:$"
    r"|[^\d\s]|\s)))))",
    re.IGNORECASE | re.MULTILINE,
)
# Digits that stand behind these words and signs are no value: m^2, CURB-65, Step 1, mg per 100 mL.
_NAMED_BEFORE = re.compile(
    r"(?:\^|\*\*) ?[{(]?$|\b(?!(?:BE|AG|DG|IS)-)[A-Z][A-Za-z]{1,9}-$|\bCKD-EPI \(?$|[\w.,)] ?\[$",
)
_SPACED_NAMES = (
    "^ ",
    "* ",
    "I ",
    "[ ",
)  # the ends of what the pattern above matches before a space
_NUMBERED_BEFORE = compile_caseless(
    r"\b(?:steps?|criteri(?:on|a)|equation|type|class|stage|grade|factor|part|item|option|day"
    r"|table|phase|tier|NYHA|ASA"
    r"|KDIGO|category|rule)[ -]#?$",
)
_NUMBERED_BEHIND = re.compile(r"(?:-\d)?[ab]?\b(?![.,]\d)(?! ?(?:points?|=))", re.IGNORECASE)
_UNIT_BEFORE = re.compile(r"[A-Za-z](?: ?/ ?| per )$")
_UNIT_BEHIND = re.compile(r" ?[A-Za-zµ]")
_WITHIN_BEFORE = re.compile(
    r"\b(?:over|within|in|at|for|next|past|last|per|every) (?:the )?(?:next |past |last )?$",
    re.IGNORECASE,
)
_TIME_BEHIND = re.compile(
    r"[ -]?(?:years?|months?|hours?|hrs?|h|minutes?|days?|weeks?)\b", re.IGNORECASE
)
_NAMED_BEHIND = re.compile(
    r"-(?:years?|months?|weeks?|days?|hours?|hrs?|h|minutes?|points?|items?|steps?|tiers?|levels?|class|factor"
    r"|variable)\b(?![- ]?\d)"
    r"|[- ]?(?:years?[- ]old|y/?o)\b|(?:st|nd|rd|th)\b|[ -](?:decimals?|d\.?p|significant|sig)\b",
    re.IGNORECASE,
)
_YEAR_BEHIND = re.compile(
    r" (?:CKD|MDRD|race|equation|formula|version|guideline|criteria|update|KDIGO)", re.IGNORECASE
)
_STATES_BEFORE = re.compile(r"(?:[=≈~:]|\bis|\bof) ?$")
_BODY_SURFACE = re.compile(r" ?m(?:eters?|\w{0,2})?(?![a-z])| square", re.IGNORECASE)
_MINUS_BEFORE = re.compile(
    r"(?:(?:\b(?:is|of|at|out)|[:=→(]|(?<!\d),) ?|^|\n)(?:minus|negative) $", re.IGNORECASE
)
_REACH_OF_WORDS = 400  # characters at the end of a text in which a number may be a word
_REACH = 24  # characters before a number that may show that it is none
_LIST_MARK = re.compile(r"^(?:\(?(\d{1,2})[.)]|[-+•◦▪*])(?= \S)", re.MULTILINE)
# "1) age, 2) fever": the items of a list within a line
_ITEM_IN_LINE = re.compile(r"(?<![^\s:;,])(\d{1,2})\) (?=[^\W\d_])(?![x×] )")
_LONGEST_UNIT = 24
# "18-22 mg", but not the subtraction in "20-5=15".
_RANGE_END = re.compile(r"(?! ?[-+*/×÷^=≈(])")
_RANGE_GAP = re.compile(
    r"(?: ?%| ?[A-Za-zµ][^\s\d=]{0,15})? (?:to|through|and up to|up to) (?:about )?"
)
_COEFFICIENT = r"(?:(?P<coefficient>[-+]?\d[\d,]{0,20}(?:\.\d{1,20})?) ?(?:×|x|\*|·) ?)?"
_POWER = rf"{_COEFFICIENT}(?<!\d)10 ?(?:\^|\*\*) ?[{{(]? ?(?P<exponent>[-+]?\d{{1,3}})(?: ?[}})])?"
_PLAIN = (
    r"(?:\d{1,3}(?:,\d{3}){1,6}(?![\d,])|(?P<whole>\d+),(?P<decimals>\d{1,2}|\d{4,15})(?![\d,.])"
    r"|0,\d{1,15}(?![\d,.])|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\.?\d)"
)
_LETTER = "A-Za-zµÀ-\u024f_"
_NUMBER = re.compile(
    rf"(?<![{_LETTER}\d.,]){_POWER}|(?<![{_LETTER}\d.])[-+]?(?:{_PLAIN}|\.\d+(?!\.?\d))"
)
# "1,5" shows that "9,599" is less than ten, not thousands.
_DECIMAL_COMMA = re.compile(
    r"\d(?<![\d,.(].)\d{0,2},\d{1,2}(?![\d,.])"
    # So do the words of a language that writes numbers so.
    r"|\b(?:beträgt|betragen|ergibt|peso|poids|gewicht|zielgewicht|il|della|è|el|los|est(?!\.)|une|são|das|wynosi)\b"
)
_ONLY_NUMBER = re.compile(
    r"(?:(?:The )?(?:[Ff]inal )?[Aa]nswer(?: is|:) )?([-+]?\d{1,15}(?:\.\d{1,15})?)"
    r"(?: ?(?:%|(?:[mkµ]?[gLU]|kg|mmol|mEq|ms|msec)(?:/(?:[md]?L|min|hr?|day|kg)){0,2}|points?))?\.?"
)
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# One of these is in every number word up to 99; looking for them first is faster.
_STEMS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("elev", "twe", "thir", "fif"),
)  # fmt: skip
_WORD = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(_ONES)})"
# Words count as a number only where a result is stated: "the score is zero", "She meets two criteria", or alone.
_WORDS = (
    rf"(?:(?:exactly|therefore|thus|only|just|about) )?(?P<words>(?:(?:minus"
    rf"|negative) )?{_WORD}(?: and a half)?)\b"
)
# "So three of the eight criteria are met." In contrast, "if the patient meets two of the four" states no result.
_BEGINS = r"(?:(?:^|(?<=[.!?] ))(?:(?:so|thus|hence|therefore|overall|in total),? )?)"
_OF_ALL = rf"(?:out )?of (?:the |all )?(?:{_WORD}) (?:[\w-]{{1,15}} ){{0,2}}criteria\b"
_NUMBER_IN_WORDS = compile_caseless(
    r"\b(?:scores?|scroe|total|answer|result|index|sum|number|count|leaves|totall?ing)\b[^.;:=\n\d]{0,60}?"
    rf"(?:\b(?:is|was|of|to|at|equals)|[:=]) ?{_WORDS}(?= ?(?:points?\b|[.,;:!)(\n]|$))"
    rf"|\b(?:meets?|met|satisf\w{{2,4}}|fulfil\w{{0,4}}|has|with|scores?"
    rf"|totals?) {_WORDS.replace('words', 'met')}"
    r"(?= (?:(?!of)[\w-]{1,15} ){0,2}(?:criteri(?:a|on)|points?)\b)"
    rf"|^{_WORDS.replace('words', 'alone')}(?= ?(?:points?\b|(?:[\w-]{{1,15}} ){{0,2}}criteri(?:a"
    rf"|on)\b(?! of)|[.,;!(\n]|$))"
    rf"|[:;,] {_WORDS.replace('words', 'last')}(?= points?\b)",
    re.MULTILINE,
)
_CRITERIA_IN_WORDS = compile_caseless(
    rf"{_BEGINS}(?:(?:the|this) patient|she|he) (?:therefore |thus )?(?:meets|met|satisfies|fulfils|fulfills|has)"
    rf" {_WORDS}(?= {_OF_ALL})"
    rf"|{_BEGINS}{_WORDS.replace('words', 'criteria')}(?= {_OF_ALL} (?:are|were) (?:met|present|positive|satisfied)\b)",
    re.MULTILINE,
)

# English, Spanish, Portuguese, French, Italian and German; every name begins with one of these.
_MONTHS = (
    ("jan", "ene", "gen"), ("feb", "fév", "fev"), ("mar", "mär"), ("apr", "abr", "avr"), ("may", "mai", "mag"),
    ("jun", "juin", "giu"), ("jul", "juil", "lug"), ("aug", "ago", "aoû"), ("sep", "set"), ("oct", "okt", "out", "ott"),
    ("nov",), ("dec", "dez", "dic", "déc"),
)  # fmt: skip
MONTH = rf"({'|'.join(name for names in _MONTHS for name in names)})[a-zûéç]{{0,7}}\.?"
_SLASHED = re.compile(
    r"(?<![\d/.-])(\d{1,2}) ?([/.-]) ?(\d{1,2}) ?\2 ?(\d{4}|\d{2})(?![\d/]|[.-]\d)"
)
_DAY_BEFORE_MONTH = re.compile(r"\bdd ?[/.-] ?mm\b|\bd[/.-]m[/.-]y", re.IGNORECASE)
_ISO = re.compile(r"(?<![\d/-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]")
_MONTH_FIRST = compile_caseless(rf"\b{MONTH} ?(?:the )?(\d{{1,2}})(?:st|nd|rd|th)?,?\s(\d{{4}})\b")
_DAY_FIRST = compile_caseless(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|er|º|°|\.)?[\s-](?:(?:of|de) )?{MONTH},?[\s-](?:(?:de|del) )?(\d{{4}})\b",
)


_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)  # fmt: skip
_ENDS_OF_ORDINALS = ("th ", "th,", "rst ", "rst,", "ond ", "ond,", "ird ", "ird,")
_ORDINAL = rf"(?:(?:twenty|thirty)-(?:{'|'.join(_ORDINALS[:9])})|thirtieth|{'|'.join(_ORDINALS)})"
_ORDINAL_DATE = compile_caseless(
    rf"\b({_ORDINAL}) (?:of )?{MONTH},? (\d{{4}})\b|\b{MONTH} (?:the )?({_ORDINAL}),? (\d{{4}})\b"
)
# "5 or 6 December 2020"
_OTHER_DAY_BEFORE = re.compile(r"(?<![\d.])\d{1,2}(?:st|nd|rd|th)? (?:or|to) (?:the )?$")


class _DateForm(NamedTuple):
    """A form of dates: its pattern, and the numbers of the groups of year, month and day."""

    pattern: re.Pattern[str] | CaselessPattern
    year: int
    month: int
    day: int


_DATE_FORMS = (
    _DateForm(_ISO, year=1, month=3, day=4),
    _DateForm(_YEAR_FIRST, year=1, month=2, day=3),
    _DateForm(_MONTH_FIRST, year=3, month=1, day=2),
    _DateForm(_DAY_FIRST, year=3, month=2, day=1),
)

# English, and the words of other languages in which models answer.
_WEEKS = r"(?:weeks?|wks?|w|semanas?|semaines?|wochen?|ssw|settiman[ae]|weken)"
_DAYS = r"(?:days?|d|d[ií]as?|jours?|tagen?|giorn[io]|dagen)"
_COUNT = rf"\d{{1,3}}|{_WORD}"
_WEEKS_DAYS = compile_caseless(
    rf"(?<![\w.,])({_COUNT})[\s-]?{_WEEKS}\b['\")\s,]{{0,6}}(?:(?:and|with|y|et|und|e|en|n)\b|&|\+"
    rf"|plus)?[\s,'\"(]{{0,6}}(?:({_COUNT})[\s-]?{_DAYS}\b)?"
    rf"|(?<![\d.,])(\d{{1,3}})(?:周|週間?)(?:又|零|和)?(\d)[天日]"
    rf"|(?<![\d.,])(\d{{1,3}}){_WEEKS}\+?(\d){_DAYS}?\b"
    rf"|(?<![\d.,])(?<![×*/] )(?<![×*/])(\d{{1,2}}) ?\+ ?([0-6])(?:/7)?(?!\.?\d)(?: ?{_WEEKS}\b)?"
    rf"|(?<![\d.,/])(\d{{1,2}})(?: and | )([0-6])/7(?! ?\d)(?: ?{_WEEKS}\b)?"
    rf"|\bweeks?[\"']? ?[:=] ?(\d{{1,2}})[\s,;]{{1,3}}[\"']?days?[\"']? ?[:=] ?([0-6])\b",
)
# "4 weeks, minus 3 days"
_MORE_DAYS = re.compile(r"[\s,'\"(]{0,3}(?:[a-z]{1,6} )?\d{1,2} ?(?:d|t|g|j|$)", re.IGNORECASE)
_PLAIN_DAYS = re.compile(
    rf"(?<![\w.,])(\d{{1,4}}|{'|'.join(_ONES[:7])})\s?{_DAYS}\b", re.IGNORECASE
)
_UNIT_OF_TIME = r"(?:weeks?|wks?|w|days?|d)\b"
# "14.5 weeks", "14 to 15 weeks", "-3 days": not durations in whole weeks and days.
_UNCLEAR_DURATION = re.compile(
    rf"(?:\d{{1,9}}[.,]\d{{1,9}}|\d{{1,9}} ?(?:-|to|or|/(?!7\b)|⁄(?!7\b)) ?\d{{1,9}}|(?:^"
    rf"|(?<=\s))-\d{{1,9}}) ?{_UNIT_OF_TIME}",
    re.IGNORECASE,
)


def find_numbers(text: str) -> Mentions[float]:
    """Return the numbers of a plain text."""
    only = _ONLY_NUMBER.fullmatch(text)
    if only:
        return Mentions(text, _find_nothing, Mention(float(only[1]), *only.span(1)))
    return Mentions(text, _NumberFinder(text).find_in_line, from_number=float)


def _find_nothing(start: int, end: int) -> list[Mention[float]]:  # noqa: ARG001
    return []


class _NumberFinder:
    """Finds the numbers of a text, a line at a time."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _list_numbers(self) -> set[int]:
        """The numbers of the text's numbered list items."""
        return {int(mark[1]) for mark in _LIST_MARK.finditer(self._text) if mark[1]}

    @cached_property
    def _has_decimal_commas(self) -> bool:
        return _DECIMAL_COMMA.search(self._text) is not None

    def find_in_line(self, start: int, end: int) -> list[Mention[float]]:
        text = self._text
        mentions = self._find_in_digits(text[start:end], start)
        words_start = max(start, len(text) - _REACH_OF_WORDS)
        if words_start < end and _holds_number_words(text[words_start:end]):
            in_words = _find_numbers_in_words(text, words_start, end)
            mentions = sorted([*mentions, *in_words], key=lambda mention: mention.start)
        return mentions

    def _find_in_digits(self, line: str, line_start: int) -> list[Mention[float]]:
        """Return the numbers of a line in digits; a range ("18-22") is one mention without a value."""
        masked = self._mask(line)
        mentions: list[Mention[float]] = []
        for match in _NUMBER.finditer(masked):
            start, end = match.span()
            before = masked[max(0, start - _REACH) : start]
            if before and _is_named(before, match):
                continue
            if end < len(masked) and _is_named_behind(match):
                continue
            value = self._read(match)
            if value > 0 and before.endswith(("us ", "ve ")) and _MINUS_BEFORE.search(before):
                value, start = -value, start - len(before.split(" ")[-2]) - 1
            finite = value if math.isfinite(value) else None
            mention = Mention(finite, line_start + start, line_start + end)
            if mentions and _is_range(masked, mentions[-1].end - line_start, match):
                mentions[-1] = Mention(None, mentions[-1].start, mention.end)
            else:
                mentions.append(mention)
        return mentions

    def _read(self, match: re.Match[str]) -> float:
        if match["exponent"] is not None:
            coefficient = (match["coefficient"] or "1").replace(",", "")
            return float(f"{coefficient}e{match['exponent']}")
        number = match[0]
        if "," not in number:
            return float(number)
        if match["decimals"] is not None or number.lstrip("+-").startswith("0,"):
            return float(number.replace(",", "."))
        if number.count(",") == 1 and "." not in number and self._has_decimal_commas:
            return float(number.replace(",", "."))
        return float(number.replace(",", ""))

    def _mask(self, line: str) -> str:
        """Return a line with a space for each character that is not part of a value."""
        mark = _LIST_MARK.match(line)
        if mark and (not mark[1] or self._is_in_list(int(mark[1]))):
            line = " " * mark.end() + line[mark.end() :]
        if "1) " in line and "2) " in line:
            line = _mask_enumeration(line)
        if "/" in line or " of " in line:
            line = _OF_MAXIMUM.sub(_mask_maximum, line)
        return line

    def _is_in_list(self, number: int) -> bool:
        """Return whether a number begins one of several items of a list: "7. Because" alone is an answer."""
        return number - 1 in self._list_numbers or (
            number <= 1 and number + 1 in self._list_numbers
        )


def _mask_enumeration(line: str) -> str:
    """Return a line without the numbers of its items: "Criteria met: 1) age, 2) fever"."""
    marks = list(_ITEM_IN_LINE.finditer(line))
    if len(marks) < 2 or [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)):
        return line
    for index, mark in enumerate(marks):
        before = line[: mark.start()]
        if before.count("(") != before.count(")") - index:
            return line  # a number at the end of brackets
    return _ITEM_IN_LINE.sub(lambda mark: " " * len(mark[0]), line)


def _is_range(line: str, previous_end: int, number: re.Match[str]) -> bool:
    """Return whether a number ends a range that begins with the number before it: "18-22", "18 to 22"."""
    gap = line[previous_end : number.start()]
    if len(gap) > _LONGEST_UNIT:
        return False
    if gap in ("-", " - "):
        return _RANGE_END.match(line, number.end()) is not None
    return _RANGE_GAP.fullmatch(gap) is not None


def _is_named(before: str, number: re.Match[str]) -> bool:
    """Return whether the words before digits show that they are part of a name or unit."""
    text, end = number.string, number.end()
    last = before[-1]
    may_be_named = last in "^*{(-[" or before[-2:] in _SPACED_NAMES
    if may_be_named and _NAMED_BEFORE.search(before):
        return number["exponent"] is None
    if last in " -#" and number.end() - number.start() <= 2 and _NUMBERED_BEFORE.search(before):
        return _NUMBERED_BEHIND.match(text, end) is not None
    if last in "/ " and _UNIT_BEHIND.match(text, end) and _UNIT_BEFORE.search(before):
        return True
    if last == " " and _TIME_BEHIND.match(text, end):
        return _WITHIN_BEFORE.search(before) is not None
    return False


def _is_named_behind(number: re.Match[str]) -> bool:
    """Return whether the words behind digits show that they are part of a name or unit."""
    text, end = number.string, number.end()
    if text[end] not in " -yYsnrtm":
        return False
    if number[0].endswith("1.73") and _BODY_SURFACE.match(text, end):
        # "The surface is 1.73 m2" states a value.
        return _STATES_BEFORE.search(text, max(0, number.start() - 4), number.start()) is None
    if len(number[0]) == 4 and number[0][:2] in ("19", "20") and _YEAR_BEHIND.match(text, end):
        return True
    return _NAMED_BEHIND.match(text, end) is not None


def _holds_number_words(line: str) -> bool:
    lowered = line.lower()
    return any(map(lowered.__contains__, _STEMS))


def _find_numbers_in_words(text: str, start: int, end: int) -> list[Mention[float]]:
    mentions: list[Mention[float]] = []
    matches = list(_NUMBER_IN_WORDS.finditer(text, start, end))
    if text.find("criteria", start, end) >= 0:
        matches += _CRITERIA_IN_WORDS.finditer(text, start, end)
    for match in matches:
        group = match.lastgroup or "words"
        words = match[group].lower()
        whole = words.removesuffix(" and a half").removeprefix("minus ").removeprefix("negative ")
        value = _read_words(whole) + (0.5 if words.endswith("half") else 0.0)
        is_negative = words.startswith(("minus", "negative"))
        mentions.append(Mention(-value if is_negative else value, *match.span(group)))
    return mentions


def _read_words(words: str) -> int:
    """Return the number that English words name, up to 99. Digits are read too."""
    if words.isdecimal():
        return int(words)
    first, *rest = re.split("[- ]", words.lower())
    if first in _ONES:
        return _ONES.index(first)
    tens = 20 + 10 * _TENS.index(first)
    return tens + (_ONES.index(rest[0]) if rest else 0)


def _mask_maximum(match: re.Match[str]) -> str:
    """Mask the maximum of "7/10". "120/80" remains two numbers, because a maximum is not less than the score."""
    maximum = match[3] or match[4] or match[5] or match[6]
    if float(match[1]) > float(maximum):
        return match[0]
    return match[1] + " " * (len(match[0]) - len(match[1]))


_MONTHS_OF_YEAR = 12


def find_dates(text: str) -> Mentions[datetime.date]:
    """Return the dates of a plain text. 03/04/2020 is 4 March, the order the question asks for.

    A date whose order is not clear ("03.04.2020", or any beside "DD/MM") or that does not exist is a mention without
    a value.
    """
    mentions: list[Mention[datetime.date]] = []
    for form in _DATE_FORMS:
        for match in form.pattern.finditer(text):
            month = _read_month(match[form.month])
            date = _make_date(year=match[form.year], month=month, day=match[form.day])
            if _OTHER_DAY_BEFORE.search(text, max(0, match.start() - 12), match.start()):
                date = None
            mentions.append(Mention(date, match.start(), match.end()))
    mentions += _find_ordinal_dates(text)
    mentions += _find_slashed(text, {mention.value for mention in mentions})
    return _list_found(text, sorted(mentions, key=lambda mention: mention.start))


def _find_ordinal_dates(text: str) -> Iterator[Mention[datetime.date]]:
    """Yield the dates whose day is a word: "the fifth of December 2020"."""
    if not any(map(text.__contains__, _ENDS_OF_ORDINALS)):
        return
    for match in _ORDINAL_DATE.finditer(text):
        day, month, year = match.groups()[:3] if match[1] else (match[5], match[4], match[6])
        date = _make_date(year=year, month=_read_month(month), day=str(_read_ordinal(day.lower())))
        yield Mention(date, match.start(), match.end())


def _read_ordinal(word: str) -> int:
    if word == "thirtieth":
        return 30
    tens, _, ones = word.rpartition("-")
    return {"": 0, "twenty": 20, "thirty": 30}[tens] + _ORDINALS.index(ones) + 1


def _find_slashed(text: str, others: set[datetime.date | None]) -> Iterator[Mention[datetime.date]]:
    """Yield the dates written with digits alone; one whose order is not clear may be repeated among the others."""
    day_first = _DAY_BEFORE_MONTH.search(text) is not None
    for match in _SLASHED.finditer(text):
        is_clear = not day_first or int(match[1]) > _MONTHS_OF_YEAR
        date = _read_slashed(match) if is_clear else None
        if date is None and others:
            # "10.11.2012 (10. November 2012)"
            repeated = _make_date(year=match[4], month=int(match[3]), day=match[1])
            date = repeated if repeated in others else None
        yield Mention(date, match.start(), match.end())


def _read_slashed(match: re.Match[str]) -> datetime.date | None:
    first, mark, second, year = int(match[1]), match[2], int(match[3]), match[4]
    if len(year) == 2:
        year = ("19" if int(year) >= 50 else "20") + year
    if first > 12:
        return _make_date(year=year, month=second, day=match[1])
    # With points, the day usually comes first.
    if mark == "." and second <= 12 and first != second:
        return None
    return _make_date(year=year, month=first, day=match[3])


def _read_month(name: str) -> int:
    if name.isdecimal():
        return int(name)
    for number, names in enumerate(_MONTHS, start=1):
        if name.lower() in names:
            return number
    raise KeyError(name)


def _make_date(*, year: str, month: int, day: str) -> datetime.date | None:
    """Return the date, or None if it does not exist, such as 30 February."""
    try:
        return datetime.date(int(year), month, int(day))
    except ValueError:
        return None


def find_durations(text: str) -> Mentions[int]:
    """Return durations in weeks and days, as days; if there are none, the durations in plain days."""
    unclear: list[Mention[int]] = []
    for match in _UNCLEAR_DURATION.finditer(text):
        unclear.append(Mention(None, match.start(), match.end()))
    unclear_ends = {mention.end for mention in unclear}
    mentions: list[Mention[int]] = []
    for match in _WEEKS_DAYS.finditer(text):
        groups = [group for group in match.groups() if group is not None]
        days = _read_words(groups[1]) if len(groups) > 1 else 0
        value: int | None = _read_words(groups[0]) * 7 + days
        if len(groups) == 1 and _MORE_DAYS.match(text, match.end()):
            value = None
        mentions.append(Mention(value, match.start(), match.end()))
    if not mentions:
        for match in _PLAIN_DAYS.finditer(text):
            mentions.append(Mention(_read_words(match[1]), match.start(), match.end()))
    clear = [mention for mention in mentions if mention.end not in unclear_ends]
    # "14.29 weeks, so 14 weeks and 2 days" says the same twice.
    clear_weeks = {str(mention.value // 7) for mention in clear if mention.value is not None}
    rivals = [m for m in unclear if re.split("[.,]", text[m.start : m.end])[0] not in clear_weeks]
    return _list_found(text, sorted([*clear, *rivals], key=lambda mention: mention.start))
