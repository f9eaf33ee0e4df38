"""Helper processes: Python programs of this package that communicate through two pipes."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
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
        self,
        program: str | Path,
        *,
        flags: Sequence[str] = ("-P",),
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
        has_own_group: bool = False,
    ) -> None:
        """Start the process.

        Args:
            program: a module's name, or the path of a script.
            flags: options of the interpreter; -P prevents imports from the working directory.
            cwd: the worker's working directory; None for that of this process.
            environment: the worker's environment; None for that of this process.
            has_own_group: whether the worker and its children form a process group of their own. The whole group is
                then killed together, and Ctrl-C in a terminal does not reach it.

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
            env=environment,
            process_group=0 if has_own_group else None,
        )
        self._has_own_group = has_own_group
        self.requests = cast(IO[bytes], self._child.stdin)
        self.replies = cast(IO[bytes], self._child.stdout)

    def is_dead(self) -> bool:
        """Return whether the process has ended."""
        return self._child.poll() is not None

    def kill(self) -> None:
        """Kill the process. A thread that is waiting for a reply then reads the end of `replies`."""
        if self._has_own_group:
            # The group exists as long as it has a member, or its first process was not waited for.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
        else:
            self._child.kill()

    def end(self, patience_s: float = 0.0) -> int:
        """End the process, close its pipes and return its exit status, which is -N if signal N ended it.

        Args:
            patience_s: seconds to wait for the process to end by itself, so that its own status is returned;
                afterwards it is killed. A process with a group of its own is killed at once.
        """
        if self._has_own_group:
            # Waiting would free the number of the group, which its other members may still have.
            self.kill()
        else:
            self._wait_or_kill(patience_s)
        with (
            suppress(OSError),
            self._child,
        ):  # closes the pipes and waits; OSError: part of a request was not sent
            pass
        return self._child.returncode

    def _wait_or_kill(self, patience_s: float) -> None:
        try:
            self._child.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._child.kill()
