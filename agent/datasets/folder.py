"""The files of a dataset's folder: found by the names of a definition, and never outside the folder."""

import glob
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from agent.catalog.data_section import DataFile, Version
from agent.catalog.named_file import KEY_TEXT_BYTES, refuse_key_text, refuse_keys_folder
from agent.catalog.template import compile_template
from agent.errors import BenchmarkError, ConfigError
from agent.io.atomic_files import open_plain

_FIELD = re.compile(r"\{(\w+)\}")
_PLAIN = re.compile(r"\w[\w .,+=-]*")  # what an argument may put into a file's name: no separators, no patterns


class Hashed(NamedTuple):
    """A file, and the SHA-256 of what it held when it was found."""

    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """What one entry of a definition's `data.files` stands for here.

    Attributes:
        file: as the definition says it, names with their arguments filled in.
        found: by name within the folder; several for a pattern, none if there are none.
        by_argument: whether it stands for another file with other arguments.
    """

    file: DataFile
    found: Mapping[str, Hashed]
    by_argument: bool

    def version(self) -> Version | None:
        """Return the known version that has these bytes, and this name where the name says which file it is."""
        digests = {name: file.sha256 for name, file in self.found.items()}
        digest = joint_digest(digests) if "*" in self.file.name else next(iter(digests.values()))
        for known in self.file.known:
            if known.sha256 == digest and not (self.by_argument and known.name not in ("", self.file.name)):
                return known
        return None


def find_entries(folder: Path, files: Sequence[DataFile], arguments: Mapping[str, str]) -> list[FolderEntry]:
    """Look for each entry's files under its own name, else under that of one of its further versions.

    Raises:
        BenchmarkError: a file is a link out of the folder, or lies below a folder named `keys`.
        ConfigError: an argument that a name needs is missing, or is no part of a file's name.
    """
    entries = []
    for file in files:
        own_fields = _FIELD.findall(file.name)
        # A version's name that holds fewer arguments belongs to one value of them: it says which file that is,
        # and is no other place to look for this one.
        others = [v.name for v in file.versions if v.name and _FIELD.findall(v.name) == own_fields]
        names = [_filled(name, arguments) for name in (file.name, *others)]
        found = next((paths for name in names if (paths := _matching(folder, name))), {})
        versions = tuple(_named(version, arguments) for version in file.versions)
        hashed = {name: Hashed(path, file_digest(path, name)) for name, path in found.items()}
        entries.append(FolderEntry(_renamed(file, names[0], versions), hashed, bool(own_fields)))
    return entries


def file_digest(path: Path, name: str) -> str:
    """Return the SHA-256 of a file that is not a key; `name` is for messages.

    Raises:
        BenchmarkError: it cannot be read, or looks like a private key.
    """
    try:
        with open_plain(path) as file:
            refuse_key_text(file.read(KEY_TEXT_BYTES))
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as why:
        raise BenchmarkError(f"{name}: cannot be read ({why.strerror})") from None
    except BenchmarkError as why:
        raise BenchmarkError(f"{name}: {why}") from None


def joint_digest(digests: Mapping[str, str]) -> str:
    """Return the SHA-256 of the lines "digest  name" of several files, in their order."""
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in digests.items()).encode()).hexdigest()


def folder_digest(folder: Path) -> str:
    """Return the joint digest of all files below a folder but hidden ones, by name: what `data.sample` notes.

    Raises:
        BenchmarkError: a file cannot be read, or is a link out of the folder.
    """
    names = {name: inside(folder, folder / name) for name in _below(folder, "**/*")}
    return joint_digest({name: file_digest(path, name) for name, path in names.items()})


def inside(folder: Path, path: Path) -> Path:
    """Return the path of a file below `folder`.

    Raises:
        BenchmarkError: it is a link that leads out, or lies below a folder named `keys`.
    """
    refuse_keys_folder(path, folder)
    if not path.resolve().is_relative_to(folder.resolve()):
        name = path.relative_to(folder).as_posix()
        raise BenchmarkError(
            f"{name}: is a link that leads out of the dataset's folder",
            "Put the file itself there, or name it with data_path=FILE.",
        )
    return path


def _matching(folder: Path, name: str) -> dict[str, Path]:
    if "*" not in name:
        path = folder / name
        return {name: inside(folder, path)} if path.is_file() else {}
    pattern = "*".join(glob.escape(part) for part in name.split("*"))
    return {name: inside(folder, folder / name) for name in _below(folder, pattern)}


def _below(folder: Path, pattern: str) -> list[str]:
    """Names of the files that match, sorted; what begins with a dot is left out."""
    paths = [path.relative_to(folder) for path in folder.glob(pattern) if path.is_file()]
    return sorted(path.as_posix() for path in paths if not any(part.startswith(".") for part in path.parts))


def _filled(name: str, arguments: Mapping[str, str]) -> str:
    for field in _FIELD.findall(name):
        value = arguments.get(field, "")
        if not value:
            raise ConfigError(f"the data's files are named by the argument {field}, and the run entry gives none")
        if not _PLAIN.fullmatch(value) or ".." in value:
            raise ConfigError(f"{field} is {value!r}: expected a part of a file's name")
    return compile_template(name, arguments)[0].render(arguments)


def _named(version: Version, arguments: Mapping[str, str]) -> Version:
    name = _filled(version.name, arguments)
    return replace(version, name=name)


def _renamed(file: DataFile, name: str, versions: Iterable[Version]) -> DataFile:
    return replace(file, name=name, versions=tuple(versions))
