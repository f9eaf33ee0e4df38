"""Encode requests as JSON, and parse replies as responses or failures. Pure; fails closed.

The text of a reply may contain patient data, so it leaves this module only in a Response, never in an error.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.inference.closed_questions import read_closed_reply
from agent.reading.finish_reasons import FinishReason, find_finish_reason
from agent.reading.thoughts import SplitAnswer, has_thought_end, split_answer
from agent.vocabulary import ChatRequest, ClosedQuestion, Failure, Reason, Response

_encode = json.JSONEncoder(separators=(",", ":")).encode

# Error messages of vLLM, llama.cpp, TGI, SGLang, transformers and OpenAI for a prompt that is too long.
_TOO_LONG = re.compile(
    rb"context_length_exceeded|exceed_context_size|context (?:length|window|size)|maximum model length"
    rb"|max_model_len|max_position_embeddings|prompt is too long|input is too long|too many tokens"
    rb"|must have less than \d+ tokens|input length .{0,40}exceeds",
    re.IGNORECASE,
)
# Length of the beginning of an error body that is searched for these messages.
_MAX_ERROR_BYTES = 65_536
_MAX_TOKENS = 2**31  # higher counts are invalid
# Control characters, which could affect a terminal or page. Those that separate words are replaced by a space.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SHOWN_INSTEAD = {
    code: " " if chr(code).isspace() else "" for code in range(0xA0) if _CONTROL.match(chr(code))
}


def encode_object(body: Mapping[str, object]) -> bytes:
    """Return compact JSON in ASCII. Other characters are escaped, so any text can be sent, even invalid Unicode."""
    return _encode(body).encode("ascii")


def encode_request(
    request: ChatRequest,
    *,
    token_limit_field: str = "max_tokens",  # noqa: S107 - the name of a field
    always: Mapping[str, str | int | float | bool] | None = None,
) -> bytes:
    """Return the body of a request, with the fields of `always` unless the request overrides them."""
    body: dict[str, object] = {**(always or {}), **request.extra_body}
    body["model"] = request.model
    body["messages"] = [
        {"role": message.role, "content": message.content} for message in request.messages
    ]
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
    """Return the JSON object in `body`, or None if it is not a JSON object."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parse_reply(
    body: bytes,
    *,
    stop: tuple[str, ...] = (),
    seconds: float = 0.0,
    thinks: bool = False,
    accepts_name: Callable[[object], bool] | None = None,
    closed: ClosedQuestion | None = None,
) -> Response | Failure:
    """Parse the body of a chat completion with status 200.

    Args:
        body: the received body.
        stop: the request's stop sequences; the answer is cut before the first, in case the server did not do so.
        seconds: the duration of the attempt.
        thinks: whether this is a reasoning model, whose prompt may begin the reasoning. A text that was cut off
            without the end of the reasoning is then treated as reasoning, even if it does not begin with a mark.
        accepts_name: checks the field `model` of the reply; if None, any name is accepted.
        closed: the question's options, if the answer is one of them rather than free text.
    """
    reply = parse_object(body)
    if reply is None:
        return Failure(Reason.BAD_REPLY, 200)
    if accepts_name is not None and not accepts_name(reply.get("model")):
        return Failure(Reason.BAD_REPLY, 200)
    completion = _read_completion(reply.get("choices"))
    if isinstance(completion, Failure):
        return completion
    split = _separate_thoughts(completion, thinks=thinks)
    text = _cut_at_stop(split.answer, stop)
    finish_reason = completion.finish_reason
    if len(text) < len(split.answer):
        finish_reason = "stop"
    elif split.is_cut_off:
        # Some servers end a reply at a stop sequence within the reasoning.
        finish_reason = "length"
    usage = _read_map(reply.get("usage"))
    response = Response(
        text=_fit_to_show(text),
        reasoning=_fit_to_show(split.reasoning),
        finish_reason=finish_reason,
        prompt_tokens=read_token_count(usage.get("prompt_tokens")),
        completion_tokens=read_token_count(usage.get("completion_tokens")),
        seconds=seconds,
    )
    return response if closed is None else read_closed_reply(closed, reply, response)


@dataclass(frozen=True, slots=True)
class _Completion:
    """The first choice of a reply.

    Attributes:
        content: the answer, which may contain reasoning.
        reasoning: the reasoning that the server separated from the answer.
        finish_reason: the reason why the server stopped.
    """

    content: str
    reasoning: str
    finish_reason: FinishReason


def _read_completion(choices: object) -> _Completion | Failure:
    """Read the first choice of a reply."""
    choice = _read_map(choices[0]) if isinstance(choices, list) and choices else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        return Failure(Reason.BAD_REPLY, 200)
    finish_reason = _read_finish_reason(choice.get("finish_reason"))
    if finish_reason == "content_filter":
        return Failure(Reason.CONTENT_FILTER, 200)
    content = message.get("content")
    reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
    if not isinstance(content, str | None) or not isinstance(reasoning, str):
        return Failure(Reason.BAD_REPLY, 200)
    refusal = message.get("refusal")
    if content is None and isinstance(refusal, str):
        content = refusal
    # If the reasoning reached the token limit, there is no content. Otherwise, missing content is a failure.
    if content is None and not reasoning and finish_reason != "length":
        return Failure(Reason.EMPTY, 200)
    return _Completion(content or "", reasoning, finish_reason)


def _read_map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _separate_thoughts(completion: _Completion, *, thinks: bool) -> SplitAnswer:
    """Return the reasoning and the answer of a completion."""
    split = split_answer(completion.content)
    was_cut_off = completion.finish_reason == "length" and not has_thought_end(completion.content)
    if thinks and was_cut_off and not completion.reasoning:
        # The prompt began the reasoning, so the text before any mark also belongs to it.
        split = SplitAnswer(split.answer + split.reasoning, "", is_cut_off=True)
    reasoning = "\n".join(filter(None, (completion.reasoning, split.reasoning)))
    return SplitAnswer(reasoning, split.answer, split.is_cut_off)


def parse_error(status: int, body: bytes) -> Failure:
    """Return the failure for a reply with a status other than 200."""
    if status in (400, 413, 422, 500) and _TOO_LONG.search(body, 0, _MAX_ERROR_BYTES):
        return Failure(Reason.CONTEXT_LENGTH, status)
    if 200 <= status < 300:
        return Failure(Reason.BAD_REPLY, status)
    return Failure(Reason.SERVER_ERROR, status)


def _fit_to_show(text: str) -> str:
    """Replace lone surrogates, which JSON can contain but files cannot, and remove control characters."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not _CONTROL.search(text):
        return text
    return text.replace("\r\n", "\n").translate(_SHOWN_INSTEAD)


def _cut_at_stop(text: str, stop: Sequence[str]) -> str:
    """Return the text before the first stop sequence."""
    end = len(text)
    for mark in stop:
        position = text.find(mark)
        if mark and position >= 0:
            end = min(end, position)
    return text[:end]


def _read_finish_reason(value: object) -> FinishReason:
    reason = find_finish_reason(value) if isinstance(value, str) else None
    return reason or "other"


def read_token_count(value: object) -> int | None:
    """Return a number of tokens from a server's reply, or None if it is not a valid number."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < _MAX_TOKENS else None


def request_identity(request: ChatRequest, prompt_limit: int | None = None) -> bytes:
    """Return the bytes whose keyed hash is the answer's key. They are equal only for equal requests.

    Args:
        request: the request before it is shortened.
        prompt_limit: the maximum number of prompt tokens, which can change the sent request, as can `shortenable`.
    """
    identity: list[object] = [
        1,
        request.model,
        [[message.role, message.content] for message in request.messages],
        request.max_tokens,
        request.temperature,
        list(request.stop),
        request.seed,
        request.top_p,
        dict(sorted(request.extra_body.items())),
    ]
    part = request.shortenable
    closed = request.closed
    # Omitted if none is set, so that keys of answers from before these settings existed stay the same.
    if part is not None or prompt_limit is not None or closed is not None:
        identity.append([part.message, part.start, part.end, part.keep] if part else None)
        identity.append(prompt_limit)
    if closed is not None:
        identity.append([closed.mode, list(closed.options), list(closed.texts)])
    return json.dumps(identity, separators=(",", ":")).encode()
