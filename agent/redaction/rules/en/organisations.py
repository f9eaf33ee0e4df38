r"""Employers, insurers, shops, schools, prisons and practices: by a cue before the name, or by its last word."""

from functools import cache

import regex

from agent.redaction.entities import Entity
from agent.redaction.rules.en.small_letter_places import is_of_a_place
from agent.redaction.rules.rulebook import CODE, WORDS, Digits, Judge, Place, Rule, Signs
from agent.redaction.rules.word_lists import compile_pattern, read_entries, read_words

_NOT_NAMED = (
    r"(?!(?i:none|unknown|self|n/?a|medicare|medicaid|retired|unemployed|private|yes|no|pending|not|same|disabled|student"
    r"|commercial|the|dr|mr|mrs|ms|see|has|is|was)\b)"
)
_INSIDE = r"[\p{L}\d'’&-]{0,30}(?:\.[\p{L}\d]{1,10}){0,3}"
_PART = rf"[\p{{Lu}}\d&]{_INSIDE}"
_NAMED = rf"{_NOT_NAMED}\p{{Lu}}{_INSIDE}(?: (?:(?:of|and|the|for) )?{_PART}){{0,5}}"
_CAPITALISED = r"\p{Lu}[\p{L}'’.-]{1,30}"

RULES = (
    Rule(  # "Employer: Granite Falls Smelting & Alloy"
        "ORGANIZATION",
        WORDS,
        r"(?i)(?:employer|union|insurer|insurance(?: carrier| company| co)?|ins|payer|payor|carrier|sponsor|vendor"
        r"|supplier|workplace|place of work|company|firm)"
        rf"(?:[ \t]{{0,2}}:[ \t]{{0,3}}|,? (?:is|called|named) )\K(?-i:{_NAMED})",
    ),
    Rule(  # "Insurer SportSure Mutual", "billing Northern Tribal Benefit"
        "ORGANIZATION",
        WORDS,
        r"(?i)(?:employer|insurer|payer|payor|carrier|billing|insurance|policy (?:with|w/)|covered by"
        r"|insured (?:by|with))[ /]{1,2}\K"
        rf"(?-i:{_NOT_NAMED}\p{{Lu}}\p{{Ll}}{_INSIDE} (?:\p{{Lu}}\p{{Ll}}{_INSIDE} ){{0,2}}\p{{Lu}}\p{{Ll}}{{2,20}})"
        rf"(?=[,;.)\n]|$| (?i:ref|no|id|policy|member|#)| #| [A-Z]{{2,5}}[-\d])",
    ),
    Rule(  # "his union (Pilots' Guild Federation"
        "ORGANIZATION",
        WORDS,
        r"(?i)(?:his|her|their|my|whose) (?:employer|union|insurer|carrier|company|firm)(?:,? |,? ?\()"
        rf"\K(?-i:{_NAMED})",
    ),
    Rule(
        "ORGANIZATION",
        WORDS,
        r"(?i)(?:thru|ordered (?:from|through)|supplied by|delivered by|charter(?:ed)?(?: by)?|billed to|insured"
        r" (?:by|through|with)|coverage (?:through|with)|banks? (?:at|with)|customer of|contract(?:ed)? with"
        r"|deployed (?:w/|with)|served (?:in|with)|attends|volunteers? (?:at|for|with)|laid off (?:from|by)"
        rf"|fired (?:from|by)|retired from|drives for|hired by) (?:the )?\K(?-i:{_NAMED})",
    ),
    Rule(  # "one from BluegrassOPA"
        "ORGANIZATION",
        WORDS,
        r"(?:from|at) \K\p{Lu}\p{Ll}{3,20}(?:\p{Lu}{2,5}|\p{Lu}\p{Ll}{3,20})(?![\p{L}\d-])",
    ),
    Rule(  # "at bedside Winthrop 5"
        "FACILITY",
        Digits(1, 2, "., )A*"),
        r"(?<=\b(?i:bedside|ward|floor|unit|location|transfer(?:red)? to|tx to|moved? to|back to|down to|up to|up on)"
        r"[: ]{1,2}(?P<since>(?!(?:\L<not_places>|\L<not_organisations>|\L<months>|\L<weekdays>|Stage|Grade|Type"
        r"|Level|Phase|Class|Cycle|Week|Month|Visit|Dose|Version|Area|Zone|Score|Pain|Bay|Bed)\b)"
        r"\p{Lu}\p{Ll}{3,15} ))\d{1,2}"
        r"(?=[.,;)\n]|$| (?:on|for|bed|at)\b)(?![.,]\d)",
    ),
    Rule(  # "The Old Forge, Nether Wick, near Thornaby Cross TC9 2BB"
        "ADDRESS",
        CODE,
        rf"(?<=(?P<since>(?:{_CAPITALISED}(?: {_CAPITALISED}){{0,3}},? (?:near |nr )?){{1,4}}))"
        r"(?<=, (?:near |nr )?(?:\p{L}[\p{L}'’.-]{1,30} ){1,4})[A-Z]{1,2}\d[A-Z\d]? ?\d[ABD-HJLNP-UW-Z]{2}(?!\w)",
    ),
    Rule(  # "Add: h.no 4-118, behind ganesh temple, 2nd cross"
        "ADDRESS",
        WORDS,
        r"(?i)(?:add|addr|address)\.?: ?\K(?:h\.? ?no|d\.? ?no|house|flat|plot|door|villa|near|behind|opp)\b"
        r"[^\n;]{4,100}?"
        r"(?=\.(?:\s|$)|[;\n]|$| {2})",
    ),
    Rule(  # "Lakshmi d/o Venkatappa"
        "NAME",
        WORDS,
        r"(?<=(?<!\p{L})(?P<since>\p{Lu}\p{L}{2,20}(?: \p{Lu}\p{L}{0,20}){0,2} ))(?:[ds]|W)/o "
        r"(?:(?:Late|Shri|Sri|Mr)\.? )?\p{Lu}\p{L}{2,20}(?: \p{Lu}\p{L}{0,20}){0,2}",
    ),
    Rule(  # initials of the author and the typist on the last line: "GRM/lt"
        "NAME",
        Signs(("/",)),
        r"(?<=(?:^|\n)(?P<since>[A-Z]{2,4}))/[a-z]{2,3}(?= {2}|\s*(?:\n|$))",
    ),
    Rule(
        "NAME", WORDS, r"(?i)(?:dict|dictator|author|typist)\.?: ?\K(?-i:[A-Z]{2,3})(?=[/,;\s]|$)"
    ),
)

_BEFORE_NAME = regex.compile(
    r"(?<![\p{L}'’-])(?:\p{Lu}[\p{L}'’-]{1,30}|St\.) (?:(?:\p{Lu}[\p{L}'’-]{1,30}|St\.|&|of|C|E) ){0,4}$"
)
_CUE = regex.compile(
    r"(?:(?<![\p{L}])(?i:at|to|from|with|by|w/|via|thru|through|near|outside|behind)|[:@/]|->) ?$"
)
_BEFORE = 80  # characters before the last word of a name that are read


def judge_organisation(text: str, place: int) -> Place | None:
    """Return the organisation whose last word begins at `place`: "Dobson's Hardware"."""
    return _judge(text, place, "kinds_of_organisations", needs_cue=False)


def judge_organisation_after_cue(text: str, place: int) -> Place | None:
    """Return the organisation whose last word begins at `place` if a word such as "at" precedes it."""
    return _judge(text, place, "kinds_of_organisations_with_a_cue", needs_cue=True)


def _judge(text: str, place: int, kinds: str, *, needs_cue: bool) -> Place | None:
    if not text[place].isupper():
        return None
    kind = _compile_kinds(kinds).match(text, place)
    before = kind and _BEFORE_NAME.search(text, max(0, place - _BEFORE), place)
    if not kind or not before:
        return None
    start = _skip_words_of_no_name(text, before.start(), place)
    if start == place:
        return None
    if needs_cue and not any(map(is_of_a_place, text[start:place].lower().split())):
        return None
    if needs_cue and not _CUE.search(text, max(0, start - 12), start):
        return None
    return Place(start, kind.end())


def _skip_words_of_no_name(text: str, start: int, end: int) -> int:
    """Return the start of the name within capitalised words: after the last that names nothing."""
    names = read_words("en", "not_organisations")
    for word in regex.finditer(r"[\p{L}'’-]+", text[start:end]):
        if word.group().casefold() in names and word.group()[0].isupper():
            return end if _is_last(text, start + word.end(), end) else start + word.end() + 1
    return start


def _is_last(text: str, word_end: int, end: int) -> bool:
    return not text[word_end:end].strip()


@cache
def _compile_kinds(name: str) -> "regex.Pattern[str]":
    return compile_pattern(
        rf"\L<{name}>(?![\p{{L}}\d])(?: (?:&|and) \p{{Lu}}[\p{{L}}'’-]{{2,30}})?"
        r"(?: (?:Local )?\d{1,5}(?:-[A-Z\d]{1,3})?(?![\w%/.]))?",
        "en",
    )


def _list_in_small_letters(name: str) -> frozenset[str]:
    return frozenset(entry.lower() for entry in read_entries("en", name))


JUDGED: tuple[tuple[Entity, frozenset[str], Judge], ...] = (
    ("ORGANIZATION", _list_in_small_letters("kinds_of_organisations"), judge_organisation),
    (
        "ORGANIZATION",
        _list_in_small_letters("kinds_of_organisations_with_a_cue"),
        judge_organisation_after_cue,
    ),
)
