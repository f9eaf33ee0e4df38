"""Helper processes: Python programs of this package that communicate through two pipes."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, cast


class WorkerProcess:
    """A process that reads requests from its standard input and writes replies to its standard output.

    The worker ends when its input ends. The system closes the pipe whenever this process ends, so the worker never
    outlives it.

    Attributes:
        requests: the worker's standard input.
        replies: the worker's standard output.
    """

    def __init__(
        self, program: str | Path, *, flags: Sequence[str] = ("-P",), cwd: str | None = None
    ) -> None:
        """Start the process.

        Args:
            program: a module's name, or the path of a script.
            flags: options of the interpreter; -P prevents imports from the working directory.
            cwd: the worker's working directory; None for that of this process.

        Raises:
            OSError: the process cannot be started.
        """
        arguments = [str(program)] if isinstance(program, Path) else ["-m", program]
        self._child = subprocess.Popen(
            [sys.executable, *flags, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # an error message might quote a request
            cwd=cwd,
        )
        self.requests = cast(IO[bytes], self._child.stdin)
        self.replies = cast(IO[bytes], self._child.stdout)

    def is_dead(self) -> bool:
        """Return whether the process has ended."""
        return self._child.poll() is not None

    def kill(self) -> None:
        """Kill the process. A thread that is waiting for a reply then reads the end of `replies`."""
        self._child.kill()

    def end(self, patience_s: float = 0.0) -> int:
        """End the process, close its pipes and return its exit status, which is -N if signal N ended it.

        Args:
            patience_s: seconds to wait for the process to end by itself, so that its own status is returned;
                afterwards it is killed.
        """
        try:
            self._child.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._child.kill()
        with (
            suppress(OSError),
            self._child,
        ):  # closes the pipes and waits; OSError: part of a request was not sent
            pass
        return self._child.returncode
