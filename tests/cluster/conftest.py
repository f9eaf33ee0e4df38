"""Real clusters of Ray on this machine; `make test-cluster` runs them in an environment that has Ray."""

import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.cluster.cluster import NO_CALLS_HOME

ROOT = Path(__file__).parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if importlib.util.find_spec("ray") is None:
        for item in items:
            if "tests/cluster/" in item.nodeid:
                item.add_marker(pytest.mark.skip(reason="clusters are met by `make test-cluster`"))


@dataclass
class Nodes:
    """A head without processors, and nodes that join it."""

    port: int
    folder: Path
    environment: dict[str, str]
    count: int = 0
    raylets: list[int] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def add(self, processors: int) -> int:
        """Start a node, and return the id of its raylet's process."""
        self.count += 1
        own = self.folder / str(self.count)
        words = ["--address", self.address]
        if self.count == 1:
            words = ["--head", f"--port={self.port}", "--include-dashboard=false"]
        ray = [str(Path(sys.executable).with_name("ray")), "start", *words]
        ray += ["--node-ip-address=127.0.0.1", f"--num-cpus={processors}", f"--temp-dir={own}"]
        subprocess.run(
            [*ray, "--object-store-memory=80000000"],
            env=self.environment,
            check=True,
            capture_output=True,
            timeout=120,
        )
        (raylet,) = [
            pid
            for pid, words in self.list_processes()
            if words[0].endswith("/raylet") and str(own) in " ".join(words)
        ]
        self.raylets.append(raylet)
        return raylet

    def list_processes(self) -> list[tuple[int, list[str]]]:
        """Return the processes of these nodes: those that name the folder."""
        found = []
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                try:
                    words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
                except OSError:
                    continue
                if f"{self.folder}/" in " ".join(words):
                    found.append((int(process.name), words))
        return found

    def end(self) -> None:
        for pid, _ in self.list_processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        shutil.rmtree(self.folder, ignore_errors=True)


def choose_port() -> int:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def make_nodes(**changes: str) -> Nodes:
    folder = Path(tempfile.mkdtemp(prefix="imr"))  # names of sockets must be short
    environment = {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
        **NO_CALLS_HOME,
        "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}",
        **changes,
    }
    return Nodes(choose_port(), folder, environment)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    made = make_nodes()
    try:
        made.add(0)
        made.add(1)
        yield made
    finally:
        made.end()
