"""Runs with a jury, filled without asking any judge: what `intramural run` leaves once all have replied."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent.catalog.benchmark import survey_benchmarks
from agent.jury.rubric import read_rubric
from agent.jury.seats import compute_jury_score, fill_seat
from agent.metrics import AnswerParser, Judge
from agent.scoring.measures import Rules
from agent.store import Store
from agent.store.stored import Judgement, Seat
from agent.vocabulary import Reason, Response
from tests.agent.service.filled_site import MODEL, Case, FilledSite

ENTRY = f"medication_qa:model={MODEL}"
JUDGES = (
    Judge("local/a", "meta/llama-3.3-70b", "llama"),
    Judge("local/b", "qwen/qwen3-32b", ""),
    Judge("local/c", "x/y", "y"),
)
CRITERIA = ("accuracy", "completeness", "clarity")
Replies = Sequence[str | Response] | Reason  # first and repair, or why no reply came


def verdict(grade: float = 4, explanation: str = "As the reference says.", **more: Any) -> str:
    """A reply that grades every criterion the same."""
    return json.dumps(
        {name: {"explanation": explanation, "score": grade} for name in CRITERIA} | more
    )


def add_judged(
    filled: FilledSite,
    cases: Sequence[Case],
    replies: Mapping[int, Sequence[Replies]],
    *,
    judges: Sequence[Judge] = JUDGES,
    **options: Any,
) -> str:
    """Store a run of MedicationQA whose judges gave `replies`, by position and seat; return its id."""
    catalogue, _ = survey_benchmarks(filled.site.own_benchmarks)
    uses = [
        replace(use, judges=tuple(judges)) if use.name == "jury_score" else use
        for use in catalogue["medication_qa"].metrics[:1]
    ]
    rules = Rules.of(uses, "intramural", AnswerParser("text"), "")
    run_id = filled.add(
        cases,
        entry=ENTRY,
        metrics=[metric.to_json() for metric in rules.list_stored_metrics()],
        **options,
    )
    with filled.site.store() as store:
        keep_seats(store, run_id, cases, replies)
    return run_id


def keep_seats(
    store: Store, run_id: str, cases: Sequence[Case], replies: Mapping[int, Sequence[Replies]]
) -> None:
    """Keep what the seats of the run's jury gave, by position."""
    run = store.runs.find(run_id)
    assert run is not None
    (use,) = [measure.use for measure in Rules.of_run(run.details).measures if measure.of_jury]
    judgements: list[tuple[bytes, Judgement]] = []
    seats: list[tuple[int, str, Seat]] = []
    scores = []
    for position, of in replies.items():
        result = cases[position].result
        assert isinstance(result, Response)
        own = []
        for seat, given in enumerate(of):
            if isinstance(given, Reason):
                own.append(Seat(seat, None, given.value))
                continue
            key = store.identities.judgement_key(f"seat {seat}", f"{run_id} {position}".encode())
            sent = (
                one if isinstance(one, Response) else Response(one, "", "stop", 9, 9, 0.1)
                for one in given
            )
            judgement = Judgement(tuple(sent))
            judgements.append((key, judgement))
            own.append(fill_seat(seat, key, judgement, read_rubric(use), (result.text,)))
        seats += [(position, "jury_score", seat) for seat in own]
        scores.append((position, "jury_score", compute_jury_score(own, use)))
    store.scores.keep(run_id, scores, judgements, seats)
