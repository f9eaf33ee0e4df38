"""Lines of a text file that cannot fill the memory."""

import shutil

import pytest

import agent.datasets.readers.lines as lines_module
from tests.agent.datasets.sources.public import BENCHMARKS, problem


@pytest.mark.parametrize(
    ("benchmark", "name"), [("mtsamples_procedures", None), ("ehr_sql", "eicu.sql")]
)
def test_a_text_without_end_is_refused_before_it_fills_the_memory(
    benchmark, name, tmp_path, monkeypatch
):
    folder = tmp_path / "data"
    shutil.copytree(BENCHMARKS / benchmark / "invented_sample", folder)
    endless = folder / name if name else sorted(folder.glob("*.txt"))[0]
    endless.write_text("x" * 300_000)
    monkeypatch.setattr(lines_module, "MAX_LENGTH", 200_000)
    assert f"{endless.name}: the whole file: has more than" in problem(benchmark, folder)
