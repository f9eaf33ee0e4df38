"""Shapes of medicine and of transcripts stay readable, and identifiers in the same shapes are still taken."""

import pytest

from agent.redaction.engine import Engine
from agent.redaction.spans.harmless import cut_harmless
from agent.redaction.spans.span import Span

UNCHANGED = (
    "Doctor: Do you smoke?\nPatient: No.\nDoctor: Any pain?\nPatient: Yes.",
    "Patient: My knee hurts.\nclient: I cannot sleep.\nclient: That I will be found out.",
    "Conversation: Patient: I have had a dry cough.",
    "[doctor] hi , how are you ?\n[patient] i'm gon na go . [doctor] okay\n[patient_guest] no .",
    "hi , doctor . um , i'll show you",
    "hemoglobin eight point nine. it is elevated at eight . around six or seven , if possible",
    "He is on BiPAP 12/5 and doing well, POD 8.",
    "TP53 c.743G>A (p.Arg248Gln) was found.",
    "Glasgow-Blatchford score and Cox regression in Black and White patients.",
    "Little is known about outcomes in White or Black women.",
    "In the Brief Hospital Course he did well.",
    "The expiratory reserve volume (ERV) is less: TLC = RV + ERV + TV.",
    "Polymorphisms of HIF1A and AVPR1A were genotyped in 94 HIV-infected adults.",
    "Serum CA125 and CA72-4 rose; N1 and N2 disease, CD34 positive.",
    "VLDL holds apo B100 and apo E over an area of 400 cm(2).",
    "It was measured at time 1 and at time 2.",
    "It had a sensitivity of 90% (9/10), and stones in 16% (5/31) of the eyes.",
    "Deaths due to infarction during 2006-2013 were counted.",
)
TAKEN = (
    (
        "Patient: John Smith\nDoctor: Jane Doe\nNurse: May Grant",
        ("John", "Smith", "Jane", "Doe", "Grant"),
    ),
    ("Patient: My Nguyen, 42", ("Nguyen",)),
    ("Patient: No Jin-woo.", ("Jin",)),
    ("Patient: May Will.", ("May", "Will")),
    ("[doctor] hi john smith , [patient] hello doctor jones", ("john", "smith", "jones")),
    ("MRN eight point nine two one five five", ("nine two one",)),
    ("call six one seven five five five zero one four three", ("five five",)),
    ("seen on 12/5 on BiPAP", ("12/5",)),
    ("BiPAP 12/5/2021 started", ("12/5",)),
    ("Finn Holloway, 9 y. John Smith is the father.", ("Finn", "Holloway", "Smith")),
    ("Thomas Glasgow came with Margaret Cox.", ("Glasgow", "Cox")),
    ("Mrs. White and Mr. Black were seen.", ("White", "Black")),
    ("Mr. Little is known to us.", ("Little",)),
    ("Little is known to drink; Little has two sons.", ("Little",)),
    ("Mrs. Glasgow coma after fall", ("Glasgow",)),
    ("Mr Cox proportional weight gain", ("Cox",)),
    ("Dr. White and Black reviewed the films.", ("White", "Black")),
    ("Discussed with Dr Black and White", ("White", "Black")),
    ("The non-Garcia twin; Garcia slept.", ("Garcia slept",)),
    ("The non-Ostrowska twin; Mrs. Ostrowska slept.", ("Ostrowska slept",)),
    ("John Adam Smith (JAS) came. JAS smokes.", ("John", "Adam", "Smith")),
    ("room seven, bed eight", ("eight",)),
    ("MRN 2006-2013, seen 9/10 at clinic", ("2006-2013", "9/10")),
    ("Transferred to AMU2A bed 9 from ward HDU1B bed 4.", ("bed 9", "bed 4")),
)


@pytest.mark.parametrize("text", UNCHANGED)
def test_harmless_shapes_stay(engine: Engine, text: str):
    assert engine.redact(text) == text


@pytest.mark.parametrize(("text", "identifying"), TAKEN)
def test_identifiers_in_similar_shapes_are_taken(
    engine: Engine, text: str, identifying: tuple[str, ...]
):
    redacted = engine.redact(text)
    assert [word for word in identifying if word in redacted] == []


def test_a_detection_is_cut_around_a_harmless_shape():
    text = "John Holloway [doctor] Smith"
    spans = list(cut_harmless([Span(0, len(text), "NAME")], text, 5))
    assert [text[span.start : span.end].strip() for span in spans] == ["John Holloway", "Smith"]


def test_labelled_numbers_are_never_cut():
    text = "MRN eight point nine"
    span = Span(4, len(text), "MRN")
    assert list(cut_harmless([span], text, 5)) == [span]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Signature: J Wasacase      Date: Oct 28/24\nForm 22-B", "Oct 28/24"),
        ("seen Oct 28/24 in clinic", "Oct 28/24"),
        ("DOB: 28/94", "28/94"),
    ],
)
def test_a_day_before_a_year_is_no_score(engine: Engine, text: str, day: str):
    assert day not in engine.redact(text)
