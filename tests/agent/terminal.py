"""The command line without the second that a process of its own takes: the same `main`, with its output caught."""

import contextlib
import io
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from agent.cli.main import main


@dataclass(frozen=True)
class Done:
    """What `subprocess.run` gives of a command that has ended."""

    returncode: int
    stdout: str
    stderr: str


def intramural(*words: str | Path, cwd: Path) -> Done:
    """Run one command line to its end, in the folder `cwd`."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    level = logging.getLogger("intramural").level
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["intramural", *map(str, words)]),
    ):
        try:
            main()
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else int(bool(leave.code))
        finally:
            logging.getLogger("intramural").setLevel(level)
    return Done(code, out.getvalue(), err.getvalue())
