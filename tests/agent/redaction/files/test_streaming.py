"""Files of any length in one process or several: order, bounds, and processes that die."""

import io
import json
import os
import re
import signal
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import RedactionError
from agent.redaction.engine import Engine
from agent.redaction.files import rows, streaming
from agent.redaction.files.division import PieceLimits
from agent.redaction.files.rows import RowTally, RowTask, redact_rows
from agent.redaction.files.streaming import WorkerPool, lines_of, redact_stream, split_portions
from agent.redaction.files.worker import EngineChoice

TASK = RowTask(("text",), spans=True)
POLICIES = Path(__file__).parents[4] / "policies/redaction"
CHOICE = EngineChoice("hipaa_safe_harbor")


@pytest.fixture(scope="module")
def processes() -> Iterator[WorkerPool]:
    with WorkerPool(CHOICE, TASK, 2) as both:
        yield both


def case(number: int) -> bytes:
    text = f"Mr. Holloway{'a' * (number % 7)} with gout, MRN: {4_471_000 + number}, was seen on 03/14/2022."
    return json.dumps({"id": number, "text": text}).encode()


@given(st.binary(max_size=400), st.integers(1, 12))
def test_lines_are_whole_or_cut_behind_the_longest_and_none_is_lost(content: bytes, most: int):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streaming, "MAX_LINE", most)
        found = list(lines_of(io.BytesIO(content)))
    expected = content.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    assert len(found) == len(expected)
    for line, whole in zip(found, expected, strict=True):
        assert whole.startswith(line)
        assert whole.removesuffix(b"\r") == line.removesuffix(b"\r") or most < len(line) <= most + 2


@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=300))
def test_portions_hold_every_line_once_in_order_and_empty_ones_never(lines: list[bytes]):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streaming, "PORTION", PieceLimits(64, 100))
        found = list(split_portions(lines))
    assert [line for portion in found for line in portion.lines] == [
        line for line in lines if line.strip()
    ]
    first = 1
    for portion in found:
        assert portion.first == first
        assert portion.lines
        first += len(portion.lines)


def test_a_line_longer_than_any_is_withheld_without_being_held(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(streaming, "MAX_LINE", 1000)
    monkeypatch.setattr(rows, "MAX_LINE", 1000)
    file = io.BytesIO(case(1) + b"\n" + b'{"text": "' + b"Holloway " * 100_000 + b'"}\n' + case(2))
    lines = list(lines_of(file))
    assert max(map(len, lines)) <= 1002
    written, tally = redact_rows(lines, 1, TASK, engine)
    assert ["WITHHELD: too long" in json.loads(line)["text"] for line in written] == [
        False,
        True,
        False,
    ]
    assert tally.withheld == {"too long": 1}


@pytest.mark.full
def test_several_processes_write_what_one_writes_in_the_same_order(
    processes: WorkerPool, engine: Engine
):
    cases = [
        *(case(number) for number in range(300)),
        b'{"text": "a\\u0000b"}',
        b'{"text": "' + b"x " * 1_000_001 + b'"}',
    ]
    written: list[bytes] = []
    tally = RowTally()
    for part in redact_stream(cases, written.append, processes):
        tally.add(part.tally)
        assert part.peak_mb is None or part.peak_mb < 400
    expected, alone = redact_rows(cases, 1, TASK, engine)
    assert b"".join(written) == b"".join(line + b"\n" for line in expected)
    assert tally == alone
    assert tally.rows == 302
    assert tally.identifiers == 900
    assert tally.withheld == {"undecodable": 1, "too long": 1}


@pytest.mark.full
def test_a_process_that_is_killed_costs_time_and_no_row(processes: WorkerPool):
    cases = [case(number) for number in range(20)]
    for process in processes._all:
        os.kill(process._child.pid, signal.SIGKILL)
    written: list[bytes] = []
    (part,) = redact_stream(cases, written.append, processes)
    assert [json.loads(line)["id"] for line in written] == list(range(20))
    assert not part.tally.withheld


@pytest.mark.full
def test_a_row_that_no_process_survives_is_withheld_and_the_others_go_on(
    processes: WorkerPool, monkeypatch: pytest.MonkeyPatch
):
    ask = streaming._RedactionProcess.ask

    def dying(self: Any, head: Any, lines: Any = ()) -> Any:
        if any(b"4471003" in line for line in lines):
            self.kill()
        return ask(self, head, lines)

    monkeypatch.setattr(streaming._RedactionProcess, "ask", dying)
    written: list[bytes] = []
    (part,) = redact_stream([case(number) for number in range(5)], written.append, processes)
    shown = [json.loads(line) for line in written]
    assert [row["text"].startswith("[WITHHELD: engine error]") for row in shown] == [
        False,
        False,
        False,
        True,
        False,
    ]
    assert part.tally.withheld == {"engine error": 1}
    assert part.tally.first_withheld == [4]
    assert part.tally.rows == 5


@pytest.mark.full
def test_a_row_that_stops_all_is_named_as_in_one_process(processes: WorkerPool):
    with pytest.raises(RedactionError, match="row 2: has no field text"):
        list(redact_stream([case(1), b'{"txet": "Holloway"}'], bytes, processes))


@pytest.mark.full
def test_an_engine_that_cannot_be_opened_is_said_by_every_process():
    with (
        WorkerPool(EngineChoice("no_such_policy"), TASK, 2) as none,
        pytest.raises(RedactionError, match="no_such_policy"),
    ):
        list(redact_stream([case(number) for number in range(70)], bytes, none))


@pytest.mark.full
def test_the_dates_of_one_patient_move_alike_in_every_process(tmp_path: Path):
    policy = (POLICIES / "hipaa_safe_harbor.yaml").read_text()
    (tmp_path / "moved.yaml").write_text(
        policy + "\noperators: {DATE: shift, default: surrogate}\n"
    )
    task = RowTask(("text",), unit="patient")
    choice = EngineChoice("moved.yaml", str(tmp_path))
    texts = [
        "Dr. Anna Kowalski: seen on 03/14/2022.",
        "Dr. Anna Kowalski: seen again on 03/20/2022.",
    ]
    cases = [json.dumps({"patient": n % 3, "text": texts[n // 3 % 2]}).encode() for n in range(600)]
    written: list[bytes] = []
    with WorkerPool(choice, task, 2) as both:
        for part in redact_stream(cases, written.append, both):
            assert not part.tally.withheld
    by_patient = [
        {json.loads(line)["text"] for line in written[patient::3]} for patient in range(3)
    ]
    assert [len(texts) for texts in by_patient] == [2, 2, 2]
    for texts_of_one in by_patient:
        days = sorted(
            date(int(y), int(m), int(d))
            for t in texts_of_one
            for m, d, y in re.findall(r"(..)/(..)/(....)", t)
        )
        assert (days[1] - days[0]).days == 6
        assert days[0] != date(2022, 3, 14)
    assert len(set.union(*by_patient)) == 6
    assert not any(b"Kowalski" in line for line in written)
    assert "5ec4e7" not in repr(EngineChoice("moved.yaml", key="5ec4e7"))
