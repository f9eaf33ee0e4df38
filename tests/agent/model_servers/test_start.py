"""Servers that the agent starts: ready, crashed, killed at every link of the chain, and never left behind."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.catalog.deployments import Deployment
from agent.catalog.model_server import ModelServer
from agent.errors import ConfigError, InferenceError
from agent.model_servers import start
from agent.model_servers.engines import EngineStart
from agent.model_servers.running import RunningServer, ServerFolder, list_running, read_begin
from agent.site.directory import Site

NAME = "local/small"
Behave = Callable[[str], None]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.fixture
def deployment(tmp_path: Path) -> Deployment:
    weights = tmp_path / "small.gguf"
    weights.write_bytes(b"GGUF and more")
    return Deployment(NAME, "org/small", "", "org/small", managed=ModelServer("llamacpp", weights))


@pytest.fixture
def behave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Behave:
    """Have the small engine started in place of a real one."""

    def choose(behaviour: str) -> None:
        def describe(server: ModelServer, name: str, port: int, token: str) -> EngineStart:
            del server
            engine = "tests.agent.model_servers.small_engine"
            command = (sys.executable, "-m", engine, behaviour, str(tmp_path))
            return EngineStart(
                command, {}, json.dumps({"name": name, "port": port, "token": token})
            )

        monkeypatch.setattr(start, "describe_start", describe)

    choose("serve")
    return choose


@pytest.fixture(autouse=True)
def nothing_is_left(site: Site) -> Iterator[None]:
    yield
    for server in list_running(site.servers):
        os.kill(server.guardian, signal.SIGKILL)
        pytest.fail("a server was left behind")


def wait_quietly(seconds: float) -> None:
    del seconds


def read_engine(server: RunningServer, folder: ServerFolder) -> int:
    """Return the engine's process number, which it tells holders of the token."""
    return int(ask(server, folder.token.read_text())["pid"])


def ask(server: RunningServer, token: str) -> dict[str, object]:
    request = urllib.request.Request(
        f"{server.address}/models", headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request, timeout=5) as reply:
        content: dict[str, object] = json.loads(reply.read())
        return content


def wait_until_gone(process: int) -> None:
    for _ in range(200):
        if not read_begin(process):
            return
        time.sleep(0.05)
    os.kill(process, signal.SIGKILL)
    pytest.fail("a process was left behind")


@pytest.mark.usefixtures("behave")
def test_a_server_is_ready_only_for_this_site_and_ends_with_its_block(
    site: Site, deployment: Deployment
):
    folder = ServerFolder.find(site.servers, NAME)
    with start.serve(site, deployment, wait_quietly) as server:
        engine = read_engine(server, folder)
        with pytest.raises(urllib.error.HTTPError):
            ask(server, "guessed")
        resolved = start.resolve_managed(deployment, site)
        assert (resolved.base_url, resolved.token_file) == (server.address, folder.token)
        assert folder.token.stat().st_mode & 0o077 == 0
        command = Path(f"/proc/{engine}/cmdline").read_bytes()
        assert folder.token.read_bytes() not in command
    wait_until_gone(engine)
    assert not folder.token.exists()
    with pytest.raises(ConfigError, match="its server does not run"):
        start.resolve_managed(deployment, site)


@pytest.mark.usefixtures("behave")
def test_a_server_in_the_background_outlives_the_command_and_is_stopped_by_name(
    site: Site, deployment: Deployment
):
    server = start.start_in_background(site, deployment, wait_quietly)
    engine = read_engine(server, ServerFolder.find(site.servers, NAME))
    assert list(list_running(site.servers)) == [server]
    with pytest.raises(InferenceError, match="runs already"):
        start.start_in_background(site, deployment, wait_quietly)
    assert start.stop(site, NAME)
    wait_until_gone(engine)
    assert not start.stop(site, NAME)


@pytest.mark.usefixtures("behave")
def test_a_killed_guardian_takes_its_engine_with_it(site: Site, deployment: Deployment):
    server = start.start_in_background(site, deployment, wait_quietly)
    engine = read_engine(server, ServerFolder.find(site.servers, NAME))
    os.kill(server.guardian, signal.SIGKILL)
    wait_until_gone(engine)
    os.waitpid(server.guardian, 0)
    assert list(list_running(site.servers)) == []


def test_a_killed_agent_takes_its_server_with_it(tmp_path: Path):
    guardian = [sys.executable, "-P", "-m", "agent.model_servers.guardian"]
    engine = [sys.executable, "-c", "import time; time.sleep(600)"]
    content = {"command": engine, "environment": {}, "first_line": "", "outlives": False}
    line = json.dumps({**content, "log": str(tmp_path / "log")})
    agent = f"""
import subprocess, time
guardian = subprocess.Popen({guardian!r}, stdin=subprocess.PIPE)
guardian.stdin.write({line!r}.encode() + b"\\n")
guardian.stdin.flush()
print(guardian.pid, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", agent], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        number = int(process.stdout.readline())
        children = Path(f"/proc/{number}/task/{number}/children")
        while not (started := children.read_text().split()):
            time.sleep(0.05)
        process.kill()
    wait_until_gone(number)
    wait_until_gone(int(started[0]))


def test_a_crashed_engine_is_started_again_at_the_same_address(
    site: Site, deployment: Deployment, behave: Behave
):
    behave("crash later")
    folder = ServerFolder.find(site.servers, NAME)
    with start.serve(site, deployment, wait_quietly) as server:
        first = read_engine(server, folder)
        wait_until_gone(first)
        for _ in range(100):
            time.sleep(0.1)
            try:
                second = read_engine(server, folder)
                break
            except OSError:
                continue
    assert second != first


@pytest.mark.parametrize(
    ("behaviour", "cause"),
    [("crash", "the weights are of an unknown kind"), ("no memory", "there is too little memory")],
)
def test_a_server_that_cannot_start_says_why(
    site: Site, deployment: Deployment, behave: Behave, behaviour: str, cause: str
):
    behave(behaviour)
    with pytest.raises(InferenceError, match=cause) as caught:
        start.start_in_background(site, deployment, wait_quietly)
    assert "server.log" in caught.value.advice
    assert not ServerFolder.find(site.servers, NAME).token.exists()


@pytest.mark.usefixtures("behave")
def test_weights_that_change_while_they_are_served_are_noticed(site: Site, deployment: Deployment):
    assert deployment.managed is not None
    assert deployment.weights_digest is None
    with start.serve(site, deployment, wait_quietly) as server:
        resolved = start.resolve_managed(deployment, site)
        assert resolved.weights_digest == server.weights
        assert resolved.answers_name == f"{NAME} {server.weights}"
        deployment.managed.weights.write_bytes(b"GGUF of another model")
        with pytest.raises(
            ConfigError, match="its weights or its chat template have changed since"
        ):
            start.resolve_managed(deployment, site)


@pytest.mark.usefixtures("behave")
def test_another_chat_template_is_another_model(site: Site, deployment: Deployment, tmp_path: Path):
    assert deployment.managed is not None
    template = tmp_path / "own.jinja"
    template.write_text("{{ messages[0].content }}", "utf-8")
    with start.serve(site, deployment, wait_quietly) as server:
        without = server.weights
    templated = replace(deployment, managed=replace(deployment.managed, chat_template=template))
    folder = ServerFolder.find(site.servers, NAME)
    with start.serve(site, templated, wait_quietly) as server:
        assert server.weights != without
        assert start.resolve_managed(templated, site).weights_digest == server.weights
        template.write_text("{{ messages[1].content }}", "utf-8")
        # The engine keeps reading the copy, also when it is started again.
        assert folder.chat_template.read_text("utf-8") == "{{ messages[0].content }}"
        with pytest.raises(ConfigError, match="its weights or its chat template have changed"):
            start.resolve_managed(templated, site)
    assert not folder.chat_template.exists()


@pytest.mark.usefixtures("behave")
def test_a_server_that_crashes_after_its_weights_were_swapped_does_not_serve_the_others(
    site: Site, deployment: Deployment
):
    assert deployment.managed is not None
    folder = ServerFolder.find(site.servers, NAME)
    with start.serve(site, deployment, wait_quietly) as server:
        engine = read_engine(server, folder)
        deployment.managed.weights.write_bytes(b"GGUF of another model")
        os.kill(engine, signal.SIGKILL)
        wait_until_gone(server.guardian)
        with pytest.raises(urllib.error.URLError, match="refused"):
            ask(server, "any")
        assert "the weights have changed" in folder.log.read_text()


def test_weights_that_are_swapped_while_the_engine_loads_them_are_noticed(
    site: Site, deployment: Deployment, behave: Behave
):
    behave("serve")
    managed = deployment.managed
    assert managed is not None
    describe = start.describe_start

    def swap_and_describe(*given: object) -> EngineStart:
        managed.weights.write_bytes(b"GGUF of another model")
        return describe(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(start, "describe_start", swap_and_describe)
        with pytest.raises(InferenceError, match="its weights changed while they were read"):
            start.start_in_background(site, deployment, wait_quietly)


def test_a_deployment_of_others_is_not_started(site: Site):
    theirs = Deployment("theirs", "m", "http://127.0.0.1:8000/v1", "m")
    assert start.resolve_managed(theirs, site) is theirs
    with pytest.raises(ConfigError, match="has no model_server"):
        start.start_in_background(site, theirs, wait_quietly)


def test_a_number_that_another_process_has_now_is_no_running_server(site: Site):
    folder = ServerFolder.find(site.servers, NAME)
    folder.path.mkdir(parents=True)
    folder.write(RunningServer(NAME, "llamacpp", "http://127.0.0.1:1/v1", os.getpid(), 1, 0, ""))
    assert folder.read() is None
