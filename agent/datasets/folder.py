"""Find a dataset's files by the names in its definition, never outside the dataset's folder."""

import glob
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from agent.catalog.data_section import DataFile, Version
from agent.catalog.named_file import KEY_TEXT_BYTES, refuse_key_text, refuse_keys_folder
from agent.catalog.template import compile_template
from agent.errors import BenchmarkError, ConfigError
from agent.io.atomic_files import open_plain

_FIELD = re.compile(r"\{(\w+)\}")
# Excludes path separators and wildcards, so that an argument in a file name cannot lead out of the folder.
_SAFE_VALUE = re.compile(r"\w[\w .,+=-]*")


class HashedFile(NamedTuple):
    """A file's path and the SHA-256 of its content when it was found."""

    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """The files that belong to one entry of `data.files` in a definition.

    Attributes:
        file: the entry, with the arguments filled into its names.
        present: the existing files by name relative to the folder; several for a pattern.
        by_argument: whether the file name depends on arguments.
    """

    file: DataFile
    present: Mapping[str, HashedFile]
    by_argument: bool

    def find_version(self) -> Version | None:
        """Return the known version that has the same content as the entry's files, or None.

        If the file name depends on arguments, a version that states a file name must state that of the entry.
        """
        digests = {name: file.sha256 for name, file in self.present.items()}
        digest = join_digests(digests) if "*" in self.file.name else next(iter(digests.values()))
        for version in self.file.known:
            is_other_file = self.by_argument and version.name not in ("", self.file.name)
            if version.sha256 == digest and not is_other_file:
                return version
        return None


def find_entries(
    folder: Path, files: Sequence[DataFile], arguments: Mapping[str, str]
) -> list[FolderEntry]:
    """Find each entry's files under its own name or, if there are none, under the name of another known version.

    Raises:
        BenchmarkError: a file is a link out of the folder, or is inside a folder named `keys`.
        ConfigError: an argument that a file name needs is missing or cannot be part of a file name.
    """
    entries = []
    for file in files:
        fields = _FIELD.findall(file.name)
        names = [_fill_name(name, arguments) for name in _possible_names(file)]
        paths = _find_first(folder, names)
        versions = [
            replace(version, name=_fill_name(version.name, arguments)) for version in file.versions
        ]
        entry = FolderEntry(
            file=replace(file, name=names[0], versions=tuple(versions)),
            present={name: HashedFile(path, hash_file(path, name)) for name, path in paths.items()},
            by_argument=bool(fields),
        )
        entries.append(entry)
    return entries


def _possible_names(file: DataFile) -> list[str]:
    """Return the possible names of an entry's files, without filling in the arguments."""
    names = [file.name]
    fields = _FIELD.findall(file.name)
    for version in file.versions:
        # A version name with fewer placeholders applies to a single value of an argument, so it is not an alternative
        # name for the entry.
        if version.name and _FIELD.findall(version.name) == fields:
            names.append(version.name)
    return names


def hash_file(path: Path, name: str) -> str:
    """Return the SHA-256 of a file that is not a key. `name` is used in messages.

    Raises:
        BenchmarkError: the file cannot be read or looks like a private key.
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


def join_digests(digests: Mapping[str, str]) -> str:
    """Return the SHA-256 of the lines "digest  name" of the given files, in the given order."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    return hashlib.sha256(lines.encode()).hexdigest()


def hash_folder(folder: Path) -> str:
    """Return the digest of all files below a folder except hidden ones, as recorded in `data.sample`.

    Raises:
        BenchmarkError: a file cannot be read, or is a link out of the folder.
    """
    paths = {name: check_inside(folder, folder / name) for name in _list_names(folder, "**/*")}
    return join_digests({name: hash_file(path, name) for name, path in paths.items()})


def list_data_files(folder: Path) -> list[Path]:
    """Return all files below a folder whose names do not begin with a dot, sorted."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    ]


def read_stamp(path: Path) -> list[int]:
    """Return a file's size in bytes and its modification time in nanoseconds."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def check_inside(folder: Path, path: Path) -> Path:
    """Return `path` if it is inside `folder`.

    Raises:
        BenchmarkError: the path is a link out of the folder, or is inside a folder named `keys`.
    """
    refuse_keys_folder(path, folder)
    if not path.resolve().is_relative_to(folder.resolve()):
        name = path.relative_to(folder).as_posix()
        raise BenchmarkError(
            f"{name}: is a link that leads out of the dataset's folder",
            "Replace the link with the file itself, or name the file with data_path=FILE.",
        )
    return path


def _find_first(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """Return the files that match the first of these names for which there is any file."""
    for name in names:
        paths = _find_matching(folder, name)
        if paths:
            return paths
    return {}


def _find_matching(folder: Path, name: str) -> dict[str, Path]:
    if "*" not in name:
        path = folder / name
        return {name: check_inside(folder, path)} if path.is_file() else {}
    pattern = "*".join(glob.escape(part) for part in name.split("*"))
    return {match: check_inside(folder, folder / match) for match in _list_names(folder, pattern)}


def _list_names(folder: Path, pattern: str) -> list[str]:
    """Return the sorted names of the matching files, except hidden files and files in hidden folders."""
    names = []
    for path in folder.glob(pattern):
        name = path.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in name.parts)
        if path.is_file() and not is_hidden:
            names.append(name.as_posix())
    return sorted(names)


def _fill_name(name: str, arguments: Mapping[str, str]) -> str:
    for field in _FIELD.findall(name):
        value = arguments.get(field, "")
        if not value:
            raise ConfigError(
                f"the data files are named after the argument {field}, which the run entry lacks"
            )
        if not _SAFE_VALUE.fullmatch(value) or ".." in value:
            raise ConfigError(f"{field} is {value!r}, which cannot be part of a file name")
    template, _ = compile_template(name, arguments)
    return template.render(arguments)
