"""Scores of a run by what its patients are: sex, age group and whatever a definition names in `subgroup_columns`."""

from collections.abc import Iterator
from dataclasses import dataclass

from agent.results.summarize import MetricSummary, RunSummary, read_unit_scores, summarise_scores
from agent.store import Store


@dataclass(frozen=True, slots=True)
class SubgroupSummary:
    """One metric over the instances whose `attribute` is `value`; None are those whose data does not say."""

    attribute: str
    value: str | None
    metric: MetricSummary


def summarise_subgroups(store: Store, summary: RunSummary, metric: MetricSummary) -> Iterator[SubgroupSummary]:
    """Yield one metric by attribute and value, values in order. Figures of a whole run have no subgroups here."""
    if metric.whole_run:
        return
    kept_metric = next(kept for kept in summary.run.details.metrics if kept.name == metric.metric)
    groups: dict[str, dict[str | None, list[tuple[bytes, float | str]]]] = {}
    for run in summary.runs or (summary.run,):
        scores = list(read_unit_scores(store, run, metric.metric))
        for attribute, values in store.answers.read_subgroups(run.run_id).items():
            for value, score in zip(values, scores, strict=True):
                groups.setdefault(attribute, {}).setdefault(value, []).append(score)
    for attribute, by_value in sorted(groups.items()):
        for value in sorted(by_value, key=lambda value: (value is None, value or "")):
            yield SubgroupSummary(attribute, value, summarise_scores(kept_metric, by_value[value]))
