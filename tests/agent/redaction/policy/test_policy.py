"""Policies of a site's own: checked when they are read, named by file and key, and quoted nowhere."""

import time
from pathlib import Path

import pytest
import yaml

from agent.errors import RedactionError
from agent.io.packaged import shipped
from agent.redaction.deadline import Deadline
from agent.redaction.engine import Engine, open_engine
from agent.redaction.policy.policy import RedactionPolicy, choose_policy, load_policy
from agent.redaction.policy.site_patterns import Phrases, check_pattern
from agent.redaction.redacted import Withheld

SHIPPED = yaml.safe_load((shipped("policies") / "redaction/hipaa_safe_harbor.yaml").read_text("utf-8"))


def policy(tmp_path: Path, **keys: object) -> Path:
    path = tmp_path / "ours.yaml"
    path.write_text(yaml.safe_dump({**SHIPPED, **keys}), "utf-8")
    return path


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"operators": {"DATE": "blur"}}, "operators: DATE: expected tag or year or shift"),
        ({"operators": {"DREAM": "tag"}}, "operators: DREAM is no entity"),
        ({"operators": {"AGE": "surrogate"}}, "operators: AGE: expected tag or cap"),
        ({"operators": {"default": "shift"}}, "operators: default: expected tag or surrogate"),
        ({"operators": {"SEX": "tag"}}, "operators: SEX is not among the entities"),
        ({"recognizers": [{"entity": "ID", "pattern": "(unclosed"}]}, r"recognizers.0.pattern: not a regular exp"),
        ({"recognizers": [{"entity": "ID", "pattern": "X?"}]}, r"recognizers.0.pattern: matches where there is noth"),
        ({"recognizers": [{"entity": "ID", "pattern": r"(\w+\s?)+!"}]}, r"recognizers.0.pattern: takes too long"),
        ({"recognizers": [{"entity": "DREAM", "pattern": "x1"}]}, r"recognizers.0.entity"),
        ({"recognizers": [{"entity": "SEX", "pattern": "x1"}]}, r"recognizers: SEX is not among the entities"),
        ({"recognizers": [{"entity": "ID", "pattern": "x1", "flags": "i"}]}, r"recognizers.0.flags"),
        ({"deny": {"FACILITY": ["-wing"]}}, r"deny.FACILITY.0: expected whole words"),
        ({"deny": {"FACILITY": ["x"]}}, r"deny.FACILITY.0"),
        ({"deny": {"DREAM": ["wing"]}}, r"deny"),
        ({"allow": ["foley "]}, r"allow.0: expected whole words"),
        ({"allow": ["a ---- b"]}, r"allow.0: expected at most 3 characters between"),
        ({"entities": ["NAME", "DATE"]}, r"entities: every policy must ask for MRN, PHONE, EMAIL, SSN"),
        ({"languages": ["en", "en"]}, r"languages: en is listed twice"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_key(tmp_path: Path, keys: dict[str, object], said: str):
    with pytest.raises(RedactionError, match=said) as refused:
        load_policy(str(policy(tmp_path, **keys)))
    assert "ours.yaml" in str(refused.value)


def test_a_name_on_a_list_is_quoted_in_no_error(tmp_path: Path):
    with pytest.raises(RedactionError) as refused:
        load_policy(str(policy(tmp_path, deny={"NAME": ["Xochitl Wrzesniewski "]}, recognizers=[
            {"entity": "NAME", "pattern": "(Xochitl"}])))  # fmt: skip
    error: BaseException | None = refused.value
    while error is not None:
        assert "ochitl" not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(?:MRN ?|MRN)+#", r"\s*\w*\s*\w*\s*\w*#"])
def test_a_pattern_made_to_stall_is_refused_soon(pattern: str):
    began = time.monotonic()
    with pytest.raises(ValueError, match="takes too long"):
        check_pattern(pattern)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("pattern", [r"\bTRIAL-\d{4}\b", r"(?i)study arm: \K[a-z]{1,9}", r"[A-Z]{2}\d{6}[A-Z]?"])
def test_a_pattern_as_hospitals_write_them_passes(pattern: str):
    check_pattern(pattern)


@pytest.fixture(scope="module")
def ours() -> Engine:
    return Engine(
        RedactionPolicy.model_validate(
            {
                **SHIPPED,
                "recognizers": [{"entity": "ID", "pattern": r"(?i)\bstudy arm: \K[a-z]{3,9}"}],
                "deny": {"FACILITY": ["Sunrise House", "blue wing"], "NAME": ["Bo"]},
                "allow": ["Foley", "617-555-0100"],
            }
        )
    )


def test_own_patterns_and_denied_words_are_taken_out_as_whole_words_in_any_case(ours: Engine):
    shown = ours.redact(
        "Study arm: zebra. From SUNRISE-HOUSE to the blue  wing with bo! Bow and bluewings stay, elbow too."
    )
    assert shown == (
        "Study arm: [ID-1]. From [FACILITY-1] to the [FACILITY-2] with [NAME-1]! Bow and bluewings stay, elbow too."
    )


def test_an_allowed_word_stays_unless_it_is_somebodys_name_or_part_of_more(ours: Engine):
    assert ours.redact("Call 617-555-0100, not 617-555-0101.") == "Call 617-555-0100, not [PHONE-1]."
    assert "Foley" in ours.redact("Name: Foley")
    assert "Foley" not in ours.redact("Patient name: Margaret Foley\nFoley catheter was placed for Foley.")
    assert "617-555-0100" not in ours.redact("Call 617-555-0100 x 4521.")


def test_a_list_of_fifty_thousand_names_costs_no_time_per_name():
    names = Phrases(f"Xq{n} Zz{n * 7}" for n in range(50_000))
    deadline = Deadline()
    deadline.start(60)
    text = "the patient Xq17 Zz119 came with chest pain " * 2_000
    began = time.process_time()
    assert sum(1 for _ in names.find(text, deadline)) == 2_000
    assert time.process_time() - began < 2


def test_own_patterns_stop_when_the_time_of_a_field_is_over():
    deadline = Deadline()
    deadline.start(-1)
    with pytest.raises(TimeoutError):
        list(Phrases(["blue wing"]).find("blue wing", deadline))


def test_a_policy_can_be_read_in_another_language_and_in_no_unknown_one():
    assert load_policy("gdpr").languages == ("en", "es")
    assert load_policy("gdpr", language="es").languages == ("es",)
    with pytest.raises(RedactionError, match="'tlh' cannot be redacted") as refused:
        load_policy("gdpr", language="tlh")
    assert "en, es" in refused.value.advice


def test_an_entity_that_no_recogniser_finds_is_named_with_the_languages(monkeypatch: pytest.MonkeyPatch):
    from agent.redaction.rules import es as spanish

    monkeypatch.setattr(spanish, "recognizers", lambda *_, **__: [])
    monkeypatch.setattr("agent.redaction.recognizers._models", lambda *_: [])
    with pytest.raises(
        RedactionError, match=r"policy gdpr: no recogniser of its languages \(es\) finds .*NAME"
    ) as refused:
        open_engine("gdpr", language="es")
    assert "PHONE" in str(refused.value)


@pytest.mark.parametrize(
    ("level", "language", "name"),
    [
        ("default", None, "hipaa_safe_harbor"),
        ("default", "en", "hipaa_safe_harbor"),
        ("strict", None, "strict"),
        ("default", "es", "gdpr"),
        ("strict", "es", "gdpr"),
    ],
)
def test_a_level_and_a_language_name_a_policy_that_opens(level: str, language: str | None, name: str):
    assert choose_policy("strict" if level == "strict" else "default", language) == name


@pytest.mark.parametrize("name", ["strict", "limited_data_set", "gdpr"])
def test_every_shipped_policy_opens_and_clears_what_all_must(name: str):
    engine = open_engine(name)
    (shown,) = engine.redact_record(["Ms. Anna Holloway, MRN: 00451234, call 617-555-0143."])
    assert not any(one in shown for one in ("Holloway", "00451234", "617-555-0143"))
    assert engine.withheld.get(Withheld.ENGINE_ERROR, 0) == 0


def test_a_limited_data_set_keeps_dates_ages_and_towns():
    shown = open_engine("limited_data_set").redact("Ms. Anna Holloway, aged 94, was seen on 03/14/2022 in Boston.")
    assert "Holloway" not in shown
    assert all(kept in shown for kept in ("94", "03/14/2022", "Boston"))
