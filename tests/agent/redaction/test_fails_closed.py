"""What cannot be cleared is withheld and counted; nothing reaches a log, the disk or the network."""

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.errors import RedactionError
from agent.redaction import Redactor, Withheld, open_redactor
from agent.redaction.engine import Engine, open_engine

POLICY = Path(__file__).parents[3] / "policies" / "redaction" / "hipaa_safe_harbor.yaml"


def policy_with(tmp_path: Path, **changes: str) -> str:
    content = POLICY.read_text()
    for old, new in changes.items():
        assert f"{old}:" in content
        content = "\n".join(
            f"{line.split(old)[0]}{old}: {new}" if f"{old}:" in line else line for line in content.split("\n")
        )
    path = tmp_path / "changed.yaml"
    path.write_text(content)
    return str(path)


def test_an_over_long_field_is_withheld_and_the_rest_of_the_record_shown(tmp_path: Path):
    redactor = open_redactor(policy_with(tmp_path, field_characters="1000"))
    assert redactor.redact_record(["gout " * 300, "Mr. Holloway has gout."]) == [
        "[WITHHELD: too long]",
        "[NAME-1] has gout.",
    ]
    assert redactor.withheld == {Withheld.TOO_LONG: 1}


def test_a_field_past_its_time_is_withheld(tmp_path: Path):
    redactor = open_redactor(policy_with(tmp_path, field_seconds="0.5"))
    shown = redactor.redact("SMITH, Anna of 12 Oak Street saw Dr. Lee. " * 4500)
    assert shown == "[WITHHELD: time limit]"
    assert redactor.withheld == {Withheld.TIME_LIMIT: 1}


@pytest.mark.parametrize("junk", ["Mr. Holl\x00oway", "MRN \ud800 123", "caf\ufffd", "\x1b[31mred", "\x9b"])
def test_what_is_no_text_is_withheld(redactor: Redactor, junk: str):
    assert redactor.redact(junk) == "[WITHHELD: undecodable]"


def test_an_engine_that_breaks_withholds_and_does_not_quote(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object, **__: object) -> None:
        raise ValueError("Margaret Holloway")

    monkeypatch.setattr(engine._analyzer, "analyze", broken)
    assert engine.redact("Margaret Holloway") == "[WITHHELD: engine error]"


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "1-" * 50_000,
        "id number " * 10_000,
        "((((" * 20_000,
        "St. " * 20_000,
        " " * 100_000,
        "a@" * 40_000,
    ],
    ids=["letters", "digits and dashes", "cues", "brackets", "saints", "spaces", "at signs"],
)
def test_text_made_to_stall_patterns_ends_in_bounded_time(redactor: Redactor, text: str):
    began = time.process_time()
    redactor.redact(text)
    assert time.process_time() - began < 12


def test_a_long_stretch_without_spaces_is_tagged_whole(redactor: Redactor):
    assert redactor.redact("seen " + "Holloway|" * 60 + " today") == "seen [ID-1] today"


def test_identifiers_at_every_place_of_a_long_text_are_found(redactor: Redactor):
    filler = "He denies chest pain at rest and takes metoprolol daily. "
    text = "".join(f"{filler * 7}MRN: {10_000_000 + number} and Dr. Szczepanik. " for number in range(90))
    assert len(text) > 30_000
    shown = redactor.redact(text)
    assert "Szczepanik" not in shown
    assert not any(str(10_000_000 + number) in shown for number in range(90))


def test_no_log_record_carries_text(redactor: Redactor, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.DEBUG):
        redactor.redact("Margaret Holloway, MRN 00451234, m.holloway@ward7.example, Mayo Clinic, 03/14/2022")
    assert [record.name for record in caplog.records if "presidio" in record.name or "spacy" in record.name] == []
    assert "olloway" not in caplog.text


PROBE = """
import sys, os
opened = []
def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"):
        opened.append(event)
    if event == "open" and isinstance(args[0], str) and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        if args[0] != os.devnull:
            opened.append("write " + args[0])
sys.addaudithook(watch)
import agent.redaction
heavy = {"presidio_analyzer", "spacy", "numpy", "tldextract", "yaml", "pydantic"} & set(sys.modules)
assert not heavy, heavy
redactor = agent.redaction.open_redactor()
shown = redactor.redact("write to anna.kowalski@some-domain.co.uk or see https://x.example/y about Mr. Holloway")
assert shown == "write to [EMAIL-1] or see [URL-1] about [NAME-1]", shown
print(opened)
"""


def test_opening_and_using_the_engine_reaches_for_no_network_and_writes_no_file(tmp_path: Path):
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(tmp_path)}
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
    assert list(tmp_path.iterdir()) == []


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
    with pytest.raises(RedactionError, match="from which folder"):
        open_redactor("own.yaml")


@pytest.mark.parametrize("name", ["../disclosure/strict", "hipaa safe harbor", "", "/etc/passwd", "x\n"])
def test_what_is_no_policys_name_is_no_path_either(name: str):
    with pytest.raises(RedactionError, match="not the name of a redaction policy"):
        open_redactor(name)


def test_a_policy_that_is_missing_is_refused():
    with pytest.raises(RedactionError, match="no_such_policy"):
        open_redactor("no_such_policy")


def test_a_policy_too_weak_for_the_self_test_is_refused(tmp_path: Path):
    content = POLICY.read_text().replace("threshold: 0.4", "threshold: 0.95")  # no rule is so sure
    path = tmp_path / "weak.yaml"
    path.write_text(content)
    with pytest.raises(RedactionError, match="self-test"):
        open_engine(str(path))
