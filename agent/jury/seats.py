"""Fill the seats of a jury from its judges' replies, and score an answer once enough seats have a valid verdict."""

import json
import math
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

from agent.jury.rubric import SCORE, Rubric, read_rubric
from agent.jury.verdict import MAX_CHARACTERS, Fault, Verdict, read_verdict
from agent.metrics import Judge, MetricUse
from agent.store.stored import RETRIED, Judgement, Seat
from agent.vocabulary import Reason, Response, Unscored

_MAX_SQUARED = 1e150  # upstream squares a score, and aborts if that overflows
# Reason of a seat that is empty because redaction for an outside judge failed, so that no text was sent.
WITHHELD = "withheld"


def compute_quorum(use: MetricUse) -> int:
    """Return the number of seats that must give a valid verdict: more than half, or the jury's own quorum if higher."""
    return count_needed_verdicts(len(use.judges), use.quorum)


def count_needed_verdicts(seats: int, quorum: int | None) -> int:
    """Return how many of `seats` must give a valid verdict; `quorum` is the jury's own, or None."""
    return max(seats // 2 + 1, quorum or 0)


def name_seats(judges: Sequence[Judge]) -> tuple[str, ...]:
    """Return a unique name for each seat, used in every page and file that names judges.

    The name is the judge's short name or, if it has none, the name of its model or else of its deployment. Names that
    several judges share are numbered.
    """
    judge_names = [judge.name or judge.model_name or judge.model_deployment for judge in judges]
    uses = Counter(judge_names)
    taken = {name for name in judge_names if uses[name] == 1}
    seat_names: list[str] = []
    for name in judge_names:
        seat_name = name if uses[name] == 1 else _number_name(name, taken)
        taken.add(seat_name)
        seat_names.append(seat_name)
    return tuple(seat_names)


def label_seats(judges: Sequence[Judge]) -> tuple[str, ...]:
    """Return the name of each seat, with the seed and the temperature of its judge if the jury sets them."""
    labels = []
    for name, judge in zip(name_seats(judges), judges, strict=True):
        sampling = describe_sampling(judge)
        labels.append(f"{name} ({sampling})" if sampling else name)
    return tuple(labels)


def describe_sampling(judge: Judge) -> str:
    """Return the seed and the temperature of a judge's requests; empty if the jury sets neither."""
    parts = []
    if judge.seed is not None:
        parts.append(f"seed {judge.seed}")
    if judge.temperature:
        parts.append(f"temperature {judge.temperature:g}")
    return ", ".join(parts)


def describe_equal_seats(judges: Sequence[Judge]) -> list[str]:
    """Return a warning for each deployment of which several seats always give the same verdict.

    At temperature 0 a seed changes nothing. Above it, seats with the same seed share one reply.
    """
    seats_by_source: dict[tuple[str, int | None, float], list[str]] = {}
    for name, judge in zip(name_seats(judges), judges, strict=True):
        seed = judge.seed if judge.temperature else None
        source = (judge.model_deployment or judge.model_name, seed, judge.temperature)
        seats_by_source.setdefault(source, []).append(name)
    warnings = []
    for (deployment, _, temperature), seats in seats_by_source.items():
        if len(seats) < 2:
            continue
        sampling = "with one seed and temperature" if temperature else "at temperature 0"
        warnings.append(
            f"the seats {', '.join(seats)} always give the same verdict and are one opinion: each asks {deployment} "
            f"{sampling}. Name other models, or give each seat its own seed and a temperature above 0"
        )
    return warnings


def _number_name(name: str, taken: Set[str]) -> str:
    """Return the name with the first number that makes it unique."""
    number = 1
    while f"{name} ({number})" in taken:
        number += 1
    return f"{name} ({number})"


def cut_reply(reply: Response) -> Response:
    """Return a reply cut to a length that can be stored. A reply that is too long to be read still is after the cut."""
    most = MAX_CHARACTERS + 1
    return replace(reply, text=reply.text[:most], reasoning=reply.reasoning[:most])


def is_too_long(reply: Response) -> bool:
    """Return whether a reply is too long to be read. Its judge is not asked again, because it would repeat itself."""
    return len(reply.text) > MAX_CHARACTERS


def read_reply(
    reply: Response, rubric: Rubric, shown: tuple[str, ...], marker: str = ""
) -> Verdict | Fault:
    """Return the verdict in a judge's reply, or the fault to name in the request for a correction."""
    if is_too_long(reply):
        return Fault.TOO_LONG
    if reply.finish_reason == "content_filter":
        return Fault.FILTERED
    if reply.finish_reason == "length":
        return Fault.CUT_OFF
    return read_verdict(reply.text, rubric, shown, marker)


def fill_seat(
    seat: int, key: bytes, judgement: Judgement, rubric: Rubric, texts: tuple[str, ...]
) -> Seat:
    """Return a seat with the grades of its first valid reply, or with the fault of its last reply.

    Args:
        seat: the position in the jury, from 0.
        key: the key of the judgement.
        judgement: the stored replies: the first, and the corrected one if there is one. Without replies the seat
            stays open.
        rubric: the rubric of the jury.
        texts: the texts of the instance, used if the judgement does not state which texts its judge saw.
    """
    if not judgement.replies:
        return Seat(seat, None, Reason.NOT_ASKED)
    shown_texts = judgement.shown or texts
    fault = Fault.NO_TEXT
    for number, reply in enumerate(judgement.replies):
        verdict = read_reply(reply, rubric, shown_texts, judgement.marker)
        if isinstance(verdict, Verdict):
            return Seat(seat, dict(verdict.grades), None, repaired=number > 0, judgement_key=key)
        fault = verdict
    return Seat(seat, None, fault, repaired=len(judgement.replies) > 1, judgement_key=key)


def is_open(seat: Seat) -> bool:
    """Return whether a seat lacks a reply for a temporary reason, so that the next run asks its judge again."""
    if seat.grades is not None:
        return False
    return seat.reason is None or seat.reason == WITHHELD or seat.reason in RETRIED


def compute_jury_score(seats: Sequence[Seat], use: MetricUse) -> float | Unscored:
    """Return the score of one answer on the jury's own scale: the mean of the seats' mean grades.

    Args:
        seats: filled or not; a missing seat counts as open.
        use: the jury, with its judges.
    """
    if not use.judges:
        return Unscored(Reason.NOT_JUDGED)
    seat_scores: dict[int, float] = {}
    for seat in seats:
        # A stored seat may belong to an earlier, larger jury.
        if seat.grades and seat.seat < len(use.judges):
            seat_scores[seat.seat] = _compute_mean(list(seat.grades.values()))
    if len(seat_scores) >= compute_quorum(use):
        return _compute_mean(list(seat_scores.values()))
    closed_seats = {seat.seat for seat in seats if not is_open(seat)}
    if closed_seats.issuperset(range(len(use.judges))):
        return Unscored(Reason.NO_QUORUM)
    return Unscored(Reason.NOT_JUDGED)


def _compute_mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def compute_helm_jury_score(first_replies: Sequence[str | None], use: MetricUse) -> float:
    """Return the score by upstream's rule, with its faults: truncated decimals, no check of ranges, and a default.

    Upstream parses the text from the first to the last brace as JSON, and adds a brace after one kind of error. Judges
    of the same name count as one judge. The mean is taken over all criteria of all readable replies, including extra
    keys. The default applies to a blank answer, which upstream shows to no judge, and if no reply is readable: 1 for a
    jury with criteria, 0 for a jury with its own prompt. A reply that would abort upstream's run (an extra key without
    a score, a score that is not a number) counts as unreadable.

    Args:
        first_replies: by seat; None if no reply came. Upstream requests no corrections.
        use: the jury.
    """
    rubric = read_rubric(use)
    replies: dict[object, str | None] = {}
    for seat, reply in enumerate(first_replies):
        replies[_name_helm_judge(use, seat) or seat] = reply
    scores: list[int] = []
    for reply in replies.values():
        if reply is not None:
            scores += _read_helm_scores(reply, rubric)
    if scores:
        return sum(scores) / len(scores)
    return 0.0 if use.prompt else 1.0


def _name_helm_judge(use: MetricUse, seat: int) -> str | None:
    """Return the name under which upstream stores a judge's reply; None for a seat without a judge."""
    if seat >= len(use.judges):
        return None
    judge = use.judges[seat]
    if use.prompt:
        return judge.model_deployment
    return judge.name or judge.model_deployment


def _read_helm_scores(reply: str, rubric: Rubric) -> list[int]:
    try:
        verdict = _read_helm_json(reply)
        for criterion in rubric.criteria:
            if not _has_helm_fields(verdict, criterion, rubric.fields[criterion]):
                return []
        scores = [int(value[SCORE]) for value in verdict.values()]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return []
    if any(abs(score) >= _MAX_SQUARED for score in scores):
        return []
    return scores


def _read_helm_json(reply: str) -> Any:
    start, end = reply.find("{"), reply.rfind("}")
    text = reply[start : end + 1] if 0 <= start < end else reply
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Expecting ',' delimiter":
            return json.loads(text + "}")
        raise


def _has_helm_fields(verdict: Any, criterion: str, fields: Sequence[str]) -> bool:
    if criterion not in verdict:
        return False
    return all(field in verdict[criterion] for field in (*fields, SCORE))
