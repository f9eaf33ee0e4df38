"""Killed anywhere from `datasets register` over a plan to a reset: one accepted statement each, and one new epoch."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.disclosure.ledger import DatasetEntry, ResetEntry
from tests.end_to_end.kills import (
    BENCHMARK,
    SEND,
    STEWARD_KEY,
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
)
from tests.end_to_end.life import MODEL
from tests.forked import Nursery, open_nursery

# Registering what is registered already is refused with 6: there is nothing new.
REGISTER = (
    Command("agent", ("datasets", "register", BENCHMARK), codes=(0, 6)),
    *approved_by_steward(1),
    SEND,
)
PLAN = (Command("agent", ("submission", "plan", "--model", MODEL)), *approved_by_steward(2), SEND)
RESET = (
    # With the new epoch in force there is nothing to reset (2), or the registry is to be updated first (7).
    Command(
        "agent",
        ("reset", "request", "--reason", "restored", "--out", "@/reset.json"),
        codes=(0, 2, 7),
    ),
    Command(
        "steward",
        ("sign-request", "@/reset.json", "--key", STEWARD_KEY, "--out", "@/agreed.json", "--yes"),
    ),
    Command("agent", ("reset", "send", "@/agreed.json")),
    Command("aggregator", ("rekey", "--pending", "--fingerprint-checked")),
    Command("agent", ("registry", "update")),
)
PLAN_AGAIN = (PLAN[0], *approved_by_steward(3), SEND)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with open_nursery() as nursery:
        yield nursery


@pytest.fixture(scope="module")
def enrolled(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Parties:
    """A site that is enrolled and has sent nothing."""
    return found_parties(tmp_path_factory.mktemp("enrolled") / "all", nursery)


@pytest.fixture(scope="module")
def registered(enrolled: Parties, tmp_path_factory: pytest.TempPathFactory) -> Parties:
    """The same after a dataset's receipt."""
    parties = enrolled.copy(tmp_path_factory.mktemp("registered") / "all")
    with parties.serving():
        repeat(parties, REGISTER)
    return parties


@pytest.fixture(scope="module")
def restored(registered: Parties, tmp_path_factory: pytest.TempPathFactory) -> Parties:
    """The same after a plan's receipt, with the folder of submissions as it was before it."""
    parties = registered.copy(tmp_path_factory.mktemp("restored") / "all")
    with parties.serving():
        repeat(parties, PLAN)
    shutil.rmtree(parties.submissions)
    shutil.copytree(registered.submissions, parties.submissions)
    return parties


def check_one_dataset(parties: Parties, server: Server) -> None:
    assert server.links() == [("enroll", 1), ("dataset", 1)]
    assert list_states(parties) == [("dataset", "receipted")]
    assert list_decisions(parties) == [("approved", "dataset")]
    check_the_rest(parties)
    assert [type(entry.content) for entry in parties.ledger().entries] == [DatasetEntry]


def check_one_plan(parties: Parties, server: Server) -> None:
    assert server.links() == [("enroll", 1), ("dataset", 1), ("plan", 1)]
    assert list_states(parties) == [("dataset", "receipted"), ("plan", "receipted")]
    assert list_decisions(parties) == [("approved", "dataset"), ("approved", "plan")]
    check_the_rest(parties)
    assert [type(entry.content) for entry in parties.ledger().entries] == [DatasetEntry]


def check_one_reset(parties: Parties, server: Server) -> None:
    """Check that there is one new epoch, on every side, and that the plan made in it has arrived."""
    assert server.links() == [("enroll", 1), ("dataset", 1), ("plan", 1), ("reset", 2), ("plan", 2)]
    assert server.epochs() == [1, 2]
    assert (
        len(list((parties.central / "registry").iterdir())) == 3
    )  # the copy of each version is there
    assert list_states(parties) == [("dataset", "receipted"), ("plan", "receipted")]
    decided = [("approved", kind) for kind in ("dataset", "plan", "reset", "plan")]
    assert list_decisions(parties) == decided
    check_the_rest(parties)
    assert [type(entry.content) for entry in parties.ledger().entries] == [DatasetEntry, ResetEntry]


def check_the_rest(parties: Parties) -> None:
    """Check that nothing is left over, and that the one frozen copy is the registered one."""
    assert find_leftovers(parties) == []
    assert [path.name for path in (parties.site / "data" / ".frozen" / BENCHMARK).iterdir()] == [
        "0001"
    ]
    check_audit_log(parties)


@pytest.mark.timeout(900)
def test_killed_from_registering_to_the_receipt(enrolled: Parties, tmp_path: Path) -> None:
    stages = rehearse(enrolled.copy(tmp_path / "rehearsal"), REGISTER)
    kill_everywhere(REGISTER, stages, tmp_path, check_one_dataset)


@pytest.mark.full
@pytest.mark.timeout(900)
def test_killed_from_planning_to_the_receipt(registered: Parties, tmp_path: Path) -> None:
    stages = rehearse(registered.copy(tmp_path / "rehearsal"), PLAN)
    kill_everywhere(PLAN, stages, tmp_path, check_one_plan)


@pytest.mark.full
@pytest.mark.timeout(900)
def test_killed_from_asking_for_a_reset_to_the_new_epoch(restored: Parties, tmp_path: Path) -> None:
    stages = rehearse(restored.copy(tmp_path / "rehearsal"), RESET)
    kill_everywhere(RESET, stages, tmp_path, check_one_reset, going_on=PLAN_AGAIN)
