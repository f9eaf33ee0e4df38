"""A run that is killed, again and again, ends with the numbers of an undisturbed one and repeats no question."""

import random
import subprocess
import time
import zlib

import pytest

from tests.agent.fault_server import Asked, FaultServer, Message

INSTANCES = 300
KILLS = 20


def says_yes_or_no(asked: Asked) -> Message | None:
    """Half of the notes get Yes, always the same ones; the probe's questions are answered as usual."""
    if "invented person" not in asked.prompt:
        return None
    answer = "Yes" if zlib.crc32(asked.prompt.encode()) % 2 else "No"
    return Message({"role": "assistant", "content": answer})


@pytest.mark.full
@pytest.mark.timeout(180)
def test_killed_at_twenty_random_points_and_resumed(make_site):
    undisturbed, site = make_site("undisturbed", INSTANCES), make_site("killed", INSTANCES)
    with FaultServer(models=["test/model"], fault=says_yes_or_no) as server:
        assert undisturbed.run(server.url).returncode == 0
        expected = undisturbed.summary()

    chance = random.Random(20)
    points = sorted(chance.randrange(INSTANCES) for _ in range(KILLS))
    with FaultServer(models=["test/model"], fault=says_yes_or_no, latency_s=0.02) as server:
        kept: set[str] = set()
        for point in points:
            before = len(server.asked)
            process = subprocess.Popen(
                site.command(server.url), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            # Kill once so many notes have been asked for in all, a moment later, or while it still probes.
            until = time.monotonic() + 20
            while time.monotonic() < until and process.poll() is None:
                if (
                    len({prompt for prompt in server.prompts if "invented person" in prompt})
                    > point
                ):
                    break
                time.sleep(0.002)
            time.sleep(chance.random() * 0.25)
            process.kill()
            process.wait()
            time.sleep(0.05)
            asked_again = set(server.prompts[before:]) & kept
            assert asked_again == set()
            kept |= {
                one.instance.messages[0].content
                for one in site.stored()
                if one.response and one.instance
            }
        before = len(server.asked)
        last = site.run(server.url)
        assert last.returncode == 0, last.stderr
        assert set(server.prompts[before:]) & kept == set()
    assert len(kept) > 0
    found = site.summary()
    for key in ("n", "unscored", "mean", "low", "high", "interval"):
        assert found[key] == expected[key], key
    assert found["n"] == INSTANCES


def test_a_run_given_twice_asks_nothing_again(make_site):
    site = make_site(instances=20)
    with FaultServer(models=["test/model"], answer="Yes") as server:
        first = site.run(server.url)
        asked = len(site.stored())
        before = [prompt for prompt in server.prompts if "invented person" in prompt]
        second = site.run(server.url)
        after = [prompt for prompt in server.prompts if "invented person" in prompt]
    assert (first.returncode, second.returncode) == (0, 0)
    assert asked == 20
    assert after == before
    assert "asked 0, kept 20" in second.stdout


@pytest.mark.full
def test_more_instances_later_ask_only_the_new_ones(make_site):
    site = make_site(instances=30)
    with FaultServer(models=["test/model"], answer="Yes") as server:
        assert site.run(server.url, "-m", "10").returncode == 0
        assert site.run(server.url).returncode == 0
        asked = [prompt for prompt in server.prompts if "invented person" in prompt]
    assert len(asked) == len(set(asked)) == 30
    assert site.summary()["n"] == 30


@pytest.mark.full
def test_two_processes_on_one_run_do_not_ask_twice(make_site):
    site = make_site(instances=40)
    with FaultServer(models=["test/model"], answer="Yes", latency_s=0.3) as server:
        first = subprocess.Popen(
            site.command(server.url, "--max-in-flight", "2"), stdout=subprocess.DEVNULL
        )
        while not any("invented person" in prompt for prompt in server.prompts):
            time.sleep(0.01)
        second = site.run(server.url)
        assert first.wait(60) == 0
    assert second.returncode == 8
    assert "another process is working on this run" in second.stderr
