"""The wheel and the source distribution: the same source gives the same bytes, in any folder and at any time."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from intramural_release.errors import ReleaseError

_BUILD: Final = """
import sys
from hatchling import build
target = sys.argv[1]
print(build.build_wheel(target), build.build_sdist(target), sep="\\n")
"""


def read_epoch(source: Path) -> int:
    """Return the time that files of a release carry: SOURCE_DATE_EPOCH, or else that of the source's newest commit."""
    value = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not value:
        done = subprocess.run(
            ["git", "-C", str(source), "log", "-1", "--format=%ct"],
            capture_output=True,
            text=True,
            check=False,
        )
        value = done.stdout.strip()
    if not value.isascii() or not value.isdigit():
        raise ReleaseError(
            "the time of the release is not known", "Set SOURCE_DATE_EPOCH to seconds since 1970."
        )
    return int(value)


def build_distributions(source: Path, target: Path, epoch: int) -> list[Path]:
    """Build the wheel and the source distribution of a project with the hatchling that is installed here."""
    target.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", _BUILD, str(target.absolute())],
        cwd=source,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReleaseError(f"{source.name} could not be built:\n{done.stderr.strip()}")
    return [target / name for name in done.stdout.split()[-2:]]
