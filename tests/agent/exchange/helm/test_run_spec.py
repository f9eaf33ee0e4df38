"""A run is described as HELM's own runs are."""

from pathlib import Path

from tests.agent.exchange.helm.exported_runs import export_runs, load_file
from tests.agent.service.filled_site import FilledSite, case


def test_helms_scenario_gets_no_argument_that_it_does_not_know(filled: FilledSite, tmp_path: Path):
    filled.add([case(0)], entry="clear:condition=homelessness,model=a/b")
    filled.add([case(0)], entry="mtsamples_replicate:reference=section,model=a/b")
    specs = {
        folder.name.partition(":")[0]: load_file(folder, "run_spec.json")
        for folder in export_runs(filled, tmp_path / "out")
    }
    assert specs["clear"]["scenario_spec"]["args"] == {
        "condition": "homelessness",
        "data_path": "-",
    }
    assert specs["mtsamples_replicate"]["scenario_spec"]["args"] == {}
