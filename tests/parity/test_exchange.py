"""The real helm-summarize and helm-server read our exports; we read what the real helm-run and helm-summarize write."""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import ProxyHandler, build_opener

import pytest
from click.testing import CliRunner

from agent.cli.main import intramural
from agent.exchange.helm.export import export_helm
from agent.exchange.helm.import_runs import import_helm
from agent.exchange.helm.leaderboard import import_leaderboard
from agent.exchange.releases import make_release, summarise_release
from tests.agent.service.filled_site import MODEL, FilledSite, case, failed, filled_site, unscored

HELM_PYTHON = os.environ.get("HELM_PYTHON")
pytestmark = pytest.mark.skipif(not HELM_PYTHON, reason="HELM itself is met by `make test-parity`")
CONFIG = Path(__file__).parents[1] / "data" / "medhelm_configurable"
OWN = """\
name: airways
description: invented
dataset_file: dataset.csv
prompt_file: prompt.txt
max_tokens: 8
metrics:
  - name: exact_match
"""
ENTRIES = {  # entry -> how many of 40 are right
    "pubmed_qa": 31,
    "med_mcqa": 20,
    "head_qa": 7,
    "medec": 13,
    "medcalc_bench": 11,
    "clear:condition=alcohol_dependence": 30,
    "clear:condition=homelessness": 12,
    "med_dialog:subset=icliniq": 9,
    "airways": 22,
}
BY_SCHEMA_ONLY = {"airways"}  # HELM has no class for it


def helm(folder: Path, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    assert HELM_PYTHON
    return subprocess.run(
        [HELM_PYTHON, "-m", f"helm.benchmark.{module}", *words],
        cwd=folder, env=_environment(folder), capture_output=True, text=True, timeout=250, check=True,
    )  # fmt: skip


def _environment(folder: Path) -> dict[str, str]:
    """HELM asks the network for tokenizers as it starts: a closed port of this machine is its way out."""
    closed = dict.fromkeys(
        ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"
    )
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "HF_HUB_OFFLINE": "1", **closed}


@contextmanager
def helm_server(folder: Path, suite: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--suite", suite, "--output-path", str(folder), "-p", str(port)]
    assert HELM_PYTHON
    process = subprocess.Popen(
        [HELM_PYTHON, "-m", "helm.benchmark.server", *words],
        cwd=folder, env=_environment(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def get(address: str) -> bytes:
    opener = build_opener(ProxyHandler({}))
    for _ in range(100):
        try:
            with opener.open(address, timeout=5) as reply:
                return bytes(reply.read())
        except URLError:
            time.sleep(0.3)
    raise AssertionError(f"no reply from {address}")


def values(tables: Path) -> dict[str, dict[str, float]]:
    """Return, by group and model, the first figure of helm-summarize's first table."""
    found: dict[str, dict[str, float]] = {}
    for path in tables.glob("groups/*.json"):
        table = json.loads(path.read_text("utf-8"))[0]
        found[path.stem] = {row[0]["value"]: row[1]["value"] for row in table["rows"]}
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> FilledSite:
    filled = filled_site(tmp_path_factory.mktemp("exchange"))
    own = filled.site.directory / "benchmarks" / "airways"
    own.mkdir(parents=True)
    (own / "benchmark.yaml").write_text(OWN, "utf-8")
    (own / "prompt.txt").write_text("Airways? {note}\n", "utf-8")
    (own / "dataset.csv").write_text(
        "note,correct_answer\nA cough.,yes\nA broken leg.,no\n", "utf-8"
    )
    for at, (entry, right) in enumerate(ENTRIES.items()):
        for model, fewer in ((MODEL, 0), ("a/b", 3)):
            separator = "," if ":" in entry else ":"
            cases = [case(100 * at + n, score=float(n < right - fewer)) for n in range(40)]
            filled.add(
                [*cases, failed(100 * at + 50), unscored(100 * at + 51)],
                entry=f"{entry}{separator}model={model}",
            )
    return filled


@pytest.fixture(scope="module")
def exported(site: FilledSite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("helm") / "out"
    folder.mkdir()
    export_helm(site.site, "november", folder, reveal=False)
    return folder


@pytest.fixture(scope="module")
def automatic(exported: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The export as helm-summarize leaves it with a schema of its own making."""
    folder = shutil.copytree(exported, tmp_path_factory.mktemp("automatic") / "out")
    words = [
        "--suite",
        "november",
        "--output-path",
        str(folder),
        "--local-path",
        str(folder),
        "--auto-generate-schema",
    ]
    helm(folder, "presentation.summarize", *words)
    return folder


def summarized(site: FilledSite) -> list[dict[str, Any]]:
    done = CliRunner().invoke(
        intramural,
        [
            "--site",
            str(site.site.directory),
            "summarize",
            "--suite",
            "november",
            "--format",
            "json",
        ],
    )
    assert done.exit_code == 0, done.output
    rows: list[dict[str, Any]] = json.loads(done.output)
    return rows


def check_means(site: FilledSite, tables: Path, left_out: set[str]) -> None:
    found = values(tables)
    rows = [row for row in summarized(site) if row["benchmark"] not in left_out]
    assert len(rows) >= 14
    for row in rows:
        theirs = found[row["benchmark"]][row["model"]]
        assert theirs == pytest.approx(row["mean"], abs=1e-12), row["run"]


def test_helm_summarize_shows_the_means_of_intramural_summarize(site: FilledSite, automatic: Path):
    check_means(site, automatic / "runs" / "november", BY_SCHEMA_ONLY)


def test_helm_summarize_shows_every_benchmark_with_the_exports_own_schema(
    site: FilledSite, exported: Path, tmp_path: Path
):
    folder = shutil.copytree(exported, tmp_path / "out")
    words = ["--suite", "november", "--output-path", str(folder), "--local-path", str(folder)]
    helm(
        folder,
        "presentation.summarize",
        *words,
        "--schema-path",
        str(folder / "schema_intramural.yaml"),
    )
    check_means(site, folder / "runs" / "november", set())


def test_helm_server_serves_the_pages_of_a_run(automatic: Path):
    run = next(
        path.name
        for path in (automatic / "runs" / "november").iterdir()
        if path.name.startswith("pubmed_qa")
    )
    with helm_server(automatic, "november") as address:
        assert b"<html" in get(f"{address}/")
        base = f"{address}/benchmark_output/runs/november/{quote(run)}"
        instances = json.loads(get(f"{base}/instances.json"))
        predictions = json.loads(get(f"{base}/display_predictions.json"))
    assert len(instances) == 41  # a failed request has no answer to show
    assert {prediction["stats"].get("exact_match") for prediction in predictions} == {
        0.0,
        1.0,
        None,
    }
    assert predictions[0]["predicted_text"] == "yes"
    assert predictions[0]["instance_id"] == instances[0]["id"]


@pytest.mark.browser
@pytest.mark.skipif(
    shutil.which("chromium") is None, reason="the distribution's chromium is not installed"
)
def test_helms_own_pages_show_a_run_in_a_browser(automatic: Path):
    from playwright.sync_api import sync_playwright

    from tests.agent.service.test_in_a_browser import ARGUMENTS

    run = next(
        path.name
        for path in (automatic / "runs" / "november").iterdir()
        if path.name.startswith("pubmed_qa")
    )
    with helm_server(automatic, "november") as address, sync_playwright() as playwright:
        get(address)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=ARGUMENTS
        )
        page = browser.new_page()
        page.goto(f"{address}/#/runs/{quote(run, safe='')}")
        page.get_by_text("Does aspirin lower fever, question 0?").first.wait_for(timeout=20_000)
        assert page.get_by_text("Data: sample").count() > 0
        browser.close()


def test_what_helm_run_writes_is_imported_with_helms_own_figures(site: FilledSite, tmp_path: Path):
    shutil.copytree(CONFIG, tmp_path / "work")
    entries = [
        "medhelm_configurable_benchmark:config_path=exact_match_demo.yaml,model=simple/model1",
        "simple_mcqa:model=simple/model1",
    ]
    helm(
        tmp_path / "work",
        "run",
        "--run-entries",
        *entries,
        "--suite",
        "helm",
        "--max-eval-instances",
        "20",
    )
    runs = import_helm(site.site, tmp_path / "work" / "benchmark_output")
    assert len(runs) == 2
    with site.site.store() as store:
        for run in store.runs.select("helm"):
            folder = next(
                p
                for p in (tmp_path / "work/benchmark_output/runs/helm").iterdir()
                if p.name == run.name
            )
            stats = json.loads((folder / "stats.json").read_text("utf-8"))
            for kept in run.details.metrics:
                theirs = [
                    s["mean"]
                    for s in stats
                    if s["name"] == {"name": kept.helm_name, "split": "test"}
                ]
                scores = [score.value for score in store.scores.read_units(run.run_id, kept.name)]
                assert [sum(s or 0.0 for s in scores) / len(scores)] == pytest.approx(theirs), (
                    kept.name
                )


def test_what_helm_summarize_writes_is_imported_as_a_leaderboard(
    site: FilledSite, exported: Path, tmp_path: Path
):
    folder = shutil.copytree(exported, tmp_path / "out")
    words = [
        "--suites",
        "november",
        "--release",
        "v1",
        "--output-path",
        str(folder),
        "--local-path",
        str(folder),
    ]
    helm(folder, "presentation.summarize", *words, "--auto-generate-schema")
    name, count = import_leaderboard(site.site, folder)
    assert name == "v1"
    assert count >= 12
    make_release(site.site, ["november", "v1"], "joined")
    by_origin: dict[bool, dict[tuple[str, str], float | None]] = {True: {}, False: {}}
    for summary in summarise_release(site.site, "joined"):
        key = summary.run.benchmark, summary.run.model
        by_origin[summary.run.imported][key] = summary.main.mean.value
    assert by_origin[True]
    for key, value in by_origin[True].items():
        assert value == pytest.approx(by_origin[False][key], abs=1e-12)
