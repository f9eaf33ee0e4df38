"""Names of scores, signs, devices and classifications that are names of people and places, too: "Fisher 4".

A detection that consists of such names alone identifies nobody if a value or a clinical term follows, or if it is one
of several in a list ("No Colles, Smith or Barton"), unless something beside it is said of a person.
"""

from functools import cache

import regex

from agent.redaction.rules.en.names import is_introduced, words
from agent.redaction.rules.en.vocabulary import is_unlisted
from agent.redaction.rules.word_lists import compile_pattern, read_entries
from agent.redaction.spans.span import Span

_REACH = 60  # characters examined on each side
_SMALL_WORD = regex.compile(r"(?<![\p{L}'’-])(?!(?:and|or|vs|de)\b)\p{Ll}{2,20}(?![\p{L}'’-])")
_GRADE_BEFORE = regex.compile(r"(?i)(?:grade|class|stage|type) \w{1,3} \($")
_PART = regex.compile(r"[^\s-]+")
# The halves of a word with a hyphen, of which the other was detected: up to the last letter, and from it on
_FIRST_HALF = regex.compile(
    r"(?:(?<![\p{L}'’])\p{Lu}\p{L}{1,20}-){1,3}(?=\p{Lu}$)|(?:(?<![\p{L}'’])\p{Lu}\p{L}{1,20}){1,3}(?=-$)"
)
_SECOND_HALF = regex.compile(r"\p{L}?(?:-\p{Lu}\p{L}{1,20}){1,3}(?![\p{L}])")
_SEPARATOR = regex.compile(r"\s*(?:,|/|&|(?<![\p{L}])(?:and|or|vs\.?|versus)(?![\p{L}]))\s*")
_GRADE = regex.compile(
    r"(?: (?:I{1,3}[sabAB]?|I?V|VI{0,3}|[A-Z]|\p{Lu}{2,5}|\d{1,3}[a-c]?|(?i:type|stage|grade|class))\.?)+$"
)
_WORD_BEFORE = regex.compile(r"(?<![\p{L}'’-])(\p{Lu}\p{Ll}{2,15}) $")
_SURE_GRADE = regex.compile(r" (?:I{1,3}|IV|V)[abc]\.?$")
_SMALL_BEFORE = regex.compile(r"\p{Ll} $")
_ROMAN = regex.compile(r"(?:I{1,3}|IV|V)\.?")
_VALUE = (
    r"(?:[<>=≥≤~±+-]{1,2} ?|of )?"
    r"(?:\d{1,3}(?:\.\d{1,2})?(?:[/-]\d{1,2})?(?:[a-cA-CTX](?![a-zA-Z]))?"
    r"|[0-4]-?[IVXa-c]{1,4}|I{1,3}[absAB]?|IV|VI{0,3}|[A-E]|[CMETS]\d[A-Z\d]{0,3}|v\d)(?![\p{L}\d%])"
    r"(?! ?(?:y/?o|yrs?|years?|[MFmf](?![\p{L}])|am|pm|mg|days?|weeks?|months?|st|ave|street|road))"
    r"(?![/-]\d|[:.]\d)"
)
# The term that follows, at most two words later: "Bristol stool chart".
_TERM_AFTER = compile_pattern(
    r"(?:[-: ]|[’']s )\s?(?:(?:19|20)\d\d )?(?:(?!\L<not_before_terms>\b)"
    r"(?:\p{Ll}{2,12}(?:-\p{Ll}{2,8})?|\p{Lu}\p{Ll}{3,12}) ){0,2}?(?i:\L<clinical_terms_after_eponyms>)s?(?![\p{L}])",
    "en",
)
_STATE_AFTER = compile_pattern(
    r"(?:[-: ]|[’']s )\s?(?:(?i:\L<states_after_eponyms>)(?![\p{L}])(?! for(?!\p{L}))|[+-](?![\p{L}\d])|= ?\p{Ll})",
    "en",
)
_VALUE_AFTER = regex.compile(rf"(?:[-: ])\s?{_VALUE}")
_NEXT_IN_LIST = regex.compile(
    r"(?:, (?:and |or |no )?| and | or | ?/ ?| vs\.? )(\p{L}[\p{L}’'-]{2,20})"
)
_LAST_IN_LIST = regex.compile(
    r"(\p{L}[\p{L}’'-]{2,20})(?:, (?:and |or |no )?| and | or | ?/ ?| vs\.? )$"
)
_LEAST_IN_LIST = 3
_CAPITAL = regex.compile(r"\p{Lu}[\p{L}’'-]{2,20}")
# A list whose last name is joined by a word: "Ohtahara and Rasmussen"
_LIST_BEFORE_TERM = regex.compile(
    r"(?:\p{Lu}[\p{L}’'-]{2,20}(?: \p{Lu}[\p{L}’'-]{2,20})?, ){0,6}\p{Lu}[\p{L}’'-]{2,20}(?: \p{Lu}[\p{L}’'-]{2,20})?,?"
    r" (?:and|or|versus|vs\.?) (?P<last>\p{Lu}[\p{L}’'-]{2,20})"
)
_LEAST_LISTED = 1  # names of such a list
_NAME_WORD = regex.compile(r"(?<![\p{L}'’-])\p{L}{4,20}(?:-\p{L}{3,20}){0,2}(?![\p{L}-])")
_SHORTEST_SMALL_TRIAL = 5  # letters of a trial in small letters
_MEASURE_AFTER = compile_pattern(r"(?:[- ]|['’]s? )(?i:\L<measures_after_eponyms>)(?!\p{L})", "en")
_SCORE_BEFORE = regex.compile(r"(?<![\p{L}'’-])(\p{L}{4,20}) $")
_MAXIMA = frozenset({4, 5, 6, 8, 9, 10, 12, 15, 18, 20, 21})  # of scores
_MOST_UNLISTED = 3  # words of an eponym of no list
_NEAR = 160  # characters on each side in which other eponyms are counted
_LEAST_NEAR = 3
# Words before a disease: "someone with Graves".
_PATIENT_OF_BEFORE = regex.compile(
    r"(?i)(?<!\p{L})(?:with|has|had|have|hx of|h/o|history of|possible|suspected|known|probable|for|\?) ?$"
)
_DISEASES = frozenset({
    "addison", "alzheimer", "basedow", "bell", "crohn", "cushing", "graves", "hashimoto", "hodgkin", "huntington",
    "kawasaki", "paget", "parkinson", "raynaud", "still", "wegener", "wilson",
})  # fmt: skip
_PERSON_BEFORE = compile_pattern(
    r"(?i)(?<!\p{L})(?:(?:bed|rm|room) \w{1,4}|\L<before_people>)\.?[:,]? ?$", "en"
)
# Words before a person, and before a rule or a device as well: "by Simpson's biplane", "with Frykman II"
_ACTOR_BEFORE = regex.compile(r"(?i)(?<!\p{L})(?:by|per|from|under)[:,]? ?$")
# Words before a finding: "no Capgras", "?Meckel". Rarely somebody's name, a rare eponym in other places may be one.
_FINDING_BEFORE = regex.compile(
    r"(?i)(?:(?<!\p{L})(?:no|not|neg|negative|pos|positive|absent|without|w/o|denies|possible|likely|suspected|known"
    r"|bilateral|bilat|left|right|post|pre|classic|mild|severe|modified|intermittent) |[?+±] ?|-ve |\+ve )$"
)
_COMPANION_BEFORE = regex.compile(r"(?i)(?<!\p{L})(?:w/?|with|for|to)[:,]? ?$")
# "2 kids Kaylee 16, Hunter 12"
_CHILDREN_BEFORE = regex.compile(
    r"(?i)(?<!\p{L})(?:kids?|children|sons|daughters|siblings|brothers|sisters|twins)(?!\p{L})[^.\n]{0,40}$"
)
_PLACE_BEFORE = regex.compile(
    r"(?i)(?<!\p{L})(?:in|at|from|near|to|of|around|outside|lives?|born) (?:the )?$"
)
_PERSON_AFTER = compile_pattern(
    r",? ?\(?(?:\d{1,3} ?(?:[ymfMF](?!\p{L})|yo|y/o|year)"
    r"|(?:MD|DO|RN|NP|PA|CNA|(?i:aged?|who|whose|born|dob|mrn|jr|sr|md|rn))(?!\p{L}))"
    r"|,? (?i:\L<after_people>)(?!\p{L})|['’]s (?:\p{Ll}+ )?\L<belongings>(?!\p{L})",
    "en",
)


def is_eponym(span: Span, text: str) -> bool:
    """Return whether a detection is the name of a score, sign, device or classification and not said of a person."""
    span = _widen_to_whole_words(span, text)
    value = text[span.start : span.end]
    if value.isupper() and _is_trial(value):
        return True
    if _ROMAN.fullmatch(value) and _SMALL_BEFORE.search(text, max(0, span.start - 2), span.start):
        return True
    names, is_in_phrase = _read_names(value), _is_in_phrase(text, span)
    before = text[max(0, span.start - _REACH) : span.start]
    if _is_said_of_person(text, span, before):
        return False
    if value.islower() and len(value) >= _SHORTEST_SMALL_TRIAL and _is_trial(value.upper()):
        # "seen by lantern" may be a person, whatever trials are called.
        return not _is_common_surname(value) and not is_introduced(text, span.start)
    if not names and not is_in_phrase:
        return _is_in_list_of_term(text, span) or _is_unlisted_eponym(text, span)
    if is_in_phrase or _is_disease(names, before) or _GRADE_BEFORE.search(before):
        return True
    if all(map(_is_pair, names)) or _has_term(text, span) or _is_in_list_of_term(text, span):
        return True
    if _ACTOR_BEFORE.search(before) or _fills_line(text, span):
        return False
    if all(map(_is_rare, names)) and _stands_as_finding(text, span, names, before):
        return True
    if _COMPANION_BEFORE.search(before) and not _has_value(text, span):
        return False
    return _is_beside_term(text, span, names, before) or _is_among_eponyms(text, span)


def _widen_to_whole_words(span: Span, text: str) -> Span:
    """Return a detection without punctuation at its ends, and with the other half of a word with a hyphen.

    The models take halves apart: "Lennox-" and "Gastaut", or "Landau" and "-Kleffner".
    """
    value = text[span.start : span.end]
    start = span.start + len(value) - len(value.lstrip(" ,;:("))
    end = span.start + len(value.rstrip(" .,;:)"))
    first_half = _FIRST_HALF.search(text, max(0, start - _REACH), start + 1)
    if first_half is not None:
        start = first_half.start()
    second_half = _SECOND_HALF.match(text, max(start, end - 1))
    if second_half is not None:
        end = second_half.end()
    return Span(start, max(start, end), span.entity)


def _stands_as_finding(text: str, span: Span, names: list[str], before: str) -> bool:
    """Return whether rare eponyms stand after a word for findings, or in a list of eponyms.

    Elsewhere they may be people: "Spoke with Beckwith about the plan".
    """
    if _FINDING_BEFORE.search(before):
        return True
    return len(names) + len(_list_neighbours(text, span)) >= _LEAST_IN_LIST


def _is_unlisted_eponym(text: str, span: Span) -> bool:
    """Return whether a name of no list has a measure after it, or a value in the middle of listed eponyms."""
    value = text[span.start : span.end]
    parts = [part.casefold() for part in regex.findall(r"\p{L}{2,}", value)]
    if (
        not parts
        or len(parts) > _MOST_UNLISTED
        or any(part in words("given_names") for part in parts)
    ):
        return False
    if _MEASURE_AFTER.match(text, span.end):
        return True
    has_value = _GRADE.search(value) or _VALUE_AFTER.match(text, span.end)
    if not has_value and _STATE_AFTER.match(text, span.end) is None:
        return False
    return _is_among_eponyms(text, span)


def is_evident_eponym(text: str, start: int, end: int) -> bool:
    """Return whether a word is an eponym that is rarely a name, or a listed one before a term or a value."""
    word = _NAME_WORD.match(text, start, end)
    if word is None or word.end() != end:
        return _is_trial(text[start:end])
    return _is_rare(word.group()) or _is_trial(word.group()) or _is_evident(text, word)


def is_said_of_person(text: str, span: Span) -> bool:
    """Return whether something beside a detection is said of people, as "Turner's wife" and "Fisher, 52"."""
    return _is_said_of_person(text, span, text[max(0, span.start - _REACH) : span.start])


def is_valued_eponym(text: str, span: Span) -> bool:
    """Return whether a grade or a value stands beside a listed eponym: "Murray 2.75"."""
    names = _read_names(text[span.start : span.end])
    return bool(names) and _has_value(text, span)


def has_term(text: str, span: Span) -> bool:
    """Return whether a clinical term follows a detection: "Cook catheter"."""
    return _has_term(text, span)


def is_listed_eponym(name: str) -> bool:
    """Return whether a name is an eponym, whatever else it is."""
    return _is_listed(name)


def is_rare_eponym(name: str) -> bool:
    """Return whether a name is an eponym and rarely that of a person."""
    return _is_rare(name) or _is_pair(name)


def is_value_of_eponym(text: str, start: int, end: int) -> bool:
    """Return whether two numbers that look like a date are the value of a score among others: "Gorelick 6/10"."""
    value, most = map(int, text[start:end].split("/"))
    if value > most or most not in _MAXIMA:
        return False  # "s/p Whipple 3/28"
    before = _SCORE_BEFORE.search(text, max(0, start - _REACH), start)
    if before is None or not _is_listed(before.group(1)) or _is_given_name(before.group(1)):
        return False
    return _is_among_eponyms(text, Span(before.start(1), start, "NAME"))


def _is_said_of_person(text: str, span: Span, before: str) -> bool:
    if _PERSON_BEFORE.search(before) or is_introduced(text, span.start):
        return True
    if _TERM_AFTER.match(text, span.end, span.end + _REACH):
        return False
    given = _WORD_BEFORE.search(before)
    if given is not None and given.group(1).lower() in words("given_names"):
        return True  # "Virginia Apgar"
    return bool(_CHILDREN_BEFORE.search(before) or _PERSON_AFTER.match(text, span.end))


def _is_beside_term(text: str, span: Span, names: list[str], before: str) -> bool:
    """Return whether a value, a clinical term or another eponym stands beside listed names."""
    is_after_place = _PLACE_BEFORE.search(before) is not None
    is_given = any(map(_is_given_name, names)) and not _SURE_GRADE.search(
        text[span.start : span.end]
    )
    if _has_value(text, span) and not is_after_place and not is_given:
        return True
    if _STATE_AFTER.match(text, span.end) and not any(map(_is_given_name, names)):
        return True
    if is_after_place:
        return False
    others = _list_neighbours(text, span)
    return len(names) + len(others) >= _LEAST_IN_LIST or any(map(_is_rare, others))


def _has_term(text: str, span: Span) -> bool:
    return _TERM_AFTER.match(text, span.end, span.end + _REACH) is not None


def _is_in_list_of_term(text: str, span: Span) -> bool:
    """Return whether a detection is in a list of names before a clinical term: "Bentall, David or Ross operations"."""
    names = _LIST_BEFORE_TERM.match(text, span.start, span.end + 2 * _REACH)
    if names is None or names.start("last") < span.end:
        return False
    last = Span(names.start("last"), names.end("last"), "NAME")
    if not _has_term(text, last):
        return False
    listed = [name for name in _CAPITAL.findall(names.group()) if _is_listed(name)]
    return len(listed) >= _LEAST_LISTED


def _is_among_eponyms(text: str, span: Span) -> bool:
    """Return whether several rare eponyms, or names with a term or a value, stand near, as in a list of findings."""
    first = max(0, span.start - _NEAR)
    near = 0
    for word in _NAME_WORD.finditer(text, first, span.end + _NEAR):
        if word.start() < span.end and span.start < word.end():
            continue
        near += _is_rare(word.group()) or _is_evident(text, word)
    return near >= _LEAST_NEAR


def _is_evident(text: str, word: "regex.Match[str]") -> bool:
    """Return whether a listed name stands before a term: "Murphy sign"."""
    name = word.group()
    if not _is_listed(name):
        return False
    if _TERM_AFTER.match(text, word.end(), word.end() + _REACH) is not None:
        return True
    if _is_given_name(name) or _is_common_surname(name) or name.casefold() in words("word_names"):
        return False
    has_state = _STATE_AFTER.match(text, word.end()) or _VALUE_AFTER.match(text, word.end())
    return has_state is not None


def _has_value(text: str, span: Span) -> bool:
    """Return whether a grade or a value ends a detection or follows it, and no list of patients begins with it."""
    value = text[span.start : span.end]
    if _GRADE.search(value) is None and _VALUE_AFTER.match(text, span.end) is None:
        return False
    is_one_word = " " not in _GRADE.sub("", value)
    return not (is_one_word and _begins_line(text, span.start) and _is_common_surname(value))


def _begins_line(text: str, start: int) -> bool:
    return regex.search(r"(?:^|\n)[ \t*•>\d.)-]{0,8}$", text[max(0, start - 9) : start]) is not None


def _is_common_surname(value: str) -> bool:
    return any(word in words("surnames") for word in regex.findall(r"\p{L}+", value.casefold()))


def _fills_line(text: str, span: Span) -> bool:
    """Return whether a detection stands alone on its line, as names do."""
    following = text[span.end : span.end + 2].strip(" ")
    return _begins_line(text, span.start) and following[:1] in ("", "\n")


def _is_trial(name: str) -> bool:
    return name in _list_trials() and name.casefold() not in words("given_names")


def _is_disease(names: list[str], before: str) -> bool:
    is_disease = len(names) == 1 and names[0].casefold().removesuffix("'s") in _DISEASES
    return is_disease and _PATIENT_OF_BEFORE.search(before) is not None


def _is_given_name(name: str) -> bool:
    return name.casefold() in words("given_names")


def _is_in_phrase(text: str, span: Span) -> bool:
    """Return whether a detection is a part of a listed phrase: "[jackson] pratt"."""
    phrases = _list_phrases().get(text[span.start : span.end].casefold(), ())
    first = max(0, span.start - _REACH)
    around = text[first : span.end + _REACH].casefold()
    start, end = span.start - first, span.end - first
    for phrase in phrases:
        place = around.find(phrase, max(0, end - len(phrase)), start + len(phrase))
        if 0 <= place <= start:
            return True
    return False


def _read_names(value: str) -> list[str]:
    """Return the names of which a value consists, or none if one of them is no listed eponym."""
    if not value.islower():
        value = _SMALL_WORD.sub(_drop_known_word, value)
    names: list[str] = []
    for part in _SEPARATOR.split(value.strip(" .,;:()")):
        name = _GRADE.sub("", part.strip(" .,;:()")).strip(" .,;:()")
        if name:
            names.append(name)
    return names if all(map(_is_listed, names)) else []


def _drop_known_word(word: "regex.Match[str]") -> str:
    return word.group() if is_unlisted(word.group()) else ""


def _is_listed(name: str) -> bool:
    listed = _list_eponyms()
    name = name.removesuffix("'s").removesuffix("’s")
    if name.casefold() in listed:
        return True
    parts = name.split("-") if "-" in name else name.split()
    return len(parts) > 1 and all(part.casefold() in listed for part in parts)


def _list_neighbours(text: str, span: Span) -> list[str]:
    """Return the other listed eponyms of the same list, before and after a detection."""
    neighbours: list[str] = []
    start, end = span.start, span.end
    while (following := _NEXT_IN_LIST.match(text, end)) and _is_listed(following.group(1)):
        neighbours.append(following.group(1))
        end = following.end()
    while preceding := _LAST_IN_LIST.search(text, max(0, start - _REACH), start):
        if not _is_listed(preceding.group(1)):
            break
        neighbours.append(preceding.group(1))
        start = preceding.start()
    return neighbours


def _is_rare(name: str) -> bool:
    """Return whether a name is rarely that of a person."""
    return name.casefold().removesuffix("'s").removesuffix("’s") in _list_rare()


def _is_pair(name: str) -> bool:
    """Return whether a name is that of two discoverers: "Stevens-Johnson"."""
    if _is_rare(name):
        return "-" in name or " " in name
    parts = name.split("-")
    return len(parts) > 1 and any(map(_is_rare, parts))


@cache
def _list_rare() -> frozenset[str]:
    names = (*read_entries("en", "eponyms_alone"), *read_entries("en", "eponyms_rare"))
    return frozenset(name.casefold() for name in names)


@cache
def _list_trials() -> frozenset[str]:
    return frozenset(read_entries("en", "trials"))


@cache
def _list_phrases() -> dict[str, tuple[str, ...]]:
    """Return the eponyms of several words, by each of their words and each of their beginnings and ends."""
    phrases = dict[str, tuple[str, ...]]()
    for name in _list_eponyms():
        words_of_name = list(_PART.finditer(name))
        for first in words_of_name:
            for last in words_of_name:
                piece = name[first.start() : last.end()]
                if piece and piece != name:
                    phrases[piece] = (*phrases.get(piece, ()), name)
    return phrases


@cache
def _list_eponyms() -> frozenset[str]:
    names = read_entries("en", "eponyms_in_context")
    return _list_rare() | frozenset(name.casefold() for name in names) - words("titles")
