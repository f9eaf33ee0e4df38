"""A site, its steward and an aggregator in one folder, whose commands are killed anywhere, and what must hold after."""

import json
import os
import shutil
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from agent.cli.demo_ward import BENCHMARK, write_benchmark
from agent.delivery.outbox import Outbox
from agent.disclosure.ledger import Ledger, derive_ledger_key, read_ledger
from agent.site.directory import Site
from intramural_steward.approval_list import open_list
from protocol.envelope import REGISTRY_TYPE, decode, decode_base64
from protocol.registry import Registry, parse_registry
from protocol.statements import kind_name, parse_statement
from tests.end_to_end.life import HOST, MODEL, Life
from tests.forked import ROOT, Nursery, Order

ALL = "INTRAMURAL_ALL_KILLS" in os.environ
SPREAD = 4  # points of each journey that are tried where not all are
KILLED = -signal.SIGKILL
SUITE = "life"
STEWARD_KEY = "@/steward/steward.key"
_START_S = 20.0
_Point = TypeVar("_Point")


@dataclass(frozen=True)
class Command:
    """One command of a journey.

    Attributes:
        party: "agent", "steward" or "aggregator".
        words: its words; `@` at the beginning of one stands for the folder of all three parties.
        typed: what a person answers.
        codes: exit codes that it may leave with when it is given once more.
    """

    party: str
    words: tuple[str, ...]
    typed: str = ""
    codes: tuple[int, ...] = (0,)

    def __str__(self) -> str:
        return " ".join((self.party, *self.words[:2]))


@dataclass
class Parties:
    """One folder with all three, whose commands run in processes of their own."""

    folder: Path
    nursery: Nursery
    outputs: list[str] = field(default_factory=list)

    @property
    def site(self) -> Path:
        return self.folder / "site"

    @property
    def central(self) -> Path:
        return self.folder / "aggregator"

    @property
    def submissions(self) -> Path:
        return self.site / "submissions"

    @property
    def notes(self) -> Path:
        """Folder for what the test itself keeps."""
        return self.folder.with_name(f"{self.folder.name}-notes")

    def copy(self, folder: Path) -> "Parties":
        """Return the same parties in another folder."""
        shutil.copytree(self.folder, folder)
        return Parties(folder, self.nursery)

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.folder)
        shutil.rmtree(self.notes, ignore_errors=True)

    def begin(
        self, command: Command, at: int = 0, number: int = signal.SIGKILL, name: str = "last"
    ) -> int:
        """Start a command, to get a signal before its step `at`; return the id of its process.

        `name` is that of its notes: commands that run at once have different ones.
        """
        self.notes.mkdir(exist_ok=True)
        for path in self.notes.glob(f"{name}-*"):
            path.unlink()
        return self.nursery.begin(self._order(command, name, at, number))

    def run(self, command: Command, at: int = 0) -> int:
        """Run a command to its end, or until it is killed before its step `at`; return the exit code."""
        code = self.nursery.wait(self.begin(command, at))
        self.outputs.append(f"{command}: {code}\n{self.output}")
        return code

    @property
    def output(self) -> str:
        """What the last command printed."""
        return (self.notes / "last-output").read_text()

    @property
    def steps(self) -> list[str]:
        """The steps of the last command."""
        return (self.notes / "last-steps").read_text().splitlines()

    def _order(self, command: Command, name: str, at: int, number: int) -> Order:
        words = [
            f"{self.folder}{word[1:]}" if word.startswith("@") else word for word in command.words
        ]
        match command.party:
            case "agent":
                module, words = "agent", ["--site", str(self.site), *words]
            case "aggregator":
                module, words = "aggregator", ["--dir", str(self.central), *words]
            case _:
                module = "intramural_steward"
        typed, output = self.notes / f"{name}-typed", self.notes / f"{name}-output"
        typed.write_text(command.typed)
        return Order(
            module=module,
            words=words,
            folder=str(ROOT),
            output=str(output),
            errors=str(output),
            typed=str(typed),
            environment={
                **os.environ,
                "INTRAMURAL_STEWARD_LIST": str(self.folder / "steward" / "list.jsonl"),
            },
            before="tests.end_to_end.killable:watch_steps",
            settings={
                "folder": str(self.folder),
                "steps": str(self.notes / f"{name}-steps"),
                "at": at,
                "number": number,
            },
        )

    @contextmanager
    def serving(self, at: int = 0) -> Iterator["Server"]:
        """Run `intramural-aggregator serve`, to be killed before its step `at`, and point the site at it."""
        pid = self.begin(Command("aggregator", ("serve", "--port", "0")), at, name="server")
        server = Server(self.notes)
        try:
            server.await_address()
            lines = (self.site / "site.yaml").read_text().splitlines()
            lines = [line for line in lines if not line.startswith("aggregator_url:")]
            (self.site / "site.yaml").write_text(
                "\n".join([*lines, f"aggregator_url: {server.url}", ""])
            )
            yield server
        finally:
            os.kill(pid, signal.SIGKILL)  # it may be dead already; nobody has waited for it yet
            self.nursery.wait(pid)

    def ledger(self) -> Ledger:
        """Return the ledger, after checking its seals."""
        return read_ledger(
            self.submissions / "ledger", derive_ledger_key(Site(self.site).seal_key())
        )


@dataclass
class Server:
    """A running aggregator."""

    notes: Path
    url: str = ""

    def await_address(self) -> None:
        """Wait until it listens."""
        until = time.monotonic() + _START_S
        output = self.notes / "server-output"
        while not self.url:
            assert time.monotonic() < until, output.read_text()
            time.sleep(0.01)
            line, ended, _ = output.read_text().partition("\n") if output.exists() else ("", "", "")
            self.url = line.split()[-1] if ended else ""

    @property
    def steps(self) -> list[str]:
        """The steps that it has made."""
        return (self.notes / "server-steps").read_text().splitlines()

    def read(self, path: str) -> bytes:
        """Return what it answers."""
        with urllib.request.urlopen(self.url + path, timeout=20) as answer:
            content: bytes = answer.read()
        return content

    def epochs(self) -> list[int]:
        """Return the epoch of the one site that is enrolled, in every version of the registry that has it."""
        newest = _open_registry(self.read("/v1/registry"))
        versions = [
            _open_registry(self.read(f"/v1/registry/{number}"))
            for number in range(1, newest.version + 1)
        ]
        return [site.epoch for version in versions for site in version.sites.values()]

    def links(self) -> list[tuple[str, int]]:
        """Return kind and epoch of every entry of the log, oldest first."""
        found = []
        for line in self.read("/v1/log/entries").splitlines():
            statement = parse_statement(_payload_of(json.loads(line)))
            found.append((kind_name(statement), statement.header.epoch))
        return found


def _payload_of(entry: Mapping[str, Any]) -> bytes:
    return decode_base64(entry["envelope"]["payload"], "payload")


def _open_registry(data: bytes) -> Registry:
    return parse_registry(decode(data, REGISTRY_TYPE).payload)


@dataclass(frozen=True)
class Stage:
    """A command of a journey that went undisturbed.

    Attributes:
        before: the parties as they were before it.
        steps: what it did, in order.
        server_start: how many steps the aggregator had made before it.
        server_steps: those of the aggregator until it had ended.
    """

    command: Command
    before: Parties
    steps: Sequence[str]
    server_start: int
    server_steps: Sequence[str]


@dataclass(frozen=True)
class Point:
    """Where a journey is interrupted: before step `at` (from 1) of a command."""

    stage: Stage
    at: int

    def __str__(self) -> str:
        return f"{self.stage.command}, before step {self.at}: {self.stage.steps[self.at - 1]}"


def rehearse(parties: Parties, journey: Sequence[Command]) -> list[Stage]:
    """Take a journey undisturbed, and keep what was there before each of its commands."""
    stages = []
    for number, command in enumerate(journey):
        before = parties.copy(parties.folder.with_name(f"{parties.folder.name}-before-{number}"))
        with parties.serving() as server:
            start = len(server.steps)
            assert parties.run(command) == 0, parties.outputs[-1]
            stages.append(Stage(command, before, parties.steps, start, server.steps))
    return stages


def choose_points(stages: Sequence[Stage], wanted: int | None) -> list[Point]:
    """Return every point of a journey, or so many of them that lie evenly spread."""
    return spread(
        [Point(stage, at) for stage in stages for at in range(1, len(stage.steps) + 1)], wanted
    )


def spread(points: Sequence[_Point], wanted: int | None) -> list[_Point]:
    """Return so many of these that lie evenly spread; all of them for None."""
    if wanted is None or wanted >= len(points):
        return list(points)
    return [points[(number * len(points) + len(points) // 2) // wanted] for number in range(wanted)]


def kill_everywhere(
    journey: Sequence[Command],
    stages: Sequence[Stage],
    folder: Path,
    check: Callable[[Parties, Server], None],
    going_on: Sequence[Command] = (),
) -> None:
    """Kill a journey at its points, one after the other; give all its commands once more, and check what there is.

    Args:
        journey: the commands.
        stages: of its rehearsal: all of them, or those whose points are tried.
        folder: for copies.
        check: what must hold afterwards.
        going_on: commands that must work afterwards.
    """
    points = choose_points(stages, None if ALL else SPREAD)
    faults = []
    for number, point in enumerate(points):
        parties = kill_at(point, folder / f"point-{number}")
        try:
            with parties.serving() as server:
                repeat(parties, (*journey, *going_on))
                check(parties, server)
        except AssertionError as fault:
            faults.append(f"{point}\n{fault}")
        else:
            parties.remove()
    every = sum(len(stage.steps) for stage in stages)
    print(
        f"{journey[0]} to {journey[-1]}: killed at {len(points)} of {every} points, {len(faults)} faults"
    )
    assert not faults, "\n\n".join(faults)


def kill_at(point: Point, folder: Path) -> Parties:
    """Kill the command at that point, in a copy of what was there before it; return the copy."""
    parties = point.stage.before.copy(folder)
    with parties.serving():
        code = parties.run(point.stage.command, at=point.at)
    assert code == KILLED, (str(point), parties.outputs)
    return parties


def repeat(parties: Parties, journey: Sequence[Command]) -> None:
    """Give all commands of a journey once more, whichever of them are done already."""
    for command in journey:
        code = parties.run(command)
        assert code in command.codes, "\n".join(parties.outputs)


def find_leftovers(parties: Parties) -> list[str]:
    """Return the files that are there only while a command works, and the drafts."""
    found = []
    for path in parties.folder.rglob("*"):
        is_temporary = ".new" in path.name or path.name.endswith((".part", ".draft.dsse.json"))
        if is_temporary or (path.is_file() and not path.stat().st_size and "lock" not in path.name):
            found.append(str(path.relative_to(parties.folder)))
    return sorted(path for path in found if not path.endswith("-wal"))


def list_states(parties: Parties) -> list[tuple[str, str]]:
    """Return kind and state of every submission that the site has, in the order of its chain."""
    return [
        (found.kind, found.state.value) for found in Outbox(parties.submissions).list_submissions()
    ]


def list_decisions(parties: Parties) -> list[tuple[str, str]]:
    """Return decision and kind of every line of the steward's list, which is checked."""
    with open_list(parties.folder / "steward" / "list.jsonl") as known:
        return [(entry.decision, kind_name(entry.statement)) for entry in known.entries]


def check_audit_log(parties: Parties) -> None:
    """Check that the events are whole; they may tell of a step twice, and never of one that did not happen."""
    with Site(parties.site).store() as store:
        assert store.audit.read_events()


def found_parties(folder: Path, nursery: Nursery) -> Parties:
    """Make a site with a private benchmark that is enrolled, its steward's key, and an aggregator."""
    folder.mkdir()
    parties = Parties(folder, nursery)
    (folder / "steward").mkdir(mode=0o700)
    models = f"- name: {MODEL}\n  display_name: First choice\n  is_language_model: false\n"
    (folder / "models.yaml").write_text(models)
    _do(parties, "agent", "init", "@/site", "--site-name", "Test Hospital")
    with (parties.site / "site.yaml").open("a") as settings:
        settings.write("unsafe_one_account_approval: true\n")
    write_benchmark(parties.site / "benchmarks" / BENCHMARK)
    _do(parties, "agent", "steward-key", "--out", STEWARD_KEY)
    _do(
        parties,
        "agent",
        "benchmarks",
        "scorecard",
        BENCHMARK,
        "--name",
        "card",
        "--out",
        "@/card.json",
    )
    registered = ("--scorecard", "@/card.json", "--models", "@/models.yaml")
    _do(parties, "aggregator", "init", "--origin", HOST, "--url", "http://127.0.0.1:1", *registered)
    _do(
        parties,
        "aggregator",
        "invite",
        "--site-name",
        "T",
        "--publication",
        "named",
        "--out",
        "@/invite.json",
    )
    with parties.serving():
        _do(parties, "agent", "enroll", "--invite", "@/invite.json", "--steward-key", STEWARD_KEY)
        _do(parties, "aggregator", "enroll", "--pending", "--fingerprint-checked")
        _do(parties, "agent", "registry", "update")
    return parties


def _do(parties: Parties, party: str, *words: str) -> None:
    assert parties.run(Command(party, words)) == 0, parties.outputs[-1]


def run_benchmark(parties: Parties) -> None:
    """Run the private benchmark on the version that is registered."""
    Life(parties.folder, suite=SUITE, benchmarks=(BENCHMARK,)).evaluate(instances=1000)
    (parties.folder / "agent.log").unlink()


def approved_by_steward(number: int) -> tuple[Command, ...]:
    """Return the commands by which the steward approves on a computer of their own; `number` names their files."""
    request, signed = f"@/request-{number}.json", f"@/signed-{number}.json"
    return (
        # Another request than before is not written over the first, which is as good.
        Command("agent", ("submission", "approve", "--out", request), codes=(0, 2)),
        Command(
            "steward", ("approve", request, "--key", STEWARD_KEY, "--out", signed), typed="y\n" * 3
        ),
        Command("agent", ("submission", "approve", "--signed", signed)),
    )


APPROVED_HERE = Command("agent", ("submission", "approve", "--key", STEWARD_KEY), typed="y\n" * 3)
SEND = Command("agent", ("submission", "send"))
