"""Check opened leaves of a submission by scoring the stored answers again.

A match shows that the committed score is the score that this version of the agent gives to the stored answer. It does
not show that the model gave this answer: the holder of the data key could have replaced it before the submission.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.disclosure.commitment import OpenedLeaf
from agent.disclosure.record_check import AuditOutcome
from agent.metrics import Means
from agent.metrics.own import name_cell_metric
from agent.runs.rescore import score_again
from agent.store import Run, Store
from agent.vocabulary import Reason, Unscored

ScoresByMetric = Mapping[str, float | Unscored]


@dataclass(frozen=True, slots=True)
class LeafCheck:
    """The check of one leaf.

    Attributes:
        leaf: the leaf with its proof.
        outcome: the outcome of the check.
        finding: why the outcome is not a match, in words that never quote an instance; "" for a match.
    """

    leaf: OpenedLeaf
    outcome: AuditOutcome
    finding: str = ""


def check_leaves(
    store: Store, runs: Sequence[Run], leaves: Sequence[OpenedLeaf], scores_root: str, means: Means
) -> list[LeafCheck]:
    """Score the stored answers behind some leaves again and compare the scores.

    Args:
        store: the site's store.
        runs: the runs of the submission's model in its suite.
        leaves: the opened leaves to check.
        scores_root: the submission's root over its scores, 64 hex digits.
        means: helpers for metrics that need more than the answer, such as an encoder.

    Returns:
        A check for each leaf, in the same order.

    Raises:
        BenchmarkError: a metric needs an encoder, and there is none or it differs from the run's encoder.
    """
    benchmarks = {leaf.record.benchmark for leaf in leaves}
    locations = _locate_instances(store, runs, benchmarks)
    positions: dict[str, set[int]] = {}
    for leaf in leaves:
        location = locations.get(_name_instance(leaf))
        if location is not None:
            positions.setdefault(location.run_id, set()).add(location.position)
    rescored: dict[_Location, ScoresByMetric | None] = {}
    for run in runs:
        positions_of_run = sorted(positions.get(run.run_id, ()))
        for position, scores in score_again(store, run, positions_of_run, means):
            rescored[_Location(run.run_id, position)] = _name_as_in_leaves(run, scores)

    checks: list[LeafCheck] = []
    for leaf in leaves:
        location = locations.get(_name_instance(leaf))
        if not leaf.leads_to(scores_root):
            difference = "the leaf is not among those that the submission commits to"
            checks.append(LeafCheck(leaf, AuditOutcome.DIFFERENT, difference))
        elif location is None:
            reason = "the leaf's instance is no longer in the store"
            checks.append(LeafCheck(leaf, AuditOutcome.NOT_CHECKABLE, reason))
        else:
            checks.append(_compare_scores(leaf, rescored.get(location)))
    return checks


@dataclass(frozen=True, slots=True)
class _Location:
    """The run of an instance, and its position in the run."""

    run_id: str
    position: int


def _name_as_in_leaves(run: Run, scores: ScoresByMetric | None) -> ScoresByMetric | None:
    """Return the scores of one instance by the names that their metrics have in scorecards."""
    if scores is None:
        return None
    named: dict[str, float | Unscored] = {}
    for metric in run.details.metrics:
        if metric.name in scores:
            named[name_cell_metric(metric.name, metric.options)] = scores[metric.name]
    return named


def _name_instance(leaf: OpenedLeaf) -> tuple[str, bytes]:
    """Return the benchmark and the key of the instance in a leaf's record."""
    return leaf.record.benchmark, leaf.record.score.instance_key


def _locate_instances(
    store: Store, runs: Sequence[Run], benchmarks: set[str]
) -> dict[tuple[str, bytes], _Location]:
    """Return the location of each instance of some benchmarks, by benchmark and instance key in records."""
    locations: dict[tuple[str, bytes], _Location] = {}
    for run in runs:
        if run.benchmark not in benchmarks:
            continue
        for position, (_, key) in enumerate(store.answers.read_unit_and_instance_keys(run.run_id)):
            location = _Location(run.run_id, position)
            locations[run.benchmark, key] = location
            # For a benchmark that was run in parts, the key in records starts with the run's id.
            locations[run.benchmark, run.run_id.encode() + key] = location
    return locations


def _compare_scores(leaf: OpenedLeaf, rescored: ScoresByMetric | None) -> LeafCheck:
    """Compare the committed score with that of the stored answer; `rescored` is None if its texts were purged."""
    if rescored is None:
        return LeafCheck(leaf, AuditOutcome.NOT_CHECKABLE, "the texts behind the leaf were purged")
    score = leaf.record.score
    committed = score.value if score.value is not None else str(score.reason)
    now = _describe_score(rescored.get(leaf.record.metric, Unscored(Reason.NOT_ASKED)))
    if committed == now:
        return LeafCheck(leaf, AuditOutcome.MATCH)
    difference = f"the submission has {_write(committed)}, but the stored answer gets {_write(now)}"
    return LeafCheck(leaf, AuditOutcome.DIFFERENT, difference)


def _describe_score(score: float | Unscored) -> float | str:
    """Return the score, or the reason why there is none."""
    return score.reason.value if isinstance(score, Unscored) else float(score)


def _write(score: float | str) -> str:
    return f"no score ({score})" if isinstance(score, str) else f"{score:.6g}"
