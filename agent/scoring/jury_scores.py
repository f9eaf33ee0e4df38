"""What the seats of a jury make of one answer, by our rules and by HELM's. Pure."""

from collections.abc import Iterator, Sequence

from agent.jury.rubric import Rubric, read_rubric
from agent.jury.seats import compute_helm_jury_score, compute_jury_score, fill_seat, is_open
from agent.jury.verdict import remove_mark
from agent.metrics import MetricUse
from agent.scoring.measures import Rules
from agent.scoring.score import MeasuredScore, select_answer
from agent.store import Judgement, Seat
from agent.vocabulary import Reason, Response, Unscored

Judged = tuple[Seat, Judgement]  # a seat, and the replies that it rests on


def read_judged_answer(rules: Rules, response: Response) -> str | Unscored:
    """Return the text that judges are shown, or why there is none: a blank answer never goes to them."""
    return select_answer(rules, response, "intramural")


def regrade(judged: Sequence[Judged], use: MetricUse, texts: tuple[str, ...]) -> list[Judged]:
    """Read the stored replies of a jury's seats again, by the rules of this version.

    A seat whose judge is to be asked again stays so, unless what it replied is a verdict now.

    Args:
        judged: seats with the replies that they rest on.
        use: their jury.
        texts: the case's. Judges outside were shown others, which are kept with their replies.
    """
    rubric = read_rubric(use)
    return [(_regraded(seat, judgement, rubric, texts), judgement) for seat, judgement in judged]


def _regraded(seat: Seat, judgement: Judgement, rubric: Rubric, texts: tuple[str, ...]) -> Seat:
    if seat.judgement_key is None or not judgement.replies:
        return seat
    filled = fill_seat(seat.seat, seat.judgement_key, judgement, rubric, texts)
    return seat if filled.grades is None and is_open(seat) else filled


def compute_jury_scores(rules: Rules, response: Response, judged: Sequence[Judged]) -> Iterator[MeasuredScore]:
    """Yield what an answer is worth under every measure that a jury gives.

    HELM grades a blank answer by default; its rule waits as ours does until every judge has replied something.

    Args:
        rules: the run's.
        response: what the model answered.
        judged: the seats in order, those that there are.
    """
    for measure in rules.measures:
        if not measure.of_jury:
            continue
        answer = select_answer(rules, response, measure.rules)
        seats = len(measure.use.judges)
        if isinstance(answer, Unscored):
            yield MeasuredScore(measure, answer)
        elif measure.rules == "intramural":
            found = (
                compute_jury_score([seat for seat, _ in judged], measure.use) if seats else Unscored(Reason.NOT_JUDGED)
            )
            yield MeasuredScore(measure, found)
        elif not seats or (answer.strip() and (len(judged) < seats or any(is_open(seat) for seat, _ in judged))):
            yield MeasuredScore(measure, Unscored(Reason.NOT_JUDGED))
        else:
            replies = [_first_reply(judgement, read_rubric(measure.use)) for _, judgement in judged]
            yield MeasuredScore(measure, compute_helm_jury_score(replies if answer.strip() else [], measure.use))


def _first_reply(judgement: Judgement, rubric: Rubric) -> str | None:
    """Return the first reply as it would be to upstream's prompt, which asks for no mark."""
    if not judgement.replies:
        return None
    return remove_mark(judgement.replies[0].text, rubric, judgement.marker)
