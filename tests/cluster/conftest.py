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
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.cluster.cluster import NO_CALLS_HOME

_STARTS = 3
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
    host: str = "127.0.0.1"
    count: int = 0
    raylets: list[int] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def add(self, processors: int) -> int:
        """Start a node, and return the id of its raylet. Ray gives up after 30 s: a busy machine tries again."""
        for _ in range(_STARTS):
            self.count += 1
            own = self.folder / str(self.count)
            words = ["--address", self.address]
            if not self.raylets:
                words = ["--head", f"--port={self.port}", "--include-dashboard=false"]
            ray = [str(Path(sys.executable).with_name("ray")), "start", *words]
            ray += [f"--node-ip-address={self.host}", f"--num-cpus={processors}"]
            ray += [f"--temp-dir={own}", "--object-store-memory=80000000"]
            done = subprocess.run(
                ray, env=self.environment, check=False, capture_output=True, timeout=300
            )
            if done.returncode == 0:
                break
            self.kill(f"{own}/")
        assert done.returncode == 0, done.stderr
        (raylet,) = [
            pid for pid, words in self.list_processes(f"{own}/") if words[0].endswith("/raylet")
        ]
        self.raylets.append(raylet)
        return raylet

    def list_processes(self, place: str) -> list[tuple[int, list[str]]]:
        """Return the processes that name a folder of these nodes."""
        found = []
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                try:
                    words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
                except OSError:
                    continue
                if place in " ".join(words):
                    found.append((int(process.name), words))
        return found

    def kill(self, place: str) -> None:
        for pid, _ in self.list_processes(place):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        self.kill(f"{self.folder}/")
        shutil.rmtree(self.folder, ignore_errors=True)


def choose_port() -> int:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def make_nodes(host: str = "127.0.0.1", **changes: str) -> Nodes:
    folder = Path(tempfile.mkdtemp(prefix="imr"))  # names of sockets must be short
    environment = {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
        **NO_CALLS_HOME,
        "no_proxy": f"127.0.0.1,localhost,{host}",
        "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}",
        **changes,
    }
    return Nodes(choose_port(), folder, environment, host)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    made = make_nodes()
    try:
        made.add(0)
        made.add(1)
        yield made
    finally:
        made.end()
