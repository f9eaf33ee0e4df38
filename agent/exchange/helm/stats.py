"""Compute HELM's statistics of a run and of its instances."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.exchange.summary_metrics import iter_metrics
from agent.redaction.gateway.cases import ClearedCase
from agent.results.summarize import RunSummary
from agent.vocabulary import Response

_TOKENS = ("num_prompt_tokens", "num_completion_tokens")


@dataclass
class Stat:
    """One of HELM's statistics. Values are added one at a time; missing values are not added."""

    name: str
    split: str | None
    values: list[float] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the statistic in HELM's form. Without values, the count is 0 and there is no mean."""
        name: dict[str, Any] = {"name": self.name}
        if self.split is not None:
            name["split"] = self.split
        count = len(self.values)
        total = math.fsum(self.values)
        stat: dict[str, Any] = {
            "name": name,
            "count": count,
            "sum": total,
            "sum_squared": math.fsum(value * value for value in self.values),
        }
        if count:
            mean = total / count
            variance = math.fsum((value - mean) ** 2 for value in self.values) / count
            stat["min"] = min(self.values)
            stat["max"] = max(self.values)
            stat["mean"] = mean
            stat["variance"] = variance
            stat["stddev"] = math.sqrt(variance)
        return stat


class RunStats:
    """The statistics of a run, to which its instances are added one at a time.

    Args:
        helm_names: HELM's name for each metric, by its key in the store.
        split: the split to which all instances belong.
    """

    def __init__(self, helm_names: Mapping[str, str], split: str) -> None:
        self._helm_names = helm_names
        self._split = split
        self._metrics = {metric: Stat(helm, split) for metric, helm in helm_names.items()}
        self._tokens = {name: Stat(name, split) for name in _TOKENS}
        self._instances = 0

    def add(self, case: ClearedCase, response: Response | None) -> list[dict[str, Any]]:
        """Add one instance and return its own statistics. A metric without a score is left out."""
        self._instances += 1
        stats = []
        for metric, value in case.scores.items():
            if metric in self._metrics and isinstance(value, int | float):
                self._metrics[metric].values.append(float(value))
                stats.append(Stat(self._helm_names[metric], self._split, [float(value)]))
        for name, tokens in _count_tokens(response).items():
            self._tokens[name].values.append(tokens)
            stats.append(Stat(name, self._split, [tokens]))
        return [stat.to_json() for stat in stats]

    def summarise(self, summary: RunSummary) -> list[dict[str, Any]]:
        """Return the statistics of the whole run: each metric with its number of unscored instances, and counts."""
        stats = []
        for metric in iter_metrics(summary):
            stat = self._metrics[metric.metric]
            if metric.whole_run and metric.mean.value is not None:
                stat.values.append(metric.mean.value)  # such a metric has no values per instance
            unscored = float(sum(metric.unscored.values()))
            stats += [stat, Stat(name_unscored(stat.name), self._split, [unscored])]
        stats += self._tokens.values()
        stats.append(Stat("num_instances", self._split, [float(self._instances)]))
        return [stat.to_json() for stat in stats]


def name_unscored(metric: str) -> str:
    """Return the name of the statistic that counts the instances without a score under HELM's `metric`."""
    return f"{metric}_unscored"


def _count_tokens(response: Response | None) -> dict[str, float]:
    """Return the response's token counts as reported by the server, by HELM's names."""
    if response is None:
        return {}
    counts = dict(zip(_TOKENS, (response.prompt_tokens, response.completion_tokens), strict=True))
    return {name: float(tokens) for name, tokens in counts.items() if tokens is not None}
