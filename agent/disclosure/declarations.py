"""Drafts of statements without figures: plans, abandoned plans and withdrawn results. All are idempotent."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from agent.delivery.outbox import LIVE, State, Submission
from agent.disclosure.plans import WEIGHTS_NOTE, list_open_plans
from agent.disclosure.prepare import (
    Gate,
    check_models,
    check_scorecard,
    choose_policy,
    draft_statement,
    find_dataset_statement,
)
from agent.errors import DisclosureError
from protocol.identity import NONE, agent_digest, model_digest
from protocol.predicates import AbandonPredicate, Header, PlanPredicate, WithdrawPredicate
from protocol.scorecard import BenchmarkEntry, Scorecard

_Declaration = TypeVar("_Declaration", PlanPredicate, AbandonPredicate, WithdrawPredicate)
_USABLE = frozenset({State.PREPARED, *LIVE}) - {State.REFUSED}


def draft_plan(
    gate: Gate, scorecard: Scorecard, model: str, *, assurance: str, days: int, weights: str = ""
) -> Submission:
    """Draft a plan, or return the same plan if it is still open.

    Args:
        gate: the outbox, keys and policies to prepare with.
        scorecard: a registered scorecard.
        model: registered name of the model.
        assurance: one of MODEL_ASSURANCES.
        days: number of days from today in which a result is due, at most 127.
        weights: SHA-256 over the weights' files, which stays here; required if they are stated to be hashed.

    Raises:
        DisclosureError: the scorecard, the model or this version of the agent is not registered, or the statement of
            a dataset was refused.
    """
    check_scorecard(gate.registry, scorecard, gate.agent_version)
    check_models(gate.registry, [model])
    named, _ = choose_policy(gate.registry, gate.policy)
    with gate.outbox.held():
        data = {entry.id: _find_dataset(gate, scorecard, entry) for entry in scorecard.benchmarks}

        def build(header: Header) -> PlanPredicate:
            return PlanPredicate(
                header=header,
                scorecard=scorecard.digest,
                model=model_digest(model),
                data=data,
                agent=agent_digest(gate.agent_version),
                policy=named,
                model_assurance=assurance,
                expires_day=gate.today_day + days,
            )

        still_open = {plan.digest for plan in list_open_plans(gate.outbox)}
        for plan in _find_alike(gate, build):
            is_usable = plan.state is not State.RECEIPTED or plan.digest in still_open
            if (
                is_usable
                and gate.outbox.read_verdicts(plan.digest).get(WEIGHTS_NOTE, "") == weights
            ):
                return plan
        return draft_statement(gate, build, verdicts={WEIGHTS_NOTE: weights} if weights else None)


def draft_abandon(gate: Gate, plan: Submission, reason: str) -> Submission:
    """Draft the statement that a plan will have no result; `reason` is one of ABANDON_REASONS.

    Raises:
        DisclosureError: `plan` is not a plan, has no receipt, or has already ended.
    """

    def build(header: Header) -> AbandonPredicate:
        return AbandonPredicate(header, plan.digest, reason)

    with gate.outbox.held():
        for abandoning in _find_alike(gate, build):
            return abandoning
        if plan.digest not in {known.digest for known in list_open_plans(gate.outbox)}:
            raise DisclosureError(
                "the plan is not open: it has no receipt yet, has a result, or was abandoned",
                "`intramural submission status` lists plans; to delete a draft, use `intramural submission discard`.",
            )
        return draft_statement(gate, build)


def draft_withdrawal(gate: Gate, result: Submission, reason: str) -> Submission:
    """Draft the withdrawal of an earlier result from the board; `reason` is one of WITHDRAW_REASONS.

    Raises:
        DisclosureError: `result` is not a result, or has no receipt.
    """

    def build(header: Header) -> WithdrawPredicate:
        return WithdrawPredicate(header, result.digest, reason)

    with gate.outbox.held():
        for submission in gate.outbox.list_submissions():
            statement = submission.statement
            if (
                submission.state in _USABLE
                and isinstance(statement, WithdrawPredicate)
                and statement.result == result.digest
            ):
                return submission
        if not result.is_result or result.state is not State.RECEIPTED:
            raise DisclosureError(
                "only a result with a receipt can be withdrawn",
                "`intramural submission status` lists results; to delete a draft, use `intramural submission discard`.",
            )
        return draft_statement(gate, build)


def _find_dataset(gate: Gate, scorecard: Scorecard, entry: BenchmarkEntry) -> str:
    """Return the digest of the statement that registered a protected benchmark's newest dataset, or `none`."""
    if not any(cell.protected for cell in scorecard.cells if cell.benchmark == entry.id):
        return NONE
    newest = gate.ledger().find_newest_dataset(entry.id, entry.definition)
    return NONE if newest is None else find_dataset_statement(gate.outbox, newest.commitment)


def _find_alike(gate: Gate, build: Callable[[Header], _Declaration]) -> list[Submission]:
    """Return the usable submissions with the same statement, regardless of position in the chain and expiry day."""
    matching = []
    for submission in gate.outbox.list_submissions():
        if submission.state not in _USABLE:
            continue
        wanted, statement = build(submission.header), submission.statement
        if isinstance(wanted, PlanPredicate) and isinstance(statement, PlanPredicate):
            wanted = replace(wanted, expires_day=statement.expires_day)
        if wanted == statement:
            matching.append(submission)
    return matching
