"""Scoring stored answers again, by this version's rules or by others, asking no model and no judge.

New scores are drafted beside the old and take their place in one transaction a run: killed at any point, a run has
its old scores or its new ones, never some of each.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from agent.errors import BenchmarkError
from agent.jury.prompts import build_matter
from agent.metrics import Labelled, Means
from agent.results.purged import describe_purged, is_purged
from agent.results.summarize import summarise_run
from agent.scoring.deferred import bind_encoder, compute_later_scores
from agent.scoring.jury_scores import Judged, compute_jury_scores, read_judged_answer, regrade
from agent.scoring.measures import Rules
from agent.scoring.score import MeasuredScore, score_response
from agent.scoring.whole_run import compute_run_scores
from agent.store import Run, Seat, Store, StoredInstance
from agent.vocabulary import Failure, Instance, Response, Scoring, ScoringChoice, Unscored

BATCH = 500  # instances whose new scores are written at a time
_NOTHING = Means()


@dataclass(frozen=True, slots=True)
class ScoreChange:
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
    changes: tuple[ScoreChange, ...] = ()
    left: str = ""


def rescore_suite(
    store: Store,
    suite: str,
    scoring: ScoringChoice | None = None,
    means: Means = _NOTHING,
) -> list[Rescored]:
    """Score every run of a suite again.

    Args:
        store: the site's.
        suite: whose runs.
        scoring: whose rules from now on; None: as each run was scored.
        means: for metrics that need more than the answer.

    Raises:
        StoreError: another process is working on one of the runs.
    """
    return [_rescore(store, run, scoring, means) for run in store.runs.select(suite)]


def find_lost_rules(store: Store, suite: str, scoring: ScoringChoice | None) -> dict[Scoring, int]:
    """Return by whose rules figures would go that stand beside others now, and of how many runs."""
    both = sum(run.details.scoring == "both" and not run.imported for run in store.runs.select(suite))
    others: dict[ScoringChoice, Scoring] = {"intramural": "helm", "helm": "intramural"}
    return {others[scoring]: both} if scoring in others and both else {}


def _rescore(store: Store, run: Run, scoring: ScoringChoice | None, means: Means) -> Rescored:
    if run.imported:
        return Rescored(run, left="it was imported, with scores made elsewhere")
    try:
        rules = bind_encoder(Rules.of_run(run.details, scoring), means)
    except BenchmarkError as lacking:
        return Rescored(run, left=str(lacking))
    with store.runs.lock(run.run_id):
        before = _values(store, run)
        if purged := describe_purged(store, run.run_id):
            return Rescored(run, left=purged)
        lost = _lost_judgements(store, run.run_id)
        if lost:
            return Rescored(run, left=f"what judges replied about {lost} answers was purged")
        changed = _draft(store, run.run_id, rules, means)
        store.scores.put_draft_in_place(
            run.run_id,
            rules.put_into(run.details),
            # The plan as `run` would make it now: the same command then finds nothing left to do.
            store.identities.plan_digest(
                (
                    (one.instance, one.request_key)
                    for one in store.answers.read_each_instance(run.run_id)
                    if one.instance
                ),
                rules.identity(),
            ),
            compute_run_scores(rules, _answered(store, run.run_id)),
        )
        now = store.runs.find(run.run_id)
        assert now is not None
        after = _values(store, now)
        instances = store.answers.count_instances(run.run_id)
    names = dict.fromkeys((*after, *before))
    return Rescored(
        now, tuple(ScoreChange(name, before.get(name), after.get(name), changed[name], instances) for name in names)
    )


def score_again(
    store: Store, run: Run, positions: Sequence[int], means: Means = _NOTHING
) -> Iterator[tuple[int, Mapping[str, float | Unscored] | None]]:
    """Yield what this version makes of stored answers; nothing is written.

    Metrics of the whole run are left out: no instance has a score under one.

    Args:
        store: the site's.
        run: it was asked here, not imported.
        positions: of the instances, rising.
        means: for metrics that need more than the answer.

    Yields:
        Position and score by metric, each position once and in no order; None for the scores where the question, the
        answer or a judge's reply that they rest on was purged.

    Raises:
        BenchmarkError: a metric needs an encoder, and there is none or another than the run was measured with.
    """
    as_run = Rules.of_run(run.details)
    rules = bind_encoder(as_run, means)
    if rules.identity() != as_run.identity():
        raise BenchmarkError(
            f"{run.benchmark}: it was measured with another encoder than the one that is set",
            "Set bertscore_model and bertscore_layer in site.yaml to those of the run.",
        )
    settled = store.answers.read_settled_positions(run.run_id)
    measured_later: dict[int, dict[str, float | Unscored]] = {}
    cases: list[tuple[int, Instance, Response]] = []
    for start in range(0, len(positions), BATCH):
        page = positions[start : start + BATCH]
        kept = _jury_seats(store, run.run_id, rules, page)
        for stored in store.answers.read_each_instance(run.run_id, page):
            seats = kept.get(stored.position, [])
            if stored.instance is None or is_purged(stored, settled) or _rests_on_lost_reply(seats):
                yield stored.position, None
                continue
            scores = _scores_of(rules, stored, seats)
            if isinstance(stored.response, Response) and any(measure.later for measure in rules.measures):
                measured_later[stored.position] = scores
                cases.append((stored.position, stored.instance, stored.response))
            else:
                yield stored.position, scores
    for position, name, value in compute_later_scores(rules, cases, means):
        measured_later[position][name] = value
    yield from measured_later.items()


def _scores_of(
    rules: Rules, stored: StoredInstance, seats: Sequence[tuple[str, Judged]]
) -> dict[str, float | Unscored]:
    """Return the scores of one instance by metric, but for what is measured in batches; none if it was not asked."""
    result = _result(stored)
    if result is None or stored.instance is None:
        return {}
    judged = [one for _, one in _judged_again(rules, stored.instance, result, seats)]
    scores: dict[str, float | Unscored] = {}
    for verdict in _verdicts(rules, stored.instance, result, judged):
        if not verdict.measure.of_whole_run and not isinstance(verdict.value, Labelled):
            scores[verdict.measure.name] = verdict.value
    return scores


def _rests_on_lost_reply(seats: Sequence[tuple[str, Judged]]) -> bool:
    """Whether a seat's verdict cannot be read again."""
    return any(seat.judgement_key is not None and not judgement.replies for _, (seat, judgement) in seats)


def _lost_judgements(store: Store, run_id: str) -> int:
    """Return how many answers have a seat whose verdict cannot be read again."""
    return sum(
        any(seat.judgement_key is not None and not judgement.replies for _, seat, judgement in seats)
        for page in _pages(store, run_id)
        for seats in store.juries.read_every_seat(run_id, page).values()
    )


def _pages(store: Store, run_id: str) -> Iterator[range]:
    positions = range(store.answers.count_instances(run_id))
    return (positions[start : start + BATCH] for start in range(0, len(positions), BATCH))


def _draft(store: Store, run_id: str, rules: Rules, means: Means) -> Counter[str]:
    """Draft the new score of every instance that has an answer or a reason; return how many changed, by metric."""
    store.scores.drop_draft(run_id)
    changed: Counter[str] = Counter()
    for page in _pages(store, run_id):
        scores: list[tuple[int, str, float | Unscored]] = []
        labelled: list[tuple[int, str, Unscored | None]] = []
        seats: list[tuple[int, str, Seat]] = []
        kept = _jury_seats(store, run_id, rules, page)
        for stored in store.answers.read_each_instance(run_id, page):
            result = _result(stored)
            if result is None or stored.instance is None:
                continue
            judged = _judged_again(rules, stored.instance, result, kept.get(stored.position, []))
            seats += [(stored.position, name, seat) for name, (seat, _) in judged]
            for verdict in _verdicts(rules, stored.instance, result, [one for _, one in judged]):
                name, value = verdict.measure.name, verdict.value
                if verdict.measure.of_whole_run:
                    labelled.append((stored.position, name, value if isinstance(value, Unscored) else None))
                elif not isinstance(value, Labelled):
                    scores.append((stored.position, name, value))
                    changed[name] += stored.scores.get(name) != value
        store.scores.draft(run_id, scores, labelled, seats)
    _draft_later(store, run_id, rules, means, changed)
    return changed


def _draft_later(store: Store, run_id: str, rules: Rules, means: Means, changed: Counter[str]) -> None:
    """Draft what is measured in batches; count what changed."""
    before: dict[int, Mapping[str, float | Unscored]] = {}  # of the cases that are being measured

    def cases() -> Iterator[tuple[int, Instance, Response]]:
        for stored in store.answers.read_each_instance(run_id):
            if stored.instance is not None and stored.response is not None:
                before[stored.position] = stored.scores
                yield stored.position, stored.instance, stored.response

    if not any(measure.later for measure in rules.measures):
        return
    measured = compute_later_scores(rules, cases(), means)
    while found := list(islice(measured, BATCH)):
        for position, name, value in found:
            changed[name] += before[position].get(name) != value
        for position in [position for position in before if position < found[-1][0]]:
            del before[position]
        store.scores.draft(run_id, found)


def _jury_seats(store: Store, run_id: str, rules: Rules, page: Sequence[int]) -> dict[int, list[tuple[str, Judged]]]:
    """Return the metric and the stored seat of every seat of these answers, by position."""
    if not any(measure.of_jury for measure in rules.measures):
        return {}
    found = store.juries.read_every_seat(run_id, page)
    return {place: [(metric, (seat, said)) for metric, seat, said in seats] for place, seats in found.items()}


def _judged_again(
    rules: Rules,
    instance: Instance,
    result: Response | Failure,
    kept: Sequence[tuple[str, Judged]],
) -> list[tuple[str, Judged]]:
    """Return the seats with what this version makes of the stored replies."""
    answer = read_judged_answer(rules, result) if isinstance(result, Response) else None
    if not kept or not isinstance(answer, str):
        return list(kept)
    use = next(measure.use for measure in rules.measures if measure.of_jury)
    again = regrade([one for _, one in kept], use, build_matter(instance, answer).texts)
    return [(name, one) for (name, _), one in zip(kept, again, strict=True)]


def _verdicts(
    rules: Rules, instance: Instance, result: Response | Failure, judged: Sequence[Judged]
) -> Iterator[MeasuredScore]:
    """Yield what an answer is worth, but for what is measured in batches."""
    answered = isinstance(result, Response)
    for verdict in score_response(rules, instance, result):
        if not (answered and (verdict.measure.of_jury or verdict.measure.later)):
            yield verdict
    if isinstance(result, Response):
        yield from compute_jury_scores(rules, result, judged)


def _result(stored: StoredInstance) -> Response | Failure | None:
    """Return what the instance's request brought; None if it was not asked yet."""
    if stored.response is not None:
        return stored.response
    reasons = (score.reason for score in stored.scores.values() if isinstance(score, Unscored))
    reason = next(reasons, None)
    return None if reason is None else Failure(reason)


def _answered(store: Store, run_id: str) -> Iterator[tuple[Instance, Response]]:
    for stored in store.answers.read_each_instance(run_id):
        if stored.instance is not None and stored.response is not None:
            yield stored.instance, stored.response


def _values(store: Store, run: Run) -> dict[str, float | None]:
    """Return every metric's value, those by HELM's rules too."""
    metrics = summarise_run(store, run).metrics
    pairs = ((one, one.twin) for one in metrics)
    return {metric.metric: metric.mean.value for pair in pairs for metric in pair if metric is not None}
