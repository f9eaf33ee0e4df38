"""Runs a command unless a file is already there: makes a site or a board on an empty volume, before its service.

    python -I run_once.py FILE PROGRAM [ARGUMENT ...]

FILE is what the command writes last.
"""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    made, *command = sys.argv[1:]
    if not Path(made).exists():
        os.execv(command[0], command)  # noqa: S606 (no shell is there)
