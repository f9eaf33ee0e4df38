"""Fetching the wheels of a lock, and building those of packages that publish none."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from packaging.utils import canonicalize_name, parse_wheel_filename

from intramural_release.errors import KitError
from intramural_release.lock_files import Pin, format_lock
from intramural_release.lock_hashes import list_machines

_TAGS: Final = (
    "2014",
    "_2_17",
    "_2_24",
    "_2_26",
    "_2_27",
    "_2_28",
    "_2_31",
    "_2_34",
    "_2_35",
    "_2_36",
)
"""Names of glibc's versions in wheels, the oldest first: a kit takes the wheel that runs on most machines."""
_PIP: Final = (sys.executable, "-P", "-m", "pip", "--disable-pip-version-check")


def fetch_wheels(
    pins: Sequence[Pin], python: str, machine: str, target: Path, epoch: int
) -> dict[str, Path]:
    """Fetch the packages of a lock for one Python and processor. Return the wheel of each.

    Raises:
        KitError: a package cannot be had, differs from its hash, or has to be compiled.
    """
    with tempfile.TemporaryDirectory() as folder:
        lock, fetched = Path(folder) / "lock.txt", Path(folder) / "fetched"
        lock.write_text(format_lock(pins, []), "utf-8")
        words = ["download", "--quiet", "--no-deps", "--no-build-isolation", "--prefer-binary"]
        words += ["--require-hashes", "--implementation", "cp", "--python-version", python]
        for tag in _TAGS:
            words += ["--platform", f"manylinux{tag}_{machine}"]
        for abi in (f"cp{python.replace('.', '')}", "abi3", "none"):
            words += ["--abi", abi]
        _run_pip([*words, "--requirement", str(lock), "--dest", str(fetched)], epoch)
        for source in sorted(fetched.iterdir()):
            if source.suffix == ".whl":
                source.replace(target / source.name)
            else:
                _build_wheel(source, target, epoch)
    wheels = {pin.name: _find_wheel(pin, target, python, machine) for pin in pins}
    return {str(name): wheel for name, wheel in wheels.items()}


def _build_wheel(source: Path, target: Path, epoch: int) -> None:
    """Build a wheel from a source that was fetched by its hash, with the locked setuptools that is installed here."""
    words = [
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--no-cache-dir",
    ]
    with tempfile.TemporaryDirectory() as folder:
        _run_pip([*words, "--wheel-dir", folder, str(source)], epoch)
        (wheel,) = Path(folder).iterdir()
        if not wheel.name.endswith("-none-any.whl"):
            raise KitError(
                f"{source.name} has to be compiled, and a kit holds published wheels alone"
            )
        (target / wheel.name).write_bytes(wheel.read_bytes())


def _find_wheel(pin: Pin, folder: Path, python: str, machine: str) -> Path:
    """Return the wheel of a pin among those of several Pythons."""
    for path in sorted(folder.glob("*.whl")):
        name, version, _, tags = parse_wheel_filename(path.name)
        is_pinned = canonicalize_name(name) == pin.name and str(version) == pin.version
        if is_pinned and machine in list_machines(tags, python):
            return path
    raise KitError(f"{pin.name} {pin.version} was not fetched")


def _run_pip(words: Iterable[str], epoch: int) -> None:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [*_PIP, *words], capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        raise KitError(f"pip could not fetch or build the packages:\n{done.stderr.strip()[-2000:]}")
