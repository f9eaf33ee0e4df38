"""Which of the many figures in HELM's stats.json is the run's own: unperturbed, of the test split before any other."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent.exchange.helm.import_runs import import_helm
from agent.results.summarize import summarise_run
from tests.agent.exchange.conftest import DATA
from tests.agent.service.filled_site import FilledSite

MACRO = "classification_macro_f1"
ROBUST = {"name": "robustness", "robustness": True, "fairness": False, "computed_on": "worst"}


def figure(mean: float, **name: Any) -> dict[str, Any]:
    return {"name": {"name": MACRO, **name}, "count": 1, "sum": mean, "mean": mean}


def imported(filled: FilledSite, tmp_path: Path, figures: list[dict[str, Any]]) -> float | None:
    source = DATA / "helm_output" / "runs" / "real" / "simple_classification"
    folder = shutil.copytree(source, tmp_path / "runs" / "real" / "classes")
    stats = json.loads((folder / "stats.json").read_text("utf-8"))
    others = [stat for stat in stats if stat["name"]["name"] != MACRO]
    (folder / "stats.json").write_text(json.dumps([*others, *figures]), "utf-8")
    import_helm(filled.site, folder, "real")
    with filled.site.store() as store:
        (run,) = store.runs.select("real")
        found = {metric.metric: metric.mean.value for metric in summarise_run(store, run).metrics}
    return found.get(MACRO)


TEST, VALID = figure(0.5, split="test"), figure(0.25, split="valid")
PERTURBED = figure(0.125, split="test", perturbation=ROBUST)
OF_A_PART = figure(0.0625, split="test", sub_split="hard")


@pytest.mark.parametrize(
    ("figures", "own"),
    [
        ([TEST, PERTURBED], 0.5),
        ([PERTURBED, TEST], 0.5),
        ([TEST, OF_A_PART], 0.5),
        ([VALID, TEST], 0.5),
        ([TEST, VALID], 0.5),
        ([VALID, PERTURBED], 0.25),
        ([PERTURBED], None),
        ([figure(1.0, split="train")], None),
    ],
)
def test_the_figure_of_the_run_is_the_unperturbed_one_of_the_test_split(
    filled: FilledSite, tmp_path: Path, figures: list[dict[str, Any]], own: float | None
):
    assert imported(filled, tmp_path, figures) == own
