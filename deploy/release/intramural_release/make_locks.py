"""Makes every lock anew with uv. The only module of the locks that needs a network."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from intramural_release.errors import LockError
from intramural_release.lock_files import format_lock, narrow_to_linux, parse_lock
from intramural_release.lock_hashes import read_hashes
from intramural_release.variants import (
    AGREES_WITH,
    GROUPS,
    LOCKS,
    PROJECTS,
    PYTHONS,
    VARIANTS,
    locate_lock,
)

_HEADER: Final = "Made by `make locks` for Python {python} on Linux. Not to be edited."
_TIMEOUT: Final = 600  # seconds, for one lock


def make_locks(names: Sequence[str] = (), *, upgrade: bool) -> Iterator[Path]:
    """Write every lock, or those of the variants named. Yield the path of each.

    Without *upgrade*, versions stay as they are locked where pyproject.toml still allows them.
    """
    LOCKS.mkdir(exist_ok=True)
    for python in PYTHONS:
        for variant in VARIANTS:
            if names and variant.name not in names:
                continue
            arguments = [str(PROJECTS[variant.project])]
            for extra in variant.extras:
                arguments += ["--extra", extra]
            yield _make_lock(variant.name, python, arguments, upgrade=upgrade)
        for group in GROUPS:
            if names and group not in names:
                continue
            arguments = ["--group", f"{PROJECTS['intramural']}:{group}"]
            yield _make_lock(group, python, arguments, upgrade=upgrade)


def _make_lock(name: str, python: str, arguments: list[str], *, upgrade: bool) -> Path:
    path = locate_lock(name, python)
    with tempfile.TemporaryDirectory() as folder:
        answer, pylock = Path(folder) / "lock.txt", Path(folder) / "pylock.toml"
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text(_choose_constraints(name, python), "utf-8")
        if path.exists() and not upgrade:
            answer.write_bytes(path.read_bytes())  # uv keeps the versions of its output file
        arguments = [*arguments, "--constraint", str(constraints)]
        # The first answer names each package's parents, the second one the files behind the hashes.
        _run_uv([*arguments, "--output-file", str(answer)], python)
        _run_uv([*arguments, "--constraint", str(answer), "--output-file", str(pylock)], python)
        pins = parse_lock(answer.read_text("utf-8"), path.name, hashed=False)
        hashes = read_hashes(pylock.read_text("utf-8"), python)
    pins = tuple(
        replace(pin, hashes=hashes[pin.name, pin.version]) for pin in narrow_to_linux(pins, python)
    )
    path.write_text(format_lock(pins, [_HEADER.format(python=python)]), "utf-8")
    return path


def _choose_constraints(name: str, python: str) -> str:
    """Return the versions that this variant takes from another one's lock, one a line."""
    if name not in AGREES_WITH:
        return ""
    other, names = AGREES_WITH[name]
    path = locate_lock(other, python)
    lines = []
    for pin in parse_lock(path.read_text("utf-8"), path.name):
        if not names or pin.name in names:
            lines.append(f"{pin.name}=={pin.version}\n")
    return "".join(lines)


def _run_uv(arguments: list[str], python: str) -> None:
    """Let uv resolve one variant for every system: locks keep only the part for Linux, on each processor."""
    program = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"
    command = [program, "pip", "compile", "--quiet", "--universal", "--python-version", python]
    command += ["--no-strip-extras", "--no-header", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_TIMEOUT
        )
    except OSError as error:
        raise LockError(f"uv cannot be started: {error.strerror}", "Run `make locks`.") from None
    except subprocess.TimeoutExpired:
        raise LockError(f"uv gave no answer in {_TIMEOUT} seconds", "Try again.") from None
    if done.returncode:
        raise LockError(f"uv found no versions that fit together:\n{done.stderr.strip()}", "")
