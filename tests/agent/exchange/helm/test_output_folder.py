"""A suite in HELM's output folder: beside what is there, redacted, and replaced by the next run."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.cli.main import intramural
from agent.errors import ConfigError
from agent.exchange.helm.output_folder import check_output_folder, write_output_folder
from agent.io.progress import Progress
from tests.agent.exchange.conftest import DATA
from tests.agent.exchange.helm.exported_runs import WORDS, planted, read_every_byte
from tests.agent.service.filled_site import FilledSite, graded

QUIET = Progress(quiet=True)


@pytest.mark.full
def test_the_suite_appears_below_runs_redacted_and_the_next_run_replaces_it(
    filled: FilledSite, tmp_path: Path
):
    filled.add([planted(number) for number in range(3)])
    output = tmp_path / "benchmark_output"
    assert write_output_folder(filled.site, output, "november", QUIET) == 3
    suite = output / "runs" / "november"
    (first,) = [path for path in suite.iterdir() if path.is_dir()]
    found = read_every_byte(output)
    assert [word for word in WORDS if word.encode() in found] == []
    (suite / "groups.json").write_text("[]")  # as helm-summarize leaves it
    (first / "display_predictions.json").write_text("[]")
    filled.add(graded(1, 2), entry="med_qa:model=a/b")
    assert write_output_folder(filled.site, output, "november", QUIET) == 5
    assert len([path for path in suite.iterdir() if path.is_dir()]) == 2
    assert not (first / "display_predictions.json").exists()
    assert {path.name for path in suite.iterdir() if path.is_file()} == {
        "groups.json",
        "model_metadata.yaml",
        "schema_intramural.yaml",
    }
    models = json.loads((suite / "model_metadata.yaml").read_text())["models"]
    assert len(models) == 2
    assert sorted(path.name for path in (output / "runs").iterdir()) == ["november"]


def test_helms_own_runs_are_never_replaced(filled: FilledSite, tmp_path: Path):
    filled.add(graded(1, 2))
    output = tmp_path / "benchmark_output"
    shutil.copytree(DATA / "helm_output" / "runs" / "real", output / "runs" / "november")
    before = read_every_byte(output)
    for attempt in (
        lambda: check_output_folder(output, "november"),
        lambda: write_output_folder(filled.site, output, "november", QUIET),
    ):
        with pytest.raises(ConfigError, match="runs that this program did not write"):
            attempt()
    assert read_every_byte(output) == before
    check_output_folder(output, "december")


def test_a_folder_that_was_redacted_says_how_it_is_written_again(
    filled: FilledSite, tmp_path: Path
):
    filled.add(graded(1, 2))
    output = tmp_path / "benchmark_output"
    write_output_folder(filled.site, output, "november", QUIET)
    words = ("--site", filled.site.directory, "redact", "helm", "-o", output, "--suite", "november")
    done = CliRunner().invoke(intramural, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    with pytest.raises(ConfigError, match="was redacted with `intramural redact helm`") as caught:
        check_output_folder(output, "november")
    suite = output / "runs" / "november"
    assert f"delete {suite} and {output / 'redaction.json'}" in caught.value.advice
    shutil.rmtree(suite)
    (output / "redaction.json").unlink()
    write_output_folder(filled.site, output, "november", QUIET)


@pytest.mark.parametrize("name", ["model_metadata.yaml", "schema_intramural.yaml"])
def test_a_file_of_the_users_own_is_never_overwritten(
    filled: FilledSite, tmp_path: Path, name: str
):
    filled.add(graded(1, 2))
    suite = tmp_path / "runs" / "november"
    suite.mkdir(parents=True)
    (suite / name).write_text("models: []")
    with pytest.raises(ConfigError, match=f"a file {name} that this program did not write"):
        write_output_folder(filled.site, tmp_path, "november", QUIET)
    assert [path.name for path in suite.iterdir()] == [name]
    assert (suite / name).read_text() == "models: []"


def test_an_output_folder_that_cannot_be_written_is_refused_before_anything_is_asked(
    tmp_path: Path,
):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="cannot be written"):
        check_output_folder(tmp_path / "file", "s")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "latest").symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="is a link"):
        check_output_folder(tmp_path, "latest")
