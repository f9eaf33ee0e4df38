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
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent.cli.demo_model import list_missing_packages
from tests.end_to_end.cable import (
    CABLE,
    Packet,
    UnavailableError,
    capture,
    lay_cable,
    read_packets,
    skip_or_fail,
)
from tests.end_to_end.conftest import ROOT


def run(command: list[str | Path], code: int = 0, **more: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=1_100, **more
    )
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


@dataclass
class FirstRun:
    """The demo as it was run first, and the packets that were seen meanwhile: on the loopback, and beyond it."""

    folder: Path
    output: str
    loopback: list[Packet]
    beyond: list[Packet]
    why_not_captured: UnavailableError | None = None


@pytest.fixture(scope="module")
def first_run(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> FirstRun:
    """Run the demo in a network namespace whose packets are captured, or without one where none can be made."""
    folder = tmp_path_factory.mktemp("demo")
    command = [installed, "-m", "agent", "demo"]
    inside, beyond = folder / "loopback.pcap", folder / "beyond.pcap"
    with ExitStack() as stack:
        try:
            # Beyond the loopback lies a network with a default route and a name server, where nobody answers.
            cable = stack.enter_context(lay_cable())
            listening = stack.enter_context(ExitStack())
            listening.enter_context(capture(cable.in_site, "lo", inside))
            listening.enter_context(capture(cable.in_site, CABLE, beyond))
        except UnavailableError as error:
            return FirstRun(folder, run(command, cwd=folder).stdout, [], [], error)
        # The namespace holds the network; the tests' own refusal of connections would hide what is tried.
        environment = {**os.environ, "PYTHONPATH": ""}
        output = run([*cable.in_site, *command], cwd=folder, env=environment).stdout
        listening.close()
    return FirstRun(folder, output, read_packets(inside), read_packets(beyond))


@pytest.mark.full
@pytest.mark.timeout(1_500)
def test_the_demo_runs_from_a_wheel_in_an_empty_folder_and_continues(
    installed: Path, first_run: FirstRun, tmp_path: Path
):
    where = run(
        [installed, "-c", "import agent, protocol, aggregator; print(agent.__file__)"], cwd=tmp_path
    ).stdout
    assert str(installed.parents[1]) in where
    printed = first_run.output
    tmp_path = first_run.folder
    board = tmp_path / "intramural-demo" / "board" / "index.html"
    assert str(board) in printed
    page = board.read_text("utf-8")
    for shown in ("PubMedQA", "RaceBias", "MedCalc-Bench", "not a language model"):
        assert shown in page
    missing = list_missing_packages()
    assert ("SmolLM2 135M (tiny model of the demo)" in page) is (not missing)
    assert ("not installed: " + ", ".join(missing) in printed) is bool(missing)
    assert "Identical" in printed
    assert printed.count("receipted") >= 6
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


# What a site asks of an inference server, and of an aggregator.
INFERENCE_PATHS = {"/v1/chat/completions", "/v1/models", "/metrics", "/props", "/tokenize"}
AGGREGATOR_PATHS = {
    "/v1/enrolments",
    "/v1/log/checkpoint",
    "/v1/log/consistency",
    "/v1/registry",
    "/v1/submissions",
}


def group_paths_by_server(packets: list[Packet]) -> dict[tuple[str, int], set[str]]:
    """Return the paths that were asked for, by the address and port of the server that was asked."""
    paths_by_server = defaultdict(set)
    for packet in packets:
        request = re.match(rb"(?:GET|HEAD|POST|PUT|PATCH|DELETE) ([^ ?]+)", packet.payload)
        if request:
            paths_by_server[packet.target].add(request[1].decode())
    return dict(paths_by_server)


@pytest.mark.full
@pytest.mark.timeout(1_500)
def test_a_whole_demo_speaks_to_inference_servers_and_the_aggregator_alone(first_run: FirstRun):
    if first_run.why_not_captured is not None:
        skip_or_fail(first_run.why_not_captured)
    # Not one packet leaves: nobody is spoken to, no name is looked up.
    assert first_run.beyond == []
    assert {packet.kind for packet in first_run.loopback} == {"tcp"}

    paths_by_server = group_paths_by_server(first_run.loopback)
    others = [packet for packet in first_run.loopback if not packet.ends & paths_by_server.keys()]
    assert others == []
    (aggregator,) = (
        server for server, paths in paths_by_server.items() if "/v1/submissions" in paths
    )
    assert f"Serving on http://127.0.0.1:{aggregator[1]}\n" in first_run.output
    assert paths_by_server.pop(aggregator) <= AGGREGATOR_PATHS
    # The baselines twice, and the language model where it is installed.
    assert len(paths_by_server) >= 2
    for paths in paths_by_server.values():
        assert "/v1/chat/completions" in paths
        assert paths <= INFERENCE_PATHS


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
