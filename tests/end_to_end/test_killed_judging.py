"""Judging that is killed, again and again, ends with an undisturbed one's grades and asks for no kept reply twice."""

import json
import random
import re
import shutil
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

from agent.site.directory import Site, create_site
from tests.agent.fault_server import Action, Asked, FaultServer, Message
from tests.agent.judging.juries import (
    NOTE,
    deploy,
    judge_server,
    kept,
    open_benchmark,
    verdict,
    write_jury,
)
from tests.agent.runs.suites import run
from tests.agent.terminal import intramural
from tests.end_to_end.conftest import ROOT

INSTANCES = 90
KILLS = 3


def script(asked: Asked) -> Action | None:
    """Grade by the note; a third of the first replies are no verdicts. Each reply says which request it is to."""
    note = re.search(r"An invented note of person (\d+)", asked.prompt)
    if note is None:
        return None
    mark = zlib.crc32(note[1].encode() + str(asked.body["model"]).encode())
    first = not any(message["role"] == "assistant" for message in asked.body["messages"])
    reply = (
        "I would rather not." if first and mark % 3 == 0 else verdict(1 + mark % 5, 1 + mark % 4)
    )
    return Message({"role": "assistant", "content": f"Reply {digest(asked)}. {reply}"})


def digest(asked: Asked) -> str:
    return f"{zlib.crc32(json.dumps(asked.body['messages']).encode())}-{asked.headers['host']}"


def replies_kept(site: Site) -> set[str]:
    """Which requests the store holds the replies to."""
    with site.store() as store:
        keys = [
            key
            for (key,) in store.database.connection.execute("SELECT judgement_key FROM judgements")
        ]
        judgements = [store.juries.find_judgement(key) for key in keys]
    return {reply.text.split()[1].rstrip(".") for one in judgements if one for reply in one.replies}


def prepare(folder: Path, model: FaultServer, judges: list[FaultServer]) -> Site:
    site = create_site(folder, "Test")
    open_benchmark(site, INSTANCES)
    deploy(site, {name: server.url for name, server in zip("ab", judges, strict=True)})
    write_jury(site.judges, "ab")
    run(site, model.url, "open:model=m", no_judging=True)
    return site


@pytest.mark.timeout(180)
def test_killed_at_random_points_and_resumed(tmp_path: Path):
    chance = random.Random(5)
    with (
        FaultServer(models=["m"], answer="Words") as model,
        judge_server(script, latency_s=0.03) as a,
        judge_server(script, latency_s=0.01) as b,
    ):
        undisturbed = prepare(tmp_path / "one", model, [a, b])
        site = Site(shutil.copytree(undisturbed.directory, tmp_path / "two"))
        command = [sys.executable, "-m", "agent", "--site"]
        whole = intramural("--site", undisturbed.directory, "judge", "--suite", "s", cwd=ROOT)
        assert whole.returncode == 0, whole.stderr
        assert f"{INSTANCES} answers judged" in whole.stdout
        expected = kept(undisturbed)
        site_command = [*command, str(site.directory), "judge", "--suite", "s", "--quiet"]
        before_kept: set[str] = set()
        for _ in range(KILLS):
            before = len(a.asked), len(b.asked)
            process = subprocess.Popen(
                site_command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
            )
            until = time.monotonic() + 20
            while time.monotonic() < until and process.poll() is None:
                if any(
                    judged_after(server, count)
                    for server, count in zip((a, b), before, strict=True)
                ):
                    break
                time.sleep(0.01)
            time.sleep(0.1 + chance.random() * 0.5)
            process.kill()
            process.wait()
            time.sleep(0.05)
            asked = {
                digest(one)
                for server, count in zip((a, b), before, strict=True)
                for one in judged_after(server, count)
            }
            assert asked & before_kept == set()
            before_kept = replies_kept(site)
        assert before_kept
        before = len(a.asked), len(b.asked)
        last = intramural("--site", site.directory, "judge", "--suite", "s", cwd=ROOT)
        assert last.returncode == 0, last.stderr
        asked = {
            digest(one)
            for server, count in zip((a, b), before, strict=True)
            for one in judged_after(server, count)
        }
        assert asked & before_kept == set()
        assert "requests to judges" in last.stdout
    scores, seats = kept(site)
    assert scores == expected[0]
    assert {place: [seat.grades for seat in of] for place, of in seats.items()} == {
        place: [seat.grades for seat in of] for place, of in expected[1].items()
    }
    assert sum(seat.repaired for of in seats.values() for seat in of) > 10


def judged_after(server: FaultServer, count: int) -> list[Asked]:
    """The requests about answers that came after so many of all."""
    return [one for one in server.asked[count:] if NOTE in one.prompt]
