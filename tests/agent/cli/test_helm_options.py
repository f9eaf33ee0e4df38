"""MedHELM's users type the commands of its pages, with `intramural run`, `summarize` and `view` in place of HELM's."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.helm_options import RUN_OPTIONS, SUMMARIZE_OPTIONS, VIEW_OPTIONS
from agent.cli.main import intramural
from agent.errors import ConfigError
from agent.exchange.helm.leaderboard import import_leaderboard
from agent.site.directory import Site, create_site
from tests.agent.fault_server import FaultServer, Status, containing

MODEL = "qwen/qwen2.5-7b-instruct"
ENTRY = f"pubmed_qa:model={MODEL},model_deployment=huggingface/qwen2.5-7b-instruct"
RELEASE = Path(__file__).parents[1] / "exchange" / "data" / "helm_release"
PAGE = Path(__file__).parents[3] / "docs" / "from-medhelm.md"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.chdir(tmp_path)
    return create_site(tmp_path / "site", "Test")


def serve(site: Site, url: str) -> None:
    """Write HELM's deployment of the example into the site's file, with the address of a server."""
    site.deployments.write_text(
        "model_deployments:\n"
        "  - name: huggingface/qwen2.5-7b-instruct\n"
        f"    model_name: {MODEL}\n"
        "    client_spec:\n"
        "      class_name: helm.clients.vllm_client.VLLMChatClient\n"
        f"      args: {{base_url: '{url}', vllm_model_name: test-model}}\n"
    )


def type_command(site: Site, line: str) -> Result:
    words = ["--site", str(site.directory), *line.split()]
    return CliRunner().invoke(intramural, words, catch_exceptions=False, standalone_mode=False)


@pytest.mark.full
def test_the_quickstart_of_medhelms_page_runs_to_a_leaderboard(site: Site):
    output = Path("benchmark_output")
    output.mkdir()
    with FaultServer(answer="yes") as server:
        serve(site, server.url)
        done = type_command(
            site,
            f"run --run-entries {ENTRY} --suite my-medhelm-suite --max-eval-instances 10 "
            "--output-path ./benchmark_output",
        )
        assert "10 instances written to benchmark_output/runs/my-medhelm-suite" in done.output
        again = type_command(
            site,
            f"run -r {ENTRY} --suite my-medhelm-suite -m 10 -o ./benchmark_output --skip-completed-runs",
        )
    assert "asked 0, kept 10" in again.output
    (run,) = [path for path in (output / "runs" / "my-medhelm-suite").iterdir() if path.is_dir()]
    stats = json.loads((run / "stats.json").read_text())
    assert "exact_match" in {stat["name"]["name"] for stat in stats}
    import_leaderboard(site, RELEASE, "v2.0.0")
    board = type_command(
        site,
        "summarize --suites my-medhelm-suite v2.0.0 --schema schema_medhelm.yaml "
        "--release my-medhelm-release --output-path ./benchmark_output",
    )
    assert "Release my-medhelm-release" in board.output
    assert "note: --schema: " in board.stderr
    assert "note: --output-path: " in board.stderr
    for name in ("my-medhelm-release", "v2.0.0"):
        shown = type_command(
            site, f"view --release {name} --output-path ./benchmark_output --export-path {name}"
        )
        assert "open releases/" in shown.output
    pages = type_command(site, "view --suite my-medhelm-suite --project medhelm --export-path all")
    assert "open suites/my-medhelm-suite/index.html there" in pages.output


@pytest.mark.full
def test_the_commands_of_helms_other_pages_do_the_same_under_their_other_names(site: Site):
    Path("repro.conf").write_text(
        'entries: [{description: "pubmed_qa:model=text", priority: 1}, '
        '{description: "med_qa:model=text", priority: 3}]\n'
    )
    with FaultServer(answer="A") as server:
        serve(site, server.url)
        repro = type_command(
            site,
            "run --conf-paths repro.conf --num-train-trials 1 --max-eval-instances 2 --priority 2 "
            f"--suite my_suite --models-to-run {MODEL}",
        )
        assert "1 run in suite my_suite" in repro.output
        asked = len(server.asked)
        listed = type_command(
            site,
            f"run --conf repro.conf --max-eval-instances 10 --suite v1 --skip-instances --models-to-run {MODEL}",
        )
        assert "2 runs ready; no server was contacted" in listed.output
        assert "10 instances of 100 in the data" in listed.output
        assert len(server.asked) == asked
        for option in ("--run-entry", "--run-specs"):
            done = type_command(
                site, f"run {option} med_qa:model={MODEL} --suite s --max-eval-instances 1 -n 2"
            )
            assert "1 run in suite s" in done.output
        done = type_command(
            site, f"run --conf-file repro.conf --suite t -m 1 --models-to-run {MODEL}"
        )
        assert "2 runs in suite t" in done.output


@pytest.mark.full
@pytest.mark.parametrize(
    ("command", "options"),
    [("run", RUN_OPTIONS), ("summarize", SUMMARIZE_OPTIONS), ("view", VIEW_OPTIONS)],
    ids=["run", "summarize", "view"],
)
def test_every_option_of_helm_says_why_nothing_is_needed_or_is_refused_by_name(
    site: Site, tmp_path: Path, command: str, options
):
    essential = {
        "run": f"--skip-instances --server http://127.0.0.1:9/v1 --run-entries med_qa:model={MODEL}",
        "summarize": "--release v2.0.0",
        "view": f"--export {tmp_path / 'pages'}",
    }[command]
    import_leaderboard(site, RELEASE, "v2.0.0")
    page = PAGE.read_text("utf-8")
    for option in options:
        value = {"none": "", "one": "3", "many": "a/b c/d"}[option.values]
        for name in option.names:
            line = f"{command} {essential} {name} {value}"
            if name.startswith("--"):
                assert f"`{name}`" in page, f"{name} is not on the page"
            if option.advice:
                with pytest.raises(ConfigError, match=f"{name} is not supported: ") as caught:
                    type_command(site, line)
                assert caught.value.advice.startswith(option.advice.partition("`")[0])
                continue
            said = type_command(site, line).stderr
            assert f": {option.reason}\n" in said
            if command == "view":
                (tmp_path / "pages").rename(tmp_path / f"pages{name}")


def test_several_draws_of_examples_are_refused(site: Site):
    with pytest.raises(ConfigError, match="--num-train-trials 3 is not supported"):
        type_command(site, f"run -r med_qa:model={MODEL} -t 3")


def test_a_local_path_with_other_deployments_is_refused_before_the_wrong_ones_are_asked(
    site: Site, tmp_path: Path
):
    theirs = tmp_path / "prod_env"
    theirs.mkdir()
    words = f"run -r {ENTRY} --skip-instances --local-path {theirs}"
    serve(site, "http://127.0.0.1:9/v1")
    assert "deployments are read from the site's" in type_command(site, words).stderr
    (theirs / "model_deployments.yaml").write_text("model_deployments: []\n")
    with pytest.raises(ConfigError, match="differs from the site's"):
        type_command(site, words)
    (theirs / "model_deployments.yaml").write_bytes(site.deployments.read_bytes())
    assert "1 run ready" in type_command(site, words).output


def test_results_on_the_web_are_not_shown_as_if_they_were_here(site: Site):
    with pytest.raises(ConfigError, match="results on the web are not read"):
        type_command(site, "view --output-path https://storage.example/medhelm --release v2.0.0")
    with pytest.raises(ConfigError, match="--suite and --release cannot be combined"):
        type_command(site, "view --suite a --release b")


@pytest.mark.full
def test_exit_on_error_starts_no_further_run_and_still_writes_the_output(site: Site):
    words = f"run -r pubmed_qa:model={MODEL} med_qa:model={MODEL} -m 1 -o out"
    with FaultServer(answer="A", fault=containing("yes", Status(404))) as server:
        serve(site, server.url)
        stopped = type_command(site, f"{words} --exit-on-error --suite a")
        assert "1 further run not started" in stopped.stderr
        assert "1 run in suite a" in stopped.stdout
        assert "1 instance written to out/runs/a, redacted" in stopped.stdout
        assert "2 runs in suite b" in type_command(site, f"{words} --suite b").stdout
    assert stopped.return_value == 9


@pytest.mark.full
def test_the_redaction_of_medhelms_scripts_is_typed_with_their_words(site: Site):
    shutil.copytree(RELEASE.parent / "helm_output", "benchmark_output")
    done = type_command(
        site,
        "redact helm --output-path benchmark_output --suite real --redact-output --redact-annotations",
    )
    assert "listed in redaction.json" in done.output
