"""A model server in a process of its own, which a test can kill in the middle of its work.

    with ServerProcess(tmp_path / "a.log") as server: ...
    server.kill()  # SIGKILL; `server.answered` holds the prompts that it answered before

Run as a program, it is that server: `python -m tests.agent.inference.server_process PORT LOG LATENCY_S`.
"""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

from tests.agent.fault_server import Asked, FaultServer

ROOT = Path(__file__).parents[3]


class ServerProcess:
    """See the module's text. `latency_s` passes before each reply."""

    def __init__(self, log: Path, latency_s: float = 0.02) -> None:
        self._log = log
        self._latency_s = latency_s
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def answered(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start the server, on the same port as before if it was killed."""
        module = [sys.executable, "-m", "tests.agent.inference.server_process"]
        arguments = [str(self.port), str(self._log), str(self._latency_s)]
        self._process = subprocess.Popen(
            [*module, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def kill_after(self, answers: int) -> threading.Thread:
        """Kill the server as soon as it has answered so many requests; return the running thread that does so."""

        def watch() -> None:
            while self._process is not None and len(self.answered) < answers:
                time.sleep(0.02)
            self.kill()

        killer = threading.Thread(target=watch)
        killer.start()
        return killer

    def kill(self) -> None:
        """Kill the server with SIGKILL, which leaves it no time to finish anything."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None


def main(port: int, log: Path, latency_s: float) -> None:
    """Serve until killed, and write each prompt to the log as soon as it is answered."""
    with log.open("a") as file:

        def write(asked: Asked) -> None:
            file.write(asked.prompt + "\n")
            file.flush()

        server = FaultServer(answer="Yes", latency_s=latency_s, fault=write)
        server.port = port
        server.start()
        print(server.port, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
