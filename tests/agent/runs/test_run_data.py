"""Runs on protected benchmarks read the newest registered version, whatever becomes of the data meanwhile."""

import json
from pathlib import Path

import pytest

from agent.datasets.frozen import find_newest_frozen, freeze, locate_frozen, mark_registered
from agent.errors import BenchmarkError, ConfigError
from tests.agent.disclosure.patients import (
    Ward,
    benchmark_of,
    make_site,
    open_ward,
    patients,
    write_patients,
)
from tests.agent.fault_server import Asked, FaultServer
from tests.agent.runs.suites import NOWHERE, plan, run
from tests.agent.terminal import Done, intramural

ENTRY = "ward:model=a/b"


@pytest.fixture
def ward(tmp_path: Path) -> Ward:
    """A ward of 30 registered patients."""
    ward = open_ward(tmp_path / "site")
    write_patients(ward.site, patients(30))
    ward.register()
    return ward


def command(ward: Ward, *words: str) -> Done:
    return intramural("--site", ward.site.directory, *words, cwd=ward.site.directory)


@pytest.mark.full
def test_a_run_reads_the_registered_version_and_newer_rows_wait(ward: Ward):
    registered = ward.gate.ledger().list_datasets()[0].commitment
    write_patients(ward.site, patients(33))
    found = plan(ward.site, ENTRY)
    assert (found.available, found.registered) == (30, registered)
    assert found.data_note == "ward: using registered version 1; 3 newer rows"


def test_unregistered_reads_the_data_as_it_lies_and_says_that_it_never_leaves(ward: Ward):
    write_patients(ward.site, patients(33))
    found = plan(ward.site, ENTRY, unregistered=True)
    assert (found.available, found.registered) == (33, "")
    assert "no results of this run can be submitted" in found.data_note


def test_data_that_the_run_entry_names_is_not_the_registered_one(ward: Ward):
    newest = find_newest_frozen(benchmark_of(ward.site), ward.site.data)
    assert newest is not None
    found = plan(ward.site, f"{ENTRY},data_path={newest.folder / 'files' / 'data.csv'}")
    assert found.registered == ""
    assert "its data is named in the run entry" in found.data_note


def test_what_is_not_registered_runs_and_says_what_to_do(tmp_path: Path):
    site = make_site(tmp_path / "site")
    write_patients(site, patients(12))
    found = plan(site, ENTRY)
    assert (found.available, found.registered) == (12, "")
    assert "`intramural datasets register ward`" in found.data_note


def test_a_copy_that_was_never_finished_is_passed_over(tmp_path: Path):
    site = make_site(tmp_path / "site")
    write_patients(site, patients(12))
    freeze(benchmark_of(site), site.data)
    write_patients(site, patients(13))
    assert (plan(site, ENTRY).available, plan(site, ENTRY).registered) == (13, "")


def test_a_run_on_a_registered_version_is_not_replaced_by_one_on_other_data_unasked(ward: Ward):
    """It may be the evidence of figures that were signed."""
    with FaultServer(models=["a/b"], answer="yes") as server:
        run(ward.site, server.url, ENTRY)
        write_patients(ward.site, patients(33))
        with pytest.raises(ConfigError, match="unregistered data"):
            run(ward.site, server.url, ENTRY, unregistered=True)
        (replaced,) = run(ward.site, server.url, ENTRY, unregistered=True, replace=True)
    assert replaced.asked == 3


def test_equal_prompts_have_equal_keys_whether_or_not_the_data_is_registered(ward: Ward):
    with FaultServer(models=["a/b"], answer="yes") as server:
        (first,) = run(ward.site, server.url, ENTRY, unregistered=True)
        (second,) = run(ward.site, server.url, ENTRY)
    assert (first.asked, second.asked, second.kept) == (30, 0, 30)
    assert first.summary.run.name == second.summary.run.name
    assert (
        second.summary.run.details.data.registered
        == ward.gate.ledger().list_datasets()[0].commitment
    )
    assert first.summary.run.details.data.registered == ""


def test_the_units_of_a_run_are_those_that_were_registered(ward: Ward):
    with FaultServer(models=["a/b"], answer="yes") as server:
        (outcome,) = run(ward.site, server.url, ENTRY)
    with ward.site.store() as store:
        scores = store.scores.read_units(outcome.summary.run.run_id, "exact_match")
    fingerprints = ward.gate.secrets.fingerprints
    units = {fingerprints.of_unit(score.unit_key) for score in scores}
    assert units == ward.gate.ledger().list_datasets()[0].units.keys()


def test_a_run_goes_on_when_its_data_is_replaced_meanwhile(ward: Ward):
    def replace_data(asked: Asked) -> None:
        if asked.number == 5:
            write_patients(ward.site, patients(40, first=500))

    with FaultServer(models=["a/b"], answer="yes", fault=replace_data) as server:
        (outcome,) = run(ward.site, server.url, ENTRY, max_in_flight=1)
    assert (outcome.failed, outcome.summary.main.mean.n) == (0, 30)


def test_a_run_starts_when_the_data_itself_is_gone(ward: Ward):
    (ward.site.directory / "benchmarks" / "ward" / "data.csv").write_text("")
    found = plan(ward.site, ENTRY)
    assert found.available == 30
    assert "the current data cannot be read" in found.data_note


def test_a_damaged_copy_is_never_run(ward: Ward):
    newest = find_newest_frozen(benchmark_of(ward.site), ward.site.data)
    assert newest is not None
    path = newest.folder / "files" / "data.csv"
    path.write_text(path.read_text().replace("yes", "no", 1))
    with pytest.raises(
        BenchmarkError, match="frozen copy of version 1 is not as it was registered"
    ):
        plan(ward.site, ENTRY)
    assert plan(ward.site, ENTRY, unregistered=True).available == 30


def test_after_the_next_registration_runs_read_the_next_version(ward: Ward):
    write_patients(ward.site, patients(45))
    done = ward.register()
    found = plan(ward.site, ENTRY)
    assert (found.available, found.registered) == (45, done.candidate.entry.commitment)
    assert "no newer rows" in found.data_note


def test_a_version_of_parts_is_run_part_by_part(tmp_path: Path):
    site = make_site(tmp_path / "site")
    folder = site.directory / "benchmarks" / "ward"
    definition = (folder / "benchmark.yaml").read_text().replace("dataset_file: data.csv\n", "")
    (folder / "benchmark.yaml").write_text(
        definition + "arguments: {wing: {values: [north, south], required: true}}\n"
        "data: {loader: csv, files: [{name: '{wing}.csv'}]}\n"
    )
    (site.data / "ward").mkdir()
    for wing, first in (("north", 0), ("south", 100)):
        write_patients(site, patients(15, first))
        (folder / "data.csv").rename(site.data / "ward" / f"{wing}.csv")
    benchmark = benchmark_of(site)
    version = mark_registered(freeze(benchmark, site.data), "c" * 64, 30)
    (site.data / "ward" / "north.csv").unlink()
    north, south = (plan(site, f"ward:wing={wing},model=a/b") for wing in ("north", "south"))
    assert north.registered == south.registered == version.commitment
    assert (north.available, south.available) == (15, 15)
    assert north.dataset == locate_frozen(benchmark, version, {"wing": "north"})


def test_commands_say_which_version_is_read_and_how_many_rows_wait(ward: Ward):
    write_patients(ward.site, patients(31))
    said = "note: ward: using registered version 1; 1 newer row"
    with FaultServer(models=["a/b"], answer="yes") as server:
        words = ("run", "-r", ENTRY, "--server", server.url, "--quiet")
        dry, real = command(ward, *words, "--dry-run"), command(ward, *words)
        other = command(ward, *words, "--unregistered", "--suite", "other")
    assert (dry.returncode, real.returncode, other.returncode) == (0, 0, 0), (dry, real, other)
    assert said in dry.stderr
    assert said in real.stderr
    assert "30 of 30 instances" in dry.stdout
    assert "its current files are read instead of a registered version" in other.stderr
    rows = json.loads(command(ward, "datasets", "list", "--format", "json").stdout)
    of_ward = next(row for row in rows if row["id"] == "ward")
    assert of_ward["registered"] == "version 1; 1 newer row"
    assert next(row for row in rows if row["id"] == "med_qa")["registered"] is None


def test_registering_without_a_federation_says_what_is_missing(ward: Ward):
    done = command(ward, "datasets", "register", "ward")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


def test_where_nothing_answers_the_plan_still_says_what_it_reads(ward: Ward):
    done = command(ward, "run", "-r", ENTRY, "--server", NOWHERE, "--dry-run")
    assert "using registered version 1" in done.stderr
