"""A real HTTP server on loopback that answers as a language-model server does, and fails on demand.

    with FaultServer() as server: ...                                    # honours the OpenAI fields it knows
    with FaultServer(fault=by_prompt(0.1, Status(500))) as server: ...   # the same prompts fail always
    with FaultServer(fault=in_turn(Status(429, {"Retry-After": "1"}), None)) as server: ...

`server.url` ends in /v1. `server.asked` holds every chat request received, in order. `stop()` and `start()` make
an outage on the same port. The server runs in a thread of its own, so that a test may start processes against it.
"""

import asyncio
import json
import random
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Asked:
    """One chat request as it arrived; `number` counts from 0, `connection` names the connection it came on."""

    number: int
    connection: int
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    at: float  # time.monotonic()

    @property
    def prompt(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"])


@dataclass(frozen=True)
class Status:
    """Reply with this status; the body is an OpenAI error unless given."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b'{"error": {"message": "injected failure", "type": "server_error"}}'


@dataclass(frozen=True)
class Body:
    """Reply 200 with these bytes: HTML, truncated JSON, whatever a test needs."""

    body: bytes
    content_type: str = "application/json"


@dataclass(frozen=True)
class Message:
    """Reply 200 with this message and finish reason, and with this `model` if it is given."""

    message: Mapping[str, object] | None
    finish: object = "stop"
    model: object = None


class Hang:
    """Take the request and never reply."""


@dataclass(frozen=True)
class Slow:
    """Reply as usual, after so many seconds more."""

    seconds: float


@dataclass(frozen=True)
class Held:
    """Reply as usual once the event is set."""

    until: threading.Event


@dataclass(frozen=True)
class Break:
    """Break the connection: before replying, or in the middle of a body whose length was announced."""

    mid_reply: bool = False
    reset: bool = True  # TCP reset; otherwise an orderly close


@dataclass(frozen=True)
class Huge:
    """Reply with a body of so many bytes, in pieces, without an announced length."""

    size: int


Action = Status | Body | Message | Hang | Slow | Held | Break | Huge
Fault = Callable[[Asked], Action | None]  # None: answer as usual

HTML = Body(b"<!doctype html><title>Login</title><p>Please log in", "text/html")
TRUNCATED = Body(b'{"id": "1", "choices": [{"index": 0, "message": {"role": "assist')
NO_CHOICES = Body(b'{"id": "1", "object": "chat.completion", "choices": []}')


def always(action: Action) -> Fault:
    return lambda asked: action


def in_turn(*actions: Action | None) -> Fault:
    """The first request gets the first action, and so on; the last one repeats."""
    return lambda asked: actions[min(asked.number, len(actions) - 1)]


def by_prompt(share: float, action: Action) -> Fault:
    """The same prompts, that share of all, fail always."""
    return lambda asked: action if is_marked(asked.prompt, share) else None


def is_marked(prompt: str, share: float) -> bool:
    return zlib.crc32(prompt.encode()) % 1000 < share * 1000


def containing(mark: str, action: Action) -> Fault:
    """Prompts that hold `mark` fail always."""
    return lambda asked: action if mark in asked.prompt else None


class FaultServer:
    """See the module's text.

    Args:
        models: names it serves; others are refused with 404 unless "model" is ignored. Empty: lists none.
        answer: what it says; None makes up words that hang on prompt, seed and temperature.
        fault: what goes wrong, by request.
        latency_s: seconds before each reply.
        ignores: fields that are silently ignored (max_tokens, max_completion_tokens, stop, n, seed, logprobs,
            top_logprobs, prompt_logprobs, continue_final_message, response_format, structured_outputs, guided_choice,
            grammar, temperature, model, usage).
        refuses: fields that are refused with 400.
        token: bearer token that must be shown.
        replies_as: the `model` of its replies; None repeats the one that was asked for.
        owned_by: what the list of models says.
        tls: serve https with this context.
        host: loopback address to listen on.
        likeliest: the likeliest first tokens of the answer to a prompt, with the logarithms of their probabilities.
        rate: the logarithm of the probability of a text as the answer to a prompt.
    """

    def __init__(
        self,
        *,
        models: Sequence[str] = ("test-model",),
        answer: str | None = None,
        fault: Fault | None = None,
        latency_s: float = 0.0,
        ignores: Collection[str] = (),
        refuses: Collection[str] = (),
        token: str | None = None,
        replies_as: object = None,
        owned_by: object = "test",
        server_header: str = "test",
        tls: ssl.SSLContext | None = None,
        host: str = "127.0.0.1",
        extra_model_keys: Mapping[str, object] | None = None,
        likeliest: Callable[[str], Mapping[str, float]] | None = None,
        rate: Callable[[str, str], float] | None = None,
    ) -> None:
        self.models = tuple(models)
        self.answer = answer
        self.fault = fault
        self.latency_s = latency_s
        self.ignores = frozenset(ignores)
        self.refuses = frozenset(refuses)
        self.token = token
        self.replies_as = replies_as
        self.owned_by = owned_by
        self.server_header = server_header
        self.tls = tls
        self.host = host
        self.extra_model_keys = dict(extra_model_keys or {})
        self.likeliest = likeliest
        self.rate = rate
        self.asked: list[Asked] = []
        self.seen_paths: list[str] = []
        self.connections = 0
        self.in_flight = 0
        self.peak_in_flight = 0
        self.port = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}/v1"

    @property
    def prompts(self) -> list[str]:
        return [asked.prompt for asked in self.asked]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Listen, on the same port as before if it was stopped."""
        ready = threading.Event()
        failed: list[OSError] = []

        async def main() -> None:
            family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
            try:
                listener = socket.create_server((self.host, self.port), family=family, backlog=1024)
            except OSError as error:
                failed.append(error)
                ready.set()
                return
            self.port = listener.getsockname()[1]
            self._loop = asyncio.get_running_loop()
            self._stopping = asyncio.Event()
            server = await asyncio.start_server(self._serve, sock=listener, ssl=self.tls)
            ready.set()
            await self._stopping.wait()
            server.close()
            conversations = asyncio.all_tasks() - {asyncio.current_task()}
            for conversation in conversations:
                conversation.cancel()
            await asyncio.gather(*conversations, return_exceptions=True)

        self._thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
        self._thread.start()
        assert ready.wait(10)
        if failed:
            raise failed[0]

    def stop(self) -> None:
        """Stop listening and break every connection."""
        if self._thread is not None and self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(10)
        self._thread = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        try:
            while await self._exchange(reader, writer, number):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int
    ) -> bool:
        """Take one request and reply; False when the connection is done with."""
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines if line)
        }
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        self.seen_paths.append(path)
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.latency_s)
            action = await self._action(method, path, headers, raw, connection)
        finally:
            self.in_flight -= 1
        return await self._act(action, writer)

    async def _action(
        self, method: str, path: str, headers: Mapping[str, str], raw: bytes, connection: int
    ) -> Action:
        if self.token is not None and headers.get("authorization") != f"Bearer {self.token}":
            return Status(401)
        path = path.removeprefix(f"http://127.0.0.1:{self.port}")  # as a proxy is asked
        if (method, path) == ("GET", "/v1/models"):
            return self._model_list()
        if (method, path) != ("POST", "/v1/chat/completions"):
            return Status(404)
        asked = Asked(len(self.asked), connection, headers, json.loads(raw), time.monotonic())
        self.asked.append(asked)
        action = self.fault(asked) if self.fault else None
        if isinstance(action, Slow):
            await asyncio.sleep(action.seconds)
            action = None
        if isinstance(action, Held):
            await asyncio.to_thread(action.until.wait, 60)
            action = None
        return action or self._completion(asked.body)

    async def _act(self, action: Action, writer: asyncio.StreamWriter) -> bool:
        match action:
            case Hang():
                await asyncio.sleep(3600)
            case Break(mid_reply, reset):
                if mid_reply:
                    self._write_head(writer, 200, {"Content-Length": "500"})
                    writer.write(b'{"id": "1", "choices": [')
                    await writer.drain()
                if reset and not self.tls:
                    linger = (1).to_bytes(4, "little") + (0).to_bytes(4, "little")
                    writer.get_extra_info("socket").setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, linger
                    )
                return False
            case Huge(size):
                self._write_head(
                    writer, 200, {"Content-Type": "application/json", "Connection": "close"}
                )
                for _ in range(size // 65_536 + 1):
                    writer.write(b"x" * 65_536)
                    await writer.drain()
                return False
            case Status(status, headers, body):
                self._write_head(writer, status, {**headers, "Content-Length": str(len(body))})
                writer.write(body)
            case Body(body, content_type):
                self._write_head(
                    writer, 200, {"Content-Type": content_type, "Content-Length": str(len(body))}
                )
                writer.write(body)
            case Message(message, finish, model):
                choice = {"index": 0, "message": message, "finish_reason": finish}
                reply = {
                    "id": "1",
                    "object": "chat.completion",
                    "model": model,
                    "choices": [choice],
                }
                body = json.dumps(reply).encode()
                return await self._act(Body(body), writer)
            case _:
                raise AssertionError(action)
        await writer.drain()
        return True

    def _write_head(
        self, writer: asyncio.StreamWriter, status: int, headers: Mapping[str, str]
    ) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Server: {self.server_header}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    def _model_list(self) -> Action:
        if not self.models:
            return Status(404)
        data = [
            {"id": name, "object": "model", "owned_by": self.owned_by, **self.extra_model_keys}
            for name in self.models
        ]
        return Body(json.dumps({"object": "list", "data": data}).encode())

    def _completion(self, body: Mapping[str, Any]) -> Action:
        refused = [name for name in body if name in self.refuses]
        if refused:
            return Status(400)
        if self.models and body.get("model") not in self.models and "model" not in self.ignores:
            return Status(404)
        heard = {name: value for name, value in body.items() if name not in self.ignores}
        choices = [self._choice(heard, index) for index in range(heard.get("n", 1))]
        tokens = sum(len(choice["message"]["content"].split()) for choice in choices)
        name = body.get("model") if self.replies_as is None else self.replies_as
        reply: dict[str, object] = {
            "id": "1",
            "object": "chat.completion",
            "model": name,
            "choices": choices,
        }
        if "usage" not in self.ignores:
            reply["usage"] = {
                "prompt_tokens": 7,
                "completion_tokens": tokens,
                "total_tokens": 7 + tokens,
            }
        if "prompt_logprobs" in heard:
            reply["prompt_logprobs"] = self._prompt_logprobs(heard)
        return Body(json.dumps(reply).encode())

    def _prompt_logprobs(self, heard: Mapping[str, Any]) -> list[Any]:
        """Return vLLM's list: nothing for the first token, then each prompt token beside the likeliest in its place.

        As `usage` says, a prompt has seven tokens. A message that is continued adds a token for each word.
        """
        positions: list[Any] = [None]
        positions += [{"5": {"logprob": -1.0, "rank": 1, "decoded_token": "x"}}] * 6
        if not heard.get("continue_final_message"):
            return positions
        *before, last = heard["messages"]
        tokens = last["content"].replace(" ", "| ").split("|")
        logprob = self.rate(before[-1]["content"], last["content"]) if self.rate else -1.0
        for number, token in enumerate(tokens):
            own = {"logprob": logprob / len(tokens), "rank": 2, "decoded_token": token}
            likeliest = {"logprob": -0.01, "rank": 1, "decoded_token": "The"}
            positions.append({"7": likeliest, str(100 + number): own})
        return positions

    def _choice(self, heard: Mapping[str, Any], index: int) -> dict[str, Any]:
        prompt = json.dumps(heard["messages"])
        options = read_options(heard)
        if options:
            option = (
                self.answer
                if self.answer in options
                else options[zlib.crc32(prompt.encode()) % len(options)]
            )
            words = [option]
        elif "response_format" in heard:
            words = fill_schema(heard["response_format"]["json_schema"]["schema"], self.answer)
        elif self.answer is not None:
            words = self.answer.split(" ")
        else:
            hot = heard.get("temperature", 1) > 0
            draw = (heard["seed"] if "seed" in heard else random.random()) if hot else 0
            rng = random.Random(f"{prompt}{draw}{index}")
            words = [f"word{rng.randrange(1000)}" for _ in range(30)]
        limit = min(heard.get("max_tokens", 1000), heard.get("max_completion_tokens", 1000))
        finish = "stop"
        if len(words) > limit:
            words, finish = words[:limit], "length"
        text = " ".join(words)
        stop = heard.get("stop") or []
        for mark in [stop] if isinstance(stop, str) else stop:
            if mark in text:
                text, finish = text[: text.index(mark)], "stop"
        choice: dict[str, Any] = {
            "index": index,
            "message": {"role": "assistant", "content": text},
            "finish_reason": finish,
        }
        if heard.get("logprobs"):
            first = self._first_logprobs(prompt, words, heard.get("top_logprobs", 0))
            rest = [{"token": word, "logprob": -1.0, "top_logprobs": []} for word in words[1:]]
            choice["logprobs"] = {"content": [first, *rest]}
        return choice

    def _first_logprobs(self, prompt: str, words: Sequence[str], number: int) -> dict[str, Any]:
        likeliest = {words[0]: -1.0, "The": -2.5, "I": -3.5}
        if self.likeliest is not None:
            likeliest = dict(self.likeliest(prompt))
        ordered = sorted(likeliest.items(), key=lambda item: -item[1])
        listed = [{"token": token, "logprob": logprob} for token, logprob in ordered]
        return {**listed[0], "top_logprobs": listed[:number]}


def read_options(heard: Mapping[str, Any]) -> list[str]:
    """Return the options of vLLM's newer and older field and of llama.cpp's grammar; empty without such a field."""
    if "structured_outputs" in heard:
        return list(heard["structured_outputs"]["choice"])
    if "guided_choice" in heard:
        return list(heard["guided_choice"])
    if "grammar" in heard:
        _, _, alternatives = heard["grammar"].partition("root ::= ")
        return [json.loads(literal) for literal in alternatives.split(" | ")]
    return []


def fill_schema(schema: Mapping[str, Any], answer: str | None) -> list[str]:
    """Return the words of an object that follows a schema of one key with listed values; of no other schema."""
    properties = schema.get("properties", {})
    if properties.keys() != {"answer"}:
        return ['{"colour":', '"blue"}']
    values = properties["answer"]["enum"]
    value = answer if answer in values else values[0]
    return ['{"answer":', f'"{value}"}}']
