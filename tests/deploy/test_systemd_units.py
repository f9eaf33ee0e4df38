"""The units in deploy/systemd as systemd reads them: without complaints, and closed as far as the programs allow."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNITS = ROOT / "deploy" / "systemd"
SERVICES = sorted(path.name for path in UNITS.glob("*.service"))
TIMERS = sorted(path.name for path in UNITS.glob("*.timer"))
MODEL = "intramural-model@.service"
# Measured: 0.9 or less, the model server 1.3, and 0.1 more with addresses of other machines.
MAXIMUM = {name: 3.0 if name == MODEL else 1.5 for name in SERVICES}

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
)


def analyze(*words: str) -> str:
    """Run systemd-analyze and return what it prints. It must succeed."""
    done = subprocess.run(
        ("systemd-analyze", *words), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A root directory with the units and with stand-ins for the programs that they start."""
    units = tmp_path / "etc/systemd/system"
    units.mkdir(parents=True)
    for name in (*SERVICES, *TIMERS):
        shutil.copy(UNITS / name, units)
    for program in ("opt/intramural/bin/intramural", "opt/intramural/bin/intramural-aggregator"):
        path = tmp_path / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    (tmp_path / "bin").mkdir()
    shutil.copy("/bin/sh", tmp_path / "bin/sh")
    shutil.copytree("/usr/lib/systemd/system", tmp_path / "usr/lib/systemd/system", symlinks=True)
    return tmp_path


@needs_systemd
@pytest.mark.parametrize("name", [*SERVICES, *TIMERS])
def test_systemd_has_nothing_to_say_about_a_unit(machine: Path, name: str):
    name = name.replace("@.", "@local-small.")
    assert analyze("verify", "--man=no", f"--root={machine}", name) == ""


@needs_systemd
@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_closed_as_far_as_its_program_allows(tmp_path: Path, name: str):
    shutil.copy(UNITS / name, tmp_path)
    extended = tmp_path / f"{name}.d"
    extended.mkdir()
    shutil.copy(UNITS / "network.conf", extended)
    said = analyze("security", "--offline=yes", "--no-pager", str(tmp_path / name))
    exposure = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said)
    assert exposure is not None, said
    assert float(exposure[1]) <= MAXIMUM[name], said


def read_section(text: str, heading: str) -> str:
    """Return the lines after a comment, up to the next empty line."""
    begin = text.index("\n", text.index(heading))
    return text[begin:].partition("\n\n")[0].strip()


@pytest.mark.parametrize("name", [name for name in SERVICES if name != MODEL])
def test_all_services_share_the_settings_that_close_them(name: str):
    agent = (UNITS / "intramural-agent.service").read_text()
    here = (UNITS / name).read_text()
    for heading in ("# Texts of patients in memory", "# Files:", "# The rest of the machine"):
        assert read_section(here, heading) == read_section(agent, heading)
    assert "IPAddressDeny=any" in here


def test_the_model_server_loosens_what_engines_need_and_nothing_else():
    agent = set((UNITS / "intramural-agent.service").read_text().splitlines())
    begin = "# Texts of patients in memory"
    closing = (UNITS / "intramural-agent.service").read_text().partition(begin)[2].splitlines()
    here = set((UNITS / MODEL).read_text().splitlines())
    settings = {line for line in closing if re.match(r"[A-Z]\w+=", line)}
    assert settings <= agent
    loosened = {
        "PrivateDevices=yes",
        "MemoryDenyWriteExecute=yes",
        "SystemCallFilter=~@privileged @resources",
        "WantedBy=multi-user.target",
    }
    assert settings - here == loosened - {"WantedBy=multi-user.target"}


@pytest.mark.parametrize("name", TIMERS)
def test_each_timer_has_its_service(name: str):
    assert name.replace(".timer", ".service") in SERVICES


@pytest.mark.skipif(shutil.which("nft") is None, reason="nft is not installed")
def test_the_packet_filter_reads_its_rules(tmp_path: Path):
    rules = (UNITS / "intramural-agent.nft").read_text()
    path = tmp_path / "rules.nft"
    path.write_text(rules.replace('"intramural"', '"nobody"'))  # an account that exists here
    assert rules != path.read_text()
    done = subprocess.run(
        ("unshare", "--net", "--map-root-user", "nft", "--check", "--file", str(path)),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if "Operation not permitted" in done.stderr:
        pytest.skip("a network namespace cannot be made here")
    assert (done.returncode, done.stderr) == (0, "")
