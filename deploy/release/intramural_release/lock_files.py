"""Lock files: every package of a variant with its version and hashes, for one Python version on Linux.

A lock is a requirements file that `pip install --require-hashes -r` takes. Each package names its parents
("via"), so that the part of a lock that some extras need can be found without a network.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name

from intramural_release.errors import LockError

MACHINES: Final = ("x86_64", "aarch64")
"""The processors whose packages a lock holds; the operating system is Linux with glibc."""
_REQUIREMENT: Final = re.compile(r"(?P<requirement>\S.*?)(?: \\)?")
_HASH: Final = re.compile(r" {4}--hash=(?P<hash>sha256:[0-9a-f]{64})(?: \\)?")
_FIRST_PARENT: Final = re.compile(r" {4}# via(?: (?P<parent>\S.*))?")
_NEXT_PARENT: Final = re.compile(r" {4}#   (?P<parent>\S.*)")


@dataclass(frozen=True)
class Pin:
    """One package of a lock."""

    requirement: Requirement  # its specifier is ==VERSION
    hashes: tuple[str, ...]
    parents: tuple[
        str, ...
    ]  # names of packages, or "PROJECT (pyproject.toml)" with the group behind a colon

    @property
    def name(self) -> NormalizedName:
        """The package's normalised name."""
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> str:
        """The one version that the pin allows."""
        (specifier,) = self.requirement.specifier
        return specifier.version

    def holds_in(self, environment: Mapping[str, str]) -> bool:
        """Return whether the package belongs to this environment."""
        marker = self.requirement.marker
        return marker is None or marker.evaluate(dict(environment))

    def is_wanted_by(self, project: str) -> bool:
        """Return whether the project's own pyproject.toml asks for the package."""
        return any(parent.startswith(f"{project} (") for parent in self.parents)


@dataclass(frozen=True)
class Variant:
    """A set of extras of one project that is installed as a whole."""

    name: str
    project: str  # name of the distribution
    extras: tuple[str, ...]


def describe_environment(python: str, machine: str) -> dict[str, str]:
    """Return the values of environment markers on Linux, for example for Python "3.12" on "x86_64"."""
    return {
        "implementation_name": "cpython",
        "implementation_version": f"{python}.0",
        "os_name": "posix",
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Linux",
        "platform_version": "",
        "python_full_version": f"{python}.0",
        "python_version": python,
        "sys_platform": "linux",
        "extra": "",
    }


def parse_lock(text: str, where: str, *, hashed: bool = True) -> tuple[Pin, ...]:
    """Read a lock; with hashed=False, one whose hashes are not known yet.

    Raises:
        LockError: a line is none of a lock, or a package has no version or no hash.
    """
    pins: list[Pin] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            pins.append(_parse_requirement(line, f"{where}, line {number}"))
        elif not pins:
            raise LockError(f"{where}, line {number}: a hash without a package")
        else:
            pins[-1] = _extend_pin(pins[-1], line, f"{where}, line {number}")
    for pin in pins:
        if hashed and not pin.hashes:
            raise LockError(f"{where}: {pin.name} has no hash")
    return tuple(pins)


def _parse_requirement(line: str, where: str) -> Pin:
    match = _REQUIREMENT.fullmatch(line)
    try:
        requirement = Requirement(match["requirement"] if match else line)
    except InvalidRequirement:
        raise LockError(f"{where}: this is no requirement") from None
    if [specifier.operator for specifier in requirement.specifier] != ["=="]:
        raise LockError(f"{where}: {requirement.name} has no single version (NAME==VERSION)")
    return Pin(requirement, (), ())


def _extend_pin(pin: Pin, line: str, where: str) -> Pin:
    if match := _HASH.fullmatch(line):
        return replace(pin, hashes=(*pin.hashes, match["hash"]))
    match = _FIRST_PARENT.fullmatch(line) or _NEXT_PARENT.fullmatch(line)
    if match is None:
        raise LockError(f"{where}: this is neither a hash nor a parent")
    return replace(pin, parents=(*pin.parents, match["parent"])) if match["parent"] else pin


def format_lock(pins: Iterable[Pin], header: Iterable[str]) -> str:
    """Return a lock's text. `parse_lock` of it returns the same pins."""
    lines = [f"# {line}" for line in header]
    for pin in sorted(pins, key=lambda pin: (pin.name, pin.version)):
        lines.append(_format_requirement(pin.requirement))
        lines += [f"    --hash={digest}" for digest in pin.hashes]
        last = -len(pin.hashes)
        lines[last - 1 : -1] = [f"{line} \\" for line in lines[last - 1 : -1]]
        if len(pin.parents) == 1:
            lines.append(f"    # via {pin.parents[0]}")
        elif pin.parents:
            lines += ["    # via", *(f"    #   {parent}" for parent in pin.parents)]
    return "\n".join(lines) + "\n"


def _format_requirement(requirement: Requirement) -> str:
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    marker = f" ; {requirement.marker}" if requirement.marker else ""
    return f"{requirement.name}{extras}{requirement.specifier}{marker}"


def narrow_to_linux(pins: Iterable[Pin], python: str) -> tuple[Pin, ...]:
    """Drop what other systems and Python versions need, and the markers that say nothing on Linux."""
    environments = [describe_environment(python, machine) for machine in MACHINES]
    kept = []
    for pin in pins:
        holding = [pin.holds_in(environment) for environment in environments]
        if all(holding):
            kept.append(replace(pin, requirement=_without_marker(pin.requirement)))
        elif any(holding):
            machine = MACHINES[holding.index(True)]
            kept.append(
                replace(pin, requirement=_only_on(pin.requirement, machine)),
            )
    names = {pin.name for pin in kept}
    return tuple(_without_lost_parents(pin, names) for pin in kept)


def _without_marker(requirement: Requirement) -> Requirement:
    copy = Requirement(str(requirement))
    copy.marker = None
    return copy


def _only_on(requirement: Requirement, machine: str) -> Requirement:
    copy = Requirement(str(requirement))
    copy.marker = Marker(f"platform_machine == '{machine}'")
    return copy


def _without_lost_parents(pin: Pin, names: set[NormalizedName]) -> Pin:
    """Drop parents that are not in the lock, such as the constraints that it was made under."""
    parents = [
        parent
        for parent in pin.parents
        if parent.endswith(")") or canonicalize_name(parent) in names
    ]
    return replace(pin, parents=tuple(parents))


def select_pins(pins: Iterable[Pin], project: str, wanted: Iterable[str]) -> tuple[Pin, ...]:
    """Return the pins that these packages of the project need: themselves, and everything below them."""
    by_name: dict[str, list[Pin]] = {}
    children: dict[str, set[str]] = {}
    for pin in pins:
        by_name.setdefault(pin.name, []).append(pin)
        for parent in pin.parents:
            children.setdefault(canonicalize_name(parent), set()).add(pin.name)
    waiting = [canonicalize_name(name) for name in wanted]
    missing = [name for name in waiting if name not in by_name]
    if missing:
        raise LockError(f"the lock of {project} lacks {', '.join(sorted(missing))}")
    selected: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in selected:
            selected.add(name)
            waiting += [canonicalize_name(child) for child in children.get(name, ())]
    return tuple(pin for name in sorted(selected) for pin in by_name[name])


def list_requirements(
    project: Mapping[str, object], extras: Iterable[str], python: str, machine: str = "x86_64"
) -> tuple[Requirement, ...]:
    """Return what the table `project` of a pyproject.toml asks for with these extras, in that environment."""
    lines = _read_lines(project.get("dependencies"))
    optional = project.get("optional-dependencies")
    for extra in extras:
        if not isinstance(optional, Mapping) or extra not in optional:
            raise LockError(
                f"pyproject.toml has no extra {extra!r}",
                "Correct the extra's name, or the table of variants in variants.py.",
            )
        lines += _read_lines(optional[extra])
    environment = describe_environment(python, machine)
    requirements = [Requirement(line) for line in lines]
    return tuple(
        requirement
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate(environment)
    )


def _read_lines(value: object) -> list[str]:
    return [str(line) for line in value] if isinstance(value, list) else []


def find_staleness(
    pins: Iterable[Pin], requirements: Iterable[Requirement], project: str
) -> list[str]:
    """Compare a lock with what pyproject.toml asks for. Return a sentence for each difference."""
    by_name = {pin.name: pin for pin in pins}
    wanted: set[str] = set()
    faults = []
    for requirement in requirements:
        name = canonicalize_name(requirement.name)
        wanted.add(name)
        pin = by_name.get(name)
        if pin is None or not pin.is_wanted_by(project):
            faults.append(f"{name} is required and not locked")
            continue
        if not requirement.specifier.contains(pin.version, prereleases=True):
            faults.append(f"{name} {pin.version} is locked, and {requirement.specifier} required")
        lost = requirement.extras - pin.requirement.extras
        if lost:
            faults.append(f"{name} is locked without its extra {', '.join(sorted(lost))}")
    for name, pin in sorted(by_name.items()):
        if pin.is_wanted_by(project) and name not in wanted:
            faults.append(f"{name} is locked and no longer required")
    return faults
