"""The features that a server honours, and whether they suffice for a run. Pure: the probe asks the server."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, cast, get_args

from agent.errors import InferenceError
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
    "json_schema",
    "usage",
    "reasoning",
]
TokenLimitField = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature as the probe saw it; `finding` says so in plain words, without any text of the server."""

    state: State
    finding: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The features that one server honoured when it was asked, for one model.

    Attributes:
        server: kind of server, as far as it shows: "vllm", "llama.cpp", "llama-cpp-python", "transformers", "ollama",
            "intramural-baselines" or "unknown".
        models_listed: how many models the server lists; 0 when it lists none. Their names are not kept.
        model_in_list: whether the one asked for is among them.
        features: the findings, by feature.
        notes: further findings in plain words, such as a server's own defaults.
        token_limit_field: the name under which the limit of tokens is honoured.
        extra_body: fields that must be sent with every request to undo this server's own defaults. They decide
            answers: put them into the request (`ChatRequest.extra_body`) before its key is made.
        language_model: False when the server itself says that the model is none (reference baselines).
        inline_thoughts: the model thinks inside its answers: it was seen to, or its deployment says that it thinks
            and the server was not seen to keep thoughts apart.
        other_names: digests (`naming.name_digest`) of names which replies gave the model instead of the one asked
            for. They are expected during the run; a reply with yet another is a bad reply.
        window: tokens of prompt and answer that the server says it takes; None when it does not say.
        counting: the means of counting the tokens of a prompt; None: there is none, and over-long prompts cannot be
            shortened.
        template_tokens: at most how many tokens the chat template adds to a prompt of one message.
    """

    server: str
    features: Mapping[FeatureName, Feature]
    models_listed: int = 0
    model_in_list: bool = False
    notes: tuple[str, ...] = ()
    token_limit_field: TokenLimitField = "max_tokens"  # noqa: S105 - a field's name
    extra_body: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    language_model: bool = True
    inline_thoughts: bool = False
    other_names: tuple[str, ...] = ()
    window: int | None = None
    counting: Counting | None = None
    template_tokens: int = UNSEEN_TEMPLATE_TOKENS

    def state(self, name: FeatureName) -> State:
        """Return the state of a feature; "unknown" when the probe did not ask for it."""
        feature = self.features.get(name)
        return feature.state if feature else "unknown"

    def to_json(self) -> dict[str, object]:
        """Return plain JSON values; `from_json` gives an equal object back."""
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
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Capabilities":
        """Rebuild from `to_json`'s values.

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
    """The features that a run needs of the server. A limit of tokens is always needed.

    `count`: prompts may have to be counted, because parts of them may be cut or their length is bounded.
    """

    stop: bool = False
    seed: bool = False
    temperature_zero: bool = True
    logprobs: bool = False
    json_schema: bool = False
    n: bool = False
    count: bool = False

    @classmethod
    def of(cls, request: ChatRequest) -> "Needs":
        """Return the needs of this request."""
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
    """Return the workarounds this run will use, each a sentence to show and to keep with the run.

    Raises:
        InferenceError: a needed feature is missing and cannot be worked around; names all of them.
    """
    missing: list[str] = []
    workarounds: list[str] = []
    state = capabilities.state
    lacking = ("ignored", "refused")

    if state(capabilities.token_limit_field) in lacking:
        missing.append("a limit of tokens (max_tokens and max_completion_tokens)")
    elif capabilities.token_limit_field != "max_tokens":  # noqa: S105 - a field's name
        workarounds.append(
            "The server takes its limit of tokens as max_completion_tokens; that name is sent."
        )
    if needs.stop and state("stop") == "refused":
        missing.append("stop sequences (the server refuses requests that hold them)")
    elif needs.stop and state("stop") == "ignored":
        workarounds.append(
            "The server ignores stop sequences; answers are cut here, after they were written in full."
        )
    if needs.seed and state("seed") == "refused":
        missing.append("seeds (the server refuses requests that hold them)")
    elif needs.seed and state("seed") == "ignored":
        workarounds.append("The server ignores seeds; asking again may bring other answers.")
    if needs.temperature_zero and state("temperature_zero") == "ignored":
        workarounds.append(
            "The server's answers differ at temperature 0; asking again may bring other answers."
        )
    if needs.logprobs and state("logprobs") in lacking:
        missing.append("log probabilities (logprobs)")
    if needs.json_schema and state("json_schema") in lacking:
        missing.append("answers held to a JSON schema (response_format)")
    if needs.n and state("n") in lacking:
        missing.append("several answers to one request (n)")
    if capabilities.inline_thoughts:
        workarounds.append(
            "The model thinks inside its answers; its thoughts are taken out here, and a thought that was cut off"
            " counts as no answer."
        )
        if needs.stop:
            workarounds.append(
                "Stop sequences would end its thoughts; they are not sent, and answers are cut here."
            )
    elif state("reasoning") == "ignored":
        workarounds.append(
            "The model wrote on to the limit when asked for one word; if it thinks before it answers, mark its"
            " deployment as `reasoning: true`, or its thoughts are taken for answers."
        )
    if needs.count and capabilities.counting is None:
        workarounds.append(
            "Nobody can count the tokens of prompts; those that do not fit are not shortened, and have no score."
        )
    if capabilities.other_names:
        workarounds.append(
            "The server's replies give the model another name than the one asked for; a reply that changes to yet"
            " another name counts as no answer."
        )
    if capabilities.extra_body:
        fields = ", ".join(
            f"{name}={value}" for name, value in sorted(capabilities.extra_body.items())
        )
        workarounds.append(
            f"The server has defaults of its own; every request undoes them with {fields}."
        )
    if missing:
        raise InferenceError(
            f"the server does not honour what this run needs: {'; '.join(missing)}",
            "Serve the model by another server: `intramural doctor` shows what each honours.",
        )
    return tuple(workarounds)
