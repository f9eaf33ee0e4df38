"""A redacted folder that was touched, or that a forged manifest describes, is not called clean."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent.errors import AgentError, RedactionError
from agent.exchange.helm.redaction.checking import check_folder
from agent.exchange.helm.redaction.redacting import redact_folder
from agent.exchange.helm.redaction.walk import FolderRedactors, Options
from tests.agent.exchange.helm.redaction.planted_helm_folder import (
    MRN,
    PATIENT,
    PLANTED,
    RECORD,
    RUN,
    SUITE,
    planted,
    put,
)
from tests.agent.exchange.helm.redaction.redacted_folders import (
    add_a_file,
    find_run,
    list_again,
    run_command,
)


@pytest.mark.full
def test_a_redacted_folder_is_clean_and_redacting_it_again_changes_nothing(
    clean: Path, redactors: FolderRedactors, tmp_path: Path
):
    check_folder(clean, redactors)
    redact_folder(
        clean,
        [SUITE],
        redactors,
        Options(),
        b"another key of thirty-two bytes.",
        copy_to=tmp_path / "again",
    )
    for path in clean.rglob("*.json"):
        if path.parent != clean:
            assert (tmp_path / "again" / path.relative_to(clean)).read_bytes() == path.read_bytes()


def test_helms_own_folder_is_not_called_clean(output: Path, redactors: FolderRedactors):
    with pytest.raises(RedactionError, match="no manifest"):
        check_folder(output, redactors)


def add_a_log(folder: Path) -> None:
    put(folder / "helm.log", RECORD)


def add_a_folder(folder: Path) -> None:
    (folder / f"of {PATIENT}").mkdir()


def change_a_file(folder: Path) -> None:
    with (find_run(folder) / "stats.json").open("a") as file:
        file.write(" ")


def delete_a_file(folder: Path) -> None:
    (find_run(folder) / "stats.json").unlink()


def link_to_the_old_folder(folder: Path) -> None:
    (folder / "runs" / "latest").symlink_to("/")


def keep_the_old_folder(folder: Path) -> None:
    (folder.parent / f".{folder.name}.unredacted").mkdir()


@pytest.mark.parametrize(
    "spoil",
    [
        add_a_file, add_a_log, add_a_folder, change_a_file, delete_a_file, link_to_the_old_folder,
        keep_the_old_folder,
    ],
)  # fmt: skip
def test_a_folder_that_was_touched_is_not_called_clean(
    spoil: Any, spoilt: Path, redactors: FolderRedactors
):
    spoil(spoilt)
    with pytest.raises(RedactionError, match="not clean") as caught:
        check_folder(spoilt, redactors)
    assert not any(word in str(caught.value) for word in PLANTED)


@pytest.mark.parametrize(
    ("where", "what"),
    [
        (("request_states", 0, "instance", "id"), MRN),
        (("request_states", 0, "instance", "input", "text"), "harmless"),
        (("request_states", 0, "instance", "extra_data"), {"value": 1}),
        (("request_states", 0, "result", "completions", 0, "text"), RECORD),
        (
            ("request_states", 0, "result", "completions", 0, "tokens"),
            [{"text": "a", "logprob": 0}],
        ),
        (("request_states", 0, "result", "request_datetime"), 1795176992),
        (("request_states", 0, "annotations", "ehr_sql"), [451234]),
        (("adapter_spec", "instructions"), f"Patient: {PATIENT}"),
        (("adapter_spec", "max_tokens"), 19610304),
        (("request_states", 0, "num_conditioning_tokens"), 482559013),
        (("request_states", 0, "train_trial_index"), 84736251),
        (("request_states", 0, "request", "temperature"), 42.360112),
        (("request_states", 0, "instance", "id"), "case-8473625148255901"),
        (("request_states", 0, "request", "model"), "name_848255901361"),
        (("request_states", 0, "result", "completions", 0, "text"), "Call [NAME-617][NAME-482]."),
    ],
)
def test_a_folder_with_a_forged_manifest_is_not_called_clean(
    where: tuple[str | int, ...], what: Any, spoilt: Path, redactors: FolderRedactors
):
    path = find_run(spoilt) / "scenario_state.json"
    tree = inner = json.loads(path.read_text("utf-8"))
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = what
    path.write_text(json.dumps(tree), "utf-8")
    list_again(spoilt)
    with pytest.raises(RedactionError, match="values that redaction would still change"):
        check_folder(spoilt, redactors)


@pytest.mark.parametrize("smuggled", ['{"name": "Kowalski", ', "{  "])
def test_a_key_that_stands_twice_hides_nothing(
    smuggled: str, spoilt: Path, redactors: FolderRedactors
):
    path = find_run(spoilt) / "stats.json"
    path.write_text(path.read_text("utf-8").replace("{", smuggled, 1), "utf-8")
    list_again(spoilt)
    with pytest.raises(RedactionError, match="files that differ from what redaction would write"):
        check_folder(spoilt, redactors)


def test_what_is_written_beside_the_content_of_a_file_is_found(
    spoilt: Path, redactors: FolderRedactors
):
    try:
        os.setxattr(find_run(spoilt), "user.patient", PATIENT.encode())
    except OSError:
        pytest.skip("a file system without attributes")
    with pytest.raises(RedactionError, match="1 files or folders with extended attributes"):
        check_folder(spoilt, redactors)


def test_a_folder_that_cannot_be_read_is_not_called_clean(spoilt: Path, redactors: FolderRedactors):
    (spoilt / "closed").mkdir(mode=0o000)
    with pytest.raises(AgentError):
        check_folder(spoilt, redactors)


def test_a_foreign_file_in_a_forged_manifest_is_not_called_clean(
    spoilt: Path, redactors: FolderRedactors
):
    add_a_file(spoilt)
    list_again(spoilt)
    with pytest.raises(RedactionError, match="not HELM's"):
        check_folder(spoilt, redactors)


@pytest.mark.full
@pytest.mark.parametrize("options", [[], ["--level", "strict"]])
def test_a_manifest_that_names_a_weaker_policy_lowers_nothing(options: list[str], spoilt: Path):
    path = find_run(spoilt) / "scenario_state.json"
    state = json.loads(path.read_text("utf-8"))
    state["request_states"][0]["result"]["completions"][0]["text"] = "Seen on 03/04/1961."
    path.write_text(json.dumps(state, indent=1, ensure_ascii=False) + "\n", "utf-8")
    list_again(spoilt)
    manifest = json.loads((spoilt / "redaction.json").read_text())
    (spoilt / "redaction.json").write_text(
        json.dumps(manifest | {"policy": "limited_data_set 1"}, indent=1) + "\n"
    )
    done = run_command("--output", str(spoilt), "--check", *options)
    assert isinstance(done.exception, RedactionError)
    assert "values that redaction would still change" in str(done.exception)
    assert "limited_data_set 1, which removes less" in done.output


@pytest.mark.full
def test_a_manifest_that_names_the_readable_level_is_checked_at_the_default_one(spoilt: Path):
    manifest = json.loads((spoilt / "redaction.json").read_text())
    (spoilt / "redaction.json").write_text(
        json.dumps(manifest | {"policy": "readable 1"}, indent=1) + "\n"
    )
    done = run_command("--output", str(spoilt), "--check")
    assert done.exit_code == 0, done.output
    assert "The manifest names readable 1, which removes less" in done.output
    assert "hipaa_safe_harbor 1" in done.output


@pytest.mark.full
def test_a_folder_under_a_weaker_policy_is_called_clean_under_that_one_if_it_is_asked_for(
    tmp_path: Path,
):
    output = planted(tmp_path, instances=1)
    state = output / "runs" / SUITE / RUN / "scenario_state.json"
    tree = json.loads(state.read_text())
    tree["request_states"][0]["result"]["completions"][0]["text"] = (
        "Seen on 03/04/2021 in Springfield."
    )
    state.write_text(json.dumps(tree))
    copy, weak = str(tmp_path / "copy"), ["--policy", "limited_data_set"]
    assert (
        run_command("--output", str(output), "--suite", SUITE, "--copy-to", copy, *weak).exit_code
        == 0
    )
    done = run_command("--output", copy, "--check", *weak)
    assert done.exit_code == 0, done.output
    assert "limited_data_set 1, which removes less" in done.output
    assert isinstance(run_command("--output", copy, "--check").exception, RedactionError)
