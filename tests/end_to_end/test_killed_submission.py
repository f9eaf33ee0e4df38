"""Killed anywhere from `submission prepare` to the receipt: one debit, one accepted statement, nothing left over."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from agent.disclosure.ledger import ReleaseEntry
from tests.end_to_end.conftest import ROOT
from tests.end_to_end.kills import (
    ALL,
    APPROVED_HERE,
    BENCHMARK,
    SEND,
    SPREAD,
    SUITE,
    Command,
    Parties,
    Server,
    approved_by_steward,
    check_audit_log,
    find_leftovers,
    found_parties,
    kill_everywhere,
    list_decisions,
    list_states,
    rehearse,
    repeat,
    run_benchmark,
    spread,
)
from tests.forked import Nursery, open_nursery

PREPARE = Command("agent", ("submission", "prepare", "--suite", SUITE))
WITH_STEWARDS_TOOL = (PREPARE, *approved_by_steward(2), SEND)
DELIVERY_EXIT, STORE_EXIT = 7, 8
ON_ONE_ACCOUNT = (PREPARE, APPROVED_HERE, SEND)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with open_nursery() as nursery:
        yield nursery


@pytest.fixture(scope="module")
def ready(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Parties:
    """A site whose dataset is registered and whose benchmark was run."""
    parties = found_parties(tmp_path_factory.mktemp("ready") / "all", nursery)
    with parties.serving():
        repeat(
            parties,
            [Command("agent", ("datasets", "register", BENCHMARK)), *approved_by_steward(1), SEND],
        )
    run_benchmark(parties)
    return parties


def count_debits(parties: Parties) -> int:
    return sum(isinstance(entry.content, ReleaseEntry) for entry in parties.ledger().entries)


def check_one_release(parties: Parties, server: Server) -> None:
    """Check that the result was accepted once and debited once, and that nobody holds another opinion."""
    check_one_release_without_list(
        parties, server, [("approved", "dataset"), ("approved", "result")]
    )


def check_one_release_without_list(
    parties: Parties,
    server: Server,
    decisions: Sequence[tuple[str, str]] = (("approved", "dataset"),),
) -> None:
    """Check the same of a result that the steward approved without a list."""
    assert server.links() == [("enroll", 1), ("dataset", 1), ("result", 1)]
    assert list_states(parties) == [("dataset", "receipted"), ("result", "receipted")]
    assert count_debits(parties) == 1
    assert list_decisions(parties) == list(decisions)
    assert find_leftovers(parties) == []
    check_audit_log(parties)


@pytest.mark.timeout(900)
def test_killed_from_prepare_to_receipt(ready: Parties, tmp_path: Path) -> None:
    stages = rehearse(ready.copy(tmp_path / "rehearsal"), WITH_STEWARDS_TOOL)
    kill_everywhere(WITH_STEWARDS_TOOL, stages, tmp_path, check_one_release)


@pytest.mark.full
def test_killed_while_the_steward_approves_on_the_same_account(
    ready: Parties, tmp_path: Path
) -> None:
    stages = rehearse(ready.copy(tmp_path / "rehearsal"), ON_ONE_ACCOUNT)
    approving = [stage for stage in stages if stage.command is APPROVED_HERE]
    kill_everywhere(ON_ONE_ACCOUNT, approving, tmp_path, check_one_release_without_list)


@pytest.mark.full
def test_aggregator_killed_between_request_and_answer(ready: Parties, tmp_path: Path) -> None:
    """Also after it has appended the statement: the site does not know that, and sends again."""
    stages = rehearse(ready.copy(tmp_path / "rehearsal"), WITH_STEWARDS_TOOL)
    sending = stages[-1]
    answered = max(at for at, step in enumerate(sending.server_steps, 1) if step == "send")
    places = range(
        sending.server_start + 1, answered + 1
    )  # afterwards the server only waits on the open connection
    for at in places:
        parties = sending.before.copy(tmp_path / f"server-{at}")
        with parties.serving(at=at) as server:
            assert parties.run(SEND) == DELIVERY_EXIT, parties.outputs
            assert len(server.steps) == at
        with parties.serving() as server:
            repeat(parties, WITH_STEWARDS_TOOL)
            check_one_release(parties, server)
    names = sending.server_steps[sending.server_start :]
    assert (
        "send" in names[names.index("commit") :]
    )  # so it was killed with the statement appended, and not answered
    print(f"aggregator: killed at {len(places)} points")


BUSY = ("another command is using the folder submissions", "Another command is writing")


@pytest.mark.full
def test_two_prepare_at_once(ready: Parties, tmp_path: Path) -> None:
    """The first is halted at each of its steps, the second comes, the first goes on."""
    parties = ready.copy(tmp_path / "rehearsal")
    assert parties.run(PREPARE) == 0
    steps = parties.steps
    taken = next(at for at, step in enumerate(steps, 1) if "submissions" in step)
    refused = 0
    for at in spread(range(1, len(steps) + 1), None if ALL else SPREAD // 2):
        parties = ready.copy(tmp_path / f"at-{at}")
        first = parties.begin(PREPARE, at, signal.SIGSTOP, name="first")
        assert parties.nursery.wait(first) == -signal.SIGSTOP
        second = parties.run(PREPARE)
        os.kill(first, signal.SIGCONT)
        assert parties.nursery.wait(first) == 0
        if second:
            assert second == STORE_EXIT
            # While the first commits, the second cannot write into the store either.
            assert any(words in parties.output for words in BUSY), parties.output
            refused += 1
        # Before the folder is taken, the second may come first. At the last step the folder is free again, but the
        # first is writing an event into the audit log: the second finds the store held or not, as it comes.
        if taken <= at < len(steps):
            assert second, steps[at - 1]
        assert count_debits(parties) == 1
        assert list_states(parties) == [("dataset", "receipted"), ("result", "prepared")]
    assert refused


def test_four_prepare_racing(ready: Parties, tmp_path: Path) -> None:
    parties = ready.copy(tmp_path / "race")
    racing = [parties.begin(PREPARE, name=f"racing-{number}") for number in range(4)]
    codes = [parties.nursery.wait(pid) for pid in racing]
    assert 0 in codes
    assert set(codes) <= {0, STORE_EXIT}
    assert count_debits(parties) == 1
    assert list_states(parties) == [("dataset", "receipted"), ("result", "prepared")]


def test_commands_of_these_tests_do_the_same_as_those_of_a_new_interpreter(
    ready: Parties, tmp_path: Path
) -> None:
    parties, again = ready.copy(tmp_path / "forked"), ready.copy(tmp_path / "new")
    assert parties.run(PREPARE) == 0
    words = [
        str(again.folder),
        str(tmp_path / "steps"),
        "agent",
        "--site",
        str(again.site),
        *PREPARE.words,
    ]
    command = [sys.executable, "-m", "tests.end_to_end.killable", *words]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL, timeout=120)
    assert (tmp_path / "steps").read_text().splitlines() == parties.steps
    assert list_states(again) == list_states(parties)
