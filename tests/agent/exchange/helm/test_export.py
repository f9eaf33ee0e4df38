"""HELM's run folders as `export --format helm` writes them: HELM's shape and names, our numbers, nobody's text."""

import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from agent.cli.main import intramural
from agent.errors import ConfigError
from agent.exchange.helm.export import export_helm
from agent.exchange.helm.run_spec import MAX_FOLDER_NAME_LENGTH
from agent.exchange.tables.export import export_tables
from agent.vocabulary import Message, Reason
from tests.agent.exchange.helm.exported_runs import (
    WORDS,
    export_runs,
    load_file,
    planted,
    read_every_byte,
    read_stats,
)
from tests.agent.service.filled_site import MODEL, Case, FilledSite, case, failed, unscored

FILES = {
    "intramural.json",
    "run_spec.json",
    "scenario.json",
    "scenario_state.json",
    "stats.json",
    "per_instance_stats.json",
}


@pytest.mark.full
@pytest.mark.sample(2)
@pytest.mark.parametrize("form", ["helm", "jsonl", "csv", "parquet"])
def test_planted_texts_are_in_no_byte_of_a_redacted_export(
    filled: FilledSite, tmp_path: Path, form: Any
):
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
    found = read_every_byte(folder / "False")
    assert [word for word in WORDS if word.encode() in found] == []
    assert b"[MRN-1]" in found or form == "parquet"
    revealed = read_every_byte(folder / "True")
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


def test_a_run_has_helms_files_for_the_owner_alone_and_helms_names(
    filled: FilledSite, tmp_path: Path
):
    filled.add([case(0), failed(1), unscored(2), case(3, score=0.0)])
    (folder,) = export_runs(filled, tmp_path / "out")
    assert {path.name for path in folder.iterdir()} == FILES
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    spec = load_file(folder, "run_spec.json")
    assert spec["name"] == folder.name
    assert folder.name.startswith(
        "pubmed_qa:model=qwen_qwen2.5-7b-instruct,model_deployment=deployment_"
    )
    assert (
        spec["scenario_spec"]["class_name"]
        == "helm.benchmark.scenarios.pubmed_qa_scenario.PubMedQAScenario"
    )
    assert spec["groups"] == ["pubmed_qa"]
    assert spec["adapter_spec"]["model"] == MODEL
    assert spec["adapter_spec"]["method"] == "multiple_choice_joint"
    states = load_file(folder, "scenario_state.json")["request_states"]
    assert [("result" in state) for state in states] == [True, False, True, True]
    assert states[0]["output_mapping"] == {"A": "yes", "B": "no"}
    assert states[0]["instance"]["references"][0]["tags"] == ["correct"]
    assert states[0]["result"]["completions"][0]["text"] == "yes"
    assert not {"request_time", "request_datetime", "annotations"} & states[0]["result"].keys()


def test_one_instance_has_one_id_in_every_run_and_it_tells_nothing(
    filled: FilledSite, tmp_path: Path
):
    filled.add([case(0), case(1)])
    filled.add(
        [case(0), case(1)], entry="pubmed_qa:model=baseline/first-choice", language_model=False
    )
    ids = [
        [row["instance_id"] for row in load_file(folder, "per_instance_stats.json")]
        for folder in export_runs(filled, tmp_path / "out")
    ]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 2
    assert all(len(one) == 16 for one in ids[0])


def test_no_name_of_a_run_leads_out_of_the_folder_or_collides(filled: FilledSite, tmp_path: Path):
    names = [
        "../../etc/passwd",
        "a/b:model=m",
        "a_b:model=m",
        ".hidden\\x\u202e",
        "x" * 400,
        "x" * 400 + "y",
    ]
    with filled.site.store() as store:
        details = store.runs.find(filled.add([case(0)])).details  # type: ignore[union-attr]
        for name in names:
            store.runs.begin(
                suite="odd", name=name, benchmark="pubmed_qa", lineage="x", model="m", deployment="m",
                details=details, planned=[(case(0).instance, b"k" * 32)], scored_by=[name],
            )  # fmt: skip
    folders = export_runs(filled, tmp_path / "out", suite="odd")
    assert len(folders) == len(names)
    for folder in folders:
        assert folder.parent == tmp_path / "out" / "runs" / "odd"
        assert folder.name.isprintable()
        assert not folder.name.startswith(".")
        assert len(folder.name.encode()) <= MAX_FOLDER_NAME_LENGTH + 10
        assert load_file(folder, "run_spec.json")["name"] == folder.name
    assert {path.name for path in tmp_path.iterdir()} == {"site", "out"}


def test_a_chat_is_written_as_messages_and_a_purged_instance_keeps_its_score(
    filled: FilledSite, tmp_path: Path
):
    chat = case(0)
    instance = type(chat.instance)(
        "p-0",
        "u-0",
        (Message("system", "Be brief."), Message("user", "Well?")),
        chat.instance.references,
    )
    filled.add([Case(instance, chat.result, 1.0)])
    (folder,) = export_runs(filled, tmp_path / "out")
    request = load_file(folder, "scenario_state.json")["request_states"][0]["request"]
    assert request["prompt"] == ""
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    with filled.site.store() as store:
        store.purge(0)
    (folder,) = export_runs(filled, tmp_path / "purged")
    assert load_file(folder, "scenario_state.json")["request_states"] == []
    assert read_stats(folder)["exact_match"]["mean"] == 1.0


def test_helms_figures_beside_ours_keep_a_name_of_their_own(filled: FilledSite, tmp_path: Path):
    twin = {
        "metric": "exact_match",
        "low": 0,
        "high": 1,
        "binary": True,
        "helm_name": "exact_match",
        "options": {},
    }
    filled.add(
        [case(0), unscored(1, Reason.EMPTY)],
        scoring="both",
        metrics=[
            {
                "name": "exact_match",
                "display_name": "EM",
                "scoring": "intramural",
                "whole_run": False,
                **twin,
            },
            {
                "name": "exact_match@helm",
                "display_name": "EM",
                "scoring": "helm",
                "whole_run": False,
                **twin,
            },
        ],
    )
    (folder,) = export_runs(filled, tmp_path / "out")
    assert {"exact_match", "exact_match@helm", "exact_match@helm_unscored"} <= read_stats(
        folder
    ).keys()


def test_revealing_is_in_the_audit_log_and_redacting_is_not(filled: FilledSite, tmp_path: Path):
    run_id = filled.add([case(0), case(1)])
    export_runs(filled, tmp_path / "redacted")
    assert filled.audited() == []
    export_runs(filled, tmp_path / "revealed", reveal=True)
    assert filled.audited() == [f"export run={run_id} instances=0-1"]


def test_the_command_writes_run_folders_and_says_how_to_read_them(
    filled: FilledSite, tmp_path: Path
):
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
