"""The features that a server honours, and whether they suffice for a run. Pure: only the probe sends requests."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Literal, cast, get_args

from agent.errors import InferenceError
from agent.inference.closed_questions import ChoiceField
from agent.inference.tokens import UNSEEN_TEMPLATE_TOKENS, Counting
from agent.vocabulary import ChatRequest

State = Literal["honoured", "ignored", "refused", "unknown"]
FeatureName = Literal[
    "model_list",
    "model_name",
    "max_tokens",
    "max_completion_tokens",
    "temperature_zero",
    "seed",
    "stop",
    "n",
    "logprobs",
    "top_logprobs",
    "json_schema",
    "choice",
    "prompt_logprobs",
    "usage",
    "reasoning",
]
TokenLimitField = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True)
class Feature:
    """The state of one feature. `finding` describes it for display, without any text from the server."""

    state: State
    finding: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The features of a server that the capability probe found for one model.

    Attributes:
        server: the kind of server: "vllm", "llama.cpp", "llama-cpp-python", "transformers", "ollama",
            "intramural-baselines" or "unknown".
        models_listed: the number of models that the server lists. Their names are not stored.
        model_in_list: whether the requested model is listed.
        features: the findings by feature.
        notes: further findings for display, such as the server's own defaults.
        token_limit_field: the name of the field in which the server honours a token limit.
        extra_body: fields that must be sent with every request to undo the server's own defaults. Since they affect
            answers, add them to the request (`ChatRequest.extra_body`) before its key is computed.
        language_model: False if the server itself reports that it is not a language model (reference baselines).
        inline_thoughts: whether answers contain the model's reasoning, because the probe found some, or because the
            deployment is a reasoning model and the probe did not find that the server separates its reasoning.
        other_names: digests (`naming.name_digest`) of the names in replies that differ from the requested name. These
            names are accepted during the run; a reply with any other name is a bad reply.
        window: the server's maximum number of tokens in prompt and answer; None if unknown.
        counting: the method of counting a prompt's tokens; if None, prompts that are too long cannot be shortened.
        template_tokens: the maximum number of tokens that the chat template adds to a prompt of one message.
        choice_field: the request field by which the server limits an answer to given options; None if there is none.
        served_as: the server's own name of the model if it differs from the requested one, for example in the case of
            letters; otherwise empty. It is not stored.
        left_out: the replicas that are not asked, by address, with the reason. Addresses are not stored.
        tried_again: the addresses in `left_out` that are probed again while questions are asked. They are not stored.
    """

    server: str
    features: Mapping[FeatureName, Feature]
    models_listed: int = 0
    model_in_list: bool = False
    notes: tuple[str, ...] = ()
    token_limit_field: TokenLimitField = "max_tokens"  # noqa: S105 - the name of a field
    extra_body: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    language_model: bool = True
    inline_thoughts: bool = False
    other_names: tuple[str, ...] = ()
    window: int | None = None
    counting: Counting | None = None
    template_tokens: int = UNSEEN_TEMPLATE_TOKENS
    choice_field: ChoiceField | None = None
    served_as: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    tried_again: frozenset[str] = frozenset()

    def state(self, name: FeatureName) -> State:
        """Return the state of a feature, or "unknown" if it was not probed."""
        feature = self.features.get(name)
        return feature.state if feature else "unknown"

    @property
    def thinks(self) -> bool:
        """Whether the model was seen to reason before it answers, inside its answers or apart from them."""
        return self.inline_thoughts or self.state("reasoning") == "honoured"

    def finding(self, name: FeatureName) -> str:
        """Return the finding about a feature, in words for display."""
        feature = self.features.get(name)
        return feature.finding if feature else "it was not probed"

    def to_json(self) -> dict[str, object]:
        """Return the object as JSON values for `from_json`."""
        return {
            "server": self.server,
            "features": {name: asdict(feature) for name, feature in self.features.items()},
            "models_listed": self.models_listed,
            "model_in_list": self.model_in_list,
            "notes": list(self.notes),
            "token_limit_field": self.token_limit_field,
            "extra_body": dict(self.extra_body),
            "language_model": self.language_model,
            "inline_thoughts": self.inline_thoughts,
            "other_names": list(self.other_names),
            "window": self.window,
            "counting": self.counting,
            "template_tokens": self.template_tokens,
            "choice_field": self.choice_field,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Capabilities":
        """Create an object from the values of `to_json`.

        Raises:
            ValueError: a key is missing, unknown or of the wrong type.
        """
        try:
            features = _read_features(value["features"])
            server, notes, other_names = value["server"], value["notes"], value["other_names"]
            models_listed, model_in_list = value["models_listed"], value["model_in_list"]
            language_model, inline_thoughts = value["language_model"], value["inline_thoughts"]
            token_limit_field, extra_body = value["token_limit_field"], value["extra_body"]
            window, counting, template_tokens = (
                value["window"],
                value["counting"],
                value["template_tokens"],
            )
            choice_field = value["choice_field"]
        except (KeyError, TypeError, AttributeError):
            raise ValueError("capabilities: a key is missing or has the wrong type") from None
        if (
            not isinstance(server, str)
            or not isinstance(notes, list)
            or not isinstance(other_names, list)
            or not isinstance(extra_body, dict)
            or not isinstance(models_listed, int)
            or not isinstance(model_in_list, bool)
            or not isinstance(language_model, bool)
            or not isinstance(inline_thoughts, bool)
            or not isinstance(window, int | None)
            or counting not in (None, *get_args(Counting))
            or not isinstance(template_tokens, int)
            or choice_field not in (None, *get_args(ChoiceField))
            or token_limit_field not in get_args(TokenLimitField)
        ):
            raise ValueError("capabilities: a key is unknown or has the wrong type")
        return cls(
            server=server,
            features=features,
            models_listed=models_listed,
            model_in_list=model_in_list,
            notes=tuple(str(note) for note in notes),
            token_limit_field=cast("TokenLimitField", token_limit_field),
            extra_body=extra_body,
            language_model=language_model,
            inline_thoughts=inline_thoughts,
            other_names=tuple(str(name) for name in other_names),
            window=window,
            counting=cast("Counting | None", counting),
            template_tokens=template_tokens,
            choice_field=cast("ChoiceField | None", choice_field),
        )


def _read_features(value: object) -> dict[FeatureName, Feature]:
    features = {}
    for name, feature in cast("Mapping[FeatureName, Mapping[str, str]]", value).items():
        state = cast("State", feature["state"])
        if name not in get_args(FeatureName) or state not in get_args(State):
            raise ValueError("capabilities: a key is unknown or has the wrong type")
        features[name] = Feature(state, str(feature["finding"]))
    return features


@dataclass(frozen=True, slots=True)
class Needs:
    """The features that a run needs. A token limit is always needed.

    `count` is set if the tokens of prompts may have to be counted, because prompts may be shortened or their length
    is limited. `choice`, `option_logprobs` and `text_logprobs` are the needs of the answer modes constrained, logprob
    and logprob_text.
    """

    stop: bool = False
    seed: bool = False
    temperature_zero: bool = True
    logprobs: bool = False
    json_schema: bool = False
    n: bool = False
    count: bool = False
    choice: bool = False
    option_logprobs: bool = False
    text_logprobs: bool = False

    def join(self, other: "Needs") -> "Needs":
        """Return the features that one of two runs needs, or both."""
        names = [field.name for field in fields(self)]
        return Needs(**{name: getattr(self, name) or getattr(other, name) for name in names})

    @classmethod
    def of(cls, request: ChatRequest) -> "Needs":
        """Return the features that a request needs."""
        return cls(
            stop=bool(request.stop),
            seed=request.seed is not None and request.temperature > 0,
            temperature_zero=request.temperature == 0,
            logprobs=bool(request.extra_body.get("logprobs")),
            json_schema="response_format" in request.extra_body,
            n=request.extra_body.get("n", 1) != 1,
            count=request.shortenable is not None,
        )


def check_needs(capabilities: Capabilities, needs: Needs) -> tuple[str, ...]:
    """Return the workarounds that a run needs, as sentences to display and store with the run.

    Raises:
        InferenceError: needed features are missing and have no workaround; the message names all of them.
    """
    missing: list[str] = []
    workarounds: list[str] = []
    state = capabilities.state
    lacking = ("ignored", "refused")

    if state(capabilities.token_limit_field) in lacking:
        missing.append("a token limit (max_tokens and max_completion_tokens)")
    elif capabilities.token_limit_field != "max_tokens":  # noqa: S105 - the name of a field
        workarounds.append(
            "The server only honours the token limit max_completion_tokens, which is sent instead of max_tokens."
        )
    if needs.stop and state("stop") == "refused":
        missing.append("stop sequences (the server refuses requests with stop sequences)")
    elif needs.stop and state("stop") == "ignored":
        workarounds.append(
            "The server ignores stop sequences; the agent cuts complete answers instead."
        )
    if needs.seed and state("seed") == "refused":
        missing.append("seeds (the server refuses requests with a seed)")
    elif needs.seed and state("seed") == "ignored":
        workarounds.append("The server ignores seeds; repeated requests may get different answers.")
    if needs.temperature_zero and state("temperature_zero") == "ignored":
        workarounds.append(
            "The server's answers vary at temperature 0; repeated requests may get different answers."
        )
    if needs.logprobs and state("logprobs") in lacking:
        missing.append("log probabilities (logprobs)")
    if needs.json_schema and state("json_schema") in lacking:
        missing.append("answers that follow a JSON schema (response_format)")
    if needs.n and state("n") in lacking:
        missing.append("several answers to one request (n)")
    missing += list_missing_for_closed_questions(capabilities, needs)
    if needs.choice and capabilities.choice_field == "response_format":
        workarounds.append(
            "The server limits answers to the options only within JSON, from which the agent takes the option."
        )
    if capabilities.inline_thoughts:
        workarounds.append(
            "The model's answers contain its reasoning, which the agent removes; an answer with incomplete reasoning"
            " counts as no answer."
        )
        if needs.stop:
            workarounds.append(
                "Stop sequences would interrupt the reasoning; the agent does not send them, but cuts answers instead."
            )
    elif state("reasoning") == "ignored":
        workarounds.append(
            "The model wrote up to the token limit when asked for one word; if it reasons before it answers, set"
            " `reasoning: true` in its deployment, or its reasoning will be scored as an answer."
        )
    if needs.count and capabilities.counting is None:
        workarounds.append(
            "The tokens of prompts cannot be counted; prompts that are too long are not shortened and have no score."
        )
    if capabilities.other_names:
        workarounds.append(
            "The server's replies have a model name other than the requested one; a reply with yet another name"
            " counts as no answer."
        )
    if capabilities.extra_body:
        fields = ", ".join(
            f"{name}={value}" for name, value in sorted(capabilities.extra_body.items())
        )
        workarounds.append(
            f"The server has its own defaults; every request overrides them with {fields}."
        )
    if missing:
        raise InferenceError(
            f"the server does not honour features that this run needs: {'; '.join(missing)}",
            "Serve the model with different software; `intramural doctor` shows which features a server honours.",
        )
    return tuple(workarounds)


def list_missing_for_closed_questions(capabilities: Capabilities, needs: Needs) -> list[str]:
    """Return the reasons why the server cannot be asked in the way that the run needs.

    Both ways must have been seen to work: a server that ignores their fields would answer freely.
    """
    missing = []
    if needs.choice and capabilities.choice_field is None:
        finding = capabilities.finding("choice")
        missing.append(f"answers limited to the options (answer_mode=constrained): {finding}")
    if needs.option_logprobs and capabilities.state("top_logprobs") != "honoured":
        finding = capabilities.finding("top_logprobs")
        missing.append(f"the probabilities of the options (answer_mode=logprob): {finding}")
    if needs.text_logprobs and capabilities.state("prompt_logprobs") != "honoured":
        finding = capabilities.finding("prompt_logprobs")
        missing.append(
            f"the probabilities of the options' texts (answer_mode=logprob_text): {finding}"
        )
    if (needs.option_logprobs or needs.text_logprobs) and capabilities.thinks:
        missing.append(
            "an answer that begins with the option (answer_mode=logprob): the model reasons first"
        )
    return missing
