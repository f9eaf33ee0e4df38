"""Under a policy that leaves the language to the program, each text is searched by the rules of its own language."""

import json
import re
from pathlib import Path

import pytest

from agent.redaction.engine import Engine, build_engine, open_engine
from agent.redaction.entities import Entity
from agent.redaction.languages import detector
from agent.redaction.policy.policy import load_policy
from agent.redaction.redacted import Withheld
from agent.redaction.rules_digest import rules_digest

SPANISH = "La paciente Ana García Pérez, NHC 00451234, fue vista el 14 de marzo de 2022 por el Dr. Luis Gómez."
ENGLISH = "Anna Kowalski, MRN 00451234, was seen in clinic on 03/14/2022 with fever."
CORPUS = Path(__file__).parents[2] / "data/deid/spanish_invented.jsonl"


def count_left(engine: Engine) -> int:
    """Return the number of identifiers of the Spanish corpus of which something is left."""
    left = 0
    for line in CORPUS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        (spans,) = engine.find_record([row["text"]])
        assert not isinstance(spans, Withheld)
        taken = {position for span in spans for position in range(span.start, span.end)}
        for start, end, _ in row["spans"]:
            left += any(row["text"][at].isalnum() and at not in taken for at in range(start, end))
    return left


def test_names_in_a_spanish_text_are_found_under_the_default_policy():
    redacted = open_engine("hipaa_safe_harbor").redact(SPANISH)
    assert redacted == "La paciente [NAME-1], NHC [MRN-1], fue vista el [DATE-1] por el [NAME-2]."


@pytest.mark.parametrize("policy", ["hipaa_safe_harbor", "gdpr"])
def test_no_more_is_missed_in_spanish_than_when_the_language_is_named(policy: str):
    assert count_left(open_engine(policy)) <= count_left(open_engine(policy, language="es"))


def test_both_languages_of_a_mixed_text_are_searched():
    redacted = open_engine("hipaa_safe_harbor").redact(f"{ENGLISH} {SPANISH}")
    assert re.search(r"Kowalski|00451234|03/14|García|Pérez|marzo|Gómez", redacted) is None
    assert "was seen in clinic" in redacted


def test_a_name_found_in_spanish_is_replaced_in_the_english_texts_of_its_record():
    shown = open_engine("hipaa_safe_harbor").redact_record(
        [
            "Summary: Zubizarreta was seen in clinic today and is well.",
            "La paciente Itziar Zubizarreta Olmo fue vista por el Dr. Luis Gómez.",
        ]
    )
    assert "Zubizarreta" not in shown[0]


def test_spanish_rules_are_opened_for_the_first_spanish_text():
    engine = open_engine("hipaa_safe_harbor")
    engine.redact(ENGLISH)
    assert engine._opened == ["en"]
    engine.redact(SPANISH)
    assert engine._opened == ["en", "es"]


def test_spanish_texts_are_withheld_if_their_rules_fail_the_self_test(
    monkeypatch: pytest.MonkeyPatch,
):
    engine = open_engine("hipaa_safe_harbor")
    monkeypatch.setattr("agent.redaction.engine.passes_self_test", lambda *_: False)
    assert engine.redact_record([SPANISH, ENGLISH])[0] == "[WITHHELD: engine error]"
    assert engine.redact(ENGLISH) != "[WITHHELD: engine error]"


def test_a_policy_that_lists_english_searches_every_text_as_english():
    policy = load_policy("hipaa_safe_harbor")
    listed = policy.model_copy(update={"languages": ("en",)})
    engine = build_engine(listed)
    engine.redact(SPANISH)
    assert engine._opened == ["en"]
    assert rules_digest(listed) != rules_digest(policy)


def test_own_patterns_and_phrases_count_in_every_language():
    policy = load_policy("hipaa_safe_harbor")
    content = policy.model_dump() | {
        "recognizers": [{"entity": "ID", "pattern": r"\bTRIAL-\d{4}\b"}],
        "deny": {"FACILITY": ["ala azul"]},
    }
    engine = build_engine(type(policy).model_validate(content))
    redacted = engine.redact("La paciente ingresó ayer en el ala azul por el ensayo TRIAL-2231.")
    assert redacted == "La paciente ingresó ayer en el [FACILITY-1] por el ensayo [ID-1]."


@pytest.mark.parametrize("name", ["hipaa_safe_harbor", "strict", "limited_data_set", "gdpr"])
def test_every_entity_of_a_shipped_policy_is_found_in_both_languages(name: str):
    for language in ("en", "es"):
        policy = load_policy(name, language=language)
        assert Engine(policy)._entities  # an entity without a recogniser is refused


def test_moved_dates_of_a_spanish_record_begin_with_the_day():
    policy = load_policy("limited_data_set")
    entities: tuple[Entity, ...] = (*policy.entities, "DATE")
    moving = policy.model_copy(update={"entities": entities, "operators": {"DATE": "shift"}})
    key = bytes(32)
    shown = build_engine(moving, key).redact(
        "La paciente ingresó el 03/04/2022 y fue dada de alta el 03/05/2022."
    )
    first, second = (tuple(map(int, date.split("/"))) for date in re.findall(r"[\d/]{10}", shown))
    assert first[:2] != second[:2]
    assert max(first[1], second[1]) <= 12


def test_detections_are_kept_apart_by_language():
    engine = open_engine("hipaa_safe_harbor")
    alone = engine.find_record(["Marzo"])
    beside = engine.find_record(["Marzo", SPANISH])
    assert detector.choose_languages(["B", SPANISH])[0] == ("es",)
    assert engine.find_record(["Marzo"]) == alone
    assert beside[1]


def test_one_german_sentence_is_hidden_and_the_english_around_it_shown():
    german = "Die Patientin Annegret Hoffmann wurde gestern wegen starker Schmerzen aufgenommen."
    redacted = open_engine("hipaa_safe_harbor").redact(f"{ENGLISH} {german} She is well today.")
    assert "Hoffmann" not in redacted
    assert "aufgenommen" not in redacted
    assert redacted.endswith("She is well today.")


def test_a_german_comment_in_a_record_is_hidden_and_the_record_stays_valid():
    german = "Die Patientin Annegret Hoffmann wurde gestern wegen starker Schmerzen aufgenommen."
    record = json.dumps({"name": "Anna Kowalski", "test": "TSH", "value": 2.1, "comment": german})
    shown = json.loads(open_engine("hipaa_safe_harbor").redact(record))
    assert shown | {"comment": ""} == {
        "name": "[NAME-1]",
        "test": "TSH",
        "value": 2.1,
        "comment": "",
    }
    assert re.fullmatch(r"\[[A-Z]+-\d\]\.?", shown["comment"])
