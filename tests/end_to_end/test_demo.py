"""`intramural demo` as a new user runs it, from a wheel, in an empty folder, without a network.

With the real language model where its packages are installed beside the tests, else without.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from agent.cli.demo_model import list_missing_packages
from tests.end_to_end.conftest import ROOT


def run(command: list[str | Path], code: int = 0, **more: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, **more)
    assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
    return done


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel of this checkout; dependencies come from the tests' own environment."""
    folder = tmp_path_factory.mktemp("wheel")
    run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "-w",
            folder,
            ROOT,
        ]
    )
    (wheel,) = folder.glob("intramural-*.whl")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    site_packages = next((folder / "venv").rglob("site-packages"))
    run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--target",
            site_packages,
            wheel,
        ]
    )
    # Behind the wheel in the path, so that only what the wheel lacks comes from there; the checkout is not on it.
    shared = [path for path in sys.path if path.endswith("site-packages")]
    (site_packages / "dependencies.pth").write_text("\n".join(shared) + "\n")
    return folder / "venv" / "bin" / "python"


@pytest.mark.full
@pytest.mark.timeout(1_200)
def test_the_demo_runs_from_a_wheel_in_an_empty_folder_and_continues(
    installed: Path, tmp_path: Path
):
    where = run(
        [installed, "-c", "import agent, protocol, aggregator; print(agent.__file__)"], cwd=tmp_path
    ).stdout
    assert str(installed.parents[1]) in where
    first = run([installed, "-m", "agent", "demo"], cwd=tmp_path)
    board = tmp_path / "intramural-demo" / "board" / "index.html"
    assert str(board) in first.stdout
    page = board.read_text("utf-8")
    for shown in ("PubMedQA", "RaceBias", "MedCalc-Bench", "not a language model"):
        assert shown in page
    missing = list_missing_packages()
    assert ("SmolLM2 135M (tiny model of the demo)" in page) is (not missing)
    assert ("not installed: " + ", ".join(missing) in first.stdout) is bool(missing)
    assert "Identical" in first.stdout
    assert first.stdout.count("receipted") >= 6
    # A group of the private ward that is published, one that is too small, and one withheld beside it, each explained.
    details = "".join(
        path.read_text("utf-8") for path in sorted(board.parent.glob("cards/*/benchmarks/*.html"))
    )
    for shown in ("surgery", "geriatrics", "icu", "suppressed", "planned", "unplanned"):
        assert shown in details + page

    before = board.read_bytes()
    second = run([installed, "-m", "agent", "demo"], cwd=tmp_path)
    assert "asked 0" in second.stdout
    assert second.stdout.count("asked ") == second.stdout.count("asked 0, kept ")
    assert board.read_bytes() == before
    site = tmp_path / "intramural-demo" / "site"
    elsewhere = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": ""}}
    pages = tmp_path / "pages"
    run([installed, "-m", "agent", "--site", site, "view", "--export", pages], **elsewhere)
    assert "PubMedQA" in (pages / "suites" / "demo" / "index.html").read_text("utf-8")
    assert (pages / "style.css").stat().st_size > 500
    doctor = run(
        [installed, "-m", "agent", "--site", site, "doctor", "--format", "json"],
        **elsewhere,
        code=4,
    )
    verdicts = {check["what"]: check["verdict"] for check in json.loads(doctor.stdout)}
    assert (
        verdicts["redaction"] == verdicts["disclosure policy"] == "ok"
    )  # the baselines' server is gone by now
    listed = run(
        [installed, "-m", "agent", "--site", site, "submission", "status", "--format", "json"]
    )
    rows = json.loads(listed.stdout)
    assert [row["kind"] for row in rows] == ["dataset", "plan", *["result"] * (4 if missing else 5)]
    assert {row["state"] for row in rows} == {"receipted"}


def test_every_data_file_of_the_checkout_travels_in_the_wheel(installed: Path):
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs git and a checkout, for the list of files to compare with")
    tracked = run(
        ["git", "ls-files", "agent", "aggregator", "protocol", "benchmarks", "policies"], cwd=ROOT
    ).stdout
    packages = next((installed.parents[1]).rglob("site-packages"))
    missing = []
    for name in tracked.splitlines():
        if re.match(r"benchmarks/(?:redaction_training/|\w+\.py$)", name):
            continue  # scripts that make samples and training texts stay in the checkout
        inside = (
            [name]
            if name.startswith(("agent/", "aggregator/", "protocol/"))
            else [f"agent/shipped/{name}"]
        )
        if name.startswith("agent/notebook/intramural/"):
            inside = [name.removeprefix("agent/notebook/")]
        inside += [f"aggregator/shipped/{name}"] if name.startswith("policies/disclosure/") else []
        missing += [place for place in inside if not (packages / place).is_file()]
    assert missing == []
