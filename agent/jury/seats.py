"""When an answer has a jury's score: more than half of the seats gave a valid verdict, each from its own judge."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent.jury.rubric import SCORE, Rubric, rubric_of
from agent.jury.verdict import MOST_CHARACTERS, Fault, Verdict, read_verdict
from agent.metrics import Judge, MetricUse
from agent.store.stored import RETRIED, Judgement, Seat
from agent.vocabulary import Reason, Response, Unscored

_MOST_SQUARED = 1e150  # upstream squares a score, and stops where that overflows
WITHHELD = "withheld"  # a seat's reason: the texts could not be cleared for a judge outside, so nothing was sent


def quorum_of(use: MetricUse) -> int:
    """Return how many seats must give a valid verdict: more than half of them, or what the jury asks for if higher."""
    return least_verdicts(len(use.judges), use.quorum)


def least_verdicts(seats: int, quorum: int | None) -> int:
    """Return the same of a jury of so many seats, which itself asks for `quorum` of them."""
    return max(seats // 2 + 1, quorum or 0)


def seat_names(judges: Sequence[Judge]) -> tuple[str, ...]:
    """Return what to call each seat, wherever judges are named: no two alike.

    That is the judge's short name, else its model's, else its deployment's; a name that several have is numbered.
    """
    plain = [judge.name or judge.model_name or judge.model_deployment for judge in judges]
    times = Counter(plain)
    taken = {name for name in plain if times[name] == 1}
    names = []
    for name in plain:
        own, number = name, 0
        while times[name] > 1 and (number == 0 or own in taken):
            number += 1
            own = f"{name} ({number})"
        taken.add(own)
        names.append(own)
    return tuple(names)


def cut_to_read(reply: Response) -> Response:
    """Return a reply of which no more is kept than could be read: one that is longer stays too long."""
    most = MOST_CHARACTERS + 1
    return replace(reply, text=reply.text[:most], reasoning=reply.reasoning[:most])


def is_too_long(reply: Response) -> bool:
    """Tell whether a reply is longer than is read, so that asking its judge again would only bring more."""
    return len(reply.text) > MOST_CHARACTERS


def read_reply(reply: Response, rubric: Rubric, shown: tuple[str, ...], marker: str = "") -> Verdict | Fault:
    """Read one reply of a judge. A `Fault` of a first reply is what the one repair request names."""
    if is_too_long(reply):
        return Fault.TOO_LONG
    if reply.finish_reason == "content_filter":
        return Fault.FILTERED
    if reply.finish_reason == "length":
        return Fault.CUT_OFF
    return read_verdict(reply.text, rubric, shown, marker)


def fill_seat(seat: int, key: bytes, judgement: Judgement, rubric: Rubric, texts: tuple[str, ...]) -> Seat:
    """Return what a seat gives by its stored replies: the first if it is valid, else the repair, else why neither is.

    Args:
        seat: from 0, in the order of the jury.
        key: the judgement's.
        judgement: its replies; without any the seat stays open.
        rubric: what a verdict must hold.
        texts: of the case, as a judge was shown them of whom the judgement says nothing else.
    """
    if not judgement.replies:
        return Seat(seat, None, Reason.NOT_ASKED)
    fault = Fault.NO_TEXT
    for i, reply in enumerate(judgement.replies):
        verdict = read_reply(reply, rubric, judgement.shown or texts, judgement.marker)
        if isinstance(verdict, Verdict):
            return Seat(seat, dict(verdict.grades), None, repaired=i > 0, judgement_key=key)
        fault = verdict
    return Seat(seat, None, fault, repaired=len(judgement.replies) > 1, judgement_key=key)


def is_open(seat: Seat) -> bool:
    """Tell whether no reply came for a reason that may pass, so that the next run asks this judge again."""
    return seat.grades is None and (seat.reason is None or seat.reason == WITHHELD or seat.reason in RETRIED)


def jury_score(seats: Sequence[Seat], use: MetricUse) -> float | Unscored:
    """Return the score of one answer on the jury's own scale: the mean over valid seats of each one's mean grade.

    Args:
        seats: what each gave; seats that are missing count as open.
        use: the jury, with its judges.
    """
    grades = {seat.seat: seat.grades for seat in seats if seat.grades and seat.seat < len(use.judges)}
    if use.judges and len(grades) >= quorum_of(use):
        return math.fsum(_mean(list(given.values())) for given in grades.values()) / len(grades)
    closed = {seat.seat for seat in seats if not is_open(seat)}
    if not use.judges or not closed.issuperset(range(len(use.judges))):
        return Unscored(Reason.NOT_JUDGED)
    return Unscored(Reason.NO_QUORUM)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def helm_jury_score(first_replies: Sequence[str | None], use: MetricUse) -> float:
    """Return the score by upstream's rule, with its faults: decimals cut off, no range, a default if nothing came out.

    The text from the first brace to the last is read as JSON, with a brace added on one error; judges of one name are
    one. The mean is over all criteria of all judges that came out, whatever keys they gave. For a blank answer, which
    upstream asks no judge about, and where no judge came out, it is 1 with criteria, and 0 with a prompt of its own.
    Where a reply stops upstream's run (an extra key that is no criterion, a score that is no number), that judge
    counts as not come out.

    Args:
        first_replies: by seat; None where none came. Repairs are not upstream's.
        use: the jury.
    """
    rubric = rubric_of(use)
    replies: dict[object, str | None] = {}
    for i, reply in enumerate(first_replies):
        judge = use.judges[i] if i < len(use.judges) else None
        name = judge and (judge.model_deployment if use.prompt else judge.name or judge.model_deployment)
        replies[name or i] = reply
    cut = [_helm_scores(reply, rubric) for reply in replies.values() if reply is not None]
    scores = [score for given in cut for score in given]
    if scores:
        return sum(scores) / len(scores)
    return 0.0 if use.prompt else 1.0


def _helm_scores(reply: str, rubric: Rubric) -> list[int]:
    try:
        given = _helm_json(reply)
        if all(_helm_has(given, criterion, rubric.fields[criterion]) for criterion in rubric.criteria):
            scores = [int(value[SCORE]) for value in given.values()]
            return scores if all(abs(score) < _MOST_SQUARED for score in scores) else []
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        pass
    return []


def _helm_json(reply: str) -> Any:
    start, end = reply.find("{"), reply.rfind("}")
    text = reply[start : end + 1] if 0 <= start < end else reply
    try:
        return json.loads(text)
    except json.JSONDecodeError as why:
        if why.msg == "Expecting ',' delimiter":
            return json.loads(text + "}")
        raise


def _helm_has(given: Any, criterion: str, fields: Sequence[str]) -> bool:
    return criterion in given and all(field in given[criterion] for field in (*fields, SCORE))
