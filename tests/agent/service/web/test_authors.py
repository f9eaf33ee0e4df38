"""Who had a part in a statement, as the audit log tells: every way of having one, in any order, among other events."""

import random
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.delivery.outbox import Submission
from agent.disclosure.prepare import Gate, prepare
from agent.service.web.authors import BEGUN, Authors
from agent.service.web.service import Desk
from agent.store import AuditEvent
from tests.agent.disclosure.ward import CARD, MODEL, register, site_gate, whole_ward

SUITE = "autumn"
MARK = "~1"  # in place of the suite's name, from the time when it was private
NOISE = [
    ("signed in", "account=n1 by=password"),
    ("job queued", "job=9 suite=spring account=n1"),
    ("job cancelled", f"job=1 suite={SUITE} account=n1"),
    ("job queued", "job=9 suite=~2 account=n1"),
    ("suite prepared", "suite=spring day=1 account=n1"),
    ("plan drafted", f"digest={'0' * 64} day=1 account=n1"),
    ("data added", "benchmark=another instances=9 account=n1"),
    ("submission sent", f"digest={'0' * 64} day=1 account=n1"),
]


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    """A gate with a dataset's statement and a result of the suite `autumn`."""
    gate = site_gate(tmp_path)
    findings = {MODEL: whole_ward()}
    register(gate, findings)
    prepare(gate, CARD, findings, SUITE)
    return gate


def build_authors(
    gate: Gate, details: list[tuple[str, str]], owners: tuple[str, ...] = ()
) -> Authors:
    """Return the authors of a log with these events; `owners` have runs in the suite."""
    events = [
        AuditEvent(number, 0, event, detail, "", "")
        for number, (event, detail) in enumerate(details, 1)
    ]
    runs = [SimpleNamespace(owner=owner) for owner in owners]
    selecting = SimpleNamespace(select=lambda suite: runs if suite == SUITE else [])
    marking = SimpleNamespace(suite_mark=lambda suite: MARK if suite == SUITE else "~2")
    desk = SimpleNamespace(store=SimpleNamespace(runs=selecting, identities=marking))
    return Authors(events, gate.outbox, cast(Desk, desk))


def find(gate: Gate, *, is_result: bool) -> Submission:
    statements = gate.outbox.list_submissions()
    return next(item for item in statements if item.is_result is is_result)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chosen=st.sets(st.integers(0, 9)), seed=st.integers(0, 1_000))
def test_every_part_counts_in_any_order_and_nothing_else_does(
    gate: Gate, chosen: set[int], seed: int
) -> None:
    result, dataset = find(gate, is_result=True), find(gate, is_result=False)
    benchmark = next(iter(result.result.data))
    parts = [
        ("job queued", f"job=1 suite={SUITE} account=p0"),
        ("job scheduled", f"schedule=1 suite={SUITE} account=p1"),
        ("run shown to others", f"run=1 suite={SUITE} account=p2"),
        ("suite prepared", f"suite={SUITE} day=1 account=p3"),
        ("submission prepared", f"digest={result.digest} day=1 account=p4"),
        ("dataset registered", f"benchmark=b version=1 statement={dataset.digest} account=p5"),
        ("job queued", "job=2 suite= account=p6"),
        ("job queued", f"job=3 suite={MARK} account=p7"),
        ("data added", f"benchmark={benchmark} agreement='of account=n1 ' instances=9 account=p8"),
        ("data removed", f"benchmark={benchmark} files=2 account=p9"),
    ]
    details = [parts[index] for index in chosen] + NOISE
    random.Random(seed).shuffle(details)
    authors = build_authors(gate, details, owners=("owner",))
    assert authors.list_parties(result) == {f"p{index}" for index in chosen} | {"owner"}


def test_a_statement_of_an_unknown_author_is_the_work_of_everyone_who_could_have_drafted_it(
    gate: Gate,
) -> None:
    """The machine stopped between the draft and its event; only what was recorded before is known."""
    dataset = find(gate, is_result=False)
    begun = (BEGUN, "kind=dataset account=p7")
    parties = build_authors(gate, [*NOISE, begun]).list_parties(dataset)
    assert parties == {"n1", "p7"}
    known = ("dataset registered", f"benchmark=b statement={dataset.digest} account=p5")
    assert build_authors(gate, [*NOISE, begun, known]).list_parties(dataset) == {"p5"}


def test_a_suite_cannot_be_named_so_that_another_account_seems_to_have_queued_it(
    gate: Gate,
) -> None:
    result = find(gate, is_result=True)
    forged = [("job queued", f"job=1 suite={SUITE} account=stella account=p0")]
    assert "stella" not in build_authors(gate, forged).list_parties(result)
