"""A server dies in the middle of several runs: they end soon, and the user reads which it was, and since when."""

import re
import time
from pathlib import Path

from click.testing import CliRunner

from agent.cli.run import run
from agent.site.directory import Site, create_site
from tests.agent.inference.server_process import ServerProcess
from tests.agent.runs.suites import write_benchmark

GRACE_S = 2
METRICS = "parser: text\ngold: {column: gold, form: text}\nmetrics: [{name: exact_match}]\n"
RUNS = 5


def write_site(folder: Path) -> Site:
    """Create a site with some benchmarks of 60 questions, which waits two seconds for a server."""
    site = create_site(folder, "Test")
    with (site.directory / "site.yaml").open("a") as file:
        file.write(f"outage_grace_s: {GRACE_S}\n")
    for number in range(RUNS):
        rows = [{"note": f"note {number}.{row}", "gold": "yes"} for row in range(60)]
        write_benchmark(site, f"b{number}", rows, METRICS)
    return Site(site.directory)


def test_a_server_killed_in_the_middle_is_waited_for_once_and_named_last(tmp_path: Path):
    site = write_site(tmp_path / "site")
    entries = [f"b{number}:model=test-model" for number in range(RUNS)]
    words = [word for entry in entries for word in ("-r", entry)]
    with ServerProcess(tmp_path / "log", 0.1) as server:
        address = f"127.0.0.1:{server.port}"
        killer = server.kill_after(100)
        began = time.monotonic()
        done = CliRunner().invoke(
            run, [*words, "--suite", "s", "--max-in-flight", "2", "--server", server.url], obj=site
        )
        seconds = time.monotonic() - began
        killer.join()
    assert done.exit_code == 9, done.output
    assert seconds < 8 + RUNS * GRACE_S  # not the time of a wait for each run
    *_, last = done.stderr.splitlines()
    since = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    assert re.fullmatch(
        rf"The server {address} has not answered since {since} \(no connection\)\. Start it again, then run the same"
        r" command: stored answers are kept\.",
        last,
    )
    assert done.stderr.count("its questions wait for it for up to 2 s") == 1
    assert "60/60  " not in done.stderr.partition("note: the server")[2]
    assert "0/60 (60 without an answer)" in done.stderr
    assert "server-" not in done.stderr


def test_killed_replicas_of_which_one_stays_cost_no_answer(tmp_path: Path):
    site = write_site(tmp_path / "site")
    with (
        ServerProcess(tmp_path / "a", 0.05) as doomed,
        ServerProcess(tmp_path / "b", 0.05) as other,
    ):
        (site.directory / "model_deployments.yaml").write_text(
            "model_deployments:\n  - name: local/m\n    client_spec:\n      class_name: VLLMChatClient\n"
            f"      args: {{base_urls: ['{doomed.url}', '{other.url}'], vllm_model_name: test-model}}\n"
        )
        killer = doomed.kill_after(60)
        words = [word for number in range(RUNS) for word in ("-r", f"b{number}:model=local/m")]
        done = CliRunner().invoke(
            run, [*words, "--suite", "s", "--max-in-flight", "2"], obj=Site(site.directory)
        )
        killer.join()
    assert done.exit_code == 0, done.output
    assert f"asked {60 * RUNS}, kept 0, failed 0" in done.stdout
    assert done.stderr.count("the other replicas get its requests") <= 1
    assert len(other.answered) > 60
    with site.store() as store:
        assert "127.0.0.1" not in repr(store.runs.select())
