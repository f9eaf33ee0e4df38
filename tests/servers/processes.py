"""Commands of the agent whose processes can be found and killed, and the sockets that these have."""

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agent.model_servers.running import read_begin
from tests.servers.real_servers import OFFLINE

_MARK = "INTRAMURAL_TEST_MARK"
_LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")
_NONE = ("00000000", "0" * 32)  # the remote address of a socket that listens


def read_parent(process: int) -> int:
    """Return the number of a process's parent; 0 if the process has ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return 0
    return int(stat.rpartition(b")")[2].split()[1])


class Commands:
    """Runs commands of the agent in the servers' environment; whatever they start can be found.

    Args:
        environment: the servers' environment.
        site: the site.
    """

    def __init__(self, environment: Path, site: Path) -> None:
        self.site = site
        self._python = str(environment / "bin/python")
        self._mark = f"{_MARK}={secrets.token_hex(8)}"
        self._known: dict[int, int] = {}  # when each process began

    def run(
        self, *arguments: str, limit_kib: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, each of its processes with at most `limit_kib` of address space."""
        command = self._build(arguments)
        if limit_kib is not None:
            command = ["sh", "-c", f'ulimit -v {limit_kib}; exec "$@"', "sh", *command]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=self._environment()
        )

    def run_script(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a Python script in the servers' environment."""
        command = [self._python, "-c", script]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=self._environment()
        )

    @contextmanager
    def start(self, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
        """Start a command, which is killed at the end of the block."""
        with subprocess.Popen(
            self._build(arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self._environment(),
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def find(self, part: str = "") -> list[int]:
        """Return the numbers of the processes with this part in their command line."""
        found: list[int] = []
        for number in self._find_all():
            with suppress(OSError):
                if part.encode() in Path(f"/proc/{number}/cmdline").read_bytes():
                    found.append(number)
        return found

    def find_engines(self) -> list[int]:
        """Return the numbers of the engines' processes, which guardians have started."""
        guardians = self.find("model_servers.guardian")
        return [number for number in self._find_all() if read_parent(number) in guardians]

    def _find_all(self) -> list[int]:
        """Return all processes that the commands have started.

        A process that writes a title for itself, as vLLM's do, overwrites its environment with it. So their children
        are found as well, and stay known when their parents have ended.
        """
        parents: dict[int, int] = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            number = int(folder.name)
            parents[number] = read_parent(number)
            with suppress(OSError):
                if self._mark.encode() in (folder / "environ").read_bytes():
                    self._known[number] = read_begin(number)
        grown = True
        while grown:
            children = {
                number
                for number, parent in parents.items()
                if parent in self._known and number not in self._known
            }
            self._known.update((number, read_begin(number)) for number in children)
            grown = bool(children)
        self._known = {
            number: began
            for number, began in self._known.items()
            if began and read_begin(number) == began
        }
        return list(self._known)

    def kill(self, numbers: list[int]) -> None:
        """Kill these processes."""
        for number in numbers:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    def wait_until_gone(self, seconds: float = 30.0) -> None:
        """Wait until none of the commands' processes is left; kill what is, and fail."""
        until = time.monotonic() + seconds
        while left := self.find():
            if time.monotonic() > until:
                self.kill(left)
                raise AssertionError(f"{len(left)} processes were left behind")
            time.sleep(0.2)

    def list_far_sockets(self) -> list[str]:
        """Return the sockets of these processes that reach beyond loopback, or listen there."""
        inodes: set[str] = set()
        for number in self.find():
            with suppress(OSError):
                for descriptor in Path(f"/proc/{number}/fd").iterdir():
                    with suppress(OSError):
                        inodes.add(str(descriptor.readlink()))
        far: list[str] = []
        for table in ("tcp", "tcp6", "udp", "udp6"):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                local, remote = (field.partition(":")[0] for field in fields[1:3])
                is_near = local in _LOOPBACK and remote in (*_LOOPBACK, *_NONE)
                if f"socket:[{fields[9]}]" in inodes and not is_near:
                    far.append(f"{table} {local} {remote}")
        return far

    def _build(self, arguments: tuple[str, ...]) -> list[str]:
        return [self._python, "-m", "agent", "--site", str(self.site), *arguments]

    def _environment(self) -> dict[str, str]:
        name, _, value = self._mark.partition("=")
        return {**os.environ, **OFFLINE, name: value}
