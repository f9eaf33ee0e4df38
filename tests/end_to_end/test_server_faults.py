"""A server that fails: the rest is scored, the failed are unscored with a reason, and the run can be continued."""

import re
import subprocess
import time

import pytest

from tests.agent.fault_server import (
    HTML,
    NO_CHOICES,
    TRUNCATED,
    Action,
    Asked,
    Body,
    Break,
    Fault,
    FaultServer,
    Hang,
    Message,
    Status,
)

SETTINGS = "attempt_timeout_s: 1\nfirst_attempt_timeout_s: 5\ntotal_timeout_s: 3\nmax_attempts: 2\n"


def to_some_notes(action: Action) -> Fault:
    """Every tenth note fails always; the probe's questions are answered as usual."""

    def fault(asked: Asked) -> Action | None:
        number = re.search(r"Note (\d+) of an invented person", asked.prompt)
        return action if number and int(number[1]) % 10 == 3 else None

    return fault


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (Status(500), "server_error"),
        (Status(400), "server_error"),
        (Hang(), "timeout"),
        (TRUNCATED, "bad_reply"),
        (HTML, "bad_reply"),
        (NO_CHOICES, "bad_reply"),
        (Break(), "unreachable"),
        (Status(302, {"Location": "http://127.0.0.1:9/"}), "server_error"),
        (Body(b'{"choices": [{"message": {"content": 5}}]}'), "bad_reply"),
    ],
    ids=[
        "500",
        "400",
        "hang",
        "truncated-json",
        "html",
        "no-choices",
        "reset",
        "redirect",
        "number-as-content",
    ],
)
def test_failed_instances_are_unscored_and_the_rest_is_scored(
    make_site, action: Action, reason: str
):
    site = make_site(instances=30)
    with (site.directory / "site.yaml").open("a") as file:
        file.write(SETTINGS)
    with FaultServer(models=["test/model"], answer="Yes", fault=to_some_notes(action)) as server:
        run = site.run(server.url)
        assert run.returncode == 9, run.stderr
        assert "3 instances without an answer; run the same command again" in run.stderr
        row = site.summary()
        assert (row["n"], row["mean"]) == (27, 1.0)
        assert row["unscored_reasons"] == {reason: 3}
        server.fault = None
        before = len(server.asked)
        again = site.run(server.url)
        asked = [prompt for prompt in server.prompts[before:] if "invented person" in prompt]
    assert again.returncode == 0, again.stderr
    assert len(asked) == 3
    assert (site.summary()["n"], site.summary()["unscored"]) == (30, 0)


def test_a_refused_connection_is_said_before_anything_is_asked(make_site):
    site = make_site(instances=3)
    server = FaultServer()
    server.start()
    server.stop()
    run = site.run(server.url)
    assert run.returncode == 4
    assert "error:" in run.stderr
    assert "Traceback" not in run.stderr
    assert site.stored() == []


def test_a_wrong_model_name_lists_what_is_served(make_site):
    site = make_site(instances=3)
    with FaultServer(models=["served/one", "served/two"]) as server:
        run = site.run(server.url)
    assert run.returncode == 4
    assert "served/one" in run.stderr
    assert site.stored() == []


@pytest.mark.full
def test_a_server_that_dies_in_the_middle_leaves_the_rest_for_later(make_site):
    site = make_site(instances=40)
    with (site.directory / "site.yaml").open("a") as file:
        file.write("total_timeout_s: 2\nmax_attempts: 2\noutage_grace_s: 2\n")
    with FaultServer(models=["test/model"], answer="Yes", latency_s=0.05) as server:
        process = subprocess.Popen(
            site.command(server.url, "--max-in-flight", "2"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while sum("invented person" in prompt for prompt in server.prompts) < 10:
            time.sleep(0.01)
        server.stop()
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 9, errors
        row = site.summary()
        assert 5 <= row["n"] < 40
        assert row["n"] + row["unscored"] == 40
        server.start()
        assert site.run(server.url).returncode == 0
    assert site.summary()["n"] == 40


@pytest.mark.full
def test_a_cut_off_thought_is_unscored_and_not_an_answer(make_site):
    site = make_site(instances=4)
    thought = Message(
        {"role": "assistant", "content": "<think>The answer is Yes because"}, finish="length"
    )

    def fault(asked: Asked) -> Action | None:
        return thought if "invented person" in asked.prompt else None

    with FaultServer(models=["test/model"], fault=fault) as server:
        run = site.run(server.url)
    assert run.returncode == 0, run.stderr
    assert site.summary()["unscored_reasons"] == {"length": 4}


@pytest.mark.full
def test_a_busy_server_is_waited_for(make_site):
    site = make_site(instances=5)
    seen: set[str] = set()

    def fault(asked: Asked) -> Action | None:
        if "invented person" not in asked.prompt or asked.prompt in seen:
            return None
        seen.add(asked.prompt)
        return Status(429, {"Retry-After": "1"})

    with FaultServer(models=["test/model"], answer="Yes", fault=fault) as server:
        assert site.run(server.url).returncode == 0
    assert site.summary()["n"] == 5
