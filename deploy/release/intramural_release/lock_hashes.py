"""From uv's pylock.toml (PEP 751) to the hashes of the files that a machine with Linux would take."""

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_wheel_filename

from intramural_release.errors import LockError
from intramural_release.lock_files import MACHINES

_ANY: Final = "any"


def read_hashes(pylock: str, python: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the hashes of every package and version.

    They are those of its wheels for Linux, and of its source only where a wheel is missing.
    """
    hashes: dict[tuple[str, str], tuple[str, ...]] = {}
    for package in tomllib.loads(pylock).get("packages", ()):
        name, version = canonicalize_name(package["name"]), str(package["version"])
        hashes[name, version] = _choose_files(package, python)
        if not hashes[name, version]:
            raise LockError(
                f"{name} {version} has no file for Python {python} on Linux",
                "Allow another version in pyproject.toml.",
            )
    return hashes


def _choose_files(package: Mapping[str, Any], python: str) -> tuple[str, ...]:
    chosen: list[Mapping[str, Any]] = []
    served: set[str] = set()  # processors for which there is a wheel
    for wheel in package.get("wheels", ()):
        machines = list_machines(parse_wheel_filename(_read_name(wheel))[3], python)
        if machines:
            chosen.append(wheel)
            served |= machines
    if served != set(MACHINES) and "sdist" in package:
        chosen.append(package["sdist"])
    return tuple(sorted(f"sha256:{file['hashes']['sha256']}" for file in chosen))


def _read_name(file: Mapping[str, Any]) -> str:
    return str(file.get("name") or str(file["url"]).rsplit("/", 1)[1]).replace("%2B", "+")


def list_machines(tags: Iterable[Tag], python: str) -> set[str]:
    """Return the processors on which this Python can use a wheel with these tags."""
    machines: set[str] = set()
    for tag in tags:
        if not _fits_python(tag, python):
            continue
        if tag.platform == _ANY:
            machines |= set(MACHINES)
        elif tag.platform.startswith(("manylinux", "linux_")):
            machines |= {machine for machine in MACHINES if tag.platform.endswith(machine)}
    return machines


def _fits_python(tag: Tag, python: str) -> bool:
    major, minor = python.split(".")
    own = f"cp{major}{minor}"
    if tag.abi == "abi3":
        lowest = tag.interpreter.removeprefix(f"cp{major}")
        return lowest.isdigit() and int(lowest) <= int(minor)
    if own in (tag.abi, tag.interpreter):
        return tag.abi in (own, "none")
    if not tag.interpreter.startswith(f"py{major}") or tag.abi != "none":
        return False
    lowest = tag.interpreter.removeprefix(f"py{major}")
    return not lowest or int(lowest) <= int(minor)
