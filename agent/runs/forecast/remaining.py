"""Find the questions of a plan that the model or the jury has yet to be asked. Reads the store only."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.inference.capabilities import Capabilities
from agent.judging.judge_run import find_open_positions, select_jury_measures
from agent.jury.seats import is_open
from agent.runs.carry_out import derive_request_keys, find_stored_run
from agent.runs.plan import Plan
from agent.scoring.measures import Rules
from agent.store import Run, Store


@dataclass(frozen=True, slots=True)
class RemainingWork:
    """The remaining work of one plan. Instances are given by position.

    Attributes:
        ask: instances whose question would be sent; among instances with equal questions, only the first.
        judge: for each seat of the jury, the instances whose answers it has yet to judge.
        other_jury: whether judges have graded these answers under another jury or other rules. Their replies are
            reused, but are not subtracted from `judge`.
    """

    ask: Sequence[int]
    judge: Sequence[frozenset[int]]
    other_jury: bool = False


def find_remaining(store: Store, plan: Plan, capabilities: Capabilities | None) -> RemainingWork:
    """Return the questions to the model and to the jury that running the plan would still send.

    Args:
        store: the site's store.
        plan: the plan of one run.
        capabilities: capabilities of its server, which are part of a request; None if the server was not probed, in
            which case those of the stored run are used.
    """
    run = find_stored_run(store, plan)
    if capabilities is None and run is not None:
        capabilities = _read_capabilities(run)
    if capabilities is None:
        return RemainingWork(range(len(plan.instances)), _leave_all_to_judge(plan))
    if run is not None and _holds_plan(store, run, plan, capabilities):
        return _find_unsettled(store, run, plan)
    return RemainingWork(
        ask=_find_new_questions(store, plan, capabilities),
        judge=_leave_all_to_judge(plan),
        other_jury=_has_judgements(store, run, plan),
    )


def _leave_all_to_judge(plan: Plan) -> list[frozenset[int]]:
    everything = frozenset(range(len(plan.instances)))
    return [everything for _ in plan.jury]


def _holds_plan(store: Store, run: Run, plan: Plan, capabilities: Capabilities) -> bool:
    keys = derive_request_keys(store, plan, capabilities)
    return store.runs.holds_plan(run.run_id, store.identities.plan_digest(keys, plan.scored_by()))


def _find_unsettled(store: Store, run: Run, plan: Plan) -> RemainingWork:
    """Return the remaining work of a stored run that matches the plan."""
    unsettled = store.answers.find_unsettled(run.run_id)
    first_positions: dict[bytes, int] = {}
    for position, key, is_answered in unsettled:
        if not is_answered:
            first_positions.setdefault(key, position)
    if not plan.jury:
        return RemainingWork(sorted(first_positions.values()), [])
    # The answers to these instances will be shown to the jury.
    unscored = frozenset(position for position, _, _ in unsettled)
    open_answers = find_open_answers(store, run.run_id, plan.rules)
    return RemainingWork(
        sorted(first_positions.values()), [positions | unscored for positions in open_answers]
    )


def _find_new_questions(store: Store, plan: Plan, capabilities: Capabilities) -> list[int]:
    """Return the first position of every request that has no stored answer."""
    keys = [key for _, key in derive_request_keys(store, plan, capabilities)]
    answered_keys = store.answers.select_answered(keys)
    first_positions: dict[bytes, int] = {}
    for position, key in enumerate(keys):
        if key not in answered_keys:
            first_positions.setdefault(key, position)
    return list(first_positions.values())


def _has_judgements(store: Store, run: Run | None, plan: Plan) -> bool:
    measures = select_jury_measures(plan.rules)
    if run is None or not measures or not plan.jury:
        return False
    return store.juries.has_seats(run.run_id, measures[0].use.name)


def find_open_answers(store: Store, run_id: str, rules: Rules) -> list[frozenset[int]]:
    """Return, for each seat of a stored run's jury, the positions of the answers it must judge, or judge again."""
    use = select_jury_measures(rules)[0].use
    open_positions = find_open_positions(store, run_id, rules)
    to_judge = [set(open_positions) for _ in use.judges]
    for position, seats in store.juries.read_seats(run_id, use.name).items():
        for seat in seats:
            if not is_open(seat) and seat.seat < len(to_judge):
                to_judge[seat.seat].discard(position)
    return [frozenset(positions) for positions in to_judge]


def _read_capabilities(run: Run) -> Capabilities | None:
    try:
        return Capabilities.from_json(run.details.capabilities)
    except (KeyError, ValueError):
        return None  # imported, or written by another version
