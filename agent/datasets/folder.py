"""Find the files of a dataset's folder by the names of a definition, and never outside the folder."""

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
# Without separators and patterns, so that an argument in a file's name cannot lead out of the folder.
_SAFE_VALUE = re.compile(r"\w[\w .,+=-]*")


class HashedFile(NamedTuple):
    """A file, and the SHA-256 of its content when it was found."""

    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """The files that belong to one entry of a definition's `data.files`.

    Attributes:
        file: the entry, with the arguments filled into its names.
        present: files by their name within the folder; several for a pattern, empty if none is there.
        by_argument: whether other arguments would name another file.
    """

    file: DataFile
    present: Mapping[str, HashedFile]
    by_argument: bool

    def find_version(self) -> Version | None:
        """Return the known version that has these bytes, and this name where the name says which file it is."""
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
    """Look for each entry's files under its name, else under the name of one of its further versions.

    Raises:
        BenchmarkError: a file is a link out of the folder, or lies below a folder named `keys`.
        ConfigError: an argument that a name needs is missing, or is no part of a file's name.
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
    """Return the names under which an entry may lie in the folder, arguments not filled in."""
    names = [file.name]
    fields = _FIELD.findall(file.name)
    for version in file.versions:
        # A name with fewer arguments belongs to one value of them: it names that file, and is not another name of this.
        if version.name and _FIELD.findall(version.name) == fields:
            names.append(version.name)
    return names


def hash_file(path: Path, name: str) -> str:
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


def join_digests(digests: Mapping[str, str]) -> str:
    """Return the SHA-256 of the lines "digest  name" of several files, in their order."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    return hashlib.sha256(lines.encode()).hexdigest()


def hash_folder(folder: Path) -> str:
    """Return the joint digest of all files below a folder but hidden ones, by name, as `data.sample` notes it.

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
    """Return a file's size and the time of its last change (nanoseconds), as records note them."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def check_inside(folder: Path, path: Path) -> Path:
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


def _find_first(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """Return the files of the first of the names that has any."""
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
    """Return the names of the files that match, sorted, without hidden files and files in hidden folders."""
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
                f"the data's files are named by the argument {field}, and the run entry gives none"
            )
        if not _SAFE_VALUE.fullmatch(value) or ".." in value:
            raise ConfigError(f"{field} is {value!r}: expected a part of a file's name")
    template, _ = compile_template(name, arguments)
    return template.render(arguments)
