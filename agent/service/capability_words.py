"""What each feature of a server is for, in words for the people who choose and run the servers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from agent.inference.capabilities import Capabilities, FeatureName
from agent.service.words import find_word

_FEATURES: Final[Mapping[FeatureName, tuple[str, str]]] = {
    "model_list": (
        "List of models",
        "Before a run, nobody can see whether the server has the model.",
    ),
    "model_name": ("Model’s name in replies", "A reply by another model could go unnoticed."),
    "max_tokens": (
        "Limit of tokens (max_tokens)",
        "Without this or the next, runs and juries are refused: a model could write without end.",
    ),
    "max_completion_tokens": (
        "Limit of tokens (max_completion_tokens)",
        "Only needed if max_tokens does not work.",
    ),
    "temperature_zero": (
        "The same answer each time (temperature 0)",
        "A repeated run may get other answers; results note it.",
    ),
    "seed": ("Seeds", "A repeated run with sampling may get other answers."),
    "stop": (
        "Stop sequences",
        "If they are ignored, the agent cuts answers itself, and the model writes on for nothing. If they are refused, "
        "benchmarks that need them cannot be run.",
    ),
    "n": ("Several answers to one request", "Runs that ask for several answers are refused."),
    "logprobs": ("Probabilities of tokens", "Runs that ask for them are refused."),
    "top_logprobs": (
        "Probabilities of options",
        "Questions with options cannot be asked with answer_mode=logprob.",
    ),
    "json_schema": ("Answers by a JSON schema", "Runs that ask for them are refused."),
    "choice": (
        "Answers limited to the options",
        "Questions with options cannot be asked with answer_mode=constrained.",
    ),
    "prompt_logprobs": (
        "Probabilities of whole options",
        "Questions with options cannot be asked with answer_mode=logprob_text.",
    ),
    "usage": ("Counts of tokens", "Tokens and costs of answers are not known."),
    "reasoning": (
        "Reasoning apart from the answer",
        "If the model reasons, set reasoning: true in its deployment, or its reasoning is scored as its answer.",
    ),
}


@dataclass(frozen=True, slots=True)
class FeatureWords:
    """One feature of a server.

    Attributes:
        name: what it is.
        state: whether it works, in words.
        is_missing: whether it does not.
        finding: what the probe found.
        meaning: what follows if it is missing.
    """

    name: str
    state: str
    is_missing: bool
    finding: str
    meaning: str


def name_feature(name: str) -> str:
    """Return what pages call a feature; the feature of a later version is spelled out."""
    for feature, (title, _) in _FEATURES.items():
        if feature == name:
            return title
    return name.replace("_", " ")


def list_features(capabilities: Capabilities) -> Iterator[FeatureWords]:
    """Yield the probed features, those that are missing first."""
    lines: list[FeatureWords] = []
    for feature_name, feature in capabilities.features.items():
        name, meaning = _FEATURES[feature_name]
        is_missing = feature.state in ("ignored", "refused")
        lines.append(
            FeatureWords(
                name, find_word(feature.state, "feature"), is_missing, feature.finding, meaning
            )
        )
    yield from (line for line in lines if line.is_missing)
    yield from (line for line in lines if not line.is_missing)


def summarise_features(capabilities: Capabilities) -> str:
    """Return in a few words whether all probed features work."""
    if not capabilities.language_model:
        return "works; not a language model"
    missing = sum(line.is_missing for line in list_features(capabilities))
    if not missing:
        return "everything works"
    return f"{missing} of {len(capabilities.features)} features missing"
