"""MedHELM's public results: taken over from a release's folder, shown beside the merged ones, ranked with none."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from aggregator.board.helm_release import (
    import_release,
    keep_reference,
    parse_references,
    read_references,
)
from aggregator.cli import cli
from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.home import Home
from tests.aggregator.federation import TestSite, registry_of, scores, submit

RELEASE = Path(__file__).parents[1] / "agent/exchange/data/helm_release"


def test_the_main_figure_of_every_table_is_taken_over() -> None:
    release = import_release(RELEASE, "v1")
    schema = json.loads((RELEASE / "schema.json").read_text())
    main = {
        group["name"]: group.get("environment", {}).get("main_name")
        for group in schema["run_groups"]
    }
    assert release.figures
    for figure in release.figures:
        assert figure.metric == main[figure.benchmark]
    tables = {
        path.stem: json.loads(path.read_text()) for path in (RELEASE / "groups").glob("*.json")
    }
    first = release.figures[0]
    shown = [row[0]["value"] for row in tables[first.benchmark][0]["rows"]]
    values = [cell.get("value") for row in tables[first.benchmark][0]["rows"] for cell in row]
    assert any(str(label).startswith(first.model_name) for label in shown)
    assert any(type(value) is float and round(value * 10_000) == first.value for value in values)


def test_imported_results_are_published_beside_and_the_board_verifies(
    home: Home, site: TestSite, tmp_path: Path
) -> None:
    submit(home, site, site.result(registry_of(home), scores(1)))
    out = tmp_path / "board"
    run = CliRunner()
    plain = run.invoke(cli, ["--dir", str(home.directory), "publish", "--out", str(out)])
    assert plain.exit_code == 0, plain.output
    before = (out / "board.json").read_bytes()
    done = run.invoke(
        cli, ["--dir", str(home.directory), "import", "helm-release", str(RELEASE), "--name", "v1"]
    )
    assert done.exit_code == 0, done.output
    assert "as not verified" in done.output
    again = run.invoke(cli, ["--dir", str(home.directory), "publish", "--out", str(out)])
    assert again.exit_code == 0, again.output
    assert (out / "board.json").read_bytes() == before, (
        "public results change no figure of the board"
    )
    assert "This board has not verified them" in (out / "references/v1.html").read_text()
    verified = run.invoke(cli, ["verify", "--board", str(out)])
    assert verified.exit_code == 0, verified.output
    copy = out / "references/v1.json"
    copy.write_bytes(copy.read_bytes().replace(b'"value": ', b'"value": 1', 1))
    changed = run.invoke(cli, ["verify", "--board", str(out)])
    assert isinstance(changed.exception, BoardMismatchError)


def test_an_import_is_taken_out_again(home: Home, site: TestSite, tmp_path: Path) -> None:
    submit(home, site, site.result(registry_of(home), scores(1)))
    run, out = CliRunner(), tmp_path / "board"
    base = ["--dir", str(home.directory)]
    for name in ("v1", "v2"):
        assert (
            run.invoke(
                cli, [*base, "import", "helm-release", str(RELEASE), "--name", name]
            ).exit_code
            == 0
        )
    assert run.invoke(cli, [*base, "publish", "--out", str(out)]).exit_code == 0
    done = run.invoke(cli, [*base, "import", "helm-release", "--remove", "v1"])
    assert (done.exit_code, "Removed v1" in done.output) == (0, True)
    assert run.invoke(cli, [*base, "publish", "--out", str(out)]).exit_code == 0
    assert {path.name for path in (out / "references").iterdir()} == {"v2.json", "v2.html"}
    assert run.invoke(cli, ["verify", "--board", str(out)]).exit_code == 0


@pytest.mark.parametrize("name", ["v1", "../aggregator", "../releases", "", "*"])
def test_nothing_but_an_import_is_taken_out(home: Home, name: str) -> None:
    before = sorted(home.directory.rglob("*"))
    keep_reference(import_release(RELEASE, "other"), home.directory)
    refused = CliRunner().invoke(
        cli, ["--dir", str(home.directory), "import", "helm-release", "--remove", name]
    )
    assert isinstance(refused.exception, SettingsError)
    assert "(imported: other)" in str(refused.exception)
    assert set(before) <= set(home.directory.rglob("*"))


@pytest.mark.parametrize(
    "words", [[], [str(RELEASE), "--remove", "v1"], ["--remove", "v1", "--name", "v2"]]
)
def test_an_import_names_a_folder_or_what_to_take_out(home: Home, words: list[str]) -> None:
    refused = CliRunner().invoke(
        cli, ["--dir", str(home.directory), "import", "helm-release", *words]
    )
    assert refused.exit_code == 2
    assert "either FOLDER" in refused.output


def test_a_folder_with_several_releases_names_them(tmp_path: Path) -> None:
    for name in ("v1", "v2"):
        shutil.copytree(RELEASE, tmp_path / "releases" / name)
    with pytest.raises(SettingsError, match="several releases: v1, v2"):
        import_release(tmp_path)
    shutil.rmtree(tmp_path / "releases/v1")
    assert import_release(tmp_path).figures
    shutil.rmtree(tmp_path / "releases/v2")
    with pytest.raises(SettingsError, match="is not a HELM release"):
        import_release(tmp_path)


@pytest.mark.parametrize("missing", ["schema.json", "summary.json", "groups"])
def test_a_release_that_is_not_whole_is_refused_with_the_file_that_lacks(
    tmp_path: Path, missing: str
) -> None:
    folder = Path(shutil.copytree(RELEASE, tmp_path / "release"))
    shutil.rmtree(folder / missing) if (folder / missing).is_dir() else (folder / missing).unlink()
    with pytest.raises(SettingsError, match=missing):
        import_release(folder, "v1")


@pytest.mark.parametrize(
    "content", ["[", "[]", '{"run_groups": 1}', '{"run_groups": [{"name": "../x"}]}']
)
def test_a_schema_in_another_form_is_refused(tmp_path: Path, content: str) -> None:
    folder = Path(shutil.copytree(RELEASE, tmp_path / "release"))
    (folder / "schema.json").write_text(content)
    with pytest.raises(SettingsError, match=r"release|JSON|form"):
        import_release(folder, "v1")


@pytest.mark.parametrize("name", ["../evil", "a/b", "", ".hidden", "x" * 60])
def test_a_name_that_is_no_files_name_is_refused(name: str) -> None:
    if not name:
        assert import_release(RELEASE, name).name != ""
        return
    with pytest.raises(SettingsError, match="name"):
        import_release(RELEASE, name)


def test_a_copy_is_read_back_as_it_was_and_no_other_way(tmp_path: Path) -> None:
    release = import_release(RELEASE, "v1")
    assert parse_references({release.file: release.to_bytes()}) == (release,)
    for changed in (
        release.to_bytes() + b" ",
        release.to_bytes().replace(b'"value": ', b'"value": 0.', 1),
        release.to_bytes().replace(b'"name": "v1"', b'"name": "v2"'),
        b"[]",
    ):
        with pytest.raises(BoardMismatchError, match=r"references/v1\.json"):
            parse_references({release.file: changed})
    assert read_references(tmp_path / "references") == ()
