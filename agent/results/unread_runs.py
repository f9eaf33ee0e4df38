"""Gather the answers of a stored run that were not read."""

from agent.metrics import METRICS
from agent.scoring.measures import Measure, Rules
from agent.scoring.unread_answers import UnreadAnswers
from agent.store import Run, Store
from agent.vocabulary import OWN_MAKING, Reason, Unscored


def gather_unread(store: Store, run: Run, *, all_metrics: bool = False) -> UnreadAnswers:
    """Return the unread answers of a run under its main metric, or under all; none for an imported run.

    Their number is that of the stored scores. Their kinds are told from the stored texts, if these were not purged.
    """
    rules = Rules.of_run(run.details)
    unread = UnreadAnswers(rules)
    if run.imported:
        return unread
    for measure in rules.measures if all_metrics else rules.measures[:1]:
        if measure.use.name in METRICS:
            _gather(store, run, measure, unread)
    return unread


def _gather(store: Store, run: Run, measure: Measure, unread: UnreadAnswers) -> None:
    unread_positions: list[int] = []
    if measure.of_whole_run:  # single answers have no score, but may have a reason
        unread_positions = list(range(store.answers.count_instances(run.run_id)))
    else:
        for position, score in enumerate(store.scores.read_units(run.run_id, measure.name)):
            if score.reason in OWN_MAKING:
                unread_positions.append(position)
            elif score.reason != Reason.NOT_ASKED:
                unread.add(measure, position, None, None, score.value)
    for stored in store.answers.read_each_instance(run.run_id, unread_positions):
        value = stored.scores.get(measure.name)
        if not (isinstance(value, Unscored) and value.reason == Reason.NOT_ASKED):
            unread.add(measure, stored.position, stored.instance, stored.response, value)
