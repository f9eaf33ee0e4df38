"""Runs and answers numbered by the rows that were read, next to today's, which number the file's rows."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.score import score
from agent.datasets.instances import InstanceMaker
from agent.datasets.row_numbers import RowNumbers
from agent.errors import ConfigError
from agent.results.paired_models import pair_models
from agent.site.directory import Site, create_site
from tests.agent.fault_server import FaultServer
from tests.agent.runs.suites import answers_file, run, write_benchmark

METRICS = "gold: {column: gold}\nmetrics:\n  - name: exact_match\n"
ROWS = [{"note": f"note {n}", "gold": f"gold {n}"} for n in range(1, 5)]
WARNING = "check that the answers' ids count these rows"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A benchmark whose second row of data is a blank line, so that the rows that are read are 1, 3, 4 and 5."""
    site = create_site(tmp_path / "site", "Test")
    folder = write_benchmark(site, "own", ROWS, METRICS)
    header, first, *others = (folder / "data.csv").read_text().splitlines(keepends=True)
    (folder / "data.csv").write_text("".join([header, first, "\n", *others]))
    return site


def run_as_before(
    monkeypatch: pytest.MonkeyPatch, site: Site, url: str, entry: str, **options: object
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(InstanceMaker, "_read_id", lambda self, *_: str(self._rows_read))
        patch.setattr(RowNumbers, "note", lambda *_: None)
        run(site, url, entry, **options)


def scored(site: Site, answers: Path, *words: str | Path) -> Result:
    given = ["own", "--answers", answers, "--format", "json", *words]
    return CliRunner().invoke(score, [str(word) for word in given], obj=site)


def test_a_stored_run_is_not_replaced_unasked_and_keeps_its_answers_if_it_is(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    with FaultServer(models=["a/b"], answer="gold 3") as server:
        run_as_before(monkeypatch, site, server.url, "own:model=a/b")
        with pytest.raises(ConfigError, match="instance ids from another numbering of rows"):
            run(site, server.url, "own:model=a/b")
        (outcome,) = run(site, server.url, "own:model=a/b", replace=True)
        assert (outcome.asked, outcome.kept) == (0, 4)
        assert outcome.summary.run.details.data.row_numbers == "file"
        # Now it is complete, and the same command asks and replaces nothing.
        (again,) = run(site, server.url, "own:model=a/b")
        assert (again.asked, again.kept) == (0, 4)


def test_the_instances_of_a_run_from_before_are_not_paired_with_those_of_today(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    with FaultServer(models=["a/b", "c/d"], answer="gold 3") as server:
        run_as_before(monkeypatch, site, server.url, "own:model=a/b")
        run(site, server.url, "own:model=c/d")
        with site.store() as store:
            pairing = pair_models(store, ["s"], "a/b", "c/d")
            assert pairing.benchmarks == ()
            assert dict(pairing.left_out) == {"own": "instance ids from another numbering of rows"}
        run(site, server.url, "own:model=a/b", replace=True)
        with site.store() as store:
            pairing = pair_models(store, ["s"], "a/b", "c/d")
            assert [paired.scored for paired in pairing.benchmarks] == [4]


def test_a_run_on_data_without_left_out_rows_continues_as_ever(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    write_benchmark(site, "whole", ROWS, METRICS)
    with FaultServer(models=["a/b"], answer="gold 3") as server:
        run_as_before(monkeypatch, site, server.url, "whole:model=a/b")
        (outcome,) = run(site, server.url, "whole:model=a/b")
        assert (outcome.asked, outcome.kept) == (0, 4)
    assert "row_numbers" not in outcome.summary.run.details.data.to_json()


def test_answers_numbered_as_before_are_refused(site: Site, tmp_path: Path):
    answers = {str(n): f"gold {n}" for n in range(1, 5)}
    done = scored(site, answers_file(tmp_path / "a.jsonl", answers))
    assert "do not count the rows that are empty or left out" in str(done.exception)
    assert "a.jsonl" in str(done.exception)
    assert "benchmarks template" in getattr(done.exception, "advice", "")
    assert done.stdout == ""


def test_answers_numbered_as_the_file_are_scored(site: Site, tmp_path: Path):
    answers = {"1": "gold 1", "3": "gold 2", "4": "gold 3", "5": "gold 4"}
    done = scored(site, answers_file(tmp_path / "a.jsonl", answers))
    assert done.exit_code == 0, done.exception
    (row,) = json.loads(done.stdout)
    assert (row["n"], row["mean"], row["missing"]) == (4, 1.0, [])
    assert WARNING not in done.stderr


def test_answers_that_fit_both_ways_of_counting_are_scored_with_a_warning(
    site: Site, tmp_path: Path
):
    some = answers_file(tmp_path / "a.jsonl", {"1": "gold 1", "3": "gold 2"})
    done = scored(site, some)
    assert done.exit_code == 0, done.exception
    assert WARNING in done.stderr
    assert json.loads(done.stdout)[0]["missing"] == ["4", "5"]


def test_an_id_that_fits_neither_way_of_counting_is_named_with_what_an_id_is(
    site: Site, tmp_path: Path
):
    done = scored(site, answers_file(tmp_path / "a.jsonl", {"1": "gold 1", "9": "gold 2"}))
    assert "line 2: has an instance_id that is not in the data" in str(done.exception)
    assert "the row's number in the file" in getattr(done.exception, "advice", "")


def test_a_template_has_the_numbers_of_the_file(site: Site, tmp_path: Path):
    done = CliRunner().invoke(score, ["own", "--write-template", str(tmp_path / "t")], obj=site)
    assert done.exit_code == 0, done.exception
    lines = [json.loads(line) for line in (tmp_path / "t").read_text().splitlines()]
    assert [line["instance_id"] for line in lines] == ["1", "3", "4", "5"]
