"""Queue the requests to one judge's server: questions about answers, and corrections of replies without a verdict."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from agent.inference.capabilities import Capabilities
from agent.inference.window import window_of
from agent.judging.jury_selection import SeatedJudge
from agent.jury.prompts import write_repair_messages
from agent.jury.rubric import Rubric
from agent.jury.seats import fill_seat, is_too_long
from agent.jury.verdict import Fault
from agent.jury.verdict_limits import (
    ENFORCING_SERVERS,
    build_response_format,
    limit_verdict_tokens,
)
from agent.store import Judgement, Seat
from agent.vocabulary import ChatRequest, Message, Response

# Corrections that were cut off in the most room before a judge is taken to ramble rather than to think.
_CUT_OFF_AT_MOST = 3


def enforces_schema(capabilities: Capabilities) -> bool:
    """Return whether a server makes a judge's verdict follow a JSON schema.

    If a small model fills the reply to the probe with white space, the probe cannot see it, but servers that are known
    to enforce schemas do.
    """
    state = capabilities.state("json_schema")
    return state == "honoured" or (state == "unknown" and capabilities.server in ENFORCING_SERVERS)


@dataclass(slots=True, eq=False)
class JudgeQuestion:
    """One request to a judge, with all the seats that wait for its reply.

    Attributes:
        key: the key of the judgement.
        request: the first request.
        texts: question, reference and answer, as shown to this judge.
        judgement: the replies so far.
        waiting: (position, seat) of each seat that waits for the reply.
        filled: the outcome of the replies so far; the seat's number is set later.
        has_most_room: whether a correction is asked for with the most room.
    """

    key: bytes
    request: ChatRequest
    texts: tuple[str, ...]
    judgement: Judgement
    waiting: list[tuple[int, int]]
    filled: Seat | None = None
    has_most_room: bool = False


@dataclass(slots=True, eq=False)
class JudgeServer:
    """One judge's server, with the seats that share its replies, and their remaining requests.

    Attributes:
        judge: the judge; its seat is the last of `seats`.
        capabilities: the features that the server honours.
        rubric: the rubric of the jury.
        seats: numbers of the seats.
        firsts: the questions that have not been asked yet.
        repairs: requests for corrections that have not been sent yet.
        thinks: whether the model thinks before it replies, by the probe, by its deployment, or by a reply.
        cut_off: number of corrections that were cut off although they had the most room, since the last that was not.
    """

    judge: SeatedJudge
    capabilities: Capabilities
    rubric: Rubric
    seats: list[int]
    firsts: Iterator[JudgeQuestion] = field(default_factory=lambda: iter(()))
    repairs: deque[tuple[JudgeQuestion, ChatRequest]] = field(default_factory=deque)
    thinks: bool = False
    cut_off: int = 0

    def __post_init__(self) -> None:
        """Find out whether the model is known to think."""
        self.thinks = self.judge.deployment.reasoning or self.capabilities.thinks

    def __iter__(self) -> Iterator[tuple[JudgeQuestion, ChatRequest]]:
        return self

    def __next__(self) -> tuple[JudgeQuestion, ChatRequest]:
        """Return the next request. Corrections come before new questions, so that answers are finished in order."""
        if self.repairs:
            return self.repairs.popleft()
        for question in self.firsts:
            # The first reply was stored earlier, so this request is for a correction.
            if self.repairs:
                return self.repairs.popleft()
            return question, question.request
        if self.repairs:
            return self.repairs.popleft()
        raise StopIteration

    def build_request(self, messages: tuple[Message, ...]) -> ChatRequest:
        """Return the request with these messages, with the most room that any judge could need.

        The key of a judgement is that of this request: a verdict that fits is the same in less room. Whether a model
        thinks may show only in its replies, and a busy server may not say how large its window is.
        """
        extra_body: dict[str, object] = dict(self.capabilities.extra_body)
        if enforces_schema(self.capabilities):
            schema = build_response_format(self.rubric, self.capabilities.server)
            extra_body["response_format"] = schema
        return ChatRequest(
            self.judge.deployment.served_model,
            messages,
            limit_verdict_tokens(self.rubric, None, thinks=True),
            temperature=self.judge.judge.temperature,
            seed=self.judge.judge.seed,
            extra_body=extra_body,
        )

    def fit_room(self, request: ChatRequest) -> ChatRequest:
        """Return the request as it is sent, with the room that the judge needs."""
        return replace(request, max_tokens=self._limit_tokens(thinks=self.thinks))

    def _limit_tokens(self, *, thinks: bool) -> int:
        window = window_of(self.judge.deployment, self.capabilities)
        return limit_verdict_tokens(self.rubric, window, thinks=thinks)

    def queue_repair(self, question: JudgeQuestion) -> bool:
        """Read the replies. If the only reply contains no verdict, queue a request for a correction and return True."""
        judgement = question.judgement
        self._note_thoughts(judgement.replies)
        question.filled = fill_seat(0, question.key, judgement, self.rubric, question.texts)
        if question.has_most_room:
            self._note_room(judgement.replies[-1])
        if (
            len(judgement.replies) != 1
            or question.filled.reason is None
            or is_too_long(judgement.replies[0])
        ):
            return False
        fault = Fault(question.filled.reason)
        reply = judgement.replies[0]
        messages = write_repair_messages(
            question.request.messages, reply.text, fault, self.rubric, judgement.marker
        )
        correction = replace(question.request, messages=messages)
        if fault is Fault.CUT_OFF and self.cut_off < _CUT_OFF_AT_MOST:
            # The model may think within its reply, where no mark shows it, or write in a language with short tokens.
            question.has_most_room = True
            correction = replace(correction, max_tokens=self._limit_tokens(thinks=True))
        else:
            correction = self.fit_room(correction)
        self.repairs.append((question, correction))
        return True

    def _note_room(self, correction: Response) -> None:
        """Learn from a correction in the most room whether the room that follows from the rubric is too small."""
        if correction.finish_reason == "length":
            self.cut_off += 1
            return
        self.cut_off = 0
        usual_room = self._limit_tokens(thinks=False)
        if correction.completion_tokens is not None and correction.completion_tokens > usual_room:
            self.thinks = True

    def _note_thoughts(self, replies: Iterable[Response]) -> None:
        if any(reply.reasoning.strip() for reply in replies):
            self.thinks = True
