"""Months and days without a year: "3/14", "12-2", "9.14". Scores, settings, fractions and doses look the same.

The words around two numbers decide: the nearest word before them that belongs to a date ("seen") or to a ratio
("BiPAP"), a clock time beside them, or a unit after them. Where no word decides, two numbers that no fraction or score
has ("12/9") are a date if the text has other dates.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.word_lists import compile_pattern, read_words

_PAIR = regex.compile(
    r"(?<![\w/.%=<>~^+$#])(?<!(?<!/\d{1,2})-)(?P<first>\d{1,2})(?P<sign>[/.-])(?P<second>\d{1,2})"
    r"(?![\w/%]|[.,]\d|-(?!\d{1,2}/\d)[\p{L}\d])"
)
_FULL_DATE = regex.compile(
    r"(?<![\w/.-])(?:\d{1,2}([/.-])\d{1,2}\1(?:19|20)?\d\d|(?:19|20)\d\d-[01]\d-[0-3]\d)(?![\w/-])"
)
_CLOCK = r"(?:(?:[01]?\d|2[0-3]):[0-5]\d|(?:[01]\d|2[0-3])[0-5]\d)(?!\w|[./-]\d)"
_CLOCK_AFTER = regex.compile(rf"(?i)(?:,? ?@ ?|,? at ?|,? {{1,3}}){_CLOCK}|,? ?@ ?\d{{1,2}}\b")
_CLOCK_BEFORE = regex.compile(rf"(?<![\w./-]){_CLOCK}(?: ?(?:hrs?|hours|h))? {{1,3}}$")
_PART_OF_DAY = regex.compile(
    r"(?i) ?(?:a\.?m|p\.?m|morning|afternoon|evening|eve|night|nite|noon|overnight|noc)\b"
)
_UNIT = regex.compile(
    r"(?i) ?(?:(?:mm|cm|mg|mcg|ml|mmhg|cmh2o|kg|lbs?|u|iu|units?|l|lpm)\b|%)| of\b(?! (?:last|this|next)\b)"
)
_END = compile_pattern(
    r"\s{0,2}(?:[,.;:)?!\]]|$|\n)| {1,3}(?:and|at|with|w/?|for|by|in|who|when|because|via|per|but|then|to"
    r"|on|this|last|she|he|they|pt|patient)(?!\w)| -| {2}|\s*->",
    "en",
)
_CLAUSE = regex.compile(r"(?:[.;!?](?=\s)|\n|\|)(?!.*(?:[.;!?](?=\s)|\n|\|))", regex.DOTALL)
_TOKEN = regex.compile(r"[\p{L}][\p{L}\d'/-]*|\d[\d./:-]*")
_WORD_AFTER = regex.compile(r" {0,2}\(?(\p{L}[\p{L}'-]{0,20}|x(?=\d))")
_LINE_OF_VALUES = regex.compile(r"(?m)^[ \t]*\d{1,2}/\d{1,2}(?:[ \t]{2,}|\t)\S")
_WEEKDAY = compile_pattern(r"(?i)(?:\L<weekdays>|\L<weekdays_in_short>)", "en")
_ENDING = compile_pattern(r"\L<event_endings>$", "en")

_ITEM = regex.compile(r"(?:^|\n)[ \t]{0,4}(?:[-*>•] )?$")
_ITEM_GOES_ON = regex.compile(r":|[ \t]{1,4}(?:[\p{L}(]|- )")
_TO_RATIO = regex.compile(r" ?(?:to|-|and|or) ?\d{1,2}/(\d{1,2})(?!\w)")
_FROM_RATIO = regex.compile(r"\d/(\d{1,2}) ?(?:to|-|and|or) ?$")
_NUMBER_BEFORE = regex.compile(r"\d[ ,:]$")
# Ratios in common use that are also a month and a day.
_SAYINGS = frozenset({(24, 7), (20, 10), (16, 8), (18, 6), (30, 2), (15, 2), (9, 11)})
_PARTS = (1, 2, 3, 4, 5, 6, 8, 10)  # fractions and scores are of one of these
# Days that scores and fractions seldom have as their second number.
_PLAIN_DAYS = frozenset({13, 14, 16, 17, 18, 19, 22, 23, 24, 26, 27, 29, 31})
_OPEN = frozenset(
    {"of", "in", "was", "only", "and", "or"}
)  # words before a date as often as before a ratio
# Words that make only the numbers directly after them a ratio.
_NEAR = frozenset({"for", "in", "about", "approximately", "approx", "only", "just", "x"})
# Words that make only the numbers directly after them a date, and words that do so only at a distance.
_PREPOSITIONS = frozenset(
    {"on", "since", "from", "until", "till", "before", "after", "by", "through", "thru"}
)
# Things that are counted: "cycle 3/6", "dose 2/3".
_COUNTED = frozenset({
    "week", "month", "episode", "cycle", "dose", "visit", "session", "class", "group",
})  # fmt: skip
_SINGLE = frozenset({"next", "last", "this", "first", "prior", "previous"})
_ALWAYS = frozenset({"on", "since", "until"})  # whatever follows
_FINDINGS = frozenset({"positive", "negative"})
_SKIPPED = frozenset(
    {
        "the",
        "a",
        "an",
        "of",
        "was",
        "is",
        "at",
        "ca",
        "circa",
        "again",
        "it",
        "and",
        "or",
        "to",
        "am",
        "pm",
    }
)
_LABELS = frozenset(
    {
        "date", "dated", "dob", "dos", "lmp", "edd", "seen", "visit", "admitted", "discharged", "born", "received",
        "recvd", "rec'd", "rcvd", "collected", "triaged",
    }
)  # fmt: skip
_MONTHS = 12
_WEEK = 7
_NEAR_DAYS = 24  # characters between two days of one month
_BEFORE = 60  # characters before two numbers that are read
_WORDS_BEFORE = 5
_FAR = 2  # words between a ratio's word and numbers that hardly any ratio has


class _Pair(NamedTuple):
    """Two numbers that are a month and a day, in one order or the other."""

    start: int
    end: int
    first: int
    second: int
    sign: str

    def is_fraction(self) -> bool:
        """Return whether a score or a fraction could have these numbers: "3/4", "7/10"."""
        return self.first <= self.second and self.second in _PARTS

    def is_ratio(self) -> bool:
        return self.is_fraction() or self.is_saying()

    def is_saying(self) -> bool:
        return (self.first, self.second) in _SAYINGS


class _Cue(NamedTuple):
    """The nearest word before two numbers that decides, and the number of words between.

    Attributes:
        is_date: whether it belongs to a date, not to a ratio.
        is_strong: whether it belongs to nothing but a date.
        is_counted: whether it is of a thing that is counted.
        words_between: number of words between it and the numbers.
    """

    is_date: bool
    is_strong: bool
    is_counted: bool
    words_between: int


def find_bare_dates(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield months and days without a year.

    Raises:
        TimeoutError: the deadline passed.
    """
    dates: list[_Pair] = []
    undecided: list[_Pair] = []
    with_hyphen: list[_Pair] = []
    for match in _PAIR.finditer(text, timeout=deadline.left()):
        pair = _read_pair(match)
        if pair is None:
            continue
        is_date = _judge(text, pair, dates[-1] if dates else None)
        if is_date:
            if undecided and _are_joined(text, undecided[-1], pair):
                dates.append(undecided.pop())
            dates.append(pair)
        elif is_date is None:
            undecided.append(pair)
        elif pair.sign == "-":
            with_hyphen.append(pair)
    dates += _list_days_of_one_month(with_hyphen)
    if undecided and (dates or _FULL_DATE.search(text, timeout=deadline.left())):
        dates += [pair for pair in undecided if pair.sign == "/" and not pair.is_ratio()]
    yield from (("DATE", pair.start, pair.end) for pair in dates)


def _list_days_of_one_month(pairs: Sequence[_Pair]) -> Iterator[_Pair]:
    """Yield pairs, all of them with a hyphen, that follow one another as days of the same month do: "4-18 for 4-19"."""
    for pair, following in pairwise(pairs):
        are_days = pair.first == following.first and 0 < following.second - pair.second <= _WEEK
        is_near = following.start - pair.end <= _NEAR_DAYS
        if are_days and is_near and pair.second > _MONTHS:
            yield pair
            yield following


def _read_pair(match: "regex.Match[str]") -> _Pair | None:
    """Return the two numbers if they can be a month and a day."""
    first, second = int(match["first"]), int(match["second"])
    low, high = sorted((first, second))
    if not 1 <= low <= 12 or not high <= 31:
        return None
    return _Pair(match.start(), match.end(), first, second, match["sign"])


def _judge(text: str, pair: _Pair, last_date: _Pair | None) -> bool | None:
    """Return whether two numbers are a date, or None if no word around them decides."""
    before, after = text[max(0, pair.start - _BEFORE) : pair.start], text[pair.end : pair.end + 24]
    has_clock = _has_clock(before, after)
    if _UNIT.match(after) or (_NUMBER_BEFORE.search(before) and not has_clock):
        return False
    if pair.sign == ".":
        return _is_date_with_dot(text, pair, before, after)
    cue = _find_cue(before)
    if pair.sign == "-":
        is_after_clock = _CLOCK_BEFORE.search(before) is not None and pair.second > _MONTHS
        return is_after_clock or _is_date_with_hyphen(text, pair, cue, after)
    if cue is not None and not cue.is_date:
        # A ratio's word at a distance does not make a ratio of numbers that hardly any ratio has ("11/26").
        is_far = cue.words_between >= _FAR and pair.first <= 12
        return is_far and pair.second in _PLAIN_DAYS
    if has_clock or (last_date is not None and _are_joined(text, last_date, pair)):
        return True
    if _is_counted(after):
        return cue is not None and cue.is_strong and cue.words_between == 0 and not pair.is_ratio()
    if cue is None:
        return _judge_without_cue(text, pair, before, after)
    if cue.is_counted or pair.is_saying() or _is_compared(pair, before, after):
        return None
    if not pair.is_fraction():
        return True
    if before.rstrip().endswith(":") and not cue.is_strong:
        return None
    return cue.words_between == 0 or bool(_END.match(after)) or None


def _judge_without_cue(text: str, pair: _Pair, before: str, after: str) -> bool | None:
    """Return whether two numbers are a date by their position and size, or None if neither decides."""
    if _begins_line_of_values(text, pair):
        return True
    if pair.is_ratio():
        return None
    if _ITEM.search(text, max(0, pair.start - 8), pair.start) and _ITEM_GOES_ON.match(after):
        return True
    tokens = _TOKEN.findall(before)
    if tokens and tokens[-1].lower() in _OPEN:
        return None
    if pair.first > 12 and _END.match(after):
        return True
    return (pair.second in _PLAIN_DAYS) or None


def _find_cue(before: str) -> _Cue | None:
    """Return the nearest deciding word in the clause before two numbers."""
    clause = _CLAUSE.search(before)
    tokens = _TOKEN.findall(before[clause.end() if clause else 0 :])
    between = 0
    nearest = tokens[: -2 * _WORDS_BEFORE - 1 : -1]
    is_counted = bool(nearest) and _is_counted_thing(nearest)
    for token in nearest:
        word = token.lower()
        if word in _PREPOSITIONS and between:
            between += 1
            continue
        if word in _FINDINGS:
            return _Cue(between > 0, False, False, between)
        if _is_of_a_date(word):
            return _Cue(True, word in _LABELS or word in _ALWAYS, is_counted, between)
        if _is_of_a_ratio(word):
            return _Cue(False, False, False, between)
        if word in _NEAR and not between:
            return _Cue(False, False, False, between)
        if word in _SKIPPED or word in _NEAR:
            continue
        between += 1
        if between == _WORDS_BEFORE:
            return None
    return None


def _is_counted_thing(nearest: Sequence[str]) -> bool:
    """Return whether the word directly before two numbers is of a thing that is counted: not "next week"."""
    preceding = nearest[1].lower() if len(nearest) > 1 else ""
    return nearest[0].lower() in _COUNTED and preceding not in _SINGLE


def _is_compared(pair: _Pair, before: str, after: str) -> bool:
    """Return whether a fraction of the same number stands beside a fraction: "from 9/10 to 3/10"."""
    other = _TO_RATIO.match(after) or _FROM_RATIO.search(before)
    return pair.is_fraction() and other is not None and int(other[1]) == pair.second


def _is_of_a_date(word: str) -> bool:
    return (
        word in _read_words("words_before_dates")
        or word in _read_words("events")
        or _ENDING.search(word) is not None
    )


def _is_of_a_ratio(word: str) -> bool:
    """Return whether a word or a part of it is of a ratio: "AST/ALT"."""
    ratios = _read_words("words_before_ratios")
    return word in ratios or any(part in ratios for part in word.split("/") if len(part) > 1)


def _is_date_with_hyphen(text: str, pair: _Pair, cue: _Cue | None, after: str) -> bool:
    """Return whether two numbers are a date and not a range: they descend, or one begins with 0, after a cue."""
    if cue is None or not cue.is_date or cue.words_between:
        return False
    written = text[pair.start : pair.end]
    has_zero = written.startswith("0") or "-0" in written
    if has_zero:
        return not _is_counted(after)
    descends = pair.first > pair.second or pair.second > 12
    return descends and bool(_END.match(after) or _has_clock("", after))


def _is_date_with_dot(text: str, pair: _Pair, before: str, after: str) -> bool:
    """Return whether two numbers are a date and not a decimal number: after a label of a date, with two digits last."""
    words = [word.lower() for word in _TOKEN.findall(before[-24:].rpartition("\n")[2])]
    nearest = [word for word in words if word not in _SKIPPED and word not in _PREPOSITIONS][-2:]
    labelled = bool(nearest) and (nearest[-1] in _LABELS or nearest[0] in ("date", "dated"))
    two_digits = len(text[pair.start : pair.end].rpartition(".")[2]) == 2
    if labelled and two_digits and bool(_END.match(after) or _has_clock("", after)):
        return True
    has_dot_after = after.startswith(".") and not after[1:2].isdigit()
    if has_dot_after and words and _WEEKDAY.fullmatch(words[-1]):
        return True  # "sat 8.3."
    stands_apart = regex.search(r"(?:^|\n| {2})$", before) is not None
    begins_with_zero = text[pair.start] == "0"
    return (
        has_dot_after
        and two_digits
        and (stands_apart or begins_with_zero)
        and pair.second <= _MONTHS
    )


def _is_counted(after: str) -> bool:
    follows = _WORD_AFTER.match(after)
    return follows is not None and follows[1].lower() in _read_words("words_after_ratios")


def _has_clock(before: str, after: str) -> bool:
    """Return whether a clock time or a part of the day stands beside two numbers."""
    return bool(
        _CLOCK_AFTER.match(after) or _PART_OF_DAY.match(after) or _CLOCK_BEFORE.search(before)
    )


def _are_joined(text: str, date: _Pair, pair: _Pair) -> bool:
    """Return whether two numbers directly follow a date: "4/1 and 4/9"."""
    between = text[date.end : pair.start]
    return between.strip(" ").lower() in (
        ",",
        "&",
        "and",
        "or",
        "to",
        "-",
        "–",
        "then",
        "through",
        "/",
        "",
    )


def _begins_line_of_values(text: str, pair: _Pair) -> bool:
    """Return whether two numbers begin one of several lines of a table: "12/1     69.9"."""
    line_start = text.rfind("\n", 0, pair.start) + 1
    if text[line_start : pair.start].strip() or not _LINE_OF_VALUES.match(text, line_start):
        return False
    return len(_LINE_OF_VALUES.findall(text[max(0, line_start - 400) : line_start + 400])) > 1


@cache
def _read_words(name: str) -> frozenset[str]:
    return read_words("en", name)
