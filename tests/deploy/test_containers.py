"""The files that images are built from, without building them: `make test-images` does that."""

import json
import re
import ssl
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.deploy.guides import DEPLOY
from tests.end_to_end.wire import PrivateAuthority

ROOT = DEPLOY.parent
CONTAINERS = DEPLOY / "containers"
FILES = sorted(CONTAINERS.glob("*.Containerfile"))
PROGRAMS = [path for path in FILES if path.name != "base.Containerfile"]
names = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)


def run_tool(name: str, *words: str) -> tuple[int, str]:
    """Run a program that the tests install beside Python; return its exit code and what it printed."""
    tool = Path(sys.executable).parent / name
    done = subprocess.run((tool, *words), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def read_instructions(path: Path) -> list[tuple[str, str]]:
    """Return the instructions of a Containerfile with their arguments, continued lines joined."""
    lines = path.read_text("utf-8").replace("\\\n", " ").splitlines()
    code = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in code]


@pytest.mark.parametrize("path", sorted(CONTAINERS.glob("*.sh")), ids=lambda path: path.stem)
def test_shellcheck_has_nothing_to_say(path: Path):
    assert run_tool("shellcheck", str(path)) == (0, "")


@names
def test_no_instruction_needs_a_shell(path: Path):
    for name, arguments in read_instructions(path):
        if name in ("RUN", "CMD", "ENTRYPOINT"):
            assert isinstance(json.loads(arguments), list)
        if name == "HEALTHCHECK":
            assert isinstance(json.loads(arguments.partition("CMD ")[2]), list)


@names
def test_the_program_runs_as_a_number_that_is_not_root(path: Path):
    assert [arguments for name, arguments in read_instructions(path) if name == "USER"] == [
        "65532:65532"
    ]


@names
def test_nothing_is_fetched_while_an_image_is_built(path: Path):
    instructions = read_instructions(path)
    sources = {arguments for name, arguments in instructions if name == "FROM"}
    assert sources == {"${BASE} AS build", "${BASE}"}
    assert "ADD" not in {name for name, _ in instructions}
    for name, arguments in instructions:
        if name == "COPY" and not arguments.startswith("--from"):
            *copied, _ = arguments.split()
            assert all((ROOT / each).exists() for each in copied if "wheelhouse" not in each)


@names
def test_an_image_says_what_it_is(path: Path):
    labels = " ".join(arguments for name, arguments in read_instructions(path) if name == "LABEL")
    for label in ("title", "description", "licenses", "version", "revision"):
        assert f"org.opencontainers.image.{label}=" in labels


def test_images_are_named_by_their_version_or_their_digest():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    guide = (CONTAINERS / "README.md").read_text("utf-8")
    texts = [guide, *(path.read_text("utf-8") for path in FILES)]
    for text in texts:
        assert ":latest" not in text
        for name, tag in re.findall(r"localhost/intramural-([a-z-]+)(:[\w.-]+)?", text):
            assert tag == (":13" if name.startswith("base") else f":{version}")
    builds = [line for line in guide.splitlines() if "buildah build" in line]
    assert len(builds) == 5
    for line in builds:
        assert ("--iidfile" in line) != ('BASE="$(cat deploy/containers/base.id)"' in line)


def test_only_packages_with_a_locked_hash_are_installed():
    program = (CONTAINERS / "install_program.py").read_text("utf-8")
    fetch = (CONTAINERS / "fetch-wheels.sh").read_text("utf-8")
    assert (
        '_LOCKED = ("--no-index", "--find-links", str(WHEELHOUSE), "--require-hashes", "--no-deps")'
        in program
    )
    assert " --require-hashes " in fetch


def test_the_locks_are_for_the_python_of_the_images():
    (version,) = set(re.findall(r"python3\.(\d+)", (CONTAINERS / "make-base.sh").read_text()))
    for variant in ("agent", "agent-vllm", "aggregator", "build"):
        assert (DEPLOY / "locks" / f"{variant}-py3{version}.txt").is_file()
    assert (
        f"--python-version 3.{version} --abi cp3{version} "
        in (CONTAINERS / "fetch-wheels.sh").read_text()
    )
    for path in PROGRAMS:
        assert f"/usr/bin/python3.{version}" in path.read_text()


@contextmanager
def serve(status: int, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Answer every request with a status; yield the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/healthz" else 500)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def check_health(port: int) -> int:
    command = (sys.executable, "-I", str(CONTAINERS / "check_health.py"), str(port))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout + done.stderr == ""
    return done.returncode


def test_a_program_that_answers_is_healthy_with_and_without_tls(tmp_path: Path):
    with serve(200) as port:
        assert check_health(port) == 0
    with serve(200, PrivateAuthority(tmp_path).issue("board.example").context()) as port:
        assert check_health(port) == 0


def test_a_program_that_fails_or_is_gone_is_not_healthy():
    with serve(503) as port:
        assert check_health(port) == 1
    assert check_health(port) == 1
