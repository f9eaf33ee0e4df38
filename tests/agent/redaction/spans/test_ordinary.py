"""Ordinary words, terms, countries and eponyms stay, and people and places that are written like them are taken."""

import pytest

from agent.redaction.engine import Engine, build_engine
from agent.redaction.policy.policy import OwnRecognizer, load_policy
from agent.redaction.rules.en.names import words
from agent.redaction.rules.word_lists import read_entries
from agent.redaction.spans.ordinary import drop_ordinary
from agent.redaction.spans.span import Span

UNCHANGED = (
    "Abulia and anhedonia.",
    "Glossolalia and bizarre language.",
    "Dacarbazine",
    "Casting and crutches",
    "A history of extensive travel to Africa and a 30-pack-year history of smoking.",
    "She returned from Indonesia 2 weeks ago.",
    "Surveys of adults were conducted in Jamaica, Norway and the United Kingdom.",
    "The Mammography Quality Standards Act of 1992.",
    "- Patient Education and Counseling: she was advised to rest.",
    "Chvostek, Trousseau neg. Replogle out.",
    "Cosentyx partial, go Skyrizi.",
    "Postoperative hospital stay was longer.",
    "Which bone(s) are used?",
    "Which is best?\nA. Pseudoparkinsonism\nB. Lipomastia\nC. Meglitinide\nD. Tetrahydrofuran",
    "Which is best?\nA. Overcorrection\nB. Reducer\nC. Bedaquiline\nD. Divisome",
    "Body temperature: 38.2 Cel.",
    "missed a dose of placebex",
    "Patient with PPF transfusion, breathless.",
    "Due to overload of PPF",
    "Hx Bell palsy since 1995.",
    "hm",
    "Insurance asked for notes. Theatre called for the patient.",
    "- MEDS_BIRTH\n- ICD10CM/I10\n- LOINC/2951-2\n- SNOMED/271649006\n- RxNorm/11289",
)
TAKEN = (
    ("Works for Apple in Cork.", ("Apple",)),
    ("Twin A: Ocean. Twin B: River.", ("Ocean", "River")),
    ("Mr. Chad Jordan was seen in clinic.", ("Chad", "Jordan")),
    ("Dr. Israel and Nurse Kenya reviewed the patient.", ("Israel", "Kenya")),
    ("patient Georgia is 46 and lives in Lebanon, Oregon.", ("Georgia", "Lebanon")),
    ("Patient: Norway Holloway, 46", ("Norway", "Holloway")),
    ("Mrs. England travelled to Norway.", ("England",)),
    ("She moved here from New Mexico last year.", ("Mexico",)),
    ("Ms. Akinesia Abulia, DOB 3/4/1960", ("Akinesia", "Abulia")),
    ("Dr. Chvostek and Mr. Trousseau called.", ("Chvostek", "Trousseau")),
    ("Maria Ortolani was seen with Peter Galeazzi.", ("Ortolani", "Galeazzi")),
    ("Mr. Race Modern is 46 years old.", ("Race", "Modern")),
    ("Sunshine Holloway, 46, was admitted.", ("Sunshine", "Holloway")),
    ("Dr. Sample and Mrs. Counseling", ("Sample", "Counseling")),
    ("Jacaranda Birthing Suite called about Mrs. Overcorrection.", ("Jacaranda", "Overcorrection")),
    ("Interpreter by phone (LanguageLine op. 410928).", ("LanguageLine",)),
    ("K 4.1 Amy to recheck.", ("Amy",)),
    ("Cr 1.2 Kim aware, recheck am.", ("Kim",)),
    ("Temp 38.2 Ravi informed.", ("Ravi",)),
    ("gave 5 mg of amy", ("amy",)),
    ("Kim PPF transfusion done.", ("Kim",)),
    ("Holloway asked for this list.", ("Holloway",)),
    ("Storgata 15, 9008 Tromsø, Norway", ("Storgata", "Norway")),
)


@pytest.mark.parametrize("text", UNCHANGED)
def test_what_identifies_nobody_stays(engine: Engine, text: str):
    assert engine.redact(text) == text


@pytest.mark.parametrize(("text", "identifying"), TAKEN)
def test_people_and_places_named_like_things_are_taken(
    engine: Engine, text: str, identifying: tuple[str, ...]
):
    redacted = engine.redact(text)
    assert [word for word in identifying if word in redacted] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Mr. Anhedonia came.", "Anhedonia"),
        ("Nana (94) with pneumonia", "Nana"),
        ("Ember is a sophomore.", "Ember"),
        ("pt Chvostek, 46", "Chvostek"),
        ("He lives in Mexico.", "Mexico"),
        ("He works for the World Bank.", "World Bank"),
        ("Sunshine says hello.", "Sunshine"),
        ("Thanks,\nSunshine", "Sunshine"),
        ("mother in gdynia", "gdynia"),
    ],
)
def test_detection_is_kept_where_something_points_to_a_person(text: str, value: str):
    start = text.index(value)
    span = Span(start, start + len(value), "LOCATION" if value in ("Mexico", "gdynia") else "NAME")
    assert list(drop_ordinary([span], text)) == [span]


def test_ordinary_word_beside_a_name_is_kept():
    text = "Seasonal Okonkwo-Reyes came."
    spans = [Span(0, 8, "NAME"), Span(9, 22, "NAME")]
    assert sorted(drop_ordinary(spans, text), key=lambda span: span.start) == spans


def test_no_common_name_counts_as_a_term():
    endings = read_entries("en", "medical_endings")
    for name in words("given_names") | words("surnames"):
        assert not (len(name) > 5 and name.endswith(endings)), name


def test_no_common_name_is_listed_as_an_eponym_or_a_brand():
    names = words("given_names") | words("surnames")
    alone = {entry.lower() for entry in read_entries("en", "eponyms_alone")}
    assert names.isdisjoint(alone)
    assert names.isdisjoint(words("drug_brands"))


def test_a_policys_own_patterns_and_phrases_are_taken_whatever_words_they_are():
    policy = load_policy("hipaa_safe_harbor").model_copy(
        update={
            "deny": {"NAME": ("preschool",)},
            "recognizers": (OwnRecognizer(entity="NAME", pattern="potassium"),),
        }
    )
    shown = build_engine(policy).redact("The preschool was closed; potassium normal.")
    assert shown == "The [NAME-1] was closed; [NAME-2] normal."
