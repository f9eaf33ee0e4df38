"""The shipped English model: what it finds by itself, what it leaves alone, and what happens without it."""

import re
import shutil
import time
from pathlib import Path

import pytest
import spacy
from presidio_analyzer.nlp_engine import NlpArtifacts

from agent.redaction.deadline import Deadline
from agent.redaction.engine import Engine, open_engine
from agent.redaction.models import model
from agent.redaction.models.model import SHIPPED, ModelRecognizer, scale_bound, shipped_model
from agent.redaction.models.tokenizer import TokenizerEngine
from agent.redaction.redacted import Withheld

_KINDS = ["NAME", "LOCATION", "FACILITY", "ORGANIZATION", "ADDRESS", "DATE", "ID"]


def _recognizer(folder: Path, odds: float = 1) -> ModelRecognizer:
    deadline = Deadline()
    deadline.start(3_600)
    return ModelRecognizer("en", folder, deadline, odds=odds)


@pytest.fixture(scope="module")
def english() -> ModelRecognizer:
    folder = shipped_model("en")
    assert folder is not None
    return _recognizer(folder)


def _artifacts(text: str) -> NlpArtifacts:
    return TokenizerEngine(["en"]).process_text(text, "en")


def _found(recognizer: ModelRecognizer, text: str) -> list[str]:
    return [text[one.start : one.end] for one in recognizer.analyze(text, _KINDS, _artifacts(text))]


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "Ms. Nkemelu Obiyo was seen by Dr. Thistlewaite for hypertension.",
            ["Nkemelu Obiyo", "Thistlewaite"],
        ),
        ("Patient: KRZYSZTOF WOJCIECHOWICZ\nDOB: 04/11/1962", ["KRZYSZTOF WOJCIECHOWICZ"]),
        ("my name is wanjiru kamau and i live in eldoret", ["wanjiru", "kamau"]),
        ("I moved from Tromsø to Curitiba with my wife Ingrid.", ["Tromsø", "Curitiba", "Ingrid"]),
        ("Transferred from Pellworth Valley Hospital after a fall.", ["Pellworth Valley"]),
        ("He works for Brightlyn Logistics as a driver.", ["Brightlyn Logistics"]),
        (
            "Ship it to:\nZoltán Fekete\n14 Rákóczi út\n6720 Szeged\nHungary",
            ["Zoltán Fekete", "Rákóczi út", "Szeged"],
        ),
        ("Quennell, Maribeth A. MRN 00912", ["Quennell", "Maribeth"]),
        ("Her daughter Oluwadamilola will drive her home.", ["Oluwadamilola"]),
    ],
)
def test_rare_names_and_places_are_found_by_how_they_look_and_where_they_stand(
    english: ModelRecognizer, text: str, values: list[str]
) -> None:
    found = " ".join(_found(english, text))
    assert [value for value in values if value not in found] == []


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        "Which beta blocker is preferred in heart failure with reduced ejection fraction?",
        "Patient with Parkinson's disease and Barrett's esophagus on omeprazole 20 mg daily.",
        "Foley catheter removed; Glasgow Coma Scale 15, Babinski negative bilaterally.",
        "Compare apixaban and warfarin for atrial fibrillation per AHA guidelines.",
        "May resume metformin. Will recheck HbA1c in three months.",
        "Assessment: 67-year-old man with COPD exacerbation, started on prednisone.",
        "How do I reset the password of my account?",
    ],
)
def test_harmless_text_is_left_alone(english: ModelRecognizer, text: str) -> None:
    assert _found(english, text) == []


def test_fewer_words_are_taken_the_higher_the_odds() -> None:
    folder = shipped_model("en")
    assert folder is not None
    text = "Lives near Winding Creek; per Casimir the Kellner score rose after a Tromso walk with bettina."
    taken = []
    for odds in (0.01, 1, 100):
        covered = set()
        for one in _recognizer(folder, odds).analyze(text, _KINDS, _artifacts(text)):
            covered |= set(range(one.start, one.end))
        taken.append(covered)
    assert taken[0] > taken[1] > taken[2]


def test_a_bound_keeps_its_place_between_0_and_1() -> None:
    assert scale_bound(0.3, 1) == pytest.approx(0.3)
    assert scale_bound(0.5, 4) == pytest.approx(0.8)  # odds of 1 become odds of 4
    assert 0 < scale_bound(0.1, 0.001) < 0.1
    assert 0.8 < scale_bound(0.8, 1000) < 1


@pytest.mark.parametrize("word", ["NOT", "DENIES", "NEVER"])
def test_a_negation_behind_a_name_is_never_taken_with_it(
    english: ModelRecognizer, word: str
) -> None:
    text = f"She wants her brother Casimir Odhiambo Sr. {word} told of it; Casimir Odhiambo {word} CHEST PAIN."
    found = _found(english, text)
    assert any("Odhiambo" in one for one in found)
    assert not any(word in one for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "1845 Received handoff. Resting, no complaints.\n2030 Repositioned to left side.",
        "0615 Voided 300 mL. Braden 17, RASS -1.\n0640 Report to day shift.",
        "Hysterectomy 2011, R THA 2014, alk phos 88, lipase 21.",
        "MELD 14, bili 2.2, cr 0.9; hold lactulose?",
    ],
)
def test_hours_counts_and_years_are_no_addresses(english: ModelRecognizer, text: str) -> None:
    places = english.analyze(text, ["ADDRESS"], _artifacts(text))
    assert [text[one.start : one.end] for one in places] == []


@pytest.mark.parametrize(
    "question",
    [
        ": is Bettina near a stroke center?",
        ", can home nursing change the dressing there?",
        "? She needs a walker.",
    ],
)
def test_an_address_ends_where_the_question_begins(english: ModelRecognizer, question: str) -> None:
    text = f"lives at 3307 Winding Creek Dr, Dubuque, IA 52001{question}"
    places = english.analyze(text, ["ADDRESS", "LOCATION"], _artifacts(text))
    assert "52001" in " ".join(text[one.start : one.end] for one in places)
    assert max(one.end for one in places) <= text.index("52001") + len("52001")


def test_a_name_ends_with_its_line(english: ModelRecognizer) -> None:
    text = "Read by: Ottoline Szymborska\nMTP activated"
    assert not any("\n" in one for one in _found(english, text))


def test_only_what_is_asked_for_is_returned(english: ModelRecognizer) -> None:
    text = "Maria Lindqvist lives in Gothenburg."
    kinds = {one.entity_type for one in english.analyze(text, ["LOCATION"], _artifacts(text))}
    assert kinds == {"LOCATION"}


def test_places_never_begin_or_end_with_white_space(english: ModelRecognizer) -> None:
    text = "Name:\n  Maria Lindqvist  \n\n 12 Elm Street \n Springfield \n\n"
    for one in english.analyze(text, _KINDS, _artifacts(text)):
        assert text[one.start : one.end] == text[one.start : one.end].strip() != ""


def test_text_without_words_has_no_places(english: ModelRecognizer) -> None:
    assert [_found(english, text) for text in ("", " \n\t ", "...", "\u200b")] == [[], [], [], []]


@pytest.mark.full
def test_findings_do_not_hang_on_what_was_read_before(english: ModelRecognizer) -> None:
    text = "Seen by Dr. Thistlewaite at Pellworth Valley Hospital on March 3rd."
    before = _found(english, text)
    for number in range(50):
        _found(english, f"Word{number} and Other{number} went to Place{number}.")
    assert (
        _found(english, text) == before == _found(_recognizer(Path(str(shipped_model("en")))), text)
    )


def test_words_forgotten_between_records_do_not_change_what_is_found() -> None:
    tokenizer = TokenizerEngine(["en"])
    seen = []
    for number in range(6):
        with tokenizer.memory_zone("en", 200_000):
            seen.append(
                [
                    token.text
                    for token in tokenizer.tokenised(f"Record {number % 2} of Thistlewaite", "en")
                ]
            )
    assert seen == seen[:2] * 3


@pytest.fixture
def damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(Path(str(shipped_model("en"))), tmp_path / "en")
    monkeypatch.setattr(model, "_MODELS", tmp_path)
    return tmp_path / "en"


@pytest.mark.full
@pytest.mark.parametrize("file", ["weights", "meta.json", "ordinary_words", ""])
def test_without_its_model_the_engine_withholds_every_field_and_says_why(
    damaged: Path, file: str
) -> None:
    if file:
        (damaged / file).write_bytes((damaged / file).read_bytes()[:100])
    else:
        shutil.rmtree(damaged)
    engine: Engine = open_engine("hipaa_safe_harbor")
    assert engine.redact("Dr. Anna Kowalski was here.") == "[WITHHELD: no model]"
    assert engine.find_record(["Nothing in it."]) == [Withheld.NO_MODEL]
    assert set(engine.withheld) == {Withheld.NO_MODEL}


def test_models_are_small_and_open_fast() -> None:
    for language in SHIPPED:
        folder = Path(str(shipped_model(language)))
        assert sum(path.stat().st_size for path in folder.iterdir()) < 10_000_000
        assert (folder / "NOTICE.md").is_file()
        start = time.process_time()
        _recognizer(folder)
        assert time.process_time() - start < 0.5


def test_the_tokens_of_a_text_cover_it(english: ModelRecognizer) -> None:
    text = "Dr.O'Neil-Smith/ward 4B:\tMRN#12;\r\n(see  below)"
    doc = spacy.blank("en").make_doc(text)
    assert re.sub(r"\s", "", "".join(token.text for token in doc)) == re.sub(r"\s", "", text)
    _found(english, text)
