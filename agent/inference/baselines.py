"""The reference baselines: an OpenAI-compatible server whose "models" are simple rules without weights.

They provide lower reference points on the board, and are always labelled as not being language models. The server
refuses fields that it does not honour, instead of ignoring them.
"""

import ipaddress
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.errors import ConfigError

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse

BASELINES = {
    "baseline/first-choice": "Answers with the first option, number or sentence.",
    "baseline/retrieval": "Chooses an option, number or sentence by the words that it shares with other text.",
    "baseline/lead": "Answers with the beginning of the material.",
    "baseline/random": "Answers at random, but gives the same answer for the same prompt and seed.",
}

_MAX_BODY_BYTES = 8 * 1024 * 1024
_MAX_ANSWERS = 16
_LOWEST_SEED = -(2**63)  # seeds are 64-bit numbers, as in vLLM
_DEFAULT_TOKENS = 1024
MAX_TOKENS = 131_072  # words in prompt and answer, similar to the windows of the compared models
_FIELDS = (
    "model messages max_tokens max_completion_tokens temperature top_p stop seed n user stream"
)
_HONOURED = frozenset(_FIELDS.split())
_TOKEN = re.compile(r"\S+")


def make_app(max_model_len: int = MAX_TOKENS) -> "Starlette":
    """Return the ASGI application. Tokens are words; prompt and answer together have up to `max_model_len`."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def models(request: Request) -> JSONResponse:  # noqa: ARG001 - the signature of a route
        return JSONResponse(_list_models(max_model_len))

    async def completions(request: Request) -> JSONResponse:
        return await _reply(request, JSONResponse, lambda body: _complete(body, max_model_len))

    async def tokenize(request: Request) -> JSONResponse:
        return await _reply(request, JSONResponse, lambda body: _tokenize(body, max_model_len))

    return Starlette(
        routes=[
            Route("/v1/models", models),
            Route("/v1/chat/completions", completions, methods=["POST"]),
            Route("/tokenize", tokenize, methods=["POST"]),
        ]
    )


def _list_models(max_model_len: int) -> dict[str, object]:
    models = []
    for name, rule in BASELINES.items():
        model = {
            "id": name,
            "object": "model",
            "created": 0,
            "owned_by": "intramural",
            "max_model_len": max_model_len,
            "language_model": False,
            "description": f"Reference baseline, not a language model. {rule}",
        }
        models.append(model)
    return {"object": "list", "data": models}


async def _reply(
    request: "Request",
    reply: "type[JSONResponse]",
    handle: Callable[[dict[str, Any]], dict[str, object]],
) -> "JSONResponse":
    """Reply to a request with a JSON body, or refuse it."""
    from agent.inference.wire import parse_object

    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > _MAX_BODY_BYTES:
            return reply(_describe_error("the request is too long"), status_code=413)
    body = parse_object(raw)
    if body is None:
        return reply(_describe_error("the body is not a JSON object"), status_code=400)
    if body.get("model") not in BASELINES:
        return reply(
            _describe_error("this model does not exist", "model_not_found"), status_code=404
        )
    try:
        return reply(handle(body))
    except ValueError as error:
        return reply(_describe_error(str(error)), status_code=400)


def _describe_error(message: str, code: str | None = None) -> dict[str, object]:
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    }


def _tokenize(body: dict[str, Any], max_model_len: int) -> dict[str, object]:
    """Count the words of a conversation, as vLLM counts tokens.

    Raises:
        ValueError: the messages are invalid.
    """
    count = len(_join_messages(body.get("messages")).split())
    return {
        "count": count,
        "max_model_len": max_model_len,
        "tokens": list(range(count)),
        "token_strs": None,
    }


@dataclass(frozen=True, slots=True)
class _CompletionRequest:
    """The fields of a request that the server honours.

    Attributes:
        model: the name of the baseline.
        text: the prompt.
        limit: the maximum number of words in each answer.
        seed: the seed, if any.
        answers: the number of answers.
        stop: stop sequences.
    """

    model: str
    text: str
    limit: int
    seed: int | None
    answers: int
    stop: list[str]

    @classmethod
    def read(cls, body: dict[str, Any]) -> "_CompletionRequest":
        """Read the body of a request.

        Raises:
            ValueError: a field has the wrong type or is not honoured; the message names it.
        """
        unknown = sorted(
            name for name, value in body.items() if name not in _HONOURED and value is not None
        )
        if unknown or body.get("stream"):
            raise ValueError(f"not supported by this server: {', '.join(unknown) or 'stream'}")
        text = _join_messages(body.get("messages"))
        max_tokens = _read_whole(body, "max_tokens", default=_DEFAULT_TOKENS, lowest=1)
        max_completion_tokens = _read_whole(
            body, "max_completion_tokens", default=_DEFAULT_TOKENS, lowest=1
        )
        return cls(
            model=body["model"],
            text=text,
            limit=min(max_tokens, max_completion_tokens),
            seed=None
            if body.get("seed") is None
            else _read_whole(body, "seed", default=0, lowest=_LOWEST_SEED),
            answers=_read_whole(body, "n", default=1, lowest=1),
            stop=_read_stop(body.get("stop")),
        )


def _complete(body: dict[str, Any], max_model_len: int) -> dict[str, object]:
    """Return the response to a request.

    Raises:
        ValueError: a field has the wrong type or is not honoured, or the prompt is too long.
    """
    from agent.inference.baseline_rules import answer

    request = _CompletionRequest.read(body)
    prompt_tokens = len(request.text.split())
    if prompt_tokens + request.limit > max_model_len:
        # Clients recognise a prompt that is too long by this wording, which vLLM also uses.
        raise ValueError(
            f"the maximum context length is {max_model_len} tokens, less than {prompt_tokens} in the prompt and "
            f"{request.limit} in the answer"
        )
    if request.answers > _MAX_ANSWERS:
        raise ValueError(f"n must be at most {_MAX_ANSWERS}")
    choices = []
    completion_tokens = 0
    for index in range(request.answers):
        text = answer(request.model, request.text, seed=request.seed, index=index)
        content, tokens, finish_reason = _limit_answer(text, request.limit, request.stop)
        completion_tokens += tokens
        message = {"role": "assistant", "content": content}
        choices.append(
            {"index": index, "message": message, "logprobs": None, "finish_reason": finish_reason}
        )
    return {
        "id": "chatcmpl-baseline",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "choices": choices,
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def _join_messages(messages: object) -> str:
    """Return the contents of a conversation's messages as one prompt."""
    if not isinstance(messages, list) or not messages:
        raise ValueError("messages must be a list with at least one message")
    contents = []
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, str):
            raise ValueError("the content of every message must be a string")
        contents.append(content)
    return "\n".join(contents)


def _read_whole(body: dict[str, Any], name: str, *, default: int, lowest: int) -> int:
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
        raise ValueError(f"{name} must be a whole number of at least {lowest}")
    return value


def _read_stop(value: object) -> list[str]:
    marks = value or []
    if isinstance(marks, str):
        return [marks]
    if not isinstance(marks, list) or not all(isinstance(mark, str) and mark for mark in marks):
        raise ValueError("stop must be a string or a list of strings")
    return marks


def _limit_answer(text: str, limit: int, stop: list[str]) -> tuple[str, int, str]:
    """Return an answer cut at the stop sequences and after `limit` words, its length and its finish reason."""
    positions = [text.find(mark) for mark in stop]
    text = text[: min((position for position in positions if position >= 0), default=len(text))]
    words = list(_TOKEN.finditer(text))
    if len(words) > limit:
        return text[: words[limit - 1].end()], limit, "length"
    return text, len(words), "stop"


def serve(
    host: str = "127.0.0.1",
    port: int = 0,
    on_ready: Callable[[str], None] | None = None,
    *,
    unsafe_any_host: bool = False,
    max_model_len: int = MAX_TOKENS,
) -> None:
    """Serve until interrupted. `on_ready` is called with the base URL (ending with /v1) once connections are accepted.

    Raises:
        ConfigError: the host is not a loopback address and `unsafe_any_host` is not set, or the port is in use.
    """
    if not (unsafe_any_host or _is_loopback(host)):
        raise ConfigError(
            "the baselines only listen on loopback addresses",
            "Use 127.0.0.1, or add --unsafe-any-host if this is really necessary.",
        )
    import uvicorn

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on port {port} ({error.strerror})", "Choose another port with --port."
        ) from None
    with listener:
        name = f"[{host}]" if family is socket.AF_INET6 else host
        if on_ready is not None:
            on_ready(f"http://{name}:{listener.getsockname()[1]}/v1")
        config = uvicorn.Config(
            make_app(max_model_len),
            log_level="warning",
            access_log=False,
            lifespan="off",
            timeout_keep_alive=75,
        )
        uvicorn.Server(config).run(sockets=[listener])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@click.group()
def baselines() -> None:
    """Reference baselines: simple rules, not language models.

    They are served through the interface of a model server.
    """


@baselines.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8001, show_default=True, help="Port to listen on; 0 for any free port."
)
@click.option(
    "--ready-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write the URL to when ready.",
)
@click.option(
    "--max-model-len",
    type=click.IntRange(1, MAX_TOKENS),
    default=MAX_TOKENS,
    show_default=True,
    help="Maximum number of words in a prompt and its answer together.",
)
@click.option(
    "--unsafe-any-host", is_flag=True, help="Allow addresses that other machines can reach."
)
def serve_command(
    host: str, port: int, ready_file: Path | None, max_model_len: int, unsafe_any_host: bool
) -> None:
    """Serve the reference baselines until interrupted.

    They are not language models. The first line printed is the server's URL.
    """

    def ready(url: str) -> None:
        if ready_file is not None:
            draft = ready_file.with_name(ready_file.name + ".new")
            draft.write_text(url, "utf-8")
            draft.replace(ready_file)
        click.echo(url)

    serve(host, port, ready, unsafe_any_host=unsafe_any_host, max_model_len=max_model_len)


if __name__ == "__main__":
    serve_command()
