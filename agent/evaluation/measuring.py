"""Metrics that are computed from stored answers, once they are there: in batches, or in several processes."""

from collections.abc import Iterable, Iterator

from agent.evaluation.measures import Rules
from agent.evaluation.score import score_response
from agent.vocabulary import Instance, Response, Score, Unscored

Case = tuple[int, Instance, Response]  # position, what was asked, what came back


def later_scores(rules: Rules, cases: Iterable[Case]) -> Iterator[tuple[int, str, Score | Unscored]]:
    """Yield (position, measure's name, value) for every case and every measure of `rules` that is computed later."""
    for position, instance, response in cases:
        for verdict in score_response(rules, instance, response):
            if verdict.measure.later and isinstance(verdict.value, float | int | Unscored):
                yield position, verdict.measure.name, verdict.value
