"""Assumptions about the hidden statements of a pooled site that a public one depends on.

When a site changes from pooled to named publication, it continues a chain whose first links only
auditors can read. The hidden links are assumed to be what the public ones require.
"""

from dataclasses import replace

from protocol.identity import NONE
from protocol.policy import BUCKETS
from protocol.predicates import (
    START_SEQ,
    AbandonPredicate,
    DatasetPredicate,
    PlanPredicate,
    ResetPredicate,
    ResultPredicate,
    Statement,
    WithdrawPredicate,
)
from protocol.registry import Registry
from protocol.verification import ChainHead, History, KnownPlan

_MAX_SIZE = len(BUCKETS) - 1


def assume_hidden(statement: Statement, history: History, registry: Registry) -> History:
    """Return `history` extended by the hidden statements that a public one follows or names.

    Known statements are never replaced, so a link that contradicts a public one is still refused.

    Args:
        statement: A statement by a site that may have hidden statements.
        history: The public part of the site's history.
        registry: The registry version under which the statement was accepted.
    """
    return replace(
        history,
        head=_assume_head(statement, history.head, registry),
        datasets={**_assume_datasets(statement, registry), **history.datasets},
        plans={**_assume_plan(statement), **history.plans},
        results=_assume_result(statement, history),
    )


def _assume_head(
    statement: Statement, shown: ChainHead | None, registry: Registry
) -> ChainHead | None:
    """Return the link that the statement follows, unless a public link has reached the same point."""
    header = statement.header
    if isinstance(statement, ResetPredicate):
        epoch = header.epoch - 1
        site = registry.sites[header.site]
        if epoch != site.epoch or header.prev == site.start:
            return shown
        return ChainHead(epoch, START_SEQ + 1, header.prev)
    last = shown.seq if shown is not None and shown.epoch == header.epoch else START_SEQ
    if header.seq <= last + 1:
        return shown
    return ChainHead(header.epoch, header.seq - 1, header.prev)


def _assume_datasets(statement: Statement, registry: Registry) -> dict[str, DatasetPredicate]:
    match statement:
        case DatasetPredicate():
            return _assume_previous(statement)
        case PlanPredicate() | ResultPredicate():
            registered = registry.scorecards.get(statement.scorecard)
            if registered is None:
                return {}
            assumed = {}
            for benchmark in registered.scorecard.benchmarks:
                digest = statement.data.get(benchmark.id, NONE)
                if digest != NONE:
                    assumed[digest] = _any_dataset(statement, benchmark.definition, digest)
            return assumed
    return {}


def _assume_previous(statement: DatasetPredicate) -> dict[str, DatasetPredicate]:
    """Return the previous version of a dataset, or a dataset of its lineage if it has no previous version."""
    if statement.previous != NONE:
        assumed = _any_dataset(statement, statement.definition, statement.lineage)
        return {statement.previous: assumed}
    if statement.lineage != statement.commitment:
        return {statement.lineage: _any_dataset(statement, NONE, statement.lineage)}
    return {}


def _any_dataset(statement: Statement, definition: str, lineage: str) -> DatasetPredicate:
    """Return a placeholder dataset with the maximum number of units and a commitment that matches no real dataset."""
    return DatasetPredicate(
        header=statement.header,
        definition=definition,
        commitment=NONE,
        lineage=lineage,
        origin="own",
        previous=NONE,
        units=_MAX_SIZE,
        added=0,
        removed=0,
        changed=0,
    )


def _assume_plan(statement: Statement) -> dict[str, KnownPlan]:
    """Return the plan that a result names, with the result's own details, or the plan that a statement abandons."""
    match statement:
        case ResultPredicate() if statement.plan != NONE:
            plan = PlanPredicate(
                header=statement.header,
                scorecard=statement.scorecard,
                model=statement.model,
                data=statement.data,
                agent=statement.agent,
                policy=statement.policy,
                model_assurance="served_claimed",
                expires_day=statement.day,
            )
            return {statement.plan: KnownPlan(plan, statement.challenge, is_open=True)}
        case AbandonPredicate():
            plan = PlanPredicate(statement.header, NONE, NONE, {}, NONE, NONE, "served_claimed", 0)
            return {statement.plan: KnownPlan(plan, NONE, is_open=True)}
    return {}


def _assume_result(statement: Statement, history: History) -> frozenset[str]:
    assert isinstance(history.results, dict), "the replay keeps them by digest"
    known = frozenset(history.results)
    return known | {statement.result} if isinstance(statement, WithdrawPredicate) else known
