"""Air-gap kits: one archive with all that an installation needs, and the list of checksums that says so.

`build_kit` is the main path. deploy/airgap/install.sh is its counterpart on the machine without a network.
"""

import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from intramural_release.checksums import list_files, sign_file, write_checksums
from intramural_release.distributions import build_distributions, read_epoch
from intramural_release.errors import KitError
from intramural_release.licences import LicensedPackage, format_licences, judge_package
from intramural_release.lock_files import (
    Pin,
    format_lock,
    list_requirements,
    parse_lock,
    select_pins,
)
from intramural_release.sbom import write_bill
from intramural_release.variants import (
    ROOT,
    RUNTIME_EXTRAS,
    locate_lock,
    read_project,
)
from intramural_release.wheel_files import hash_file, read_metadata
from intramural_release.wheelhouse import fetch_wheels

DEMO_MODEL: Final = "demo-model"
"""An extra of kits alone: the demo's language model, with llama.cpp to serve it."""
VLLM: Final = "vllm"
EXTRAS: Final = (*RUNTIME_EXTRAS, VLLM, DEMO_MODEL)
_DEMO_LOCK: Final = ROOT / "deploy/demo-model.txt"
_AIRGAP: Final = ROOT / "deploy/airgap"
_BASE: Final = "base"
_HEADER: Final = (
    "The packages of this kit, with the hashes of its wheels. install.sh reads this file."
)


@dataclass(frozen=True)
class KitOrder:
    """What a kit is to hold.

    Attributes:
        extras: names of EXTRAS.
        pythons: for example ("3.11", "3.12").
        machine: the processor, "x86_64" or "aarch64".
        datasets: folders or files of public benchmarks by the benchmark's id.
        models: folders or files with weights.
        images: archives of container images.
        key: the SSH key that signs, or None.
    """

    extras: tuple[str, ...]
    pythons: tuple[str, ...]
    machine: str
    datasets: Mapping[str, Path] = field(default_factory=dict)
    models: tuple[Path, ...] = ()
    images: tuple[Path, ...] = ()
    key: Path | None = None


@dataclass(frozen=True)
class BuiltKit:
    """A finished kit: its archive, and the digest of its list of checksums."""

    archive: Path
    digest: str


def build_kit(order: KitOrder, target: Path, source: Path = ROOT) -> BuiltKit:
    """Build a kit from this repository, its locks and a package index."""
    epoch = read_epoch(source)
    with tempfile.TemporaryDirectory(dir=_make_folder(target)) as folder:
        wheels = Path(folder) / "wheels"
        wheels.mkdir()
        distributions = build_distributions(source, Path(folder) / "built", epoch)
        (own_wheel,) = [path for path in distributions if path.suffix == ".whl"]
        own_wheel = own_wheel.replace(wheels / own_wheel.name)
        locks: dict[str, dict[str, tuple[Pin, ...]]] = {}
        for python in order.pythons:
            locks[python] = _fetch_locks(order, python, wheels, own_wheel, epoch)
        return assemble_kit(order, wheels, locks, target, epoch)


def _make_folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _fetch_locks(
    order: KitOrder, python: str, wheels: Path, own_wheel: Path, epoch: int
) -> dict[str, tuple[Pin, ...]]:
    """Fetch the wheels of one Python. Return the kit's locks by extra, with the hashes of the kit's own wheels."""
    chosen = choose_pins(order.extras, python)
    pins: dict[str, Pin] = {}
    for part in chosen.values():
        pins.update({_key(pin): pin for pin in part})
    pip = _read_pip(python)
    fetched = fetch_wheels([*pins.values(), pip], python, order.machine, wheels, epoch)
    own = _pin_wheel(own_wheel, ())
    locks = {}
    for extra, part in chosen.items():
        hashed = [_pin_wheel(fetched[pin.name], pin.parents) for pin in part]
        locks[extra] = (*hashed, *([own] if extra == _BASE else []))
    return locks


def _key(pin: Pin) -> str:
    return f"{pin.name}=={pin.version}"


def _pin_wheel(wheel: Path, parents: tuple[str, ...]) -> Pin:
    """Return a wheel's pin, with the hash that the wheel in the kit has."""
    metadata = read_metadata(wheel)
    requirement = Requirement(f"{canonicalize_name(str(metadata['Name']))}=={metadata['Version']}")
    return Pin(requirement, (f"sha256:{hash_file(wheel)}",), parents)


def _read_pip(python: str) -> Pin:
    """Return the pip that install.sh runs from its wheel. It is not installed."""
    path = locate_lock("build", python)
    (pin,) = [pin for pin in parse_lock(path.read_text("utf-8"), path.name) if pin.name == "pip"]
    return pin


def choose_pins(extras: Sequence[str], python: str) -> dict[str, tuple[Pin, ...]]:
    """Return the pins of the agent without extras, under "base", and of each extra with all that it needs.

    Raises:
        KitError: an extra is unknown, or vLLM is wanted with extras that its lock lacks.
    """
    unknown = sorted(set(extras) - set(EXTRAS))
    if unknown:
        raise KitError(f"no such extra: {', '.join(unknown)}. There are: {', '.join(EXTRAS)}")
    project = read_project("intramural")
    path = locate_lock("agent-vllm" if VLLM in extras else "agent-all-extras", python)
    pins = parse_lock(path.read_text("utf-8"), path.name)
    base = [requirement.name for requirement in list_requirements(project, (), python)]
    chosen = {_BASE: select_pins(pins, "intramural", base)}
    for extra in extras:
        wanted = "llamacpp" if extra == DEMO_MODEL else extra
        bare = {**project, "dependencies": []}
        names = [requirement.name for requirement in list_requirements(bare, (wanted,), python)]
        locked = {pin.name for pin in pins}
        if VLLM in extras and not {canonicalize_name(name) for name in names} <= locked:
            raise KitError(
                f"{extra} does not fit into a kit with vllm, which has a lock of its own",
                "Build two kits, for two environments.",
            )
        chosen[extra] = select_pins(pins, "intramural", names)
        if extra == DEMO_MODEL:
            chosen[extra] += parse_lock(_join_lines(_DEMO_LOCK.read_text("utf-8")), _DEMO_LOCK.name)
    return chosen


def _join_lines(text: str) -> str:
    """Return the requirements of a short file, with each hash on a line of its own as in a lock."""
    return text.replace(" --hash=", " \\\n    --hash=")


def assemble_kit(
    order: KitOrder,
    wheels: Path,
    locks: Mapping[str, Mapping[str, tuple[Pin, ...]]],
    target: Path,
    epoch: int,
) -> BuiltKit:
    """Make the archive from wheels that are there, and their locks by Python and extra. Opens no connection."""
    packages = [judge_package(read_metadata(wheel)) for wheel in sorted(wheels.glob("*.whl"))]
    version = _read_version(packages)
    name = f"intramural-kit-{version}-{order.machine}"
    with tempfile.TemporaryDirectory(dir=_make_folder(target)) as folder:
        kit = Path(folder) / name
        kit.mkdir()
        _copy(wheels, kit / "wheels")
        for python, parts in locks.items():
            _write_locks(kit, python, parts, packages, version, epoch)
        for file in ("install.sh", "README.md"):
            _copy(_AIRGAP / file, kit / file)
        _copy(ROOT / "LICENSE", kit / "LICENSE")
        (kit / "LICENCES.md").write_text(
            format_licences(packages, "Licences of the packages in this kit"), "utf-8"
        )
        _add_given_files(order, kit)
        _write_manifest(order, kit, name, version, epoch)
        checksums = write_checksums(kit)
        digest = hash_file(checksums)
        if order.key is not None:
            sign_file(checksums, order.key)
        archive = _pack(kit, target / f"{name}.tar", epoch)
    (target / f"{name}.tar.sha256").write_text(f"{hash_file(archive)}  {archive.name}\n", "utf-8")
    if order.key is not None:
        sign_file(archive, order.key)
    return BuiltKit(archive, digest)


def _read_version(packages: Iterable[LicensedPackage]) -> str:
    for package in packages:
        if package.name == "intramural":
            return package.version
    raise KitError("the wheels hold no intramural")


def _write_locks(
    kit: Path,
    python: str,
    parts: Mapping[str, tuple[Pin, ...]],
    packages: Iterable[LicensedPackage],
    version: str,
    epoch: int,
) -> None:
    """Write the locks of one Python, and the bill of materials of an installation with every extra."""
    tag = f"py{python.replace('.', '')}"
    folder = _make_folder(kit / "locks" / tag)
    everything = {}
    for extra, pins in parts.items():
        (folder / f"{extra}.txt").write_text(format_lock(pins, [_HEADER]), "utf-8")
        everything.update({pin.name: pin for pin in pins})
    licences = {package.name: package.licence for package in packages}
    bill = write_bill("intramural", version, everything.values(), licences, epoch)
    _make_folder(kit / "sbom")
    (kit / f"sbom/{tag}.cdx.json").write_text(bill, "utf-8")


def _add_given_files(order: KitOrder, kit: Path) -> None:
    """Copy datasets, models and images as they were given. Only data of public benchmarks may be in a kit."""
    for benchmark, path in order.datasets.items():
        _check_public(benchmark)
        folder = _make_folder(kit / "datasets" / benchmark)
        if path.is_dir():
            _copy(path, folder)
        else:
            _copy(path, folder / path.name)
    for kind, paths in (("models", order.models), ("images", order.images)):
        for path in paths:
            copy = _make_folder(kit / kind) / path.name
            if copy.exists():
                raise KitError(f"two {kind} are named {path.name}", "Rename one of them.")
            _copy(path, copy)


def _check_public(benchmark: str) -> None:
    path = ROOT / "benchmarks" / benchmark / "benchmark.yaml"
    try:
        access = yaml.safe_load(path.read_text("utf-8")).get("access")
    except OSError:
        raise KitError(f"there is no benchmark {benchmark!r}") from None
    if access != "public":
        raise KitError(
            f"{benchmark} is {access}: its data may not be passed on in a kit",
            "Each site gets it under its own agreement, and adds it with `intramural datasets add`.",
        )


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a folder without links, records of another site, and permissions."""
    if source.is_symlink():
        raise KitError(f"{source} is a link", "Name the file or folder that it leads to.")
    if source.is_file():
        shutil.copyfile(source, target)
        return
    if not source.is_dir():
        raise KitError(f"{source} is not there, or neither a file nor a folder")
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.name != ".dataset.json":
            _copy(path, target / path.name)


def _write_manifest(order: KitOrder, kit: Path, name: str, version: str, epoch: int) -> None:
    """Write what the kit holds, for people and for install.sh. The list of checksums covers this file too."""
    contents = [
        {"path": path, "bytes": (kit / path).stat().st_size, "sha256": hash_file(kit / path)}
        for path in list_files(kit)
    ]
    manifest = {
        "name": name,
        "version": version,
        "made_at": epoch,  # seconds since 1970, of the source's newest commit
        "machine": order.machine,
        "pythons": list(order.pythons),
        "extras": sorted(order.extras),
        "datasets": sorted(order.datasets),
        "models": sorted(path.name for path in order.models),
        "images": sorted(path.name for path in order.images),
        "contents": contents,
    }
    (kit / "kit.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")


def _pack(kit: Path, archive: Path, epoch: int) -> Path:
    """Write the archive: the same kit gives the same bytes."""

    def normalise(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = epoch
        member.mode = 0o755 if member.isdir() else 0o644
        return member

    unfinished = archive.with_name(archive.name + ".part")
    with tarfile.open(unfinished, "w", format=tarfile.GNU_FORMAT) as file:
        paths = [kit, *sorted(kit.rglob("*"))]
        for path in paths:
            name = path.relative_to(kit.parent).as_posix()
            file.add(path, name, recursive=False, filter=normalise)
    os.replace(unfinished, archive)  # noqa: PTH105 (replaces an older archive in one step)
    return archive
