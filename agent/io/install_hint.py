"""How to install an extra here: from the kit that this installation came from, or from the project's own files.

No text names a public registry: there, a stranger could offer a package under the project's name.
"""

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

KIT_RECORD: Final = "intramural-kit.json"
"""Written by the kit's install.sh into the environment that it made (deploy/airgap)."""


@dataclass(frozen=True, slots=True)
class KitRecord:
    """Where an installation came from."""

    name: str  # of the kit, with its version
    folder: Path  # where the kit was unpacked
    prefix: Path  # where it was installed
    extras: tuple[str, ...]  # those whose wheels the kit holds


def describe_install(extra: str) -> str:
    """Return the command that installs an extra on this machine."""
    record = find_kit_record()
    if record is None:
        return (
            f"Install the extra `{extra}`: pip install '.[{extra}]' in a clone, or from a folder of wheels "
            f"pip install --no-index --find-links wheelhouse 'intramural[{extra}]' (deploy/README.md)."
        )
    if extra not in record.extras:
        return (
            f"{record.name}, from which Intramural was installed here, lacks the extra `{extra}`. "
            f"Build a kit with deploy/airgap/build.sh --extras {extra}, and install that."
        )
    options = f"--prefix {shlex.quote(str(record.prefix))} --add {extra}"
    script = record.folder / "install.sh"
    if not script.is_file():
        return f"Unpack {record.name} again and run there: sh install.sh {options}"
    return f"Install it from the kit: sh {shlex.quote(str(script))} {options}"


def find_kit_record() -> KitRecord | None:
    """Return the record of the kit that this environment was made from, or None if it was made otherwise."""
    try:
        record = json.loads((Path(sys.prefix) / KIT_RECORD).read_text("utf-8"))
        return KitRecord(
            name=str(record["name"]),
            folder=Path(record["folder"]),
            prefix=Path(record["prefix"]),
            extras=tuple(str(extra) for extra in record["extras"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
