"""The real helm-summarize and helm-server read a folder that was redacted, with the same figures as before."""

import json
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from agent.cli.main import intramural
from agent.exchange.helm.redaction.vouched import NAMES_OF_HELM
from tests.agent.exchange.helm.redaction.planted_helm_folder import PLANTED, SUITE, planted
from tests.parity.names_of_helm import names_of
from tests.parity.test_exchange import HELM_PYTHON, get, helm, helm_server

pytestmark = pytest.mark.skipif(not HELM_PYTHON, reason="HELM itself is met by `make test-parity`")
REAL = Path(__file__).parents[1] / "agent" / "exchange" / "data" / "helm_output"

# Every file of a run read as HELM reads it: into its own classes.
READS = """
import sys
from typing import List
from helm.common.codec import from_json
from helm.benchmark.adaptation.scenario_state import ScenarioState
from helm.benchmark.metrics.metric import PerInstanceStats
from helm.benchmark.metrics.statistic import Stat
from helm.benchmark.presentation.run_display import DisplayPrediction, DisplayRequest
from helm.benchmark.run_spec import RunSpec
from helm.benchmark.scenarios.scenario import Instance
kinds = {"scenario_state": ScenarioState, "per_instance_stats": List[PerInstanceStats], "stats": List[Stat],
         "display_predictions": List[DisplayPrediction], "display_requests": List[DisplayRequest],
         "instances": List[Instance], "run_spec": RunSpec}
for name, kind in kinds.items():
    from_json(open(f"{sys.argv[1]}/{name}.json").read(), kind)
"""

# HELM's own way to make a schema builds scenarios from their settings, of which a redacted folder has not all.
SCHEMA = """
metrics: [{name: exact_match, display_name: EM}, {name: num_instances, display_name: Instances}]
metric_groups:
  - {name: main, display_name: Main, metrics: [{name: exact_match, split: "${main_split}"}]}
run_groups:
  - {name: all, display_name: All, description: All, category: All scenarios, subgroups: [%s]}
"""
GROUP = """\
  - {name: %s, display_name: Notes, description: Of notes, metric_groups: [main], environment: {main_split: test}}
"""
GROUPS = ("simple_mcqa", "simple_classification", "airways", "ward_notes")


def redact(*words: str) -> None:
    done = CliRunner().invoke(intramural, ["redact", "helm", *words], env={"INTRAMURAL_SITE": None})
    assert done.exit_code == 0, done.output


def summarize(folder: Path, suite: str) -> None:
    schema = folder.parent / "schema.yaml"
    schema.write_text(
        SCHEMA % ", ".join(GROUPS) + "".join(GROUP % group for group in GROUPS), "utf-8"
    )
    words = ["--suite", suite, "--output-path", str(folder), "--schema-path", str(schema)]
    helm(folder, "presentation.summarize", *words)


def figures(tables: Path) -> dict[str, list[object]]:
    """Return the values of the cells of helm-summarize's tables, by group."""
    found: dict[str, list[object]] = {}
    for path in tables.glob("groups/*.json"):
        rows = [row for table in json.loads(path.read_text("utf-8")) for row in table["rows"]]
        found[path.stem] = [cell.get("value") for row in rows for cell in row]
    return found


@pytest.fixture(scope="module")
def summarized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """HELM's own folder, as helm-summarize leaves it."""
    folder = shutil.copytree(REAL, tmp_path_factory.mktemp("redacted") / "out")
    summarize(folder, "real")
    return folder


@pytest.fixture(scope="module")
def redacted(summarized: Path) -> Path:
    """Its redacted copy."""
    copy = summarized.parent / "copy"
    redact("--output", str(summarized), "--suite", "real", "--copy-to", str(copy))
    return copy


def test_the_list_of_helms_names_is_that_of_helm():
    assert HELM_PYTHON
    where = [HELM_PYTHON, "-c", "import helm; print(helm.__path__[0])"]
    package = Path(
        subprocess.run(where, check=True, capture_output=True, text=True, timeout=60).stdout.strip()
    )
    lines = NAMES_OF_HELM.read_text("utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == names_of(package)


def test_helm_reads_every_file_of_a_redacted_run(redacted: Path):
    for run in sorted((redacted / "runs" / "real").glob("*/run_spec.json")):
        assert HELM_PYTHON
        subprocess.run([HELM_PYTHON, "-c", READS, str(run.parent)], check=True, timeout=250)


def test_tables_have_the_same_figures(summarized: Path, redacted: Path):
    assert any(
        isinstance(value, float)
        for rows in figures(summarized / "runs" / "real").values()
        for value in rows
    )
    assert figures(redacted / "runs" / "real") == figures(summarized / "runs" / "real")


def test_helm_summarize_makes_the_same_tables_again_and_they_can_be_redacted_again(
    summarized: Path, redacted: Path, tmp_path: Path
):
    again = shutil.copytree(redacted, tmp_path / "again")
    summarize(again, "real")
    assert figures(again / "runs" / "real") == figures(summarized / "runs" / "real")
    redact("--output", str(again), "--suite", "real")
    redact("--output", str(again), "--check")


def test_helm_server_shows_a_redacted_folder(redacted: Path):
    with helm_server(redacted, "real") as address:
        for run in (redacted / "runs" / "real").glob("*/run_spec.json"):
            where = f"{address}/benchmark_output/runs/real/{quote(run.parent.name)}"
            for name in (
                "instances.json",
                "display_predictions.json",
                "display_requests.json",
                "scenario_state.json",
            ):
                assert json.loads(get(f"{where}/{name}"))
        assert json.loads(get(f"{address}/benchmark_output/runs/real/groups.json"))


def test_helm_summarize_reads_a_folder_whose_names_became_labels(tmp_path: Path):
    redact(
        "--output", str(planted(tmp_path)), "--suite", SUITE, "--copy-to", str(tmp_path / "copy")
    )
    summarize(tmp_path / "copy", SUITE)
    tables = [
        path.read_text("utf-8") for path in (tmp_path / "copy" / "runs" / SUITE).rglob("*.json")
    ]
    assert not any(word in table for table in tables for word in PLANTED)
