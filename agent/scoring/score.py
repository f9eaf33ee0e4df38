"""Score one answer under every measure, or return the reason why it has no score. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from agent.metrics import Labelled, extract, read_labels, score
from agent.scoring.measures import Measure, Rules
from agent.vocabulary import Failure, Instance, Reason, Response, Scoring, Unscored


@dataclass(frozen=True, slots=True)
class MeasuredScore:
    """The score of one answer under one measure (a metric and its scoring rules).

    For a whole-run metric, the value is the answer's labels.
    """

    measure: Measure
    value: float | Labelled | Unscored


def score_response(
    rules: Rules, instance: Instance, result: Response | Failure
) -> Iterator[MeasuredScore]:
    """Yield the score of an answer under every measure.

    Measures graded by a jury are unscored(not_judged) here, and those computed later are unscored(not_measured).
    An answer that cannot be parsed is unscored under every measure. Reasoning that was cut off is unscored(length),
    because no answer follows it. An answer that was itself cut off is scored.
    """
    for measure in rules.measures:
        answer = select_answer(rules, result, measure.rules)
        if isinstance(answer, Unscored):
            yield MeasuredScore(measure, answer)
        elif measure.of_jury:
            yield MeasuredScore(measure, Unscored(Reason.NOT_JUDGED))
        elif measure.later:
            yield MeasuredScore(measure, Unscored(Reason.NOT_MEASURED))
        elif measure.of_whole_run:
            yield MeasuredScore(measure, read_labels(measure.use, answer, instance, measure.rules))
        else:
            yield MeasuredScore(measure, score(measure.use, answer, instance, measure.rules))


def select_answer(rules: Rules, result: Response | Failure, scoring: Scoring) -> str | Unscored:
    """Return the text to score, or the reason why there is none.

    Under HELM's rules, empty answers and answers that the parser would reject are scored too, as in HELM.
    """
    if isinstance(result, Failure):
        return Unscored(result.reason)
    if result.finish_reason == "content_filter":
        return Unscored(Reason.CONTENT_FILTER)
    if result.likelihoods and not result.text:
        # No option is likelier than all others. HELM has no such answers, so its rules are not defined for them.
        return Unscored(Reason.UNPARSED)
    if scoring == "helm":
        return result.text
    if not result.text.strip():
        return Unscored(Reason.LENGTH if result.finish_reason == "length" else Reason.EMPTY)
    return extract(rules.parser, result.text)
