"""Drop detections that consist of ordinary words, medical terms or countries, where nothing points to a person.

The models take a rare word alone in an answer option, a word at the beginning of a heading or the country of a study
for a name. Such a detection is dropped if its words are in the lists or have a form that no name has, and neither a
title nor another identifier nor anything else said of people is beside it.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import regex

from agent.redaction.rules.en.names import is_introduced, words
from agent.redaction.rules.en.unknown import is_safe
from agent.redaction.rules.en.vocabulary import is_listed_word, is_made_of_word
from agent.redaction.rules.word_lists import compile_pattern, read_entries
from agent.redaction.spans.eponyms import is_eponym, is_listed_eponym, is_value_of_eponym
from agent.redaction.spans.makers import is_maker
from agent.redaction.spans.span import Span
from agent.redaction.spans.study_periods import is_study_period

_IN_WORDS = frozenset({"NAME", "LOCATION", "FACILITY", "ORGANIZATION"})
_BESIDE = _IN_WORDS | {"ADDRESS", "ZIP"}
_WORD = regex.compile(r"[\p{L}\p{M}]+")
_OF_EPONYMS = _IN_WORDS | {"ADDRESS"}
_MOST_WORDS = 4
_REACH = 60  # characters examined on each side
_GAP_LENGTH = 3  # characters between two words of one name
_GAP = regex.compile(rf"[\s,.'’\"“”&/()-]{{0,{_GAP_LENGTH}}}")

# The models take these for names in transcripts, where a speaker breaks off ("of your-"), and in mixed texts.
_READ_AS_NAMES = frozenset(
    {"your", "and", "the", "you", "this", "that", "with", "from", "was", "were", "have", "hm"}
)
_JOINTS = frozenset({"and", "of", "the", "for"})
_TERM = compile_pattern(r"(?i)\p{L}*\L<medical_endings>s?", "en")
_SHORTEST_TERM = 6  # letters
_SHORTEST_WORD = 4  # letters; shorter words may be initials or short names
_SHORTEST_MADE_WORD = (
    7  # letters of a word that is only made of a listed one, or in the list of shorthand
)
_SHORTEST_ACRONYM = 3  # letters
_BRITISH_ENDING = regex.compile(r"s(?=(?:e[sd]?|ing|ations?)$)(?<=[iy]s)")
# "Nurse Derivation": no name ends like this.
_ABSTRACT = regex.compile(r"\p{L}{3,}(?:ation|ction|ology)s?")

_SAID_OF_PEOPLE = (
    r"['’]s?(?!\p{L})|[\"”],? |,? ?\(?(?i:who|whose|aged?|DOB|MRN|born|\d{1,3}[ -]?(?:y|m(?:o|\b)|f\b)|\d{1,3}\))"
    r"|,? ?\(?(?:MD|M\.D|DO|RN|NP|PA|PhD|MBBS|DDS|LPN|CNA|PharmD)(?!\p{L})"
    r"|, (?:the|an?|my|his|her|our) \p{Ll}+(?=[,.;])| from (?!the )"
    r"|,? (?:(?:is|was) (?:an?|the|my|his|her|our|in|at|here|seen|admitted|\d)|has (?:been|an?)|had (?:an?|been)"
    r"|(?:say|report|state|want|call|work|live|feel|complain|present|return|drink|smoke|ask|wake|walk|sleep|eat)(?:s|ed)"
    r"|said|came|comes|went|told|took|den(?:ies|ied)|felt|slept|ate|will|and (?:I|he|she|his|her|my))(?!\p{L})"
)
_CUE_AFTER = regex.compile(_SAID_OF_PEOPLE + r"|,? \p{Lu}\.?(?![\p{L}\d])")
# Words before a name, and words before a name or place.
_PREPOSITIONS = frozenset(
    {"to", "from", "for", "with", "about", "like", "under", "re", "is", "am", "similar to"}
)
_PERSON_BEFORE = "|".join(
    entry for entry in read_entries("en", "cues") if entry not in _PREPOSITIONS
)
_NAME_BEFORE = regex.compile(rf"(?i)(?<!\p{{L}})(?:{_PERSON_BEFORE})[ :,(\"'“-]{{1,3}}$")
_CUE_BEFORE = regex.compile(
    rf"(?i)(?<!\p{{L}})(?:{_PERSON_BEFORE}|{'|'.join(_PREPOSITIONS)}|in|at|near|outside|around|of|by|lived?|lives|moved"
    r"|goes by|ask|tell|told|asked|and|&)[ :,(\"'“-]{1,3}(?:the |our )?$"
)
_PLACE_BEFORE = regex.compile(r"(?i)(?<!\p{L})(?:in|at|from|near|to|of|around|outside) (?:the )?$")
# "Surname: Lie", "Employer: Barrage", known as "Scalpel"
_LABEL_BEFORE = compile_pattern(
    r"(?i)(?<!\p{L})\L<identity_labels>(?!\p{L})[^\n:=]{0,20}[:=][ \t]{0,3}$|[\"“]$"
    r"|(?<!\p{L})(?:greetings|good (?:morning|afternoon|evening)|hey|miss|saw|met|siblings|kids|children)[ ,]{1,2}$"
    r"|(?<!\p{L})(?:twin|triplet|baby) [A-D]:? $",
    "en",
)
# An answer in a transcript: "Patient: Gave up in 2011."
_ANSWER_BEFORE = regex.compile(
    r"(?im)^(?:patient|client|doctor|nurse|mother|father|parent|clinician|therapist)[ \t]{0,3}:[ \t]{0,3}$"
)
_ANSWERS = regex.compile(r"(?im)^(?:patient|client|doctor|nurse|clinician|therapist)[ \t]{0,3}:")
_LEAST_ANSWERS = 3  # of a transcript
_NEAR_TURNS = 2_000  # characters on each side in which its turns are counted
_ANSWER_AFTER = regex.compile(r",? \p{Ll}|[,.?!]( |$|\n)")
_BY_BEFORE = regex.compile(r"(?i)(?<!\p{L})(?:by|per) $")
_SIGNED = regex.compile(
    r"(?:,|(?i:thanks|regards|yours|sincerely|love|best|cheers))[ \t]*\n[ \t\n]*$"
)
_BEGINNING = regex.compile(
    r"(?:^|[.?!:;>|*#\]}•]|\n|[\"'“(]|[-–]\n?|\b\d{1,3}[.)]|\b[a-h]\))[ \t\"'“(*]{0,3}$"
)
_CAPITALISED = r"\p{Lu}[\p{L}\p{M}]*+"
_LINK = r"(?: and | of | for | the |-| )"
_PHRASE_BEFORE = regex.compile(rf"(?<![\p{{L}}\d])(?:{_CAPITALISED}{_LINK}){{1,5}}$")
_PHRASE_AFTER = regex.compile(rf"(?:{_LINK}{_CAPITALISED}){{1,5}}(?![\p{{L}}\d])")
_INSTITUTION = compile_pattern(
    r"(?i)(?<!\p{L})(?:\L<facilities_by_kind>|\L<parts_of_facilities>|\L<institution_words>)(?!\p{L})",
    "en",
)
# "RN, CCRN", "wound check with PHN"
_AFTER_NAME = regex.compile(r"(?:\p{L}\.?,? |(?<!\p{L})(?:with|by|to|from|per) )$")
_LANGUAGE_BEFORE = regex.compile(
    r"(?i)(?<!\p{L})(?:in|speaks?|speaking|spoken|language|interpreter|interpreted|translated into"
    r"|into|reads|fluent)[ :(]{1,3}$"
)
# "Sr. NOT": the models take suffixes apart from their names, at times with the stressed word behind them.
_SUFFIXES_AND_STRESSED_WORDS = frozenset({"jr", "sr", "not", "denies"})
_BARE_PAIR = regex.compile(r"\d{1,2}/\d{1,2}")
_UNITS = frozenset(
    {"ward", "unit", "clinic", "suite", "theatre", "theatres", "resus", "recovery", "floor"}
)
# "38.2 Cel": what follows a measured value at once is its unit.
_VALUE_BEFORE = regex.compile(r"\d[.,]\d{1,3} $")
_THERAPY_AFTER = regex.compile(
    r"(?i) (?:transfusions?|infusions?|therapy|prophylaxis|levels?)(?!\p{L})"
)
_THERAPY_BEFORE = regex.compile(r"(?i)(?<!\p{L})(?:overload|transfusion|infusion|level) of $")
_DOSE_BEFORE = regex.compile(r"(?i)(?<!\p{L})(?:dos(?:e|es|age)|tablets?|capsules?|mg|mcg) of $")
_LISTS_OF_TIMES = (
    "times_in_words", "months", "months_in_short", "weekdays", "weekdays_in_short", "one_to_nine", "teens", "ordinals",
)  # fmt: skip

_STUDIES = compile_pattern(r"(?i)(?<!\p{L})\L<study_words>(?!\p{L})", "en")
_TRAVEL = regex.compile(
    r"(?i)(?<!\p{L})(?:travel(?:s|led|ed|ing|ling)?|trips?|visit(?:s|ed|ing)?|return(?:s|ed|ing)?|vacation(?:ed|ing)?"
    r"|holidays?|c[ao]m(?:e|ing) back|flew|fl(?:y|ies|ying|ight)|safari|deployed|mission(?:ary)?)"
    r"(?: \p{Ll}+){0,3} (?:to|from|in|through|across)(?: (?:the|rural|northern|southern|eastern|western|central"
    r"|sub-saharan))? $"
)
_FROM = regex.compile(r"(?i)(?<!\p{L})from (?:the )?$")
_FROM_A_STUDY = compile_pattern(r"(?i)(?<!\p{L})\L<study_words> from (?:the )?$", "en")
_OF_A_PERSON = regex.compile(
    r"(?<!\p{L})(?:(?i:I|my|me|he|she|his|her|him|lives?|lived|living|born|moved|native|originally|address|resid(?:es?|ing)"
    r"|immigra\p{L}+|emigrated|(?:am|is|was|were|comes?) from)(?!\p{L})|I['’])"
)
_PART_OF_COUNTRY = regex.compile(
    r"(?i)^(?:the )?(?:(?:north|south|east|west)(?:ern)? |midwestern |central |rural |mainland )?(?=\p{L})"
)
_LIST = regex.compile(r",? and |, ")
_NAME_GOES_ON = regex.compile(
    r"(?<!\p{L})(?:(?!(?:In|From|To|The|Of|And)\b)\p{Lu}\p{Ll}+ (?:of )?|(?i:new|city of|county of|town of) )$"
)
_SENTENCE_END = regex.compile(r"[.?!]\s|\n\n")
_SENTENCE = 400  # characters that are examined on each side
_WORK = regex.compile(
    r"(?i)(?<!\p{L})(?:works?|worked|working|employed|employee|job|retired)(?!\p{L})"
)
_EMPLOYED_BEFORE = regex.compile(
    r"(?i)(?<!\p{L})(?:works?|worked|working|employed|jobs?|retired|drives?|drove|driver|manager|owner|clerk"
    r"|cashier|engineer|accountant) (?:for|at|by|of|from|with) $"
)


def drop_ordinary(spans: Iterable[Span], text: str) -> Iterator[Span]:
    """Yield the detections without those that identify nobody, unless such a one is beside another."""
    ordinary: list[Span] = []
    identifying: list[Span] = []
    for span in spans:
        if span.entity in _IN_WORDS and _is_label_or_credential(span, text):
            continue
        if _is_ordinary(span, text):
            ordinary.append(span)
        else:
            identifying.append(span)
    yield from identifying
    if ordinary:
        neighbours = sorted(
            (span for span in identifying if span.entity in _BESIDE), key=lambda span: span.start
        )
        yield from _find_beside(ordinary, neighbours, text)


def _find_beside(ordinary: Iterable[Span], neighbours: Sequence[Span], text: str) -> Iterator[Span]:
    """Yield the ordinary detections that overlap a neighbour, or may be parts of one name or address with it."""
    longest = max((span.end - span.start for span in neighbours), default=0)
    for span in ordinary:
        first = bisect_left(
            neighbours, span.start - longest - _GAP_LENGTH, key=lambda one: one.start
        )
        last = bisect_left(neighbours, span.end + _GAP_LENGTH + 1, key=lambda one: one.start)
        if any(_are_beside(span, neighbour, text) for neighbour in neighbours[first:last]):
            yield span


def _are_beside(span: Span, other: Span, text: str) -> bool:
    if other.entity == "FACILITY" and _is_country(text[span.start : span.end]):
        return False  # a hospital of a study: "Severance Hospital, Korea"
    first, second = sorted((span, other), key=lambda one: one.start)
    return first.end >= second.start or _GAP.fullmatch(text, first.end, second.start) is not None


def _is_ordinary(span: Span, text: str) -> bool:
    value = text[span.start : span.end]
    if span.entity == "DATE" and _is_date_of_nobody(span, text, value):
        return True
    if span.entity in _OF_EPONYMS and (is_eponym(span, text) or is_maker(span, text)):
        return True
    if span.entity == "ID" and value.strip(" .:").lower() in words("labels_alone"):
        return True
    if span.entity not in _IN_WORDS | {"DATE"} or any(map(str.isdigit, value)):
        return False
    parts = _WORD.findall(value)
    if not parts:
        return True
    if len(parts) > _MOST_WORDS:
        is_public = value in read_entries("en", "public_bodies")
        return is_public or (_are_countries(value) and _is_of_a_study_or_journey(span, text))
    if span.entity == "DATE":
        is_word = all(_is_plain(part) or is_listed_eponym(part) for part in parts)
        return is_word and not any(map(_tells_time, parts))
    before = text[max(0, span.start - _REACH) : span.start]
    if _is_answer(span, text, parts) or _is_measured_or_dosed(before, parts):
        return True
    if _LABEL_BEFORE.search(before) or any(part.lower() in _read_titles() for part in parts):
        return False
    if _BY_BEFORE.search(before) and not value.islower():
        return False
    if is_introduced(text, span.start):
        return _ABSTRACT.fullmatch(value) is not None and _is_plain(value)
    return _is_term_of_the_world(span, text, value) or _is_made_of_words(span, text, parts)


def _is_label_or_credential(span: Span, text: str) -> bool:
    """Return whether words are only a label, an office, letters after a name, a title, or a language that is spoken."""
    parts = _WORD.findall(text[span.start : span.end])
    if not 0 < len(parts) <= _MOST_WORDS:
        return False
    if all(part in _read_credentials() for part in parts):
        return (
            _AFTER_NAME.search(text, max(0, span.start - _REACH), span.start) is not None
            or len(parts[0]) > _SHORTEST_ACRONYM
        )
    lower = [part.lower() for part in parts]
    if all(part in _read_titles() or part in _SUFFIXES_AND_STRESSED_WORDS for part in lower):
        return True
    if span.entity in ("NAME", "LOCATION") and len(parts) == 1 and lower[0] in words("languages"):
        before = text[max(0, span.start - _REACH) : span.start]
        return _LANGUAGE_BEFORE.search(before) is not None
    is_label = all(part in words("labels_alone") for part in lower)
    return (
        is_label and not is_introduced(text, span.start) and not _PHRASE_AFTER.match(text, span.end)
    )


def _is_date_of_nobody(span: Span, text: str, value: str) -> bool:
    """Return whether a detected date is a period of a study or the value of a score."""
    if is_study_period(text, span.start, span.end):
        return True
    return _BARE_PAIR.fullmatch(value) is not None and is_value_of_eponym(
        text, span.start, span.end
    )


def _is_measured_or_dosed(before: str, parts: list[str]) -> bool:
    """Return whether one word is the unit of a value, or in small letters what a dose is of."""
    if len(parts) > 1:
        return False
    if parts[0].lower() in words("units_of_measure") and _VALUE_BEFORE.search(before):
        return True
    is_name = _is_listed(parts[0]) or not parts[0].islower()
    return not is_name and _DOSE_BEFORE.search(before) is not None


def _is_answer(span: Span, text: str, parts: list[str]) -> bool:
    """Return whether a detection is the first word of what somebody says, and the sentence goes on."""
    if len(parts) > 1 or _ANSWER_AFTER.match(text, span.end) is None:
        return False
    if _ANSWER_BEFORE.search(text, max(0, span.start - _REACH), span.start) is None:
        return False
    is_word = is_safe(parts[0]) and not _is_listed_name(parts[0])
    return is_word and _is_in_transcript(text, span)


def _is_in_transcript(text: str, span: Span) -> bool:
    """Return whether several turns of speakers stand near a detection."""
    near = text[max(0, span.start - _NEAR_TURNS) : span.end + _NEAR_TURNS]
    return len(_ANSWERS.findall(near)) >= _LEAST_ANSWERS


def _is_listed_name(word: str) -> bool:
    return any(word.lower() in words(name) for name in ("given_names", "surnames", "word_names"))


def _is_term_of_the_world(span: Span, text: str, value: str) -> bool:
    """Return whether a detection is a country, a public body or an eponym, and not said of a person."""
    name = value.strip(" .,;:'’\"()").removesuffix("'s").removesuffix("’s")
    before = text[max(0, span.start - _REACH) : span.start]
    if _are_countries(name):
        return _is_of_a_study_or_journey(span, text)
    if _is_named_condition(span, text, value):
        return True
    if name in _read_names("public_bodies"):
        return _WORK.search(before) is None
    if name in _read_names("eponyms_alone"):
        after = text[span.end : span.end + _REACH]
        is_of_person = _NAME_BEFORE.search(before) or regex.match(_SAID_OF_PEOPLE, after)
        return not is_of_person or after.startswith(("'s ", "’s "))
    return False


def _is_named_condition(span: Span, text: str, value: str) -> bool:
    """Return whether a detection is an eponym with the clinical word behind it: "Bell palsy"."""
    eponym, _, rest = value.partition(" ")
    if not rest.islower() or not is_listed_eponym(eponym) or not all(map(is_safe, rest.split())):
        return False
    return regex.match(_SAID_OF_PEOPLE, text[span.start + len(eponym) : span.end + _REACH]) is None


def _is_people(word: str) -> bool:
    """Return whether a word denotes people of a country, an origin or a faith: "Israeli", "Hispanics"."""
    lower = word.lower()
    peoples = words("nationalities")
    return word[:1].isupper() and (lower in peoples or lower.removesuffix("s") in peoples)


def _is_plain_or_people(word: str) -> bool:
    return _is_plain(word) or _is_people(word)


def _is_country(name: str) -> bool:
    return _is_people(name) or _PART_OF_COUNTRY.sub("", name, count=1) in _read_names("countries")


def _are_countries(names: str) -> bool:
    return all(map(_is_country, _LIST.split(names)))


@cache
def _read_credentials() -> frozenset[str]:
    lines = read_entries("en", "credentials")
    return frozenset(word for line in lines for word in _WORD.findall(line))


@cache
def _read_titles() -> frozenset[str]:
    return words("titles") | words("titles_in_short")


@cache
def _read_names(name: str) -> frozenset[str]:
    return frozenset(read_entries("en", name))


def _is_made_of_words(span: Span, text: str, parts: list[str]) -> bool:
    if text[span.start : span.end] in _READ_AS_NAMES:
        return True
    if span.entity == "FACILITY":
        if _is_kind_of_unit(parts):
            return True
        if len(parts) > 1:
            return _is_people(parts[0]) and " ".join(parts[1:]).islower()
    if all(map(_is_abbreviation, parts)) and _is_of_therapy(span, text):
        return True
    if all(map(_is_long_abbreviation, parts)) and not _is_said_of_person(span, text):
        return True
    if all(map(_is_plain_or_term, parts)) and any(map(_is_term, parts)):
        before = text[max(0, span.start - _REACH) : span.start]
        return span.entity == "NAME" or _PLACE_BEFORE.search(before) is None
    if any(map(_is_brand, parts)) and all(_is_brand(part) or _is_plain(part) for part in parts):
        return not _is_said_of_person(span, text)
    if not all(map(_is_plain, parts)) and not _is_lone_word(span, text, parts):
        return False
    return _is_without_person(span, text, parts)


def _is_of_therapy(span: Span, text: str) -> bool:
    """Return whether an abbreviation is what is given: "PPF transfusion", "overload of PPF"."""
    if _THERAPY_AFTER.match(text, span.end):
        return True
    return _THERAPY_BEFORE.search(text, max(0, span.start - _REACH), span.start) is not None


def _is_kind_of_unit(parts: list[str]) -> bool:
    """Return whether words denote a unit that every hospital has: "Derm clinic", "the floor - MRI", "Orthopedic"."""
    known = [part for part in parts if part != "the" and not _is_abbreviation(part)]
    if not known:
        return len(parts) > 1
    *fields, unit = [part.lower() for part in known]
    if unit not in _UNITS:
        return len(parts) == 1 and unit in _read_fields()
    if not fields:
        return known[0].islower()
    return all(field in _read_fields() or field in words("clinical_shorthand") for field in fields)


@cache
def _read_fields() -> frozenset[str]:
    return frozenset(field.lower() for field in read_entries("en", "fields_of_facilities"))


def _is_lone_word(span: Span, text: str, parts: list[str]) -> bool:
    """Return whether a word of the vocabulary of shorthand begins a sentence or an option, and no capital follows."""
    word = parts[0]
    if len(parts) > 1 or len(word) < _SHORTEST_MADE_WORD or not word.istitle() or _is_listed(word):
        return False
    if span.entity not in ("NAME", "ORGANIZATION") or not is_listed_word(word.lower()):
        return False
    before = text[max(0, span.start - _REACH) : span.start]
    return _BEGINNING.search(before) is not None and not _PHRASE_AFTER.match(text, span.end)


def _is_said_of_person(span: Span, text: str) -> bool:
    before = text[max(0, span.start - _REACH) : span.start]
    after = text[span.end : span.end + _REACH]
    return _NAME_BEFORE.search(before) is not None or _CUE_AFTER.match(after) is not None


def _is_brand(word: str) -> bool:
    return word.lower() in words("drug_brands")


def _is_term(word: str) -> bool:
    """Return whether a word ends as medical terms do and no name does."""
    return (
        len(word) >= _SHORTEST_TERM and not _is_listed(word) and _TERM.fullmatch(word) is not None
    )


def _is_plain_or_term(word: str) -> bool:
    return _is_term(word) or _is_plain(word)


def _is_plain(word: str) -> bool:
    """Return whether a word is in the list of ordinary words, and in no list of names or places."""
    if _is_abbreviation(word):
        return True
    if word in _JOINTS:
        return True
    if len(word) < _SHORTEST_WORD or _is_listed(word):
        return False
    if any(map(is_safe, _write_as_american(word))):
        return True
    has_usual_case = word.islower() or word.istitle()  # unlike "LanguageLine"
    return len(word) >= _SHORTEST_MADE_WORD and has_usual_case and is_made_of_word(word.lower())


def _is_abbreviation(word: str) -> bool:
    """Return whether a word is a listed abbreviation, or in the list of ordinary words in capitals only."""
    if word.lower() in words("medical_abbreviations"):
        return True
    has_one_case = word.isupper() or word.islower()
    if has_one_case and word.lower() in words("clinical_abbreviations"):
        return True
    if word.islower() and word in words("clinical_shorthand") and not _is_listed(word):
        return True
    is_acronym = word.isupper() and len(word) >= _SHORTEST_ACRONYM
    return is_acronym and is_safe(word) and not is_safe(word.lower()) and not _is_listed(word)


def _is_long_abbreviation(word: str) -> bool:
    """Return whether a word is a listed abbreviation that is too long for somebody's initials: "BEACOPP"."""
    return len(word) > _SHORTEST_ACRONYM and word.lower() in words("clinical_abbreviations")


def _write_as_american(word: str) -> Iterator[str]:
    """Yield a word, and its American spelling if it has a British one."""
    yield word
    american = _BRITISH_ENDING.sub("z", word.lower()).replace("ae", "e").replace("oe", "e")
    if american != word.lower():
        yield american


def _is_listed(word: str) -> bool:
    lower = word.lower()
    lists = ("given_names", "surnames", "everyday_words", "word_names")
    if any(lower in words(name) for name in lists):
        return True
    return lower.capitalize() in words("places") or lower.capitalize() in _read_names("countries")


def _tells_time(word: str) -> bool:
    lower = word.lower()
    is_number = lower.endswith(("ty", "teen", "th"))
    return is_number or any(lower in words(name) for name in _LISTS_OF_TIMES)


def _is_without_person(span: Span, text: str, parts: list[str]) -> bool:
    """Return whether plain words begin a sentence, belong to a capitalised phrase, or are in small letters."""
    before = text[max(0, span.start - _REACH) : span.start]
    after = text[span.end : span.end + _REACH]
    value = text[span.start : span.end]
    phrase_before = _PHRASE_BEFORE.search(before)
    phrase_after = _PHRASE_AFTER.match(after)
    start = phrase_before.start() if phrase_before else len(before)
    end = phrase_after.end() if phrase_after else 0
    phrase = before[start:] + value + after[:end]
    beside = _WORD.findall(before[start:] + after[:end])
    if _INSTITUTION.search(phrase) or not all(map(_is_plain_or_people, beside)):
        return False
    if span.entity == "ORGANIZATION" and _EMPLOYED_BEFORE.search(before):  # "Works for Apple"
        return False
    before, after = before[:start], after[end:]
    if _LABEL_BEFORE.search(before) or _CUE_BEFORE.search(before) or _SIGNED.search(before):
        return False
    if _CUE_AFTER.match(after):
        return False
    if _fills_line(before, after) and len(phrase) < len(text.strip()):
        return False
    if value.islower() or all(map(_is_abbreviation, parts)):
        return True
    begins = _BEGINNING.search(before) is not None
    if len(parts) > 1 and span.entity == "ORGANIZATION":  # a company may be made of ordinary words
        return begins and after[:1] == ":"
    if len(parts) > 1:
        return begins and after[:1] in (":", ".", "")
    return begins or phrase_before is not None or phrase_after is not None


def _fills_line(before: str, after: str) -> bool:
    return before[-1:] in ("", "\n", ">") and after[:1] in ("", "\n", "<")


def _is_of_a_study_or_journey(span: Span, text: str) -> bool:
    """Return whether a country is where people in general are, or where somebody has been, and not where one lives."""
    before = text[max(0, span.start - _REACH) : span.start]
    if _NAME_GOES_ON.search(before):  # "New Mexico", "Gulf of Mexico"
        return False
    if _TRAVEL.search(before):
        return True
    if _FROM.search(before) and not _FROM_A_STUDY.search(before):
        return False
    first, last = max(0, span.start - _SENTENCE), span.end + _SENTENCE
    start = first
    for sentence in _SENTENCE_END.finditer(text, first, span.start):
        start = sentence.end()
    following = _SENTENCE_END.search(text, span.end, last)
    end = following.start() if following else last
    if _OF_A_PERSON.search(text, start, end):
        return False
    return _STUDIES.search(text, first, last) is not None
