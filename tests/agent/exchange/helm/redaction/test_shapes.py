"""HELM's data structures keep the fields that are listed, and no others."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent.exchange.helm.folder import read_run
from agent.exchange.helm.redaction.names import Names
from agent.exchange.helm.redaction.redacting import redact_folder
from agent.exchange.helm.redaction.shapes import OF_A_RUN
from agent.exchange.helm.redaction.steps import redact_annotations
from agent.exchange.helm.redaction.walk import REDACTED, FolderRedactors, Options, redact_files
from tests.agent.exchange.helm.redaction.planted_helm_folder import (
    PATIENT,
    SUITE,
)
from tests.agent.exchange.helm.redaction.redacted_folders import (
    KEY,
    REAL,
    find_words,
    read_content,
)


@pytest.mark.full
def test_a_field_that_helm_adds_tomorrow_is_not_carried_over(
    output: Path, redactors: FolderRedactors, tmp_path: Path
):
    def with_field(tree: Any) -> Any:
        if isinstance(tree, dict):
            return {key: with_field(value) for key, value in tree.items()} | {
                "tomorrow": "zebrafinch"
            }
        return [with_field(value) for value in tree] if isinstance(tree, list) else tree

    new = shutil.copytree(output, tmp_path / "new", symlinks=True)
    free = {
        "annotations",
        "args",
        "schema.json",
    }  # maps of names that others choose: their texts are redacted
    for path in (new / "runs" / SUITE).rglob("*.json"):
        if (
            path.name not in free | {"costs.json", "runs_to_run_suites.json"}
            and path.parent.name != "failed_run"
        ):
            tree = with_field(json.loads(path.read_text("utf-8")))
            path.write_text(json.dumps(drop_keys(tree, free)), "utf-8")
    redact_folder(new, [SUITE], redactors, Options(), KEY, copy_to=tmp_path / "copy")
    assert find_words(new, ["zebrafinch"])
    assert not find_words(tmp_path / "copy", ["zebrafinch", "tomorrow"])


def drop_keys(tree: Any, keys: set[str]) -> Any:
    if isinstance(tree, dict):
        return {key: drop_keys(value, keys) for key, value in tree.items() if key not in keys}
    return [drop_keys(value, keys) for value in tree] if isinstance(tree, list) else tree


def test_what_medhelms_scripts_replace_is_replaced(clean: Path):
    state = read_content(clean, "scenario_state.json")["request_states"][0]
    assert state["instance"]["input"] == {"text": REDACTED}
    assert state["instance"]["references"] == [{"output": {"text": REDACTED}, "tags": ["correct"]}]
    assert state["request"]["prompt"] == REDACTED
    assert state["output_mapping"] == {"A": REDACTED}
    assert state["result"]["error"] == REDACTED
    assert set(state["request"]) <= {
        "model_deployment",
        "model",
        "embedding",
        "prompt",
        "temperature",
        "stop_sequences",
    }


def test_a_person_of_the_record_is_no_key_and_no_sub_split_either(redactors: FolderRedactors):
    tree = {"says": f"Patient: {PATIENT}", "kowalski": {"score": 3}, "accuracy": {"score": 4}}
    names = Names(redactors.names, KEY, redacted_before=False)
    contents, _ = redact_files({"a": (redact_annotations, tree)}, names, Options(), redactors.texts)
    assert set(contents["a"]) == {"says", "accuracy", names.label("kowalski")}
    state = [{"id": "id7", "input": {"text": f"Patient: {PATIENT}"}, "sub_split": "kowalski"}]
    contents, _ = redact_files(
        {"instances.json": (OF_A_RUN["instances.json"], state)}, names, Options(), redactors.texts
    )
    assert contents["instances.json"][0]["sub_split"] == names.label("kowalski")


@pytest.mark.full
def test_figures_of_helms_own_output_stay_and_it_can_still_be_read(
    redactors: FolderRedactors, tmp_path: Path
):
    redact_folder(REAL, ["real"], redactors, Options(), KEY, copy_to=tmp_path / "copy")
    for run in sorted((REAL / "runs" / "real").iterdir()):
        name = json.loads((run / "run_spec.json").read_text())["name"]
        assert Names(redactors.names, KEY, redacted_before=False).show_run(name) == name
        old, new = read_run(run), read_run(tmp_path / "copy" / "runs" / "real" / run.name)
        assert [dict(one.scores) for one in new.cases] == [dict(one.scores) for one in old.cases]
        assert (new.model, new.groups, new.scenario, new.whole_run) == (
            old.model,
            old.groups,
            old.scenario,
            old.whole_run,
        )
