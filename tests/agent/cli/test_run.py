"""What `run` says of benchmarks and servers that cannot go together or cannot be read."""

from pathlib import Path

import pytest

from agent.site.directory import Site, create_site
from tests.agent.cli.benchmark_commands import on


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def test_a_map_and_one_server_for_everything_exclude_each_other(site: Site, tmp_path: Path):
    (tmp_path / "map.yaml").write_text("x/*: here/*\n")
    words = ("--server", "http://127.0.0.1:1/v1", "--deployment-map", tmp_path / "map.yaml")
    told = on(site, "run", "--dry-run", *words, "--run-entries", "medec:model=a/b")
    assert told.returncode == 2
    assert "--server and --deployment-map cannot be combined" in told.stderr


def test_benchmarks_that_cannot_be_read_say_how_the_others_are_run_first(site: Site):
    broken = site.data / "medec"
    broken.mkdir()
    (broken / "MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv").write_text("a,b\n1,2\n")
    words = ("run", "--dry-run", "--server", "http://127.0.0.1:1/v1", "--run-entries")
    assert (
        "--groups-to-run"
        in on(site, *words, "medec:model=a/b", "--run-entries", "med_qa:model=a/b").stderr
    )
    assert "--groups-to-run" not in on(site, *words, "medec:model=a/b").stderr
