"""An engine for tests: lists its model to holders of the token, and ends as its first argument says.

Started as engines are: settings as a line of JSON on standard input. Behaviours: "serve"; "crash" before it serves;
"crash later", the first time it runs, after half a second; "no memory", with llama.cpp's words for it.
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main(behaviour: str, folder: Path) -> None:
    settings = json.loads(sys.stdin.readline())
    runs = folder / "runs"
    runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
    if behaviour == "crash":
        print("the weights are of an unknown kind", file=sys.stderr)
        sys.exit(3)
    if behaviour == "no memory":
        print("ggml: failed to allocate buffer of size 99999999999", file=sys.stderr)
        sys.exit(1)
    if behaviour == "crash later" and runs.read_text() == "x":
        threading.Thread(target=_crash_soon, daemon=True).start()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply({"data": [{"id": settings["name"]}], "pid": os.getpid()})

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            words = ["A", "B", "C", "D"] * 10
            words = words[: asked.get("max_tokens", 1)]
            choice = {
                "index": 0,
                "message": {"role": "assistant", "content": " ".join(words)},
                "finish_reason": "length",
            }
            self.reply({"model": asked.get("model"), "choices": [choice]})

        def reply(self, content: dict[str, object]) -> None:
            known = self.headers["Authorization"] == f"Bearer {settings['token']}"
            body = json.dumps(content).encode()
            self.send_response(200 if known else 401)
            self.send_header("Content-Length", str(len(body) if known else 0))
            self.end_headers()
            if known:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    ThreadingHTTPServer(("127.0.0.1", settings["port"]), Handler).serve_forever()


def _crash_soon() -> None:
    time.sleep(0.5)
    os._exit(9)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
