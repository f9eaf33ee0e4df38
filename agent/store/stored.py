"""What is read from the store, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent.store.run_details import RunDetails
from agent.vocabulary import Instance, Reason, Response, Unscored

# Reasons that say nothing about the model: such an instance is asked again by the next run.
RETRIED = frozenset(
    {Reason.SERVER_ERROR, Reason.BAD_REPLY, Reason.TIMEOUT, Reason.UNREACHABLE, Reason.NOT_ASKED}
)


@dataclass(frozen=True, slots=True)
class Run:
    """One stored run."""

    run_id: str
    suite: str
    name: str
    benchmark: str
    model: str
    deployment: str
    details: RunDetails
    state: Literal["asking", "ended"]
    started_at: int
    ended_at: int | None

    @property
    def imported(self) -> bool:
        """Whether it was made elsewhere, so that nobody here asked its model or scored its answers."""
        return self.details.origin is not None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Keys and values of its name, in order: what its run entry says."""
        words = (pair.partition("=") for pair in self.name.partition(":")[2].split(","))
        return [(key, value) for key, equals, value in words if equals]


@dataclass(frozen=True, slots=True)
class UnitScore:
    """One instance's score under one metric, with keyed hashes instead of identities."""

    unit_key: bytes
    instance_key: bytes
    value: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class RunScore:
    """A metric that only a whole run has. `n` instances of `units` count; there is no interval where nothing varies.

    `floor` is its value if answers that hold nothing to score counted as wrong.
    """

    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    units: int
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class StoredInstance:
    """Everything the store knows of one instance of a run. Texts are None after a purge or before an answer."""

    position: int
    instance_key: bytes
    instance: Instance | None
    response: Response | None
    scores: Mapping[str, float | Unscored]
    request_key: bytes = b""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The replies of one judge to one request, with all that is needed to read them again under other settings.

    Attributes:
        replies: its first reply, and the one to a repair request if one was sent.
        marker: the mark that the judge was asked to put around its verdict; empty if none.
        shown: the texts of the case as this judge was shown them, if not as they are: a judge outside.
    """

    replies: tuple[Response, ...]
    marker: str = ""
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seat:
    """The verdict of one seat of a jury about one answer.

    Attributes:
        seat: from 0, in the order of the jury.
        grades: criterion -> number on the jury's own scale; None without a valid verdict.
        reason: why there is none: a word of `agent.jury.verdict.Fault`, or a `Reason` where no reply came.
        repaired: whether the judge was asked to mend its first reply.
        judgement_key: of the stored replies; None: there are none.
    """

    seat: int
    grades: Mapping[str, float] | None
    reason: str | None
    repaired: bool = False
    judgement_key: bytes | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of a run's answers, each counted once however many instances share it.

    Attributes:
        answers: responses that the run's scores rest on, also those that an earlier run had brought.
        prompt_tokens, completion_tokens: as the server counted them.
        uncounted: answers of which the server did not say both, or that were kept before this was noted.
        attempts: requests sent for these answers, retries included.
        shortened: answers to a prompt that was shortened.
        left_out_tokens: tokens left out of those prompts, in all.
        answer_seconds: from sending to reading, summed over answers.
        asked_seconds: wall time that this run spent asking; 0 where everything was there already.
    """

    answers: int
    prompt_tokens: int
    completion_tokens: int
    uncounted: int
    attempts: int
    shortened: int
    left_out_tokens: int
    answer_seconds: float
    asked_seconds: float
