"""Stands in for the package xllamacpp: a server without a model that answers "A" to those who hold its key."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace


class CommonParams(SimpleNamespace):
    """Settings: whatever the engine sets."""

    def __init__(self) -> None:
        super().__init__(model=SimpleNamespace(), cpuparams=SimpleNamespace())


class Server:
    """Listens from the moment it is made."""

    def __init__(self, params: CommonParams) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._reply({"data": [{"id": next(iter(params.model_alias))}]})

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                message = {"role": "assistant", "content": "A"}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                self._reply({"choices": [choice]})

            def _reply(self, content: object) -> None:
                is_known = self.headers["Authorization"] == f"Bearer {params.api_keys[0]}"
                body = json.dumps(content).encode() if is_known else b"{}"
                self.send_response(200 if is_known else 401)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer((params.hostnames[0], params.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://{params.hostnames[0]}:{params.port}"
