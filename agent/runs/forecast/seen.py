"""Predict tokens and time of further answers, or judgements, from those that are stored. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from agent.statistics.prediction import Range, Sample
from agent.store import AnswerSize

SEEN_FIRST = 20  # answers; fewer say too little about the others
_DRIFT = 0.15  # share by which a server's speed may change between two runs
_SAME_LOAD = (
    0.75,
    1.6,
)  # number of concurrent requests, planned by measured, at which times are comparable


@dataclass(slots=True)
class SeenAnswers:
    """Answers of one deployment to questions of one benchmark, or judgements of one judge about such answers.

    Attributes:
        prompt_tokens, completion_tokens, seconds: of each answer; of a judgement with all its replies.
        corrected: number of judgements after a second request.
        asked_seconds: wall-clock time for all these answers; None if it is not known.
    """

    prompt_tokens: Sample = field(default_factory=Sample)
    completion_tokens: Sample = field(default_factory=Sample)
    seconds: Sample = field(default_factory=Sample)
    corrected: int = 0
    asked_seconds: float | None = None

    @property
    def count(self) -> int:
        """Number of answers."""
        return self.seconds.count

    @property
    def corrections(self) -> float:
        """The share of judgements after a second request."""
        return self.corrected / self.count if self.count else 0.0

    def add(self, sizes: Iterable[AnswerSize]) -> Self:
        """Add answers, and return this object."""
        for size in sizes:
            self.prompt_tokens.add(size.prompt_tokens)
            self.completion_tokens.add(size.completion_tokens)
            self.seconds.add(size.seconds)
            self.corrected += size.corrected
        return self

    def predict_seconds(self, answers: int, in_flight: int) -> Range | None:
        """Return the wall-clock seconds for further answers; None if the server was asked in another way before.

        Args:
            answers: number of further answers.
            in_flight: maximum number of concurrent requests.
        """
        if not answers or not self.seconds.total:
            return None
        spread = self.seconds.predict_more(answers)
        expected = self.seconds.mean * answers
        low, high = spread.low / expected - _DRIFT, spread.high / expected + _DRIFT
        half = min(in_flight, answers) / 2  # the last requests leave the server half idle
        if not self.asked_seconds:
            seconds = (answers + half) * self.seconds.mean / min(in_flight, answers)
            return Range(seconds, seconds).scale(max(0.0, low), high)
        measured_in_flight = self.seconds.total / self.asked_seconds
        smallest, largest = (factor * measured_in_flight for factor in _SAME_LOAD)
        if not smallest <= min(in_flight, self.count) <= largest:
            return None
        before = min(in_flight, self.count) / 2
        even = self.asked_seconds * (answers + half) / (self.count + before)
        rounds = self.asked_seconds * answers / self.count
        return Range(min(even, rounds), max(even, rounds)).scale(max(0.0, low), high)
