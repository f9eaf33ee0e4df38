"""Our own record of a run is read with care."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.errors import BenchmarkError
from agent.exchange.helm.export import export_helm
from agent.exchange.helm.import_runs import import_helm
from tests.agent.exchange.judged_suite import add_judged_suite, read_json
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.judged import JUDGES, add_judged, verdict


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scale", [5, 1]),
        ("scale", [1]),
        ("judges", [{"name": "a\nb", "model": "m"}]),
        ("judges", [{"name": "a", "model": "m", "seed": -1}]),
        ("judges", [{"name": "a", "model": "m", "temperature": "warm"}]),
        ("judges", [{"name": "a", "model": "m", "seed": 2.5}]),
        ("judges", [{"name": "a", "model": "m", "temperature": -3}]),
        ("judges", [{"name": "a", "model": "m", "temperature": 1e300}]),
        ("quorum", "two"),
        ("criteria", [3]),
    ],
)
def test_a_jury_of_our_own_record_that_is_wrong_is_refused_by_its_place(
    filled: FilledSite, tmp_path: Path, key: str, value: Any
):
    add_judged_suite(filled)
    export_helm(filled.site, "november", tmp_path / "out", reveal=True)
    (path,) = (tmp_path / "out").rglob("intramural.json")
    record = read_json(path)
    record["metrics"][0]["jury"][key] = value
    path.write_text(json.dumps(record), "utf-8")
    with pytest.raises(BenchmarkError, match=rf"jury\.{key}"):
        import_helm(filled.site, tmp_path / "out", "back")


def test_the_seeds_and_temperatures_of_a_jury_come_back(filled: FilledSite, tmp_path: Path):
    judges = (replace(JUDGES[0], seed=7, temperature=0.5), *JUDGES[1:])
    replies = [[verdict(4, "Right.")]] * 3
    add_judged(filled, [case(0, answer="yes")], {0: replies}, judges=judges)
    export_helm(filled.site, "november", tmp_path / "out", reveal=True)
    import_helm(filled.site, tmp_path / "out", "back")
    with filled.site.store() as store:
        runs = store.runs.select("back")
    seats = [seat for run in runs for metric in run.details.metrics for seat in metric.judges]
    assert [(seat.seed, seat.temperature) for seat in seats] == [(7, 0.5), (None, 0), (None, 0)]
