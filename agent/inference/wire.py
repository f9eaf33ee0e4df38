"""The words on the wire: a request as JSON, a reply as a response or a failure. Pure, and fails closed.

A server's text is data of the case: it leaves this module inside a Response only, never in an error.
"""

import json
import re
from collections.abc import Mapping
from typing import Literal

from agent.vocabulary import ChatRequest, Failure, Reason, Response

_encode = json.JSONEncoder(separators=(",", ":")).encode

FinishReason = Literal["stop", "length", "content_filter", "other"]
_FINISH: Mapping[object, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "content_filter": "content_filter",
}

# The words with which vLLM, llama.cpp, TGI, SGLang, transformers and OpenAI say that a prompt is too long.
_TOO_LONG = re.compile(
    rb"context_length_exceeded|exceed_context_size|context (?:length|window|size)|maximum model length"
    rb"|max_model_len|max_position_embeddings|prompt is too long|input is too long|too many tokens"
    rb"|must have less than \d+ tokens|input length .{0,40}exceeds",
    re.IGNORECASE,
)
_THOUGHT = re.compile(r"<think>(.*?)</think>", re.DOTALL)


def encode_object(body: Mapping[str, object]) -> bytes:
    """Return compact JSON. ASCII only (the rest escaped), so any text can be sent, broken Unicode included."""
    return _encode(body).encode("ascii")


def encode_request(
    request: ChatRequest,
    *,
    token_limit_field: str = "max_tokens",  # noqa: S107 - a field's name
    always: Mapping[str, str | int | float | bool] | None = None,
) -> bytes:
    """Return the request's body: exactly what the request says, and under it the fields of `always`."""
    body: dict[str, object] = {**(always or {}), **request.extra_body}
    body["model"] = request.model
    body["messages"] = [{"role": message.role, "content": message.content} for message in request.messages]
    body[token_limit_field] = request.max_tokens
    body["temperature"] = request.temperature
    if request.stop:
        body["stop"] = list(request.stop)
    if request.seed is not None:
        body["seed"] = request.seed
    if request.top_p is not None:
        body["top_p"] = request.top_p
    return encode_object(body)


def parse_object(body: bytes) -> dict[str, object] | None:
    """Return the JSON object in `body`, or None when it holds anything else."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parse_reply(body: bytes, *, stop: tuple[str, ...] = (), seconds: float = 0.0) -> Response | Failure:
    """Read the body of a chat completion with status 200.

    Args:
        body: as received.
        stop: the request's stop sequences; the answer is cut before the first, should the server not have done so.
        seconds: how long the attempt took.
    """
    reply = parse_object(body)
    choices = reply.get("choices") if reply is not None else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if reply is None or not isinstance(choice, dict) or not isinstance(message, dict):
        return Failure(Reason.BAD_REPLY, 200)
    finish = _finish_reason(choice.get("finish_reason"))
    if finish == "content_filter":
        return Failure(Reason.CONTENT_FILTER, 200)
    content = message.get("content")
    apart = message.get("reasoning_content") or message.get("reasoning") or ""
    if not isinstance(content, str | None) or not isinstance(apart, str):
        return Failure(Reason.BAD_REPLY, 200)
    if content is None:
        content = message.get("refusal") if isinstance(message.get("refusal"), str) else None
    if content is None:
        if not (apart or finish == "length"):
            return Failure(Reason.EMPTY, 200)
        content = ""
    thought, text = split_thought(_whole_characters(content))
    apart = _whole_characters(apart)
    text, cut = _cut(text, stop)
    usage = reply.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Response(
        text=text,
        reasoning="\n".join(part for part in (apart, thought) if part),
        finish_reason="stop" if cut else finish,
        prompt_tokens=_count(counts.get("prompt_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
        seconds=seconds,
    )


def parse_error(status: int, body: bytes) -> Failure:
    """Tell what a reply with a status other than 200 means for its request."""
    if status in (400, 413, 422, 500) and _TOO_LONG.search(body):
        return Failure(Reason.CONTEXT_LENGTH, status)
    return Failure(Reason.BAD_REPLY if 200 <= status < 300 else Reason.SERVER_ERROR, status)


def split_thought(text: str) -> tuple[str, str]:
    """Return (reasoning, answer) of a text with `<think>` marks; all answer when there are none.

    A lone `</think>` ends a thought that the chat template began. A lone `<think>` was cut off: what follows it is
    no answer.
    """
    if "<think>" not in text and "</think>" not in text:
        return "", text
    thoughts = _THOUGHT.findall(text)
    answer = _THOUGHT.sub("", text)
    if "</think>" in answer:
        before, _, answer = answer.rpartition("</think>")
        thoughts.append(before)
    if "<think>" in answer:
        answer, _, after = answer.partition("<think>")
        thoughts.append(after)
    return "\n".join(thought.strip() for thought in thoughts), answer.strip()


def _whole_characters(text: str) -> str:
    """Replace halves of characters, which JSON can carry and no file can."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _cut(text: str, stop: tuple[str, ...]) -> tuple[str, bool]:
    ends = [end for end in (text.find(mark) for mark in stop if mark) if end >= 0]
    return (text[: min(ends)], True) if ends else (text, False)


def _finish_reason(value: object) -> FinishReason:
    return _FINISH.get(value, "other") if isinstance(value, str) else "other"


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
