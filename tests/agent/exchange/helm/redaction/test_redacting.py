"""HELM's output folders are redacted completely, or not at all."""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.cli.main import intramural
from agent.errors import AgentError, BenchmarkError, ConfigError, RedactionError
from agent.exchange.helm.folder import read_run
from agent.exchange.helm.redaction.checking import check_folder
from agent.exchange.helm.redaction.name_judge import open_name_judge
from agent.exchange.helm.redaction.names import Names
from agent.exchange.helm.redaction.redacting import redact_folder
from agent.exchange.helm.redaction.shapes import OF_A_RUN
from agent.exchange.helm.redaction.steps import redact_annotations
from agent.exchange.helm.redaction.vouched import vouched_names
from agent.exchange.helm.redaction.walk import REDACTED, Judges, Options, redact_files
from agent.redaction.engine import open_engine
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
from tests.agent.service.filled_site import FilledSite

KEY = b"k" * 32
ROOT = Path(__file__).parents[5]
REAL = Path(__file__).parents[2] / "data" / "helm_output"
SHOWN_RUN = "ward_notes:data_path="


@pytest.fixture(scope="module")
def judges() -> Judges:
    return Judges(open_engine("hipaa_safe_harbor"), open_name_judge())


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """HELM's folder. For reading only."""
    return planted(tmp_path_factory.mktemp("helm"))


@pytest.fixture(scope="module")
def clean(output: Path, judges: Judges) -> Path:
    """Its redacted copy. For reading only."""
    copy = output.parent / "clean"
    redact_folder(output, [SUITE], judges, Options(), KEY, copy_to=copy)
    return copy


@pytest.fixture
def spoilt(clean: Path, tmp_path: Path) -> Path:
    """A redacted copy to spoil."""
    return shutil.copytree(clean, tmp_path / "clean", symlinks=True)


def found_in(folder: Path, words: Sequence[str] = PLANTED) -> set[str]:
    """Return those of the words that are anywhere in the folder: in bytes, also encoded, and in names."""
    found = set()
    for path in folder.rglob("*"):
        inside = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        for word in words:
            forms = [word.encode(), word.encode("utf-16-le"), base64.b64encode(word.encode())[:-4], word[::-1].encode()]
            if any(form in inside for form in forms) or word in str(path.relative_to(folder)):
                found.add(word)
    return found


def run_of(folder: Path) -> Path:
    (run,) = (path for path in (folder / "runs" / SUITE).iterdir() if path.name.startswith(SHOWN_RUN))
    return run


def content(folder: Path, name: str) -> Any:
    return json.loads((run_of(folder) / name).read_text("utf-8"))


def test_no_planted_identifier_is_left_in_any_byte_or_name(output: Path, clean: Path):
    assert found_in(output) == {word for word in PLANTED if word not in ("KOWALSKI", "kowalski")}
    assert found_in(clean) == set()


def test_what_is_shown_is_still_of_use(clean: Path):
    state = content(clean, "scenario_state.json")["request_states"][0]
    said = state["result"]["completions"][0]
    assert said["text"].startswith("Yes: [NAME-1] (MRN [MRN-1]) may go home. Call [PHONE-1].")
    assert said["thinking"]["text"].startswith("[NAME-1] was seen on [")
    jury = next(iter(state["annotations"].values()))["gpt"]["accuracy"]
    assert (jury["score"], jury["explanation"]) == (4, REDACTED)
    assert "[NAME-1]" in jury["quote"]
    assert content(clean, "stats.json")[0]["mean"] == 0.5
    assert content(clean, "run_spec.json")["adapter_spec"]["model"] == "openai/gpt-4o-2024-05-13"
    assert content(clean, "run_spec.json")["name"] == run_of(clean).name
    assert json.loads((clean / "runs" / SUITE / "run_specs.json").read_text())[0]["name"] == run_of(clean).name


def test_what_medhelms_scripts_replace_is_replaced(clean: Path):
    state = content(clean, "scenario_state.json")["request_states"][0]
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


def test_an_instance_has_one_hashed_id_in_all_files(clean: Path):
    ids = [one["instance"]["id"] for one in content(clean, "scenario_state.json")["request_states"]]
    assert len(set(ids)) == 3
    assert ids == [one["id"] for one in content(clean, "instances.json")]
    for name in ("per_instance_stats.json", "display_predictions.json", "display_requests.json"):
        assert ids == [one["instance_id"] for one in content(clean, name)]


def test_hashes_of_ids_cannot_be_found_by_trying_without_the_key(judges: Judges):
    one, other = (Names(judges.names, key, redacted_before=False).hash_id(MRN) for key in (KEY, b"j" * 32))
    assert one != other


def test_with_redact_output_no_word_of_an_answer_is_left(output: Path, judges: Judges, tmp_path: Path):
    options = Options(blank_outputs=True, blank_annotations=True)
    redact_folder(output, [SUITE], judges, options, KEY, copy_to=tmp_path / "copy")
    assert found_in(tmp_path / "copy", [*PLANTED, "may go home", "was seen", "no such column"]) == set()
    assert check_folder(tmp_path / "copy", judges).outputs == "not shown"


def test_a_field_that_helm_adds_tomorrow_is_not_carried_over(output: Path, judges: Judges, tmp_path: Path):
    def with_field(tree: Any) -> Any:
        if isinstance(tree, dict):
            return {key: with_field(value) for key, value in tree.items()} | {"tomorrow": "zebrafinch"}
        return [with_field(value) for value in tree] if isinstance(tree, list) else tree

    new = shutil.copytree(output, tmp_path / "new", symlinks=True)
    free = {"annotations", "args", "schema.json"}  # maps of names that others choose: their texts are redacted
    for path in (new / "runs" / SUITE).rglob("*.json"):
        if path.name not in free | {"costs.json", "runs_to_run_suites.json"} and path.parent.name != "failed_run":
            tree = with_field(json.loads(path.read_text("utf-8")))
            path.write_text(json.dumps(without(tree, free)), "utf-8")
    redact_folder(new, [SUITE], judges, Options(), KEY, copy_to=tmp_path / "copy")
    assert found_in(new, ["zebrafinch"])
    assert not found_in(tmp_path / "copy", ["zebrafinch", "tomorrow"])


def without(tree: Any, keys: set[str]) -> Any:
    if isinstance(tree, dict):
        return {key: without(value, keys) for key, value in tree.items() if key not in keys}
    return [without(value, keys) for value in tree] if isinstance(tree, list) else tree


def test_the_manifest_says_what_is_there_and_what_is_not(clean: Path):
    manifest = json.loads((clean / "redaction.json").read_text())
    assert {entry["path"] for entry in manifest["files"]} == {
        path.relative_to(clean).as_posix() for path in clean.rglob("*") if path.is_file() and path.parent != clean
    }
    assert manifest["counts"] == {"instances": 3, "runs": 1}
    assert set(manifest["left_out"]) > {
        "files of data sets", "files of cached instances", "files of caches", "logs", "links to files"
    }  # fmt: skip


def test_a_redacted_folder_is_clean_and_redacting_it_again_changes_nothing(clean: Path, judges: Judges, tmp_path: Path):
    check_folder(clean, judges)
    redact_folder(clean, [SUITE], judges, Options(), b"another key of thirty-two bytes.", copy_to=tmp_path / "again")
    for path in clean.rglob("*.json"):
        if path.parent != clean:
            assert (tmp_path / "again" / path.relative_to(clean)).read_bytes() == path.read_bytes()


def test_helms_own_folder_is_not_called_clean(output: Path, judges: Judges):
    with pytest.raises(RedactionError, match="no manifest"):
        check_folder(output, judges)


def add_a_file(folder: Path) -> None:
    put(folder / "runs" / SUITE / "notes.txt", "x")


def add_a_log(folder: Path) -> None:
    put(folder / "helm.log", RECORD)


def add_a_folder(folder: Path) -> None:
    (folder / f"of {PATIENT}").mkdir()


def change_a_file(folder: Path) -> None:
    with (run_of(folder) / "stats.json").open("a") as file:
        file.write(" ")


def delete_a_file(folder: Path) -> None:
    (run_of(folder) / "stats.json").unlink()


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
def test_a_folder_that_was_touched_is_not_called_clean(spoil: Any, spoilt: Path, judges: Judges):
    spoil(spoilt)
    with pytest.raises(RedactionError, match="not clean") as caught:
        check_folder(spoilt, judges)
    assert not any(word in str(caught.value) for word in PLANTED)


def listed_again(folder: Path) -> None:
    """Make the manifest anew, as someone would who wants a spoilt folder to pass."""
    from agent.exchange.helm.redaction.manifest import describe_file

    manifest = json.loads((folder / "redaction.json").read_text())
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.parent != folder)
    manifest["files"] = [describe_file(folder, path).model_dump() for path in files]
    (folder / "redaction.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("where", "what"),
    [
        (("request_states", 0, "instance", "id"), MRN),
        (("request_states", 0, "instance", "input", "text"), "harmless"),
        (("request_states", 0, "instance", "extra_data"), {"value": 1}),
        (("request_states", 0, "result", "completions", 0, "text"), RECORD),
        (("request_states", 0, "result", "completions", 0, "tokens"), [{"text": "a", "logprob": 0}]),
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
    where: tuple[str | int, ...], what: Any, spoilt: Path, judges: Judges
):
    path = run_of(spoilt) / "scenario_state.json"
    tree = inner = json.loads(path.read_text("utf-8"))
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = what
    path.write_text(json.dumps(tree), "utf-8")
    listed_again(spoilt)
    with pytest.raises(RedactionError, match="places in files"):
        check_folder(spoilt, judges)


@pytest.mark.parametrize("smuggled", ['{"name": "Kowalski", ', "{  "])
def test_a_key_that_stands_twice_hides_nothing(smuggled: str, spoilt: Path, judges: Judges):
    path = run_of(spoilt) / "stats.json"
    path.write_text(path.read_text("utf-8").replace("{", smuggled, 1), "utf-8")
    listed_again(spoilt)
    with pytest.raises(RedactionError, match="not written as they were"):
        check_folder(spoilt, judges)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("policy", "kowalski 1"),
        ("policy", "hipaa_safe_harbor 84736251"),
        ("counts", {"kowalski": 1}),
        ("counts", {"instances": 84736251, "runs": 1}),
        ("left_out", ["of kowalski"]),
        ("left_out", {"logs": 84736251}),
        ("left_out", ["logs", "logs"]),
        ("withheld", {"too long": 84736251}),
        ("note", "kowalski"),
        ("suites", [SUITE, SUITE]),
    ],
)
def test_a_manifest_that_says_more_than_it_may_is_not_called_clean(key: str, value: Any, spoilt: Path, judges: Judges):
    manifest = json.loads((spoilt / "redaction.json").read_text())
    (spoilt / "redaction.json").write_text(json.dumps(manifest | {key: value}, indent=1) + "\n")
    with pytest.raises(RedactionError) as caught:
        check_folder(spoilt, judges)
    assert "kowalski" not in str(caught.value)


def test_an_entry_of_a_file_that_stands_twice_hides_nothing(spoilt: Path, judges: Judges):
    manifest = json.loads((spoilt / "redaction.json").read_text())
    manifest["files"].insert(0, manifest["files"][0] | {"bytes": 84736251})
    (spoilt / "redaction.json").write_text(json.dumps(manifest, indent=1) + "\n")
    with pytest.raises(RedactionError, match="twice"):
        check_folder(spoilt, judges)


def test_what_is_written_beside_the_content_of_a_file_is_found(spoilt: Path, judges: Judges):
    try:
        os.setxattr(run_of(spoilt), "user.patient", PATIENT.encode())
    except OSError:
        pytest.skip("a file system without attributes")
    with pytest.raises(RedactionError, match="1 files or folders with attributes"):
        check_folder(spoilt, judges)


def test_a_folder_that_cannot_be_read_is_not_called_clean(spoilt: Path, judges: Judges):
    (spoilt / "closed").mkdir(mode=0o000)
    with pytest.raises(AgentError):
        check_folder(spoilt, judges)


def test_a_foreign_file_in_a_forged_manifest_is_not_called_clean(spoilt: Path, judges: Judges):
    add_a_file(spoilt)
    listed_again(spoilt)
    with pytest.raises(RedactionError, match="not HELM's"):
        check_folder(spoilt, judges)


def test_in_place_the_old_folder_is_gone(judges: Judges, tmp_path: Path):
    output = planted(tmp_path)
    redact_folder(output, [SUITE], judges, Options(), KEY)
    assert found_in(tmp_path) == set()
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark_output"]
    check_folder(output, judges)


@pytest.mark.parametrize("path", ["runs/december/x/run_spec.json", "thesis.docx", "my_code/main.py"])
def test_in_place_nothing_is_deleted_that_is_not_of_the_suite(path: str, judges: Judges, tmp_path: Path):
    output = planted(tmp_path)
    put(output / path, "{}")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(ConfigError, match="would delete"):
        redact_folder(output, [SUITE], judges, Options(), KEY)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_other_suites_and_foreign_files_do_not_come_into_a_copy(judges: Judges, tmp_path: Path):
    output = planted(tmp_path)
    put(output / "runs" / "december" / "x" / "run_spec.json", "{}")
    put(output / "thesis.docx", "zebrafinch")
    redact_folder(output, [SUITE], judges, Options(), KEY, copy_to=tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy" / "runs").iterdir()] == [SUITE]
    assert not found_in(tmp_path / "copy", ["zebrafinch"])


def test_a_link_is_never_followed(judges: Judges, tmp_path: Path):
    output = planted(tmp_path)
    (output / "runs" / "linked").symlink_to(output / "runs" / SUITE)
    put(tmp_path / "elsewhere.json", json.dumps([{"id": "zebrafinch"}]))
    (output / "runs" / SUITE / RUN / "instances.json").unlink()
    (output / "runs" / SUITE / RUN / "instances.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(BenchmarkError, match="a link"):
        redact_folder(output, ["linked"], judges, Options(), KEY, copy_to=tmp_path / "copy")
    redact_folder(output, [SUITE], judges, Options(), KEY, copy_to=tmp_path / "copy")
    assert not (run_of(tmp_path / "copy") / "instances.json").exists()


@pytest.mark.parametrize(
    "damage",
    [b'{"adapter_spec": "Kowalski', b"\xff\xfe", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}", b""],
    ids=["cut", "not UTF-8", "deep", "a long number", "empty"],
)
def test_a_damaged_file_stops_everything_and_is_not_quoted(damage: bytes, judges: Judges, tmp_path: Path):
    output = planted(tmp_path)
    (output / "runs" / SUITE / RUN / "scenario_state.json").write_bytes(damage)
    with pytest.raises(BenchmarkError, match=r"run 1 of the suite: scenario_state.json") as caught:
        redact_folder(output, [SUITE], judges, Options(), KEY)
    assert not any(word in str(caught.value) for word in PLANTED)
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark_output"]
    assert (output / "run.log").exists()


@pytest.mark.parametrize("suite", ["", ".", "..", "a/b", "../../etc", "december", "latest"])
def test_a_suite_that_is_none_is_refused(suite: str, output: Path, judges: Judges, tmp_path: Path):
    with pytest.raises(AgentError):
        redact_folder(output, [suite], judges, Options(), KEY, copy_to=tmp_path / "copy")


@pytest.mark.parametrize("place", ["inside", "runs/november"])
def test_a_copy_into_the_folder_itself_is_refused(place: str, output: Path, judges: Judges):
    with pytest.raises(ConfigError, match="in the output folder"):
        redact_folder(output, [SUITE], judges, Options(), KEY, copy_to=output / place)


def test_what_a_killed_command_left_is_put_right(judges: Judges, tmp_path: Path):
    output = planted(tmp_path)
    old = tmp_path / ".benchmark_output.unredacted"
    put(tmp_path / ".benchmark_output.redacting" / "half.json", "{")
    output.rename(old)  # killed before the new folder took its name
    redact_folder(output, [SUITE], judges, Options(), KEY)
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark_output"]
    planted(tmp_path / "other").rename(old)  # killed while the old folder was deleted
    with pytest.raises(RedactionError, match="unredacted folders beside it"):
        check_folder(output, judges)
    redact_folder(output, [SUITE], judges, Options(), KEY)
    check_folder(output, judges)
    assert not old.exists()


@pytest.mark.parametrize("error", [OSError("full"), KeyboardInterrupt()], ids=["a full disk", "an interrupt"])
@pytest.mark.parametrize("turn", [1, 2])
def test_what_goes_wrong_while_folders_change_places_leaves_the_old_one(
    turn: int, error: BaseException, judges: Judges, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    output = planted(tmp_path, instances=1)
    rename, turns = Path.rename, iter(range(1, 9))

    def failing(self: Path, target: Path) -> Path:
        if next(turns) == turn:
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises((ConfigError, KeyboardInterrupt)):
        redact_folder(output, [SUITE], judges, Options(), KEY)
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark_output"]
    assert (output / "run.log").exists()


KILLED = """
import sys, time
from pathlib import Path
from agent.exchange.helm.redaction.name_judge import open_name_judge
from agent.exchange.helm.redaction.redacting import redact_folder
from agent.exchange.helm.redaction.walk import Judges, Options
from tests.agent.exchange.helm.redaction.test_redacting import KEY, SUITE, Slow
redact_folder(Path(sys.argv[1]), [SUITE], Judges(Slow(), bool), Options(), KEY)
"""


class Slow:
    """A redactor that takes everything, slowly."""

    policy = "slow 1"
    seconds = 0.02

    def redact_and_find(self, texts: Sequence[str], identifiers: Sequence[object] = ()) -> Any:
        time.sleep(self.seconds)
        return [(REDACTED, ())] * len(texts)


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
    assert set(found_in(output)) == set(found_in(planted(tmp_path / "other")))
    slow: Any = Slow()
    redact_folder(output, [SUITE], Judges(slow, bool), Options(), KEY)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["benchmark_output", "other"]
    assert found_in(output, ["may go home", "qcanary"]) == set()


class Restless:
    """A redactor that never settles."""

    policy = "restless 1"
    turns = 0

    def redact_and_find(self, texts: Sequence[str], identifiers: Sequence[object] = ()) -> Any:
        self.turns += 1
        return [(f"turn {self.turns}", ())] * len(texts)


def test_texts_on_which_redaction_does_not_settle_are_not_shown():
    restless: Any = Restless()
    names = Names(bool, KEY, redacted_before=False)
    contents, counts = redact_files(
        {"a": (redact_annotations, {"judge": {"says": "much"}})}, names, Options(), restless
    )
    assert list(leaves(contents)) == [REDACTED]
    assert counts["unsettled instances"] == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.text(max_size=8), JSON, max_size=4))
def test_annotations_of_any_form_show_no_text_and_no_number_but_grades(tree: dict[str, Any]):
    slow: Any = Slow()
    slow.seconds = 0
    names = Names(bool, KEY, redacted_before=False)
    contents, _ = redact_files({"a": (redact_annotations, tree)}, names, Options(blank_annotations=True), slow)
    assert all(shown in (REDACTED, None, True, False) or is_a_grade(shown) for shown in leaves(contents["a"]))


def is_a_grade(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) <= 100


def leaves(tree: Any) -> Iterator[Any]:
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else None
    if inner is None:
        yield tree
    else:
        for value in inner:
            yield from leaves(value)


@pytest.mark.parametrize(
    "name",
    [
        "med_qa:model=openai_gpt-4o-2024-05-13,model_deployment=stanfordhealthcare_gpt-4o",
        "clear:condition=alcohol_dependence,model=anthropic_claude-3-5-sonnet-20241022",
        "med_dialog,subset=healthcaremagic:model=meta_llama-3.3-70b-instruct",
        "n2c2_ct_matching:subject=ABDOMINAL,model=google_gemini-2.0-flash-001",
    ],
)
def test_names_that_helms_tools_look_up_stay(name: str, judges: Judges):
    assert Names(judges.names, KEY, redacted_before=False).show_run(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "ward:patient=kowalski,model=x", "ward:subset=John_Smith", "ward:subset=john.smith", "ward:mrn=7",
        "ward:data_path=_home_kowalski", "ward:n=00451234", "Dr. Anna Kowalski", "ward:model=hospital_john-smith",
    ],
)  # fmt: skip
def test_names_of_people_and_places_on_a_disk_become_labels(name: str, judges: Judges):
    shown = Names(judges.names, KEY, redacted_before=False).show_run(name).casefold()
    assert not any(word in shown for word in ("kowalski", "smith", "00451234", "mrn=7"))


@pytest.mark.parametrize(
    "name",
    [
        "wojciech.szczepanski", "szczepanski_baseline", "openai/gpt-4o-szczepanski", "mholloway77", "okonkwo",
        "nguyenvan",
        "szczepanski_holloway", "rose_young", "02114", "w84736", "A84736", "482-9033", "born1961", "claude-1961-0304",
        "claude-1961-0304-84736251", "gpt-617-482-9033", "helm.benchmark.scenarios.szczepanski_holloway.Mrn84736251",
        "helm.mrn_84736251.A", "helm.benchmark.metrics.Szczepanski",
    ],
)  # fmt: skip
def test_a_name_that_nobody_vouches_for_becomes_a_label(name: str, judges: Judges):
    names = Names(judges.names, KEY, redacted_before=False)
    assert names.show(name) == names.label(name)


@pytest.mark.parametrize(
    "name",
    [
        "ward_accuracy", "simple_mcqa", "num_prompt_tokens", "multiple_choice_joint", "icliniq", "local/llama-3-8b",
        "anthropic/claude-3-5-sonnet-20241022", "openai_gpt-5-2025-08-07",
        "meta/llama-4-maverick-17b-128e-instruct-fp8", "my_suite", "exact_match@5",
        "helm.benchmark.scenarios.medhelm_configurable_scenario.MedHELMConfigurableScenario",
    ],
)  # fmt: skip
def test_a_name_of_known_words_stays(name: str, judges: Judges):
    assert Names(judges.names, KEY, redacted_before=False).show(name) == name


def test_all_names_of_helm_itself_stay(judges: Judges):
    names = Names(judges.names, KEY, redacted_before=False)
    assert all(names.show(name) == name for name in vouched_names())


@given(st.integers(0, 10**19))
def test_no_number_can_be_passed_off_as_a_label_or_a_hash(number: int):
    names = Names(lambda _: False, KEY, redacted_before=True)
    for raw in (f"name_{number:012}"[:17], f"case-{number:016}"[:21]):
        assert names.hash_id(raw) != raw
        assert names.show(raw) != raw
    assert not any(map(str.isdigit, names.hash_id("7") + names.show("szczepanski")))


def redacted(name: str, tree: Any, judges: Judges) -> Any:
    names = Names(judges.names, KEY, redacted_before=False)
    return redact_files({name: (OF_A_RUN[name], tree)}, names, Options(), judges.texts)[0][name]


def test_numbers_of_records_in_the_settings_of_a_run_are_left_out(judges: Judges):
    args = {
        "hadm_id": 20000147, "subject_id": 10000032, "note_id": 84736251, "visit": 7731, "zip": 2114,
        "zip_code": "02114",
        "phone": 6174829033, "born": 19610304, "year": 1961, "ids": [482559013, 6174829033], "lat": 42.3601,
        "nested": {"row": {"mrn": 84736251, "at": [[84736251]]}}, "a": "20000147", "num_instances": 84736251,
        "max_length": 482559013, "seed": 19610304, "prob": 0.4823590, "num_train": 17, "k": 5, "case": True,
    }  # fmt: skip
    spec = {
        "scenario_spec": {"class_name": "x.Y", "args": args},
        "metric_specs": [{"class_name": "x.Y", "args": args}],
        "adapter_spec": {"max_tokens": 6174829033, "num_outputs": 84736251, "temperature": 1e-07, "num_trials": 1},
        "data_augmenter_spec": {
            "perturbation_specs": [{"class_name": "x.Y", "args": args}],
            "seeds_per_instance": 84736,
        },
    }
    new = redacted("run_spec.json", spec, judges)
    kept = {one for one in leaves(new) if isinstance(one, int | float)}
    assert kept == {17, 5, 1, 1e-07}
    assert not any(number in json.dumps(new) for number in ("20000147", "02114"))


@pytest.mark.parametrize(
    "figures",
    [
        {"count": 1, "sum": 84736251},
        {"count": 1, "sum": 84736251, "min": 84736251, "max": 84736251, "mean": 84736251, "sum_squared": 84736251**2},
        {"count": 1, "sum": 482559, "mean": 13},
        {"count": 84736251},
        {"count": 0, "mean": 6174829},
        {"count": 2, "sum": 1, "sum_squared": 1, "mean": 0.5, "variance": 4825.59},
        {"count": 2, "sum": 1, "sum_squared": 1, "mean": 0.5, "variance": 0.25, "stddev": 482.559},
        {"count": 2, "sum": 1, "sum_squared": 1, "mean": 0.5, "min": 0, "max": 10**400},
        {"count": 1, "sum": 10**400},
        {"count": 1, "sum": 1, "sum_squared": 84736251},
    ],
)
def test_figures_that_do_not_follow_from_each_other_are_left_out(figures: dict[str, Any], judges: Judges):
    stats = [{"name": {"name": "exact_match", "split": "test"}, **figures}]
    assert redacted("stats.json", stats, judges) == [{"name": {"name": "exact_match", "split": "test"}}]


@given(st.lists(st.floats(-1e5, 1e5) | st.integers(0, 900_000), min_size=1, max_size=30))
def test_figures_that_helm_computes_stay(values: list[float]):
    mean = sum(values) / len(values)
    variance = max(sum(one * one for one in values) / len(values) - mean**2, 0)
    stat = {
        "name": {"name": "exact_match"}, "count": len(values), "sum": sum(values), "min": min(values),
        "max": max(values),
        "sum_squared": sum(one * one for one in values), "mean": mean, "variance": variance, "stddev": variance**0.5,
    }  # fmt: skip
    unused: Any = None
    assert redacted("stats.json", [stat], Judges(unused, bool)) == [stat]


def test_a_number_beside_a_word_that_is_no_grade_is_not_shown(judges: Judges):
    tree = {"patient_age_value": 97, "room_rank": 12, "value": 84.73, "scored_by": 7, "accuracy_score": 4, "points": 2}
    names = Names(judges.names, KEY, redacted_before=False)
    contents, _ = redact_files({"a": (redact_annotations, tree)}, names, Options(), judges.texts)
    assert [one for one in leaves(contents["a"]) if one != REDACTED] == [4, 2]


def test_a_person_of_the_record_is_no_key_and_no_sub_split_either(judges: Judges):
    tree = {"says": f"Patient: {PATIENT}", "kowalski": {"score": 3}, "accuracy": {"score": 4}}
    names = Names(judges.names, KEY, redacted_before=False)
    contents, _ = redact_files({"a": (redact_annotations, tree)}, names, Options(), judges.texts)
    assert set(contents["a"]) == {"says", "accuracy", names.label("kowalski")}
    state = [{"id": "id7", "input": {"text": f"Patient: {PATIENT}"}, "sub_split": "kowalski"}]
    contents, _ = redact_files({"instances.json": (OF_A_RUN["instances.json"], state)}, names, Options(), judges.texts)
    assert contents["instances.json"][0]["sub_split"] == names.label("kowalski")


def test_what_the_data_set_says_of_a_patient_is_gone_from_answers(judges: Judges):
    told = {"patient_name": "Wren Featherstonehaugh", "mrn": "QX-77-3", "subject_id": 7731}
    state = {
        "instance": {"id": "id7", "input": {"text": "Who?"}, "extra_data": {"row": told}},
        "result": {"completions": [{"text": "wren featherstonehaugh, QX 77 3, also 7731, has a cough."}]},
    }
    names = Names(judges.names, KEY, redacted_before=False)
    files = {"scenario_state.json": (OF_A_RUN["scenario_state.json"], {"request_states": [state]})}
    contents, _ = redact_files(files, names, Options(), judges.texts)
    said = contents["scenario_state.json"]["request_states"][0]["result"]["completions"][0]["text"]
    assert said.startswith("[NAME-1], [")
    assert said.endswith(", has a cough.")
    assert not any(word in said for word in ("wren", "QX", "77"))


def test_figures_of_helms_own_output_stay_and_it_can_still_be_read(judges: Judges, tmp_path: Path):
    redact_folder(REAL, ["real"], judges, Options(), KEY, copy_to=tmp_path / "copy")
    for run in sorted((REAL / "runs" / "real").iterdir()):
        name = json.loads((run / "run_spec.json").read_text())["name"]
        assert Names(judges.names, KEY, redacted_before=False).show_run(name) == name
        old, new = read_run(run), read_run(tmp_path / "copy" / "runs" / "real" / run.name)
        assert [dict(one.scores) for one in new.cases] == [dict(one.scores) for one in old.cases]
        assert (new.model, new.groups, new.scenario, new.whole_run) == (
            old.model,
            old.groups,
            old.scenario,
            old.whole_run,
        )


def command(*words: str) -> Any:
    return CliRunner().invoke(intramural, ["redact", "helm", *words], env={"INTRAMURAL_SITE": None})


def test_the_command_redacts_and_checks(output: Path, tmp_path: Path):
    copy = str(tmp_path / "copy")
    done = command("--output", str(output), "--suite", SUITE, "--copy-to", copy)
    assert done.exit_code == 0, done.output
    assert "instances: 3" in done.output
    assert "left out or not shown: 2 files of caches" in done.output
    assert not any(word in done.output for word in PLANTED)
    done = command("--output", copy, "--check")
    assert done.exit_code == 0, done.output
    assert "clean: " in done.output
    add_a_file(tmp_path / "copy")
    assert isinstance(command("--output", copy, "--check").exception, RedactionError)
    assert os.listdir(tmp_path) == ["copy"]  # noqa: PTH208


@pytest.mark.parametrize("options", [[], ["--level", "strict"]])
def test_a_manifest_that_names_a_weaker_policy_lowers_nothing(options: list[str], spoilt: Path):
    path = run_of(spoilt) / "scenario_state.json"
    state = json.loads(path.read_text("utf-8"))
    state["request_states"][0]["result"]["completions"][0]["text"] = "Seen on 03/04/1961."
    path.write_text(json.dumps(state, indent=1, ensure_ascii=False) + "\n", "utf-8")
    listed_again(spoilt)
    manifest = json.loads((spoilt / "redaction.json").read_text())
    (spoilt / "redaction.json").write_text(json.dumps(manifest | {"policy": "limited_data_set 1"}, indent=1) + "\n")
    done = command("--output", str(spoilt), "--check", *options)
    assert isinstance(done.exception, RedactionError)
    assert "places in files" in str(done.exception)
    assert "limited_data_set 1, which takes less" in done.output


def test_a_folder_under_a_weaker_policy_is_called_clean_under_that_one_if_it_is_asked_for(tmp_path: Path):
    output = planted(tmp_path, instances=1)
    state = output / "runs" / SUITE / RUN / "scenario_state.json"
    tree = json.loads(state.read_text())
    tree["request_states"][0]["result"]["completions"][0]["text"] = "Seen on 03/04/2021 in Springfield."
    state.write_text(json.dumps(tree))
    copy, weak = str(tmp_path / "copy"), ["--policy", "limited_data_set"]
    assert command("--output", str(output), "--suite", SUITE, "--copy-to", copy, *weak).exit_code == 0
    done = command("--output", copy, "--check", *weak)
    assert done.exit_code == 0, done.output
    assert "limited_data_set 1, which takes less" in done.output
    assert isinstance(command("--output", copy, "--check").exception, RedactionError)


def test_at_a_site_its_policy_counts_and_ids_are_the_same_each_time(output: Path, filled: FilledSite, tmp_path: Path):
    site = str(filled.site.directory)
    for name in ("one", "two"):
        words = ["redact", "helm", "--output", str(output), "--suite", SUITE, "--copy-to", str(tmp_path / name)]
        assert CliRunner().invoke(intramural, ["--site", site, *words]).exit_code == 0
    assert content(tmp_path / "one", "instances.json") == content(tmp_path / "two", "instances.json")


def test_a_policy_that_writes_surrogates_is_refused(output: Path, tmp_path: Path):
    policy = yaml.safe_load((ROOT / "policies" / "redaction" / "hipaa_safe_harbor.yaml").read_text())
    put(tmp_path / "ours.yaml", yaml.safe_dump(policy | {"name": "ours", "operators": {"default": "surrogate"}}))
    words = ["--output", str(output), "--suite", SUITE, "--copy-to", str(tmp_path / "copy")]
    done = command(*words, "--policy", str(tmp_path / "ours.yaml"))
    assert isinstance(done.exception, RedactionError)
    assert "surrogates" in str(done.exception)
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("level", [["--level", "strict"], ["--language", "es"]], ids=["strict", "spanish"])
def test_other_policies_leave_names_that_helms_tools_look_up(level: list[str], tmp_path: Path):
    copy = str(tmp_path / "copy")
    done = command("--output", str(REAL), "--suite", "real", "--copy-to", copy, *level)
    assert done.exit_code == 0, done.output
    for run in (REAL / "runs" / "real").iterdir():
        old, new = (json.loads((one / run.name / "run_spec.json").read_text()) for one in (
            REAL / "runs" / "real", tmp_path / "copy" / "runs" / "real"
        ))  # fmt: skip
        assert (new["name"], new["groups"], new["metric_specs"]) == (old["name"], old["groups"], old["metric_specs"])
    assert command("--output", copy, "--check", *level).exit_code == 0


def test_a_text_that_cannot_be_judged_is_withheld_and_said(tmp_path: Path):
    output = planted(tmp_path, instances=1)
    path = output / "runs" / SUITE / RUN / "scenario_state.json"
    tree = json.loads(path.read_text())
    tree["request_states"][0]["result"]["completions"][0]["text"] = f"{PATIENT} \ud800 \x00"
    path.write_text(json.dumps(tree))
    done = command("--output", str(output), "--suite", SUITE, "--copy-to", str(tmp_path / "copy"))
    assert isinstance(done.exception, RedactionError)
    assert "undecodable" in str(done.exception)
    state = content(tmp_path / "copy", "scenario_state.json")["request_states"][0]
    assert state["result"]["completions"][0]["text"] == "[WITHHELD: undecodable]"
