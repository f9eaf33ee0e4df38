"""Summarise the scores of a run by attributes of its patients: sex, age group and others in `subgroup_columns`."""

from collections.abc import Iterator
from dataclasses import dataclass

from agent.results.summarize import MetricSummary, RunSummary, read_unit_scores, summarise_scores
from agent.store import Store

_ScoresByValue = dict[str | None, list[tuple[bytes, float | str]]]


@dataclass(frozen=True, slots=True)
class SubgroupSummary:
    """One metric over the instances whose `attribute` has this `value`, which is None if unknown."""

    attribute: str
    value: str | None
    metric: MetricSummary


def summarise_subgroups(
    store: Store, summary: RunSummary, metric: MetricSummary
) -> Iterator[SubgroupSummary]:
    """Yield one metric by attribute and value, in sorted order. Whole-run metrics have no subgroups."""
    if metric.whole_run:
        return
    kept_metric = summary.run.details.find_metric(metric.metric)
    assert kept_metric is not None
    groups: dict[str, _ScoresByValue] = {}  # by attribute
    for run in summary.runs or (summary.run,):
        scores = list(read_unit_scores(store, run, metric.metric))
        for attribute, values in store.answers.read_subgroups(run.run_id).items():
            for value, score in zip(values, scores, strict=True):
                groups.setdefault(attribute, {}).setdefault(value, []).append(score)
    for attribute in sorted(groups):
        by_value = groups[attribute]
        for value in sorted(by_value, key=_sort_unknown_last):
            yield SubgroupSummary(attribute, value, summarise_scores(kept_metric, by_value[value]))


def _sort_unknown_last(value: str | None) -> tuple[bool, str]:
    return value is None, value or ""
