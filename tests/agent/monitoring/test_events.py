"""Nothing but the closed list reaches the log, whatever code hands over."""

import ast
import json
import logging
import re
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.monitoring import events
from agent.monitoring.events import (
    EVENTS,
    WITHHELD,
    Event,
    RunEnded,
    RunStopped,
    ServerProbed,
    describe_field_type,
    list_fields,
    make_known,
    name_benchmark,
    name_event,
    write_fields,
)
from agent.monitoring.log import name_account, name_job, write_line
from agent.store import Channel, JobState
from protocol.statements import _KINDS

ROOT = Path(__file__).parents[3]
CANARY = "Zephyrine Quackenbush"
JOB = "0123456789abcdef"


def write(event: object, form: str = "json") -> str:
    record = logging.LogRecord("intramural", logging.INFO, CANARY, 1, CANARY, (CANARY,), None)
    record.intramural_event = event
    return write_line(record, form)


def fill(kind: type[Event], value: object) -> Event:
    """Return an event with this value in every field, whatever the types say."""
    made = object.__new__(kind)
    for field in fields(kind):
        object.__setattr__(made, field.name, value)
    return made


@pytest.mark.parametrize("kind", EVENTS, ids=name_event)
@pytest.mark.parametrize(
    "value",
    [CANARY, CANARY.encode(), [CANARY], {CANARY: CANARY}, ValueError(CANARY), Path(CANARY), 1e300, -5000, "x" * 10_000],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_text_in_any_field_of_any_event_is_withheld(kind: type[Event], value: object):
    for form in ("json", "text"):
        line = write(fill(kind, value), form)
        assert "ephyrine" not in line
        assert "xxx" not in line
        assert line.count(WITHHELD) == len(fields(kind))


@given(st.text(min_size=1))
def test_no_words_but_those_of_the_closed_list_are_in_a_line(text: str):
    for kind in EVENTS:
        written = write_fields(fill(kind, text))
        for name, value in written.items():
            kind_of_field = describe_field_type(kind, name)
            is_id = kind_of_field in ("id", "digest") and re.fullmatch("[0-9a-f]{12,64}", text)
            is_deployment = kind_of_field == "deployment" and re.fullmatch(
                "[A-Za-z0-9/._+@-]+", text
            )
            assert value == WITHHELD or is_id or is_deployment or f"`{text}`" in kind_of_field


class Sly(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class SlyNumber(int):
    def __repr__(self) -> str:
        return CANARY


def test_a_value_of_a_sly_type_is_withheld():
    for kind in EVENTS:
        for value in (Sly(CANARY), SlyNumber(3)):
            line = write(fill(kind, value))
            assert "ephyrine" not in line


def test_an_event_that_is_not_on_the_list_becomes_a_warning_of_somebody():
    @dataclass(frozen=True)
    class Smuggled(RunEnded):
        note: str = CANARY

    smuggled = fill(Smuggled, CANARY)
    for event in (smuggled, CANARY, {"note": CANARY}, None, RunEnded):
        line = json.loads(write(event))
        assert line["event"] == "library_warned"
        assert "ephyrine" not in json.dumps(line)


def test_what_a_library_says_is_left_out_and_so_is_an_unknown_library():
    try:
        raise ValueError(CANARY)
    except ValueError:
        record = logging.LogRecord(
            f"httpx.{CANARY}", logging.ERROR, CANARY, 1, "%s", (CANARY,), sys.exc_info()
        )
    record.__dict__[CANARY] = CANARY
    record.stack_info = CANARY
    line = json.loads(write_line(record, "json"))
    assert line["event"] == "library_warned"
    assert (line["library"], line["error"]) == ("httpx", "ValueError")
    assert set(line) == {"time", "level", "event", "process", "library", "error"}
    record.name = CANARY
    assert json.loads(write_line(record, "json"))["library"] == "other"


def test_the_context_of_a_process_holds_ids_only(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent.monitoring.log._context", {})
    name_account(CANARY)
    with name_job(JOB):
        line = json.loads(write(ServerProbed("local/qwen", usable=True)))
    assert (line["job"], line["account"]) == (JOB, WITHHELD)
    name_account(None)
    line = json.loads(write(ServerProbed("local/qwen", usable=True)))
    assert {"job", "account"}.isdisjoint(line)


@pytest.mark.parametrize(
    "name", ["http://host:8000/v1", "a b", "host:8000", "/etc/passwd", "../x", "a//b", "é", "", "x" * 101]
)  # fmt: skip
def test_a_deployment_whose_name_may_be_an_address_or_a_file_is_withheld(name: str):
    assert write_fields(ServerProbed(name, usable=True))["deployment"] == WITHHELD


def test_names_of_deployments_as_people_choose_them_are_logged():
    for name in ("local/qwen2.5-7b-instruct", "server-0a1b2c3d", "together/llama-2-7b", "vllm_1"):
        assert write_fields(ServerProbed(name, usable=True))["deployment"] == name


def test_an_own_benchmark_is_logged_without_its_name():
    assert name_benchmark("pubmed_qa") == "pubmed_qa"
    assert name_benchmark(CANARY) == name_benchmark("ward_7_of_dr_smith") == "own"


def test_only_commands_and_routes_that_were_made_known_are_logged():
    make_known("command", ["run"])
    checks = list_fields(events.CommandEnded)
    assert checks["command"]("run")
    assert not checks["command"](CANARY)


def test_the_name_of_an_error_is_that_of_a_class():
    def write_error(name: str) -> object:
        return write_fields(RunStopped(JOB, "local/x", "own", name, 1.0))["error"]

    assert write_error("KeyboardInterrupt") == "KeyboardInterrupt"
    assert write_error("StoreError") == "StoreError"
    assert write_error(CANARY) == WITHHELD


def test_every_field_of_every_event_has_a_closed_kind():
    for kind in EVENTS:
        assert kind.__doc__
        assert kind.__doc__.count("\n\n") == 0, "the meaning is one sentence"
        assert list(list_fields(kind)) == [field.name for field in fields(kind)]


def words_of(kind: type[Event], name: str) -> set[str]:
    from typing import get_type_hints

    def find(hint: Any) -> set[str]:
        if get_origin(hint) is None:
            return set()
        found = {word for word in get_args(hint) if isinstance(word, str)}
        return found.union(*(find(inner) for inner in get_args(hint)))

    return find(get_type_hints(kind, include_extras=True)[name])


def test_words_of_other_rooms_are_all_on_the_list():
    assert words_of(events.JobEnded, "state") == {state.value for state in JobState}
    assert words_of(events.AlertSent, "channel") == {channel.value for channel in Channel}
    kinds = {kind.uri.rpartition(":")[2].removesuffix("/v1") for kind in _KINDS.values()}
    assert words_of(events.StatementSent, "kind") == kinds


def test_no_module_of_the_agent_logs_in_another_way():
    """`logging` is imported only where loggers of libraries are silenced, and by the log itself."""
    silencing = {
        "agent/inference/connection.py",
        "agent/metrics/encoder.py",
        "agent/redaction/engine.py",
        "agent/redaction/models/other/gliner_model.py",
    }
    levels_only = {"agent/cli/command_log.py", "agent/monitoring/events.py"}
    loud = {"debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"}
    wrong = []
    for path in sorted((ROOT / "agent").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name == "agent/monitoring/log.py":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        uses = {
            node.func.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and "log" in ast.unparse(node.func.value).lower()
        }
        imports = "import logging" in path.read_text("utf-8")
        if imports and (name not in silencing | levels_only or uses & loud):
            wrong.append(name)
    assert wrong == []


def test_the_documents_list_every_event_with_its_fields_and_no_other():
    page = (ROOT / "docs/monitoring.md").read_text("utf-8")
    rows = dict(
        re.findall(
            r"^\| `(\w+)` \| (.*) \|$", page.split("## The log")[1].split("\n## ")[0], re.MULTILINE
        )
    )
    expected = {}
    for kind in EVENTS:
        level = logging.getLevelName(kind.LEVEL).lower()
        if kind is events.JobEnded:
            level = "info, warning"
        names = ", ".join(f"`{field.name}`" for field in fields(kind)) or "none"
        meaning = " ".join((kind.__doc__ or "").split())
        expected[name_event(kind)] = f"{level} | {names} | {meaning}"
    assert rows == expected
