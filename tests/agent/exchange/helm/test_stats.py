"""Statistics are those of their values, and count the instances without a score apart."""

import math
from pathlib import Path

import pytest

from agent.exchange.helm.stats import Stat
from tests.agent.exchange.helm.exported_runs import export_runs, load_file, read_stats
from tests.agent.service.filled_site import FilledSite, case, failed, unscored


def test_unscored_instances_are_in_no_statistic_and_counted_in_one(
    filled: FilledSite, tmp_path: Path
):
    filled.add([case(0), failed(1), unscored(2), case(3, score=0.0), case(4)])
    (folder,) = export_runs(filled, tmp_path / "out")
    found = read_stats(folder)
    assert found["exact_match"]["count"] == 3
    assert found["exact_match"]["mean"] == pytest.approx(2 / 3)
    assert found["exact_match_unscored"]["sum"] == 2
    assert found["num_instances"]["sum"] == 5
    assert found["num_prompt_tokens"]["sum"] == 40
    each = load_file(folder, "per_instance_stats.json")
    assert [[s["mean"] for s in row["stats"] if s["name"]["name"] == "exact_match"] for row in each] == [
        [1.0], [], [], [0.0], [1.0],
    ]  # fmt: skip


def test_a_statistic_is_what_its_values_are():
    found = Stat("x", "test", [0.0, 0.5, 1.0, 1.0]).to_json()
    assert (found["count"], found["sum"], found["sum_squared"]) == (4, 2.5, 2.25)
    assert (found["min"], found["max"], found["mean"]) == (0.0, 1.0, 0.625)
    assert found["variance"] == pytest.approx(2.25 / 4 - 0.625**2)
    assert found["stddev"] == pytest.approx(math.sqrt(found["variance"]))
    assert "mean" not in Stat("x", None).to_json()
