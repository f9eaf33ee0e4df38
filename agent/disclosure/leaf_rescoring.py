"""Compares opened leaves of a submission with the answers that the store keeps: each answer is scored again.

What this shows: the score that was committed to is the score that this version gives to the stored answer. It does not
show that the model gave this answer: whoever holds the data key could have stored another before the submission.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agent.disclosure.commitment import OpenedLeaf
from agent.metrics import Means
from agent.runs.rescore import score_again
from agent.store import Run, Store
from agent.vocabulary import Reason, Unscored

ScoresByMetric = Mapping[str, float | Unscored]


class AuditOutcome(StrEnum):
    """How something that was signed compares with the store."""

    MATCH = "match"
    DIFFERENT = "different"
    NOT_CHECKABLE = "not_checkable"


@dataclass(frozen=True, slots=True)
class LeafCheck:
    """One leaf after it was scored again.

    Attributes:
        leaf: with its proof.
        outcome: how it compares.
        finding: why it is no match, in words; "" for a match. It never holds text of a case.
    """

    leaf: OpenedLeaf
    outcome: AuditOutcome
    finding: str = ""


def check_leaves(
    store: Store, runs: Sequence[Run], leaves: Sequence[OpenedLeaf], scores_root: str, means: Means
) -> list[LeafCheck]:
    """Score again the stored answers behind some leaves.

    Args:
        store: the site's.
        runs: of the model and suite that the submission is of.
        leaves: opened ones.
        scores_root: of the submission, 64 hex digits.
        means: for metrics that need more than the answer.

    Returns:
        A check for each leaf, in their order.

    Raises:
        BenchmarkError: a metric needs an encoder, and there is none or another than the run was measured with.
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
            rescored[_Location(run.run_id, position)] = scores

    checks: list[LeafCheck] = []
    for leaf in leaves:
        location = locations.get(_name_instance(leaf))
        if not leaf.leads_to(scores_root):
            difference = "it is not among the leaves that the submission commits to"
            checks.append(LeafCheck(leaf, AuditOutcome.DIFFERENT, difference))
        elif location is None:
            reason = "its instance is not in the store any more"
            checks.append(LeafCheck(leaf, AuditOutcome.NOT_CHECKABLE, reason))
        else:
            checks.append(_compare_scores(leaf, rescored.get(location)))
    return checks


@dataclass(frozen=True, slots=True)
class _Location:
    """The run of an instance, and its position there."""

    run_id: str
    position: int


def _name_instance(leaf: OpenedLeaf) -> tuple[str, bytes]:
    """Return the benchmark and the key by which a record names its instance."""
    return leaf.record.benchmark, leaf.record.score.instance_key


def _locate_instances(
    store: Store, runs: Sequence[Run], benchmarks: set[str]
) -> dict[tuple[str, bytes], _Location]:
    """Return the location of each instance of some benchmarks, by benchmark and the key that records name it by."""
    locations: dict[tuple[str, bytes], _Location] = {}
    for run in runs:
        if run.benchmark not in benchmarks:
            continue
        for position, (_, key) in enumerate(store.answers.read_unit_and_instance_keys(run.run_id)):
            location = _Location(run.run_id, position)
            locations[run.benchmark, key] = location
            # In records of a benchmark that was run in parts, an instance is named by its run too.
            locations[run.benchmark, run.run_id.encode() + key] = location
    return locations


def _compare_scores(leaf: OpenedLeaf, rescored: ScoresByMetric | None) -> LeafCheck:
    """Compare the score that was committed to with that of the stored answer; None where its texts were purged."""
    if rescored is None:
        return LeafCheck(leaf, AuditOutcome.NOT_CHECKABLE, "the texts that it rests on were purged")
    score = leaf.record.score
    committed = score.value if score.value is not None else str(score.reason)
    now = _describe_score(rescored.get(leaf.record.metric, Unscored(Reason.NOT_ASKED)))
    if committed == now:
        return LeafCheck(leaf, AuditOutcome.MATCH)
    difference = f"committed {_write(committed)}, from the stored answer {_write(now)}"
    return LeafCheck(leaf, AuditOutcome.DIFFERENT, difference)


def _describe_score(score: float | Unscored) -> float | str:
    """Return the score, or the reason why there is none."""
    return score.reason.value if isinstance(score, Unscored) else float(score)


def _write(score: float | str) -> str:
    return f"no score ({score})" if isinstance(score, str) else f"{score:.6g}"
