"""Compute the score of one answer from the seats of its jury, by the rules of Intramural and by HELM's. Pure."""

from collections.abc import Iterator, Sequence

from agent.jury.rubric import Rubric, read_rubric
from agent.jury.seats import compute_helm_jury_score, compute_jury_score, fill_seat, is_open
from agent.jury.verdict import remove_mark
from agent.metrics import MetricUse
from agent.scoring.measures import Measure, Rules
from agent.scoring.score import MeasuredScore, select_answer
from agent.store import Judgement, Seat
from agent.vocabulary import Reason, Response, Unscored

Judged = tuple[Seat, Judgement]  # a seat and the replies it is based on


def read_judged_answer(rules: Rules, response: Response) -> str | Unscored:
    """Return the text shown to judges, or the reason why the answer, such as a blank one, is not shown."""
    return select_answer(rules, response, "intramural")


def regrade(judged: Sequence[Judged], use: MetricUse, texts: tuple[str, ...]) -> list[Judged]:
    """Parse the stored replies of a jury's seats again, by the rules of this version.

    A seat whose judge must be asked again stays open, unless its reply is now a valid verdict.

    Args:
        judged: seats with the replies they are based on.
        use: the metric with the jury.
        texts: texts of the instance. Outside judges saw redacted texts, which are stored with their replies.
    """
    rubric = read_rubric(use)
    return [
        (_regrade_seat(seat, judgement, rubric, texts), judgement) for seat, judgement in judged
    ]


def _regrade_seat(seat: Seat, judgement: Judgement, rubric: Rubric, texts: tuple[str, ...]) -> Seat:
    if seat.judgement_key is None or not judgement.replies:
        return seat
    filled = fill_seat(seat.seat, seat.judgement_key, judgement, rubric, texts)
    is_still_open = filled.grades is None and is_open(seat)
    return seat if is_still_open else filled


def score_by_jury(
    rules: Rules, response: Response, judged: Sequence[Judged]
) -> Iterator[MeasuredScore]:
    """Yield the score of an answer under every measure that a jury grades.

    Args:
        rules: rules of the run.
        response: the model's answer.
        judged: the stored seats, in order.
    """
    for measure in rules.measures:
        if not measure.of_jury:
            continue
        answer = select_answer(rules, response, measure.rules)
        if isinstance(answer, Unscored):
            yield MeasuredScore(measure, answer)
        elif measure.rules == "intramural":
            yield MeasuredScore(measure, _score_by_our_rules(measure, judged))
        else:
            yield MeasuredScore(measure, _score_by_helm_rules(measure, answer, judged))


def _score_by_our_rules(measure: Measure, judged: Sequence[Judged]) -> float | Unscored:
    if not measure.use.judges:
        return Unscored(Reason.NOT_JUDGED)
    return compute_jury_score([seat for seat, _ in judged], measure.use)


def _score_by_helm_rules(
    measure: Measure, answer: str, judged: Sequence[Judged]
) -> float | Unscored:
    """Return the score by HELM's rules, which grade a blank answer without asking a judge."""
    if not measure.use.judges:
        return Unscored(Reason.NOT_JUDGED)
    if not answer.strip():
        return compute_helm_jury_score([], measure.use)
    is_seat_missing = len(judged) < len(measure.use.judges)
    if is_seat_missing or any(is_open(seat) for seat, _ in judged):
        return Unscored(Reason.NOT_JUDGED)
    rubric = read_rubric(measure.use)
    return compute_helm_jury_score(
        [_read_first_reply(judgement, rubric) for _, judgement in judged], measure.use
    )


def _read_first_reply(judgement: Judgement, rubric: Rubric) -> str | None:
    """Return the first reply without the mark that HELM does not ask judges to write; None if there is no reply."""
    if not judgement.replies:
        return None
    return remove_mark(judgement.replies[0].text, rubric, judgement.marker)
