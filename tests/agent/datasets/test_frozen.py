"""A frozen copy holds what was registered, byte by byte, or says that it does not."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from agent.catalog.benchmark import Benchmark, load_benchmark
from agent.datasets.frozen import (
    FrozenVersion,
    count_instances,
    drop_frozen,
    find_newer_data,
    find_newest_frozen,
    find_sources,
    freeze,
    has_files_for,
    locate_frozen,
    mark_registered,
    read_frozen_versions,
)
from agent.datasets.load import load_instances, locate_dataset
from agent.errors import BenchmarkError, ConfigError, StoreError
from agent.io.atomic_files import lock_folder
from agent.site.directory import Site, create_site
from tests.agent.catalog.shipped import BENCHMARKS

ROOT = Path(__file__).parents[3]
SECRET_NAME = "Mrs-Lopez-2024.csv"
HEAD = "patient,note,answer\n"
ROWS = "".join(f"p{i},note {i},yes\n" for i in range(20))
PARTS = (
    "arguments: {ward: {values: [north, south], required: true}, year: {values: ['2023', '2024'], default: '2024'}}\n"
    "data:\n  loader: csv\n  files: [{name: '{ward}-{year}.csv'}, {name: legend.csv, optional: true}]\n"
)
BASE = (
    "name: {name}\ndescription: d\naccess: private\nprompt_file: prompt.txt\nunit_column: patient\n"
    "choices: ['yes', 'no']\ngold: {{column: answer}}\nmetrics: [{{name: exact_match}}]\n"
)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def define(site: Site, more: str, name: str = "own") -> Benchmark:
    folder = site.directory / "benchmarks" / name
    folder.mkdir(exist_ok=True)
    (folder / "prompt.txt").write_text("Note: {note}\n{options}\n")
    (folder / "benchmark.yaml").write_text(BASE.format(name=name) + more)
    return load_benchmark(folder)


def with_file(site: Site) -> Benchmark:
    """A benchmark whose data is a file that its definition names, after a patient."""
    folder = site.directory / "benchmarks" / "own"
    folder.mkdir()
    (folder / SECRET_NAME).write_text(HEAD + ROWS)
    return define(site, f"dataset_file: {SECRET_NAME}\n")


def with_folder(site: Site) -> Benchmark:
    """A benchmark with two parts, in files that its arguments name."""
    folder = site.data / "own"
    folder.mkdir()
    for ward, count in (("north", 12), ("south", 20)):
        lines = ROWS.splitlines(keepends=True)[:count]
        (folder / f"{ward}-2024.csv").write_text(
            HEAD + "".join(lines).replace("p", f"{ward[0]}", 1)
        )
    return define(site, PARTS)


def registered(benchmark: Benchmark, site: Site, commitment: str = "c" * 64) -> FrozenVersion:
    version = freeze(benchmark, site.data)
    return mark_registered(version, commitment, 20)


def test_a_file_that_the_definition_names_is_copied_for_its_owner_alone(site: Site):
    benchmark = with_file(site)
    version = registered(benchmark, site)
    assert version.number == 1
    assert (version.folder / "files" / SECRET_NAME).read_text() == HEAD + ROWS
    for path in (site.data / ".frozen").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    live, frozen = locate_dataset(benchmark, site.data), locate_frozen(benchmark, version, {})
    assert load_instances(benchmark, frozen) == load_instances(benchmark, live)
    assert (frozen.digest, frozen.known) == (live.digest, live.known)


def test_every_part_of_a_folder_is_copied(site: Site):
    benchmark = with_folder(site)
    version = registered(benchmark, site)
    assert sorted(version.files) == ["north-2024.csv", "south-2024.csv"]
    for ward in ("north", "south"):
        live, frozen = (
            locate_dataset(benchmark, site.data, {"ward": ward}),
            locate_frozen(benchmark, version, {"ward": ward}),
        )
        assert load_instances(benchmark, frozen) == load_instances(benchmark, live)
    assert (
        count_instances(benchmark, lambda choice: locate_frozen(benchmark, version, choice)) == 32
    )


def test_files_of_an_argument_that_nobody_must_give_are_not_in_a_copy(site: Site):
    benchmark = with_folder(site)
    version = registered(benchmark, site)
    assert has_files_for(version, benchmark, {"ward": "north"})
    assert has_files_for(version, benchmark, {"ward": "north", "year": "2024"})
    assert not has_files_for(version, benchmark, {"ward": "north", "year": "2023"})


def test_a_part_that_is_missing_freezes_nothing(site: Site):
    benchmark = with_folder(site)
    (site.data / "own" / "south-2024.csv").unlink()
    with pytest.raises(BenchmarkError):
        freeze(benchmark, site.data)
    assert read_frozen_versions(site.data, "own") == []


def test_data_of_an_argument_without_an_end_cannot_be_frozen(site: Site):
    benchmark = define(
        site,
        "arguments: {ward: {required: true}}\ndata: {loader: csv, files: [{name: '{ward}.csv'}]}\n",
    )
    with pytest.raises(ConfigError, match="any value"):
        find_sources(benchmark, site.data)


def test_the_same_bytes_are_frozen_once(site: Site):
    benchmark = with_file(site)
    first = registered(benchmark, site)
    assert freeze(benchmark, site.data) == first
    benchmark_file(site).write_text(HEAD + ROWS + "p20,more,no\n")
    assert freeze(benchmark, site.data).number == 2


def test_a_copy_that_is_not_registered_is_no_version(site: Site):
    benchmark = with_file(site)
    version = freeze(benchmark, site.data)
    assert find_newest_frozen(benchmark, site.data) is None
    drop_frozen(version)
    assert read_frozen_versions(site.data, "own") == []


def test_a_copy_of_another_definition_is_no_version_of_this_one(site: Site):
    benchmark = with_file(site)
    registered(benchmark, site)
    other = define(site, f"dataset_file: {SECRET_NAME}\nmax_tokens: 7\n")
    assert find_newest_frozen(other, site.data) is None
    assert find_newest_frozen(benchmark, site.data) is not None


def benchmark_file(site: Site) -> Path:
    return site.directory / "benchmarks" / "own" / SECRET_NAME


def edit(path: Path) -> None:
    path.write_text(path.read_text().replace("note 3", "note 4"))


def hide(path: Path) -> None:
    path.write_text("")


@pytest.mark.parametrize("damage", [edit, Path.unlink, hide], ids=["edited", "gone", "empty"])
def test_a_damaged_copy_is_refused_by_version_and_never_by_the_name_of_its_file(site: Site, damage):
    benchmark = with_file(site)
    version = registered(benchmark, site)
    damage(version.folder / "files" / SECRET_NAME)
    with pytest.raises(BenchmarkError) as caught:
        locate_frozen(benchmark, version, {})
    assert "frozen copy of version 1 is not as it was registered" in str(caught.value)
    assert "Lopez" not in str(caught.value) + caught.value.advice
    assert "--unregistered" in caught.value.advice


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"number": 1', '"number": 2'),
        ('"instances": 20', '"instances": "20"'),
        ('"data": "', '"data": "0'),
        ("{", "["),
    ],
)
def test_a_damaged_record_stops_rather_than_counts_as_none(site: Site, old: str, new: str):
    benchmark = with_file(site)
    record = registered(benchmark, site).folder / ".frozen.json"
    assert old in record.read_text()
    record.write_text(record.read_text().replace(old, new, 1))
    with pytest.raises(BenchmarkError, match="record of the frozen copy of version 1 is damaged"):
        find_newest_frozen(benchmark, site.data)


def test_a_record_that_leads_out_of_its_folder_is_damaged(site: Site):
    benchmark = with_file(site)
    record = registered(benchmark, site).folder / ".frozen.json"
    record.write_text(
        record.read_text().replace(f'"{SECRET_NAME}"', '"../../../../../keys/data.key"')
    )
    with pytest.raises(BenchmarkError, match="is damaged"):
        find_newest_frozen(benchmark, site.data)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "no newer rows"),
        ("p20,more,no\n", "1 newer row"),
        ("p20,more,no\np21,more,no\n", "2 newer rows"),
        ("p20,more,perhaps\n", "the current data cannot be read"),
    ],
)
def test_it_says_how_many_newer_rows_wait(site: Site, more: str, said: str):
    benchmark = with_file(site)
    version = registered(benchmark, site)
    benchmark_file(site).write_text(HEAD + ROWS + more)
    assert str(find_newer_data(benchmark, site.data, version)) == said


def test_files_that_swapped_their_names_are_newer_data(site: Site):
    benchmark = with_folder(site)
    version = mark_registered(freeze(benchmark, site.data), "c" * 64, 32)
    assert str(find_newer_data(benchmark, site.data, version)) == "no newer rows"
    north, south = (site.data / "own" / f"{ward}-2024.csv" for ward in ("north", "south"))
    aside = site.directory / "aside.csv"
    north.rename(aside)
    south.rename(north)
    aside.rename(south)
    assert (
        str(find_newer_data(benchmark, site.data, version))
        == "the number of rows is the same, but the data differs"
    )


def test_a_renamed_file_is_no_longer_the_one_that_was_frozen(site: Site):
    benchmark = with_folder(site)
    version = mark_registered(freeze(benchmark, site.data), "c" * 64, 32)
    (site.data / "own" / "north-2024.csv").rename(site.data / "own" / "west-2024.csv")
    assert str(find_newer_data(benchmark, site.data, version)) == "the current data cannot be read"


def test_it_says_that_rows_are_gone_or_others(site: Site):
    benchmark = with_file(site)
    version = registered(benchmark, site)
    edit(benchmark_file(site))
    assert (
        str(find_newer_data(benchmark, site.data, version))
        == "the number of rows is the same, but the data differs"
    )
    benchmark_file(site).write_text(HEAD + "".join(ROWS.splitlines(keepends=True)[:18]))
    assert str(find_newer_data(benchmark, site.data, version)) == "2 rows fewer than in the version"
    benchmark_file(site).unlink()
    assert str(find_newer_data(benchmark, site.data, version)) == "the current data cannot be read"


def test_a_sample_is_no_data_of_the_site(site: Site):

    with pytest.raises(BenchmarkError, match="only the sample"):
        find_sources(BENCHMARKS["med_qa"], site.data)


def test_data_that_is_being_replaced_is_not_frozen(site: Site):
    benchmark = with_file(site)
    with lock_folder(site.data), pytest.raises(StoreError, match="another command"):
        freeze(benchmark, site.data)


KILLER = """
import os, signal, sys
from pathlib import Path
import agent.datasets.frozen as frozen
from agent.catalog.benchmark import load_benchmark
from agent.site.directory import Site

site = Site(Path(sys.argv[1]))
setattr(frozen, sys.argv[2], lambda *_: os.kill(os.getpid(), signal.SIGKILL))
frozen.freeze(load_benchmark(site.directory / "benchmarks" / "own"), site.data)
"""


@pytest.mark.full
@pytest.mark.parametrize("point", ["_copy_file", "_write_record", "sync_directory"])
def test_a_kill_leaves_no_copy_or_a_whole_one(site: Site, point: str):
    benchmark = with_file(site)
    killed = subprocess.run(
        [sys.executable, "-c", KILLER, str(site.directory), point],
        cwd=ROOT,
        env=dict(os.environ),
        timeout=60,
    )
    assert killed.returncode == -signal.SIGKILL
    assert read_frozen_versions(site.data, "own") == []
    assert registered(benchmark, site).number == 1
    assert [path.name for path in (site.data / ".frozen" / "own").iterdir()] == ["0001"]
