"""What a server was seen to honour, and whether that is enough for a run. Pure: the probe does the asking."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agent.vocabulary import ChatRequest

State = Literal["honoured", "ignored", "refused", "unknown"]
FeatureName = Literal[
    "model_list", "model_name", "max_tokens", "max_completion_tokens", "stop", "n", "seed",
    "temperature_zero", "logprobs", "json_schema", "usage", "reasoning",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature as the probe saw it; `finding` says so in plain words, without any text of the server."""

    state: State
    finding: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one server honoured when it was asked, for one model.

    Attributes:
        server: kind of server, as far as it shows: "vllm", "llama.cpp", "transformers", "ollama",
            "intramural-baselines" or "unknown".
        models: names the server lists; empty when it lists none.
        features: what was seen, by feature.
        token_limit_field: the name under which the limit of tokens is honoured.
        extra_body: fields that must be sent with every request to undo this server's own defaults. They decide
            answers: put them into the request (`ChatRequest.extra_body`) before its key is made.
        language_model: False when the server itself says that the model is none (reference baselines).
    """

    server: str
    models: tuple[str, ...]
    features: Mapping[FeatureName, Feature]
    token_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"  # noqa: S105 - a field's name
    extra_body: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    language_model: bool = True

    def to_json(self) -> dict[str, object]:
        """Return plain JSON values; `from_json` gives the same object back."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Capabilities":
        """Rebuild from `to_json`'s values.

        Raises:
            ValueError: a key is missing or has the wrong type.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Needs:
    """What a run will ask of the server. A limit of tokens is always needed."""

    stop: bool = False
    seed: bool = False
    temperature_zero: bool = True
    logprobs: bool = False
    json_schema: bool = False
    n: bool = False

    @classmethod
    def of(cls, request: ChatRequest) -> "Needs":
        """Return what this request needs."""
        raise NotImplementedError


def check_needs(capabilities: Capabilities, needs: Needs) -> tuple[str, ...]:
    """Return the workarounds this run will use, each a sentence to show and to keep with the run.

    Raises:
        InferenceError: something needed is missing and nothing here can stand in for it.
    """
    raise NotImplementedError
