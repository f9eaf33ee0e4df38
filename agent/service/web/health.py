"""The checks of `intramural doctor`, run on request in a process of their own, and the newest outcome, kept."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Verdict = Literal["failed", "warning", "ok"]
Run = Callable[[Sequence[str]], str]

_FRESH_S: Final = 30.0  # within this time, an outcome is not asked for again
_WITHIN_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class HealthLine:
    """One check: what was checked, whether something should be done, what was found, and advice."""

    subject: str
    verdict: Verdict
    finding: str
    advice: str


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The outcome of all checks.

    Attributes:
        checked_at: when they ended, in seconds since 1970.
        lines: the checks, in their order.
        problem: why they could not be run; empty if they were.
    """

    checked_at: float
    lines: tuple[HealthLine, ...] = ()
    problem: str = ""

    def select(self, verdict: Verdict) -> tuple[HealthLine, ...]:
        """Return the checks with this verdict."""
        return tuple(line for line in self.lines if line.verdict == verdict)


class HealthChecks:
    """Runs the checks in the background, one time at once, and keeps the newest outcome until the service ends.

    Args:
        site_directory: the site.
        run: runs a command line of `intramural` and returns what it printed.
    """

    def __init__(self, site_directory: Path, run: Run | None = None) -> None:
        self._site_directory = site_directory
        self._run = run or self._run_command
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._began_at: float | None = None
        self._report: HealthReport | None = None

    @property
    def report(self) -> HealthReport | None:
        """The newest outcome; None if the checks have not ended since the service began."""
        return self._report

    @property
    def began_at(self) -> float | None:
        """When the checks that go on now began; None if none do."""
        return self._began_at

    def begin(self) -> None:
        """Begin the checks, unless they go on already or have just ended."""
        with self._lock:
            is_fresh = self._report and time.time() - self._report.checked_at < _FRESH_S
            if self._began_at is not None or is_fresh:
                return
            self._began_at = time.time()
        threading.Thread(target=self._check, name="health", daemon=True).start()

    def _check(self) -> None:
        try:
            report = _read_report(self._run(["doctor", "--format", "json"]))
        except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError) as error:
            report = HealthReport(
                time.time(), problem=f"the checks did not end ({type(error).__name__})"
            )
        with self._lock:
            self._report = report
            self._began_at = None

    def close(self) -> None:
        """End the checks that go on."""
        process = self._process
        if process is not None:
            process.kill()

    def _run_command(self, arguments: Sequence[str]) -> str:
        """Return what a command printed; it exits with another code than 0 if a check failed."""
        command = [sys.executable, "-m", "agent", "--site", str(self._site_directory), *arguments]
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            self._process = process
            try:
                printed, _ = process.communicate(timeout=_WITHIN_S)
            finally:
                self._process = None
                process.kill()
        return printed


def _read_report(printed: str) -> HealthReport:
    """Read the output of `doctor --format json`. Raises ValueError if it is something else."""
    lines: list[HealthLine] = []
    for row in json.loads(printed):
        verdict = row["verdict"]
        if verdict not in ("failed", "warning", "ok"):
            raise ValueError("an unknown verdict")
        lines.append(HealthLine(row["what"], verdict, row["finding"], row["advice"]))
    return HealthReport(time.time(), tuple(lines))
