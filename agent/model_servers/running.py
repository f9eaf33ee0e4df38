"""The servers that run now, as files in the site's folder `servers`, readable only by the site's account.

servers/NAME/server.json   the address, and the guardian's process
servers/NAME/token         the bearer token (0600)
servers/NAME/server.log    what the engine writes
servers/NAME/chat_template.jinja   a copy of the chat template, if the deployment names one
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from agent.io.atomic_files import write_atomically

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that the agent started.

    Attributes:
        deployment: the deployment's name.
        engine: the engine's name.
        address: the base address, which ends with /v1.
        guardian: the number of the guardian's process.
        began: when that process began, in the system's ticks, since numbers are used again.
        started_at: when the server was started, in seconds since 1970.
        weights: digest of the weights and the chat template at that time, see `compute_server_digest`.
    """

    deployment: str
    engine: str
    address: str
    guardian: int
    began: int
    started_at: int
    weights: str

    def is_alive(self) -> bool:
        """Return whether the guardian still runs."""
        return read_begin(self.guardian) == self.began


@dataclass(frozen=True, slots=True)
class ServerFolder:
    """The folder of one deployment's server."""

    path: Path

    @classmethod
    def find(cls, servers: Path, deployment: str) -> "ServerFolder":
        """Return the folder of a deployment's server, which need not exist."""
        plain = re.sub(r"[^A-Za-z0-9._-]", "_", deployment).lstrip(".")
        digest = hashlib.sha256(deployment.encode()).hexdigest()[:8]
        return cls(
            servers / (deployment if _PLAIN.fullmatch(deployment) else f"{plain[:50]}-{digest}")
        )

    @property
    def token(self) -> Path:
        """The file of the bearer token."""
        return self.path / "token"

    @property
    def log(self) -> Path:
        """The file that holds what the engine writes."""
        return self.path / "server.log"

    @property
    def chat_template(self) -> Path:
        """The copy of the deployment's chat template, which the engine reads."""
        return self.path / "chat_template.jinja"

    def read(self) -> RunningServer | None:
        """Return the server if it runs."""
        try:
            server = RunningServer(**json.loads((self.path / "server.json").read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        return server if server.is_alive() else None

    def write(self, server: RunningServer) -> None:
        """Record that a server runs."""
        write_atomically(self.path / "server.json", json.dumps(asdict(server)).encode())

    def forget(self) -> None:
        """Remove the record, the token and the template of a server that has ended; its log stays."""
        for name in ("server.json", "token", self.chat_template.name):
            (self.path / name).unlink(missing_ok=True)


def list_running(servers: Path) -> Iterator[RunningServer]:
    """Yield the servers that run now."""
    if not servers.is_dir():
        return
    for path in sorted(servers.iterdir()):
        server = ServerFolder(path).read() if path.is_dir() else None
        if server is not None:
            yield server


def read_begin(process: int) -> int:
    """Return when a process began, in ticks since the system started; 0 if there is no such process.

    Where the system has no /proc, 1 stands for every process that exists.
    """
    try:
        stat = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        if Path("/proc/self/stat").exists():
            return 0
        return _exists(process)
    # The name of the program, in brackets, may hold spaces; the state of a dead process that nobody waited for is Z.
    fields = stat.rpartition(b")")[2].split()
    return 0 if fields[0] == b"Z" else int(fields[19])


def _exists(process: int) -> int:
    try:
        os.kill(process, 0)
    except OSError:
        return 0
    return 1
