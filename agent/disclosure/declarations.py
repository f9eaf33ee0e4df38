"""Statements without figures: what a site plans, gives up or takes back. Asking again drafts nothing new."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from agent.delivery.outbox import LIVE, State, Submission
from agent.disclosure.plans import list_open_plans
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
    gate: Gate, scorecard: Scorecard, model: str, *, assurance: str, days: int
) -> Submission:
    """Draft what the site will evaluate; a plan of exactly this that is still open is returned as it is.

    Args:
        gate: who and where.
        scorecard: a registered one.
        model: its registered name.
        assurance: one of MODEL_ASSURANCES.
        days: how many days from today a result may take, at most 127.

    Raises:
        DisclosureError: scorecard, model or this agent are not registered, or a dataset's statement was refused.
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
            if plan.state is not State.RECEIPTED or plan.digest in still_open:
                return plan
        return draft_statement(gate, build)


def draft_abandon(gate: Gate, plan: Submission, reason: str) -> Submission:
    """Draft that a plan will have no result, and why: one of ABANDON_REASONS.

    Raises:
        DisclosureError: it is no plan, has no receipt, or ended already.
    """

    def build(header: Header) -> AbandonPredicate:
        return AbandonPredicate(header, plan.digest, reason)

    with gate.outbox.held():
        for abandoning in _find_alike(gate, build):
            return abandoning
        if plan.digest not in {known.digest for known in list_open_plans(gate.outbox)}:
            raise DisclosureError(
                "the plan is not open: it has no receipt yet, has a result, or was abandoned",
                "`intramural submission status` lists plans; a draft is taken back with `intramural submission "
                "discard`.",
            )
        return draft_statement(gate, build)


def draft_withdrawal(gate: Gate, result: Submission, reason: str) -> Submission:
    """Draft that an earlier result leaves the board, and why: one of WITHDRAW_REASONS.

    Raises:
        DisclosureError: it is no result, or has no receipt.
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
                "this is no result with a receipt, so there is nothing to withdraw",
                "`intramural submission status` lists results; a draft is taken back with `intramural submission "
                "discard`.",
            )
        return draft_statement(gate, build)


def _find_dataset(gate: Gate, scorecard: Scorecard, entry: BenchmarkEntry) -> str:
    """Return the statement of the newest registered data of a protected benchmark; `none` if there is none."""
    if not any(cell.protected for cell in scorecard.cells if cell.benchmark == entry.id):
        return NONE
    newest = gate.ledger().find_newest_dataset(entry.id, entry.definition)
    return NONE if newest is None else find_dataset_statement(gate.outbox, newest.commitment)


def _find_alike(gate: Gate, build: Callable[[Header], _Declaration]) -> list[Submission]:
    """Return the usable submissions that say the same, whatever their place in the chain and their last day."""
    alike = []
    for submission in gate.outbox.list_submissions():
        if submission.state not in _USABLE:
            continue
        wanted, statement = build(submission.header), submission.statement
        if isinstance(wanted, PlanPredicate) and isinstance(statement, PlanPredicate):
            wanted = replace(wanted, expires_day=statement.expires_day)
        if wanted == statement:
            alike.append(submission)
    return alike
