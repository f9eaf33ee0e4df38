"""Write one instance in the form of HELM's scenario_state.json. Every text has already been redacted."""

from collections.abc import Mapping, Sequence
from typing import Any

from agent.exchange.helm.juries import write_annotations
from agent.exchange.redacted_only import require_redacted
from agent.redaction.gateway.cases import ClearedCase


def write_request_state(
    case: ClearedCase,
    identity: str,
    split: str,
    adapter: Mapping[str, Any],
    annotator: str = "",
    judges: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return one entry of scenario_state.json: the instance, the request and the result.

    Args:
        case: the instance.
        identity: its id in the export.
        split: the split to which it belongs.
        adapter: the settings with which the model was asked.
        annotator: HELM's name for the annotator that asks the judges.
        judges: the judges' names in annotations, by metric and seat.
    """
    assert case.prompt is not None
    prompt = [
        {"role": message.role, "content": require_redacted(message.text)} for message in case.prompt
    ]
    references = []
    letters = {}
    for reference in case.references or ():
        text = require_redacted(reference.text)
        references.append(
            {"output": {"text": text}, "tags": ["correct"] if reference.correct else []}
        )
        if reference.letter:
            letters[reference.letter] = text
    state: dict[str, Any] = {
        "instance": {
            "input": {"text": prompt[-1]["content"]},
            "references": references,
            "split": split,
            "id": identity,
        },
        "train_trial_index": 0,
        "request": _write_request(prompt, adapter),
        "num_train_instances": 0,
        "prompt_truncated": False,
    }
    if letters:
        state["output_mapping"] = letters
    if case.answer is not None:
        completions = [_write_completion(case)]
        state["result"] = {
            "success": True,
            "embedding": [],
            "completions": completions,
            "cached": False,
        }
    for metric, keys in (judges or {}).items():
        judgements = [judgement for judgement in case.judgements if judgement.metric == metric]
        annotations = write_annotations(judgements, annotator, keys)
        if annotations:
            state["annotations"] = annotations
    return state


def _write_request(prompt: list[dict[str, Any]], adapter: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request. HELM uses one field for a single user message, and another for a conversation."""
    request = {}
    for key in ("model_deployment", "model", "temperature", "max_tokens", "stop_sequences"):
        if key in adapter:
            request[key] = adapter[key]
    request["embedding"] = False
    if len(prompt) == 1 and prompt[0]["role"] == "user":
        request["prompt"] = prompt[0]["content"]
    else:
        request["prompt"] = ""
        request["messages"] = prompt
    return request | {
        "num_completions": 1,
        "top_k_per_token": 1,
        "echo_prompt": False,
        "top_p": 1,
        "presence_penalty": 0,
        "frequency_penalty": 0,
    }


def _write_completion(case: ClearedCase) -> dict[str, Any]:
    assert case.answer is not None
    completion: dict[str, Any] = {
        "text": require_redacted(case.answer),
        "logprob": 0,
        "tokens": [],
        "finish_reason": {"reason": case.finish_reason},
    }
    if case.reasoning:
        completion["thinking"] = {"text": require_redacted(case.reasoning)}
    return completion
