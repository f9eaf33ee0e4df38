"""The words on the wire: a request as JSON, a reply as a response or a failure. Pure, and fails closed.

A server's text is data of the case: it leaves this module inside a Response only, never in an error.
"""

import json
import re
from collections.abc import Callable, Mapping
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
_MOST_ERROR_BYTES = 65_536  # of an error's body are searched for them
_THOUGHT_BEGINS, _THOUGHT_ENDS = "<think>", "</think>"
_OBJECT = re.compile(r'\{\s*"')
_DECODER = json.JSONDecoder()
_MOST_WORK = 2_000_000  # characters that attempts at reading objects may cost in all
_MOST_TOKENS = 2**31  # a higher count is none
# What a terminal or a page would obey instead of show. Those that part words leave a space.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SHOWN_INSTEAD = {code: " " if chr(code).isspace() else "" for code in range(0xA0) if _CONTROL.match(chr(code))}


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


def parse_reply(
    body: bytes,
    *,
    stop: tuple[str, ...] = (),
    seconds: float = 0.0,
    thinks: bool = False,
    accepts_name: Callable[[object], bool] | None = None,
) -> Response | Failure:
    """Read the body of a chat completion with status 200.

    Args:
        body: as received.
        stop: the request's stop sequences; the answer is cut before the first, should the server not have done so.
        seconds: how long the attempt took.
        thinks: the model thinks first, and the prompt may have opened its thought: a text that was cut off before
            a thought ended is then a thought, whether or not it begins like one.
        accepts_name: tells of the reply's `model` whether it may stand there; None takes any.
    """
    reply = parse_object(body)
    choices = reply.get("choices") if reply is not None else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if reply is None or not isinstance(choice, dict) or not isinstance(message, dict):
        return Failure(Reason.BAD_REPLY, 200)
    if accepts_name is not None and not accepts_name(reply.get("model")):
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
    thought, text = split_thought(content)
    if thinks and finish == "length" and not apart and _THOUGHT_ENDS not in content:
        thought, text = text + thought, ""
    text, cut = _cut(text, stop)
    usage = reply.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Response(
        text=_fit_to_show(text),
        reasoning=_fit_to_show("\n".join(part for part in (apart, thought) if part)),
        finish_reason="stop" if cut else finish,
        prompt_tokens=token_count(counts.get("prompt_tokens")),
        completion_tokens=token_count(counts.get("completion_tokens")),
        seconds=seconds,
    )


def parse_error(status: int, body: bytes) -> Failure:
    """Tell what a reply with a status other than 200 means for its request."""
    if status in (400, 413, 422, 500) and _TOO_LONG.search(body, 0, _MOST_ERROR_BYTES):
        return Failure(Reason.CONTEXT_LENGTH, status)
    return Failure(Reason.BAD_REPLY if 200 <= status < 300 else Reason.SERVER_ERROR, status)


def has_thought_marks(text: str) -> bool:
    """Tell whether a thought begins or ends in the text."""
    return _THOUGHT_BEGINS in text or _THOUGHT_ENDS in text


def split_thought(text: str) -> tuple[str, str]:
    """Return (reasoning, answer) of a text with `<think>` marks; all answer when there are none.

    A lone `</think>` ends a thought that the chat template began. A lone `<think>` was cut off: what follows it is
    no answer. A mark in a text of a JSON object is spoken of, and divides nothing. Takes time in proportion to the
    text, whatever is in it.
    """
    if not has_thought_marks(text):
        return "", text
    text = _hide_spoken_marks(text)
    thoughts: list[str] = []
    answer: list[str] = []
    rest = 0  # where what has not been told apart begins
    while (end := text.find(_THOUGHT_ENDS, rest)) >= 0:
        begin = text.find(_THOUGHT_BEGINS, rest, end)
        if begin >= 0:
            answer.append(text[rest:begin])
            thoughts.append(text[begin + len(_THOUGHT_BEGINS) : end])
        else:
            thoughts.append("".join(answer) + text[rest:end])
            answer.clear()
        rest = end + len(_THOUGHT_ENDS)
    begin = text.find(_THOUGHT_BEGINS, rest)
    if begin >= 0:
        thoughts.append(text[begin + len(_THOUGHT_BEGINS) :])
        answer.append(text[rest:begin])
    else:
        answer.append(text[rest:])
    return _shown_again("\n".join(thought.strip() for thought in thoughts)), _shown_again("".join(answer).strip())


def _hide_spoken_marks(text: str) -> str:
    """Return `text` without NUL, which then stands for the `<` of each mark within a JSON object."""
    text = text.replace("\0", "")
    last = max(text.rfind(_THOUGHT_BEGINS), text.rfind(_THOUGHT_ENDS))
    done, work, parts = 0, 0, []
    while work < _MOST_WORK and (found := _OBJECT.search(text, done, last)):
        start = found.start()
        parts.append(text[done:start])
        try:
            _, end = _DECODER.raw_decode(text, start)
            parts.append(text[start:end].replace(_THOUGHT_BEGINS, "\0think>").replace(_THOUGHT_ENDS, "\0/think>"))
        except json.JSONDecodeError as why:
            end = start + 1
            parts.append(text[start])
            work += why.pos - start + why.pos // 50 + 50  # the error itself counts the lines before it
        except (ValueError, RecursionError):  # too many digits, or too deep a nest
            end = start + 1
            parts.append(text[start])
            work += 50_000
        done = end
    return "".join(parts) + text[done:]


def _shown_again(text: str) -> str:
    return text.replace("\0", "<")


def _fit_to_show(text: str) -> str:
    """Replace halves of characters, which JSON can carry and no file can, and take out control characters."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\r\n", "\n").translate(_SHOWN_INSTEAD) if _CONTROL.search(text) else text


def _cut(text: str, stop: tuple[str, ...]) -> tuple[str, bool]:
    ends = [end for end in (text.find(mark) for mark in stop if mark) if end >= 0]
    return (text[: min(ends)], True) if ends else (text, False)


def _finish_reason(value: object) -> FinishReason:
    return _FINISH.get(value, "other") if isinstance(value, str) else "other"


def token_count(value: object) -> int | None:
    """Return a number of tokens that a server wrote, or None when it is no such number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS else None


def request_identity(request: ChatRequest, prompt_limit: int | None = None) -> bytes:
    """Return the bytes whose keyed hash is the answer's key: equal for equal requests, and only for them.

    Args:
        request: as it would be sent if it fits.
        prompt_limit: most tokens of its prompt; like what may be shortened, it can change what is sent.
    """
    part = request.shortenable
    cut = [[part.message, part.start, part.end, part.keep] if part else None, prompt_limit]
    return json.dumps(
        [
            1,
            request.model,
            [[message.role, message.content] for message in request.messages],
            request.max_tokens,
            request.temperature,
            list(request.stop),
            request.seed,
            request.top_p,
            dict(sorted(request.extra_body.items())),
            *(cut if part or prompt_limit is not None else ()),  # without them a key is what it always was
        ],
        separators=(",", ":"),
    ).encode()
