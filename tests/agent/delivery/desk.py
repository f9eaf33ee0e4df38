"""A small aggregator's desk on loopback: a real HTTP server with a real log, that can be told to misbehave."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from protocol import envelope, merkle
from protocol.checkpoint import Checkpoint, sign_checkpoint
from protocol.keys import Signer
from protocol.receipt import build_receipt
from tests.protocol import world


@dataclass
class Reply:
    """What the desk answers. `raw` replaces the whole response, status line and all."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    raw: Callable[[BaseHTTPRequestHandler], None] | None = None


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[[Request], Reply]


@dataclass
class Log:
    """A transparency log in memory."""

    signer: Signer = world.LOG
    origin: str = world.ORIGIN
    leaves: list[bytes] = field(default_factory=list)

    def head(self, size: int | None = None) -> str:
        size = len(self.leaves) if size is None else size
        hashes = [merkle.leaf_hash(leaf) for leaf in self.leaves[:size]]
        return sign_checkpoint(Checkpoint(self.origin, size, merkle.root(hashes)), self.signer)

    def receipt(self, leaf: bytes, size: int | None = None) -> str:
        size = len(self.leaves) if size is None else size
        hashes = [merkle.leaf_hash(one) for one in self.leaves[:size]]
        index = self.leaves.index(leaf)
        return build_receipt(index, merkle.inclusion_proof(hashes, index), self.head(size))

    def consistency(self, old: int, new: int) -> list[str]:
        return [
            node.hex()
            for node in merkle.consistency_proof(
                [merkle.leaf_hash(x) for x in self.leaves[:new]], old
            )
        ]


@dataclass
class Desk:
    """Answers like an aggregator that believes everything; `instead` answers first where it is set."""

    url: str
    log: Log = field(default_factory=Log)
    registries: list[bytes] = field(default_factory=list)
    seen: list[Request] = field(default_factory=list)
    instead: Answer | None = None

    def answer(self, request: Request) -> Reply:
        self.seen.append(request)
        if self.instead is not None:
            return self.instead(request)
        return self.honest(request)

    def honest(self, request: Request) -> Reply:
        parts = urlsplit(request.path)
        if parts.path == "/v1/submissions":
            opened = envelope.decode(request.body)
            if opened.pae not in self.log.leaves:
                self.log.leaves.append(opened.pae)
            return _json({"digest": opened.digest, "receipt": self.log.receipt(opened.pae)})
        if parts.path == "/v1/enrolments":
            return _json({"digest": envelope.decode(request.body).digest})
        if parts.path == "/v1/log/consistency":
            query = parse_qs(parts.query)
            return _json(
                {"proof": self.log.consistency(int(query["from"][0]), int(query["to"][0]))}
            )
        if parts.path == "/v1/log/checkpoint":
            return Reply(self.log.head().encode())
        if parts.path == "/v1/registry" and self.registries:
            return Reply(self.registries[-1])
        if parts.path.startswith("/v1/registry/"):
            return Reply(self.registries[int(parts.path.rsplit("/", 1)[1]) - 1])
        return _json({"code": "not_found"}, 404)


def _json(value: object, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), status)


@contextmanager
def open_desk() -> Iterator[Desk]:
    """Serve on a free port of loopback for the length of a `with` block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.serve()

        def do_POST(self) -> None:
            self.serve()

        def serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reply = desk.answer(Request(self.command, self.path, dict(self.headers), body))
            if reply.raw is not None:
                reply.raw(self)
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:
            """Be quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that hangs up on a misbehaving server is what is tested."""

    server = Server(("127.0.0.1", 0), Handler)
    desk = Desk(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield desk
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
