"""What the seats of a jury make of one answer, by our rules and by HELM's. Pure."""

from collections.abc import Iterator, Sequence

from agent.evaluation.measures import Rules
from agent.evaluation.score import Verdict, answer_of
from agent.jury.seats import helm_jury_score, is_open, jury_score
from agent.store import Judgement, Seat
from agent.vocabulary import Reason, Response, Unscored

Judged = tuple[Seat, Judgement]  # a seat, and the replies that it rests on


def judged_answer(rules: Rules, response: Response) -> str | Unscored:
    """Return the text that judges are shown, or why there is none: a blank answer never goes to them."""
    judged = [answer_of(rules, response, measure.rules) for measure in rules.measures if measure.of_jury]
    shown = next((answer for answer in judged if isinstance(answer, str) and answer.strip()), None)
    return shown if shown is not None else next(iter(judged), Unscored(Reason.NOT_APPLICABLE))


def jury_verdicts(rules: Rules, response: Response, judged: Sequence[Judged]) -> Iterator[Verdict]:
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
        answer = answer_of(rules, response, measure.rules)
        seats = len(measure.use.judges)
        if isinstance(answer, Unscored):
            yield Verdict(measure, answer)
        elif measure.rules == "intramural":
            found = jury_score([seat for seat, _ in judged], measure.use) if seats else Unscored(Reason.NOT_JUDGED)
            yield Verdict(measure, found)
        elif not seats or (answer.strip() and (len(judged) < seats or any(is_open(seat) for seat, _ in judged))):
            yield Verdict(measure, Unscored(Reason.NOT_JUDGED))
        else:
            replies = [judgement.replies[0].text if judgement.replies else None for _, judgement in judged]
            yield Verdict(measure, helm_jury_score(replies if answer.strip() else [], measure.use))
