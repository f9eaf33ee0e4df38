"""What one answer is worth: every metric's score, or why there is none. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from agent.metrics import Labelled, extract, labels, score
from agent.scoring.measures import Measure, Rules
from agent.vocabulary import Failure, Instance, Reason, Response, Scoring, Unscored


@dataclass(frozen=True, slots=True)
class MeasuredScore:
    """What one answer is worth under one measure: a score; or, for a metric of the whole run, the labels it gives."""

    measure: Measure
    value: float | Labelled | Unscored


def score_response(rules: Rules, instance: Instance, result: Response | Failure) -> Iterator[MeasuredScore]:
    """Yield a verdict for every measure.

    What a jury gives, and what is measured later, has no score here: unscored(not_judged) and unscored(not_measured).
    An answer that nothing could be made of is unscored at once under every measure.
    A cut-off thought is unscored(length): there is no answer yet. Text that was cut off is an answer and is scored.
    """
    for measure in rules.measures:
        answer = select_answer(rules, result, measure.rules)
        if isinstance(answer, Unscored):
            yield MeasuredScore(measure, answer)
        elif measure.of_jury or measure.later:
            yield MeasuredScore(measure, Unscored(Reason.NOT_JUDGED if measure.of_jury else Reason.NOT_MEASURED))
        elif measure.of_whole_run:
            yield MeasuredScore(measure, labels(measure.use, answer, instance, measure.rules))
        else:
            yield MeasuredScore(measure, score(measure.use, answer, instance, measure.rules))


def select_answer(rules: Rules, result: Response | Failure, scoring: Scoring) -> str | Unscored:
    """Return the text to score. HELM scores whatever it got, also an empty or a rambling answer, so parity does too."""
    if isinstance(result, Failure):
        return Unscored(result.reason)
    if result.finish_reason == "content_filter":
        return Unscored(Reason.CONTENT_FILTER)
    if scoring == "helm":
        return result.text
    if not result.text.strip():
        return Unscored(Reason.LENGTH if result.finish_reason == "length" else Reason.EMPTY)
    return extract(rules.parser, result.text)
