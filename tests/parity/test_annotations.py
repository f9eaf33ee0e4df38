"""HELM itself reads the judgements of an export, and what HELM's own annotator writes is read here."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from agent.exchange.helm.export import export_helm
from agent.exchange.helm.import_runs import import_helm
from agent.redaction.gateway.judgements import read_seat_judgements
from agent.vocabulary import Reason
from tests.agent.service.filled_site import FilledSite, case, failed, filled_site
from tests.agent.service.judged import CRITERIA, add_judged, verdict
from tests.parity.test_exchange import HELM_PYTHON, get, helm, helm_server

pytestmark = pytest.mark.skipif(not HELM_PYTHON, reason="HELM itself is met by `make test-parity`")

# HELM's own metric over an exported run: prints its score of every instance that has annotations.
SCORE = """
import json, sys
from helm.benchmark.adaptation.scenario_state import ScenarioState
from helm.benchmark.metrics.llm_jury_metrics import LLMJuryMetric
from helm.common.codec import from_json

folder = sys.argv[1]
spec = json.load(open(folder + "/run_spec.json"))
(args,) = [metric["args"] for metric in spec["metric_specs"] if metric["class_name"].endswith("LLMJuryMetric")]
state = from_json(open(folder + "/scenario_state.json").read(), ScenarioState)
metric = LLMJuryMetric(**args)
scored = [metric.evaluate_generation(None, one, None, "")[0] for one in state.request_states if one.annotations]
print(json.dumps([[stat.name.name, stat.mean] for stat in scored]))
"""

# HELM's own annotator over the same run, with judges that say what they are told to: replaces scenario_state.json.
ANNOTATE = """
import json, sys
from dataclasses import replace
from helm.benchmark.adaptation.scenario_state import ScenarioState
from helm.benchmark.annotation.medication_qa_annotator import MedicationQAAnnotator
from helm.benchmark.annotation.model_as_judge import AnnotatorModelInfo
from helm.common.codec import from_json, to_json
from helm.common.request import GeneratedOutput, RequestResult

folder, replies = sys.argv[1], json.loads(sys.argv[2])

class Client:
    def make_request(self, request):
        said = replies[request.model].pop(0)
        completions = [] if said is None else [GeneratedOutput(text=said, logprob=0, tokens=[])]
        down = said is None
        return RequestResult(success=not down, embedding=[], completions=completions, cached=False, error="down")

judges = {name: AnnotatorModelInfo("m/" + name, "d/" + name) for name in ("gpt", "llama")}
annotator = MedicationQAAnnotator(Client(), {
    name: AnnotatorModelInfo(model_name=name, model_deployment="d/" + name) for name in judges
})
path = folder + "/scenario_state.json"
state = from_json(open(path).read(), ScenarioState)
annotated = [
    replace(one, annotations={annotator.name: annotator.annotate(one)}) if one.result else one
    for one in state.request_states
]
open(path, "w").write(to_json(replace(state, request_states=annotated)))
path = folder + "/run_spec.json"
spec = json.load(open(path))
for metric in spec["metric_specs"]:
    if metric["class_name"].endswith("LLMJuryMetric"):
        metric["args"]["annotator_models"] = {
            name: {"model_name": "m/" + name, "model_deployment": "d/" + name} for name in judges
        }
json.dump(spec, open(path, "w"))
"""


def by_helm(script: str, *words: str) -> str:
    assert HELM_PYTHON
    environment = {"PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [HELM_PYTHON, "-c", script, *words],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture
def site(tmp_path: Path) -> FilledSite:
    filled = filled_site(tmp_path)
    add_judged(
        filled,
        [case(0), case(1), failed(2)],
        {
            0: [[verdict(4.5, "Right.")], ["Hm.", verdict(3, "Nearly.")], ["no", "no"]],
            1: [[verdict(9), verdict(9)], Reason.TIMEOUT, [verdict(1, "Wrong.")]],
        },
    )
    return filled


@pytest.fixture
def run_folder(site: FilledSite, tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    export_helm(site.site, "november", tmp_path / "out", reveal=True)
    (folder,) = (tmp_path / "out" / "runs" / "november").iterdir()
    return folder


def test_helms_own_metric_reads_the_exported_grades_and_cuts_them(run_folder: Path):
    scored = json.loads(by_helm(SCORE, str(run_folder)).splitlines()[-1])
    assert scored == [["medication_qa_accuracy", 3.5], ["medication_qa_accuracy", 1.0]]


def test_helms_own_pages_show_what_each_judge_said(run_folder: Path):
    whole = run_folder.parents[2]
    words = [
        "--suite",
        "november",
        "--output-path",
        str(whole),
        "--local-path",
        str(whole),
        "--auto-generate-schema",
    ]
    helm(whole, "presentation.summarize", *words)
    with helm_server(whole, "november") as address:
        base = f"{address}/benchmark_output/runs/november/{quote(run_folder.name)}"
        shown = json.loads(get(f"{base}/display_predictions.json"))
        assert shown[0]["annotations"]["medication_qa"]["llama"]["clarity"] == {
            "score": 4.5,
            "explanation": "Right.",
        }
        assert list(shown[1]["annotations"]["medication_qa"]) == ["y"]
        if shutil.which("chromium"):
            see(f"{address}/#/runs/{quote(run_folder.name, safe='')}")


def see(address: str) -> None:
    from playwright.sync_api import sync_playwright

    from tests.agent.service.test_in_a_browser import ARGUMENTS

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=ARGUMENTS
        )
        page = browser.new_page()
        page.goto(address)
        note = page.get_by_text("View medication_qa annotations").first
        note.wait_for(timeout=20_000)
        note.click()
        page.get_by_text("llama.accuracy.explanation").first.wait_for(timeout=5_000)
        browser.close()


def test_what_helms_annotator_wrote_is_kept_as_seats(site: FilledSite, run_folder: Path):
    replies: Mapping[str, list[Any]] = {
        "gpt": [verdict(5, "Marzipan."), "I decline."],
        "llama": [None, f"Here:\n{verdict(2.5)}\nDone."],
    }
    (run_folder / "intramural.json").unlink()
    by_helm(ANNOTATE, str(run_folder), json.dumps(replies))
    import_helm(site.site, run_folder, "theirs")
    with site.site.store() as store:
        (run,) = store.runs.select("theirs")
        found = read_seat_judgements(store, run, store.answers.read_instances(run.run_id, 0, 9))
    assert [
        [(one.judge, one.seat.grades, one.seat.reason) for one in found[at]] for at in sorted(found)
    ] == [
        [("gpt", dict.fromkeys(CRITERIA, 5.0), None), ("llama", None, "not_imported")],
        [("gpt", None, "not_imported"), ("llama", dict.fromkeys(CRITERIA, 2.5), None)],
    ]
    assert found[0][0].words["clarity"] == {"explanation": "Marzipan."}
