"""Score one answer under every measure, or return the reason why it has no score. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from agent.metrics import Labelled, extract, read_labels, score
from agent.scoring.cut_off import breaks_off, depends_on_reading
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
    because no answer follows it, and so is an answer that was cut off before it stated a number, verdict or query
    (`agent.reading.cut_off`). Other answers that were cut off are scored.
    """
    for measure in rules.measures:
        value = _score_by_measure(rules, measure, instance, result)
        if depends_on_reading(value) and breaks_off(rules, measure, instance, result):
            value = Unscored(Reason.LENGTH)
        yield MeasuredScore(measure, value)


def _score_by_measure(
    rules: Rules, measure: Measure, instance: Instance, result: Response | Failure
) -> float | Labelled | Unscored:
    answer = select_answer(rules, result, measure.rules)
    if isinstance(answer, Unscored):
        return answer
    if measure.of_jury:
        return Unscored(Reason.NOT_JUDGED)
    if measure.later:
        return Unscored(Reason.NOT_MEASURED)
    if measure.of_whole_run:
        return read_labels(measure.use, answer, instance, measure.rules)
    return score(measure.use, answer, instance, measure.rules)


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
