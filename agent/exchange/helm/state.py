"""One instance as HELM's scenario_state.json holds it. Every text comes through redaction's door."""

from collections.abc import Mapping, Sequence
from typing import Any

from agent.exchange.helm.juries import annotations
from agent.exchange.redacted_only import redacted_only
from agent.redaction.gateway.cases import ClearedCase


def request_state(
    case: ClearedCase,
    identity: str,
    split: str,
    adapter: Mapping[str, Any],
    annotator: str = "",
    judges: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return one entry of scenario_state.json: what was asked of the instance `identity`, and what came back.

    Args:
        case: the instance.
        identity: what it is called.
        split: that it is in.
        adapter: how the instances were asked.
        annotator: HELM's name for who asks the judges.
        judges: their names there, by metric and seat.
    """
    assert case.prompt is not None
    prompt = [{"role": message.role, "content": redacted_only(message.text)} for message in case.prompt]
    references = [
        {"output": {"text": redacted_only(reference.text)}, "tags": ["correct"] if reference.correct else []}
        for reference in case.references or ()
    ]
    letters = {r.letter: redacted_only(r.text) for r in case.references or () if r.letter}
    alone = len(prompt) == 1 and prompt[0]["role"] == "user"
    state: dict[str, Any] = {
        "instance": {
            "input": {"text": prompt[-1]["content"]},
            "references": references,
            "split": split,
            "id": identity,
        },
        "train_trial_index": 0,
        "request": {
            **{key: adapter[key] for key in ("model_deployment", "model")},
            **{key: adapter[key] for key in ("temperature", "max_tokens", "stop_sequences") if key in adapter},
            "embedding": False,
            "prompt": prompt[0]["content"] if alone else "",
            **({} if alone else {"messages": prompt}),
            "num_completions": 1,
            "top_k_per_token": 1,
            "echo_prompt": False,
            "top_p": 1,
            "presence_penalty": 0,
            "frequency_penalty": 0,
        },
        "num_train_instances": 0,
        "prompt_truncated": False,
    }
    if letters:
        state["output_mapping"] = letters
    if case.answer is not None:
        state["result"] = {"success": True, "embedding": [], "completions": [_completion(case)], "cached": False}
    for metric, keys in (judges or {}).items():
        given = [one for one in case.judgements if one.metric == metric]
        if notes := annotations(given, annotator, keys):
            state["annotations"] = notes
    return state


def _completion(case: ClearedCase) -> dict[str, Any]:
    assert case.answer is not None
    completion: dict[str, Any] = {
        "text": redacted_only(case.answer),
        "logprob": 0,
        "tokens": [],
        "finish_reason": {"reason": case.finish_reason},
    }
    if case.reasoning:
        completion["thinking"] = {"text": redacted_only(case.reasoning)}
    return completion
