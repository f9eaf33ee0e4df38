"""Small kits whose packages are made up here, so that install.sh can be run without a package index."""

import base64
import ensurepip
import hashlib
import platform
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from intramural_release.checksums import NAMESPACE, PRINCIPAL
from intramural_release.kit import BuiltKit, KitOrder, assemble_kit
from intramural_release.lock_files import Pin
from intramural_release.wheel_files import hash_file

PYTHON = f"3.{sys.version_info.minor}"
EPOCH = 1_790_000_000
PROGRAM = """\
import importlib.util, sys
def main():
    print("intramural, version {version}", "with left_pad" if importlib.util.find_spec("left_pad") else "")
"""


@dataclass(frozen=True)
class SmallKit:
    """An unpacked kit, and what says that it is genuine."""

    folder: Path
    signers: Path
    built: BuiltKit

    def install(self, *words: str, origin: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the kit's install.sh with these options."""
        given = ["--signers", str(self.signers)] if origin else []
        command = ["sh", str(self.folder / "install.sh"), *given, *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def write_wheel(
    folder: Path, name: str, version: str, files: dict[str, str], script: str = ""
) -> Path:
    """Write a wheel of these files."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\nLicense-Expression: MIT\n"
    entries = {
        **files,
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if script:
        entries[f"{info}/entry_points.txt"] = f"[console_scripts]\n{script}\n"
    record = []
    for path, text in entries.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record.append(f"{path},sha256={digest.decode()},{len(text.encode())}\n")
    entries[f"{info}/RECORD"] = "".join(record) + f"{info}/RECORD,,\n"
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in entries.items():
            archive.writestr(zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0)), text)
    return wheel


def pin(wheel: Path) -> Pin:
    name, version = wheel.name.split("-")[:2]
    requirement = Requirement(f"{name.replace('_', '-')}=={version}")
    return Pin(requirement, (f"sha256:{hash_file(wheel)}",), ())


def make_key(folder: Path, name: str = "release-key") -> tuple[Path, Path]:
    """Make a key, and the file of allowed signers."""
    key = folder / name
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(key)]
    subprocess.run(command, check=True)
    public = key.with_name(f"{name}.pub").read_text("utf-8")
    signers = folder / f"{name}-signers"
    signers.write_text(f'{PRINCIPAL} namespaces="{NAMESPACE}" {public}', "utf-8")
    return key, signers


def make_small_kit(
    folder: Path,
    version: str,
    key: tuple[Path, Path],
    order: KitOrder | None = None,
    program: str = PROGRAM,
) -> SmallKit:
    """Build a kit with one program, and one package as its extra `parquet`; unpack it."""
    wheels = folder / f"wheels-{version}"
    wheels.mkdir(parents=True)
    own = write_wheel(
        wheels,
        "intramural",
        version,
        {"intramural_fake.py": program.format(version=version)},
        "intramural = intramural_fake:main",
    )
    extra = write_wheel(wheels, "left_pad", "1.0", {"left_pad.py": ""})
    (pip,) = (Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl")
    (wheels / pip.name).write_bytes(pip.read_bytes())
    order = order or KitOrder(("parquet",), (PYTHON,), platform.machine(), key=key[0])
    locks = {PYTHON: {"base": (pin(own),), "parquet": (pin(extra),)}}
    built = assemble_kit(order, wheels, locks, folder, EPOCH)
    with tarfile.open(built.archive) as archive:
        archive.extractall(folder, filter="data")
    return SmallKit(folder / built.archive.stem, key[1], built)
