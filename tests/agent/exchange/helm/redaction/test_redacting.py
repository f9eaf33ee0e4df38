"""HELM's output folders are redacted completely, or not at all."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from agent.cli.main import intramural
from agent.errors import BenchmarkError, ConfigError, RedactionError
from agent.exchange.helm.redaction.checking import check_folder
from agent.exchange.helm.redaction.redacting import redact_folder
from agent.exchange.helm.redaction.walk import REDACTED, FolderRedactors, Options
from tests.agent.exchange.helm.redaction.planted_helm_folder import (
    PATIENT,
    PLANTED,
    RUN,
    SUITE,
    planted,
    put,
)
from tests.agent.exchange.helm.redaction.redacted_folders import (
    KEY,
    REAL,
    ROOT,
    Slow,
    add_a_file,
    find_run,
    find_words,
    read_content,
    run_command,
)
from tests.agent.service.filled_site import FilledSite


def test_no_planted_identifier_is_left_in_any_byte_or_name(output: Path, clean: Path):
    assert find_words(output) == {word for word in PLANTED if word not in ("KOWALSKI", "kowalski")}
    assert find_words(clean) == set()


def test_what_is_shown_is_still_of_use(clean: Path):
    state = read_content(clean, "scenario_state.json")["request_states"][0]
    said = state["result"]["completions"][0]
    assert said["text"].startswith("Yes: [NAME-1] (MRN [MRN-1]) may go home. Call [PHONE-1].")
    assert said["thinking"]["text"].startswith("[NAME-1] was seen on [")
    jury = next(iter(state["annotations"].values()))["gpt"]["accuracy"]
    assert (jury["score"], jury["explanation"]) == (4, REDACTED)
    assert "[NAME-1]" in jury["quote"]
    assert read_content(clean, "stats.json")[0]["mean"] == 0.5
    assert (
        read_content(clean, "run_spec.json")["adapter_spec"]["model"] == "openai/gpt-4o-2024-05-13"
    )
    assert read_content(clean, "run_spec.json")["name"] == find_run(clean).name
    assert (
        json.loads((clean / "runs" / SUITE / "run_specs.json").read_text())[0]["name"]
        == find_run(clean).name
    )


def test_an_instance_has_one_hashed_id_in_all_files(clean: Path):
    ids = [
        one["instance"]["id"]
        for one in read_content(clean, "scenario_state.json")["request_states"]
    ]
    assert len(set(ids)) == 3
    assert ids == [one["id"] for one in read_content(clean, "instances.json")]
    for name in ("per_instance_stats.json", "display_predictions.json", "display_requests.json"):
        assert ids == [one["instance_id"] for one in read_content(clean, name)]


def test_with_redact_output_no_word_of_an_answer_is_left(
    output: Path, redactors: FolderRedactors, tmp_path: Path
):
    options = Options(blank_outputs=True, blank_annotations=True)
    redact_folder(output, [SUITE], redactors, options, KEY, copy_to=tmp_path / "copy")
    assert (
        find_words(tmp_path / "copy", [*PLANTED, "may go home", "was seen", "no such column"])
        == set()
    )
    assert check_folder(tmp_path / "copy", redactors).outputs == "not shown"


def test_in_place_the_old_folder_is_gone(redactors: FolderRedactors, tmp_path: Path):
    output = planted(tmp_path)
    redact_folder(output, [SUITE], redactors, Options(), KEY)
    assert find_words(tmp_path) == set()
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark_output"]
    check_folder(output, redactors)


@pytest.mark.parametrize(
    "damage",
    [
        b'{"adapter_spec": "Kowalski',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
        b"",
    ],
    ids=["cut", "not UTF-8", "deep", "a long number", "empty"],
)
def test_a_damaged_file_stops_everything_and_is_not_quoted(
    damage: bytes, redactors: FolderRedactors, tmp_path: Path
):
    output = planted(tmp_path)
    (output / "runs" / SUITE / RUN / "scenario_state.json").write_bytes(damage)
    with pytest.raises(BenchmarkError, match=r"run 1 of the suite: scenario_state.json") as caught:
        redact_folder(output, [SUITE], redactors, Options(), KEY)
    assert not any(word in str(caught.value) for word in PLANTED)
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark_output"]
    assert (output / "run.log").exists()


@pytest.mark.parametrize("place", ["inside", "runs/november"])
def test_a_copy_into_the_folder_itself_is_refused(
    place: str, output: Path, redactors: FolderRedactors
):
    with pytest.raises(ConfigError, match="inside the output folder"):
        redact_folder(output, [SUITE], redactors, Options(), KEY, copy_to=output / place)


@pytest.mark.full
def test_what_a_killed_command_left_is_put_right(redactors: FolderRedactors, tmp_path: Path):
    output = planted(tmp_path)
    old = tmp_path / ".benchmark_output.unredacted"
    put(tmp_path / ".benchmark_output.redacting" / "half.json", "{")
    output.rename(old)  # killed before the new folder took its name
    redact_folder(output, [SUITE], redactors, Options(), KEY)
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark_output"]
    planted(tmp_path / "other").rename(old)  # killed while the old folder was deleted
    with pytest.raises(RedactionError, match="unredacted folders next to it"):
        check_folder(output, redactors)
    redact_folder(output, [SUITE], redactors, Options(), KEY)
    check_folder(output, redactors)
    assert not old.exists()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "error", [OSError("full"), KeyboardInterrupt()], ids=["a full disk", "an interrupt"]
)
@pytest.mark.parametrize("turn", [1, 2])
def test_what_goes_wrong_while_folders_change_places_leaves_the_old_one(
    turn: int,
    error: BaseException,
    redactors: FolderRedactors,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    output = planted(tmp_path, instances=1)
    rename, turns = Path.rename, iter(range(1, 9))

    def failing(self: Path, target: Path) -> Path:
        if next(turns) == turn:
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises((ConfigError, KeyboardInterrupt)):
        redact_folder(output, [SUITE], redactors, Options(), KEY)
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark_output"]
    assert (output / "run.log").exists()


KILLED = """
import sys, time
from pathlib import Path
from agent.exchange.helm.redaction.name_filter import open_name_filter
from agent.exchange.helm.redaction.redacting import redact_folder
from agent.exchange.helm.redaction.walk import FolderRedactors, Options
from tests.agent.exchange.helm.redaction.redacted_folders import KEY, Slow
from tests.agent.exchange.helm.redaction.planted_helm_folder import SUITE
redact_folder(Path(sys.argv[1]), [SUITE], FolderRedactors(Slow(), bool), Options(), KEY)
"""


@pytest.mark.full
def test_a_command_that_is_killed_leaves_the_old_folder_or_the_new_one(tmp_path: Path):
    output = planted(tmp_path, instances=20)
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(output)])
    growing = tmp_path / ".benchmark_output.redacting"
    deadline = time.monotonic() + 60
    while not growing.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert growing.exists()
    assert not (output / "redaction.json").exists()
    assert set(find_words(output)) == set(find_words(planted(tmp_path / "other")))
    slow: Any = Slow()
    redact_folder(output, [SUITE], FolderRedactors(slow, bool), Options(), KEY)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["benchmark_output", "other"]
    assert find_words(output, ["may go home", "qcanary"]) == set()


@pytest.mark.full
def test_the_command_redacts_and_checks(output: Path, tmp_path: Path):
    copy = str(tmp_path / "copy")
    done = run_command("--output", str(output), "--suite", SUITE, "--copy-to", copy)
    assert done.exit_code == 0, done.output
    assert "instances: 3" in done.output
    assert "left out or not shown: 2 files of caches" in done.output
    assert not any(word in done.output for word in PLANTED)
    done = run_command("--output", copy, "--check")
    assert done.exit_code == 0, done.output
    assert "clean: " in done.output
    add_a_file(tmp_path / "copy")
    assert isinstance(run_command("--output", copy, "--check").exception, RedactionError)
    assert os.listdir(tmp_path) == ["copy"]  # noqa: PTH208


@pytest.mark.full
def test_at_a_site_its_policy_counts_and_ids_are_the_same_each_time(
    output: Path, filled: FilledSite, tmp_path: Path
):
    site = str(filled.site.directory)
    for name in ("one", "two"):
        words = [
            "redact",
            "helm",
            "--output",
            str(output),
            "--suite",
            SUITE,
            "--copy-to",
            str(tmp_path / name),
        ]
        assert CliRunner().invoke(intramural, ["--site", site, *words]).exit_code == 0
    assert read_content(tmp_path / "one", "instances.json") == read_content(
        tmp_path / "two", "instances.json"
    )


def test_a_policy_that_writes_surrogates_is_refused(output: Path, tmp_path: Path):
    policy = yaml.safe_load(
        (ROOT / "policies" / "redaction" / "hipaa_safe_harbor.yaml").read_text()
    )
    put(
        tmp_path / "ours.yaml",
        yaml.safe_dump(policy | {"name": "ours", "operators": {"default": "surrogate"}}),
    )
    words = ["--output", str(output), "--suite", SUITE, "--copy-to", str(tmp_path / "copy")]
    done = run_command(*words, "--policy", str(tmp_path / "ours.yaml"))
    assert isinstance(done.exception, RedactionError)
    assert "surrogates" in str(done.exception)
    assert not (tmp_path / "copy").exists()


@pytest.mark.full
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "level", [["--level", "strict"], ["--language", "es"]], ids=["strict", "spanish"]
)
def test_other_policies_leave_names_that_helms_tools_look_up(level: list[str], tmp_path: Path):
    copy = str(tmp_path / "copy")
    done = run_command("--output", str(REAL), "--suite", "real", "--copy-to", copy, *level)
    assert done.exit_code == 0, done.output
    for run in (REAL / "runs" / "real").iterdir():
        old, new = (json.loads((one / run.name / "run_spec.json").read_text()) for one in (
            REAL / "runs" / "real", tmp_path / "copy" / "runs" / "real"
        ))  # fmt: skip
        assert (new["name"], new["groups"], new["metric_specs"]) == (
            old["name"],
            old["groups"],
            old["metric_specs"],
        )
    assert run_command("--output", copy, "--check", *level).exit_code == 0


@pytest.mark.full
def test_a_text_that_cannot_be_judged_is_withheld_and_said(tmp_path: Path):
    output = planted(tmp_path, instances=1)
    path = output / "runs" / SUITE / RUN / "scenario_state.json"
    tree = json.loads(path.read_text())
    tree["request_states"][0]["result"]["completions"][0]["text"] = f"{PATIENT} \ud800 \x00"
    path.write_text(json.dumps(tree))
    done = run_command(
        "--output", str(output), "--suite", SUITE, "--copy-to", str(tmp_path / "copy")
    )
    assert isinstance(done.exception, RedactionError)
    assert "undecodable" in str(done.exception)
    state = read_content(tmp_path / "copy", "scenario_state.json")["request_states"][0]
    assert state["result"]["completions"][0]["text"] == "[WITHHELD: undecodable]"
