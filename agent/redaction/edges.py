"""Where a finding begins and ends: whole numbers and pairs of days, no half of a bracket, no negation, no label.

Rules and models each end a finding where they stop being sure. What is done here holds for all of them: what a number
was cut of is taken in, and what identifies nobody (a bracket, a full stop, "NOT", "VIN") is left for the reader.
"""

from collections.abc import Iterator

import regex

_NUMBERS = frozenset({"MRN", "PLAN", "ACCOUNT", "ENCOUNTER", "LICENSE", "VEHICLE", "DEVICE", "SSN", "PHONE", "ID"})
_NAMED = frozenset({"NAME", "LOCATION", "FACILITY", "ORGANIZATION"})

# What belongs to a number that was found in part: further groups of capitals and digits, joined to it.
_GROUP = r"(?:\p{Lu}{1,4}|[x*]{1,8}|\p{Lu}{0,12}\d[\p{Lu}\d]{0,20})"
_GROUPS_AFTER = regex.compile(rf"(?:(?:[-_]{_GROUP}|/\p{{Lu}}{{0,3}}\d[\p{{Lu}}\d]{{0,20}})(?![\p{{L}}\d])){{1,6}}")
_GROUPS_BEFORE = regex.compile(rf"(?<![\p{{L}}\d/_.-])(?:{_GROUP}[-_]){{1,6}}\Z")
_STATE_BEFORE = regex.compile(
    r"(?<![\p{L}\d])(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|TN|TX"
    r"|UT|V[AT]|W[AIVY]) \Z"
)
_BLOCKS_BEFORE = regex.compile(r"(?<![\w/.-])(?:\d{1,4}[-/]){1,3}\Z")  # of an address: "2-14-7 Minami"
_LOOSE_JOINT = regex.compile(r"(?<=\d)[-_]\Z")  # a finding that was cut within a number
# Groups of digits divided by spaces go on where no unit and no word follows.
_IN_GROUPS = regex.compile(r"\d{2,12} \d{2,12}\Z")
_NEXT_GROUPS = regex.compile(r"(?: \d{1,8}){1,3}(?=\s*(?:[,;)\]\n]|\.(?!\d)|\Z))")
_BETWEEN_PHONES = regex.compile(r"(?<=\d)(?: or | and |, | / |; )(?=\+?\(?\d[\d ().-]{6,})")
_REACH = 60  # characters looked at on each side

# "4/1 and 4/15": what is one day makes the other one.
_DAY = r"(?:0?[1-9]|[12]\d|3[01])/(?:0?[1-9]|[12]\d|3[01])(?:/(?:\d\d){1,2})?"
_LINK = r"(?:\s?[,&–-]\s?|,?\s(?:and|or|to|until|through|y|e|al?|hasta)\s)"
_DAYS_OF_A_LIST = 6
_IS_DAY = regex.compile(_DAY)
_DAY_BEFORE = regex.compile(rf"(?<![\w./-])({_DAY}){_LINK}\Z")
_DAY_AFTER = regex.compile(rf"{_LINK}({_DAY})(?![\w/%-]|\.\d)")

_PARTNERS = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»", "„": "“", "‹": "›", "「": "」", "（": "）"}
_OPENERS = {closing: opening for opening, closing in _PARTNERS.items() if opening != "„"}
_BRACKETS = regex.compile(r'[()\[\]{}"“”«»„‹›「」（）]')
_QUOTE = '"'

_BEGIN = regex.compile(r"[\s,;:.…!?*‘’'–-]+")
_END = regex.compile(r"[\s,;:…!?*‘'–-]+\Z")
# A full stop belongs to what is short for something.
_SHORTENED = regex.compile(
    r"(?i)(?:(?<![\p{L}\d])\p{L}|\.\p{L}{1,3}|(?<!\p{L})(?:jr|sr|sra|srta|dr|dra|mr|mrs|ms|mx|prof|rev|capt|sgt|lt|esq|phd|"
    r"md|st|ste|ave|av|rd|blvd|ln|ct|cir|pl|hwy|pkwy|apt|inc|co|corp|ltd|bros|hosp|univ|dept|mt|ft|avda|pza))\.\Z"
)
_SHORTENED_DATE = regex.compile(
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

# What is left out says the contrary.
_NEGATION = regex.compile(
    r"(?<![\p{L}\p{M}'’-])(?:NOT|DENIES|DENIED|DENYING|WITHOUT|NEVER|NEGATIVE|NIEGA|not|denies|denied|denying|without|never"
    r"|negative|niega)(?![\p{L}\p{M}'’-])"
)
_AFTER_NAME = regex.compile(
    r"(?<=[\p{L}\p{M}.,)])[\s,]{1,3}(?:NO|DO|DOES|DID|WITH|WITHIN|HAS|HAVE|HAD|IS|WAS|FOR|FROM|REPORTS|STATES|SAYS|SIN|CON"
    r"|no|does|did|with|within|has|have|had|is|was|for|from|reports|states|says|sin|con)\Z"
)
_LAST_WORD = regex.compile(r"(?<=[\p{L}\p{M}.,)])([\s,/]{1,3})(\p{Lu}[\p{Lu}\d]{1,5})\Z")
_SMALL = regex.compile(r"\p{Lu}\p{Ll}")
_VOWEL = regex.compile(r"[AEIOUY]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SUFFIXES = _words(
    "JR SR II III IV MD RN NP PA DO DDS DMD PHD LPN BSN MSN CNM CRNA DNP PT OT RD MS MA FACS FACP FNP APRN LCSW ARNP"
    " PHARMD MPH MBBS RPH CNA LVN DPM DPT"
)
# Clinical abbreviations with a vowel; those without one are known by that.
_ABBREVIATIONS = _words(
    "AAA ABG ACE ACS ADHD ADHF ADL AED AF AFIB AICD AIDS AKI ALS ALT AMA AMI AP APAP ARDS ARF AS ASA ASD AST AVR BAL"
    " BIPAP CABG CAD CHEM COPD COVID CPAP CTA CVA DOA DOE DOI EBL ECG ECHO ECMO ED EDH EEG EF EGD EKG EMG EMS ENT ER"
    " ERCP ESI ESRD ETA ETOH FNA GERD GI GU HEENT HIV HOB IBD IBS ICD ICU IMRT INR IP IUD IUP IV IVC IVF IVIG LAR LOC"
    " LOS MAP MI MICU MRA MRI MRSA NICU NSAID NSTEMI OA OB OR ORIF OSA PACU PE PEA PEG PET PICC PICU PO POA POD PSA"
    " PSVT PVD RA ROM ROS SAH SICU SIRS SLE SOB STAT STEMI TAVR TEE TIA TKA TIPS UA UE URI US UTI VRE"
)

Found = tuple[int, int, str]


def taken_in(start: int, end: int, entity: str, text: str) -> Iterator[Found]:
    """Yield a finding with all groups of its number, and the day that stands in a pair with its day."""
    if entity in _NUMBERS or entity in ("ADDRESS", "FACILITY"):
        start, end = _whole_number(start, end, entity, text)
        for link in _BETWEEN_PHONES.finditer(text, start, end) if entity == "PHONE" else ():
            yield start, link.start(), entity
            start = link.end()
        yield start, end, entity
        return
    yield start, end, entity
    if entity != "DATE" or not _IS_DAY.fullmatch(text, start, end):
        return
    for _ in range(_DAYS_OF_A_LIST):
        if (before := _DAY_BEFORE.search(text, max(0, start - _REACH), start)) is None:
            break
        start = before.start(1)
        yield *before.span(1), entity
    for _ in range(_DAYS_OF_A_LIST):
        if (after := _DAY_AFTER.match(text, end, end + _REACH)) is None:
            break
        end = after.end(1)
        yield *after.span(1), entity


def _whole_number(start: int, end: int, entity: str, text: str) -> tuple[int, int]:
    if entity == "ADDRESS":
        joint = _LOOSE_JOINT.search(text, start, end)
        after = _GROUPS_AFTER.match(text, end - 1, end + _REACH) if joint else None
        before = (
            _BLOCKS_BEFORE.search(text, max(0, start - _REACH), start) if text[start : start + 1].isdigit() else None
        )
        return before.start() if before else start, after.end() if after else end
    if entity == "FACILITY":  # what a number of several groups was taken for
        groups = _NEXT_GROUPS.match(text, end, end + _REACH) if _IN_GROUPS.search(text, start, end) else None
        return start, groups.end() if groups else end
    if (after := _GROUPS_AFTER.match(text, end, end + _REACH)) is None and text[end - 1 : end] in ("-", "_"):
        after = _GROUPS_AFTER.match(text, end - 1, end + _REACH)
    if after is not None:
        end = after.end()
    elif entity != "PHONE" and _IN_GROUPS.search(text, start, end):
        groups = _NEXT_GROUPS.match(text, end, end + _REACH)
        end = groups.end() if groups else end
    if start and text[start - 1] in "-_":
        before = _GROUPS_BEFORE.search(text, max(0, start - _REACH), start)
        start = before.start() if before else start
    if entity in ("VEHICLE", "LICENSE") and (state := _STATE_BEFORE.search(text, max(0, start - 4), start)):
        start = state.start()
    return start, end


def trimmed(start: int, end: int, entity: str, text: str) -> Iterator[Found]:
    """Yield what is left of a finding without what identifies nobody at its ends; it falls apart at a negation."""
    pieces = [(start, end)]
    if entity in _NAMED:
        pieces = list(_between(_NEGATION, start, end, text))
    for piece in pieces:
        for first, last in _balanced(*piece, text):
            begin, until = _ends(first, last, entity, text)
            if begin < until:
                yield begin, until, entity


def _between(what: "regex.Pattern[str]", start: int, end: int, text: str) -> Iterator[tuple[int, int]]:
    for found in what.finditer(text, start, end):
        if start < found.start():
            yield start, found.start()
        start = found.end()
    if start < end:
        yield start, end


def _balanced(start: int, end: int, text: str) -> Iterator[tuple[int, int]]:
    """Yield a finding as it is, or with the partner of a bracket that stands beside it, or without lone brackets."""
    if _BRACKETS.search(text, start, end) is None:
        yield start, end
        return
    lone = _lone(start, end, text)
    if len(lone) == 1 and start < lone[0] < end - 1:
        sign = text[lone[0]]
        if end < len(text) and text[end] == (_QUOTE if sign == _QUOTE else _PARTNERS.get(sign)):
            end, lone = end + 1, []
        elif start and text[start - 1] == (_QUOTE if sign == _QUOTE else _OPENERS.get(sign)):
            start, lone = start - 1, []
    for place in lone:
        if start < place:
            yield start, place
        start = place + 1
    if start < end:
        yield start, end


def _lone(start: int, end: int, text: str) -> list[int]:
    """Return where brackets and quotes stand that have no partner in the finding."""
    opened: list[int] = []
    lone: list[int] = []
    for found in _BRACKETS.finditer(text, start, end):
        place, sign = found.start(), found.group()
        if opened and _PARTNERS.get(text[opened[-1]], _QUOTE if text[opened[-1]] == _QUOTE else "") == sign:
            opened.pop()
        elif sign == _QUOTE or sign in _PARTNERS:
            opened.append(place)
        else:
            lone.append(place)
    return sorted(lone + opened)


def _ends(start: int, end: int, entity: str, text: str) -> tuple[int, int]:
    shortened = _SHORTENED_DATE if entity == "DATE" else _SHORTENED
    while True:
        before = start, end
        if (edge := _BEGIN.match(text, start, end)) is not None:
            start = edge.end()
        if (edge := _END.search(text, start, end)) is not None:
            end = edge.start()
        if entity in _NUMBERS and (label := _LABELS.match(text, start, end)) is not None:
            start = label.end()
        if start < end and text[end - 1] == "." and not shortened.search(text, start, end):
            end -= 1
        if entity == "NAME":
            end = _end_of_name(start, end, text)
        if (start, end) == before or start >= end:
            return start, end


def _end_of_name(start: int, end: int, text: str) -> int:
    """Return where a name ends before what was said of whoever has it."""
    if _ENDS_IN_LETTER.search(text, start, end) and (degree := _REST_OF_DEGREE.match(text, end, end + 5)):
        return int(degree.end())
    if (said := _AFTER_NAME.search(text, start, end)) is not None:
        capitals = _SMALL.search(text, start, said.start()) is None
        surname = capitals and said.group().strip(" ,\n") == "DO" and not text.startswith(" NOT", end)
        return end if surname else said.start()
    last = _LAST_WORD.search(text, start, end)
    if last is None or (word := last.group(2)) in _SUFFIXES:
        return end
    clinical = word in _ABBREVIATIONS or (len(word) > 2 and not _VOWEL.search(word))
    if clinical and ("\n" in last.group(1) or _SMALL.search(text, start, last.start())):
        return int(last.start())
    return end
