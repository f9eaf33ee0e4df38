"""The schema of an export names every benchmark and metric of its runs."""

from pathlib import Path

from tests.agent.exchange.helm.exported_runs import export_runs, load_file
from tests.agent.service.filled_site import FilledSite, case


def test_every_group_and_metric_that_a_run_names_is_in_the_exports_schema(
    filled: FilledSite, tmp_path: Path
):
    filled.add([case(0)], entry="head_qa:model=a/b")  # HELM has it in the group biomedical too
    (folder,) = export_runs(filled, tmp_path / "out")
    schema = load_file(tmp_path / "out", "schema_intramural.yaml")
    groups = {group["name"]: group for group in schema["run_groups"]}
    assert set(load_file(folder, "run_spec.json")["groups"]) <= groups.keys()
    metrics = {metric["name"] for metric in schema["metrics"]}
    environment = groups["head_qa"]["environment"]
    assert {environment["main_name"], environment["main_unscored"]} <= metrics
    used = {
        metric["name"] for group in schema["metric_groups"] for metric in group["metrics"]
    } - metrics
    assert used == {"${main_name}", "${main_unscored}"}
