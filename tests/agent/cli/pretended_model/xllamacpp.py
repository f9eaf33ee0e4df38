"""Stands for xllamacpp in tests: a server on loopback that answers A, and grades what a judge is asked for."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

VERDICT = {
    name: {"explanation": "invented", "score": score}
    for name, score in {"accuracy": 2, "completeness": 3, "clarity": 4}.items()
}


class CommonParams:
    """Takes every setting that the engine writes."""

    def __init__(self) -> None:
        self.model = SimpleNamespace()
        self.cpuparams = SimpleNamespace()


class Server:
    """Serves from a thread until the process ends."""

    def __init__(self, params: Any) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                (name,) = params.model_alias
                self.reply({"data": [{"id": name}]})

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                judging = "completeness" in str(asked.get("messages"))
                content = json.dumps(VERDICT) if judging else "A"
                choice = {
                    "index": 0,
                    "message": {"role": "assistant", "content": content},
                    "finish_reason": "stop",
                }
                self.reply({"model": asked.get("model"), "choices": [choice]})

            def reply(self, content: dict[str, object]) -> None:
                known = self.headers["Authorization"] == f"Bearer {params.api_keys[0]}"
                body = json.dumps(content).encode() if known else b""
                self.send_response(200 if known else 401)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer((params.hostnames[0], params.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://{params.hostnames[0]}:{params.port}"
