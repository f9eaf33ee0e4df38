"""Runs on different servers are carried out at once, each server as busy as alone, and nothing else is different."""

import asyncio
import re
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from agent.cli.run import run as run_command
from agent.errors import StoreError
from agent.site.directory import Site, create_site
from agent.store import Run, Store
from tests.agent.fault_server import NO_CHOICES, Action, Asked, FaultServer, Message
from tests.agent.runs.suites import write_benchmark
from tests.end_to_end.conftest import ROOT

NOTE = "an invented note"
METRICS = "parser: text\ngold: {column: gold, form: text}\nmetrics: [{name: exact_match}, {name: rouge_l}]\n"
ROWS = 60
MEETING_S = 20.0


class MeetingServer(FaultServer):
    """A server that answers a question only while another one has one too, and counts its questions in flight.

    A run that asks one server after the other gets no answer from either.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.others: list[MeetingServer] = []
        self.asking = 0
        self.most_asking = 0
        self.met = 0
        self.waited_in_vain = 0

    async def _action(
        self, method: str, path: str, headers: Mapping[str, str], raw: bytes, connection: int
    ) -> Action:
        if NOTE.encode() not in raw:
            return await super()._action(method, path, headers, raw, connection)
        self.asking += 1
        self.most_asking = max(self.most_asking, self.asking)
        try:
            if self.others and not self.met:
                await self._meet()
            return await super()._action(method, path, headers, raw, connection)
        finally:
            self.asking -= 1

    async def _meet(self) -> None:
        until = time.monotonic() + MEETING_S
        while not self.met and time.monotonic() < until:
            if all(other.asking or other.met for other in self.others):
                self.met += 1
                return
            await asyncio.sleep(0.005)
        self.waited_in_vain += not self.met


def says_yes_or_no(asked: Asked) -> Action | None:
    """Half of the notes get yes, always the same ones; the probe's questions are answered as usual."""
    if NOTE not in asked.prompt:
        return None
    mark = zlib.crc32(f"{asked.prompt} {asked.body['model']}".encode())
    return Message({"role": "assistant", "content": "yes" if mark % 2 else "no"})


def make_site(folder: Path, benchmarks: Sequence[str] = ("one", "two"), rows: int = ROWS) -> Site:
    site = create_site(folder, "Test")
    with (site.directory / "site.yaml").open("a") as file:
        file.write("outage_grace_s: 1\n")
    for name in benchmarks:
        notes = [{"note": f"{NOTE} {name}.{row}", "gold": "yes"} for row in range(rows)]
        write_benchmark(site, name, notes, METRICS)
    return Site(site.directory)


def deploy(site: Site, urls: Mapping[str, str]) -> None:
    lines = ["model_deployments:"]
    for name, url in urls.items():
        client = f"{{class_name: VLLMChatClient, args: {{base_url: '{url}'}}}}"
        lines.append(f"  - {{name: local/{name}, model_name: a/{name}, client_spec: {client}}}")
    site.deployments.write_text("\n".join(lines))


@contextmanager
def serve(site: Site, *names: str, **options: Any) -> Iterator[list[MeetingServer]]:
    """Serve each of these models on a server of its own."""
    with ExitStack() as stack:
        servers = []
        for name in names:
            server = MeetingServer(models=[f"a/{name}"], fault=says_yes_or_no, **options)
            servers.append(stack.enter_context(server))
        deploy(site, {name: server.url for name, server in zip(names, servers, strict=True)})
        yield servers


def name_entries(names: Sequence[str], benchmarks: Sequence[str] = ("one", "two")) -> list[str]:
    return [f"{benchmark}:model=a/{name}" for benchmark in benchmarks for name in names]


def invoke(site: Site, entries: Sequence[str], *words: str) -> Result:
    return CliRunner().invoke(run_command, ["--suite", "s", *words, "-r", *entries], obj=site)


def read_figures(site: Site) -> dict[str, list[tuple[object, object]]]:
    """Return the answer and the scores of each instance of each run."""
    figures: dict[str, list[tuple[object, object]]] = {}
    with site.store() as store:
        for stored in store.runs.select("s"):
            page = store.answers.read_instances(stored.run_id, 0, 10_000)
            figures[stored.name] = [
                (one.response.text if one.response else None, dict(one.scores)) for one in page
            ]
            assert stored.state == "ended"
    return figures


def test_two_servers_are_asked_at_the_same_moment_and_reported_in_the_order_of_the_entries(
    tmp_path: Path,
):
    site = make_site(tmp_path / "site")
    with serve(site, "left", "right") as (left, right):
        left.others, right.others = [right], [left]
        done = invoke(site, name_entries(["right", "left"]), "--max-in-flight", "4")
    assert done.exit_code == 0, done.output
    assert (left.waited_in_vain, right.waited_in_vain) == (0, 0)
    assert left.met
    assert right.met
    assert max(left.most_asking, right.most_asking) <= 4
    reported = [line.partition("  ")[0] for line in done.stdout.splitlines() if "n=60" in line]
    assert [("one" in name, "right" in name) for name in reported] == [
        (True, True),
        (True, False),
        (False, True),
        (False, False),
    ]
    # One after the other, each in a command of its own, gives the same.
    alone = make_site(tmp_path / "alone")
    with serve(alone, "left", "right"):
        for entry in name_entries(["right", "left"]):
            assert invoke(alone, [entry]).exit_code == 0
    assert read_figures(site) == read_figures(alone)
    assert len(read_figures(site)) == 4


def test_deployments_behind_one_address_are_asked_one_after_the_other(tmp_path: Path):
    site = make_site(tmp_path / "site", rows=20)
    with MeetingServer(
        models=["a/left", "a/right"], fault=says_yes_or_no, latency_s=0.01
    ) as server:
        deploy(site, {"left": server.url, "right": server.url.replace("127.0.0.1", "localhost")})
        done = invoke(site, name_entries(["left", "right"], ["one"]), "--max-in-flight", "3")
        asked = [one.body["model"] for one in server.asked if NOTE in one.prompt]
    assert done.exit_code == 0, done.output
    assert server.most_asking <= 3
    assert asked == ["a/left"] * 20 + ["a/right"] * 20


def test_a_server_that_dies_costs_the_other_no_answer(tmp_path: Path):
    site = make_site(tmp_path / "site")
    entries = name_entries(["left", "right"])
    with serve(site, "left", "right", latency_s=0.02) as (left, right):

        def die() -> None:
            while not sum(NOTE in prompt for prompt in left.prompts) > 20:
                time.sleep(0.005)
            left.stop()

        killer = threading.Thread(target=die)
        killer.start()
        done = invoke(site, entries, "--max-in-flight", "4")
        killer.join()
        assert done.exit_code == 9, done.output
        assert "local/left: the server" in done.stderr.splitlines()[-1].lower()
        answers = {name: [text for text, _ in page] for name, page in read_figures(site).items()}
        for name, texts in answers.items():
            assert (None in texts) == ("left" in name)
        asked_right = len(right.asked)
        left.start()
        again = invoke(site, entries, "--max-in-flight", "4")
        assert again.exit_code == 0, again.output
        assert not any(NOTE in one.prompt for one in right.asked[asked_right:])
    questions = [prompt for prompt in left.prompts if NOTE in prompt]
    assert len(set(questions)) == 2 * ROWS


def test_an_error_in_one_lane_is_told_at_once_and_ends_the_command_when_the_others_are_done(
    tmp_path: Path,
):
    site = make_site(tmp_path / "site")
    entries = name_entries(["left", "right"])
    with serve(site, "left", "right", latency_s=0.01), site.store() as store:
        with store.runs.lock(find_id(store, "one", "left")):
            done = invoke(site, entries)
        assert isinstance(done.exception, StoreError)
        assert "another process is working on this run" in str(done.exception)
        assert "one:model=a/left" in done.stderr.partition(" has ended with an error")[0][-60:]
        assert sorted(read_figures(site)) == sorted(
            stored.name for stored in store.runs.select("s") if "right" in stored.name
        )
        assert len(read_figures(site)) == 2
        again = invoke(site, entries)
    assert again.exit_code == 0, again.output
    assert len(read_figures(site)) == 4


def find_id(store: Store, benchmark: str, model: str) -> str:
    name = f"{benchmark}:model=a/{model},model_deployment=local/{model}"
    return store.identities.run_id("s", name)


def test_after_a_failed_instance_no_lane_starts_a_further_run(tmp_path: Path):
    site = make_site(tmp_path / "site", ["one", "two", "three"], rows=8)
    entries = name_entries(["left", "right"], ["one", "two", "three"])
    with serve(site, "left", "right", latency_s=0.01) as (left, right):
        left.others, right.others = [right], [left]
        right.latency_s = 0.3
        usual = left.fault
        assert usual is not None
        left.fault = lambda asked: fail_note(asked) or usual(asked)
        done = invoke(site, entries, "--exit-on-error")
    assert done.exit_code == 9
    told = re.search(
        r"one:model=a/left\S*: instances failed; (\d) further runs not started", done.stderr
    )
    assert told is not None
    made = list(read_figures(site))
    assert len(made) == 6 - int(told[1])
    assert sum("left" in name for name in made) == 1


def fail_note(asked: Asked) -> Action | None:
    return NO_CHOICES if f"{NOTE} one.3" in asked.prompt else None


def command(site: Site, entries: Sequence[str]) -> list[str]:
    words = ["run", "--suite", "s", "--max-in-flight", "2", "-r", *entries]
    return [sys.executable, "-m", "agent", "--site", str(site.directory), *words]


def wait_until(condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    until = time.monotonic() + 60
    while not condition() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)


def count_notes(server: FaultServer) -> int:
    return sum(NOTE in prompt for prompt in server.prompts)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_lanes_that_are_killed_or_stopped_continue_with_the_same_figures(
    tmp_path: Path, number: signal.Signals
):
    entries = name_entries(["left", "right"])
    undisturbed, site = make_site(tmp_path / "undisturbed"), make_site(tmp_path / "stopped")
    with serve(undisturbed, "left", "right"):
        assert invoke(undisturbed, entries).exit_code == 0
    with serve(site, "left", "right", latency_s=0.06) as (left, right):
        right.latency_s = 0.03
        process = subprocess.Popen(
            command(site, entries),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        wait_until(lambda: count_notes(left) > 25 and count_notes(right) > 25, process)
        if number is signal.SIGKILL:
            time.sleep(1.0)
        process.send_signal(number)
        _, told = process.communicate(timeout=60)
        assert process.returncode == (130 if number is signal.SIGINT else -signal.SIGKILL), told
        kept = {"left": read_answered(site, "left"), "right": read_answered(site, "right")}
        assert kept["left"]
        assert kept["right"]
        counts = len(left.prompts), len(right.prompts)
        done = invoke(site, entries)
        assert done.exit_code == 0, done.output
        assert not kept["left"] & set(left.prompts[counts[0] :])
        assert not kept["right"] & set(right.prompts[counts[1] :])
    assert read_figures(site) == read_figures(undisturbed)


def read_answered(site: Site, model: str) -> set[str]:
    """Return the prompts of a model's stored answers."""
    prompts: set[str] = set()
    with site.store() as store:
        runs: list[Run] = [run for run in store.runs.select("s") if model in run.model]
        for run in runs:
            for one in store.answers.read_instances(run.run_id, 0, 10_000):
                if one.response and one.instance:
                    prompts.add(one.instance.messages[0].content)
    return prompts
