"""Policies of a site's own: checked when they are read, named by file and key, and quoted nowhere."""

from pathlib import Path
from typing import get_args

import click
import pytest
import yaml

from agent.cli.redact import text
from agent.errors import RedactionError
from agent.redaction import Withheld, open_redactor
from agent.redaction.engine import open_engine
from agent.redaction.policy.policy import Level, choose_policy, load_policy
from tests.agent.redaction.policies import POLICY
from tests.agent.redaction.policy.own_policies import SHIPPED


def policy(tmp_path: Path, **keys: object) -> Path:
    path = tmp_path / "ours.yaml"
    path.write_text(yaml.safe_dump({**SHIPPED, **keys}), "utf-8")
    return path


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"operators": {"DATE": "blur"}}, "operators: DATE: expected tag or year or shift"),
        ({"operators": {"DREAM": "tag"}}, "operators: DREAM is not an entity"),
        ({"operators": {"AGE": "surrogate"}}, "operators: AGE: expected tag or cap"),
        ({"operators": {"default": "shift"}}, "operators: default: expected tag or surrogate"),
        ({"operators": {"SEX": "tag"}}, "operators: not among the entities of this policy: SEX"),
        (
            {"recognizers": [{"entity": "ID", "pattern": "(unclosed"}]},
            r"recognizers.0.pattern: not a regular exp",
        ),
        (
            {"recognizers": [{"entity": "ID", "pattern": "X?"}]},
            r"recognizers.0.pattern: matches the empty string",
        ),
        (
            {"recognizers": [{"entity": "ID", "pattern": r"(\w+\s?)+!"}]},
            r"recognizers.0.pattern: takes too long",
        ),
        ({"recognizers": [{"entity": "DREAM", "pattern": "x1"}]}, r"recognizers.0.entity"),
        (
            {"recognizers": [{"entity": "SEX", "pattern": "x1"}]},
            r"recognizers: not among the entities of this policy: SEX",
        ),
        (
            {"recognizers": [{"entity": "ID", "pattern": "x1", "flags": "i"}]},
            r"recognizers.0.flags",
        ),
        ({"deny": {"FACILITY": ["-wing"]}}, r"deny.FACILITY.0: expected whole words"),
        ({"deny": {"FACILITY": ["x"]}}, r"deny.FACILITY.0"),
        ({"deny": {"DREAM": ["wing"]}}, r"deny"),
        ({"allow": ["foley "]}, r"allow.0: expected whole words"),
        ({"allow": ["a ---- b"]}, r"allow.0: expected at most 3 characters between"),
        (
            {"entities": ["NAME", "DATE"]},
            r"entities: every policy must list MRN, PHONE, EMAIL, SSN",
        ),
        ({"languages": ["en", "en"]}, r"languages: en is listed twice"),
        ({"languages": ["auto", "en"]}, r"languages: auto stands for all languages"),
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


def test_a_policy_can_be_read_in_another_language_and_in_no_unknown_one():
    assert load_policy("gdpr").read_languages == ("en", "es")
    assert load_policy("gdpr").chooses_language
    assert load_policy("gdpr", language="es").languages == ("es",)
    assert load_policy("gdpr", language="auto").languages == ("auto",)
    with pytest.raises(RedactionError, match="'tlh' cannot be redacted") as refused:
        load_policy("gdpr", language="tlh")
    assert "en, es" in refused.value.advice


def test_an_entity_that_no_recogniser_finds_is_named_with_the_languages(
    monkeypatch: pytest.MonkeyPatch,
):
    from agent.redaction.rules import es as spanish

    monkeypatch.setattr(spanish, "recognizers", lambda *_, **__: [])
    monkeypatch.setattr("agent.redaction.recognizers._open_models", lambda *_: [])
    with pytest.raises(
        RedactionError, match=r"policy gdpr: no recogniser for its languages \(es\) detects .*NAME"
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
        ("readable", None, "readable"),
        ("readable", "es", "readable"),
    ],
)
def test_a_level_and_a_language_name_a_policy_that_opens(
    level: Level, language: str | None, name: str
):
    assert choose_policy(level, language) == name


def test_the_option_offers_every_level():
    option = next(option for option in text.params if option.name == "level")
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == get_args(Level)


@pytest.mark.parametrize("odds", ["0", "-1", "1e9", "much", ".nan"])
def test_odds_that_are_none_are_refused_by_key(tmp_path: Path, odds: str):
    (tmp_path / "ours.yaml").write_text(f"{POLICY.read_text()}model_odds: {odds}\n")
    with pytest.raises(RedactionError, match="model_odds"):
        load_policy("ours.yaml", tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("name", ["strict", "readable", "limited_data_set", "gdpr"])
def test_every_shipped_policy_opens_and_clears_what_all_must(name: str):
    engine = open_engine(name)
    (shown,) = engine.redact_record(["Ms. Anna Holloway, MRN: 00451234, call 617-555-0143."])
    assert not any(one in shown for one in ("Holloway", "00451234", "617-555-0143"))
    assert engine.withheld.get(Withheld.ENGINE_ERROR, 0) == 0


def test_a_limited_data_set_keeps_dates_ages_and_towns():
    shown = open_engine("limited_data_set").redact(
        "Ms. Anna Holloway, aged 94, was seen on 03/14/2022 in Boston."
    )
    assert "Holloway" not in shown
    assert all(kept in shown for kept in ("94", "03/14/2022", "Boston"))


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("colour: blue", "colour"),
        ("version: 2", "version"),
        ("threshold: 7", "threshold"),
        ("limits: {field_characters: 0, field_seconds: 1}", "field_characters"),
        ("entities: [NAME, DREAM]", "entities"),
        ("entities: [NAME, NAME]", "twice"),
        ("entities: !!python/object:os.system []", "tags are not supported"),
        ("language: tlh", "language"),
    ],
)
def test_a_wrong_policy_is_refused_by_file_and_key(tmp_path: Path, line: str, named: str):
    key = line.split(":", maxsplit=1)[0]
    lines, skipping = [], False
    for old in POLICY.read_text().splitlines():
        skipping = old.startswith(f"{key}:") if not old.startswith((" ", "#")) else skipping
        if not skipping or line == "version: 2":
            lines.append(old)
    path = tmp_path / "mine.yaml"
    path.write_text("\n".join([*lines, line]))
    with pytest.raises(RedactionError, match=named) as refused:
        open_redactor(str(path))
    assert "mine.yaml" in str(refused.value)


def test_a_sites_own_policy_is_read_from_the_site_and_not_from_where_the_command_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    for folder, name in ((site, "ours"), (elsewhere, "not_ours")):
        folder.mkdir()
        content = POLICY.read_text().replace("name: hipaa_safe_harbor", f"name: {name}")
        (folder / "own.yaml").write_text(content)
    monkeypatch.chdir(elsewhere)
    assert open_redactor("own.yaml", site).policy == "ours 1"
    with pytest.raises(RedactionError, match="a relative path cannot be resolved here"):
        open_redactor("own.yaml")


@pytest.mark.parametrize(
    "name", ["../disclosure/strict", "hipaa safe harbor", "", "/etc/passwd", "x\n"]
)
def test_what_is_no_policys_name_is_no_path_either(name: str):
    with pytest.raises(RedactionError, match="not the name of a redaction policy"):
        open_redactor(name)


def test_a_policy_that_is_missing_is_refused():
    with pytest.raises(RedactionError, match="no_such_policy"):
        open_redactor("no_such_policy")
