"""Copy a dataset's files from a file, folder or archive, and give them the names that a benchmark reads.

Only files that the benchmark names are copied. Links out of the source, devices and keys are refused.
"""

import hashlib
import os
import re
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from agent.catalog.benchmark import Benchmark
from agent.catalog.data_section import DataFile
from agent.catalog.named_file import refuse_keys_folder
from agent.errors import BenchmarkError

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_CHUNK = 2**20  # bytes
_MAX_FILES = 100_000
_FREE_BYTES = 2**30  # disk space that is left free for other programs
_FIELD = re.compile(r"\{([A-Za-z0-9_]+)\}")

Opener = Callable[[], AbstractContextManager[BinaryIO]]


@dataclass(frozen=True, slots=True)
class CopiedFiles:
    """The outcome of copying a dataset's files.

    Attributes:
        source_names: the name of each file in the source, by the name of its copy.
        left_out: the number of files that were not copied.
    """

    source_names: Mapping[str, str]
    left_out: int


def copy_source(source: Path, benchmark: Benchmark, folder: Path) -> CopiedFiles:
    """Copy the files that the benchmark reads from `source` into the empty `folder`.

    A file of a known version is renamed to that version's name. If the benchmark reads only one file, any other
    single file is accepted as another version of it.

    Raises:
        BenchmarkError: the benchmark reads none of the files; two files are versions of the same file; a link leads
            out of the source; a file is not a regular file, is inside a folder named `keys` or cannot be read; or
            the disk is full.
    """
    try:
        if source.is_dir():
            refuse_keys_folder(source / "any file")
            return _copy_members(_list_folder(source), benchmark, folder, source)
        refuse_keys_folder(source)
        if source.name.casefold().endswith(_ARCHIVES):
            with _open_archive(source) as members:
                return _copy_members(members, benchmark, folder, source)
        if source.is_symlink():
            raise BenchmarkError(f"{source.name} is a link; give the path of the file itself")
        opener = partial(_open_file, source)
        name = _name_single_file(source.name, opener, benchmark)
        _copy_file(opener, folder / name)
    except (
        OSError,
        zipfile.BadZipFile,
        tarfile.TarError,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ) as why:
        reason = (
            getattr(why, "strerror", None)
            or "the file is damaged, encrypted or not of the type that its name indicates"
        )
        raise BenchmarkError(
            f"{source.name}: cannot be read or copied ({reason})", _ADVICE
        ) from None
    return CopiedFiles(source_names={name: source.name}, left_out=0)


_ADVICE = "Nothing was added. Correct the problem and add the data again."


def _copy_members(
    members: Mapping[str, Opener], benchmark: Benchmark, folder: Path, source: Path
) -> CopiedFiles:
    targets = _choose_by_name(tuple(members), benchmark) or _choose_by_digest(members, benchmark)
    if not targets:
        names = ", ".join(file.name for file in benchmark.files) or "one file"
        if len(members) != 1:
            dataset = _guess_dataset(members, benchmark)
            raise BenchmarkError(
                f"{source.name}: has {len(members)} files, none of which {benchmark.id} reads; expected {names}",
                f"Nothing was added. If {dataset} is the dataset, give the path of that file as PATH.",
            )
        ((name, opener),) = members.items()
        targets = {name: _name_single_file(PurePosixPath(name).name, opener, benchmark)}
    for name, target in targets.items():
        _copy_file(members[name], folder / target)
    source_names = {target: name for name, target in targets.items()}
    return CopiedFiles(source_names, left_out=len(members) - len(targets))


def _guess_dataset(members: Mapping[str, Opener], benchmark: Benchmark) -> str:
    """Return the only name with an extension that the benchmark's files have, for a message.

    If no name or several names have such an extension, the text is "one of them".
    """
    endings = _list_endings(benchmark)
    names = [name for name in members if PurePosixPath(name).suffix in endings]
    return names[0] if len(names) == 1 else "one of them"


def _list_endings(benchmark: Benchmark) -> set[str]:
    endings = set()
    for file in benchmark.files:
        endings |= {PurePosixPath(name).suffix for name in _list_names(file)}
    return endings


def _choose_by_digest(members: Mapping[str, Opener], benchmark: Benchmark) -> dict[str, str]:
    """Return the target name of each file that is a known version under another name.

    Only files with the extension of one of the benchmark's files are read.
    """
    endings = _list_endings(benchmark)
    sources: dict[str, str] = {}  # target -> name of the first copy
    for name, opener in members.items():
        if PurePosixPath(name).suffix not in endings:
            continue
        target = _find_known_name(opener, benchmark)
        if target:
            sources.setdefault(target, name)
    _refuse_two_versions(benchmark, set(sources))
    return {name: target for target, name in sources.items()}


def _choose_by_name(names: Sequence[str], benchmark: Benchmark) -> dict[str, str]:
    """Return the target name of each file that the benchmark names, directly in the source or in one of its folders."""
    targets: dict[str, dict[str, str]] = {}  # prefix (the folder) -> name -> target
    # Prefixes with a file that matches a name containing neither * nor an argument.
    exact: set[str] = set()
    for file in benchmark.files:
        for file_name in dict.fromkeys(_list_names(file)):
            pattern = re.compile(
                f"(?P<prefix>(?:.*/)?)(?P<target>{_compile_name(file_name, benchmark)})"
            )
            for match in filter(None, map(pattern.fullmatch, names)):
                prefix = match["prefix"]
                targets.setdefault(prefix, {})[match[0]] = match["target"]
                if not _is_pattern(file_name):
                    exact.add(prefix)
    if len(exact) > 1 or (len(targets) > 1 and "" not in targets):
        raise BenchmarkError(
            f"{benchmark.id}: its files were found in {len(targets)} folders; are these different versions?",
            "Nothing was added. Give the folder of one version.",
        )
    if not targets:
        return {}
    # Prefer the files directly in the source. If there are none, there is exactly one folder.
    chosen = targets[""] if "" in targets else next(iter(targets.values()))
    _refuse_two_versions(benchmark, set(chosen.values()))
    return chosen


def _refuse_two_versions(benchmark: Benchmark, targets: set[str]) -> None:
    for file in benchmark.files:
        present = sorted(targets.intersection(_list_names(file)))
        if len(present) > 1:
            raise BenchmarkError(
                f"{benchmark.id}: more than one version of a file was found: {', '.join(present)}",
                "Nothing was added. Give the file of one version.",
            )


def _compile_name(name: str, benchmark: Benchmark) -> str:
    """Return a regular expression for a file name.

    `{argument}` matches each value of the argument, and `*` any text without a slash.
    """
    expression = ""
    for index, part in enumerate(_FIELD.split(name)):
        is_argument = index % 2 == 1
        if is_argument:
            argument = benchmark.arguments.get(part)
            values = argument.values if argument else ()
            expression += f"(?:{'|'.join(map(re.escape, values))})" if values else "[^/]+"
        else:
            expression += re.escape(part).replace(r"\*", "[^/]*")
    return expression


def _list_names(file: DataFile) -> list[str]:
    """Return the name of an entry of `data.files`, followed by the names of its known versions."""
    return [file.name, *(version.name for version in file.known if version.name)]


def _name_single_file(name: str, opener: Opener, benchmark: Benchmark) -> str:
    """Return the name under which a single file is stored in the site's folder."""
    known_name = _find_known_name(opener, benchmark)
    if known_name:
        return known_name
    for file in benchmark.files:
        for file_name in _list_names(file):
            if re.fullmatch(_compile_name(file_name, benchmark), name):
                return name
    needed = [file.name for file in benchmark.files if not file.optional]
    if len(needed) > 1 or any(map(_is_pattern, needed)):
        raise BenchmarkError(
            f"{name}: {benchmark.id} reads {', '.join(needed)}; give the folder that contains them",
            _ADVICE,
        )
    if needed and PurePosixPath(needed[0]).suffix == PurePosixPath(name).suffix:
        return needed[0]
    return name


def _find_known_name(opener: Opener, benchmark: Benchmark) -> str:
    """Return the file name of the known version with this content, or an empty string."""
    with opener() as opened:
        digest = hashlib.sha256()
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
    for file in benchmark.files:
        for version in file.known:
            known_name = version.name or file.name
            if version.sha256 == digest.hexdigest() and not _is_pattern(known_name):
                return known_name
    return ""


def _is_pattern(name: str) -> bool:
    """Return whether a name can match several files."""
    return "*" in name or bool(_FIELD.search(name))


def _list_folder(folder: Path) -> dict[str, Opener]:
    root = folder.resolve()
    members: dict[str, Opener] = {}
    for parent, folders, names in os.walk(root, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]  # skip hidden folders
        for name in sorted((*folders, *names)):
            path = Path(parent) / name
            relative = path.relative_to(root).as_posix()
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                raise BenchmarkError(
                    f"{relative}: is a link that leads out of the folder; replace it with a copy of the file",
                    _ADVICE,
                )
            if name in names and not name.startswith("."):
                refuse_keys_folder(path, root)
                members[relative] = partial(_open_file, path)
        if len(members) > _MAX_FILES:
            raise BenchmarkError(
                f"{folder.name}: contains more than {_MAX_FILES} files; give the dataset's own folder",
                _ADVICE,
            )
    return members


def _raise(error: OSError) -> None:
    raise error


@contextmanager
def _open_file(path: Path) -> Iterator[BinaryIO]:
    # Without O_NONBLOCK, opening a named pipe would wait for a program to write to it.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BenchmarkError(f"{path.name}: is not a regular file", _ADVICE)
        yield file


@contextmanager
def _open_archive(path: Path) -> Iterator[dict[str, Opener]]:
    with _open_file(path) as file:
        if path.name.casefold().endswith(".zip"):
            with zipfile.ZipFile(file) as zip_archive:
                yield _list_zip(zip_archive)
        else:
            with tarfile.open(fileobj=file, mode="r:*") as tar_archive:
                yield _list_tar(tar_archive)


def _list_zip(archive: zipfile.ZipFile) -> dict[str, Opener]:
    members: dict[str, Opener] = {}
    for info in archive.infolist():
        if info.is_dir():
            continue
        file_type = stat.S_IFMT(info.external_attr >> 16)  # 0 if the archive has no Unix modes
        if file_type not in (0, stat.S_IFREG):
            raise BenchmarkError(f"{info.filename}: is a link or a device in the archive", _ADVICE)
        opener = cast(Opener, partial(archive.open, info))
        _add_member(members, info.filename, opener)
    return members


def _list_tar(archive: tarfile.TarFile) -> dict[str, Opener]:
    members: dict[str, Opener] = {}
    for info in archive:
        if info.isdir():
            continue
        if not info.isreg():
            raise BenchmarkError(f"{info.name}: is a link or a device in the archive", _ADVICE)
        opener = cast(Opener, partial(archive.extractfile, info))
        _add_member(members, info.name, opener)
    return members


def _add_member(members: dict[str, Opener], name: str, opener: Opener) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name:
        raise BenchmarkError(f"{name}: this path in the archive leads out of its folder", _ADVICE)
    if any(part.startswith(".") or part == "__MACOSX" for part in path.parts if part != "."):
        return
    if str(path) in members:
        raise BenchmarkError(f"{name}: is in the archive twice", _ADVICE)
    members[str(path)] = opener
    if len(members) > _MAX_FILES:
        raise BenchmarkError(f"the archive contains more than {_MAX_FILES} files", _ADVICE)


def _copy_file(opener: Opener, target: Path) -> None:
    """Copy a file with mode 0600, and stop before the disk is full: a small archive can unpack to a huge file."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    usage = shutil.disk_usage(target.parent)
    room = usage.free - min(_FREE_BYTES, usage.total // 20)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with opener() as source, os.fdopen(handle, "wb") as copy:
        while chunk := source.read(_CHUNK):
            room -= len(chunk)
            if room < 0:
                raise BenchmarkError(
                    f"{target.name}: there is not enough space on the disk", _ADVICE
                )
            copy.write(chunk)
        copy.flush()
        os.fsync(copy.fileno())
