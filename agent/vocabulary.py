"""Types shared by the whole agent, such as instance, run entry, response, score and unscored.

They are frozen values with little behaviour; docs/architecture.md defines the vocabulary.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

AccessLevel = Literal["public", "gated", "private"]
Scoring = Literal["intramural", "helm"]  # the rules by which a score was computed
ScoringChoice = Literal["intramural", "helm", "both"]  # the rules by which a run is scored
ParserKind = Literal["option_letter", "text", "json", "pattern", "label"]
AnswerMode = Literal["generate", "constrained", "logprob", "logprob_text", "logprob_text_norm"]
"""The way of asking a question; docs/scoring.md explains them."""


class Reason(StrEnum):
    """The reason why an instance has no score, or a request no response. Reasons are counted, so the list is closed."""

    EMPTY = "empty"  # the server returned no text
    UNPARSED = "unparsed"  # the answer contains nothing that the benchmark's parser accepts
    LENGTH = "length"  # cut off by max_tokens before (or inside) the answer
    CONTENT_FILTER = "content_filter"  # the server's filter withheld the answer
    CONTEXT_LENGTH = "context_length"  # the prompt does not fit the model
    SERVER_ERROR = "server_error"  # 4xx/5xx after all retries
    BAD_REPLY = "bad_reply"  # not JSON, truncated, HTML, no choices, or from a model other than the one probed
    TIMEOUT = "timeout"  # no reply within the limits
    UNREACHABLE = "unreachable"  # connection refused or broken
    NO_REFERENCE = "no_reference"  # the dataset has no usable gold for this instance
    NOT_APPLICABLE = "not_applicable"  # the metric does not apply to this instance or answer
    NOT_ASKED = "not_asked"  # the run stopped before this instance
    NOT_JUDGED = "not_judged"  # the answer is stored, but no jury has graded it yet
    NO_QUORUM = "no_quorum"  # the jury was asked, but too few of its seats gave a valid verdict
    NOT_MEASURED = "not_measured"  # the answer is stored, but this metric has not been computed yet
    METRIC_FAILED = "metric_failed"  # the site's own metric gave no valid result for this answer
    NOT_IMPORTED = "not_imported"  # the imported run has no such score for this instance


OWN_MAKING = frozenset({Reason.EMPTY, Reason.UNPARSED, Reason.LENGTH, Reason.CONTENT_FILTER})
"""Reasons that the model itself caused: it was asked, and its answer could not be scored."""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference answer. `correct` marks gold; several references may be correct."""

    text: str
    correct: bool


@dataclass(frozen=True, slots=True)
class Shortenable:
    """The part of a prompt that may be shortened if the prompt does not fit the model; never the question.

    Attributes:
        message: index into `Instance.messages`.
        start, end: character positions in that message's content, end exclusive.
        keep: the end that is kept: "start" cuts from the end of the part, "end" from its start.
    """

    message: int
    start: int
    end: int
    keep: Literal["start", "end"]


@dataclass(frozen=True, slots=True)
class PromptCell:
    """A part of a prompt that comes from the record; the text between cells is the benchmark's own.

    Attributes:
        message: index into `Instance.messages`.
        start, end: character positions in that message's content, end exclusive.
        column: the column that the part comes from, or "options" for the text of an answer option.
    """

    message: int
    start: int
    end: int
    column: str


IDENTIFIER_KINDS = (
    "NAME", "DATE", "MRN", "ENCOUNTER", "SSN", "PHONE", "EMAIL", "ADDRESS", "ZIP", "LOCATION", "FACILITY",
    "ORGANIZATION", "PLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "URL", "IP", "ID",
)  # fmt: skip
"""Kinds of identifier that a dataset's column can hold: the searchable ones of `agent.redaction.entities.Entity`."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """An identifier of a record's people that a dataset states in a separate column.

    Attributes:
        entity: the kind of identifier, one of `IDENTIFIER_KINDS`.
        value: the identifier as written in the dataset.
    """

    entity: str
    value: str


@dataclass(frozen=True, slots=True)
class Instance:
    """One item of a benchmark, ready to be asked and scored.

    Attributes:
        id: unique within the benchmark; the dataset's own id or, if it has none, the row number as text.
        unit: the patient or document that the instance belongs to, which intervals and disclosure rules count.
        messages: the rendered prompt.
        references: in dataset order. For multiple choice, reference i is option letter "ABC..."[i].
        multiple_choice: whether the answer is one of the option letters.
        extra: additional columns that metrics need (for example MedCalc's limits and category).
        subgroups: this instance's value of each attribute by which subgroups are reported (sex, age group, ...), by
            attribute.
        shortenable: the part that may be cut from an over-long prompt; None if there is none.
        identifiers: identifiers of the record's people, as stated in the dataset; redaction searches for them in every
            text.
        cells: the parts of the messages that come from the record, in order and without overlaps. None if unknown, as
            in instances stored by earlier versions; redaction then searches the whole messages.
        source: digest of the benchmark's definition and of its data (`agent.datasets.locate.digest_source`), if the
            data is a version that the definition knows; empty for other data, and in instances stored by earlier
            versions. Redaction recognises published texts by it.
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
    cells: tuple[PromptCell, ...] | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class AnswerParser:
    """The parser that a benchmark applies to an answer before it is scored.

    Attributes:
        kind: "json" and "pattern" extract a part, and "label" the label that the answer states; "option_letter" and
            "text" pass the whole answer to the metrics.
        field: for "json", the field whose value is the answer, for example "answer"; empty for the key that names the
            answer (`answer`, `answer_choice`, ...).
        pattern: for "pattern", the regular expression; the answer is group 1 or, without groups, the whole match.
        labels: for "label", every label followed by the other words that mean it; "json" and "pattern" may have labels
            too, which are read in the part that they extract.
    """

    kind: ParserKind
    field: str = ""
    pattern: str = ""
    labels: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Judge:
    """One seat of a jury: a model, its deployment, and how its replies are sampled.

    Attributes:
        model_deployment: the deployment that serves the model.
        model_name: the model's name.
        name: a short name for people; "" means the model's name.
        seed: the seed of its requests; None if they carry none.
        temperature: the sampling temperature of its requests, from 0 to 2.
    """

    model_deployment: str
    model_name: str
    name: str = ""
    seed: int | None = None
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class Scale:
    """The lowest and the highest grade that a judge may give, inclusive."""

    low: float
    high: float


USUAL_SCALE = Scale(1, 5)  # the scale of HELM's juries, which do not state one


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A (model, benchmark) pair in HELM's own syntax, parsed.

    `arguments` holds the arguments of the benchmark (subset, data_path, ...), without those of HELM's run expanders
    (model, model_deployment, num_output_tokens, ...).
    """

    benchmark: str
    model: str
    model_deployment: str
    arguments: Mapping[str, str]
    expanders: Mapping[str, str]
    description: str  # as written


@dataclass(frozen=True, slots=True)
class ClosedQuestion:
    """The options of a question whose answer is not generated freely.

    Attributes:
        mode: the way of asking, other than "generate".
        options: the letters of the options, in order.
        texts: the texts of the options, if these are compared.
    """

    mode: AnswerMode
    options: tuple[str, ...]
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OptionLikelihood:
    """The natural logarithm of an option's probability, before any normalisation by its length.

    None if it is below those of all tokens that the server returned.
    """

    option: str
    logprob: float | None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request to a model. Exactly these fields are sent, and their keyed hash is the key of the stored answer.

    `extra_body` holds JSON values. Fields that are None are not sent. `shortenable` and `closed` are never sent: the
    first marks the part of the prompt that may be cut if the prompt does not fit, the second says how to read the
    reply.
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
    closed: ClosedQuestion | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """A model's response. `text` is the answer without reasoning, which is stored separately.

    If the reasoning was cut off, `text` is empty and finish_reason is "length". `shortened` is the number of tokens
    cut from the prompt to make it fit, `attempts` the number of requests sent for this response. `likelihoods` is set
    if the options were compared by their probabilities; `text` is then the likeliest, or empty if none is.
    """

    text: str
    reasoning: str
    finish_reason: Literal["stop", "length", "content_filter", "other"]
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    shortened: int = 0
    attempts: int = 1
    likelihoods: tuple[OptionLikelihood, ...] = ()

    @property
    def likelihoods_by_option(self) -> dict[str, float | None]:
        """The log-likelihood of each option; empty if the options were not compared."""
        return {each.option: each.logprob for each in self.likelihoods}


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a request got no response. `status` is the last HTTP status, if there was one."""

    reason: Reason
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Unscored:
    """A missing score, with its reason; never replaced by a default number."""

    reason: Reason


Score = float  # within its metric's range
