"""Write a request as JSON, and read a reply as a response or a failure. Pure, and fails closed.

A server's text is data of the case: it leaves this module inside a Response only, never in an error.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
_MAX_ERROR_BYTES = 65_536  # the beginning of an error's body, which is searched for these words
_THOUGHT_BEGINS, _THOUGHT_ENDS = "<think>", "</think>"
_OBJECT = re.compile(r'\{\s*"')
_DECODER = json.JSONDecoder()
_MAX_WORK = 2_000_000  # characters that attempts at reading objects may cost in all
_MAX_TOKENS = 2**31  # a higher count is none
# Characters that a terminal or a page would obey instead of show. Those that separate words leave a space.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SHOWN_INSTEAD = {
    code: " " if chr(code).isspace() else "" for code in range(0xA0) if _CONTROL.match(chr(code))
}


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
    """Return the JSON object in `body`, or None when it holds no object."""
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
        accepts_name: tells whether the reply may name this `model`; None accepts any name.
    """
    reply = parse_object(body)
    if reply is None:
        return Failure(Reason.BAD_REPLY, 200)
    if accepts_name is not None and not accepts_name(reply.get("model")):
        return Failure(Reason.BAD_REPLY, 200)
    completion = _read_completion(reply.get("choices"))
    if isinstance(completion, Failure):
        return completion
    reasoning, answer = _separate_thoughts(completion, thinks=thinks)
    text = _cut_at_stop(answer, stop)
    is_cut = len(text) < len(answer)
    usage = _read_map(reply.get("usage"))
    return Response(
        text=_fit_to_show(text),
        reasoning=_fit_to_show(reasoning),
        finish_reason="stop" if is_cut else completion.finish_reason,
        prompt_tokens=read_token_count(usage.get("prompt_tokens")),
        completion_tokens=read_token_count(usage.get("completion_tokens")),
        seconds=seconds,
    )


@dataclass(frozen=True, slots=True)
class _Completion:
    """The first choice of a reply.

    Attributes:
        content: the answer, which may hold thoughts.
        reasoning: thoughts that the server keeps apart from the answer.
        finish_reason: why the server stopped.
    """

    content: str
    reasoning: str
    finish_reason: FinishReason


def _read_completion(choices: object) -> _Completion | Failure:
    """Read the first of a reply's choices."""
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
    # A model that thought up to its limit of tokens has no content; a missing one is a failure otherwise.
    if content is None and not reasoning and finish_reason != "length":
        return Failure(Reason.EMPTY, 200)
    return _Completion(content or "", reasoning, finish_reason)


def _read_map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _separate_thoughts(completion: _Completion, *, thinks: bool) -> tuple[str, str]:
    """Return (reasoning, answer) of a completion."""
    thought, answer = split_thought(completion.content)
    was_cut_off = completion.finish_reason == "length" and _THOUGHT_ENDS not in completion.content
    if thinks and was_cut_off and not completion.reasoning:
        # The prompt began a thought, so the text before any mark belongs to it as well.
        thought, answer = answer + thought, ""
    reasoning = "\n".join(filter(None, (completion.reasoning, thought)))
    return reasoning, answer


def parse_error(status: int, body: bytes) -> Failure:
    """Return the failure that a reply with a status other than 200 means for its request."""
    if status in (400, 413, 422, 500) and _TOO_LONG.search(body, 0, _MAX_ERROR_BYTES):
        return Failure(Reason.CONTEXT_LENGTH, status)
    if 200 <= status < 300:
        return Failure(Reason.BAD_REPLY, status)
    return Failure(Reason.SERVER_ERROR, status)


def has_thought_marks(text: str) -> bool:
    """Tell whether a thought begins or ends in the text."""
    return _THOUGHT_BEGINS in text or _THOUGHT_ENDS in text


def split_thought(text: str) -> tuple[str, str]:
    """Return (reasoning, answer) of a text with `<think>` marks; all answer when there are none.

    A lone `</think>` ends a thought that the chat template began. After a lone `<think>` a
    thought was cut off, and no answer follows. A mark in a text of a JSON object is spoken of, and divides nothing.
    The time taken is in proportion to the text, however hostile it is.
    """
    if not has_thought_marks(text):
        return "", text
    text = _hide_spoken_marks(text)
    thoughts: list[str] = []
    answer: list[str] = []
    begin = 0  # of the part that is not divided yet
    while (end := text.find(_THOUGHT_ENDS, begin)) >= 0:
        mark = text.find(_THOUGHT_BEGINS, begin, end)
        if mark >= 0:
            answer.append(text[begin:mark])
            thoughts.append(text[mark + len(_THOUGHT_BEGINS) : end])
        else:
            thoughts.append("".join(answer) + text[begin:end])
            answer.clear()
        begin = end + len(_THOUGHT_ENDS)
    last_part, mark_of_thought, cut_off_thought = text[begin:].partition(_THOUGHT_BEGINS)
    answer.append(last_part)
    if mark_of_thought:
        thoughts.append(cut_off_thought)
    reasoning = "\n".join(thought.strip() for thought in thoughts)
    return _show_spoken_marks(reasoning), _show_spoken_marks("".join(answer).strip())


def _hide_spoken_marks(text: str) -> str:
    """Return `text` without NUL, which then stands for the `<` of each mark within a JSON object."""
    text = text.replace("\0", "")
    last_mark = max(text.rfind(_THOUGHT_BEGINS), text.rfind(_THOUGHT_ENDS))
    parts = []
    work = 0  # characters that reading took so far
    begin = 0  # of the part that is not read yet
    while work < _MAX_WORK and (opening := _OBJECT.search(text, begin, last_mark)):
        start = opening.start()
        end = start + 1
        piece = text[start]
        try:
            _, end = _DECODER.raw_decode(text, start)
            piece = (
                text[start:end]
                .replace(_THOUGHT_BEGINS, "\0think>")
                .replace(_THOUGHT_ENDS, "\0/think>")
            )
        except json.JSONDecodeError as error:
            work += (
                error.pos - start + error.pos // 50 + 50
            )  # the error itself counts the lines before it
        except (ValueError, RecursionError):  # too many digits, or nested too deeply
            work += 50_000
        parts += [text[begin:start], piece]
        begin = end
    return "".join(parts) + text[begin:]


def _show_spoken_marks(text: str) -> str:
    return text.replace("\0", "<")


def _fit_to_show(text: str) -> str:
    """Replace halves of characters, which JSON can carry and no file can, and take out control characters."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not _CONTROL.search(text):
        return text
    return text.replace("\r\n", "\n").translate(_SHOWN_INSTEAD)


def _cut_at_stop(text: str, stop: Sequence[str]) -> str:
    """Return the text before the first stop sequence in it."""
    end = len(text)
    for mark in stop:
        position = text.find(mark)
        if mark and position >= 0:
            end = min(end, position)
    return text[:end]


def _read_finish_reason(value: object) -> FinishReason:
    return _FINISH.get(value, "other") if isinstance(value, str) else "other"


def read_token_count(value: object) -> int | None:
    """Return a number of tokens that a server wrote, or None when it is no such number."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < _MAX_TOKENS else None


def request_identity(request: ChatRequest, prompt_limit: int | None = None) -> bytes:
    """Return the bytes whose keyed hash is the answer's key: equal for equal requests, and only for them.

    Args:
        request: as it would be sent if it fits.
        prompt_limit: most tokens of its prompt; like what may be shortened, it can change what is sent.
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
    # Left out where neither is set, so that keys of answers stored before there were any stay the same.
    if part is not None or prompt_limit is not None:
        identity.append([part.message, part.start, part.end, part.keep] if part else None)
        identity.append(prompt_limit)
    return json.dumps(identity, separators=(",", ":")).encode()
