"""The boundaries of detections: expand them to whole numbers and lists of days, and trim what identifies no person.

Rules and models end a detection wherever their evidence ends. Two steps then apply to all detections: each is expanded
to the rest of its number, and trimmed of text that identifies no person (a bracket, a full stop, "NOT", "VIN") and that
the reader needs.
"""

from collections.abc import Iterator

import regex

from agent.redaction.spans.span import Span

_NUMBERS = frozenset(
    {"MRN", "PLAN", "ACCOUNT", "ENCOUNTER", "LICENSE", "VEHICLE", "DEVICE", "SSN", "PHONE", "ID"}
)
_IN_WORDS = frozenset({"NAME", "LOCATION", "FACILITY", "ORGANIZATION"})

# The rest of a number that was detected in part: further groups of capitals and digits that are joined to it.
_GROUP = r"(?:\p{Lu}{1,4}|[x*]{1,8}|\p{Lu}{0,12}\d[\p{Lu}\d]{0,20})"
_GROUPS_AFTER = regex.compile(
    rf"(?:(?:[-_]{_GROUP}|/\p{{Lu}}{{0,3}}\d[\p{{Lu}}\d]{{0,20}})(?![\p{{L}}\d])){{1,6}}"
)
_GROUPS_BEFORE = regex.compile(rf"(?<![\p{{L}}\d/_.-])(?:{_GROUP}[-_]){{1,6}}\Z")
_STATE_BEFORE = regex.compile(
    r"(?<![\p{L}\d])(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|TN|TX"
    r"|UT|V[AT]|W[AIVY]) \Z"
)
# The blocks that precede an address: "2-14-7 Minami".
_BLOCKS_BEFORE = regex.compile(r"(?<![\w/.-])(?:\d{1,4}[-/]){1,3}\Z")
_LOOSE_JOINT = regex.compile(
    r"(?<=\d)[-_]\Z"
)  # the joint after which a detection was cut within a number
# Groups of digits separated by spaces continue a number if no unit or other word follows them.
_IN_GROUPS = regex.compile(r"\d{2,12} \d{2,12}\Z")
_NEXT_GROUPS = regex.compile(r"(?: \d{1,8}){1,3}(?=\s*(?:[,;)\]\n]|\.(?!\d)|\Z))")
_BETWEEN_PHONES = regex.compile(r"(?<=\d)(?: or | and |, | / |; )(?=\+?\(?\d[\d ().-]{6,})")
_REACH = 60  # characters examined on each side

# "4/1 and 4/15": if one of them is a date, so is the other.
_DAY = r"(?:0?[1-9]|[12]\d|3[01])/(?:0?[1-9]|[12]\d|3[01])(?:/(?:\d\d){1,2})?"
_LINK = r"(?:\s?[,&–-]\s?|,?\s(?:and|or|to|until|through|y|e|al?|hasta)\s)"
_DAYS_OF_A_LIST = 6
_IS_DAY = regex.compile(_DAY)
_DAY_BEFORE = regex.compile(rf"(?<![\w./-])({_DAY}){_LINK}\Z")
_DAY_AFTER = regex.compile(rf"{_LINK}({_DAY})(?![\w/%-]|\.\d)")

_PARTNERS = {
    "(": ")", "[": "]", "{": "}", "“": "”", "«": "»", "„": "“", "‹": "›", "「": "」", "（": "）", '"': '"',
}  # fmt: skip
_OPENERS = {closing: opening for opening, closing in _PARTNERS.items() if opening != "„"}
_BRACKETS = regex.compile(r'[()\[\]{}"“”«»„‹›「」（）]')

_BEGIN = regex.compile(r"[\s,;:.…!?*‘’'–-]+")
_END = regex.compile(r"[\s,;:…!?*‘'–-]+\Z")
# A full stop that belongs to an abbreviation, and so to the detection.
_ABBREVIATED = regex.compile(
    r"(?i)(?:(?<![\p{L}\d])\p{L}|\.\p{L}{1,3}|(?<!\p{L})(?:jr|sr|sra|srta|dr|dra|mr|mrs|ms|mx|prof|rev|capt|sgt|lt|esq|phd|"
    r"md|st|ste|ave|av|rd|blvd|ln|ct|cir|pl|hwy|pkwy|apt|inc|co|corp|ltd|bros|hosp|univ|dept|mt|ft|avda|pza))\.\Z"
)
_ABBREVIATED_DATE = regex.compile(
    r"(?i)(?:(?<![\p{L}\d])\p{L}|\.\p{L}|(?<!\p{L})(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|ene|abr|ago|dic|mon"
    r"|tues?|wed|thurs?|thu|fri|sat|sun))\.\Z"
)
_REST_OF_DEGREE = regex.compile(r"(?:[A-Z]\.){1,2}(?!\p{L})")
_ENDS_IN_LETTER = regex.compile(r"(?<![\p{L}.])[MDP]h?\.\Z")

_LABEL_WORD = (
    r"(?:vin|mrn|ssn|npi|dea|udi|imei|sn|id|ids|no|nr|num|number|numbers|acct|account|member|subscriber|policy|plan|group"
    r"|licen[sc]e|plate|tag|serial|device|vehicle|phone|telephone|tel|mobile|cell|fax|pager|beeper|encounter|visit|case"
    r"|accession|chart|record|medical|patient|is|the|of|lot|ref)"
)
_LABELS = regex.compile(
    rf"(?i)(?:{_LABEL_WORD}(?:['’]s)?[ \t]?[.:#=]{{0,2}}[ \t]{{1,3}}){{1,4}}(?=[\p{{L}}#(+]{{0,6}}[-.]?\d)"
)

# Redacting such a word would reverse the meaning of the sentence.
_NEGATION = regex.compile(
    r"(?<![\p{L}\p{M}'’-])(?:NOT|DENIES|DENIED|DENYING|WITHOUT|NEVER|NEGATIVE|NIEGA|not|denies|denied|denying|without|never"
    r"|negative|niega)(?![\p{L}\p{M}'’-])"
)
_STATEMENT_AFTER_NAME = regex.compile(
    r"(?<=[\p{L}\p{M}.,)])[\s,]{1,3}(?:NO|DO|DOES|DID|WITH|WITHIN|HAS|HAVE|HAD|IS|WAS|FOR|FROM|REPORTS|STATES|SAYS|SIN|CON"
    r"|no|does|did|with|within|has|have|had|is|was|for|from|reports|states|says|sin|con)\Z"
)
# "Agreed, Okonjo."
_REPLY_BEFORE_NAME = regex.compile(
    r"(?i)(?:agreed|thanks|thank you|noted|understood|correct|yes|okay|ok|sorry|hello|hi|dear|well),\s{1,2}(?=\p{L})"
)
_LAST_WORD = regex.compile(r"(?<=[\p{L}\p{M}.,)])([\s,/]{1,3})(\p{Lu}[\p{Lu}\d]{1,5})\Z")
_SMALL = regex.compile(r"\p{Lu}\p{Ll}")
_VOWEL = regex.compile(r"[AEIOUY]")


def _read_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SUFFIXES = _read_words(
    "JR SR II III IV MD RN NP PA DO DDS DMD PHD LPN BSN MSN CNM CRNA DNP PT OT RD MS MA FACS FACP FNP APRN LCSW ARNP"
    " PHARMD MPH MBBS RPH CNA LVN DPM DPT"
)
# Clinical abbreviations that contain a vowel. Capitals without a vowel are recognised as abbreviations by that alone.
_ABBREVIATIONS = _read_words(
    "AAA ABG ACE ACS ADHD ADHF ADL AED AF AFIB AICD AIDS AKI ALS ALT AMA AMI AP APAP ARDS ARF AS ASA ASD AST AVR BAL"
    " BIPAP CABG CAD CHEM COPD COVID CPAP CTA CVA DOA DOE DOI EBL ECG ECHO ECMO ED EDH EEG EF EGD EKG EMG EMS ENT ER"
    " ERCP ESI ESRD ETA ETOH FNA GERD GI GU HEENT HIV HOB IBD IBS ICD ICU IMRT INR IP IUD IUP IV IVC IVF IVIG LAR LOC"
    " LOS MAP MI MICU MRA MRI MRSA NICU NSAID NSTEMI OA OB OR ORIF OSA PACU PE PEA PEG PET PICC PICU PO POA POD PSA"
    " PSVT PVD RA ROM ROS SAH SICU SIRS SLE SOB STAT STEMI TAVR TEE TIA TKA TIPS UA UE URI US UTI VRE"
)


def expand_span(span: Span, text: str) -> Iterator[Span]:
    """Yield a detection expanded to all groups of its number, and the other days of a list of days."""
    if span.entity in _NUMBERS or span.entity in ("ADDRESS", "FACILITY"):
        yield from _split_phones(_expand_number(span, text), text)
        return
    yield span
    if span.entity == "DATE" and _IS_DAY.fullmatch(text, span.start, span.end):
        yield from _find_days_beside(span, text)


def _find_days_beside(span: Span, text: str) -> Iterator[Span]:
    start, end = span.start, span.end
    for _ in range(_DAYS_OF_A_LIST):
        before = _DAY_BEFORE.search(text, max(0, start - _REACH), start)
        if before is None:
            break
        start = before.start(1)
        yield Span(before.start(1), before.end(1), span.entity)
    for _ in range(_DAYS_OF_A_LIST):
        after = _DAY_AFTER.match(text, end, end + _REACH)
        if after is None:
            break
        end = after.end(1)
        yield Span(after.start(1), after.end(1), span.entity)


def _split_phones(span: Span, text: str) -> Iterator[Span]:
    """Yield each of several phone numbers that were detected as one; yield any other detection unchanged."""
    start = span.start
    if span.entity == "PHONE":
        for link in _BETWEEN_PHONES.finditer(text, span.start, span.end):
            yield Span(start, link.start(), span.entity)
            start = link.end()
    yield Span(start, span.end, span.entity)


def _expand_number(span: Span, text: str) -> Span:
    """Return a detection expanded to the groups of its number before and after it."""
    if span.entity == "ADDRESS":
        return _expand_address(span, text)
    if span.entity == "FACILITY":  # a number in several groups that was detected as a facility
        return Span(span.start, _find_end_of_groups(span, text), span.entity)
    start = _find_start_of_number(span, text)
    if span.entity in ("VEHICLE", "LICENSE"):
        state = _STATE_BEFORE.search(text, max(0, start - 4), start)
        start = state.start() if state else start
    return Span(start, _find_end_of_number(span, text), span.entity)


def _find_start_of_number(span: Span, text: str) -> int:
    start = span.start
    if start == 0 or text[start - 1] not in "-_":
        return start
    before = _GROUPS_BEFORE.search(text, max(0, start - _REACH), start)
    return int(before.start()) if before else start


def _find_end_of_number(span: Span, text: str) -> int:
    end = span.end
    after = _GROUPS_AFTER.match(text, end, end + _REACH)
    if after is None and text[end - 1 : end] in ("-", "_"):
        after = _GROUPS_AFTER.match(text, end - 1, end + _REACH)
    if after is not None:
        return int(after.end())
    return end if span.entity == "PHONE" else _find_end_of_groups(span, text)


def _expand_address(span: Span, text: str) -> Span:
    start, end = span.start, span.end
    if _LOOSE_JOINT.search(text, start, end):
        after = _GROUPS_AFTER.match(text, end - 1, end + _REACH)
        end = after.end() if after else end
    if text[start : start + 1].isdigit():
        before = _BLOCKS_BEFORE.search(text, max(0, start - _REACH), start)
        start = before.start() if before else start
    return Span(start, end, span.entity)


def _find_end_of_groups(span: Span, text: str) -> int:
    """Return the end of the last group of digits that follows, after spaces, a detection made of such groups."""
    if not _IN_GROUPS.search(text, span.start, span.end):
        return span.end
    groups = _NEXT_GROUPS.match(text, span.end, span.end + _REACH)
    return int(groups.end()) if groups else span.end


def trim_span(span: Span, text: str) -> Iterator[Span]:
    """Yield a detection without the text at its ends that identifies no person, split into pieces at negations."""
    pieces = [(span.start, span.end)]
    if span.entity in _IN_WORDS:
        pieces = list(_split_at(_NEGATION, span.start, span.end, text))
    for piece_start, piece_end in pieces:
        for balanced_start, balanced_end in _balance_brackets(piece_start, piece_end, text):
            start, end = _trim_ends(balanced_start, balanced_end, span.entity, text)
            if start < end:
                yield Span(start, end, span.entity)


def _split_at(
    separator: "regex.Pattern[str]", start: int, end: int, text: str
) -> Iterator[tuple[int, int]]:
    for match in separator.finditer(text, start, end):
        if start < match.start():
            yield start, match.start()
        start = match.end()
    if start < end:
        yield start, end


def _balance_brackets(start: int, end: int, text: str) -> Iterator[tuple[int, int]]:
    """Yield the range unchanged, extended by the adjacent partner of a bracket, or split at unpaired brackets."""
    if _BRACKETS.search(text, start, end) is None:
        yield start, end
        return
    lone = _find_lone_brackets(start, end, text)
    if len(lone) == 1 and start < lone[0] < end - 1:
        bracket = text[lone[0]]
        if end < len(text) and text[end] == _PARTNERS.get(bracket):
            end, lone = end + 1, []
        elif start and text[start - 1] == _OPENERS.get(bracket):
            start, lone = start - 1, []
    for position in lone:
        if start < position:
            yield start, position
        start = position + 1
    if start < end:
        yield start, end


def _find_lone_brackets(start: int, end: int, text: str) -> list[int]:
    """Return the positions of brackets and quotes that have no partner in the range."""
    opened: list[int] = []
    lone: list[int] = []
    for match in _BRACKETS.finditer(text, start, end):
        position, bracket = match.start(), match.group()
        if opened and _PARTNERS.get(text[opened[-1]]) == bracket:
            opened.pop()
        elif bracket in _PARTNERS:
            opened.append(position)
        else:
            lone.append(position)
    return sorted(lone + opened)


def _trim_ends(start: int, end: int, entity: str, text: str) -> tuple[int, int]:
    """Return the range without punctuation, labels and statements at its ends; start >= end if nothing remains."""
    while start < end:
        trimmed_start, trimmed_end = _trim_once(start, end, entity, text)
        if (trimmed_start, trimmed_end) == (start, end):
            break
        start, end = trimmed_start, trimmed_end
    return start, end


def _trim_once(start: int, end: int, entity: str, text: str) -> tuple[int, int]:
    edge = _BEGIN.match(text, start, end)
    if edge is not None:
        start = edge.end()
    edge = _END.search(text, start, end)
    if edge is not None:
        end = edge.start()
    if entity in _NUMBERS:
        label = _LABELS.match(text, start, end)
        start = start if label is None else label.end()
    if start < end and text[end - 1] == ".":
        abbreviation = _ABBREVIATED_DATE if entity == "DATE" else _ABBREVIATED
        if not abbreviation.search(text, start, end):
            end -= 1
    if entity == "NAME":
        reply = _REPLY_BEFORE_NAME.match(text, start, end)
        start = start if reply is None else reply.end()
        end = _find_end_of_name(start, end, text)
    return start, end


def _find_end_of_name(start: int, end: int, text: str) -> int:
    """Return the end of a name that is followed by a statement about the person, keeping any degree after the name."""
    if _ENDS_IN_LETTER.search(text, start, end):
        degree = _REST_OF_DEGREE.match(text, end, end + 5)
        if degree is not None:
            return int(degree.end())
    statement = _STATEMENT_AFTER_NAME.search(text, start, end)
    if statement is not None:
        return end if _is_family_name_do(statement, start, end, text) else int(statement.start())
    last_word = _LAST_WORD.search(text, start, end)
    if last_word is not None and _is_clinical(last_word, start, text):
        return int(last_word.start())
    return end


def _is_family_name_do(statement: "regex.Match[str]", start: int, end: int, text: str) -> bool:
    """Return whether "DO" after a name is a family name: in capitals, as in "ANNA DO", and not followed by "NOT"."""
    if statement.group().strip(" ,\n") != "DO" or text.startswith(" NOT", end):
        return False
    return _SMALL.search(text, start, statement.start()) is None


def _is_clinical(last_word: "regex.Match[str]", start: int, text: str) -> bool:
    """Return whether the last word of a name is a clinical abbreviation, after a line break or lower-case letters."""
    gap, word = last_word.groups()
    if word in _SUFFIXES:
        return False
    is_abbreviation = word in _ABBREVIATIONS or (len(word) > 2 and not _VOWEL.search(word))
    stands_apart = "\n" in gap or _SMALL.search(text, start, last_word.start()) is not None
    return is_abbreviation and stands_apart
