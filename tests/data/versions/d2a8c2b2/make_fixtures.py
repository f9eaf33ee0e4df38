"""Makes a site as version d2a8c2b2 writes it, in the middle of a suite, so that upgrades can be tried on it.

    git worktree add ../version-d2a8c2b2 d2a8c2b2
    cd ../version-d2a8c2b2
    PYTHON /path/to/tests/data/versions/d2a8c2b2/make_fixtures.py

The version in the working directory runs; PYTHON is one that has its dependencies. What is made is written beside this
file and must not be there yet. Keys are drawn anew, so no two makings are the same.
"""

import json
import sqlite3
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

COMMIT = "d2a8c2b2"
HERE = Path(__file__).resolve().parent
SITE, FIGURES = HERE / "site", HERE / "figures.json"
MODELS = ("baseline/first-choice", "baseline/random")
INSTANCES = 8
ANSWERED = 10  # questions, before the server goes away
SHORTEST_QUESTION = 600  # bytes; the probes before a run are shorter
SUITE = "fixtures"


def main() -> None:
    """Make a site whose suite is half there, and the figures of the whole suite."""
    check_version()
    if there := [path.name for path in (SITE, FIGURES) if path.exists()]:
        sys.exit(f"already there: {', '.join(there)}")
    with serving_baselines() as url, TemporaryDirectory() as folder:
        whole = Path(folder, "whole")
        make_site(whole, url)
        run_suite(whole)
        FIGURES.write_text(summarise(whole), "utf-8")
        make_site(SITE, url)
        with going_away(url) as shy_url:
            write_deployments(SITE, shy_url)
            run_suite(SITE, expected=9)
    write_deployments(SITE, "http://127.0.0.1:1/v1")
    fold_in_journal()


def check_version() -> None:
    """Refuse to run any other version than the one that the folder is named after."""
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()
    changed = subprocess.check_output(
        ["git", "status", "--porcelain", "--untracked-files=no"], text=True
    )
    if not head.startswith(COMMIT) or changed:
        sys.exit(f"the working directory is no unchanged checkout of {COMMIT}")
    script = "import agent; print(agent.__file__)"
    found = Path(subprocess.check_output([sys.executable, "-c", script], text=True).strip())
    if not found.is_relative_to(Path.cwd()):
        sys.exit("the agent is taken from elsewhere than the working directory")


def make_site(directory: Path, url: str) -> None:
    """Make a site that gives a server up at once."""
    command("init", directory, "--site-name", "Invented Hospital")
    with (directory / "site.yaml").open("a", encoding="utf-8") as settings:
        settings.write("max_in_flight: 1\nmax_attempts: 1\noutage_grace_s: 1\n")
    write_deployments(directory, url)


def write_deployments(directory: Path, url: str) -> None:
    """Name the server of both models."""
    lines = ["model_deployments:"]
    for model in MODELS:
        lines += [f"  - name: {model}", f"    model_name: {model}", "    client_spec:"]
        lines += ["      class_name: helm.clients.vllm_client.VLLMChatClient"]
        lines += [f"      args: {{base_url: '{url}', vllm_model_name: {model}}}"]
    (directory / "model_deployments.yaml").write_text("\n".join(lines) + "\n", "utf-8")


def run_suite(directory: Path, *, expected: int = 0) -> None:
    """Run the benchmark for both baselines."""
    entries = [f"pubmed_qa:model={model}" for model in MODELS]
    words = ["--suite", SUITE, "--max-eval-instances", str(INSTANCES), "--run-entries", *entries]
    command("--site", directory, "run", "--quiet", *words, expected=expected)


def summarise(directory: Path) -> str:
    """Return the figures of the suite."""
    words = ["--site", str(directory), "summarize", "--suite", SUITE, "--format", "json"]
    said = subprocess.check_output([sys.executable, "-m", "agent", *words], text=True)
    return json.dumps(json.loads(said), indent=1) + "\n"


def command(*words: str | Path, expected: int = 0) -> None:
    """Run `intramural WORDS`, and stop everything if it ends otherwise than expected."""
    line = [sys.executable, "-m", "agent", *map(str, words)]
    print("$", *line[2:], flush=True)
    code = subprocess.run(line, stdin=subprocess.DEVNULL, check=False).returncode
    if code != expected:
        sys.exit(f"exit code {code} instead of {expected}")


@contextmanager
def serving_baselines() -> Iterator[str]:
    """Serve the baselines; yield the address."""
    line = [sys.executable, "-m", "agent", "baselines", "serve", "--port", "0"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def going_away(url: str) -> Iterator[str]:
    """Pass requests on to a server until enough questions are answered; yield the address."""
    questions: set[bytes] = set()

    class Passing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass_on(None)

        def do_POST(self) -> None:
            self._pass_on(self.rfile.read(int(self.headers["Content-Length"])))

        def _pass_on(self, body: bytes | None) -> None:
            if body is not None and len(body) > SHORTEST_QUESTION:
                questions.add(body)
            if len(questions) > ANSWERED:
                self.close_connection = True
                return
            address = url.removesuffix("/v1") + self.path
            request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request) as answer:
                    status, content = answer.status, answer.read()
            except urllib.error.HTTPError as error:
                status, content = error.code, error.read()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Passing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def fold_in_journal() -> None:
    """Leave the store as one file, without a journal beside it."""
    with closing(sqlite3.connect(SITE / "store" / "site.sqlite3")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        print("schema", database.execute("PRAGMA user_version").fetchone()[0])
        print("answers", database.execute("SELECT COUNT(*) FROM answers").fetchone()[0])
    if left := [*HERE.rglob("*-wal"), *HERE.rglob("*-shm"), *HERE.rglob("*-journal")]:
        sys.exit(f"journals were left: {left}")


if __name__ == "__main__":
    main()
