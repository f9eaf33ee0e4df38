"""The eighteen classes of Safe Harbor in thirty contexts, plain and disguised: searched for in the bytes that come out.

The grid has some 6,000 plain and 25,000 disguised texts. The tests take every so many of them, always the same, so that
all contexts and disguises are among them. All people and numbers are made up.
"""

import html
import json
import unicodedata
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

import pytest
import regex

from agent.redaction.engine import Engine
from agent.redaction.redacted import Withheld
from agent.redaction.replacements.tags import TAG
from tests.data.make_disguises import DISGUISES


@dataclass(frozen=True, slots=True)
class Kind:
    """What identifies in one way.

    Attributes:
        safe_harbor: the class, by its letter in 45 CFR 164.514(b)(2)(i).
        labels: what a form calls it.
        clauses: how a sentence says it.
        values: what is planted.
        disguised_as: the kind of `DISGUISES` whose disguises fit it.
    """

    safe_harbor: str
    labels: tuple[str, ...]
    clauses: tuple[str, ...]
    values: tuple[str, ...]
    disguised_as: str


KINDS = {
    "patient": Kind(
        "A", ("patient name", "name", "patient"),
        ("the patient is {}", "this concerns {}, who is known to us", "the name on the wristband is {}"),
        ("Tendai Murambinda", "Siobhán Mac Giolla", "Nguyễn Thị Hạnh", "Kwabena Asare-Boateng", "Ji-woo Baek",
         "Aleksandra Wójtowicz-Kruk", "Xóchitl Ibarrondo", "Hamad bin Rashid Al-Otaibi", "Priyanka Venkataraghavan",
         "Zhang Weiming",
         "Dwayne Pettibone", "O'Shaughnessy, Declan P.", "Mehmet Gökçe", "Tui Ngata", "Björn Hallgrímsson"),
        "NAME"),
    "clinician": Kind(
        "A", ("attending physician", "referring provider", "dictated by"),
        ("she was seen by Dr. {}", "the operation was performed by {}, MD", "Dr. {} agreed with this"),
        ("Yevhen Shcherbak", "Ifeoma Nwachukwu", "Marie-Claire de Villebois", "Takumi Hoshikawa", "Leilani Kahumoku"),
        "NAME"),
    "relative": Kind(
        "A", ("next of kin", "emergency contact", "guardian"),
        ("his wife {} was present", "her son {} will collect her", "we spoke with his sister, {}"),
        ("Gwendolyn Tarrowby", "Farrukh Mirzoyev", "Amparo Quintanilla", "Oyelaran Adebisi", "Saoirse Kinnegad"),
        "NAME"),
    "city": Kind(
        "B", ("city", "place of birth", "hometown"),
        ("she lives in {} with her sister", "he was born in {}", "she moved here from {}"),
        ("Chattanooga", "Wolverhampton", "Guadalajara", "Ouagadougou", "Saskatoon", "Terre Haute, Indiana"), ""),
    "address": Kind(
        "B", ("address", "home address", "mailing address"),
        ("she lives at {}", "mail goes to {}", "the home address is {}"),
        ("4417 Larkspur Hollow Road", "18 Rue des Tanneurs", "Lindenstraße 27, 50674 Köln",
         "902 E Thornapple Ave, Apt 6B",
         "77 Cobbler's Yard, Leeds LS6 2QW", "PO Box 20931"), "DATE"),
    "ZIP": Kind(
        "B", ("zip code", "zip", "postal code"), ("the ZIP code is {}", "he lives in zip code {}"),
        ("37405-1192", "60629", "K7L 3N6", "SW1V 4JE"), ""),
    "facility": Kind(
        "B", ("hospital", "facility"),
        ("he was transferred from {}", "she was admitted to {}"),
        ("Thornbury General Hospital", "St. Aldric's Medical Center", "Willow Fen Clinic"), ""),
    "date": Kind(
        "C", ("date of birth", "DOB", "date of admission", "date of death"),
        ("he was admitted on {}", "she was born on {}", "the operation was on {}"),
        ("07/23/1961", "2023-08-29", "29.08.2023", "14 Oct 2022", "August 17, 1958", "17-AUG-1958",
         "the ninth of June 2021",
         "6/23/58", "23 June"), "DATE"),
    "age": Kind(
        "C", ("age", "patient age"),
        ("she is {} years old", "he is a {}-year-old man", "he was aged {} at the time"), ("93", "97", "101"), ""),
    "phone": Kind(
        "D", ("phone", "telephone", "mobile", "contact number"),
        ("call her at {}", "his phone number is {}", "the daughter can be reached at {}"),
        ("(423) 555-0186", "423-555-0186", "+44 7700 900318", "423.555.0186 ext 72", "+254 712 555018", "02 9555 0164"),
        "PHONE"),
    "fax": Kind(
        "E", ("fax", "fax number"), ("please fax the letter to {}", "the fax number is {}", "results go by fax to {}"),
        ("312-555-0149", "+1 (312) 555-0149", "+49 221 5550149", "0161 496 0772"), "PHONE"),
    "e-mail": Kind(
        "F", ("email", "e-mail address"), ("write to {}", "the e-mail is {}", "send it to {} please"),
        ("t.murambinda@lakemail.com", "gwen_tarrowby77@hotpost.org", "hoshikawa@ent.stmartha.local",
         "j-baek@kliniek.nl"),
        "EMAIL"),
    "SSN": Kind(
        "G", ("SSN", "social security number"), ("the social security number is {}", "SSN {}", "his SSN was {}"),
        ("517-62-9038", "517 62 9038", "517629038", "XXX-XX-9038"), "SSN"),
    "MRN": Kind(
        "H", ("MRN", "medical record number", "hospital number"),
        ("the chart is MRN {}", "medical record number {} belongs to this case", "her MRN is {}"),
        ("80337164", "QX-550912", "0093-4471", "H7714209", "55-20-91", "MK4409"), "MRN"),
    "plan": Kind(
        "I", ("member id", "policy number", "insurance id", "medicare number"),
        ("the member ID is {}", "she is insured under policy number {}", "Medicare number {} applies"),
        ("XJH847120336", "W2291-8840", "3QW8TN4RD61", "88410-22"), "MRN"),
    "account": Kind(
        "J", ("account number", "billing account", "card number"),
        ("the bill goes to account number {}", "account {} is overdue", "he paid from account no. {}"),
        ("7731900284", "AC-229174", "4929 1557 0382 6617", "GB33BUKB20201555555555"), "MRN"),
    "licence": Kind(
        "K", ("license number", "NPI", "DEA number", "driver license"),
        ("the license number is {}", "he showed driver's license {}", "signed under license no. {}"),
        ("D4418-9027", "TX08841937", "1548093376", "BM4480213"), "MRN"),
    "vehicle": Kind(
        "L", ("license plate", "VIN", "vehicle registration"),
        ("the car has license plate {}", "his vehicle, plate number {}, was hit", "the vehicle registration is {}"),
        ("8KTR442", "2T1BURHE5JC074491", "LK68 VBN", "WVT-4471"), "MRN"),
    "device": Kind(
        "M", ("device serial number", "pacemaker serial number", "serial number"),
        ("the pacemaker has serial number {}", "the implanted device, serial no. {}, works",
         "pump serial number {} was read"),
        ("PJN4471820", "SN-0088213", "(01)00844588003288(21)7714A2", "A77-20914"), "MRN"),
    "URL": Kind(
        "N", ("website", "link", "URL"), ("see {} for the photos", "her blog is at {}", "the portal link is {}"),
        ("https://portal.lakeclinic.org/p/80337164", "www.tarrowby-family.net/mum", "lakemail.com/~tmurambinda"),
        "EMAIL"),
    "IP": Kind(
        "O", ("IP address", "ip"), ("the message came from IP {}", "she logged in from {}", "the IP address was {}"),
        ("84.203.17.166", "2a02:8108:4740:31::7f2", "10.44.9.201", "3C:22:FB:8A:10:4D"), ""),
    "biometric": Kind(
        "P", ("fingerprint id", "voiceprint", "retina scan id"),
        ("the fingerprint record is {}", "her voiceprint {} was stored", "the iris scan {} matched"),
        ("FP-7733-90114", "VP20918846", "IR-55-0921-7"), "MRN"),
    "photo": Kind(
        "Q", ("photo", "image file", "photo id"),
        ("the face is seen on photo {}", "see image {}", "the full-face photograph {} is attached"),
        ("IMG_20391847.jpg", "murambinda_face_02.png", "DSC-0044719.JPG"), ""),
    "other": Kind(
        "R", ("study id", "encounter number", "accession number", "passport", "employee id"),
        ("the study ID is {}", "encounter number {} is closed", "accession number {} was read",
         "her passport number is {}"),
        ("CX7-0042-118", "ENC20094471", "S23-118204", "N40338172", "6f1c2a9e-77b0-4d1e-9a54-0c8be2f4d713"), "MRN"),
}  # fmt: skip

CONTEXTS = {
    "header": "{Label}: {value}\nDiagnosis: community-acquired pneumonia\nPlan: ceftriaxone, recheck in the morning.",
    "line of headers": "DISCHARGE SUMMARY\nService: Medicine    {Label}: {value}    Diet: low salt\nHeart failure.",
    "in a sentence": "Admitted with chest pain; {clause}. Troponin was negative and aspirin was continued.",
    "first sentence": "{Clause}. No fever, lungs clear, on metoprolol 50 mg twice daily.",
    "last words": "Reviewed the plan for dialysis. {Clause}",
    "Markdown table": "| Item | Entry |\n|---|---|\n| {Label} | {value} |\n| Allergies | penicillin |",
    "table of columns": "{Label}\tAllergies\tDiet\n{value}\tpenicillin\tlow salt",
    "CSV": '{key},allergies,diet\n"{value}",penicillin,low salt',
    "JSON": '{"{key}": {json}, "problem": "anaemia", "stable": true}',
    "nested JSON": '{"case": {"history": [{"{key}": {json}}, {"note": "asthma since childhood"}]}}',
    "string in JSON": '{"messages": [{"role": "user", "content": "Gout. {ClauseInJson}. What dose of colchicine?"}]}',
    "YAML": "record:\n  {key}: {value}\n  problem: anaemia",
    "XML": "<entry><{key}>{value}</{key}><note>stable</note></entry>",
    "HTML table": "<table><tr><td>{Label}</td><td>{value}</td></tr><tr><td>Diet</td><td>low salt</td></tr></table>",
    "dictation": "next paragraph the patient has copd comma on home oxygen period {clause} period end of dictation",
    "bullets": "- allergies: none\n- {label}: {value}\n- diet: low salt",
    "numbered list": "1. COPD\n2. {Clause}\n3. Atrial fibrillation, on apixaban",
    "letter": "Dear colleague,\n\nThank you for seeing this patient with gout; {clause}.\n\nWith kind regards",
    "question": "Summarise the case for the tumour board. {Clause}. Should adjuvant chemotherapy be offered?",
    "question with brackets": "What is the next step for a patient with a potassium of 6.1? ({Clause}.)",
    "instruction": "You are a clinical assistant. Use this record.\n<record>\n{Label}: {value}\nHistory: asthma\n"
    "</record>\nWhich inhaler fits?",
    "transcript": "[doctor] how is the knee ?\n[patient] still sore . {clause} .\n[doctor] we will get an x-ray .",
    "radiology": "CT CHEST WITH CONTRAST\n{Label}: {value}\nFINDINGS: No pulmonary embolism.\nIMPRESSION: Effusion.",
    "nursing": "0800 pt resting, VSS. {Clause}. IV patent, pain 3/10.",
    "quoted form": 'The form reads: "{label}: {value}" and the rest is blank; sepsis was treated.',
    "foot of a page": "Assessment: stable angina.\n---\n{Label}: {value}\nPage 2 of 3",
    "portal message": "Hello, I have a question about my inhaler. {Clause}. Can I take it with food?",
    "semicolons": "Hx: DM2, HTN; {label}: {value}; meds: metformin, lisinopril",
    "brackets": "Follow-up of rheumatoid arthritis ({label}: {value}), on methotrexate.",
    "log": "2 warnings; import of the note failed: {key}={value}; will retry",
}
# Ways to write that need no maker: letters of the wrong size, as in dictation and on old screens.
CASES = {"capitals": str.upper, "small letters": str.lower}
# Disguises that fit values of letters and digits mixed; a number with signs reads otherwise in these.
_NOT_FOR_CODES = frozenset(
    {"digits spaced out", "digits in dots", "digits in words", "letters for digits"}
)
# Codes for the letters of English alone.
_LETTER_BY_LETTER = frozenset({"Morse", "letters by their alphabet"})
_IN_MARKUP = (
    "CSV",
    "JSON",
    "nested JSON",
    "string in JSON",
    "XML",
    "HTML table",
    "YAML",
    "table of columns",
)


def in_context(context: str, kind: Kind, value: str, turn: int) -> str:
    """Return the text of a context that holds `value`; `turn` chooses among labels and clauses."""
    label, clause = (
        kind.labels[turn % len(kind.labels)],
        kind.clauses[turn % len(kind.clauses)].replace("{}", value),
    )
    capital = clause[0].upper() + clause[1:]
    said = {
        "{value}": value, "{label}": label, "{Label}": label[0].upper() + label[1:],
        "{key}": regex.sub(r"\W", "_", label.lower()), "{json}": json.dumps(value, ensure_ascii=False),
        "{clause}": clause, "{Clause}": capital, "{ClauseInJson}": json.dumps(capital, ensure_ascii=False)[1:-1],
    }  # fmt: skip
    return regex.sub(
        r"\{\w+\}", lambda slot: said.get(slot.group(), slot.group()), CONTEXTS[context]
    )


def plainest(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if c.isalnum())


# Words of values that the texts of others have as well, and what introduces a disguise.
_COMMON = frozenset(
    [
        "the", "bin", "box", "png", "jpg", "com", "org", "net", "www", "https", "img", "dsc", "ext", "road", "rue",
        "des", "ave", "apt", "yard", "general", "hospital", "medical", "center", "clinic", "portal", "family", "local",
        "xxx", "dash", "face", "photo", "mum", "reversed", "written", "backwards", "rot13", "rot", "textbf", "emph",
        "patient", "span",
    ]
)  # fmt: skip


def parts(value: str) -> list[str]:
    """Return what identifies of a value: words of three letters, runs of three digits; where it has none, all of it."""
    words = regex.findall(r"\p{L}[\p{L}\p{M}'’]{2,}|\d{3,}", value)
    # A year alone is no identifier; all that is told besides it is.
    told = [
        w for w in words if plainest(w) not in _COMMON and not regex.fullmatch("(?:19|20)\\d\\d", w)
    ]
    return told or [value]


def readings(shown: str) -> Iterator[str]:
    """Yield what came out as it is and as a reader could decode it."""
    yield shown
    yield html.unescape(urllib.parse.unquote_plus(shown))
    yield regex.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code.group(1), 16)), shown)


def left(shown: str, around: str, value: str, written: str) -> list[str]:
    """Return what is left of `value`, written so, in the bytes that came out; `around` is the text without it."""
    shown = TAG.sub("", shown)
    whole = [part for part in (value, written) if part.encode() in shown.encode()]
    folded, own = [plainest(reading) for reading in readings(shown)], plainest(around)
    searched = {plainest(part) for text in (value, written) for part in parts(text)} - {""}
    return whole + [
        part
        for part in searched
        if len(part) > 1 and part not in own and any(part in f for f in folded)
    ]


@dataclass(frozen=True, slots=True)
class Cell:
    """One text of the grid."""

    name: str
    context: str
    disguise: str
    turn: int
    value: str
    written: str

    def text(self) -> str:
        return in_context(self.context, KINDS[self.name], self.written, self.turn)

    def left_by(self, engine: Engine) -> list[str]:
        around = in_context(self.context, KINDS[self.name], "", self.turn)
        shown = engine.redact(self.text())
        return (
            [] if shown.startswith("[WITHHELD") else left(shown, around, self.value, self.written)
        )


def plain_grid() -> Iterator[Cell]:
    for name, kind in KINDS.items():
        values = [
            *kind.values,
            *(change(v) for v in kind.values[:4] for change in CASES.values() if change(v) != v),
        ]
        for turn, (value, context) in enumerate(product(values, CONTEXTS)):
            yield Cell(name, context, "", turn, value, value)


def disguised_grid() -> Iterator[Cell]:
    for name, kind in KINDS.items():
        fitting = [d for d, (kinds, _) in DISGUISES.items() if kind.disguised_as in kinds]
        for turn, (disguise, context) in enumerate(product(fitting, CONTEXTS)):
            value = kind.values[turn % len(kind.values)]
            if disguise in _LETTER_BY_LETTER:
                value = regex.sub(r"[^a-zA-Z ]", "", unicodedata.normalize("NFD", value))
            written = DISGUISES[disguise][1](value)
            of_letters = any(c.isalpha() for c in value)
            if of_letters and disguise in _NOT_FOR_CODES and kind.disguised_as != "NAME":
                continue
            if context in _IN_MARKUP and regex.search(r"[\n\t<>&\"\\]", written):
                continue  # what writes such a file would write it otherwise
            yield Cell(name, context, disguise, turn, value, written)


EVERY_PLAIN, EVERY_DISGUISED = 7, 37  # prime, so that no context or disguise is always left out
PLAIN = list(islice(plain_grid(), 0, None, EVERY_PLAIN))
DISGUISED = list(islice(disguised_grid(), 0, None, EVERY_DISGUISED))
# Who and where is found by what a model has learned; all else by rules, which miss none of these.
LEARNED = frozenset("AB")
MISSED = 0.01  # of names and places
MISSED_IN_DISGUISE = 0.02


def test_the_grid_has_all_classes_and_contexts():
    assert {kind.safe_harbor for kind in KINDS.values()} == set("ABCDEFGHIJKLMNOPQR")
    assert len(CONTEXTS) == 30
    assert {(cell.name, cell.context) for cell in plain_grid()} == set(product(KINDS, CONTEXTS))
    assert {cell.context for cell in PLAIN} == {cell.context for cell in DISGUISED} == set(CONTEXTS)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "name", [name for name, kind in KINDS.items() if kind.safe_harbor not in LEARNED]
)
def test_nothing_is_left_of_an_identifier_whatever_it_stands_in(engine: Engine, name: str):
    leaks = [
        (cell.text(), found)
        for cell in PLAIN
        if cell.name == name and (found := cell.left_by(engine))
    ]
    assert leaks == []


@pytest.mark.full
def test_hardly_a_name_or_place_is_left_whatever_it_stands_in(engine: Engine):
    cells = [cell for cell in PLAIN if KINDS[cell.name].safe_harbor in LEARNED]
    leaks = [(cell.text(), found) for cell in cells if (found := cell.left_by(engine))]
    assert len(leaks) <= MISSED * len(cells), leaks


@pytest.mark.full
def test_hardly_a_disguised_identifier_is_left_whatever_it_stands_in(engine: Engine):
    leaks = [(cell.text(), found) for cell in DISGUISED if (found := cell.left_by(engine))]
    assert len(leaks) <= MISSED_IN_DISGUISE * len(DISGUISED), leaks


@pytest.mark.full
def test_places_of_findings_split_nothing_that_is_drawn_as_one(engine: Engine):
    for cell in DISGUISED[::5]:
        found = engine.find_record([cell.text()])[0]
        edges = {0, *(character.end() for character in regex.finditer(r"\X", cell.text()))}
        if not isinstance(found, Withheld):
            assert {edge for span in found for edge in (span.start, span.end)} <= edges


@pytest.mark.parametrize(
    "context", ["header", "CSV", "JSON", "dictation", "question", "transcript"]
)
@pytest.mark.parametrize("value", KINDS["patient"].values[::2])
def test_a_name_of_the_prompt_is_gone_from_an_answer_that_has_its_parts_in_another_order(
    engine: Engine, context: str, value: str
):
    first, *_, last = value.replace(",", "").removesuffix(" P.").split()
    answer = f"In short, {last}, {first} should stop smoking. I would tell {last.upper()} so; {first}'s dose is right."
    shown = engine.redact_record([in_context(context, KINDS["patient"], value, 0), answer])[1]
    assert not [part for part in (first, last) if plainest(part) in plainest(TAG.sub("", shown))]
