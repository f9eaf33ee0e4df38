"""Commands of the agent whose processes can be found and killed, and the sockets that these have."""

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.servers.real_servers import OFFLINE

_MARK = "INTRAMURAL_TEST_MARK"
_LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")
_NONE = ("00000000", "0" * 32)  # the remote address of a socket that listens


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
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            with suppress(OSError):
                is_ours = self._mark.encode() in (folder / "environ").read_bytes()
                if is_ours and part.encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
        return found

    def kill(self, part: str) -> None:
        """Kill the processes with this part in their command line."""
        for number in self.find(part):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    def wait_until_gone(self, seconds: float = 30.0) -> None:
        """Wait until none of the commands' processes is left; kill what is, and fail."""
        until = time.monotonic() + seconds
        while left := self.find():
            if time.monotonic() > until:
                self.kill("")
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
