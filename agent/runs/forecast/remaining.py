"""What a run or its jury has yet to be asked, of all that its plan holds: the rest is stored. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.inference.capabilities import Capabilities
from agent.judging.judge_run import find_open_positions, select_jury_measures
from agent.jury.seats import is_open
from agent.runs.plan import Plan
from agent.runs.run import derive_request_keys, find_stored_run
from agent.scoring.measures import Rules
from agent.store import Run, Store


@dataclass(frozen=True, slots=True)
class RemainingWork:
    """What is left of one plan, by position in its instances.

    Attributes:
        ask: whose question would be sent; of equal ones the first.
        judge: by seat of the jury, whose answers it has yet to judge.
        other_jury: judges have graded these answers under another jury or other rules. What they replied is not asked
            for again, and is not taken off here.
    """

    ask: Sequence[int]
    judge: Sequence[frozenset[int]]
    other_jury: bool = False


def find_remaining(store: Store, plan: Plan, capabilities: Capabilities | None) -> RemainingWork:
    """Return what asking the plan would still send.

    Args:
        store: the site's.
        plan: one run.
        capabilities: of its server, which are part of what is asked; None if it was not met: as the stored run has it.
    """
    run = find_stored_run(store, plan)
    everything = range(len(plan.instances))
    known = capabilities or (_kept_capabilities(run) if run else None)
    if known is None:
        return RemainingWork(everything, [frozenset(everything)] * len(plan.jury))
    if run is not None and store.runs.holds_plan(
        run.run_id, store.identities.plan_digest(derive_request_keys(store, plan, known), plan.scored_by())
    ):
        unsettled = store.answers.find_unsettled(run.run_id)
        first = {key: position for position, key, answered in reversed(unsettled) if not answered}
        pending = frozenset(position for position, _, _ in unsettled)
        judge = [seat | pending for seat in find_open_answers(store, run.run_id, plan.rules)] if plan.jury else []
        return RemainingWork(sorted(first.values()), judge)
    keys = [key for _, key in derive_request_keys(store, plan, known)]
    answered_keys = store.answers.select_answered(keys)
    firsts: dict[bytes, int] = {}
    for position, key in enumerate(keys):
        if key not in answered_keys:
            firsts.setdefault(key, position)
    measures = select_jury_measures(plan.rules)
    graded = bool(run and measures and plan.jury and store.juries.has_seats(run.run_id, measures[0].use.name))
    return RemainingWork(list(firsts.values()), [frozenset(everything)] * len(plan.jury), graded)


def find_open_answers(store: Store, run_id: str, rules: Rules) -> list[frozenset[int]]:
    """Return, by seat of a stored run's jury, the positions whose answers it has yet to judge, or to judge again."""
    use = select_jury_measures(rules)[0].use
    stored = store.juries.read_seats(run_id, use.name)
    closed = {(position, seat.seat) for position, seats in stored.items() for seat in seats if not is_open(seat)}
    positions = find_open_positions(store, run_id, rules)
    return [frozenset(one for one in positions if (one, number) not in closed) for number in range(len(use.judges))]


def _kept_capabilities(run: Run) -> Capabilities | None:
    try:
        return Capabilities.from_json(run.details.capabilities)
    except (KeyError, ValueError):
        return None  # imported, or written by another version
