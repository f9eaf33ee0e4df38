"""The words the whole agent shares: instance, run entry, response, score and unscored.

Plain frozen values without behaviour beyond their own meaning; see the architecture page for the vocabulary.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

AccessLevel = Literal["public", "gated", "private"]
Scoring = Literal["intramural", "helm"]  # the rules a score was computed by
ScoringChoice = Literal["intramural", "helm", "both"]  # the rules a run is scored by
ParserKind = Literal["option_letter", "text", "json", "pattern"]


class Reason(StrEnum):
    """Why an instance has no score, or a request no response. Closed, so that it can be counted and shown."""

    EMPTY = "empty"  # the server answered with no text
    UNPARSED = "unparsed"  # the answer holds nothing the benchmark's parser accepts
    LENGTH = "length"  # cut off by max_tokens before (or inside) the answer
    CONTENT_FILTER = "content_filter"  # the server's filter withheld the answer
    CONTEXT_LENGTH = "context_length"  # the prompt does not fit the model
    SERVER_ERROR = "server_error"  # 4xx/5xx after all retries
    BAD_REPLY = "bad_reply"  # not JSON, truncated, HTML, no choices, or from a model other than the one probed
    TIMEOUT = "timeout"  # no reply within the limits
    UNREACHABLE = "unreachable"  # connection refused or broken
    NO_REFERENCE = "no_reference"  # the dataset has no usable gold for this instance
    NOT_APPLICABLE = "not_applicable"  # the metric asks nothing of such an instance or answer
    NOT_ASKED = "not_asked"  # the run stopped before this instance
    NOT_JUDGED = "not_judged"  # the answer is kept, and no jury has graded it yet
    NO_QUORUM = "no_quorum"  # the jury was asked, and too few of its seats gave a valid verdict
    NOT_MEASURED = "not_measured"  # the answer is kept, and this metric has yet to be computed
    NOT_IMPORTED = "not_imported"  # the imported run holds no such score for this instance


OWN_MAKING = frozenset({Reason.EMPTY, Reason.UNPARSED, Reason.LENGTH, Reason.CONTENT_FILTER})
"""Reasons that are of the model's own making: it was asked, and gave nothing that could be scored."""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference answer, in dataset order; `correct` marks gold (several may be)."""

    text: str
    correct: bool


@dataclass(frozen=True, slots=True)
class Shortenable:
    """The part of a prompt that may be shortened when the whole does not fit the model: never the question.

    Attributes:
        message: index into `Instance.messages`.
        start, end: the part, in characters of that message's content, end exclusive.
        keep: which end of the part stays: "start" cuts from its end, "end" cuts from its start.
    """

    message: int
    start: int
    end: int
    keep: Literal["start", "end"]


IDENTIFIER_KINDS = (
    "NAME", "DATE", "MRN", "ENCOUNTER", "SSN", "PHONE", "EMAIL", "ADDRESS", "ZIP", "LOCATION", "FACILITY",
    "ORGANIZATION", "PLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "URL", "IP", "ID",
)  # fmt: skip
"""What a column of a dataset can identify people by: those of `agent.redaction.entities.Entity` that are searched."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """What a dataset says, in a column of its own, of the people of a record.

    Attributes:
        entity: its kind, one of `IDENTIFIER_KINDS`.
        value: as the dataset writes it.
    """

    entity: str
    value: str


@dataclass(frozen=True, slots=True)
class Instance:
    """One item of a benchmark, ready to be asked and scored.

    Attributes:
        id: unique within the benchmark; the dataset's own id, else its row number as text.
        unit: the patient or document it belongs to, for clustered errors and disclosure.
        messages: the rendered prompt.
        references: in dataset order. For multiple choice, reference i is option letter "ABC..."[i].
        multiple_choice: whether the answer is one of the option letters.
        extra: further columns that metrics need (for example MedCalc's limits and category).
        subgroups: for cells of subgroups: name of the attribute (sex, age group, ...) -> this instance's value.
        shortenable: what may be cut from an over-long prompt; None: nothing.
        identifiers: of the record's people, as the dataset gives them; redaction searches them in every text.
    """

    id: str
    unit: str
    messages: tuple[Message, ...]
    references: tuple[Reference, ...]
    multiple_choice: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)
    subgroups: Mapping[str, str] = field(default_factory=dict)
    shortenable: Shortenable | None = None
    identifiers: tuple[Identifier, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerParser:
    """How a benchmark reads an answer before it is scored.

    Attributes:
        kind: "json" and "pattern" take a part of it; "option_letter" and "text" leave it to the metrics.
        field: with "json", the field whose value is the answer, for example "answer".
        pattern: with "pattern", the expression; its group 1, else the whole match, is the answer.
    """

    kind: ParserKind
    field: str = ""
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Judge:
    """One seat of a jury: a model and where it is served. `name` is a short one for people; empty: the model's."""

    model_deployment: str
    model_name: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """The lowest and the highest grade that a judge may give, both included."""

    low: float
    high: float


USUAL_SCALE = Scale(1, 5)  # that of HELM's juries, which name none


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A (model, benchmark) pair in HELM's own syntax, parsed.

    `arguments` holds what is left for the benchmark (subset, data_path, ...) once HELM's run expanders
    (model, model_deployment, num_output_tokens, ...) are taken out.
    """

    benchmark: str
    model: str
    model_deployment: str
    arguments: Mapping[str, str]
    expanders: Mapping[str, str]
    description: str  # as written


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Everything that decides an answer: what is sent is exactly this, and its keyed hash is the answer's key.

    `max_tokens` is in tokens, `extra_body` holds JSON values. Fields left None are not sent. `shortenable` is never
    sent: it says what may be cut should the prompt not fit.
    """

    model: str
    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float = 0.0
    stop: tuple[str, ...] = ()
    seed: int | None = None
    top_p: float | None = None
    extra_body: Mapping[str, object] = field(default_factory=dict)
    shortenable: Shortenable | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """What the model said. `text` is the answer alone; reasoning is kept apart.

    A cut-off thought has an empty text and finish_reason "length". `shortened` counts the prompt's tokens that were
    left out to make it fit, `attempts` how often it was sent until this answer came.
    """

    text: str
    reasoning: str
    finish_reason: Literal["stop", "length", "content_filter", "other"]
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    shortened: int = 0
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request brought no response. `status` is the last HTTP status, if there was one."""

    reason: Reason
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Unscored:
    """There is no score, and this is why. Never a default number."""

    reason: Reason


Score = float  # within its metric's range
