"""Score answers by a site's own metrics: every result is a number in the declared range, or a reason for none."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Self

from agent.own_metrics.process import MetricFault, OwnMetricProcess
from agent.own_metrics.source import MetricSource, read_approved_code
from agent.vocabulary import Instance, Reason, Unscored

REASONS = {
    reason.value: reason for reason in (Reason.UNPARSED, Reason.NO_REFERENCE, Reason.NOT_APPLICABLE)
}
"""The reasons that a metric may return in place of a score."""

MAX_LIMITS = 3
"""Answers in a row at which a metric may be ended by its time limit before it is given up."""

_FAILED = Unscored(Reason.METRIC_FAILED)


class OwnMetricScorer:
    """Scores answers in one process per metric, which ends with the `with` block.

    Attributes:
        faults: how often each metric failed, by a sentence that quotes no text of a case.
    """

    def __init__(self, sources: Sequence[MetricSource]) -> None:
        self._sources = {source.name: source for source in sources}
        self._processes: dict[str, OwnMetricProcess] = {}
        self._limits: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._processes):
            self._end(name)

    def score(self, name: str, answer: str, instance: Instance) -> float | Unscored:
        """Score one answer.

        Args:
            name: the metric's name, without the prefix `own/`.
            answer: the answer that the benchmark's parser selected.
            instance: the question and its references.

        Raises:
            BenchmarkError: the metric's code has changed or cannot be loaded.
        """
        if not answer.strip():
            return Unscored(Reason.EMPTY)
        if self._limits[name] >= MAX_LIMITS:
            return self._note(name, f"was not tried again after {MAX_LIMITS} answers in a row")
        if name not in self._processes:
            self._processes[name] = OwnMetricProcess(read_approved_code(self._sources[name]))
        process = self._processes[name]
        try:
            reply = process.ask(_build_request(answer, instance))
        except BaseException:  # Ctrl-C: this reply must not be taken for the next one
            self._end(name)
            raise
        if isinstance(reply, MetricFault):
            if reply.is_final:
                self._end(name)
            self._limits[name] = self._limits[name] + 1 if reply.is_limit else 0
            return self._note(name, reply.words)
        self._limits[name] = 0
        score = _read_reply(reply, process)
        return self._note(name, score.words) if isinstance(score, MetricFault) else score

    def describe_faults(self) -> list[str]:
        """Return a sentence for each kind of fault."""
        return [f"{words} ({count} unscored)" for words, count in self.faults.items()]

    def _note(self, name: str, words: str) -> Unscored:
        self.faults[f"own/{name} {words}"] += 1
        return _FAILED

    def _end(self, name: str) -> None:
        self._processes.pop(name).end()


def _build_request(answer: str, instance: Instance) -> dict[str, Any]:
    messages = [{"role": each.role, "content": each.content} for each in instance.messages]
    return {
        "answer": answer,
        "references": [[each.text, each.correct] for each in instance.references],
        "messages": messages,
        "extra": dict(instance.extra),
        "multiple_choice": instance.multiple_choice,
    }


def _read_reply(
    reply: Mapping[str, Any], process: OwnMetricProcess
) -> float | Unscored | MetricFault:
    """Return the score or the reason in a metric's reply, which is checked because the metric may have written it."""
    reason, value = reply.get("reason"), reply.get("value")
    if isinstance(reason, str):
        if reason in REASONS:
            return Unscored(REASONS[reason])
        return MetricFault(f"returned a text that is none of {', '.join(REASONS)}")
    if not isinstance(value, float):
        kind = "None" if reply.get("nothing") else "a value that is neither a number nor a reason"
        return MetricFault(f"returned {kind}")
    low, high = process.declared.low, process.declared.high
    if not math.isfinite(value) or not low <= value <= high:
        return MetricFault(f"returned a number outside its range of {low} to {high}")
    if process.declared.binary and value not in (low, high):
        return MetricFault(f"returned a number other than {low} and {high}, but declares BINARY")
    return value
