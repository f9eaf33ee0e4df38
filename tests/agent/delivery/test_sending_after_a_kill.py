"""`submission send --keep-trying` in a process of its own: killed during an outage, and started again after it."""

import subprocess
import sys
import time
from pathlib import Path

from agent.cli.submission import submission
from agent.site.directory import Site
from tests.agent.delivery.whole_site import SUITE, Wire, join, ok, states
from tests.aggregator.conftest import Served


def start_sending(site: Site) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "agent", "--site", str(site.directory), "submission", "send", "--keep-trying"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_killed_sender_goes_on_where_it_was_once_the_network_is_back(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    key = join(site, served, wire, tmp_path)
    ok(site, submission, "prepare", "--suite", SUITE)
    ok(site, submission, "approve", "--key", key, answer="y\n" * 2)
    wire.refusals = 1_000_000
    for _ in range(2):
        sending = start_sending(site)
        assert sending.stderr is not None
        assert "attempt 1 failed" in sending.stderr.readline()
        sending.kill()
        sending.communicate()
        assert states(site)[0] == "sent"
    sending = start_sending(site)
    time.sleep(1)
    wire.refusals = 0
    output, errors = sending.communicate(timeout=60)
    assert sending.returncode == 0, errors
    assert output.count("receipted ") == 4
    assert states(site) == ["receipted"] * 4
