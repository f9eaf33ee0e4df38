"""Run an engine, start it again after a crash, and end it with everything that it started.

Started by `start.py` as `python -m agent.model_servers.guardian`. Its first line of input is a JSON object with the
keys of `EngineStart`, the paths of the log and the weights, the stamp of the weights, and whether the server outlives
the command that started it. If not, the guardian ends when its input ends, which the system sees to however that
command ended.
"""

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

_RESTARTS = 3  # at most so many within _WINDOW_S, so that a server that cannot run is given up
_WINDOW_S = 600.0
_BACKOFF_S = (1.0, 5.0, 15.0)
_PATIENCE_S = 20.0  # for an engine to end by itself
_WATCH_S = 0.2
_PR_SET_PDEATHSIG = 1


class Guardian:
    """The process that watches over an engine."""

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._engine: subprocess.Popen[bytes] | None = None
        self._crashes: deque[float] = deque(maxlen=_RESTARTS + 1)
        self._ending = False

    def watch(self) -> int:
        """Run the engine until it is to end or crashes too often; return the guardian's exit status."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._note_end)
        with Path(self._start["log"]).open("ab", buffering=0) as log:
            try:
                while not self._ending:
                    if not self._run_once(log):
                        return 1
            finally:
                self._end_engine()
        return 0

    def _run_once(self, log: BinaryIO) -> bool:
        """Run the engine until it ends; return False if it has crashed too often."""
        self._engine = self._start_engine(log)
        while not self._ending and self._engine.poll() is None:
            self._wait(_WATCH_S)
        if self._ending:
            return True
        self._end_engine()  # ends what a crashed engine has left
        now = time.monotonic()
        self._crashes.append(now)
        recent = sum(now - crash < _WINDOW_S for crash in self._crashes)
        log.write(f"guardian: the engine ended with status {self._engine.returncode}\n".encode())
        if recent > _RESTARTS:
            log.write(b"guardian: it ended too often and is not started again\n")
            return False
        until = now + _BACKOFF_S[min(recent, len(_BACKOFF_S)) - 1]
        while not self._ending and time.monotonic() < until:
            self._wait(_WATCH_S)
        if not self._ending and self._has_other_weights():
            log.write(b"guardian: the weights have changed; the engine is not started again\n")
            return False
        return True

    def _has_other_weights(self) -> bool:
        """Return whether a new engine would read other weights than the first, under whose digest answers are kept."""
        from agent.model_servers.weights import stamp_weights

        try:
            return stamp_weights(Path(self._start["weights"])) != str(self._start["stamp"])
        except OSError:
            return True

    def _start_engine(self, log: BinaryIO) -> subprocess.Popen[bytes]:
        engine = subprocess.Popen(
            self._start["command"],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env={**os.environ, **self._start["environment"]},
            process_group=0,
            preexec_fn=_end_with_parent,  # noqa: PLW1509 (this process has one thread)
        )
        assert engine.stdin is not None
        with suppress(OSError), engine.stdin as pipe:
            pipe.write((self._start["first_line"] + "\n").encode())
        return engine

    def _wait(self, seconds: float) -> None:
        """Wait; note the end of the input, with which the guardian ends too."""
        if self._start["outlives"]:
            time.sleep(seconds)
        elif select.select([sys.stdin], [], [], seconds)[0] and not os.read(
            sys.stdin.fileno(), 4096
        ):
            self._ending = True

    def _end_engine(self) -> None:
        """End the engine and its children, first asking, then by force."""
        engine = self._engine
        if engine is None:
            return
        for number, patience_s in ((signal.SIGTERM, _PATIENCE_S), (signal.SIGKILL, None)):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(engine.pid, number)
            with suppress(subprocess.TimeoutExpired):
                engine.wait(patience_s)

    def _note_end(self, number: int, frame: object) -> None:
        del number, frame
        self._ending = True


def _end_with_parent() -> None:
    """Have the system end the engine if the guardian is killed (Linux)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def main() -> NoReturn:
    """Read the start from standard input and watch."""
    # The line is read byte by byte, so that none of the input waits in a buffer where `select` does not see it.
    line = bytearray()
    while (byte := os.read(sys.stdin.fileno(), 1)) not in (b"\n", b""):
        line += byte
    raise SystemExit(Guardian(json.loads(line)).watch())


if __name__ == "__main__":
    main()
