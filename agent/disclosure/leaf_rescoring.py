"""Opened leaves of a submission against the answers that the store keeps: is each score what the answer is worth?

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


class AuditOutcome(StrEnum):
    """How something that was signed compares with what the store holds."""

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
    places = _locate_instances(store, runs, {leaf.record.benchmark for leaf in leaves})
    wanted: dict[str, set[int]] = {}
    for leaf in leaves:
        place = places.get((leaf.record.benchmark, leaf.record.score.instance_key))
        if place is not None:
            wanted.setdefault(place.run.run_id, set()).add(place.position)
    scores: dict[tuple[str, int], Mapping[str, float | Unscored] | None] = {}
    for run in runs:
        for position, found in score_again(store, run, sorted(wanted.get(run.run_id, ())), means):
            scores[run.run_id, position] = found
    return [_check_leaf(leaf, scores_root, places, scores) for leaf in leaves]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an instance is in the store."""

    run: Run
    position: int


def _locate_instances(store: Store, runs: Sequence[Run], benchmarks: set[str]) -> dict[tuple[str, bytes], _Place]:
    """Return where each instance of some benchmarks is, by benchmark and the key that records name it by."""
    places: dict[tuple[str, bytes], _Place] = {}
    for run in runs:
        if run.benchmark not in benchmarks:
            continue
        for position, (_, key) in enumerate(store.answers.read_unit_and_instance_keys(run.run_id)):
            place = _Place(run, position)
            places[run.benchmark, key] = place
            # In records of a benchmark that was run in parts, an instance is named by its run too.
            places[run.benchmark, run.run_id.encode() + key] = place
    return places


def _check_leaf(
    leaf: OpenedLeaf,
    scores_root: str,
    places: Mapping[tuple[str, bytes], _Place],
    scores: Mapping[tuple[str, int], Mapping[str, float | Unscored] | None],
) -> LeafCheck:
    """Compare one leaf with what its answer is worth now."""
    if not leaf.leads_to(scores_root):
        return LeafCheck(leaf, AuditOutcome.DIFFERENT, "it is not among the leaves that the submission commits to")
    place = places.get((leaf.record.benchmark, leaf.record.score.instance_key))
    if place is None:
        return LeafCheck(leaf, AuditOutcome.NOT_CHECKABLE, "its instance is not in the store any more")
    found = scores.get((place.run.run_id, place.position))
    if found is None:
        return LeafCheck(leaf, AuditOutcome.NOT_CHECKABLE, "the texts that it rests on were purged")
    recorded = leaf.record.score.value if leaf.record.score.value is not None else str(leaf.record.score.reason)
    now = _describe_score(found.get(leaf.record.metric, Unscored(Reason.NOT_ASKED)))
    if recorded == now:
        return LeafCheck(leaf, AuditOutcome.MATCH)
    return LeafCheck(
        leaf, AuditOutcome.DIFFERENT, f"committed {_write(recorded)}, from the stored answer {_write(now)}"
    )


def _describe_score(score: float | Unscored) -> float | str:
    """Return the score, or the reason why there is none."""
    return score.reason.value if isinstance(score, Unscored) else float(score)


def _write(score: float | str) -> str:
    return f"no score ({score})" if isinstance(score, str) else f"{score:.6g}"
