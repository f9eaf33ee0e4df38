"""`import helm`, `rescore` and `export` that are killed in their middle: what was there stands, and again completes."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.site.directory import Site
from tests.agent.exchange.conftest import DATA
from tests.agent.fault_server import FaultServer
from tests.end_to_end.conftest import ROOT, UserSite

# Kills its own process, as `kill -9` does, when it has called a function of the store so many times. The first word
# says which and after how many; the rest are those of the command.
KILLED = """
import os, signal, sys
from importlib import import_module
where, name, left = sys.argv[1].split(":")
module, _, owner = where.rpartition(".")
holder = getattr(import_module(module), owner)
real, left = getattr(holder, name), int(left)
def killing(*given, **more):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*given, **more)
setattr(holder, name, killing)
from agent.cli.main import main
sys.argv = ["intramural", *sys.argv[2:]]
main()
"""


def killed(site: UserSite, at: str, *words: str | Path) -> None:
    """Give a command that kills itself at a call of a function."""
    command = [sys.executable, "-c", KILLED, at, "--site", str(site.directory), *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120
    )
    assert done.returncode == -9, (done.returncode, done.stderr)


def killed_after(site: UserSite, seconds: float, *words: str | Path) -> None:
    command = [sys.executable, "-m", "agent", "--site", str(site.directory), *map(str, words)]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
    )
    time.sleep(seconds)
    process.kill()
    process.wait()


def state(site: UserSite, suite: str) -> dict[str, object]:
    """Every run of the suite with its scores, as the store has them."""
    with Site(site.directory).store() as store:
        return {
            run.name: (
                run.state,
                [dict(one.scores) for one in store.answers.read_instances(run.run_id, 0, 10_000)],
                [metric.to_json() for metric in run.details.metrics],
            )
            for run in store.runs.select(suite)
        }


def done(site: UserSite, *words: str | Path) -> None:
    given = site.intramural(*words)
    assert given.returncode == 0, given.stderr


RUNS, ANSWERS, SCORES = (
    "agent.store.runs.Runs",
    "agent.store.answers.Answers",
    "agent.store.scores.Scores",
)


@pytest.mark.sample(1)
@pytest.mark.parametrize("at", [f"{RUNS}:begin:1", f"{ANSWERS}:settle:0", f"{RUNS}:end:1"])
def test_an_import_that_is_killed_leaves_whole_runs_and_again_brings_all(
    make_site: Callable[..., UserSite], at: str
):
    site, whole = make_site(instances=1), make_site("whole", instances=1)
    output = DATA / "helm_output"
    done(whole, "import", "helm", output)
    expected = state(whole, "real")
    killed(site, at, "import", "helm", output)
    left = state(site, "real")
    assert left == {name: expected[name] for name in left}
    assert len(left) == int(at[-1])
    done(site, "import", "helm", output)
    assert state(site, "real") == expected


@pytest.fixture
def asked(make_site: Callable[..., UserSite]) -> UserSite:
    site = make_site(instances=520)  # scores are drafted 500 instances at a time
    with FaultServer(models=["test/model"], answer="Yes, it is") as server:
        assert site.run(server.url, "--max-in-flight", "64").returncode == 0
    return site


@pytest.mark.full
def test_scoring_again_that_is_killed_leaves_the_old_scores_and_again_makes_the_new(
    asked: UserSite,
):
    before = state(asked, "s")
    for at in (f"{SCORES}:draft:1", f"{SCORES}:put_draft_in_place:0"):
        killed(asked, at, "rescore", "--suite", "s", "--scoring", "both")
        assert state(asked, "s") == before, at
    chance = random.Random(7)
    killed_after(asked, 0.3 + chance.random(), "rescore", "--suite", "s", "--scoring", "both")
    ((_, scores, _),) = state(asked, "s").values()  # type: ignore[misc]
    assert len({tuple(one) for one in scores}) == 1  # all of them by one rule, or all by both
    done(asked, "rescore", "--suite", "s", "--scoring", "both")
    ((_, both, _),) = state(asked, "s").values()  # type: ignore[misc]
    assert [sorted(one) for one in both] == [["exact_match", "exact_match@helm"]] * 520
    done(asked, "rescore", "--suite", "s", "--scoring", "intramural", "--replace")
    assert state(asked, "s") == before


@pytest.mark.full
@pytest.mark.sample(1)
@pytest.mark.parametrize("form", ["jsonl", "helm"])
def test_an_export_that_is_killed_leaves_no_folder_of_its_name_and_again_writes_it(
    make_site: Callable[..., UserSite], tmp_path: Path, form: str
):
    site = make_site(instances=40)
    with FaultServer(models=["test/model"], answer="Yes") as server:
        assert site.run(server.url).returncode == 0
    before, out = state(site, "s"), tmp_path / "given" / "out"
    out.parent.mkdir()
    words = ["export", "--suite", "s", "--format", form, "--output"]
    done(site, *words, tmp_path / "undisturbed")
    killed(site, f"{ANSWERS}:read_instances:0", *words, out)
    assert not out.exists()
    killed(
        site, "agent.io.new_folder.Path:rename:0", *words, out
    )  # all is written, and has not taken its name
    assert not out.exists()
    assert [path.name for path in out.parent.iterdir()] == [".out.partial"]
    assert out.with_name(".out.partial").stat().st_mode & 0o077 == 0
    done(site, *words, out)
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert files(out) == files(tmp_path / "undisturbed")
    assert state(site, "s") == before
    json.loads(next(out.rglob("*.json")).read_text("utf-8"))
    shutil.rmtree(out)


def files(folder: Path) -> list[str]:
    return sorted(os.path.relpath(path, folder) for path in folder.rglob("*") if path.is_file())
