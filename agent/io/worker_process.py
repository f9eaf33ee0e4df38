"""Start a Python program of ours as a helper process, and talk to it by two pipes."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, cast


class WorkerProcess:
    """A process that reads requests from its standard input and writes replies to its standard output.

    It ends with its input: when this process ends, however it ends, the system closes the pipe, and the worker
    process reads its end. So it never outlives this process.

    Attributes:
        requests: its standard input.
        replies: its standard output.
    """

    def __init__(
        self, program: str | Path, *, flags: Sequence[str] = ("-P",), cwd: str | None = None
    ) -> None:
        """Start the process.

        Args:
            program: a module's name, or the path of a script.
            flags: of the interpreter; -P: no module is imported from the working directory.
            cwd: its working directory; None: that of this process.

        Raises:
            OSError: it cannot be started.
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
        """Tell whether the process has ended."""
        return self._child.poll() is not None

    def kill(self) -> None:
        """Kill the process. A thread that waits for a reply then reads the end of `replies`."""
        self._child.kill()

    def end(self, patience_s: float = 0.0) -> int:
        """End the process, close its pipes, and return its exit status: -N where signal N ended it.

        Args:
            patience_s: the time to wait for a process that may be ending by itself, so that its own status is
                returned; a process that still runs is then killed.
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
