"""Forecast how long many requests take, and how many tokens they use, from the answers that have come. No input/output.

Answers come in rounds if a server takes several requests at once, so the first answers tell only roughly how many
requests a second it answers. A forecast is therefore an interval. It assumes that the answers to come resemble those
that have come.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agent.inference.server_figures import ServerFigures
from agent.io.wording import format_range_s
from agent.statistics.prediction import NORMAL_DEVIATE, Range, Sample
from agent.vocabulary import Failure, Response

SEEN_FIRST = 20  # answers before the first forecast
_DRIFT = 0.1  # share by which a server's speed may change; other users share its processor


@dataclass(frozen=True, slots=True)
class TokenRange:
    """Tokens of all requests to one server."""

    prompt: Range
    completion: Range


@dataclass(frozen=True, slots=True)
class WorkForecast:
    """A forecast of all the work, including the part that was done when it was made.

    Attributes:
        seconds: wall-clock time.
        tokens: by the name of the deployment; without servers that did not count the tokens of every reply.
    """

    seconds: Range
    tokens: Mapping[str, TokenRange] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorkTaken:
    """The forecast after the first answers, and what the same work then took.

    Attributes:
        forecast: None if there were too few answers for one.
        seconds: wall-clock time.
        servers: names of the deployments that were asked.
        prompt_tokens, completion_tokens: by the name of the deployment; without servers that did not count the tokens
            of every reply.
        figures: the server's own figures about this time; None if it has none, or if several servers were asked.
    """

    forecast: WorkForecast | None
    seconds: float
    servers: tuple[str, ...]
    prompt_tokens: Mapping[str, int]
    completion_tokens: Mapping[str, int]
    figures: ServerFigures | None = None


def forecast_seconds(
    total: float, done: int, in_flight: int, elapsed: float, variation: float, longest_s: float
) -> Range:
    """Return the seconds that `total` answers take from the first request to the last answer.

    Args:
        total: number of answers.
        done: how many have come, at least 1.
        in_flight: maximum number of concurrent requests.
        elapsed: seconds since the first request.
        variation: standard deviation of the time of an answer, as a share of its mean.
        longest_s: seconds by which the slowest answer exceeds the mean, since the slowest of the last answers ends the
            work.
    """
    rest = (total - done) / total
    # If answers come evenly, each request in flight is half done. If they come in rounds, none of it is done yet.
    half = min(in_flight, total) / 2
    even = elapsed * (total + half) / (done + half)
    rounds = elapsed * (total + half) / done
    spread = _DRIFT * rest + NORMAL_DEVIATE * variation * math.sqrt(rest / done)
    return Range(max(elapsed, even / (1 + spread)), rounds * (1 + spread) + longest_s)


@dataclass(slots=True)
class _Server:
    """The replies of one server.

    Attributes:
        questions: number of first requests that the work needs at most; corrections come on top.
        skipped: number of these that were found unnecessary.
    """

    questions: int
    skipped: int = 0
    first_replies: int = 0
    replies: int = 0
    uncounted: int = 0
    prompt: Sample = field(default_factory=Sample)
    completion: Sample = field(default_factory=Sample)

    def count(self, reply: Response | Failure, *, is_correction: bool) -> None:
        self.replies += 1
        self.first_replies += not is_correction
        if isinstance(reply, Failure):
            return
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            self.uncounted += 1
            return
        self.prompt.add(reply.prompt_tokens)
        self.completion.add(reply.completion_tokens)

    def forecast(self) -> TokenRange | None:
        if self.uncounted or not self.prompt.count or not self.first_replies:
            return None
        # Failed requests have no tokens, and some replies have to be corrected, as many as among those seen.
        share = self.prompt.count / self.first_replies
        expected = expect_work(self.questions, self.first_replies, self.skipped)
        corrected = min(1.0, abs(share - 1))
        rest = max(0.0, 1 - self.first_replies / max(1.0, expected.high))
        spread = NORMAL_DEVIATE * rest * math.sqrt(corrected * (1 - corrected) / self.first_replies)
        least = max(self.prompt.count, round(expected.low * (share - spread)))
        most = max(self.prompt.count, round(expected.high * (share + spread)))
        return TokenRange(
            prompt=_predict_between(self.prompt, least, most),
            completion=_predict_between(self.completion, least, most),
        )


def _predict_between(sample: Sample, least: int, most: int) -> Range:
    return Range(sample.predict_total(least).low, sample.predict_total(most).high)


def expect_work(planned: int, done: int, skipped: int) -> Range:
    """Return how many pieces of work there are, of which `skipped` turned out to be unnecessary.

    Those that are left may turn out so in the same share, or not at all.
    """
    most = planned - skipped
    share = done / (done + skipped) if done else 1.0
    return Range(done + max(0, most - done) * share, most)


class LiveForecast:
    """A forecast of one piece of work that is renewed with every answer.

    Attributes:
        first: the forecast after the first answers; None until then.
    """

    def __init__(
        self,
        answers: int,
        in_flight: int,
        questions: Mapping[str, int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin now.

        Args:
            answers: number of answers to wait for.
            in_flight: maximum number of concurrent requests.
            questions: number of first requests, by the name of the deployment.
            clock: the time in seconds.
        """
        self.first: WorkForecast | None = None
        self._answers = answers
        self._in_flight = in_flight
        self._clock = clock
        self._began = clock()
        self._done = 0
        self._skipped = 0
        self._seconds = Sample()
        self._servers = {name: _Server(number) for name, number in questions.items()}
        # Before each of the concurrent requests was answered once, nothing tells a fast server from a full one.
        self._seen_first = max(SEEN_FIRST, in_flight)

    def count_reply(
        self, server: str, reply: Response | Failure, *, is_correction: bool = False
    ) -> None:
        """Record a reply to a request that was sent."""
        self._servers[server].count(reply, is_correction=is_correction)
        if isinstance(reply, Response):
            self._seconds.add(reply.seconds)

    def count_answer(self) -> None:
        """Record that an answer is complete, after the last of its replies."""
        self._done += 1
        if self.first is None and self._seen_first <= self._done < self._answers - self._skipped:
            self.first = WorkForecast(self._forecast_seconds(), self._forecast_tokens())

    def skip_answer(self) -> None:
        """Record that an answer turned out to need no request."""
        self._skipped += 1

    def skip_question(self, server: str) -> None:
        """Record that a question to this server need not be asked, because its reply is known."""
        self._servers[server].skipped += 1

    def estimate_remaining(self) -> Range | None:
        """Return the seconds from now to the last answer; None before there is a forecast."""
        if self.first is None or self._done >= self._answers - self._skipped:
            return None
        return self._forecast_seconds().shift(self._began - self._clock())

    def describe_remaining(self) -> str:
        """Return the remaining time in words for a progress display; "" before there is a forecast."""
        remaining = self.estimate_remaining()
        return "" if remaining is None else f"{format_range_s(remaining.low, remaining.high)} left"

    def end(self) -> WorkTaken:
        """Return the first forecast beside the work done since the beginning."""
        prompt_tokens: dict[str, int] = {}
        completion_tokens: dict[str, int] = {}
        for name, server in self._servers.items():
            if server.prompt.count and not server.uncounted:
                prompt_tokens[name] = round(server.prompt.total)
                completion_tokens[name] = round(server.completion.total)
        return WorkTaken(
            self.first,
            self._clock() - self._began,
            tuple(self._servers),
            prompt_tokens,
            completion_tokens,
        )

    def _forecast_seconds(self) -> Range:
        expected = expect_work(self._answers, self._done, self._skipped)
        return Range(
            self._forecast_total_seconds(expected.low).low,
            self._forecast_total_seconds(expected.high).high,
        )

    def _forecast_total_seconds(self, answers: float) -> Range:
        return forecast_seconds(
            answers,
            self._done,
            self._in_flight,
            self._clock() - self._began,
            self._seconds.variation,
            self._seconds.highest - self._seconds.mean,
        )

    def _forecast_tokens(self) -> dict[str, TokenRange]:
        tokens: dict[str, TokenRange] = {}
        for name, server in self._servers.items():
            forecast = server.forecast()
            if forecast is not None:
                tokens[name] = forecast
        return tokens
