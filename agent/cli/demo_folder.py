"""The folder of a demo, and the commands that it runs there."""

import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from agent.cli.demo_ward import BENCHMARK
from agent.errors import AgentError
from agent.io.plain_text import printable

# Python files in the user's current folder are not imported in place of packages of the same name.
_PYTHON: Final = (sys.executable, "-P", "-m")
_PROGRAMS: Final = {"intramural": "agent", "intramural-aggregator": "aggregator"}


class DemoError(AgentError):
    """A step of the demo failed; its output is shown above the error."""

    advice = (
        "See the output of the step above. Run the command again, or name a new folder with --dir."
    )


@dataclass(frozen=True, slots=True)
class Demo:
    """The folder of a demo, with a site, a steward, an aggregator and a board."""

    directory: Path

    @property
    def site(self) -> Path:
        """The hospital's site directory."""
        return self.directory / "site"

    @property
    def steward_key(self) -> Path:
        """The steward's key; at a real site the steward keeps it on another machine."""
        return self.directory / "steward" / "steward.key"

    @property
    def aggregator(self) -> Path:
        """The aggregator's directory."""
        return self.directory / "aggregator"

    @property
    def own_benchmark(self) -> Path:
        """The hospital's own benchmark."""
        return self.site / "benchmarks" / BENCHMARK

    @property
    def deployments(self) -> Path:
        """The list of the site's model servers."""
        return self.site / "model_deployments.yaml"

    @property
    def judges(self) -> Path:
        """The jury that grades free text."""
        return self.directory / "judges.yaml"

    @property
    def invite(self) -> Path:
        """The invite that the central team gives to the site."""
        return self.directory / "invite.json"

    @property
    def board(self) -> Path:
        """The published board."""
        return self.directory / "board"

    def agent(self, *words: str | Path, shown: bool | int = True) -> str:
        """Run `intramural --site SITE WORDS` and return its output."""
        return self._run("intramural", ["--site", self.site, *words], shown)

    def central(self, *words: str | Path, shown: bool | int = True) -> str:
        """Run `intramural-aggregator --dir DIR WORDS` and return its output."""
        return self._run("intramural-aggregator", ["--dir", self.aggregator, *words], shown)

    def _run(self, program: str, words: Sequence[str | Path], shown: bool | int) -> str:
        """Run a command and return its output; show the command and its output, or the last `shown` lines."""
        if shown:
            click.secho(f"$ {program} {shlex.join(map(str, words))}", fg="cyan")
        command = [*_PYTHON, _PROGRAMS[program], *map(str, words)]
        process = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, check=False
        )
        if shown is True or process.returncode:
            click.echo(process.stdout, nl=False)
        elif shown:
            click.echo("\n".join(process.stdout.splitlines()[-shown:]))
        if process.returncode:
            raise DemoError(f"the step {words[2]} ended with exit code {process.returncode}")
        return process.stdout

    @contextmanager
    def serve(self, program: str, *words: str | Path) -> Iterator[str]:
        """Run a server in the background, logging to the demo's folder; yield its first line, which has the address."""
        command = [*_PYTHON, _PROGRAMS[program], *map(str, words)]
        log_path = self.directory / f"{program}.log"
        with log_path.open("a", encoding="utf-8") as log:
            log_begins = log.tell()
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, stdin=subprocess.DEVNULL
            )
        try:
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            if not line:
                process.wait(10)
                raise _explain_failed_start(program, log_path, log_begins)
            yield line
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _explain_failed_start(program: str, log_path: Path, log_begins: int) -> DemoError:
    """Return the error about a server that ended before it was ready, with the reason from its log.

    Args:
        program: the server's program.
        log_path: its log.
        log_begins: length of the log in bytes before the server was started.
    """
    with log_path.open("rb") as log:
        log.seek(log_begins)
        lines = [line.strip() for line in log.read().decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line]
    errors = [number for number, line in enumerate(lines) if line.startswith("error: ")]
    shown = lines[errors[-1] :] if errors else lines[-1:]
    if not shown:
        return DemoError(f"{program} did not start", f"It wrote nothing to {log_path}.")
    reason = printable(shown[0].removeprefix("error: "))
    advice = " ".join(printable(line) for line in shown[1:])
    return DemoError(
        f"{program} did not start: {reason}", f"{advice} Its log is {log_path}.".strip()
    )
