"""Score stored answers again with this version of the agent, without asking any model or judge.

New scores are drafted next to the old ones and replace them in one transaction per run. If the process is killed, a
run has either its old scores or its new ones, never a mixture.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from agent.errors import BenchmarkError
from agent.jury.prompts import build_matter
from agent.metrics import Labelled, Means
from agent.results.purged import describe_purged, is_purged
from agent.results.summarize import summarise_run
from agent.scoring.deferred import AnsweredInstance, bind_metrics, compute_later_scores
from agent.scoring.jury_scores import Judged, read_judged_answer, regrade, score_by_jury
from agent.scoring.measures import Rules
from agent.scoring.score import MeasuredScore, score_response
from agent.scoring.whole_run import compute_run_scores
from agent.store import Judgement, Run, Seat, Store, StoredInstance
from agent.vocabulary import Failure, Instance, Response, Scoring, ScoringChoice, Unscored

BATCH = 500  # instances per transaction
_NOTHING = Means()


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """The effect of rescoring on one metric.

    Attributes:
        before: value of the metric before rescoring; None if it had none.
        after: value of the metric after rescoring; None if it has none.
        changed: number of instances whose score, or reason for having none, changed.
        instances: number of instances in the run.
    """

    metric: str
    before: float | None
    after: float | None
    changed: int
    instances: int


@dataclass(frozen=True, slots=True)
class Rescored:
    """A run after rescoring. `left` is the reason why the run was not rescored, or empty if it was."""

    run: Run
    changes: tuple[ScoreChange, ...] = ()
    left: str = ""


@dataclass(frozen=True, slots=True)
class _MetricSeat:
    """A stored seat of the jury and the metric that it belongs to."""

    metric: str
    judged: Judged


def rescore_suite(
    store: Store,
    suite: str,
    scoring: ScoringChoice | None = None,
    means: Means = _NOTHING,
) -> list[Rescored]:
    """Score every run of a suite again.

    Args:
        store: the site's store.
        suite: name of the suite.
        scoring: rules to score by; None keeps the rules of each run.
        means: resources for metrics that need more than the answer.

    Raises:
        StoreError: another process is working on one of the runs.
    """
    return [_rescore(store, run, scoring, means) for run in store.runs.select(suite)]


def find_lost_rules(store: Store, suite: str, scoring: ScoringChoice | None) -> dict[Scoring, int]:
    """Return the rules whose scores would be deleted by this choice, with the number of runs that have such scores."""
    others: dict[ScoringChoice, Scoring] = {"intramural": "helm", "helm": "intramural"}
    if scoring not in others:
        return {}
    runs_by_both = [
        run
        for run in store.runs.select(suite)
        if run.details.scoring == "both" and not run.imported
    ]
    return {others[scoring]: len(runs_by_both)} if runs_by_both else {}


def _rescore(store: Store, run: Run, scoring: ScoringChoice | None, means: Means) -> Rescored:
    if run.imported:
        return Rescored(run, left="it was imported with scores computed elsewhere")
    try:
        rules = bind_metrics(Rules.of_run(run.details, scoring), means)
    except BenchmarkError as error:
        return Rescored(run, left=str(error))
    with store.runs.lock(run.run_id):
        purged = describe_purged(store, run.run_id)
        if purged:
            return Rescored(run, left=purged)
        lost_replies = _count_lost_replies(store, run.run_id)
        if lost_replies:
            return Rescored(run, left=f"judges' replies about {lost_replies} answers were purged")
        before = _read_values(store, run)
        changed = _draft(store, run.run_id, rules, means)
        _put_draft_in_place(store, run, rules)
        rescored_run = store.runs.find(run.run_id)
        assert rescored_run is not None
        after = _read_values(store, rescored_run)
        instances = store.answers.count_instances(run.run_id)
    changes = []
    for metric in dict.fromkeys((*after, *before)):
        changes.append(
            ScoreChange(
                metric=metric,
                before=before.get(metric),
                after=after.get(metric),
                changed=changed[metric],
                instances=instances,
            )
        )
    return Rescored(rescored_run, tuple(changes))


def _put_draft_in_place(store: Store, run: Run, rules: Rules) -> None:
    """Replace a run's scores and whole-run metrics with the draft, in one transaction."""
    requests = (
        (stored.instance, stored.request_key)
        for stored in store.answers.read_each_instance(run.run_id)
        if stored.instance
    )
    # Store the plan digest that `run` would compute now, so that repeating its command finds no work left.
    plan_digest = store.identities.plan_digest(requests, rules.identity())
    whole_run_scores = compute_run_scores(rules, _read_answered(store, run.run_id))
    store.scores.put_draft_in_place(
        run.run_id, rules.put_into(run.details), plan_digest, whole_run_scores
    )


def score_again(
    store: Store, run: Run, positions: Sequence[int], means: Means = _NOTHING
) -> Iterator[tuple[int, Mapping[str, float | Unscored] | None]]:
    """Yield the scores that this version gives to stored answers, without writing anything.

    Whole-run metrics are omitted because they give no scores to single instances.

    Args:
        store: the site's store.
        run: a run of this site, not an imported one.
        positions: positions of the instances, in ascending order.
        means: resources for metrics that need more than the answer.

    Yields:
        (position, scores by metric), once per position and in any order. The scores are None if the question, the
        answer or a judge's reply was purged.

    Raises:
        BenchmarkError: a metric needs the encoder or code that the run used, and the site has none or another.
    """
    as_run = Rules.of_run(run.details)
    rules = bind_metrics(as_run, means)
    if rules.identity() != as_run.identity():
        raise BenchmarkError(
            f"{run.benchmark}: the run used a different encoder, or other code of an own metric, from those in the "
            "settings",
            "Set bertscore_model, bertscore_layer and plugins in site.yaml to the values used for the run.",
        )
    settled = store.answers.read_settled_positions(run.run_id)
    has_later_measures = any(measure.later for measure in rules.measures)
    measured_later: dict[int, dict[str, float | Unscored]] = {}
    answered: list[AnsweredInstance] = []
    for start in range(0, len(positions), BATCH):
        page = positions[start : start + BATCH]
        seats_by_position = _read_metric_seats(store, run.run_id, rules, page)
        for stored in store.answers.read_each_instance(run.run_id, page):
            seats = seats_by_position.get(stored.position, [])
            has_lost_reply = any(_is_reply_lost(*seat.judged) for seat in seats)
            if stored.instance is None or is_purged(stored, settled) or has_lost_reply:
                yield stored.position, None
                continue
            scores = _score_instance(rules, stored, seats)
            if isinstance(stored.response, Response) and has_later_measures:
                measured_later[stored.position] = scores
                answered.append((stored.position, stored.instance, stored.response))
            else:
                yield stored.position, scores
    for position, name, value in compute_later_scores(rules, answered, means):
        measured_later[position][name] = value
    yield from measured_later.items()


def _score_instance(
    rules: Rules, stored: StoredInstance, seats: Sequence[_MetricSeat]
) -> dict[str, float | Unscored]:
    """Return the scores of one instance by metric, without those computed in batches; empty if it was not asked."""
    result = _read_result(stored)
    if result is None or stored.instance is None:
        return {}
    judged = [seat.judged for seat in _judge_again(rules, stored.instance, result, seats)]
    scores: dict[str, float | Unscored] = {}
    for score in _score_result(rules, stored.instance, result, judged):
        if not score.measure.of_whole_run and not isinstance(score.value, Labelled):
            scores[score.measure.name] = score.value
    return scores


def _count_lost_replies(store: Store, run_id: str) -> int:
    """Return the number of answers with a seat whose verdict cannot be parsed again."""
    lost = 0
    for page in _split_into_pages(store, run_id):
        for seats in store.juries.read_every_seat(run_id, page).values():
            if any(_is_reply_lost(seat, judgement) for _, seat, judgement in seats):
                lost += 1
    return lost


def _is_reply_lost(seat: Seat, judgement: Judgement) -> bool:
    """Return whether the text of the reply behind a seat was purged."""
    return seat.judgement_key is not None and not judgement.replies


def _split_into_pages(store: Store, run_id: str) -> Iterator[range]:
    positions = range(store.answers.count_instances(run_id))
    for start in range(0, len(positions), BATCH):
        yield positions[start : start + BATCH]


def _draft(store: Store, run_id: str, rules: Rules, means: Means) -> Counter[str]:
    """Draft the new scores of every instance that was asked; return how many scores changed, by metric."""
    store.scores.drop_draft(run_id)
    changed: Counter[str] = Counter()
    for page in _split_into_pages(store, run_id):
        draft = _DraftPage(changed)
        seats_by_position = _read_metric_seats(store, run_id, rules, page)
        for stored in store.answers.read_each_instance(run_id, page):
            draft.add(rules, stored, seats_by_position.get(stored.position, []))
        store.scores.draft(run_id, draft.scores, draft.labelled, draft.seats)
    _draft_later(store, run_id, rules, means, changed)
    return changed


@dataclass(slots=True)
class _DraftPage:
    """New scores of one page of instances.

    Attributes:
        changed: number of instances whose score changed, by metric.
        scores: (position, metric, score) of each new score.
        labelled: (position, metric, reason) for whole-run metrics; the reason is None if the answer has labels.
        seats: (position, metric, seat) of each regraded seat.
    """

    changed: Counter[str]
    scores: list[tuple[int, str, float | Unscored]] = field(default_factory=list)
    labelled: list[tuple[int, str, Unscored | None]] = field(default_factory=list)
    seats: list[tuple[int, str, Seat]] = field(default_factory=list)

    def add(self, rules: Rules, stored: StoredInstance, seats: Sequence[_MetricSeat]) -> None:
        """Score one instance again, unless it has not been asked yet."""
        result = _read_result(stored)
        if result is None or stored.instance is None:
            return
        judged_seats = _judge_again(rules, stored.instance, result, seats)
        for judged_seat in judged_seats:
            seat, _ = judged_seat.judged
            self.seats.append((stored.position, judged_seat.metric, seat))
        judged = [judged_seat.judged for judged_seat in judged_seats]
        for score in _score_result(rules, stored.instance, result, judged):
            metric, value = score.measure.name, score.value
            if score.measure.of_whole_run:
                reason = value if isinstance(value, Unscored) else None
                self.labelled.append((stored.position, metric, reason))
            elif not isinstance(value, Labelled):
                self.scores.append((stored.position, metric, value))
                if stored.scores.get(metric) != value:
                    self.changed[metric] += 1


def _draft_later(
    store: Store, run_id: str, rules: Rules, means: Means, changed: Counter[str]
) -> None:
    """Draft the scores that are computed in batches, and count those that changed."""
    before: dict[int, Mapping[str, float | Unscored]] = {}  # old scores of the answers in progress

    def read_answered() -> Iterator[AnsweredInstance]:
        for stored in store.answers.read_each_instance(run_id):
            if stored.instance is not None and stored.response is not None:
                before[stored.position] = stored.scores
                yield stored.position, stored.instance, stored.response

    if not any(measure.later for measure in rules.measures):
        return
    scores = compute_later_scores(rules, read_answered(), means)
    while batch := list(islice(scores, BATCH)):
        for position, metric, value in batch:
            if before[position].get(metric) != value:
                changed[metric] += 1
        last_position, _, _ = batch[-1]
        finished = [position for position in before if position < last_position]
        for position in finished:  # their old scores are no longer needed
            del before[position]
        store.scores.draft(run_id, batch)


def _read_metric_seats(
    store: Store, run_id: str, rules: Rules, page: Sequence[int]
) -> dict[int, list[_MetricSeat]]:
    """Return the stored seats of these answers, by position."""
    if not any(measure.of_jury for measure in rules.measures):
        return {}
    seats_by_position: dict[int, list[_MetricSeat]] = {}
    for position, seats in store.juries.read_every_seat(run_id, page).items():
        seats_by_position[position] = [
            _MetricSeat(metric, (seat, judgement)) for metric, seat, judgement in seats
        ]
    return seats_by_position


def _judge_again(
    rules: Rules, instance: Instance, result: Response | Failure, seats: Sequence[_MetricSeat]
) -> list[_MetricSeat]:
    """Parse the stored replies of the seats again, by the rules of this version."""
    answer = read_judged_answer(rules, result) if isinstance(result, Response) else None
    if not seats or not isinstance(answer, str):
        return list(seats)
    use = next(measure.use for measure in rules.measures if measure.of_jury)
    regraded = regrade([seat.judged for seat in seats], use, build_matter(instance, answer).texts)
    return [_MetricSeat(seat.metric, judged) for seat, judged in zip(seats, regraded, strict=True)]


def _score_result(
    rules: Rules, instance: Instance, result: Response | Failure, judged: Sequence[Judged]
) -> Iterator[MeasuredScore]:
    """Yield an answer's scores, without those that are computed in batches."""
    is_answered = isinstance(result, Response)
    for score in score_response(rules, instance, result):
        is_scored_elsewhere = score.measure.of_jury or score.measure.later
        if not (is_answered and is_scored_elsewhere):
            yield score
    if isinstance(result, Response):
        yield from score_by_jury(rules, result, judged)


def _read_result(stored: StoredInstance) -> Response | Failure | None:
    """Return the stored answer to an instance, or its failure; None if it has not been asked yet."""
    if stored.response is not None:
        return stored.response
    for score in stored.scores.values():
        if isinstance(score, Unscored):
            return Failure(score.reason)
    return None


def _read_answered(store: Store, run_id: str) -> Iterator[tuple[Instance, Response]]:
    for stored in store.answers.read_each_instance(run_id):
        if stored.instance is not None and stored.response is not None:
            yield stored.instance, stored.response


def _read_values(store: Store, run: Run) -> dict[str, float | None]:
    """Return every metric's value, including those by HELM's rules."""
    values: dict[str, float | None] = {}
    for metric in summarise_run(store, run).metrics:
        values[metric.metric] = metric.mean.value
        if metric.twin is not None:
            values[metric.twin.metric] = metric.twin.mean.value
    return values
