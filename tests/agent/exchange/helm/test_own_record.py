"""Our own record of a run is read with care."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.errors import BenchmarkError
from agent.exchange.helm.export import export_helm
from agent.exchange.helm.import_runs import import_helm
from tests.agent.exchange.judged_suite import add_judged_suite, read_json
from tests.agent.service.filled_site import FilledSite


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scale", [5, 1]),
        ("scale", [1]),
        ("judges", [{"name": "a\nb", "model": "m"}]),
        ("judges", [{"name": "a", "model": "m", "seed": -1}]),
        ("judges", [{"name": "a", "model": "m", "temperature": "warm"}]),
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
