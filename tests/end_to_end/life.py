"""A whole life of a site, a steward and an aggregator, driven by their commands alone, each in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.forked import ROOT, run_command

HOST = "board.example"
MODEL = "baseline/first-choice"
BENCHMARK = "pubmed_qa"
SUITE = "life"


@dataclass
class Life:
    """One folder with a site, a steward's folder and an aggregator.

    Attributes:
        folder: holds all three.
        environment: variables that every process gets beside the test's own.
        site_prefix, central_prefix: words before every command of that party, such as `ip netns exec NAME`.
        agent_options: words that every command of the agent gets.
        outputs: standard output and error of every command, in order.
        steward_name, key_name: what the steward's folder and key file are called.
        suite: name of the collection of runs.
        benchmarks: what `evaluate` runs and the scorecard holds.
        loopback: the address at which this folder's own servers listen.
        scorecard_options: further words of the command that writes the scorecard.
    """

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    site_prefix: Sequence[str] = ()
    central_prefix: Sequence[str] = ()
    agent_options: Sequence[str] = ()
    outputs: list[bytes] = field(default_factory=list)
    steward_name: str = "steward"
    key_name: str = "steward.key"
    suite: str = SUITE
    benchmarks: tuple[str, ...] = (BENCHMARK,)
    scorecard_options: tuple[str | Path, ...] = ()
    loopback: str = "127.0.0.1"

    @property
    def site(self) -> Path:
        return self.folder / "site"

    @property
    def central(self) -> Path:
        return self.folder / "aggregator"

    @property
    def steward(self) -> Path:
        return self.folder / self.steward_name

    @property
    def key(self) -> Path:
        return self.steward / self.key_name

    @property
    def invite(self) -> Path:
        return self.folder / "invite.json"

    def agent(self, *words: str | Path, code: int = 0) -> str:
        """Run `intramural --site SITE WORDS`; return standard output, or standard error where it must fail."""
        command = [
            *self.site_prefix,
            sys.executable,
            "-m",
            "agent",
            "--site",
            self.site,
            *self.agent_options,
            *words,
        ]
        return self._run(command, code)

    def as_steward(self, *words: str | Path, code: int = 0, answers: str = "") -> str:
        """Run `intramural-steward WORDS`, in the steward's folder, without a site; `answers` is what is typed."""
        command = [*self.site_prefix, sys.executable, "-m", "intramural_steward", *words]
        return self._run(command, code, answers)

    def aggregator(self, *words: str | Path, code: int = 0) -> str:
        """Run `intramural-aggregator --dir DIR WORDS`."""
        return self._run(
            [
                *self.central_prefix,
                sys.executable,
                "-m",
                "aggregator",
                "--dir",
                self.central,
                *words,
            ],
            code,
        )

    def try_agent(self, *words: str | Path) -> int:
        """Run `intramural --site SITE WORDS`, which may fail; return its exit code."""
        return self._run_anyhow(
            [*self.site_prefix, sys.executable, "-m", "agent", "--site", self.site, *words]
        ).returncode

    def _run_anyhow(
        self, words: Sequence[str | Path], answers: str = ""
    ) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            **self.environment,
            "INTRAMURAL_STEWARD_LIST": str(self.steward / "list.jsonl"),
        }
        paths = [str(ROOT / "deploy" / "steward"), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(paths).rstrip(os.pathsep)
        command = [str(word) for word in words]
        if command[:2] == [sys.executable, "-m"]:
            done = run_command(*command[2:], typed=answers, environment=environment)
        else:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                cwd=ROOT,
                env=environment,
                timeout=120,
                input=answers,
            )
        self.outputs += [done.stdout.encode(), done.stderr.encode()]
        return done

    def _run(self, words: Sequence[str | Path], code: int, answers: str = "") -> str:
        done = self._run_anyhow(words, answers)
        command = [str(word) for word in words]
        assert done.returncode == code, (
            command,
            done.returncode,
            done.stdout,
            done.stderr,
        )
        return done.stderr if code else done.stdout

    @contextmanager
    def serving(self, prefix: Sequence[str], module: str, *words: str | Path) -> Iterator[str]:
        """Run a command that serves; yield the address that its first line ends with."""
        command = [*prefix, sys.executable, "-m", module, *map(str, words)]
        log = self.folder / f"{module}.log"
        with log.open("ab") as errors:
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=ROOT,
                env={**os.environ, **self.environment},
            )
        assert process.stdout is not None
        try:
            line = process.stdout.readline().decode()
            assert "://" in line, log.read_text()
            yield line.split()[-1]
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    @contextmanager
    def serving_aggregator(self) -> Iterator[int]:
        """Run `intramural-aggregator serve`; yield its port."""
        words = ("--dir", self.central, "serve", "--host", self.loopback, "--port", "0")
        with self.serving(self.central_prefix, "aggregator", *words) as url:
            yield int(url.rsplit(":", 1)[1])

    def set(self, **settings: str | None) -> None:
        """Set settings in site.yaml, or take away those that are None."""
        path = self.site / "site.yaml"
        names = tuple(f"{name}:" for name in settings)
        lines = [line for line in path.read_text().splitlines() if not line.startswith(names)]
        lines += [
            f"{name}: {json.dumps(value)}" for name, value in settings.items() if value is not None
        ]
        path.write_text("\n".join(lines) + "\n")

    def found(self, url: str, *, site_name: str = "Test Hospital") -> None:
        """Make the site, the steward's key and the aggregator, and write the invite."""
        self.folder.mkdir(exist_ok=True)
        self.steward.mkdir(mode=0o700)
        self.agent("init", self.site, "--site-name", site_name)
        self.make_steward_key()
        card, models = self.folder / "card.json", self.folder / "models.yaml"
        words = (*self.benchmarks, "--name", "card", "--out", card)
        self.agent("benchmarks", "scorecard", *words, *self.scorecard_options)
        models.write_text(
            f"- name: {MODEL}\n  display_name: First choice\n  is_language_model: false\n"
        )
        self.aggregator(
            "init", "--origin", HOST, "--url", url, "--scorecard", card, "--models", models
        )
        self.aggregator(
            "invite", "--site-name", "Test", "--publication", "named", "--out", self.invite
        )

    def make_steward_key(self) -> None:
        """Make the steward's key file, with a password."""
        self.password.write_text("a password of the tests\n")
        self.password.chmod(0o600)
        self.as_steward("key", "new", "--out", self.key, "--password-file", self.password)

    @property
    def password(self) -> Path:
        return self.steward / "password"

    @property
    def with_key(self) -> tuple[str | Path, ...]:
        """The options by which the steward's tool finds the key."""
        return ("--key", self.key, "--password-file", self.password)

    def evaluate(self, instances: int = 12) -> None:
        """Run the benchmarks against an inference server, and let the server go."""
        words = ("baselines", "serve", "--host", self.loopback, "--port", "0")
        with self.serving(self.site_prefix, "agent", *words) as url:
            entries = [f"{name}:model={MODEL}" for name in self.benchmarks]
            self.agent(
                "run",
                "--server",
                url,
                "--suite",
                self.suite,
                "--run-entries",
                *entries,
                "-m",
                str(instances),
            )

    def ask_to_enrol(self, out: Path | None = None) -> None:
        """Ask with the steward's signature, which is made on the steward's side; over the network, or into a file."""
        half, signed = (
            self.folder / "half.json",
            self.folder / "signed.json" if out is None else out,
        )
        self.agent(
            "enroll", "--invite", self.invite, "--steward-public", f"{self.key}.pub", "--out", half
        )
        self.as_steward("sign-request", half, *self.with_key, "--out", signed, "--yes")
        if out is None:
            self.agent("enroll", "--invite", self.invite, "--request", signed)

    def join(self) -> None:
        """Enrol over the network."""
        self.ask_to_enrol()
        self.aggregator("enroll", "--pending", "--fingerprint-checked")
        assert "this site is enrolled" in self.agent("registry", "update")

    def prepare(self) -> None:
        """Prepare the suite's submission and have it approved on the steward's side."""
        self.agent("submission", "prepare", "--suite", self.suite)
        self.approve()

    def approve(self, number: int = 1) -> None:
        """Have every draft approved by the steward; `number` tells the requests of one life apart."""
        drafts = [state for state in self.states() if state == "prepared"]
        request, signed = (
            self.folder / f"request-{number}.json",
            self.folder / f"approved-{number}.json",
        )
        self.agent("submission", "approve", "--out", request)
        words = (*self.with_key, "--root", self.root_keyid(), "--out", signed)
        self.as_steward("approve", request, *words, answers="y\n" * len(drafts))
        self.agent("submission", "approve", "--signed", signed)

    def root_keyid(self) -> str:
        """Return the aggregator's root key id, which people compare with the invite's."""
        (keyid,) = json.loads(self.invite.read_text())["root_keys"]
        return str(keyid)

    def rows(self) -> list[dict[str, str]]:
        """Return the site's submissions with their states."""
        rows: list[dict[str, str]] = json.loads(
            self.agent("submission", "status", "--format", "json")
        )
        return rows

    def states(self) -> list[str]:
        """Return the states of the site's submissions, in the order of the chain."""
        return [row["state"] for row in self.rows()]

    def log_size(self) -> int:
        """Return how many entries the aggregator's log has."""
        board = self.folder / "board"
        return int(
            json.loads(self.aggregator("publish", "--out", board, "--format", "json"))["log_size"]
        )
