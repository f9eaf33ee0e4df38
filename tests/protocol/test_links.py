"""Bad inputs E and F again: datasets, plans, what ends a plan, withdrawals, and the ledger that every link names."""

from dataclasses import replace
from typing import Any

import pytest

from protocol import merkle
from protocol.errors import Code
from protocol.identity import NONE
from protocol.policy import bucket_of
from protocol.predicates import (
    EMPTY_LEDGER,
    AbandonPredicate,
    DatasetPredicate,
    EnrollPredicate,
    Header,
    LedgerHead,
    PlanPredicate,
    ResetPredicate,
    RotatePredicate,
    Statement,
    WithdrawPredicate,
)
from protocol.registry import RegisteredScorecard, Registry
from protocol.statements import build_statement
from protocol.verification import (
    MAX_DATASETS,
    Accepted,
    ChainHead,
    History,
    KnownPlan,
    check_dataset_version,
    plan_challenge,
)
from tests.protocol.world import (
    AGENT,
    DATASETS,
    HISTORY,
    NOTES,
    ORIGIN,
    OTHER_AGENT,
    OTHER_ENROLMENT,
    OTHER_SITE,
    OTHER_STEWARD,
    REGISTRY,
    RESULT,
    RETIRED,
    SCORECARD,
    STEWARD,
    STRANGER,
    STRICT,
    STRICTER,
    TODAY,
    WARD,
    dataset,
    digest_of,
    refused,
    registry,
    result,
    signed,
    submission,
    submit,
)

EMPTY = History(head=None)
FIRST = RESULT.header


def send(
    statement: Statement, history: History = EMPTY, known: Registry = REGISTRY, today: int = TODAY
) -> Accepted:
    return submit(signed(build_statement(statement)), known, history, today)


# Datasets (rule 8.4)


def test_a_dataset_and_its_next_version_are_accepted():
    accepted = send(WARD)
    assert (accepted.statement, accepted.scorecard, accepted.figures) == (WARD, None, None)
    following = dataset(
        seq=2,
        prev=accepted.digest,
        commitment="dd" * 32,
        previous=accepted.digest,
        added=bucket_of(20),
        removed=bucket_of(11),
    )
    history = History(head=accepted.head, datasets={accepted.digest: WARD})
    assert send(following, history).head.seq == 2


def test_one_lineage_may_serve_two_benchmarks():
    history = History(head=None, datasets={digest_of(WARD): WARD})
    shared = dataset(definition="ef" * 32, commitment="dc" * 32, lineage=WARD.lineage)
    assert send(shared, history).statement == shared


WARD_DIGEST = digest_of(WARD)
SECOND_VERSION: dict[str, Any] = {
    "commitment": "dd" * 32,
    "previous": WARD_DIGEST,
    "added": bucket_of(20),
}

DATASET_FAULTS: dict[str, tuple[dict[str, Any], Code]] = {
    "of-a-public-benchmark": ({"definition": "ab" * 32}, Code.UNKNOWN_BENCHMARK),
    "of-no-benchmark": ({"definition": "00" * 32}, Code.UNKNOWN_BENCHMARK),
    "of-10-units": ({"units": bucket_of(10)}, Code.BELOW_THRESHOLD),
    "of-no-units": ({"units": 0}, Code.BELOW_THRESHOLD),
    "of-no-records": (
        {"commitment": merkle.root([]).hex(), "lineage": merkle.root([]).hex()},
        Code.WRONG_DATASET,
    ),
    "E72-of-a-lineage-that-nobody-knows": ({"lineage": "99" * 32}, Code.WRONG_DATASET),
    "first-with-a-previous": ({"previous": "99" * 32}, Code.WRONG_DATASET),
    "first-with-added-units": ({"added": bucket_of(20)}, Code.WRONG_DATASET),
}

VERSION_FAULTS: dict[str, tuple[dict[str, Any], Code]] = {
    "one-patient-more": ({"added": bucket_of(1)}, Code.BELOW_THRESHOLD),
    "one-patient-less": ({"added": 0, "removed": bucket_of(1)}, Code.BELOW_THRESHOLD),
    "ten-patients-changed": ({"added": 0, "changed": bucket_of(10)}, Code.BELOW_THRESHOLD),
    "many-added-and-one-removed": ({"removed": bucket_of(1)}, Code.BELOW_THRESHOLD),
    "nothing-differs": ({"added": 0}, Code.WRONG_DATASET),
    "registered-already": ({"commitment": WARD.commitment}, Code.WRONG_DATASET),
    "without-the-version-before": ({"previous": NONE}, Code.WRONG_DATASET),
    "after-another-datasets-version": ({"previous": digest_of(NOTES)}, Code.WRONG_DATASET),
    "more-added-than-there-are": ({"added": bucket_of(20_000)}, Code.WRONG_DATASET),
    "more-changed-than-there-are": ({"changed": bucket_of(20_000)}, Code.WRONG_DATASET),
    "more-removed-than-there-were": ({"removed": bucket_of(20_000)}, Code.WRONG_DATASET),
}


@pytest.mark.parametrize(
    ("changes", "code"), [pytest.param(*case, id=name) for name, case in DATASET_FAULTS.items()]
)
def test_a_first_version_that_cannot_be_is_refused(changes: dict[str, Any], code: Code):
    with refused(code):
        send(dataset(**changes))


def test_E78_a_dataset_larger_than_what_was_published_is_refused():
    gated_cells = tuple(
        replace(cell, access="gated") if cell.benchmark == "ward" else cell
        for cell in SCORECARD.cells
    )
    exam, ward, notes = SCORECARD.benchmarks
    card = replace(
        SCORECARD, benchmarks=(exam, replace(ward, units=12_000), notes), cells=gated_cells
    )
    known = registry(scorecards={card.digest: RegisteredScorecard(card)})
    assert send(dataset(units=bucket_of(12_000)), known=known)
    with refused(Code.WRONG_DATASET):
        send(dataset(units=bucket_of(20_000)), known=known)
    # The same data under a scorecard that knows no size: private data have none.
    both = registry(scorecards=dict(sorted({**known.scorecards, **REGISTRY.scorecards}.items())))
    assert send(dataset(units=bucket_of(20_000)), known=both)


@pytest.mark.parametrize(
    ("changes", "code"), [pytest.param(*case, id=name) for name, case in VERSION_FAULTS.items()]
)
def test_a_later_version_that_cannot_be_is_refused(changes: dict[str, Any], code: Code):
    history = History(head=None, datasets=DATASETS)
    assert send(dataset(**SECOND_VERSION), history)
    with refused(code):
        send(dataset(**SECOND_VERSION | changes), history)


def test_a_site_that_registers_versions_without_end_is_stopped():
    """Every later statement of the site is checked against all of them, while other sites wait for the writer."""
    flood = {
        f"{number:064x}": replace(NOTES, commitment=f"{number:064x}")
        for number in range(MAX_DATASETS)
    }
    with refused(Code.WRONG_DATASET):
        send(WARD, History(head=None, datasets=flood))
    flood.popitem()
    assert send(WARD, History(head=None, datasets=flood))


def test_a_version_follows_the_last_one_and_not_an_older_one():
    second = dataset(**SECOND_VERSION)
    history = History(head=None, datasets={**DATASETS, digest_of(second): second})
    third = {"commitment": "d3" * 32, "added": bucket_of(20)}
    assert send(dataset(**third, previous=digest_of(second)), history)
    with refused(Code.WRONG_DATASET):
        send(dataset(**third, previous=WARD_DIGEST), history)


def test_a_dataset_of_a_retired_scorecard_alone_is_refused():
    with refused(Code.UNKNOWN_BENCHMARK):
        send(
            WARD,
            known=registry(scorecards={RETIRED.digest: RegisteredScorecard(RETIRED, retired=True)}),
        )


def test_the_thresholds_of_a_dataset_are_the_federations():
    small = dataset(units=bucket_of(100))
    assert send(small)
    with refused(Code.BELOW_THRESHOLD):
        send(small, known=registry(policy_floor=STRICTER.digest))
    check_dataset_version(small, {}, STRICT)  # the site asks the same before anybody signs


def test_E78_a_group_larger_than_its_dataset_is_refused():
    assert RESULT.groups["ward"] == bucket_of(200)
    for units, code in ((bucket_of(200), None), (bucket_of(200) - 1, Code.WRONG_GROUPS)):
        history = History(
            head=None, datasets={WARD_DIGEST: replace(WARD, units=units), digest_of(NOTES): NOTES}
        )
        if code is None:
            assert submit(submission(), history=history)
        else:
            with refused(code):
                submit(submission(), history=history)


def test_a_protected_figure_needs_a_dataset_even_if_it_is_suppressed():
    silent = {"cells": {"notes/rouge_l": -1}, "spreads": {"notes/rouge_l": -1}}
    assert submit(submission(**silent))
    with refused(Code.UNKNOWN_DATASET):
        submit(submission(**silent, data={"notes": NONE}))


def test_the_dataset_of_another_site_is_unknown():
    theirs = {"site": OTHER_SITE, "prev": OTHER_ENROLMENT}
    with refused(Code.UNKNOWN_DATASET):
        submit(signed(build_statement(result(theirs)), OTHER_AGENT, OTHER_STEWARD), history=EMPTY)


# Plans


def plan(header: Header = FIRST, **changes: Any) -> PlanPredicate:
    base = PlanPredicate(
        header=header,
        scorecard=RESULT.scorecard,
        model=RESULT.model,
        data=RESULT.data,
        agent=RESULT.agent,
        policy=RESULT.policy,
        model_assurance="weights_hashed",
        expires_day=TODAY + 30,
    )
    return replace(base, **changes)


PLAN, PLAN_DIGEST = plan(), digest_of(plan())
CHALLENGE = plan_challenge(ORIGIN, 5, bytes(32), PLAN_DIGEST)
PLANNED = replace(HISTORY, plans={PLAN_DIGEST: KnownPlan(PLAN, CHALLENGE, is_open=True)})


def test_a_plan_is_accepted_and_its_result_after_it():
    accepted = send(PLAN, HISTORY)
    assert (accepted.digest, accepted.scorecard, accepted.figures) == (PLAN_DIGEST, SCORECARD, None)
    header = {"seq": 2, "prev": accepted.digest}
    planned = result(header, plan=PLAN_DIGEST, challenge=CHALLENGE)
    assert send(planned, replace(PLANNED, head=accepted.head)).statement == planned


def test_a_challenge_depends_on_everything_that_was_unknown_before():
    others = {
        plan_challenge("other.example", 5, bytes(32), PLAN_DIGEST),
        plan_challenge(ORIGIN, 6, bytes(32), PLAN_DIGEST),
        plan_challenge(ORIGIN, 5, b"\x01" * 32, PLAN_DIGEST),
        plan_challenge(ORIGIN, 5, bytes(32), "00" * 32),
    }
    assert len(others | {CHALLENGE}) == 5


PLAN_FAULTS: dict[str, tuple[dict[str, Any], Code]] = {
    "E72-unknown-scorecard": ({"scorecard": "00" * 32}, Code.UNKNOWN_SCORECARD),
    "E72-unknown-model": ({"model": "00" * 32}, Code.UNKNOWN_MODEL),
    "E72-unknown-agent": ({"agent": "00" * 32}, Code.UNKNOWN_AGENT),
    "E72-unknown-policy": ({"policy": "00" * 32}, Code.UNKNOWN_POLICY),
    "E72-unknown-dataset": ({"data": {**RESULT.data, "ward": "00" * 32}}, Code.UNKNOWN_DATASET),
    "E72-dataset-of-another-benchmark": (
        {"data": {**RESULT.data, "ward": digest_of(NOTES)}},
        Code.WRONG_DATASET,
    ),
    "E72-dataset-of-a-public-benchmark": (
        {"data": {**RESULT.data, "exam": WARD_DIGEST}},
        Code.WRONG_DATASET,
    ),
    "E73-retired-scorecard": ({"scorecard": RETIRED.digest}, Code.RETIRED_SCORECARD),
    "E76-benchmark-missing": ({"data": {"exam": NONE}}, Code.WRONG_CELLS),
    "E76-benchmark-of-another-scorecard": (
        {"data": {**RESULT.data, "clinic": NONE}},
        Code.WRONG_CELLS,
    ),
    "F98-expired-already": ({"expires_day": TODAY - 1}, Code.WRONG_DAY),
    "F100-for-ever": ({"expires_day": TODAY + 128}, Code.WRONG_DAY),
}


@pytest.mark.parametrize(
    ("changes", "code"), [pytest.param(*case, id=name) for name, case in PLAN_FAULTS.items()]
)
def test_a_plan_that_cannot_be_kept_is_refused(changes: dict[str, Any], code: Code):
    with refused(code):
        send(plan(**changes), HISTORY)


@pytest.mark.parametrize(
    "changes",
    [{"expires_day": TODAY}, {"expires_day": TODAY + 127}, {"data": RESULT.data | {"ward": NONE}}],
)
def test_a_plan_that_can_be_kept_is_accepted(changes: dict[str, Any]):
    assert send(plan(**changes), HISTORY).statement == plan(**changes)


def test_a_plan_names_no_dataset_of_a_public_benchmark_even_if_one_is_registered():
    # The same definition may have been gated in an earlier scorecard.
    of_the_exam = dataset(definition="ab" * 32)
    history = replace(HISTORY, datasets={**DATASETS, digest_of(of_the_exam): of_the_exam})
    with refused(Code.WRONG_DATASET):
        send(plan(data={**RESULT.data, "exam": digest_of(of_the_exam)}), history)


ANOTHER = plan(model_assurance="served_claimed")
THEIRS = plan(replace(FIRST, site=OTHER_SITE, prev=OTHER_ENROLMENT))
SAID = {"plan": PLAN_DIGEST, "challenge": CHALLENGE}


def knowing(known: PlanPredicate, *, is_open: bool = True) -> History:
    """Return a history in which `known` is the plan that RESULT's digest of a plan leads to."""
    return replace(HISTORY, plans={PLAN_DIGEST: KnownPlan(known, CHALLENGE, is_open)})


PLANNED_FAULTS: dict[str, tuple[dict[str, Any], History, Code]] = {
    "F98-no-such-plan": (SAID, HISTORY, Code.UNKNOWN_PLAN),
    "F98-plan-of-another-site": ({**SAID, "plan": digest_of(THEIRS)}, PLANNED, Code.UNKNOWN_PLAN),
    "F98-plan-after-the-result": (SAID, HISTORY, Code.UNKNOWN_PLAN),
    "F98-two-results-for-one-plan": (SAID, knowing(PLAN, is_open=False), Code.PLAN_USED),
    "F98-plan-expired": (SAID, knowing(plan(expires_day=RESULT.day - 1)), Code.PLAN_EXPIRED),
    "F98-plan-for-another-scorecard": (
        SAID,
        knowing(plan(scorecard=RETIRED.digest)),
        Code.WRONG_PLAN,
    ),
    "F98-plan-for-another-model": (SAID, knowing(plan(model="00" * 32)), Code.WRONG_PLAN),
    "F98-plan-for-another-agent": (SAID, knowing(plan(agent="00" * 32)), Code.WRONG_PLAN),
    "F98-plan-under-another-policy": (SAID, knowing(plan(policy=STRICTER.digest)), Code.WRONG_PLAN),
    "F98-plan-for-another-dataset": (
        SAID,
        knowing(plan(data={**RESULT.data, "ward": NONE})),
        Code.WRONG_PLAN,
    ),
    "F99-challenge-of-another-plan": (
        {**SAID, "challenge": plan_challenge(ORIGIN, 5, bytes(32), digest_of(ANOTHER))},
        PLANNED,
        Code.WRONG_PLAN,
    ),
    "F99-no-challenge": ({**SAID, "challenge": NONE}, PLANNED, Code.WRONG_PLAN),
    "F99-challenge-without-a-plan": ({"challenge": CHALLENGE}, PLANNED, Code.WRONG_PLAN),
}


@pytest.mark.parametrize(
    ("changes", "history", "code"),
    [pytest.param(*case, id=name) for name, case in PLANNED_FAULTS.items()],
)
def test_a_result_that_is_not_what_was_planned_is_refused(
    changes: dict[str, Any], history: History, code: Code
):
    with refused(code):
        submit(submission(**changes), history=history)


def test_a_result_on_the_last_day_of_its_plan_and_one_without_a_plan_are_accepted():
    assert submit(submission(**SAID), history=knowing(plan(expires_day=RESULT.day)))
    assert submit(submission(), history=PLANNED)


def test_a_planned_benchmark_may_stay_unrun():
    unrun = {
        "groups": {"notes": 0},
        "cells": {"notes/rouge_l": -2},
        "spreads": {"notes/rouge_l": -1},
        "data": {"notes": NONE},
        "outcome": "partial",
    }
    assert submit(submission(**SAID, **unrun), history=PLANNED)


# What ends a plan, and what takes a result back


def test_a_plan_is_abandoned_once():
    abandoned = AbandonPredicate(FIRST, PLAN_DIGEST, "failed")
    assert send(abandoned, PLANNED).statement == abandoned
    with refused(Code.PLAN_USED):
        send(abandoned, knowing(PLAN, is_open=False))
    with refused(Code.UNKNOWN_PLAN):
        send(abandoned, HISTORY)
    with refused(Code.UNKNOWN_PLAN):
        send(replace(abandoned, plan=digest_of(THEIRS)), PLANNED)


def test_a_result_is_withdrawn_once():
    withdrawn = WithdrawPredicate(FIRST, "aa" * 32, "scoring_error")
    assert send(withdrawn, History(head=None, results={"aa" * 32})).statement == withdrawn
    for results in ((), {"bb" * 32}):  # never there, or of another site; withdrawn before
        with refused(Code.UNKNOWN_RESULT):
            send(withdrawn, History(head=None, results=results))


# The chain and the ledger hold every kind of link together

LINKS: dict[str, Statement] = {
    "dataset": dataset(definition="ef" * 32, commitment="d9" * 32, lineage="d9" * 32),
    "plan": PLAN,
    "abandon": AbandonPredicate(FIRST, PLAN_DIGEST, "not_run"),
    "withdraw": WithdrawPredicate(FIRST, "aa" * 32, "consent"),
    "result": RESULT,
}
EVERYTHING = replace(PLANNED, results={"aa" * 32})
KNOWN_LEDGER = LedgerHead(3, "33" * 32)


def with_header(statement: Any, **changes: Any) -> Any:
    return replace(statement, header=replace(statement.header, **changes))


@pytest.mark.parametrize("kind", LINKS)
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        pytest.param({"seq": 2}, Code.WRONG_SEQ, id="F90-gap"),
        pytest.param({"prev": "00" * 32}, Code.WRONG_PREV, id="F92-wrong-prev"),
        pytest.param({"epoch": 2}, Code.WRONG_EPOCH, id="F95-epoch-jump"),
        pytest.param({"registry": 1}, Code.WRONG_REGISTRY, id="F96-old-registry"),
        pytest.param(
            {"deployment": "staging.board.example"}, Code.WRONG_DEPLOYMENT, id="F97-other-board"
        ),
        pytest.param({"site": OTHER_SITE}, Code.WRONG_SITE, id="C41-other-site"),
    ],
)
def test_every_kind_of_link_has_its_place(kind: str, changes: dict[str, Any], code: Code):
    assert send(LINKS[kind], EVERYTHING)
    with refused(code):
        send(with_header(LINKS[kind], **changes), EVERYTHING)


@pytest.mark.parametrize("kind", LINKS)
@pytest.mark.parametrize(
    ("ledger", "accepted"),
    [
        pytest.param(KNOWN_LEDGER, True, id="unchanged"),
        pytest.param(LedgerHead(4, "44" * 32), True, id="one-entry-more"),
        pytest.param(LedgerHead(2, "22" * 32), False, id="shorter"),
        pytest.param(EMPTY_LEDGER, False, id="gone"),
        pytest.param(LedgerHead(3, "34" * 32), False, id="as-long-with-another-head"),
    ],
)
def test_no_link_comes_from_a_ledger_that_lost_entries(
    kind: str, ledger: LedgerHead, accepted: bool
):
    history = replace(EVERYTHING, ledger=KNOWN_LEDGER)
    link = with_header(LINKS[kind], ledger=ledger)
    if accepted:
        assert send(link, history)
    else:
        with refused(Code.LEDGER_ROLLED_BACK):
            send(link, history)


@pytest.mark.parametrize("kind", LINKS)
def test_no_link_of_a_frozen_site_is_taken(kind: str):
    with refused(Code.SITE_FROZEN):
        send(LINKS[kind], replace(EVERYTHING, frozen=True))


def test_the_chain_of_a_later_epoch_starts_at_its_reset():
    site = replace(REGISTRY.sites[FIRST.site], start="e9" * 32, epoch=3)
    known = registry(sites={**REGISTRY.sites, FIRST.site: site})
    assert send(with_header(RESULT, epoch=3, prev="e9" * 32), HISTORY, known).head == ChainHead(
        3, 1, digest_of(with_header(RESULT, epoch=3, prev="e9" * 32))
    )
    for stale in (RESULT, with_header(RESULT, epoch=1, prev="e9" * 32)):
        with refused(Code.WRONG_EPOCH):
            send(stale, HISTORY, known)
    with refused(Code.WRONG_PREV):
        send(with_header(RESULT, epoch=3), HISTORY, known)


REQUESTS: dict[str, Statement] = {
    "enrolment": EnrollPredicate(
        replace(FIRST, seq=0, prev=NONE), AGENT.public.der, STEWARD.public.der, "00" * 64
    ),
    "reset": ResetPredicate(
        replace(FIRST, epoch=2, seq=0), AGENT.public.der, STEWARD.public.der, "restored"
    ),
    "rotation": RotatePredicate(FIRST, "agent", STRANGER.public.der),
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_E75_a_request_about_keys_is_no_link_by_itself(kind: str):
    with refused(Code.WRONG_TYPE):
        send(REQUESTS[kind])


def test_a_dataset_statement_says_nothing_but_its_fields():
    assert isinstance(WARD, DatasetPredicate)
    assert {
        "definition",
        "commitment",
        "lineage",
        "origin",
        "previous",
        "units",
        "added",
        "removed",
        "changed",
    } == {name for name in DatasetPredicate.__slots__ if name != "header"}
