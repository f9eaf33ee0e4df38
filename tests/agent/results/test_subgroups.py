"""A summary by sex, age group and the like: from one sealed record a run, and from no patient's."""

import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.summarize import summarize
from agent.site.directory import Site, create_site
from agent.store.answers import Answers
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.runs.suites import run, write_benchmark

SEXES = ("nonbinary-quux", "female", "female", "")
MORE = (
    "unit_column: mrn\nsubgroup_columns: {sex: Sex}\nparser: option_letter\nchoices: [yes, no]\n"
    "gold: {column: gold, form: text}\nmetrics:\n  - name: exact_match\n  - name: classification_macro_f1\n"
)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = create_site(tmp_path / "site", "Test")
    rows = [
        {"note": f"invented note {n}.", "gold": "yes", "Sex": SEXES[n % 4], "mrn": f"p{n // 4 % 5}"}
        for n in range(40)
    ]
    folder = write_benchmark(made, "own", rows, MORE)
    (folder / "prompt.txt").write_text("Note: {note}\n{options}\nAnswer:")
    return made


def says(asked: Asked) -> Message | None:
    _, found, rest = asked.prompt.partition("invented note ")
    if not found:
        return None
    place = int(rest.partition(".")[0]) % 4
    return Message(
        {
            "role": "assistant",
            "content": ("B", "A", "A" if int(rest.partition(".")[0]) < 20 else "", "A")[place],
        }
    )


def ask(site: Site) -> None:
    with FaultServer(models=["a/b"], fault=says) as server:
        run(site, server.url, "own:model=a/b")


def shown(site: Site, *words: str) -> Result:
    done = CliRunner().invoke(summarize, ["--suite", "s", "--subgroups", *words], obj=site)
    assert done.exit_code == 0, done.output
    return done


def test_the_main_metric_is_shown_by_each_value(site: Site, monkeypatch: pytest.MonkeyPatch):
    ask(site)
    monkeypatch.setattr(Answers, "read_each_instance", None)  # no record is opened
    rows = json.loads(shown(site, "--format", "json").stdout)
    assert [
        (row["attribute"], row["value"], row["n"], row["mean"], row["floor"]) for row in rows
    ] == [
        ("sex", "female", 15, 1.0, 0.75),
        ("sex", "nonbinary-quux", 10, 0.0, 0.0),
        ("sex", None, 10, 1.0, 1.0),
    ]
    female = rows[0]
    assert (female["units"], female["unscored_reasons"], female["interval"]) == (
        5,
        {"empty": 5},
        "wilson",
    )
    assert female["low"] < 1.0
    table = shown(site).stdout
    assert "nonbinary-quux" in table
    assert "Floor" in table


def test_a_figure_of_the_whole_run_says_that_it_has_none(site: Site):
    ask(site)
    done = shown(site, "--all-metrics")
    assert (
        "classification_macro_f1: computed over whole runs only, so there are no subgroups"
        in done.stderr
    )
    assert done.stdout.count("exact_match") == 3


def test_no_attribute_of_a_patient_lies_in_the_store_as_text(site: Site):
    ask(site)
    folder = site.directory / "store"
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    assert not any(b"nonbinary-quux" in path.read_bytes() for path in files)


def test_a_run_of_before_shows_the_same(site: Site):
    ask(site)
    now = shown(site, "--format", "json").stdout
    with sqlite3.connect(site.directory / "store" / "site.sqlite3") as other:
        other.execute("DELETE FROM subgroups")
    other.close()
    assert shown(site, "--format", "json").stdout == now


def test_they_stay_with_the_scores_when_texts_are_purged(site: Site):
    ask(site)
    now = shown(site, "--format", "json").stdout
    with site.store() as store:
        store.purge(0)
    assert shown(site, "--format", "json").stdout == now


def test_a_suite_without_subgroups_says_how_to_have_them(tmp_path: Path):
    site = create_site(tmp_path / "plain", "Test")
    write_benchmark(
        site,
        "own",
        [{"note": "invented note 1.", "correct_answer": "A"}],
        "metrics:\n  - name: exact_match\n",
    )
    ask(site)
    assert "subgroup_columns" in shown(site).stderr
