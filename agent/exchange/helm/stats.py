"""HELM's statistics of a run and of its instances."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.exchange.each_metric import each_metric
from agent.redaction.gateway.cases import ClearedCase
from agent.results.summarize import RunSummary
from agent.vocabulary import Response

_TOKENS = ("num_prompt_tokens", "num_completion_tokens")


@dataclass
class Stat:
    """One of HELM's statistics: values are added one at a time, a missing one never."""

    name: str
    split: str | None
    values: list[float] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return it as HELM writes it; without values there is a count of 0 and no mean."""
        count, total = len(self.values), math.fsum(self.values)
        squares = math.fsum(value * value for value in self.values)
        name = {"name": self.name} | ({} if self.split is None else {"split": self.split})
        found: dict[str, Any] = {"name": name, "count": count, "sum": total, "sum_squared": squares}
        if count:
            mean = total / count
            variance = math.fsum((value - mean) ** 2 for value in self.values) / count
            found |= {
                "min": min(self.values),
                "max": max(self.values),
                "mean": mean,
                "variance": variance,
                "stddev": math.sqrt(variance),
            }
        return found


class RunStats:
    """The statistics of a run, as its instances pass by.

    Args:
        helm_names: HELM's name of each metric, by its key in the store.
        split: the split that all instances are in.
    """

    def __init__(self, helm_names: Mapping[str, str], split: str) -> None:
        self._helm_names = helm_names
        self._split = split
        self._metrics = {metric: Stat(helm, split) for metric, helm in helm_names.items()}
        self._tokens = {name: Stat(name, split) for name in _TOKENS}
        self._instances = 0

    def add(self, case: ClearedCase, response: Response | None) -> list[dict[str, Any]]:
        """Take in one instance; return its own statistics. A metric without a score has none."""
        self._instances += 1
        own = []
        for metric, value in case.scores.items():
            if metric in self._metrics and isinstance(value, int | float):
                self._metrics[metric].values.append(float(value))
                own.append(Stat(self._helm_names[metric], self._split, [float(value)]))
        for name, tokens in _token_counts(response):
            self._tokens[name].values.append(tokens)
            own.append(Stat(name, self._split, [tokens]))
        return [stat.to_json() for stat in own]

    def of_run(self, summary: RunSummary) -> list[dict[str, Any]]:
        """Return the statistics of the whole run: every metric with how many instances it leaves out, and counts."""
        found = []
        for metric in each_metric(summary):
            stat = self._metrics[metric.metric]
            if metric.whole_run and metric.mean.value is not None:
                stat.values.append(metric.mean.value)  # no single instance has one
            found += [stat, Stat(unscored_name(stat.name), self._split, [float(sum(metric.unscored.values()))])]
        instances = Stat("num_instances", self._split, [float(self._instances)])
        return [stat.to_json() for stat in (*found, *self._tokens.values(), instances)]


def unscored_name(metric: str) -> str:
    """Return the statistic that counts the instances without a score under HELM's `metric`."""
    return f"{metric}_unscored"


def _token_counts(response: Response | None) -> Iterator[tuple[str, float]]:
    if response is not None:
        for name, tokens in zip(_TOKENS, (response.prompt_tokens, response.completion_tokens), strict=True):
            if tokens is not None:
                yield name, float(tokens)
