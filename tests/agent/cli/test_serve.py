"""A service manager ends the service with a signal, and it ends in order."""

import json
import signal
import subprocess
import sys

from tests.agent.service.filled_site import FilledSite


def test_a_service_that_is_ended_by_its_manager_says_so_in_its_log(filled: FilledSite):
    words = [sys.executable, "-m", "agent", "--site", str(filled.site.directory)]
    log = ["--log-level", "info", "--log-format", "json"]
    with subprocess.Popen(
        [*words, *log, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGTERM)
        try:
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    lines = [json.loads(line) for line in errors.splitlines() if line.startswith("{")]
    events = [line["event"] for line in lines]
    assert events == ["command_started", "service_started", "service_stopped", "command_ended"]
    assert lines[-1]["exit_code"] == process.returncode == 0


def test_a_service_that_is_ended_while_it_starts_goes_through_its_start_and_ends(
    filled: FilledSite,
):
    """An exception in the place of the start where the signal arrives could leave a lock that nobody gives back."""
    script = (
        "import signal, sys\n"
        "from pathlib import Path\n"
        "from agent.service.web.address import read_address\n"
        "from agent.service.web.serve import listen, serve\n"
        "from agent.site.directory import Site\n"
        "site = Site(Path(sys.argv[1]))\n"
        "address = read_address(site, 0)\n"
        "def announce():\n"
        "    signal.raise_signal(signal.SIGTERM)\n"
        "    print('announced', flush=True)\n"
        "with listen(address) as listener:\n"
        "    serve(site, address, listener, announce)\n"
        "print('ended in order')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, str(filled.site.directory)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.stdout == "announced\nended in order\n", ended.stderr
    assert ended.returncode == 0
