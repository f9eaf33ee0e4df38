"""Measure the tokens, time and cost behind the rows of a leaderboard, for one answer and in total.

Unknown parts are None. The cost is that of the model's answers at the deployment's present prices, without judging.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from agent.catalog.deployments import Prices
from agent.results.summarize import RunSummary
from agent.results.usage import Cost, compute_usage_cost, total_usage
from agent.store import Run, Store

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class Efficiency:
    """What the answers of one benchmark and model took, or of all benchmarks of a model.

    Attributes:
        answers: number of answers; instances with equal prompts share one.
        prompt_tokens, completion_tokens: None unless the server counted those of every answer.
        answer_seconds: time from sending to reading, summed over answers; None if it is not known.
        cost: cost of these answers; None without prices.
    """

    answers: int
    prompt_tokens: int | None
    completion_tokens: int | None
    answer_seconds: float | None
    cost: Cost | None

    @property
    def tokens_per_answer(self) -> float | None:
        """Tokens of prompt and answer together."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return (self.prompt_tokens + self.completion_tokens) / self.answers

    @property
    def seconds_per_answer(self) -> float | None:
        """The latency: seconds from sending a question to reading its answer."""
        return None if self.answer_seconds is None else self.answer_seconds / self.answers

    @property
    def cost_per_answer(self) -> Cost | None:
        """The cost of one answer, in the parts that are known."""
        if self.cost is None:
            return None
        tokens, hours = self.cost.tokens, self.cost.gpu_hours
        return Cost(
            self.cost.currency,
            tokens=None if tokens is None else tokens / self.answers,
            gpu_hours=None if hours is None else hours / self.answers,
        )


def measure_rows(
    store: Store, summaries: Sequence[RunSummary], prices: Mapping[str, Prices]
) -> list[Efficiency | None]:
    """Return the efficiency of each summary, in order; None for a summary without stored answers.

    Args:
        store: the store with the answers.
        summaries: the rows of a leaderboard.
        prices: present prices by deployment.
    """
    efficiencies = []
    for summary in summaries:
        # A run made elsewhere was not paid for at this site's prices.
        known = None if summary.run.imported else prices.get(summary.run.deployment)
        efficiencies.append(_measure_runs(store, summary.runs or (summary.run,), known))
    return efficiencies


def _measure_runs(store: Store, runs: Sequence[Run], prices: Prices | None) -> Efficiency | None:
    stored = [run for run in runs if run.run_id]  # a row of an imported leaderboard has no run
    usage = total_usage([store.answers.sum_usage(run.run_id) for run in stored])
    if not usage.answers:
        return None
    is_counted = usage.uncounted == 0
    cost = compute_usage_cost(usage, prices)
    if cost is not None and not _asked_every_answer(store, stored):
        cost = replace(cost, gpu_hours=None)
    return Efficiency(
        answers=usage.answers,
        prompt_tokens=usage.prompt_tokens if is_counted else None,
        completion_tokens=usage.completion_tokens if is_counted else None,
        # Redacted exports of this program, when imported, have no times.
        answer_seconds=usage.answer_seconds or None,
        cost=None if cost is None or (cost.tokens is None and cost.gpu_hours is None) else cost,
    )


def _asked_every_answer(store: Store, runs: Sequence[Run]) -> bool:
    """Return whether the runs spent the time on all their answers themselves.

    The GPU time of answers that an earlier run asked for is not that of these runs.
    """
    for run in runs:
        has_asked = store.answers.sum_usage(run.run_id).asked_seconds > 0
        if not has_asked or store.answers.has_answers_from_before(run.run_id):
            return False
    return True


def sum_by_model(
    summaries: Sequence[RunSummary], efficiencies: Sequence[Efficiency | None]
) -> dict[tuple[str, str], Efficiency]:
    """Return the sums of the rows with answers, by (model, deployment)."""
    rows: dict[tuple[str, str], list[Efficiency]] = {}
    for summary, efficiency in zip(summaries, efficiencies, strict=True):
        if efficiency is not None:
            key = summary.run.model, summary.run.deployment
            rows.setdefault(key, []).append(efficiency)
    return {key: _add(of_model) for key, of_model in rows.items()}


def _add(efficiencies: Sequence[Efficiency]) -> Efficiency:
    return Efficiency(
        answers=sum(efficiency.answers for efficiency in efficiencies),
        prompt_tokens=_add_known([efficiency.prompt_tokens for efficiency in efficiencies]),
        completion_tokens=_add_known([efficiency.completion_tokens for efficiency in efficiencies]),
        answer_seconds=_add_known([efficiency.answer_seconds for efficiency in efficiencies]),
        cost=_add_costs([efficiency.cost for efficiency in efficiencies]),
    )


def _add_known(values: Sequence[_Number | None]) -> _Number | None:
    """Return the sum; None if any value is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _add_costs(costs: Sequence[Cost | None]) -> Cost | None:
    """Return the sum of the parts that are known of every cost; None if there is none, or several currencies."""
    known = [cost for cost in costs if cost is not None]
    currencies = {cost.currency for cost in known}
    if len(known) < len(costs) or len(currencies) != 1:
        return None
    total = Cost(
        currencies.pop(),
        tokens=_add_known([cost.tokens for cost in known]),
        gpu_hours=_add_known([cost.gpu_hours for cost in known]),
    )
    return None if total.tokens is None and total.gpu_hours is None else total
