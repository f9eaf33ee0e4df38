"""A mock OpenAI-compatible server with a fixed latency and a fixed number of slots, for `make bench`.

    python tests/bench/mock_server.py --latency-ms 50 --slots 256

Bare asyncio, so that its own cost stays small beside the client's. Prints its base URL on the first line.
"""

import argparse
import asyncio
import json
from typing import Any


def answer_of(content: str) -> bytes:
    """Return the body of every reply."""
    return json.dumps(
        {
            "id": "chatcmpl-mock",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "mock/mock-model",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": content},
                }
            ],
            "usage": {"prompt_tokens": 400, "completion_tokens": 1, "total_tokens": 401},
        }
    ).encode()


SHORT = answer_of("Yes")
MODELS = json.dumps(
    {"object": "list", "data": [{"id": "mock/mock-model", "object": "model", "owned_by": "mock"}]}
).encode()


class Connection(asyncio.Protocol):
    """One HTTP/1.1 connection, kept alive; one request at a time."""

    def __init__(
        self, slots: asyncio.Semaphore, latency_s: float, counts: dict[str, int], body: bytes
    ) -> None:
        self.slots, self.latency_s, self.counts, self.body = slots, latency_s, counts, body
        self.waiting = b""
        self.tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.waiting += data
        head, mark, rest = self.waiting.partition(b"\r\n\r\n")
        if not mark:
            return
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line[15:])
        if len(rest) < length:
            return
        self.waiting = rest[length:]
        if head.startswith(b"GET /stats"):
            self.reply(json.dumps(self.counts).encode())
        elif head.startswith(b"GET"):
            self.reply(MODELS)
        else:
            is_judged = b"You judge an answer" in rest
            task = asyncio.ensure_future(self.answer(self.body if is_judged else SHORT))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def answer(self, body: bytes) -> None:
        async with self.slots:
            self.counts["requests"] += 1
            await asyncio.sleep(self.latency_s)
        self.reply(body)

    def reply(self, body: bytes) -> None:
        self.transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
            % len(body)
            + body
        )


async def serve(port: int, latency_s: float, slots: int, answer: str) -> None:
    """Serve until killed."""
    semaphore, counts, body = asyncio.Semaphore(slots), {"requests": 0}, answer_of(answer)
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(semaphore, latency_s, counts, body), "127.0.0.1", port, backlog=1024
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--slots", type=int, default=256)
    parser.add_argument("--answer", default="Yes", help="to judges' requests; others are told Yes")
    options = parser.parse_args()
    asyncio.run(serve(options.port, options.latency_ms / 1000, options.slots, options.answer))
