"""HELM's run folders as `export --format helm` writes them: HELM's shape and names, our numbers, nobody's text."""

import json
import math
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from agent.cli.main import intramural
from agent.errors import ConfigError
from agent.exchange.helm.export import export_helm
from agent.exchange.helm.run_spec import LONGEST_FOLDER_NAME
from agent.exchange.helm.stats import Stat
from agent.exchange.tables.export import export_tables
from agent.vocabulary import Message, Reason, Reference
from tests.agent.service.filled_site import MODEL, Case, FilledSite, case, failed, unscored

CANARY = "Ignatius Quellmalz"
WORDS = ("Quellmalz", "8842331", "03/14/1951", "ward-seven", "identity-9917", "notes_of_quellmalz")
FILES = {
    "intramural.json",
    "run_spec.json",
    "scenario.json",
    "scenario_state.json",
    "stats.json",
    "per_instance_stats.json",
}


def planted(number: int) -> Case:
    """An instance with a canary in every place that holds a text or an id of the dataset."""
    text = f"Mr. {CANARY}; MRN 8842331; born 03/14/1951; question {number}"
    return case(
        number,
        prompt=text,
        answer=f"About {text}",
        reasoning=f"Think of {text}",
        references=(Reference(f"Mr. {CANARY}", True), Reference("MRN 8842331", False)),
        identity="identity-9917",
        unit="ward-seven",
    )


def exported(filled: FilledSite, folder: Path, *, reveal: bool = False, suite: str = "november") -> list[Path]:
    export_helm(filled.site, suite, folder, reveal=reveal)
    return sorted((folder / "runs" / suite).iterdir())


def load(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text("utf-8"))


def stats(folder: Path) -> dict[str, dict[str, Any]]:
    return {stat["name"]["name"]: stat for stat in load(folder, "stats.json")}


def every_byte(folder: Path) -> bytes:
    return b"\n".join(
        [path.relative_to(folder).as_posix().encode() for path in folder.rglob("*")]
        + [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    )


@pytest.mark.parametrize("form", ["helm", "jsonl", "csv", "parquet"])
def test_planted_texts_are_in_no_byte_of_a_redacted_export(filled: FilledSite, tmp_path: Path, form: Any):
    if form == "parquet":
        pytest.importorskip("pyarrow.parquet")
    own = tmp_path / "notes_of_quellmalz"
    own.mkdir()
    filled.add([planted(number) for number in range(3)], data=_data(str(own / "x.csv")))
    folder = tmp_path / "out"
    folder.mkdir()
    for reveal in (False, True):
        target = folder / str(reveal)
        target.mkdir()
        if form == "helm":
            export_helm(filled.site, "november", target, reveal=reveal)
        else:
            export_tables(filled.site, "november", target, form, reveal=reveal)
    found = every_byte(folder / "False")
    assert [word for word in WORDS if word.encode() in found] == []
    assert b"[MRN-1]" in found or form == "parquet"
    revealed = every_byte(folder / "True")
    if form != "parquet":  # compressed
        assert [word for word in WORDS[:3] if word.encode() not in revealed] == []
        assert b"identity-9917" in revealed
        assert b"ward-seven" not in revealed


def _data(problem: str) -> dict[str, Any]:
    """What a run keeps of its data, with a place that names a file: no export may show it."""
    return {
        "known": "unknown",
        "own": True,
        "named": True,
        "digest": "ab" * 32,
        "instances": 3,
        "problems": [f"{problem}: row 3 is empty"],
    }


def test_a_run_has_helms_files_for_the_owner_alone_and_helms_names(filled: FilledSite, tmp_path: Path):
    filled.add([case(0), failed(1), unscored(2), case(3, score=0.0)])
    (folder,) = exported(filled, tmp_path / "out")
    assert {path.name for path in folder.iterdir()} == FILES
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    spec = load(folder, "run_spec.json")
    assert spec["name"] == folder.name
    assert folder.name.startswith("pubmed_qa:model=qwen_qwen2.5-7b-instruct,model_deployment=deployment_")
    assert spec["scenario_spec"]["class_name"] == "helm.benchmark.scenarios.pubmed_qa_scenario.PubMedQAScenario"
    assert spec["groups"] == ["pubmed_qa"]
    assert spec["adapter_spec"]["model"] == MODEL
    assert spec["adapter_spec"]["method"] == "multiple_choice_joint"
    states = load(folder, "scenario_state.json")["request_states"]
    assert [("result" in state) for state in states] == [True, False, True, True]
    assert states[0]["output_mapping"] == {"A": "yes", "B": "no"}
    assert states[0]["instance"]["references"][0]["tags"] == ["correct"]
    assert states[0]["result"]["completions"][0]["text"] == "yes"
    assert not {"request_time", "request_datetime", "annotations"} & states[0]["result"].keys()


def test_unscored_instances_are_in_no_statistic_and_counted_in_one(filled: FilledSite, tmp_path: Path):
    filled.add([case(0), failed(1), unscored(2), case(3, score=0.0), case(4)])
    (folder,) = exported(filled, tmp_path / "out")
    found = stats(folder)
    assert found["exact_match"]["count"] == 3
    assert found["exact_match"]["mean"] == pytest.approx(2 / 3)
    assert found["exact_match_unscored"]["sum"] == 2
    assert found["num_instances"]["sum"] == 5
    assert found["num_prompt_tokens"]["sum"] == 40
    each = load(folder, "per_instance_stats.json")
    assert [[s["mean"] for s in row["stats"] if s["name"]["name"] == "exact_match"] for row in each] == [
        [1.0], [], [], [0.0], [1.0],
    ]  # fmt: skip


def test_a_statistic_is_what_its_values_are():
    found = Stat("x", "test", [0.0, 0.5, 1.0, 1.0]).to_json()
    assert (found["count"], found["sum"], found["sum_squared"]) == (4, 2.5, 2.25)
    assert (found["min"], found["max"], found["mean"]) == (0.0, 1.0, 0.625)
    assert found["variance"] == pytest.approx(2.25 / 4 - 0.625**2)
    assert found["stddev"] == pytest.approx(math.sqrt(found["variance"]))
    assert "mean" not in Stat("x", None).to_json()


def test_one_instance_has_one_id_in_every_run_and_it_tells_nothing(filled: FilledSite, tmp_path: Path):
    filled.add([case(0), case(1)])
    filled.add([case(0), case(1)], entry="pubmed_qa:model=baseline/first-choice", language_model=False)
    ids = [
        [row["instance_id"] for row in load(folder, "per_instance_stats.json")]
        for folder in exported(filled, tmp_path / "out")
    ]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 2
    assert all(len(one) == 16 for one in ids[0])


def test_no_name_of_a_run_leads_out_of_the_folder_or_collides(filled: FilledSite, tmp_path: Path):
    names = ["../../etc/passwd", "a/b:model=m", "a_b:model=m", ".hidden\\x\u202e", "x" * 400, "x" * 400 + "y"]
    with filled.site.store() as store:
        details = store.runs.find(filled.add([case(0)])).details  # type: ignore[union-attr]
        for name in names:
            store.runs.begin(
                suite="odd", name=name, benchmark="pubmed_qa", lineage="x", model="m", deployment="m",
                details=details, planned=[(case(0).instance, b"k" * 32)], scored_by=[name],
            )  # fmt: skip
    folders = exported(filled, tmp_path / "out", suite="odd")
    assert len(folders) == len(names)
    for folder in folders:
        assert folder.parent == tmp_path / "out" / "runs" / "odd"
        assert folder.name.isprintable()
        assert not folder.name.startswith(".")
        assert len(folder.name.encode()) <= LONGEST_FOLDER_NAME + 10
        assert load(folder, "run_spec.json")["name"] == folder.name
    assert {path.name for path in tmp_path.iterdir()} == {"site", "out"}


def test_a_chat_is_written_as_messages_and_a_purged_instance_keeps_its_score(filled: FilledSite, tmp_path: Path):
    chat = case(0)
    instance = type(chat.instance)(
        "p-0", "u-0", (Message("system", "Be brief."), Message("user", "Well?")), chat.instance.references
    )
    filled.add([Case(instance, chat.result, 1.0)])
    (folder,) = exported(filled, tmp_path / "out")
    request = load(folder, "scenario_state.json")["request_states"][0]["request"]
    assert request["prompt"] == ""
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    with filled.site.store() as store:
        store.purge(0)
    (folder,) = exported(filled, tmp_path / "purged")
    assert load(folder, "scenario_state.json")["request_states"] == []
    assert stats(folder)["exact_match"]["mean"] == 1.0


def test_helms_figures_beside_ours_keep_a_name_of_their_own(filled: FilledSite, tmp_path: Path):
    twin = {"metric": "exact_match", "low": 0, "high": 1, "binary": True, "helm_name": "exact_match", "options": {}}
    filled.add(
        [case(0), unscored(1, Reason.EMPTY)],
        scoring="both",
        metrics=[
            {"name": "exact_match", "display_name": "EM", "scoring": "intramural", "whole_run": False, **twin},
            {"name": "exact_match@helm", "display_name": "EM", "scoring": "helm", "whole_run": False, **twin},
        ],
    )
    (folder,) = exported(filled, tmp_path / "out")
    assert {"exact_match", "exact_match@helm", "exact_match@helm_unscored"} <= stats(folder).keys()


def test_revealing_is_in_the_audit_log_and_redacting_is_not(filled: FilledSite, tmp_path: Path):
    run_id = filled.add([case(0), case(1)])
    exported(filled, tmp_path / "redacted")
    assert filled.audited() == []
    exported(filled, tmp_path / "revealed", reveal=True)
    assert filled.audited() == [f"export run={run_id} instances=0-1"]


def test_helms_scenario_gets_no_argument_that_it_does_not_know(filled: FilledSite, tmp_path: Path):
    filled.add([case(0)], entry="clear:condition=homelessness,model=a/b")
    filled.add([case(0)], entry="mtsamples_replicate:reference=section,model=a/b")
    specs = {
        folder.name.partition(":")[0]: load(folder, "run_spec.json") for folder in exported(filled, tmp_path / "out")
    }
    assert specs["clear"]["scenario_spec"]["args"] == {"condition": "homelessness", "data_path": "-"}
    assert specs["mtsamples_replicate"]["scenario_spec"]["args"] == {}


def test_the_command_writes_run_folders_and_says_how_to_read_them(filled: FilledSite, tmp_path: Path):
    filled.add([case(0)])
    out = tmp_path / "out"
    words = [
        "--site",
        str(filled.site.directory),
        "export",
        "--suite",
        "november",
        "--format",
        "helm",
        "--output",
        str(out),
    ]
    done = CliRunner().invoke(intramural, words, catch_exceptions=False)
    assert (done.exit_code, {path.name for path in out.iterdir()}) == (
        0, {"runs", "model_metadata.yaml", "schema_intramural.yaml"},
    )  # fmt: skip
    assert "helm-summarize --suite november" in done.output
    with pytest.raises(ConfigError, match="exists and is not empty"):
        CliRunner().invoke(intramural, words, catch_exceptions=False, standalone_mode=False)


def test_every_group_and_metric_that_a_run_names_is_in_the_exports_schema(filled: FilledSite, tmp_path: Path):
    filled.add([case(0)], entry="head_qa:model=a/b")  # HELM has it in the group biomedical too
    (folder,) = exported(filled, tmp_path / "out")
    schema = load(tmp_path / "out", "schema_intramural.yaml")
    groups = {group["name"]: group for group in schema["run_groups"]}
    assert set(load(folder, "run_spec.json")["groups"]) <= groups.keys()
    metrics = {metric["name"] for metric in schema["metrics"]}
    environment = groups["head_qa"]["environment"]
    assert {environment["main_name"], environment["main_unscored"]} <= metrics
    used = {metric["name"] for group in schema["metric_groups"] for metric in group["metrics"]} - metrics
    assert used == {"${main_name}", "${main_unscored}"}
