"""Streets, counties, schools, jails, shops and employers in small letters, as typed in haste.

A word for a kind of place ("street", "casino") makes the words before it a name, unless they only describe ("local").
Each function judges a place of the text at which a rulebook has read such a word.
"""

from functools import cache

import regex

from agent.redaction.entities import Entity
from agent.redaction.rules.en.small_letters import is_known
from agent.redaction.rules.en.vocabulary import is_unlisted
from agent.redaction.rules.rulebook import Judge, Place
from agent.redaction.rules.word_lists import compile_pattern, read_entries, read_words

_NOT_FIRST = r"(?!(?:an?|and|at|by|for|from|her|his|in|near|of|off|on|or|the|their|to|with)\b)"
_WORD = rf"{_NOT_FIRST}\p{{Ll}}[\p{{Ll}}'’]{{1,19}}"
_WORD_OF_NAME = rf"{_WORD}(?:-\p{{Ll}}{{2,15}})?"
_STREET = compile_pattern(
    r"\L<street_kinds>(?![\p{L}'])(?! (?:elev|depress|dep\b|seg|chang|wave|deviat|abnormal|t\b|of\b))",
    "en",
)
_BEFORE_STREET = regex.compile(
    r"(?<![\p{L}'-])(?:on|at|off|near|from|along|behind|down|up|between|and|outside|of|to|the|\d{1,6})"
    rf" (?:the )?(?P<words>(?:[nsew]\.? )?{_WORD}(?: {_WORD})??) $"
)
# "903 sw kelpie": a number, a direction and a name.
_NUMBER_BEFORE = regex.compile(r"(?<![\w./-])\d{2,5} (?:1/2 )?$")
_AFTER_DIRECTION = regex.compile(rf"\p{{L}}{{1,5}}\.? (?P<name>{_WORD})(?![\p{{L}}'])")
_BEFORE_COUNTY = regex.compile(rf"(?<![\p{{L}}'-])(?:(?P<before>{_WORD}) )?(?P<name>{_WORD}) $")
_COUNTY = regex.compile(
    r"county(?: (?:jail|prison|lockup|detention(?: center)?|correctional(?: center| facility)?|courthouse))?"
    r"(?![\p{L}'])"
)
_ORGANISATION = compile_pattern(
    r"(?:\L<organisation_kinds>|(?P<many>\L<organisation_kinds_of_many>))(?![\p{L}'-])", "en"
)
_BEFORE_ORGANISATION = regex.compile(
    r"(?:(?<![\p{L}'-])(?:at|from|to|by|for|via|thru|through|with|w/|behind|outside|near|of|the|in|tried|called|adm|gp"
    r"|school|sch|funder|xfer|driver|carrier|crew) {1,2}|(?:->|(?<=\p{L}) ?[:=]|[@(,]|(?<=\n)"
    r"|(?<=\d{4}) (?=\p{L})) {0,2})"
    rf"(?:the )?(?P<words>{_WORD_OF_NAME}(?: (?:& )?{_WORD_OF_NAME}){{0,2}}) (?:& )?$"
)
# After these words an employer or an insurer follows, whatever its last word.
_EMPLOYER = regex.compile(
    r"(?:(?:work(?:s|ed|ing)?|employed|job|shifts?|hired|intern)"
    r"(?: (?:nights|days|evenings|part[- ]time|full[- ]time|weekends))? (?:at|for|by|with|@)"
    r"|(?:lost|quit|left) (?:her |his |their )?job (?:at|with|@)"
    r"|laid off (?:from|by)|fired (?:from|by)|retired from|drives for|ceo of|work(?=[ ]?\()"
    r"|(?i:employer|insurer|insurance|ins|payer|payor|carrier|union|pharm(?:acy)?)(?: is|:| (?:changed )?->))"
    rf"(?: {{1,2}}\(?|(?<=@) ?)(?P<article>the )?(?P<words>{_WORD_OF_NAME}(?: (?:& )?{_WORD_OF_NAME}){{0,3}})"
)
_BEFORE_EFFECT = regex.compile(r"(?<!\p{L})(?:it|that|this|which|only|drug) $")  # "it works for"
_WARD = regex.compile(
    r"(?i:north|south|east|west)(?=[ \t]{2}|\s?[,.;)]|\n|$"
    r"| (?i:rn|nurse|staff|charge|bed|for|w/|at|where|overnight|today|tonight|from)(?!\w))"
)
_BEFORE_WARD = regex.compile(
    r"(?m)(?:^|(?<= {2})|(?<=\b(?:on|to|from|at|unit|floor|ward|rm|bed|tele|icu)[ :])|(?<=@ ?))\d{1,2} ?$"
)
# Words after which an employer's name has ended.
_BOUNDARY = frozenset({
    "since", "until", "who", "which", "where", "when", "on", "in", "at", "with", "and", "for", "from", "to", "is",
    "was", "has", "as", "dec", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "sept", "oct", "nov",
    "bc", "but", "downtown", "full", "part", "plan", "id", "last", "next", "this", "now", "by", "he", "she", "they",
    "due", "after", "till", "til", "so", "nights", "days", "part-time", "full-time",
})  # fmt: skip
_STREETS = frozenset(
    {"road", "rd", "street", "lane", "avenue", "ave"}
)  # within the name of a practice
_ABBREVIATED = frozenset({"ave", "rd", "blvd", "hwy", "pkwy", "ln", "tpke"})  # mostly streets
# Words before "lane" and "road" that name no single one.
_KINDS_OF_STREETS = frozenset({
    "fast", "slow", "passing", "bike", "bus", "same", "private", "public", "dirt", "busy", "side", "memory", "left",
    "express", "middle", "wrong", "open", "icy", "long", "right", "back", "country", "county", "his", "her", "cross",
})  # fmt: skip
_ARTICLES = frozenset(
    {"a", "an", "the", "any", "no", "this", "that", "her", "his", "their", "our", "my"}
)
_BEFORE = 64  # characters before a kind of place that are read


def judge_street(text: str, place: int) -> Place | None:
    """Return the street whose last word begins at `place`: "on front st"."""
    kind = _STREET.match(text, place)
    before = kind and _BEFORE_STREET.search(text, max(0, place - _BEFORE), place)
    if not kind or not before:
        return None
    names = [word for word in before["words"].split() if len(word.rstrip(".")) > 1]
    if not names or not _KINDS_OF_STREETS.isdisjoint(names):
        return None
    if not _list_function_words().isdisjoint(names):
        return None
    if kind.group() not in _ABBREVIATED and not any(map(is_of_a_place, names)):
        return None
    return Place(before.start("words"), kind.end())


def judge_direction(text: str, place: int) -> Place | None:
    """Return the address whose direction begins at `place`: "903 sw kelpie"."""
    number = _NUMBER_BEFORE.search(text, max(0, place - 12), place)
    street = number and _AFTER_DIRECTION.match(text, place)
    if not number or not street:
        return None
    if is_known(street["name"]) and not is_landscape(street["name"]):
        return None
    return Place(number.start(), street.end())


def judge_county(text: str, place: int) -> Place | None:
    """Return the county, or its jail, whose word "county" begins at `place`."""
    county = _COUNTY.match(text, place)
    before = county and _BEFORE_COUNTY.search(text, max(0, place - _BEFORE), place)
    if not county or not before or before["name"] in _list_generic():
        return None
    has_two_words = before["before"] and not is_known(before["before"])
    return Place(before.start("before" if has_two_words else "name"), county.end())


def judge_organisation(text: str, place: int) -> Place | None:
    """Return the school, shop or jail whose kind begins at `place`: "at tillman middle"."""
    kind = _ORGANISATION.match(text, place)
    if kind is None:
        return None
    first = max(0, place - _BEFORE)
    # The longest words after a cue, then those after a later one: ", driver sunrise cabs"
    for before in _BEFORE_ORGANISATION.finditer(text, first, place, overlapped=True):
        names = _drop_descriptions_of_places(regex.findall(r"[\p{L}'’]+", before["words"]))
        if _may_name_organisation(names, is_of_many=kind["many"] is not None):
            return Place(before.start("words"), kind.end())
    return None


def _may_name_organisation(names: list[str], *, is_of_many: bool) -> bool:
    plain = [name for name in names if name not in _STREETS]
    if not _list_generic().isdisjoint(plain) or any(map(_is_description, plain)):
        return False
    return not is_of_many or any(map(_is_of_a_place_or_street, names))


def judge_employer(text: str, place: int) -> Place | None:
    """Return the words after a cue up to a word that goes on with the sentence, if one of them is in no list."""
    match = _EMPLOYER.match(text, place)
    if match is None or _BEFORE_EFFECT.search(text, max(0, place - 12), place):
        return None
    start = end = match.start("words")
    has_unknown = False
    landscapes = 0
    for word in regex.finditer(r"[\p{L}'’]+", match["words"]):
        if word.group() in _BOUNDARY or (end == start and word.group() in _list_generic()):
            break
        has_unknown = has_unknown or not is_known(word.group())
        landscapes += is_landscape(word.group())
        end = start + word.end()
    if has_unknown:
        return Place(start, end)
    has_two_words = " " in text[start:end]
    return Place(start, end) if landscapes and has_two_words and not match["article"] else None


def judge_ward(text: str, place: int) -> Place | None:
    """Return the ward whose direction begins at `place`: "on 6 north"."""
    direction = _WARD.match(text, place)
    number = direction and _BEFORE_WARD.search(text, max(0, place - 12), place)
    if not direction or not number:
        return None
    return Place(number.start(), direction.end())


def _drop_descriptions_of_places(names: list[str]) -> list[str]:
    """Return words without the first if that only describes the place after it: "two rivers", "old mill"."""
    if len(names) > 1 and is_landscape(names[1]) and names[0] not in _ARTICLES:
        return names[1:]
    return names


def is_of_a_place(word: str) -> bool:
    """Return whether a word is in no list, or one after which places are named."""
    return is_landscape(word) or (not is_known(word) and is_unlisted(word))


def _is_of_a_place_or_street(word: str) -> bool:
    """Return whether a word is of a place, or of a street after which a practice is named: "lowther road practice"."""
    return word in _STREETS or is_of_a_place(word)


def is_landscape(word: str) -> bool:
    """Return whether streets and places are named after a thing: "maple", "rivers"."""
    names = _read_street_names()
    return word in names or word.removesuffix("s") in names


def _is_description(word: str) -> bool:
    return word.startswith("anti") or word.endswith(("'s", "’s", "ly", "ed", "ing", "able"))


def _list_function_words() -> frozenset[str]:
    return read_words("en", "function_words")


@cache
def _list_generic() -> frozenset[str]:
    return read_words("en", "generic_modifiers") | read_words("en", "function_words")


@cache
def _read_street_names() -> frozenset[str]:
    return read_words("en", "street_names")


def _list_first_words(*names: str) -> frozenset[str]:
    return frozenset(entry.split()[0] for name in names for entry in read_entries("en", name))


_DIRECTIONS = frozenset({
    "n", "s", "e", "w", "ne", "nw", "se", "sw", "north", "south", "east", "west",
})  # fmt: skip
_CUES_OF_EMPLOYERS = frozenset({
    "work", "works", "worked", "working", "employed", "job", "shift", "shifts", "hired", "intern", "laid", "fired",
    "retired", "drives", "ceo", "lost", "quit", "left", "employer", "insurer", "insurance", "ins", "payer", "payor",
    "carrier", "union", "pharm", "pharmacy",
})  # fmt: skip

JUDGED: tuple[tuple[Entity, frozenset[str], Judge], ...] = (
    ("ADDRESS", _list_first_words("street_kinds"), judge_street),
    ("ADDRESS", _DIRECTIONS, judge_direction),
    ("LOCATION", frozenset({"county"}), judge_county),
    (
        "ORGANIZATION",
        _list_first_words("organisation_kinds", "organisation_kinds_of_many"),
        judge_organisation,
    ),
    ("ORGANIZATION", _CUES_OF_EMPLOYERS, judge_employer),
    ("FACILITY", frozenset({"north", "south", "east", "west"}), judge_ward),
)
