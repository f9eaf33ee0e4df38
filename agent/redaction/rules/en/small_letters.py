"""Names and towns in lower case, as typed in haste: unlisted words where only a name or a town can occur."""

from collections.abc import Iterator

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.en.unknown import is_safe

_NEXT = r"(?P<words>\p{Ll}{3,20}(?:[ -]\p{Ll}{2,20}){0,3})(?![\p{L}'\d])"
_PEOPLE = regex.compile(
    r"(?<![\p{L}-])(?:(?i:dr|mr|mrs|ms|prof)\.? |(?i:doctor|nurse|miss) "
    r"|(?i:son|daughter|wife|husband|mother|father|sister|brother|partner|fianc[ée]e?|nephew|niece|roommate)"
    r"(?:,| is| named| called|'s name is)? |(?i:name is|my name's|named|called) "
    r"|(?i:dictated|signed|reviewed|transcribed|referred|attending|physician|surgeon|patient name|next of kin|guardian)"
    r"(?: electronically)?(?: by)?(?:: ?| is ))" + _NEXT
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
# The text is searched only if one of these occurs.
_CREDENTIALS = (" md", " rn", " np", " phd", " dds")
_KINDS_OF_SITES = ("clinic", "hosp", "office", "center", "pharm", "home")
# Endings of medical words, of which no list is complete.
_MEDICAL_ENDING = regex.compile(
    r"(?:olog(?:y|ist|ists|ic|ical)|iatr(?:y|ic|ics|ist)|ectom(?:y|ies)|ostomy|otomy|itis|osis|oscop(?:y|ic|ically)"
    r"|gra(?:m|phy)|a?emia|uria|pathy|plasty|therapy|ine|azole|mab|pril|sartan|statin|cillin|mycin)$"
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
            if not any(map(_is_known, regex.findall(r"\p{L}{3,}", match.group("words")))):
                yield "NAME", *match.span("words")
        for pattern in (_PEOPLE, _WITH_CREDENTIAL):
            for match in pattern.finditer(text, timeout=deadline.left()):
                yield from _find_unknown_words("NAME", match)
    if any(credential in text for credential in _CREDENTIALS):
        for match in _SIGNED.finditer(text, timeout=deadline.left()):
            if not _is_known(match.group("last")):
                yield "NAME", *match.span("words")
    if any(kind in lower for kind in _KINDS_OF_SITES):
        for match in _SITES.finditer(text, timeout=deadline.left()):
            if not _is_known(match.group("words").split()[0]):
                yield "FACILITY", *match.span("words")
    for match in _TOWNS.finditer(text, timeout=deadline.left()):
        yield from _find_unknown_words("LOCATION", match)


def _is_known(word: str) -> bool:
    return is_safe(word) or _MEDICAL_ENDING.search(word.lower()) is not None


def _find_unknown_words(
    entity: Entity, match: "regex.Match[str]"
) -> Iterator[tuple[Entity, int, int]]:
    start = end = match.start("words")
    for word in regex.finditer(r"\p{L}+", match.group("words")):
        if _is_known(word.group()):
            break
        end = start + word.end()
    if end > start:
        yield entity, start, end
