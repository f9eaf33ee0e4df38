"""Detect people's names by titles, cues, and lists of common names.

A rule analyses a **run** of adjacent capitalised words and initials ("Can Anna S", "SMITH, JOHN A."). Evidence within
or around the run determines which part of it is a name. Without a trained model, this finds names by their form and
context, and common names anywhere; a rare name without a cue is missed.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.rulebook import ANYWHERE, WORDS, Listed, Rule
from agent.redaction.rules.word_lists import compile_pattern, read_entries, read_words

Span = tuple[int, int]

_WORD = r"(?:\p{Lu}\.(?:\p{Lu}\.)*|\p{Lu}[\p{L}\p{M}]*(?:['-]\p{L}[\p{L}\p{M}]*)*(?<!'s))"
_PARTICLE = r"(?:van|von|der|den|de|del|della|di|da|dos|la|le|bin|ibn|al|el|ter)"
_RUN = regex.compile(
    rf"(?<![\p{{L}}\d_'-]){_WORD}(?:(?:, ?| )(?:{_PARTICLE} ){{0,2}}{_WORD})*(?![\p{{L}}\d_])"
)
_TOKEN = regex.compile(r"[\p{L}\p{M}]+(?:['-][\p{L}\p{M}]+)*\.?")
_LOWER = re.compile(r"(?<![\w'-])[a-zà-öø-ÿ]{3,}")
_LOWER_NEXT = regex.compile(r" (\p{Ll}{3,40})(?![\p{L}'-])")

# Transcribed speech without capitals, where an unambiguous given name is enough evidence.
_LOWER_LINE = regex.compile(r"(?m)^[^\p{Lu}\n]*+$")
_LOWER_WORD = regex.compile(r"(?<![\p{L}'-])\p{Ll}{3,}(?![\p{L}-])")

_TITLE = compile_pattern(
    r"(?<![\p{L}-])(?<!\d ?)(?i:\L<titles_in_short>(?: ?\.|(?![\p{L}]))|\L<titles>(?![\p{L}])) ?$",
    "en",
)
_ABBREVIATED_TITLE = regex.compile(
    r"(?<![\p{L}-])(?<!\d ?)(?:(?i:drs?|mrs?|ms|mx|prof)|Rev|Capt|Sgt|Lt|Sra?|Miss|Sir|Dame|Professor|Doctor"
    r"|Mister)\.? $"
)
_TITLE_WORDS = frozenset(
    {"dr", "drs", "mr", "mrs", "ms", "mx", "miss", "prof", "doctor", "professor", "nurse"}
)
_CUE = compile_pattern(
    r"(?i)(?<![\p{L}])\L<cues>(?:'s name is|'s name| name| is| was)?[,:;(-]* ?$", "en"
)
_STRONG_CUE = compile_pattern(
    r"(?i)(?:(?<!\b(?:sample|file|drug|test|brand|trade|generic|product|study|trial) )name(?:'s| is|d)?"
    r"|\L<acts_of_staff>(?: electronically)? by|\L<strong_cues>)"
    r"(?: name)?(?: is)? ?[,:;-]? ?\s?$"
    r"|\L<cues_with_colon> ?(?:name)?: ?$",
    "en",
)
# The last words of titles and cues. After other words, titles and cues need not be searched for.
_INTRODUCING = frozenset(
    entry.split()[-1]
    for name in ("titles_in_short", "titles", "strong_cues", "cues_with_colon")
    for entry in read_entries("en", name)
) | {"name", "named", "s", "is", "by"}
_CREDENTIAL = regex.compile(
    r",? ?(?:M\.?D|D\.?O|R\.?N|N\.?P|PA-C|PA|Ph\.?D|LCSW|PharmD|DDS|DPM|FACP|FACS|MBBS|FRCP|CRNA|MSN|BSN|DNP|APRN)\b"
)
_AFTER_APPOSITION = regex.compile(
    r"[,)]? ?\(?(?:,|who|whose|was|is|has|had|presented|presents|presenting|admitted|seen|treated|evaluated"
    r"|diagnosed|with|aged?"
    r"|\d{1,3}[ -]?(?:y|year)|DOB|MRN|born|s/p|post|after|at|from|in)\b|^[,)?.]"
)
_BEFORE_APPOSITION = regex.compile(r"(?:[\p{Ll}\d)+'%]|\b[A-Z]{2,}|[A-Z]\d), ?$")
_TERM_NEXT = compile_pattern(
    r"(?:'s)? ?-?(?i:\L<eponyms>|criterion|operation|repair|manoeuvre|position|cells?|node|nodule|body|bodies|ataxia"
    r"|chorea|dystrophy|ana?emia|rule|law|method|model|curve|plot|hospital|clinic|centre|center|university|medical"
    r"|street|avenue|county|city)\b",
    "en",
)


@cache
def words(name: str) -> frozenset[str]:
    """Return a word list of this package in lower case, word by word, or line by line if lines have several words."""
    if name in ("places", "facilities"):
        return frozenset(read_entries("en", name))
    return read_words("en", name)


def everyday() -> frozenset[str]:
    """Return the lower-case words that do not identify a person on their own."""
    return words("everyday_words") | _read_terms()


# A value in a name field is a name, however it is written.
RULES = (
    Rule(  # "Holloway asked for this list."
        "NAME",
        ANYWHERE,
        r"(?<=(?:^|[.!?;\n])\s{0,2})(?-i:\p{Lu}\p{Ll}{4,15})(?= (?:(?:asked|phoned|e-?mailed|texted|called) (?:for|to"
        r"|me|us|that|about|if|whether|back)|has (?:one|two|three|four|five) (?:sons?|daughters?|brothers?))\b)"
        r"(?<!\b(?i:\L<family>|\L<roles>|\L<professions>|\L<fields_of_facilities>|patient|client|family|police|ambulance"
        r"|pharmacy|some(?:body|one)|every(?:body|one)|any(?:body|one)|partner|student|resident|woman|child|caller|insurance"
        r"|insurer|theatre|wards?|neighbou?rs?|school|hospital|clinic|social|reception|security|triage|others?|nobody))",
        (" asked ", " phoned ", "mailed ", " texted ", " called ", " has "),
    ),
    Rule(  # "Referring doctors:\nA. Zellweger\nB. Szczepanik"
        "NAME",
        ANYWHERE,
        r"(?<=(?i:doctors|physicians|surgeons|consultants|nurses|clinicians|providers|contacts): ?\n"
        r"(?:(?:\p{Lu}\. )?\p{Lu}[\p{L}'’-]{2,20}\n){0,8}\p{Lu}\. )\p{Lu}[\p{L}'’-]{2,20}(?=\n|$)",
        ("s:\n", "s: \n"),
    ),
    Rule(  # "trop for Ferreira bed 22"
        "NAME",
        WORDS,
        r"(?i:for|on|in|re|about|with|from|to|pt):? \K(?!(?:ICU|Level|Room|Bed|Hospital|Unit|Ward|Trauma)\b)"
        r"\p{Lu}\p{Ll}{2,20}(?: \p{Lu}\p{Ll}{2,20})?(?=,? (?i:bed|room|rm|bay) ?#?\d)",
    ),
    Rule(  # "kids Ada 16, Bo 12"
        "NAME",
        ANYWHERE,
        r"\p{Lu}\p{Ll}{1,15}(?=,? \(?\d{1,2}\b)"
        r"(?<=\b(?i:kids|children|sons|daughters|siblings|grandkids|grandchildren)[: ]{1,2}(?:are )?"
        r"(?:\p{Lu}\p{Ll}{1,15},? \(?\d{1,2}(?: ?y/?o)?\)?,? (?:and |& )?){0,5}\p{Lu}\p{Ll}{1,15})",
        ("kids", "children", "sons ", "daughters ", "siblings "),
    ),
    Rule(  # "adm under mr ong."
        "NAME",
        WORDS,
        r"(?:mr|mrs|ms|dr) (?!(?:is|on|to|of|in|at|or|and|for|has|had|was|the|his|her|who|re|said"
        r"|then|if|by|as|it|no|not|vs"
        r"|w|pt|pts|angi|scan|spec|ii|iii|iv|r|l|echo|cp|ccu|icu|ed|er|gp|opd|rv|fu|due|see|saw|ask|wk|rx|dx|hx|ix|tx)\b)"
        r"\K\p{Ll}{2,3}(?=[.,;)/]|[ \t]*(?:\n|$)| (?:on|at|re|who|called|says|said|aware|reviewed|will|to)\b)"
        r"(?<=(?:\b(?:adm|admitted|under|by|with|w/|d/w|to|per|from|see|surg|surgical|surgeon|medical|cons|consultant|ref|review"
        r"|seen|thank|thanks|dear|hi|for|told|called|paged|and)\b[ :]{0,2}|[:,;.] )(?:mr|mrs|ms|dr) \p{Ll}{2,3})",
    ),
    Rule(  # "cousin jj"
        "NAME",
        WORDS,
        r"(?:cousin|brother|bro|sister|sis|son|dau|daughter|friend|mate|uncle|aunt|aunty|nephew|niece|partner|boyfriend|bf|gf"
        r"|roommate|flatmate|husband|wife|grandson|stepson|twin|kids?)(?: is| called| named|,)? \K"
        r"(?:jj|dj|tj|aj|cj|pj|mj|bj|kj|rj|lj|jd|jt|kc|jb|jc|jp|jr|dd|cc|bb|jay|jaz)(?![\p{L}\d'’/-])",
    ),
    Rule(
        "NAME",
        WORDS,
        r"(?i)(?<!\b(?:sample|file|drug|test|brand|trade|generic|product|study|trial) )"
        r"(?:(?:patient(?:'s)?|first|last|given|family|middle|maiden|full|mother'?s|father'?s) ?)?(?:name"
        r"|surname|forename)s?"
        r"(?: \([^)\n]{1,20}\))?[ \t]{0,3}[:=][ \t]{0,3}\K(?!(?:unknown|n/?a|none|not|see|same|yes|no)\b)"
        r"\p{L}[\p{L}\p{M}'.-]{0,30}(?:,? [\p{L}][\p{L}\p{M}'.-]{0,30}){0,3}?(?=[ \t]{2}|[,;|/()\n\t]|\.(?:\s|$)"
        r"|$| (?:DOB|MRN|Age|Sex"
        r"|Gender|ID|SSN|Date|Address|Phone|is|was|and|has|who"
        r"|with)\b)(?:,[ \t]\p{Lu}[\p{L}'.-]{0,30}(?: \p{Lu}\.?)?(?=[ \t]{2}|[;|()\n\t]|$))?",
    ),
    Rule(
        "NAME",
        WORDS,
        r"(?i)(?:attending|physician|provider|surgeon|pcp|gp|consultant|author|nurse|resident|fellow|cosigne[dr]"
        r"|signed|dictated"
        r"|radiologist|pathologist|anesthesiologist|cc)(?: (?:md|by|name|physician))?[ \t]{0,2}:[ \t]{0,3}\K"
        r"(?-i:\p{Lu}[\p{L}\p{M}'-]{1,30}(?: \p{Lu}[\p{L}'-]{1,30})?, \p{Lu}[\p{L}\p{M}'.-]{0,30}(?: \p{Lu}\.?)?)"
        r"(?=[ \t]{2}|[,;|()\n.]|$)",
    ),
    Rule(
        "NAME",
        Listed("relatives"),
        r"(?i)\p{L}{3,13}(?:'s name is|,| is named| named)? \K(?-i:(?!(?:Alive|Deceased|Died|Dead|Has|Had|Is|Was"
        r"|With|Who|And|At"
        r"|In|Healthy|Well|Unknown|Living|History|The|Diagnosed|Diabetes|Hypertension|Cancer|Breast|Both|No|Not"
        r"|None)\b)"
        r"\p{Lu}\p{Ll}{2,20}(?: \p{Lu}\p{Ll}{2,20})?)(?=[ ,.;)(]|$)(?!'?s? (?:disease|syndrome|cancer|school)\b)",
    ),
    Rule("NAME", WORDS, r"(?i)roommate: \K(?-i:\p{Lu}\p{Ll}{2,20}(?: \p{Lu}\p{Ll}{2,20})?)"),
    Rule(
        "NAME",
        "a b c d e f g h i j k l m n o p q r s t u v w x y z",
        r"(?<![\p{L}\d.-])(?<!(?i:type|stage|grade|hepatitis|vitamin|group|class|factor|option|answer|choice"
        r"|influenza|[°\d]) )"
        r"\p{Lu}\. (?:\p{Lu}\. )?\p{Lu}[\p{Ll}'-]{2,20}(?:\p{Lu}\p{Ll}{2,20})?(?=,? (?:II|III|IV|Jr|Sr|DOB|MRN|MD"
        r"|RN|SSN)\b)(?: (?:II|III|IV|Jr|Sr)\b\.?)?",
    ),
    Rule(
        "NAME",
        WORDS,
        r"(?<=(?<![\p{L}\d])(?P<since>(?:\p{Lu}\.|\p{Lu}[\p{L}'-]{1,30})(?: (?:(?:de|la|del|van|von|der|den|di|da"
        r"|al|el|bin) ){0,2}"
        r"(?:\p{Lu}\.|\p{Lu}[\p{L}'-]{1,30})){1,3}),? )(?:MD|M\.D|DO|RN|NP|PA(?:-C)?|PhD|LCSW|PharmD|DDS|DPM|MBBS"
        r"|FRCP|CRNA|MSN|BSN"
        r"|DNP|APRN|LPN|CNA)(?![\p{L}\d])",
    ),
)


def name_findings(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield the detections of `find_names` as a rulebook expects them."""
    return (
        ("NAME", _find_start_with_titles(text, start), end)
        for start, end in find_names(text, deadline)
    )


def _find_start_with_titles(text: str, start: int) -> int:
    """Return the start of the titles directly before the name at `start` ("Prof. Dr."), or `start` without titles."""
    for _ in range(3):
        title = _ABBREVIATED_TITLE.search(text, max(0, start - 12), start)
        if title is None:
            break
        start = title.start()
    return start


def find_names(text: str, deadline: Deadline) -> Iterator[Span]:
    """Yield the spans of names in folded text; they may overlap.

    Raises:
        TimeoutError: the deadline passed.
    """
    for run in _RUN.finditer(text, timeout=deadline.left()):
        yield from _find_in_run(text, run.start(), run.end())
    given, family = _read_plain_given_names(), _read_plain_surnames()
    for word in _LOWER.finditer(text):
        if (
            word.group() in given
            and (after := _LOWER_NEXT.match(text, word.end()))
            and after.group(1) in family
        ):
            yield word.start(), after.end()
    for line in _LOWER_LINE.finditer(text, timeout=deadline.left()):
        yield from _find_without_capitals(text, line.start(), line.end())


def _find_without_capitals(text: str, start: int, end: int) -> Iterator[Span]:
    family_next = False
    for word in _LOWER_WORD.finditer(text, start, end):
        before = text[max(0, word.start() - 12) : word.start()]
        listed = word.group() in words("surnames") or word.group() in words("given_names")
        titled = bool(_TITLE.search(before)) and (
            listed or (before.rstrip().endswith(".") and word.group() not in everyday())
        )
        if (
            titled
            or word.group() in _read_plain_given_names()
            or (family_next and word.group() in words("surnames"))
        ):
            yield word.span()
        family_next = titled


def _find_in_run(text: str, start: int, end: int) -> Iterator[Span]:
    tokens = [
        (m.group().rstrip("."), m.start(), m.end()) for m in _TOKEN.finditer(text, start, end)
    ]
    found_until = start
    for index, (word, word_start, word_end) in enumerate(tokens):
        if word_start < found_until:
            continue
        span = None
        if word.casefold() in _TITLE_WORDS:
            continue
        is_method = (
            len(tokens) == 1 and word.isupper() and _follows_by(text, word_start)
        )  # "by PCR"
        if not is_method and is_introduced(text, word_start):
            span = _trim_name(text, tokens, index)
        elif _is_given_name(word) and not _TERM_NEXT.match(text, word_end):
            span = _find_from_given_name(text, tokens, index)
        if span:
            yield span
            found_until = span[1]
    if found_until > start:
        return
    yield from _find_without_given_name(text, tokens, text[max(0, start - 40) : start])


def is_introduced(text: str, word_start: int) -> bool:
    """Return whether a title or a cue directly precedes the word at `word_start`."""
    if _read_word_before(text, word_start) not in _INTRODUCING:
        return False
    before = text[max(0, word_start - 40) : word_start]
    return bool(_TITLE.search(before) or _STRONG_CUE.search(before))


def _read_word_before(text: str, place: int) -> str:
    """Return the word that ends at most four characters before `place`, in lower case, or "" if there is none."""
    end = place
    while end > 0 and not text[end - 1].isalpha():
        end -= 1
        if place - end > 4:
            return ""
    start = end
    while start > 0 and text[start - 1].isalpha():
        start -= 1
    return text[start:end].lower()


def _follows_by(text: str, word_start: int) -> bool:
    """Return whether the word follows "by", which precedes methods in capitals as often as people."""
    return text[max(0, word_start - 4) : word_start].casefold().endswith("by ")


def _find_from_given_name(text: str, tokens: list[tuple[str, int, int]], index: int) -> Span | None:
    """Return the name that the given name at `index` begins, or ends after "Family, ", if there is one."""
    word, start, end = tokens[index]
    rest = tokens[index + 1 :]
    ambiguous = word.casefold() in words("everyday_words")
    if (
        index
        and text[tokens[index - 1][2] : start].strip() == ","
        and _may_be_family(tokens[index - 1][0])
    ):
        previous = tokens[index - 1][0]
        if previous.casefold() in words("surnames") or (
            previous.isupper() == word.isupper() and not ambiguous
        ):
            return tokens[index - 1][1], _trim_name(text, tokens, index)[1]
    if rest and text[end : rest[0][1]].strip() in ("", "."):
        following = rest[0][0]
        initial = len(following.replace(".", "")) == 1
        family = following.casefold() in words("surnames")
        if (initial and not ambiguous) or family or (not ambiguous and not _is_term(following)):
            return _trim_name(text, tokens, index)
        if initial and text[rest[0][2] - 1] == ".":
            return _trim_name(text, tokens, index)
    if not ambiguous and not word.isupper() and not _TERM_NEXT.match(text, end):
        return start, end
    return None


def _find_without_given_name(
    text: str, tokens: list[tuple[str, int, int]], before: str
) -> Iterator[Span]:
    first, last = tokens[0], tokens[-1]
    after = text[last[2] : last[2] + 24]
    if len(tokens) <= 4 and len(first[0]) > 1 and _CREDENTIAL.match(after):
        yield first[1], last[2]
        return
    for (word, start, _), (following, _, end) in pairwise(tokens):
        initial = len(following) == 1 and text[end - 1] == "."
        plain = not _is_term(word) and not word.isupper() and len(word) > 2
        if (plain and initial and word.casefold() not in words("medical_words")) or (
            plain and not following.isupper() and following.casefold() in _read_plain_surnames()
        ):
            yield start, _find_end_of_family_name(text, tokens, end)
    if (
        2 <= len(tokens) <= 4
        and all(not _is_term(word) for word, _, _ in tokens)
        and not (first[0].isupper() and len(first[0]) > 1)
        and "," not in text[first[1] : last[2]]
        and not _TERM_NEXT.match(text, last[2])
        and (
            (_CUE.search(before) and _AFTER_APPOSITION.match(after))
            or (_BEFORE_APPOSITION.search(before) and _AFTER_APPOSITION.match(after))
        )
    ):
        yield first[1], last[2]


def _find_end_of_family_name(text: str, tokens: list[tuple[str, int, int]], end: int) -> int:
    """Return the end of a name whose first part ends at `end`, including the next word unless it is a term."""
    for word, next_start, next_end in tokens:
        if next_start == end + 1 and text[end] == " " and not _is_term(word):
            return next_end
    return end


def _trim_name(text: str, tokens: list[tuple[str, int, int]], index: int) -> Span:
    """Return the span of the name that begins at token `index`: up to four words, before any comma or term."""
    end = tokens[index][2]
    for word, next_start, next_end in tokens[index + 1 : index + 5]:
        if "," in text[end:next_start] or (
            _is_term(word) and len(word) > 1 and word.casefold() not in words("surnames")
        ):
            break
        end = next_end
    return tokens[index][1], end


def _is_given_name(word: str) -> bool:
    return (
        all(part.casefold() in words("given_names") for part in word.split("-")[:1])
        and len(word) > 1
    )


@cache
def _read_plain_given_names() -> frozenset[str]:
    return words("given_names") - words("everyday_words") - _read_terms()


@cache
def _read_plain_surnames() -> frozenset[str]:
    return words("surnames") - words("everyday_words")


@cache
def _read_terms() -> frozenset[str]:
    """Return capitalised words that are never part of a name: function words, months, and medical words."""
    return words("medical_words") | words("function_words")


def _may_be_family(word: str) -> bool:
    return len(word) > 2 and not _is_term(word)


def _is_term(word: str) -> bool:
    return word.casefold() in _read_terms()
