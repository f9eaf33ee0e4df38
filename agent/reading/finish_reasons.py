"""Translate the reasons why a model stopped, which every server names in its own words. Pure.

The same table is used for replies of servers, files of answers and HELM's runs.
"""

from typing import Literal

FinishReason = Literal["stop", "length", "content_filter", "other"]

NAMES: dict[FinishReason, tuple[str, ...]] = {
    # The model ended its answer itself, or at a stop sequence.
    "stop": (
        *("stop", "end_turn", "stop_sequence", "eos_token", "eos", "endoftext", "complete"),
        *("tool_calls", "tool_use", "function_call"),
    ),
    # The limit of tokens, or the model's context, cut the answer off.
    "length": ("length", "max_tokens", "model_length", "model_context_window_exceeded"),
    # A filter of the server withheld the answer, or a part of it.
    "content_filter": (
        *("content_filter", "content_filtered", "safety", "refusal", "guardrail_intervened"),
        *("blocklist", "prohibited_content", "spii", "recitation", "error_toxic"),
    ),
    # The server gave no reason. "other" is also the name in this program's exports.
    "other": ("other", "unknown", "finish_reason_unspecified"),
}
"""The names of every reason, in lower case: those of OpenAI, Anthropic, Gemini, Mistral, Cohere, Bedrock, vLLM, TGI."""

_REASONS = {name: reason for reason, names in NAMES.items() for name in names}


def find_finish_reason(name: str) -> FinishReason | None:
    """Return the reason that a name means, in any case of letters, or None for an unknown name."""
    return _REASONS.get(name.strip().lower())


def list_names() -> str:
    """Return all known names by reason, for messages."""
    return "; ".join(f"{reason}: {', '.join(names)}" for reason, names in NAMES.items())
