"""The most memory that a process of a test's own held, whatever the process that started it holds."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Not getrusage: what it says of a process includes the memory of the one that started it.
PEAK = (
    "def peak():\n"
    "    (found,) = [line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')]\n"
    "    return int(found) // 1024\n"
)


def run_measured(script: str, *words: str | Path) -> str:
    """Run a script in a process of its own; in it, `peak()` is the most memory it has held so far, in MB."""
    command = [sys.executable, "-c", PEAK + script, *map(str, words)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env=env
    ).stdout.strip()
