"""A server that counts words as tokens, as vLLM or llama.cpp's server does, and refuses prompts that do not fit.

with CountingServer(window=100) as server: ...                      # vLLM: counts conversations
with CountingServer(window=100, kind="llama.cpp") as server: ...    # counts plain text; its template adds words
with CountingServer(window=100, on_count=failing_from(3, Status(500))) as server: ...
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tests.agent.fault_server import Action, Body, FaultServer, Slow, Status

TEMPLATE_WORDS = 5  # that the chat template puts around every message


@dataclass(frozen=True)
class Counted:
    """One request to count, as it arrived, and how many there were before it."""

    number: int
    body: Mapping[str, Any]


OnCount = Callable[
    [Counted], Action | int | None
]  # a number is what the server says instead of the truth


def failing_from(first: int, action: Action | int) -> OnCount:
    """Count honestly until the request of that number, and never again."""
    return lambda counted: action if counted.number >= first else None


def words(messages: list[Mapping[str, str]]) -> int:
    return sum(len(message["content"].split()) + TEMPLATE_WORDS for message in messages)


class CountingServer(FaultServer):
    """See the module's text; `counted` holds every request to count."""

    def __init__(
        self,
        *,
        window: int | None = None,
        listed: object = None,
        kind: Literal["vllm", "llama.cpp", "neither"] = "vllm",
        on_count: OnCount | None = None,
        props: object = None,
        **options: Any,
    ) -> None:
        keys = {"max_model_len": window if listed is None else listed} if kind == "vllm" else {}
        super().__init__(extra_model_keys=keys, **options)
        self.window = window
        self.kind = kind
        self.on_count = on_count
        self.props = {"default_generation_settings": {"n_ctx": window}} if props is None else props
        self.counted: list[Counted] = []

    async def _action(
        self, method: str, path: str, headers: Mapping[str, str], raw: bytes, connection: int
    ) -> Action:
        if (method, path) == ("POST", "/tokenize") and self.kind != "neither":
            counted = Counted(len(self.counted), json.loads(raw))
            self.counted.append(counted)
            return await self._count(counted)
        if (method, path) == ("GET", "/props") and self.kind == "llama.cpp":
            return Body(json.dumps(self.props).encode())
        return await super()._action(method, path, headers, raw, connection)

    async def _count(self, counted: Counted) -> Action:
        said = self.on_count(counted) if self.on_count else None
        if isinstance(said, Slow):
            import asyncio

            await asyncio.sleep(said.seconds)
            said = None
        if said is not None and not isinstance(said, int):
            return said
        if self.kind == "vllm":
            if "messages" not in counted.body:
                return Status(400)
            count = words(counted.body["messages"]) if said is None else said
            return Body(
                json.dumps({"count": count, "max_model_len": self.window, "tokens": []}).encode()
            )
        count = len(counted.body.get("content", "").split()) if said is None else said
        return Body(json.dumps({"tokens": list(range(count))}).encode())

    def _completion(self, body: Mapping[str, Any]) -> Action:
        prompt = words(body["messages"])
        if self.window is not None and prompt + body.get("max_tokens", 0) > self.window:
            message = f"This model's maximum context length is {self.window} tokens. However, you requested more."
            return Status(400, body=json.dumps({"message": message}).encode())
        action = super()._completion(body)
        if isinstance(action, Body):
            reply = json.loads(action.body)
            if "usage" in reply:
                reply["usage"]["prompt_tokens"] = prompt
            action = Body(json.dumps(reply).encode())
        return action
