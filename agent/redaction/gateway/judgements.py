"""What a jury gave for stored answers, before redaction; and a judge's words as they mean, not as they are spelt."""

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

# JSON's ways to write a character that may stand inside a name: `Anna\nKowalska`, `\u004bowalska`.
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/bfnrt]))")
_LETTERS = {"n": "\n", "r": "\n", "t": "\t", "b": " ", "f": " "}  # others stand for themselves
_LAYERS = 8  # of escapes within escapes that are undone; deeper ones are taken apart


@dataclass(frozen=True, slots=True)
class SeatJudgement:
    """What one seat of a jury gave for an answer, not cleared.

    Attributes:
        metric: the jury's score that it counts for.
        judge: what the judge is called.
        seat: its grades, or why there are none.
        words: criterion -> field -> what the verdict says there; empty without a verdict, and after a purge.
        replies: as the judge sent them, the first and the repair.
    """

    metric: str
    judge: str
    seat: "Seat"
    words: Mapping[str, Mapping[str, str]]
    replies: "tuple[Response, ...]"


def judged(store: "Store", run: "Run", instances: "Sequence[StoredInstance]") -> dict[int, list[SeatJudgement]]:
    """Return what every seat gave for some instances of a run, by position. `run` names judges as they are shown."""
    juries = {metric.name: metric.jury for metric in run.details.metrics if metric.jury is not None}
    if not juries:
        return {}
    names = {metric: name_seats(jury.judges) for metric, jury in juries.items()}
    cases = {stored.position: stored for stored in instances}
    found: dict[int, list[SeatJudgement]] = {}
    for position, seats in store.juries.read_every_seat(run.run_id, list(cases)).items():
        texts = _texts(cases[position])
        for metric, seat, judgement in seats:
            jury, named = juries.get(metric), names.get(metric, ())
            words = _words(jury, seat, judgement, texts)
            name = named[seat.seat] if seat.seat < len(named) else f"judge {seat.seat + 1}"
            one = SeatJudgement(metric, name, seat, words, judgement.replies)
            found.setdefault(position, []).append(one)
    return found


def legible(text: str) -> str:
    """Return `text` with JSON's escapes undone, so that no name hides in the way it is spelt."""
    for _ in range(_LAYERS):
        plain = _ESCAPE.sub(_letter, text)
        if plain == text:
            return _joined(text)
        text = plain
    return _joined(text.replace("\\", " "))


def _letter(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _LETTERS.get(escape[2], escape[2])


def _joined(text: str) -> str:
    """Return `text` with each pair of surrogates as the one character it stands for."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _texts(stored: "StoredInstance") -> tuple[str, ...]:
    """Return what judges inside were shown; empty where it is gone."""
    if stored.instance is None or stored.response is None:
        return ()
    return build_matter(stored.instance, stored.response.text).texts


def _words(
    jury: "KeptJury | None", seat: "Seat", judgement: "Judgement", texts: tuple[str, ...]
) -> Mapping[str, Mapping[str, str]]:
    """Return what the reply that filled the seat says beside its grades."""
    if seat.grades is None or not texts:
        return {}
    rubric = _rubric(jury, seat.grades)
    for reply in reversed(judgement.replies):
        verdict = read_verdict(reply.text, rubric, judgement.shown or texts, judgement.marker)
        if isinstance(verdict, Verdict) and verdict.grades == seat.grades:
            return verdict.words
    return {}


def _rubric(jury: "KeptJury | None", grades: Mapping[str, float]) -> Rubric:
    """Return the rubric of a jury as its run keeps it; of an imported one nothing is known but what it graded."""
    if jury is None:
        return Rubric(tuple(grades), dict.fromkeys(grades, ()), USUAL_SCALE)
    criteria = tuple(jury.criteria or grades)
    return Rubric(criteria, {criterion: jury.fields.get(criterion, ()) for criterion in criteria}, jury.scale)
