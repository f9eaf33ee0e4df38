"""Only files of HELM and of the named suites are carried over, and nothing of anyone else is deleted."""

import json
from pathlib import Path

import pytest

from agent.errors import AgentError, BenchmarkError, ConfigError
from agent.exchange.helm.redaction.redacting import redact_folder
from agent.exchange.helm.redaction.walk import FolderRedactors, Options
from tests.agent.exchange.helm.redaction.planted_helm_folder import (
    RUN,
    SUITE,
    planted,
    put,
)
from tests.agent.exchange.helm.redaction.redacted_folders import (
    KEY,
    find_run,
    find_words,
)


@pytest.mark.parametrize(
    "path", ["runs/december/x/run_spec.json", "thesis.docx", "my_code/main.py"]
)
def test_in_place_nothing_is_deleted_that_is_not_of_the_suite(
    path: str, redactors: FolderRedactors, tmp_path: Path
):
    output = planted(tmp_path)
    put(output / path, "{}")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(ConfigError, match="would delete"):
        redact_folder(output, [SUITE], redactors, Options(), KEY)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.full
def test_other_suites_and_foreign_files_do_not_come_into_a_copy(
    redactors: FolderRedactors, tmp_path: Path
):
    output = planted(tmp_path)
    put(output / "runs" / "december" / "x" / "run_spec.json", "{}")
    put(output / "thesis.docx", "zebrafinch")
    redact_folder(output, [SUITE], redactors, Options(), KEY, copy_to=tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy" / "runs").iterdir()] == [SUITE]
    assert not find_words(tmp_path / "copy", ["zebrafinch"])


@pytest.mark.full
def test_a_link_is_never_followed(redactors: FolderRedactors, tmp_path: Path):
    output = planted(tmp_path)
    (output / "runs" / "linked").symlink_to(output / "runs" / SUITE)
    put(tmp_path / "elsewhere.json", json.dumps([{"id": "zebrafinch"}]))
    (output / "runs" / SUITE / RUN / "instances.json").unlink()
    (output / "runs" / SUITE / RUN / "instances.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(BenchmarkError, match="a link"):
        redact_folder(output, ["linked"], redactors, Options(), KEY, copy_to=tmp_path / "copy")
    redact_folder(output, [SUITE], redactors, Options(), KEY, copy_to=tmp_path / "copy")
    assert not (find_run(tmp_path / "copy") / "instances.json").exists()


@pytest.mark.parametrize("suite", ["", ".", "..", "a/b", "../../etc", "december", "latest"])
def test_a_suite_that_is_none_is_refused(
    suite: str, output: Path, redactors: FolderRedactors, tmp_path: Path
):
    with pytest.raises(AgentError):
        redact_folder(output, [suite], redactors, Options(), KEY, copy_to=tmp_path / "copy")
