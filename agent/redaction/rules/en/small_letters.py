"""Names and towns in lower case, as typed in haste: unlisted words where only a name or a town can occur."""

from collections.abc import Iterator
from functools import cache

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.en.names import words
from agent.redaction.rules.en.unknown import is_safe
from agent.redaction.rules.rulebook import Judge, Place
from agent.redaction.rules.word_lists import read_entries

_NEXT = r"(?P<words>\p{Ll}{3,20}(?:[ -]\p{Ll}{2,20}){0,3})(?![\p{L}'\d])"
_PEOPLE = regex.compile(
    r"(?<![\p{L}-])(?:(?i:dr|mr|mrs|ms|prof)\.? |(?i:doctor|nurse|miss) "
    r"|(?i:son|daughter|wife|husband|mother|father|sister|brother|partner|fianc[ée]e?|nephew|niece|roommate"
    r"|neighbou?r|friend)(?:,| is| named| called|'s name is)? |(?i:name is|my name's|named|called) "
    r"|(?i:dictated|signed|reviewed|transcribed|referred|attending|physician|surgeon|patient name|next of kin|guardian)"
    r"(?: electronically)?(?: by)?(?:: ?| is ))" + _NEXT
)
# "taken by lupita", "shown to wojcik", "tell marek", "cna tawny"
_ACTED = regex.compile(
    r"(?:taken|typed|shown|given|done|seen|called|paged|handed(?: off| over)?|reports?|reported|handoff|signed|drawn"
    r"|placed|brought(?: in)?|witnessed|charted|written|cosigned|relayed|spoke|spoken|talked|sbar|msg|message"
    r"|texted|emailed|intubated|extubated|triaged|accepted|examined|assessed|staffed|precepted|supervised|covered"
    r"|relieved|accompanied|escorted|transported|interpreted|translated|started|inserted|removed|verified|checked"
    r"|confirmed|approved|ordered|prescribed|requested|notified|assisted)(?: out| off| over| it)? $"
)
_PREPOSITIONS = frozenset({"by", "to", "w", "with"})
_ADDRESSED = frozenset({"tell", "told", "ask", "asked", "thx", "thanks", "ty", "per"})
_NAME_AFTER = regex.compile(
    r"\p{L}+/? (?P<words>\p{Ll}{3,20}(?:[ -]\p{Ll}{1,20}){0,3}|(?P<capitalised>\p{Lu}\p{Ll}{2,20}))(?![\p{L}'\d-])"
)
# "pt nguyen thi bich ngoc 67f": two words in no list, or an age after one
_PATIENT = regex.compile(
    r"(?i:pt|patient) "
    r"(?P<words>\p{Ll}{3,20}(?:[ -]\p{Ll}{2,20}){1,3}|\p{Ll}{3,20}(?=,? \d{1,3} ?(?:[mf]|yo|y/o|y)(?!\p{L})))"
    r"(?![\p{L}'])"
)
# A user of a computer, whose name is no word: "user ijorgens".
_USER = regex.compile(
    r"(?i:user ?(?:name|id)?|log(?:ged)?[ -]?in(?: as)?)(?: is)?[: ]{1,2}[\"'(]?"
    r"(?P<words>\p{Ll}{4,20})(?![\p{L}'\d-])"
)
_FIELD = regex.compile(
    r"(?<![\p{L}-])(?i:patient|pt|client|subject|spouse|caregiver|contact person|consultant|surgeon|pcp"
    r"|(?:ordering )?provider|next of kin|emergency contact|guardian|dictated by)(?i: name)?[ \t]{0,2}[:=][ \t]{0,3}"
    r"(?P<words>\p{L}{2,20}(?:[ '’-]\p{L}{2,20}){1,3})(?=[ \t]{2}|[,;|()\n\t\"]|\.(?:\s|$)|$)"
)
_WITH_CREDENTIAL = regex.compile(
    r"(?<=\b[Bb]y )" + _NEXT + r"(?=,? (?:MD|M\.D|DO|RN|NP|PA|PhD|MBBS|DDS)\b)"
)
_TOWNS = regex.compile(
    r"(?<![\p{L}-])(?i:live[sd]?|living|resid(?:es|ing|ed)|native|originally|moved(?: here| back)?|emigrated"
    r"|immigrated|came here|hails|hometown is|(?:place|city) of birth(?: is|:)|hometown:|city:|town:|residence:|grew up"
    r"|born|drove in|came in|travell?ed)(?: in| from| to| of)? " + _NEXT
)
_SITES = regex.compile(
    r"(?<![\p{L}-])(?:at|from|to|in|with|by|the) (?:the )?(?P<words>\p{Ll}{3,20}(?: \p{Ll}{3,20}){0,2}?"
    r" (?:clinic|hospital|office|medical center|hospice|pharmacy|nursing home))(?!\p{L})"
)
_SIGNED = regex.compile(
    r"(?<![\p{L}'-])(?P<words>(?:\p{Ll}\.? )?(?P<last>\p{Ll}{3,20})),? (?:md|rn|np|phd|dds)(?![\p{L}'-])"
)
_LEAST_OF_A_NAME = 4  # letters of a further name, unless it is a known short part
# The text is searched only if one of these occurs.
_CREDENTIALS = (" md", " rn", " np", " phd", " dds")
_KINDS_OF_SITES = ("clinic", "hosp", "office", "center", "pharm", "home")
# Endings of medical words, of which no list is complete.
_MEDICAL_ENDING = regex.compile(
    r"(?:olog(?:y|ist|ists|ic|ical)|iatr(?:y|ic|ics|ist)|ectom(?:y|ies)|ostomy|otomy|itis|osis|oscop(?:y|ic|ically)"
    r"|gra(?:m|phy)|a?emia|uria|pathy|(?:lit(?:er|re)|gram|mole|met(?:er|re))s?|plasty|therapy"
    r"|ine|azole|oxicam|mab|pril|sartan|statin|cillin|mycin|coccus|cocci|bacter|bacterium|monas|virus|myces|(?:i|n|x|ot)ella)$"
)
_CUES = (
    "patient", "pt", "client", "subject", "spouse", "caregiver", "contact", "consultant", "pcp", "provider",
    "dr", "mr", "ms", "prof", "doctor", "nurse", "miss", "son", "daughter", "wife", "husband", "mother", "father",
    "sister", "brother", "partner", "fianc", "nephew", "niece", "mate", "name", "called", " by ", "by:", "attending",
    "physician", "surgeon", "kin:", "guardian",
)  # fmt: skip


def find_in_small_letters(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield lower-case words that directly follow a title, a relation or a move and are not in a list of safe words.

    Raises:
        TimeoutError: the deadline passed.
    """
    lower = text.lower()
    if any(cue in lower for cue in _CUES):
        for match in _FIELD.finditer(text, timeout=deadline.left()):
            if not any(map(is_known, regex.findall(r"\p{L}{3,}", match.group("words")))):
                yield "NAME", *match.span("words")
        for pattern in (_PEOPLE, _WITH_CREDENTIAL):
            for match in pattern.finditer(text, timeout=deadline.left()):
                yield from _find_unknown_words("NAME", match)
    if any(credential in text for credential in _CREDENTIALS):
        for match in _SIGNED.finditer(text, timeout=deadline.left()):
            if not is_known(match.group("last")):
                yield "NAME", *match.span("words")
    if any(kind in lower for kind in _KINDS_OF_SITES):
        for match in _SITES.finditer(text, timeout=deadline.left()):
            if not is_known(match.group("words").split()[0]):
                yield "FACILITY", *match.span("words")
    for match in _TOWNS.finditer(text, timeout=deadline.left()):
        yield from _find_unknown_words("LOCATION", match)


def is_known(word: str) -> bool:
    """Return whether a word is in a list or has the ending of a medical word, and so is no name in small letters."""
    lower = word.lower()
    return (
        is_safe(word)
        or lower in words("clinical_shorthand")
        or lower in words("clinical_abbreviations")
        or lower in words("drug_brands")
        or _MEDICAL_ENDING.search(lower) is not None
    )


def judge_name_after(text: str, place: int) -> Place | None:
    """Return the name in small letters after a role, a preposition of an act or a word that addresses somebody."""
    match = _NAME_AFTER.match(text, place)
    if match is None or text[place - 1 : place] in ("-", "'"):
        return None
    word = text[place : match.start("words")].rstrip(" /").lower()
    is_role = word in _list_last_words_of_roles()
    if word == "w" and text.startswith("d/", max(0, place - 2)):
        return _find_name(match)
    if match["capitalised"] and not is_role:
        return None  # the rules for capitalised names read it
    if word in _PREPOSITIONS and not _ACTED.search(text, max(0, place - 18), place):
        return None
    if not is_role and word not in _PREPOSITIONS and word not in _ADDRESSED:
        return None
    return _find_name(match)


def judge_patient(text: str, place: int) -> Place | None:
    """Return the name of a patient, whose first two words must be in no list if no age follows."""
    match = _PATIENT.match(text, place)
    if match is None:
        return None
    names = match.group("words").replace("-", " ").split()
    return None if any(map(is_known, names[:2])) else _find_name(match)


def judge_user(text: str, place: int) -> Place | None:
    """Return the name of a user of a computer that is no word."""
    match = _USER.match(text, place)
    if match is None or is_known(match.group("words")):
        return None
    return Place(*match.span("words"))


def _find_name(match: "regex.Match[str]") -> Place | None:
    for _, start, end in _find_unknown_words("NAME", match):
        return Place(start, end)
    return None


@cache
def _list_last_words_of_roles() -> frozenset[str]:
    return frozenset(regex.findall(r"\p{L}+", role)[-1] for role in read_entries("en", "roles"))


def _find_unknown_words(
    entity: Entity, match: "regex.Match[str]"
) -> Iterator[tuple[Entity, int, int]]:
    """Yield the words of a match up to the first that is known, or that is too short for a part of a name."""
    start = end = match.start("words")
    for word in regex.finditer(r"\p{L}+", match.group("words")):
        is_part = word.group() in words("short_name_parts")
        if end > start and len(word.group()) < _LEAST_OF_A_NAME and not is_part:
            is_initial = len(word.group()) == 1 and word.end() == len(match.group("words"))
            if not is_initial:
                break
        elif is_known(word.group()) and not (is_part and end > start):
            break
        end = start + word.end()
    if end > start:
        yield entity, start, end


JUDGED: tuple[tuple[Entity, frozenset[str], Judge], ...] = (
    ("NAME", _PREPOSITIONS | _ADDRESSED | _list_last_words_of_roles(), judge_name_after),
    ("NAME", frozenset({"pt", "patient"}), judge_patient),
    ("ID", frozenset({"user", "username", "userid", "login", "log", "logged"}), judge_user),
)
