"""Scoring stored answers again, by this version's rules or by others, asking no model.

New scores are drafted beside the old and take their place in one transaction a run: killed at any point, a run has
its old scores or its new ones, never some of each.
"""

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass

from agent.evaluation.measures import Rules, ScoringChoice
from agent.evaluation.score import score_response
from agent.evaluation.summarise import summarise_run
from agent.evaluation.whole_run import run_scores
from agent.metrics import Labelled
from agent.store import Run, Store, StoredInstance
from agent.vocabulary import Failure, Instance, Reason, Response, Scoring, Unscored

BATCH = 500  # instances whose new scores are written at a time
# A score or a reason other than these rests on an answer: where none is stored any more, it was purged.
_NEEDS_NO_ANSWER = frozenset(Reason) - {
    *(Reason.UNPARSED, Reason.LENGTH, Reason.NO_REFERENCE, Reason.NOT_JUDGED, Reason.NOT_IMPORTED),
    Reason.NOT_APPLICABLE,
}


@dataclass(frozen=True, slots=True)
class Change:
    """What scoring again did to one metric. `changed` of its `instances` have another score or reason now."""

    metric: str
    before: float | None
    after: float | None
    changed: int
    instances: int


@dataclass(frozen=True, slots=True)
class Rescored:
    """One run after it. `left` says why it was left as it was; empty if it was scored again."""

    run: Run
    changes: tuple[Change, ...] = ()
    left: str = ""


def rescore_suite(store: Store, suite: str, scoring: ScoringChoice | None = None) -> list[Rescored]:
    """Score every run of a suite again.

    Args:
        store: the site's.
        suite: whose runs.
        scoring: whose rules from now on; None: as each run was scored.

    Raises:
        StoreError: another process is working on one of the runs.
    """
    return [_rescore(store, run, scoring) for run in store.runs(suite)]


def lost_rules(store: Store, suite: str, scoring: ScoringChoice | None) -> dict[Scoring, int]:
    """Return by whose rules figures would go that stand beside others now, and of how many runs."""
    both = sum(run.details["scoring"] == "both" and not run.imported for run in store.runs(suite))
    others: dict[ScoringChoice, Scoring] = {"intramural": "helm", "helm": "intramural"}
    return {others[scoring]: both} if scoring in others and both else {}


def _rescore(store: Store, run: Run, scoring: ScoringChoice | None) -> Rescored:
    if run.imported:
        return Rescored(run, left="it was imported, with scores made elsewhere")
    with store.run_lock(run.run_id):
        rules = Rules.of_run(run.details, scoring)
        before = _values(store, run)
        settled = store.settled_positions(run.run_id)
        purged = sum(_purged(stored, settled) for stored in store.each_instance(run.run_id))
        if purged:
            return Rescored(run, left=f"the texts of {purged} instances were purged")
        changed = _draft(store, run.run_id, rules)
        store.put_in_place(
            run.run_id,
            {**run.details, **rules.facts()},
            # The plan as `run` would make it now: the same command then finds nothing left to do.
            store.plan_digest(
                ((one.instance, one.request_key) for one in store.each_instance(run.run_id) if one.instance),
                rules.identity(),
            ),
            run_scores(rules, _answered(store, run.run_id)),
        )
        now = store.run(run.run_id)
        assert now is not None
        after = _values(store, now)
        instances = store.count_instances(run.run_id)
    names = dict.fromkeys((*after, *before))
    return Rescored(
        now, tuple(Change(name, before.get(name), after.get(name), changed[name], instances) for name in names)
    )


def _purged(stored: StoredInstance, settled: Container[int]) -> bool:
    """Whether a text is gone that would be scored, or that a score rests on."""
    if stored.instance is None:
        return True
    if stored.response is not None or stored.position not in settled:
        return False
    scores = stored.scores.values()
    failed = [isinstance(score, Unscored) and score.reason in _NEEDS_NO_ANSWER for score in scores]
    return not failed or not all(failed)


def _draft(store: Store, run_id: str, rules: Rules) -> Counter[str]:
    """Draft the new score of every instance that has an answer or a reason; return how many changed, by metric."""
    store.drop_draft(run_id)
    scores: list[tuple[int, str, float | Unscored]] = []
    labelled: list[tuple[int, str, Unscored | None]] = []
    changed: Counter[str] = Counter()
    for stored in store.each_instance(run_id):
        result = _result(stored)
        if result is None or stored.instance is None:
            continue
        for verdict in score_response(rules, stored.instance, result):
            name, value = verdict.measure.name, verdict.value
            if verdict.measure.of_whole_run:
                labelled.append((stored.position, name, value if isinstance(value, Unscored) else None))
            elif not isinstance(value, Labelled):
                scores.append((stored.position, name, value))
                changed[name] += stored.scores.get(name) != value
        if len(scores) + len(labelled) >= BATCH:
            store.draft_scores(run_id, scores, labelled)
            scores, labelled = [], []
    store.draft_scores(run_id, scores, labelled)
    return changed


def _result(stored: StoredInstance) -> Response | Failure | None:
    """Return what the instance's request brought; None if it was not asked yet."""
    if stored.response is not None:
        return stored.response
    reasons = (score.reason for score in stored.scores.values() if isinstance(score, Unscored))
    reason = next(reasons, None)
    return None if reason is None else Failure(reason)


def _answered(store: Store, run_id: str) -> Iterator[tuple[Instance, Response]]:
    for stored in store.each_instance(run_id):
        if stored.instance is not None and stored.response is not None:
            yield stored.instance, stored.response


def _values(store: Store, run: Run) -> dict[str, float | None]:
    """Return every metric's value, those by HELM's rules too."""
    metrics = summarise_run(store, run).metrics
    pairs = ((one, one.twin) for one in metrics)
    return {metric.metric: metric.mean.value for pair in pairs for metric in pair if metric is not None}
