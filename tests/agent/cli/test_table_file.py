"""`summarize` and `compare` write the notebook's tables to Parquet files and workbooks."""

import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result
from openpyxl import load_workbook

from agent import Site
from agent.cli.main import intramural
from agent.errors import ConfigError
from tests.agent.notebook.conftest import OTHER
from tests.agent.service.filled_site import MODEL, FilledSite, filled_site, graded, unscored

SUMMARIZE = ("summarize", "--suite", "november")
COMPARE = ("compare", MODEL, OTHER, "--suite", "november")


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    filled = filled_site(tmp_path)
    filled.add([*graded(3, 5), unscored(5)])
    filled.add(graded(2, 5), entry=f"pubmed_qa:model={OTHER}")
    return filled


def call(filled: FilledSite, *words: str | Path) -> Result:
    command = ["--site", str(filled.site.directory), *map(str, words)]
    return CliRunner().invoke(intramural, command, catch_exceptions=False, standalone_mode=False)


def read_notebook(filled: FilledSite, command: tuple[str, ...]) -> pd.DataFrame:
    site = Site(filled.site.directory)
    if command[0] == "summarize":
        return site.summary("november")
    return site.compare(MODEL, OTHER, "november")


@pytest.mark.parametrize("command", [SUMMARIZE, COMPARE], ids=["summarize", "compare"])
def test_a_parquet_file_has_the_table_of_the_notebook(
    filled: FilledSite, tmp_path: Path, command: tuple[str, ...]
):
    file = tmp_path / "table.parquet"
    done = call(filled, *command, "--format", "parquet", "--output", file)
    assert "written to table.parquet" in done.stderr
    assert done.stdout == ""
    expected = read_notebook(filled, command)
    read = pd.read_parquet(file).astype(expected.dtypes.to_dict())
    pd.testing.assert_frame_equal(read, expected)
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("command", [SUMMARIZE, COMPARE], ids=["summarize", "compare"])
def test_a_workbook_has_the_table_of_the_notebook(
    filled: FilledSite, tmp_path: Path, command: tuple[str, ...]
):
    file = tmp_path / "table.xlsx"
    call(filled, *command, "--format", "xlsx", "--output", file)
    (sheet,) = load_workbook(file).worksheets
    heads, *rows = sheet.iter_rows(values_only=True)
    expected = read_notebook(filled, command)
    assert list(heads) == list(expected.columns)
    values = expected.astype(object).where(expected.notna(), None)
    for row, expected_row in zip(rows, values.to_numpy().tolist(), strict=True):
        for value, wanted in zip(row, expected_row, strict=True):
            # A workbook has numbers of 16 digits.
            is_number = isinstance(wanted, float)
            assert value == (pytest.approx(wanted, rel=1e-15) if is_number else wanted)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site", "table.xlsx"]


def test_a_file_keeps_the_labels_of_exports(filled: FilledSite, tmp_path: Path):
    filled.add(
        graded(1, 3), suite="free", entry=f"pubmed_qa:answer_pattern=Holloway ([a-d]),model={MODEL}"
    )
    file = tmp_path / "table.parquet"
    call(filled, "summarize", "--suite", "free", "--format", "parquet", "--output", file)
    assert "Holloway" not in pd.read_parquet(file).to_csv()


def test_a_file_format_without_a_file_is_refused(filled: FilledSite):
    with pytest.raises(ConfigError, match="--format xlsx needs a file") as refused:
        call(filled, *SUMMARIZE, "--format", "xlsx")
    assert "--output FILE.xlsx" in refused.value.advice


def test_a_file_for_another_format_is_refused(filled: FilledSite, tmp_path: Path):
    with pytest.raises(ConfigError, match="csv is written to standard output"):
        call(filled, *COMPARE, "--format", "csv", "--output", tmp_path / "table.csv")


def test_an_existing_file_is_not_overwritten(filled: FilledSite, tmp_path: Path):
    file = tmp_path / "table.xlsx"
    file.write_text("mine")
    with pytest.raises(ConfigError, match=r"table\.xlsx exists already"):
        call(filled, *SUMMARIZE, "--format", "xlsx", "--output", file)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("option", ["--subgroups", "--unread"])
def test_other_tables_than_the_leaderboard_are_refused(
    filled: FilledSite, tmp_path: Path, option: str
):
    with pytest.raises(ConfigError, match="is for the leaderboard"):
        call(filled, *SUMMARIZE, option, "--format", "xlsx", "--output", tmp_path / "table.xlsx")


def test_parquet_without_its_library_says_what_to_install(
    filled: FilledSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match="the extra `parquet`") as refused:
        call(filled, *SUMMARIZE, "--format", "parquet", "--output", tmp_path / "table.parquet")
    assert "pip install '.[parquet]'" in refused.value.advice
    assert not (tmp_path / "table.parquet").exists()
