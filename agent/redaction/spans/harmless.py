"""Cut from detections what has the shape of an identifier and is none: speaker labels, scores, settings, variants."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import regex

from agent.redaction.identity.known_phrases import GENERIC
from agent.redaction.rules.en.names import is_introduced, words
from agent.redaction.rules.en.unknown import is_safe
from agent.redaction.rules.word_lists import compile_pattern
from agent.redaction.spans.general_texts import drop_in_general_text
from agent.redaction.spans.ordinary import drop_ordinary
from agent.redaction.spans.span import Span

_DEFINED = regex.compile(r"(?P<words>(?:\p{L}{1,30}(?:,? |[\n-])){2,8})\((?P<acronym>[A-Z]{2,6})\)")
_ACRONYM = regex.compile(r"(?<![\p{L}\d])[A-Z]{2,6}(?![\p{L}\d])")
_WORD = regex.compile(r"\p{L}+")
# Words that lend no letter to an acronym.
_JOINTS = frozenset({"and", "of", "the", "for", "in", "to", "a", "on", "with"})
_PEOPLE = regex.compile(
    r"(?<!\p{L})(?:non-(?P<people>\p{Lu}\p{Ll}{2,15})(?!\p{L})|(?P<people>\p{Lu}\p{Ll}{2,15})[- ]speaking"
    r" (?=people|municip|countr|population|region))"
)
_CAPITALISED = regex.compile(
    r"(?<!\p{L})(?<!\p{Lu}\p{Ll}{0,15} )\p{Lu}\p{Ll}{2,15}(?! \p{Lu}|\p{L})"
)
_IN_WORDS = frozenset({"NAME", "LOCATION", "FACILITY", "ORGANIZATION"})
# Detections of other kinds, such as a record number after its label or a phone number, are never cut.
_CUT = _IN_WORDS | {"ADDRESS", "ID", "DATE"}
# A line of a chart of vital signs is read as a phone number.
_CUT_OR_CHARTED = _CUT | {"PHONE", "MRN"}

_SPEAKER = (
    r"(?:patient|client|doctor|nurse|physician|clinician|therapist|counsell?or|interviewer|caregiver|parent"
    r"|speaker(?: ?\d{1,2})?)"
)
_LABEL = rf"(?im)(?:^|(?<=[.?!:] )){_SPEAKER}[ \t]{{0,3}}:[ \t]{{0,3}}\K"
_NUMBER_WORD = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred)"
)

_PEOPLE_OF_A_STUDY = (
    r"(?:patients?|people|persons|individuals|adults|women|men|children|populations?|participants|subjects"
    r"|americans?|race)"
)


class _Shape(NamedTuple):
    """A shape that identifies nobody.

    Attributes:
        entities: the kinds of detection from which it is cut.
        needs: lower-case texts, one of which occurs in every text of this shape.
        is_surname: whether the shape is a surname, too, and then identifies after a title ("Mr. Little").
    """

    entities: frozenset[str]
    pattern: "regex.Pattern[str]"
    needs: tuple[str, ...]
    is_surname: bool = False


class _Stretch(NamedTuple):
    """Text of a harmless shape, and the kinds of detection from which it is cut."""

    start: int
    end: int
    entities: frozenset[str]


def _compile(entities: Iterable[str], pattern: str, *needs: str) -> _Shape:
    return _Shape(frozenset(entities), compile_pattern(pattern, "en"), needs)


def _compile_surname(pattern: str, *needs: str) -> _Shape:
    """Compile a shape that begins with a surname."""
    return _Shape(_IN_WORDS, regex.compile(pattern), needs, is_surname=True)


_SHAPES = (
    # "[doctor] hi", as transcripts label their speakers
    _compile(_CUT, rf"(?i)\[{_SPEAKER}(?:[_ ]?guest)?\]", "["),
    # "Patient: No." and "client: I cannot sleep": the next word in small letters shows that the sentence goes on.
    _compile(
        _IN_WORDS,
        _LABEL
        + r"(?:no|nope|yes|yeah|yep|okay|ok|none|never|sure|right|correct)(?=[.,!?;]|[ \t]*$)",
        ":",
    ),
    _compile(
        _IN_WORDS,
        _LABEL + r"(?-i:(?:(?:That|When|And|But|So|Then|If|Because|Well,?) )?"
        r"(?:I|My|He|She|We|They|It|The|You|Your|This|There)(?=['’ ]\p{Ll}))",
        ":",
    ),
    # Transcripts split "gonna" and write contractions apart.
    _compile(
        _CUT,
        r"(?i)(?<!\p{L})(?:(?:gon|wan) na|got ta)(?!\p{L})|(?<=\p{L}['’])(?:ll|re|ve)(?!\p{L})",
        "gon na",
        "wan na",
        "got ta",
        "'",
        "’",
    ),
    # Sounds in transcribed speech, and a doctor who is spoken to without a name
    _compile(_IN_WORDS, r"(?<!\p{L})(?:u[hm]+|h?mm+)(?!\p{L})", "uh", "um", "mm"),
    _compile(_IN_WORDS, r"(?<!\p{L})(?:doctor|nurse)(?=\s?[.,!?])", "doctor", "nurse"),
    # "eight point nine" is a value, and so is one number word alone, unless it numbers a room.
    _compile(
        {"ID"},
        rf"(?i)(?<!\p{{L}})(?:{_NUMBER_WORD}[ -]){{0,3}}{_NUMBER_WORD} point {_NUMBER_WORD}"
        rf"(?: {_NUMBER_WORD})?(?! {_NUMBER_WORD}|\p{{L}})",
        " point ",
    ),
    _compile(
        {"ID"},
        rf"(?i)(?<!(?:\b(?:room|bed|bay|ward|unit|floor|pod|box|chart|number|no\.?|ext\.?|extension|code) |# ?"
        rf"|\b{_NUMBER_WORD}[ -]))(?<!\p{{L}}){_NUMBER_WORD}(?![ -]{_NUMBER_WORD}|\p{{L}})",
        *(
            "zero",
            "oh",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
        ),
        *("twelve", "teen", "twenty", "thirty", "forty", "fifty", "hundred"),
    ),
    # Pressures of a ventilator, and days after an operation or a birth
    _compile(
        {"DATE"},
        r"(?i)(?<!\p{L})(?:bi-?pap|c-?pap|ipap|bilevel|niv)(?: (?:at|of|on|with|settings?(?: of)?))?:? ?"
        r"\d{1,2}/\d{1,2}(?![/\d])",
        "/",
    ),
    _compile(
        _CUT,
        r"(?<![\p{L}\d])(?:POD|HOD|PPD|DOL) ?#?\d{1,3}(?![\p{L}\d])",
        "pod",
        "hod",
        "ppd",
        "dol",
    ),
    # Variants of genes and proteins in the notation of the Human Genome Variation Society, after the gene's symbol
    _compile(
        _CUT,
        r"(?<![\p{L}\d])(?:[A-Z][A-Z0-9]{1,7} )?(?:c|g|m|n)\.[*-]?\d{1,9}(?:[+-]\d{1,5})?"
        r"(?:_[*-]?\d{1,9}(?:[+-]\d{1,5})?)?(?:[ACGT]>[ACGT]|(?:del|dup|ins|inv)[ACGT]{0,30})",
        ">",
        "del",
        "dup",
        "in",
    ),
    _compile(
        _CUT,
        r"(?<![\p{L}\d])(?:[A-Z][A-Z0-9]{1,7} )?p\.\(?(?:[A-Z][a-z]{2}|[A-Z])\d{1,5}"
        r"(?:[A-Z][a-z]{2}|[A-Z*=])?(?:fs\*?\d{0,4}|del|dup)?",
        "p.",
    ),
    # "Finn, 9 y. Plan: ..."
    _compile(_IN_WORDS | {"ADDRESS"}, r"(?<=\d )(?:y|yo|yrs?)\.", " y"),
    _compile_surname(
        r"(?<!\p{L})Little(?= (?:is|was|has been) known (?:about|of|on|regarding|concerning|how|why|whether)(?!\p{L}))",
        "little",
    ),
    # "Fig. 2, Tab. 2, Ref. 22"
    _compile(_IN_WORDS, r"(?<!\p{L})(?:Fig|Tab|Ref|Eq|Suppl)s?\.(?= ?\d)", "."),
    # "Which bone(s)"
    _compile(_IN_WORDS, r"(?<!\p{L})\p{Ll}{3,20}\(e?s\)", "s)"),
    # Units of any hospital, unless a number follows
    _compile(
        {"FACILITY"},
        r"(?<![\p{L}\d-])(?:[CMNPST]?ICU|CCU|PACU|ED|ER|OR)(?![\p{L}\d-]| (?:[\dA-Z#]|bed|bay|room|rm|pod))",
        "icu",
        "ccu",
        "pacu",
        "ed",
        "er",
        "or",
    ),
    # "0600  88  132/74  16  97  36.8": a line of a chart of vital signs
    _compile(
        {"PHONE", "ID", "DATE", "MRN"},
        r"(?m)^[ \t]*(?:[01]\d|2[0-3]):?[0-5]\d(?=[^\n]*[ \t]\d{2,3}/\d{2,3}[ \t])"
        r"(?:[ \t]+(?:[\d.,/%+-]{1,8}|-)){4,12}(?=[ \t]*$)",
        "/",
    ),
    # "Tab. Wysolone 10", "Syp. Calpol 250/5"
    _compile(
        _IN_WORDS | {"ADDRESS"},
        r"(?<!\p{L})(?:Tab|Cap|Syp|Syr|Inj|Susp|Oint|Drops|Neb|TAB|CAP|SYP|INJ)\b\.? "
        r"\p{Lu}[\p{L}-]{2,20}(?: \d{1,4}(?:/\d{1,3})?)?",
        "tab",
        "cap",
        "sy",
        "inj",
        "susp",
        "oint",
        "drops",
        "neb",
    ),
    _compile(_IN_WORDS, r"(?<!\p{L})(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days(?!\p{L})", "days"),
    # Specimens by letter: "A. Fibrofatty tissue"
    _compile(
        _IN_WORDS,
        r"(?m)^[ \t]*[A-H][.)] \p{Lu}\p{Ll}{3,20}(?=(?: \p{Ll}+){0,2} (?:tissue|skin|fragments?|biops(?:y|ies)|specimen"
        r"|cores?|nodules?|mass|node|nodes|polyp|margin|lesion|excision|resection)(?!\p{L}))",
        "a.",
        "b.",
        "c.",
        "a)",
    ),
    # "EFW (Hadlock) 328 g", "3% by Kruger"
    _compile(
        _CUT,
        r"(?<=(?<!\p{L})(?:EFW|eGFR|GFR|CrCl|BSA|IBW|LBW|FSH|LDL|EF|IOP) "
        r")\((?:\p{Lu}\p{L}{3,20}(?:-\p{Lu}\p{L}{3,20})?)\)"
        r"|(?<=\d ?% by )(?:strict )?(?:Kruger|Simpson|Teichholz|Tygerberg)(?!\p{L})",
        ")",
        "% by",
    ),
    # "QTc (Bazett) 431, (Fridericia) 426"
    _compile(_CUT, r"\((?:Bazett|Fridericia|Framingham|Hodges)\):? \d{3}(?!\d)", ")"),
    # "FOUR 11", the score of coma
    _compile({"DATE", "ID"}, r"(?<!\p{L})FOUR(?: score)? \d{1,2}(?!\d)", "four"),
    # "FRC = ERV + RV"
    _compile(
        _IN_WORDS,
        r"(?<![\p{L}\d@.])[A-Z]{2,5}(?: ?[=+] ?[A-Z]{2,5}){1,8}(?![\p{L}\d@])",
        "=",
        "+",
    ),
    # "Palliative clinic", "Postoperative hospital stay"
    _compile(
        {"FACILITY"},
        r"(?:(?<=[.?!:] )|(?<=\n)|^)\p{Lu}\p{Ll}{4,20}(?:ive|ical|iatric|logic) (?:hospital|clinic|hospice)(?!\p{L})",
        "hosp",
        "clinic",
    ),
    # Codes of public vocabularies, after the name of the vocabulary: "SNOMED/271649006", "LOINC: 718-7"
    _compile(
        _CUT,
        r"(?<![\p{L}\d])(?:SNOMED(?:[ -]?CT)?|LOINC|Rx ?Norm|RXCUI|ICD-?[\dilo]{1,2}(?:-?(?:CM|PCS))?|CPT-?4?|HCPCS"
        r"|NDC|ATC|CVX|MeSH|UMLS|OMIM|MedDRA|HPO|DRG)(?:/{1,2}|: ?)(?=[A-Z.-]{0,3}[\dilo])[A-Z\dilo][A-Z\dilo.-]{0,14}"
        r"(?![\p{L}\d/])",
        "/",
        ":",
    ),
    _compile(_CUT, r"(?<![\p{L}\d])MEDS[_ ]?(?:BIRTH|DEATH)(?![\p{L}\d])", "meds"),
    _compile({"FACILITY"}, r"(?i)(?<!\p{L})brief hospital(?= course(?!\p{L}))", "brief hospital"),
    _compile_surname(
        r"(?<!\p{L})(?:Glasgow(?=[ -](?i:coma|blatchford|prognostic|outcome))"
        r"|Cox(?= (?i:proportional|regression|model|hazard|multivaria)))",
        "glasgow",
        "cox",
    ),
    # Years of a study: "2006-2013". A lone range after a label is a number: "MRN 1993-1994".
    _compile(
        {"ID", "DATE"},
        r"(?<=\b(?i:during|between|from|in|of|for|the|period|years?|data|\() ?)"
        r"(?:19|20)\d\d ?[-–] ?(?:(?:19|20)\d\d|\d\d)(?![\w/-]|\.\d)",
        "-",
        "–",
    ),
    _compile(_CUT, r"(?i)(?<!\p{L})(?:st\.?|saint) john['’]?s?['’]? wort(?!\p{L})", " wort"),
    # A question: "Ever told you had diabetes?"
    _compile(
        {"NAME"},
        r"(?<!\p{L})Ever(?= (?:told|smoked|had|been|used|taken|tried|felt|diagnosed|noticed)(?!\p{L}))",
        "ever ",
    ),
    # "Trail Making B 92 s", "Trails A 40 s"
    _compile(
        _CUT,
        r"(?<!\p{L})(?i:trails?(?: making)?(?: test)?(?: part)?) [ABab](?:[ :=]{1,2}\d{1,3}(?: ?s(?:ec)?)?(?!\w)\.?)?",
        "trail",
    ),
    # "up in chair with walker"
    _compile(
        {"NAME", "ORGANIZATION"},
        r"(?<=(?<!\p{L})(?:with|w/?|using|uses|on|her|his|own) (?:an? )?(?:\p{Ll}{3,12} )?)"
        r"\L<walking_aids>(?![\p{L}'’])",
        "walker",
        "zimmer",
    ),
    # "MoCA 26/30", "x 4/52": no month has these numbers.
    _compile(
        {"DATE"},
        r"(?<!(?i:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|date|dob)[a-z]{0,6}[.:]? ?)(?<![\d/.-])"
        r"(?:1[3-9]|[2-9]\d)/(?:1[3-9]|[2-9]\d)(?![\d/.-]\d|\d|/)",
        "/",
    ),
    _compile(
        {"DATE"},
        r"(?<!(?i:dob|born|birth|exp|expires|expiry)[: ]{0,2}(?:\d{1,2}/)?)(?<![\d/.-])\d{1,2}/52(?![\d/-])",
        "/52",
    ),
    # "Allred 8/8, PR 6/8", scores of receptors
    _compile(
        {"DATE"},
        r"(?i)(?<!\p{L})(?:allred|quickscore)[^.;\n]{0,40}?\d/8(?:,? ?(?:er|pr|and)? ?\d/8)?",
        "/8",
    ),
    # "due 4/52, obs 4/24, 2/12 of low mood": weeks, hours and months beside words for a duration
    _compile(
        {"DATE"},
        r"(?i)(?<!\p{L})(?:x|every|over the (?:last|past)|past|obs|further|another|q) ?\d{1,2}/(?:7|12|24)(?![\d/-])"
        r"|(?<![\d/.-])\d{1,2}/(?:7|12|24)(?= (?:since|ago|hx|history|course|neuro|obs|hourly|turns?"
        r"|steroids?)(?!\p{L}))",
        "/7",
        "/12",
        "/24",
    ),
    # "PC 18/8, FiO2 0.4", "IOP 12/11", "IOP 12/11 on Goldmann"
    _compile(
        {"DATE"},
        r"(?i)(?<!\p{L})(?:pc|ps|iop|schirmer|tof|amts?|4at|hertel|goldmann|ph|barthel|npi|phq-?9"
        r"|gad-?7):? ?\d{1,2}/\d{1,2}(?![\d/-])",
        "/",
    ),
    # "check at 6-14 h"
    _compile(
        {"FACILITY"},
        r"(?<![\w-])\d{1,2} ?[-–] ?\d{1,2}(?= ?(?:h|hrs?|hours?|d|days?|w|wks?|weeks?|months?|years?"
        r"|mm|cm|kg|mL|ml|mg)(?!\p{L}))",
        "-",
        "–",
    ),
    # "May-Grünwald"
    _compile({"DATE"}, r"(?<!\p{L})May(?=-\p{Lu}\p{Ll})", "may-"),
    # Hours of a shift or a visit: "0715-1930"
    _compile(
        {"PHONE", "ID", "MRN", "ADDRESS"},
        r"(?<![\d-])(?<!(?i:tel|phone|ph|fax|mob|call|cell|ext|mrn|no|number|id|code|pin|ref|acct"
        r"|account|lot|badge)\.?[:# ]{0,2})"
        r"(?:[01]\d|2[0-3])[0-5][05] ?[-–] ?(?:[01]\d|2[0-4])[0-5][05](?![\d-])",
        "-",
        "–",
    ),
    # A line of a table of laboratory values, which ends with a range and a unit
    _compile(
        {"PHONE", "ID", "MRN", "DATE", "ADDRESS"},
        r"(?m)^[ \t]*(?!\L<identity_labels>)\p{L}[\p{L} .,()/+-]{1,24}(?:[ \t]{2,}|\t)"
        r"(?:[<>]?\d{1,4}(?:\.\d{1,3})? ?[HL*]?(?:[ \t]{2,}|\t)){1,8}"
        r"(?:\d{1,4}(?:\.\d{1,3})? ?[-–] ?\d{1,4}(?:\.\d{1,3})?|[<>]=? ?\d{1,4})(?:[ "
        r"\t]+[\p{L}µ%/\d^.]{1,12})?(?=[ \t]*$)",
        "-",
        "<",
        ">",
    ),
    # Doses at three times of a day: "hydrocortisone 10/5/5"
    _compile(_IN_WORDS, r"(?<![\w/.-])\d{1,3}(?:/\d{1,3}){1,3}(?![\w/-])", "/"),
    # "90% sensitivity (9/10)", "in 16 % (5/31) of the patients"
    _compile({"DATE"}, r"(?<=%,?(?: \p{Ll}{3,15}){0,3} ?[(\[])\d{1,4}/\d{1,4}(?=[)\],;])", "%"),
    # Genes and proteins whose symbol ends after another letter: "HIF1A", also as disguised digits read it
    _compile(
        _IN_WORDS | {"ADDRESS"},
        r"(?<![\p{L}\d@./-])[A-Z]{2,5}(?:\d{1,2}|[il])[A-Z]\d{0,2}"
        r"(?![\p{L}\d@]| ?(?:[#]|(?i:bed|bay|room|rm|ward|unit)\b))"
        r"(?<!(?i:ward|unit|room|bed|floor|rm|at|to|on|from) [A-Z\d]{4,9})",
        *"0123456789il",
    ),
    # Tumour markers, stages and lipoproteins: "CA125", "N1 and N2", "apo B100"
    _compile(
        _IN_WORDS | {"ADDRESS"},
        r"(?<![\p{L}\d@./-])(?:CA ?-?(?:125|15|19|27|72|242|50)(?:[-.]\d{1,2})?|CD\d{1,3}[a-z]?|[TNM][0-4][a-c]?"
        r"(?:(?:/| and | or |-)[TNM][0-4][a-c]?){0,2}|QLQ-[A-Z]{1,3}\d{2})(?![\p{L}\d@])",
        *"0123456789",
    ),
    _compile(
        _CUT,
        r"(?<!\p{L})(?i:apo)[ -]?(?:(?:A|B|C|D|E|L)-?(?:\d{1,3}|[IV]{1,3})?)(?![\p{L}\d])",
        "apo",
    ),
    _compile(_CUT, r"(?<![\p{L}\d])[cmk]?m\([23]\)", "m("),
    _compile(
        _IN_WORDS,
        r"(?<!\p{L})(?i:time|times|point|time ?point|wave|trial|phase) [1-9](?![\d/:])",
        "time",
        "wave",
        "phase",
    ),
    _compile(
        {"FACILITY"},
        r"(?<=\b(?:in|of|among|for|from) )\d{1,4}(?= (?:[\p{L}-]{1,20} ){0,3}(?:patients|participants|subjects|women"
        r"|men|children|adults|cases|people|individuals)(?!\p{L}))",
        *(f"{preposition} " for preposition in ("in", "of", "among", "for", "from")),
    ),
    _compile_surname(
        rf"(?<!\p{{L}})(?:Black|White)(?= (?i:(?:(?:and|or) (?:white|black) )?{_PEOPLE_OF_A_STUDY})(?!\p{{L}}))",
        "black",
        "white",
    ),
)


def cut_harmless(
    spans: Iterable[Span], text: str, timeout: float, others: Collection[Span] = ()
) -> Iterator[Span]:
    """Yield the detections without what is harmless; drop those of which no word is left.

    Args:
        spans: detections in the text.
        text: the text.
        timeout: seconds that the search may take.
        others: what else was detected in the text before.

    Raises:
        TimeoutError: the search took longer than `timeout` seconds.
    """
    identifying = list(drop_ordinary(spans, text))
    cut = drop_ordinary(_cut_shapes(identifying, text, timeout), text)
    return drop_in_general_text(cut, text, others)


def _cut_shapes(detections: Sequence[Span], text: str, timeout: float) -> Iterator[Span]:
    """Yield the detections without the parts that have a harmless shape."""
    entities = _CUT_OR_CHARTED.intersection(span.entity for span in detections)
    if not entities:
        yield from detections
        return
    stretches: list[_Stretch] = []
    lower = text.lower()
    for shape in _SHAPES:
        may_occur = any(needed in lower for needed in shape.needs)
        if may_occur and not entities.isdisjoint(shape.entities):
            for match in shape.pattern.finditer(text, timeout=timeout):
                if shape.is_surname and is_introduced(text, match.start()):
                    continue
                stretches.append(_Stretch(match.start(), match.end(), shape.entities))
    if not entities.isdisjoint(_IN_WORDS):
        for start, end in _find_acronyms(text, detections, timeout):
            stretches.append(_Stretch(start, end, _IN_WORDS))
        for start, end in _find_peoples(text, timeout):
            stretches.append(_Stretch(start, end, _IN_WORDS))
    if not stretches:
        yield from detections
        return
    stretches.sort(key=lambda stretch: stretch[:2])
    longest = max(stretch.end - stretch.start for stretch in stretches)
    for span in detections:
        first = bisect_left(stretches, span.start - longest, key=lambda stretch: stretch.start)
        last = bisect_left(stretches, span.end, key=lambda stretch: stretch.start)
        yield from _cut(span, stretches[first:last], text)


def _find_acronyms(
    text: str, detections: Iterable[Span], timeout: float
) -> Iterator[tuple[int, int]]:
    """Yield the occurrences of acronyms that the text itself defines: "expiratory reserve volume (ERV)".

    The acronym of an institution ("General Hospital (GH)"), of words that may be names, or of words that were detected,
    identifies like the words.
    """
    if "(" not in text:
        return
    acronyms: set[str] = set()
    is_covered: bytearray | None = None
    for match in _DEFINED.finditer(text, timeout=timeout):
        defining = [word for word in _WORD.finditer(match["words"]) if word.group() not in _JOINTS]
        defining = defining[-len(match["acronym"]) :]
        start = match.start("words") + defining[0].start()
        if is_covered is None:
            is_covered = _mark_covered(detections, len(text))
        is_detected = any(is_covered[start : match.end("words")])
        if not is_detected and _is_term([word.group() for word in defining], match["acronym"]):
            acronyms.add(match["acronym"])
    if acronyms:
        for match in _ACRONYM.finditer(text, timeout=timeout):
            if match.group() in acronyms:
                yield match.span()


def _find_peoples(text: str, timeout: float) -> Iterator[tuple[int, int]]:
    """Yield the occurrences of a people that the text itself shows to be one: "non-Sami", "Sami-speaking"."""
    if "non-" not in text and "speaking" not in text:
        return
    peoples = {match["people"] for match in _PEOPLE.finditer(text, timeout=timeout)}
    if not peoples:
        return
    found = [
        match
        for match in _CAPITALISED.finditer(text, timeout=timeout)
        if match.group() in peoples and not _is_name_of_person(match.group())
    ]
    # "non-Fenwick", and elsewhere "Mr. Fenwick"
    people_named = {match.group() for match in found if is_introduced(text, match.start())}
    for match in found:
        if match.group() not in people_named:
            yield match.span()


def _is_name_of_person(word: str) -> bool:
    """Return whether a word is a listed name, and no people of a country or a faith."""
    lower = word.lower()
    if lower in words("nationalities"):
        return False
    return lower in words("given_names") or lower in words("surnames")


def _mark_covered(spans: Iterable[Span], length: int) -> bytearray:
    """Return 1 for each character of a text of this length that lies within a span, and 0 for the others."""
    is_covered = bytearray(length)
    for span in spans:
        is_covered[span.start : span.end] = b"\1" * (span.end - span.start)
    return is_covered


def _is_term(defining: Sequence[str], acronym: str) -> bool:
    """Return whether ordinary words, none of which denotes an institution, have the initials of the acronym."""
    if "".join(word[0] for word in defining).upper() != acronym:
        return False
    return not _may_identify(" ".join(defining)) and GENERIC.isdisjoint(map(str.lower, defining))


def _cut(span: Span, stretches: Iterable[_Stretch], text: str) -> Iterator[Span]:
    start = span.start
    is_cut = False
    for stretch_start, stretch_end, entities in stretches:
        if span.entity not in entities or stretch_end <= start or span.end <= stretch_start:
            continue
        is_cut = True
        if start < stretch_start and _may_identify(text[start:stretch_start]):
            yield Span(start, stretch_start, span.entity)
        start = max(start, stretch_end)
    if not is_cut:
        yield span
    elif start < span.end and _may_identify(text[start : span.end]):
        yield Span(start, span.end, span.entity)


def _may_identify(rest: str) -> bool:
    """Return whether the rest of a cut detection holds a digit or a word that is not an ordinary one."""
    if any(map(str.isdigit, rest)):
        return True
    names = words("given_names") | words("surnames")
    return any(word in names or not is_safe(word) for word in _WORD.findall(rest.lower()))
