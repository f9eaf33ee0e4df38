"""deploy/airgap/README.md, followed on a machine without a network: a namespace in which there is no route.

tests/airgap/run.sh builds the kits, which needs a package index; `make test-airgap` runs both.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

KITS = os.environ.get("INTRAMURAL_TEST_KITS", "")
REQUIRED = os.environ.get("INTRAMURAL_NETNS") == "required"
UNSHARE = ("unshare", "--net") if os.geteuid() == 0 else ("unshare", "--net", "--map-root-user")
pytestmark = [
    pytest.mark.skipif(not KITS, reason="builds two kits from a package index: make test-airgap"),
    pytest.mark.timeout(3600),
]


@dataclass(frozen=True)
class Island:
    """A machine without a network, on which a kit was unpacked."""

    folder: Path

    @property
    def prefix(self) -> Path:
        return self.folder / "opt/intramural"

    def run(self, *words: str | Path, code: int = 0) -> str:
        """Run a command of the system there, and return what it printed. Nothing of this environment is inherited."""
        environment = {"HOME": str(self.folder), "LC_ALL": "C.UTF-8", "PATH": self.path}
        done = subprocess.run(
            [*UNSHARE, "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *map(str, words)],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        output = done.stdout + done.stderr
        assert done.returncode == code, output[-4000:]
        return output

    @property
    def path(self) -> str:
        """The system's programs, and the Python that the kit is for."""
        return f"{Path(sys.executable).resolve().parent}:/usr/sbin:/usr/bin:/sbin:/bin"

    def intramural(self, *words: str | Path, code: int = 0) -> str:
        return self.run(self.prefix / "bin/intramural", *words, code=code)

    def unpack(self, kit: str) -> Path:
        """Verify the archive as the page says, and unpack it."""
        (archive,) = Path(KITS, kit).glob("*.tar")
        signature = f"{archive}.sig"
        self.run(
            "sh",
            "-c",
            f"ssh-keygen -Y verify -f {KITS}/signers -I intramural-release -n intramural-release "
            f"-s {signature} < {archive}",
        )
        kits = self.folder / "kits"
        kits.mkdir(exist_ok=True)
        self.run("tar", "--extract", "--no-same-owner", "--file", archive, "--directory", kits)
        return kits / archive.stem

    def install(self, kit: Path, *words: str | Path) -> str:
        script = kit / "install.sh"
        return self.run("sh", script, "--prefix", self.prefix, *words)


@pytest.fixture(scope="module")
def island(tmp_path_factory: pytest.TempPathFactory) -> Island:
    """Return a machine on which the previous kit is installed."""
    try:
        command = [*UNSHARE, "ip", "link", "set", "lo", "up"]
        subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        if REQUIRED:
            raise
        pytest.skip("no network namespace can be made here")
    island = Island(tmp_path_factory.mktemp("island"))
    kit = island.unpack("previous")
    assert "The kit is complete" in island.install(kit, "--verify", "--signers", f"{KITS}/signers")
    said = island.install(kit, "--signers", f"{KITS}/signers")
    assert "Installed: intramural, version 0.0.1, extras: none" in said
    return island


def test_there_is_no_route_and_no_registry_on_that_machine(island: Island):
    assert island.run("ip", "route", "show") == ""
    assert island.run("ip", "-6", "route", "show", "default") == ""
    island.run(
        island.prefix / "bin/python",
        "-c",
        "import socket\n"
        "try: socket.create_connection(('192.0.2.1', 443), 2)\n"
        "except OSError: raise SystemExit(7)",
        code=7,
    )


def test_doctor_finds_no_fault_in_a_new_site(island: Island):
    island.intramural("init", "site", "--site-name", "An island")
    said = island.intramural("--site", "site", "doctor")
    assert "FAILED" not in said


def test_the_demo_runs_to_the_board_and_again_after_the_upgrade(island: Island):
    said = island.intramural("demo", "--dir", "demo")
    assert "lacks the extra `demo-model`" in said
    board = next((island.folder / "demo").rglob("index.html"))
    assert "baseline" in board.read_text("utf-8")

    kit = island.unpack("current")
    said = island.install(kit, "--signers", f"{KITS}/signers")
    assert "version 0.0.1" not in said
    doctor = island.intramural("--site", "site", "doctor")
    assert "FAILED" not in doctor
    island.intramural("demo", "--dir", "demo")
    assert len(list((island.prefix / "releases").iterdir())) == 2


def test_a_missing_extra_is_added_with_the_command_that_the_message_names(island: Island):
    words = ("--site", "demo/site", "export", "--suite", "demo", "--format", "parquet")
    said = island.intramural(*words, "--out", "tables", code=2)
    command = re.search(r"Install it from the kit: sh (.*?) (?:Or|$)", " ".join(said.split()))
    assert command is not None, said
    script, *options = command[1].rstrip(".").split()
    assert "extras: parquet" in island.run("sh", script, *options)
    island.intramural(*words, "--out", "tables")
    assert list((island.folder / "tables").rglob("*.parquet"))


def test_the_release_before_is_put_in_use_again(island: Island):
    kit = next((island.folder / "kits").glob("*-0.0.1-*"))
    island.install(kit, "--rollback")
    island.intramural("--version")
    island.install(kit, "--rollback")
    assert "0.0.1" not in island.intramural("--version")


def test_a_changed_wheel_is_refused(island: Island):
    kit = next((island.folder / "kits").glob("*-0.0.1-*"))
    forged = island.folder / "forged"
    shutil.copytree(kit, forged)
    wheel = next(forged.glob("wheels/click-*.whl"))
    with wheel.open("ab") as file:
        file.write(b"\0")
    said = island.run(
        "sh",
        forged / "install.sh",
        "--prefix",
        island.folder / "other",
        "--signers",
        f"{KITS}/signers",
        code=1,
    )
    assert "changed: wheels/click-" in said
    assert not (island.folder / "other/bin").exists()
