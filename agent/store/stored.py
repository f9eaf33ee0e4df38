"""Plain values that the store returns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent.store.run_details import RunDetails
from agent.vocabulary import Instance, Reason, Response, Unscored

# Reasons that are not the model's fault: the next run asks such an instance again.
RETRIED = frozenset(
    {Reason.SERVER_ERROR, Reason.BAD_REPLY, Reason.TIMEOUT, Reason.UNREACHABLE, Reason.NOT_ASKED}
)


@dataclass(frozen=True, slots=True)
class Run:
    """One stored run.

    Attributes:
        owner: id of the account whose run it is; None for a run made on the command line.
        is_private: whether only its owner sees it on the service.
    """

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
    owner: str | None = None
    is_private: bool = False

    @property
    def imported(self) -> bool:
        """Whether the run was made elsewhere, so that this site neither asked its model nor scored its answers."""
        return self.details.origin is not None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The arguments of the run entry, which is the run's name, in order."""
        words = (pair.partition("=") for pair in self.name.partition(":")[2].split(","))
        return [(key, value) for key, equals, value in words if equals]


@dataclass(frozen=True, slots=True)
class UnitScore:
    """One instance's score under one metric, with keyed hashes for unit and instance."""

    unit_key: bytes
    instance_key: bytes
    value: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class RunScore:
    """The value of a whole-run metric over `n` instances and `units` units. The interval is None if nothing varies.

    `floor` is its value if answers that could not be scored count as wrong.
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
    """All stored data of one instance of a run.

    `instance` and `response` are None once purged; `response` is also None until the model has answered.
    """

    position: int
    instance_key: bytes
    instance: Instance | None
    response: Response | None
    scores: Mapping[str, float | Unscored]
    request_key: bytes = b""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The replies of one judge to one request, with everything needed to parse them again under other settings.

    Attributes:
        replies: the first reply, and the reply to a request for a correction if one was sent.
        marker: the marker that the judge was asked to put into its verdict; empty if none.
        shown: the redacted texts of the instance that an outside judge was shown; empty if the judge saw the original.
    """

    replies: tuple[Response, ...]
    marker: str = ""
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seat:
    """The verdict of one seat of a jury about one answer.

    Attributes:
        seat: number of the seat from 0, in the order of the jury.
        grades: criterion -> grade on the jury's scale; None without a valid verdict.
        reason: the reason for a missing verdict: a word of `agent.jury.verdict.Fault`, or a `Reason` if there was no
            reply.
        repaired: whether the judge was asked to correct its first reply.
        judgement_key: key of the stored replies; None if there are none.
    """

    seat: int
    grades: Mapping[str, float] | None
    reason: str | None
    repaired: bool = False
    judgement_key: bytes | None = None


@dataclass(frozen=True, slots=True)
class AnswerSize:
    """The size of one stored answer, or of one judgement with all its replies.

    Attributes:
        prompt_tokens, completion_tokens: as counted by the server.
        seconds: time from sending to reading.
        corrected: whether a judge was asked to correct its first reply.
    """

    prompt_tokens: int
    completion_tokens: int
    seconds: float
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of a run's answers; an answer shared by several instances counts once.

    Attributes:
        answers: number of responses behind the run's scores, including responses reused from earlier runs.
        prompt_tokens, completion_tokens: tokens as counted by the server.
        uncounted: number of answers without both token counts from the server.
        attempts: number of requests sent for these answers, including retries.
        shortened: number of answers to shortened prompts.
        left_out_tokens: total number of tokens cut from those prompts.
        answer_seconds: time from sending to reading, summed over answers.
        asked_seconds: wall time that this run spent asking; 0 if all answers were stored already.
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
