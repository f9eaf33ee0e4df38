"""Read a jury's judgements of stored answers before redaction, decoding JSON escapes in the judges' words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.jury.prompts import build_matter
from agent.jury.rubric import Rubric
from agent.jury.seats import name_seats
from agent.jury.verdict import Verdict, read_verdict
from agent.vocabulary import USUAL_SCALE

if TYPE_CHECKING:
    from agent.store import KeptJury, Run, Store, StoredInstance
    from agent.store.stored import Judgement, Seat
    from agent.vocabulary import Response

# JSON escapes that may occur within a name: `Anna\nKowalska`, `\u004bowalska`.
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/bfnrt]))")
# The characters for escape letters; other escaped characters represent themselves.
_LETTERS = {"n": "\n", "r": "\n", "t": "\t", "b": " ", "f": " "}
# Maximum levels of nested escapes that are decoded. The backslashes of deeper ones are dropped, because a hostile reply
# may nest escapes without limit.
_LAYERS = 8


@dataclass(frozen=True, slots=True)
class SeatJudgement:
    """The judgement of an answer by one jury seat, before it is cleared.

    Attributes:
        metric: the metric of the jury's score.
        judge: the name of the judge.
        seat: the seat's grades, or the reason why it has none.
        words: texts of the verdict by criterion and field; empty without a verdict, and after a purge.
        replies: the judge's replies as received: the first reply and the correction.
    """

    metric: str
    judge: str
    seat: "Seat"
    words: Mapping[str, Mapping[str, str]]
    replies: "tuple[Response, ...]"


def read_seat_judgements(
    store: "Store", run: "Run", instances: "Sequence[StoredInstance]"
) -> dict[int, list[SeatJudgement]]:
    """Return the judgements of every seat for the given instances of a run, by position.

    Args:
        store: the store that contains the judges' replies.
        run: the run, whose details give the displayed names of the judges.
        instances: instances of the run.
    """
    juries = {metric.name: metric.jury for metric in run.details.metrics if metric.jury is not None}
    if not juries:
        return {}
    seat_names = {metric: name_seats(jury.judges) for metric, jury in juries.items()}
    stored_at = {stored.position: stored for stored in instances}
    judgements: dict[int, list[SeatJudgement]] = {}
    for position, seats in store.juries.read_every_seat(run.run_id, list(stored_at)).items():
        shown_texts = _list_shown_texts(stored_at[position])
        for metric, seat, judgement in seats:
            seat_judgement = SeatJudgement(
                metric=metric,
                judge=_name_judge(seat_names.get(metric, ()), seat),
                seat=seat,
                words=_read_words(juries.get(metric), seat, judgement, shown_texts),
                replies=judgement.replies,
            )
            judgements.setdefault(position, []).append(seat_judgement)
    return judgements


def undo_escapes(text: str) -> str:
    """Return `text` with JSON escapes decoded, so that redaction recognises escaped names."""
    for _ in range(_LAYERS):
        plain = _ESCAPE.sub(_read_escape, text)
        if plain == text:
            return _join_surrogates(text)
        text = plain
    return _join_surrogates(text.replace("\\", " "))


def _read_escape(escape: re.Match[str]) -> str:
    code, letter = escape.groups()
    return chr(int(code, 16)) if code else _LETTERS.get(letter, letter)


def _join_surrogates(text: str) -> str:
    """Return `text` with each surrogate pair replaced by the character it represents."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _name_judge(seat_names: Sequence[str], seat: "Seat") -> str:
    """Return the judge's name, or its number if the run lists too few names, as an imported run may."""
    return seat_names[seat.seat] if seat.seat < len(seat_names) else f"judge {seat.seat + 1}"


def _list_shown_texts(stored: "StoredInstance") -> tuple[str, ...]:
    """Return the texts shown to judges at this site; empty after a purge or without an answer."""
    if stored.instance is None or stored.response is None:
        return ()
    return build_matter(stored.instance, stored.response.text).texts


def _read_words(
    jury: "KeptJury | None", seat: "Seat", judgement: "Judgement", shown_texts: tuple[str, ...]
) -> Mapping[str, Mapping[str, str]]:
    """Return the texts that accompany the grades in the reply on which the seat's verdict is based."""
    if seat.grades is None or not shown_texts:
        return {}
    rubric = _build_rubric(jury, seat.grades)
    for reply in reversed(judgement.replies):
        verdict = read_verdict(reply.text, rubric, judgement.shown or shown_texts, judgement.marker)
        if isinstance(verdict, Verdict) and verdict.grades == seat.grades:
            return verdict.words
    return {}


def _build_rubric(jury: "KeptJury | None", grades: Mapping[str, float]) -> Rubric:
    """Return the jury's rubric as stored with its run; for an unknown jury, a rubric of only the graded criteria."""
    if jury is None:
        return Rubric(tuple(grades), dict.fromkeys(grades, ()), USUAL_SCALE)
    criteria = tuple(jury.criteria or grades)
    return Rubric(
        criteria, {criterion: jury.fields.get(criterion, ()) for criterion in criteria}, jury.scale
    )
