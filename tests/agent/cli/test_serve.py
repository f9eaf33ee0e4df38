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
