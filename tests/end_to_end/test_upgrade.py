"""A suite is half run, the program upgraded, rolled back and upgraded again: the figures are those of one version."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.site.directory import Site
from tests.agent.store.old_site import FIXTURE, copy_old_site, dump
from tests.forked import run_command

ROOT = Path(__file__).parents[2]
WHOLE = json.loads((FIXTURE / "figures.json").read_text())
STORED = 10  # answers in the site, of 16


@pytest.fixture
def url() -> Iterator[str]:
    command = [sys.executable, "-m", "agent", "baselines", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def at(site: Site, *words: object) -> str:
    done = run_command("agent", "--site", site.directory, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def finish_suite(site: Site, url: str) -> str:
    """Run the suite again, as somebody does who finds it half done."""
    text = site.deployments.read_text()
    site.deployments.write_text(text.replace("http://127.0.0.1:1/v1", url))
    models = ("baseline/first-choice", "baseline/random")
    entries = [f"pubmed_qa:model={model}" for model in models]
    words = ("--suite", "fixtures", "--max-eval-instances", 8, "--run-entries", *entries)
    return at(site, "run", *words)


def read_figures(site: Site) -> list[dict[str, object]]:
    return json.loads(at(site, "summarize", "--suite", "fixtures", "--format", "json"))


def strip_times(figures: list[dict[str, object]]) -> list[dict[str, object]]:
    """Leave out what tells of the time that asking took, and the number of the rules by which answers are read."""
    volatile = {"usage", "model_usage", "reading_version"}
    return [{key: row[key] for key in row if key not in volatile} for row in figures]


@pytest.mark.full
def test_an_upgrade_in_the_middle_of_a_suite_changes_no_figure(tmp_path: Path, url: str):
    site = copy_old_site(tmp_path / "site")
    before = dump(site.directory / "store/site.sqlite3")
    said = finish_suite(site, url)
    assert f"asked {16 - STORED}, " in said  # what the earlier version stored is not asked again
    whole = read_figures(site)
    assert strip_times(whole) == strip_times(WHOLE)

    # The earlier version finds its store as it left it.
    kept = site.directory / "store/before-upgrade-14.sqlite3"
    assert dump(kept) == before
    again = copy_old_site(tmp_path / "again")
    (again.directory / "store/site.sqlite3").write_bytes(kept.read_bytes())
    finish_suite(again, url)
    assert strip_times(read_figures(again)) == strip_times(whole)
