"""Read stored answers again to show what their metrics read: the value, its place and the rule."""

from collections.abc import Mapping, Sequence

from agent.errors import BenchmarkError
from agent.metrics import WHOLE_TEXT, get_value_kind
from agent.reading.reading import Reading
from agent.redaction.gateway.readings import AnswerReading
from agent.scoring.measures import Rules
from agent.scoring.readings import is_read_by_these_rules, read_response
from agent.store import Run, StoredInstance


def read_stored_answers(
    run: Run, instances: Sequence[StoredInstance]
) -> dict[int, tuple[AnswerReading, ...]]:
    """Return what the metrics of a run read from these answers, by position.

    A run that was imported, or scored by another version of the reading rules, has no readings, because today's rules
    may not explain its scores. Nor do answers whose options were compared or whose texts were purged.
    """
    if not is_read_by_these_rules(run):
        return {}
    rules = Rules.of_run(run.details)
    titles = {metric.name: metric.display_name for metric in run.details.metrics}
    readings: dict[int, tuple[AnswerReading, ...]] = {}
    for stored in instances:
        try:
            readings[stored.position] = _read_answer(rules, stored, titles)
        except BenchmarkError:  # this version lacks a metric of the run
            return {}
    return readings


def _read_answer(
    rules: Rules, stored: StoredInstance, titles: Mapping[str, str]
) -> tuple[AnswerReading, ...]:
    instance, response = stored.instance, stored.response
    if instance is None or response is None or response.likelihoods:
        return ()
    titles_by_reading: dict[Reading, list[str]] = {}
    kinds = {}
    for measured in read_response(rules, instance, response):
        if isinstance(measured.reading, Reading):
            name = measured.measure.name
            titles_by_reading.setdefault(measured.reading, []).append(titles.get(name) or name)
            kinds[measured.reading] = get_value_kind(measured.measure.use, instance)
    shown: list[AnswerReading] = []
    for reading, metrics in titles_by_reading.items():
        is_whole_text = reading.rule == WHOLE_TEXT
        shown.append(AnswerReading(tuple(metrics), kinds[reading], reading, is_whole_text))
    return tuple(shown)
