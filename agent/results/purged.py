"""Detect runs whose answers were purged from the store."""

from collections.abc import Container

from agent.io.wording import format_count
from agent.store import Store, StoredInstance
from agent.vocabulary import Reason, Unscored

# Any other reason, or a score, requires an answer. If no answer is stored, it was purged.
_NEEDS_NO_ANSWER = frozenset(Reason) - {
    *(Reason.UNPARSED, Reason.LENGTH, Reason.NO_REFERENCE, Reason.NOT_JUDGED, Reason.NOT_IMPORTED),
    *(Reason.NOT_APPLICABLE, Reason.NO_QUORUM, Reason.NOT_MEASURED, Reason.METRIC_FAILED),
}


def describe_purged(store: Store, run_id: str) -> str:
    """Describe how many instances of a run had their texts purged; return an empty string if none had."""
    settled = store.answers.read_settled_positions(run_id)
    purged = sum(is_purged(stored, settled) for stored in store.answers.read_each_instance(run_id))
    return f"the texts of {format_count(purged, 'instance')} were purged" if purged else ""


def is_purged(stored: StoredInstance, settled: Container[int]) -> bool:
    """Return whether an instance lacks a text that is needed to score it, or that its score was computed from."""
    if stored.instance is None:
        return True
    if stored.response is not None or stored.position not in settled:
        return False
    scores = stored.scores.values()
    failed = [isinstance(score, Unscored) and score.reason in _NEEDS_NO_ANSWER for score in scores]
    return not failed or not all(failed)
