"""Answers are scored as they arrive and written in batches; a store that refuses a batch ends the run."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from agent.errors import StoreError
from agent.io.progress import Progress
from agent.metrics import AnswerParser, MetricUse
from agent.runs import score_writer
from agent.runs.score_writer import ScoreWriter
from agent.scoring.batching import KEEP_EVERY_ANSWERS
from agent.scoring.measures import Rules
from agent.vocabulary import Failure, Instance, Message, Reason, Reference, Response

INSTANCE = Instance("1", "1", (Message("user", "q"),), (Reference("Yes", correct=True),))
YES = Response("Yes", "", "stop", None, None, 0.0)
RULES = Rules.of((MetricUse("exact_match"),), "intramural", AnswerParser("text"), "l")


class Batches:
    """Stands for the store's answers: keeps the batches that it is given, or refuses them."""

    def __init__(self, error: StoreError | None = None) -> None:
        self.sizes: list[tuple[int, int]] = []  # answers and scores of each batch
        self._error = error

    def settle(
        self, run_id: str, answers: list[Any], scores: list[Any], labels: list[Any], **more: Any
    ) -> None:
        if self._error is not None:
            raise self._error
        self.sizes.append((len(answers), len(scores)))


def make_writer(batches: Batches) -> ScoreWriter:
    return ScoreWriter(SimpleNamespace(answers=batches), RULES, "run", Progress(quiet=True))  # type: ignore[arg-type]


def test_answers_are_written_in_full_batches_and_the_rest_at_the_end():
    batches = Batches()

    async def ask() -> None:
        writer = make_writer(batches)
        with writer.asking():
            for number in range(KEEP_EVERY_ANSWERS + 1):
                writer.keep(b"%d" % number, [(number, INSTANCE)], YES)

    asyncio.run(ask())
    assert batches.sizes == [(KEEP_EVERY_ANSWERS, KEEP_EVERY_ANSWERS), (1, 1)]


def test_one_answer_scores_every_instance_that_shares_its_question():
    batches = Batches()

    async def ask() -> None:
        writer = make_writer(batches)
        with writer.asking():
            writer.keep(b"k", [(0, INSTANCE), (3, INSTANCE)], YES)

    asyncio.run(ask())
    assert batches.sizes == [(1, 2)]


@pytest.mark.parametrize(
    ("failure", "counts"),
    [
        (Failure(Reason.TIMEOUT), (2, 0, 0)),
        (Failure(Reason.NOT_ASKED), (2, 1, 2)),
        (Failure(Reason.CONTENT_FILTER, 200), (0, 0, 0)),  # settled: the same would come back
        (Failure(Reason.EMPTY, 200), (0, 0, 0)),
        (Failure(Reason.CONTEXT_LENGTH), (0, 1, 2)),  # does not fit, and never will: not sent
        (Failure(Reason.CONTEXT_LENGTH, 400), (0, 0, 0)),  # sent, and refused by the server
    ],
)
def test_failures_are_counted_by_whether_the_question_was_sent(
    failure: Failure, counts: tuple[int, int, int]
):
    async def ask() -> ScoreWriter:
        writer = make_writer(Batches())
        with writer.asking():
            writer.keep(b"k", [(0, INSTANCE), (3, INSTANCE)], failure)
        return writer

    writer = asyncio.run(ask())
    assert (writer.failed, writer.not_sent, writer.not_sent_for) == counts


def test_a_batch_that_a_timer_could_not_write_ends_the_run_at_the_next_answer(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(score_writer, "KEEP_EVERY_S", 0)

    async def ask() -> None:
        writer = make_writer(Batches(StoreError("the store cannot be written")))
        writer.keep(b"1", [(0, INSTANCE)], YES)
        await asyncio.sleep(0.05)
        with pytest.raises(StoreError, match="cannot be written"):
            writer.keep(b"2", [(1, INSTANCE)], YES)

    asyncio.run(ask())
