"""The files a person hands over, from a file, a folder or an archive, copied under the names that a benchmark reads.

Nothing else is copied: not what the benchmark does not name, no link's target outside, no device, no key.
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
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from agent.catalog.benchmark import Benchmark
from agent.catalog.data_section import DataFile
from agent.catalog.named_file import refuse_keys_folder
from agent.errors import BenchmarkError

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_CHUNK = 2**20  # bytes
_MOST_FILES = 100_000
_KEPT_FREE = 2**30  # bytes of the disk, for everybody else
_FIELD = re.compile(r"\{([A-Za-z0-9_]+)\}")

Opener = Callable[[], AbstractContextManager[BinaryIO]]


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What was copied: what each file was called where it came from, by its name here; and how many were left out."""

    given: Mapping[str, str]
    left_out: int


def take_in(source: Path, benchmark: Benchmark, folder: Path) -> TakenIn:
    """Copy from `source` into the empty `folder` what the benchmark reads.

    A file of a known version gets that version's name, whatever it is called. Any other single file is taken for
    another version of the benchmark's file, where it has one only.

    Raises:
        BenchmarkError: there is nothing that the benchmark reads, or two versions of it; a link leads out; a file is
            none, lies below a folder named `keys`, or cannot be read; the disk is full.
    """
    try:
        if source.is_dir():
            refuse_keys_folder(source / "any file")
            return _from_members(_folder_members(source), benchmark, folder, source)
        refuse_keys_folder(source)
        if source.name.casefold().endswith(_ARCHIVES):
            with _archive_members(source) as members:
                return _from_members(members, benchmark, folder, source)
        if source.is_symlink():
            raise BenchmarkError(f"{source.name} is a link; name the file itself")
        opener = _file_opener(source)
        name = _single_name(source.name, opener, benchmark)
        _copy(opener, folder / name)
    except (OSError, zipfile.BadZipFile, tarfile.TarError, EOFError, NotImplementedError, RuntimeError) as why:
        reason = getattr(why, "strerror", None) or "it is damaged, encrypted, or not what its name says"
        raise BenchmarkError(f"{source.name}: cannot be read or copied ({reason})", _ADVICE) from None
    return TakenIn({name: source.name}, 0)


_ADVICE = "Nothing was added. Correct what is named above and add the data again."


def _from_members(members: Mapping[str, Opener], benchmark: Benchmark, folder: Path, source: Path) -> TakenIn:
    chosen = _choose(tuple(members), benchmark) or _known_by_digest(members, benchmark)
    if not chosen:
        names = ", ".join(file.name for file in benchmark.files) or "one file"
        if len(members) != 1:
            raise BenchmarkError(
                f"{source.name}: holds {len(members)} files and none that {benchmark.id} reads; expected {names}",
                f"Nothing was added. If {_likely(members, benchmark)} is the dataset, give that file itself as PATH.",
            )
        ((name, opener),) = members.items()
        chosen = {name: _single_name(PurePosixPath(name).name, opener, benchmark)}
    for name, target in chosen.items():
        _copy(members[name], folder / target)
    return TakenIn({target: name for name, target in chosen.items()}, len(members) - len(chosen))


def _likely(members: Mapping[str, Opener], benchmark: Benchmark) -> str:
    """Name the only file with an ending of the benchmark's files, if there is one."""
    names = [name for name in members if PurePosixPath(name).suffix in _endings(benchmark)]
    return names[0] if len(names) == 1 else "one of them"


def _endings(benchmark: Benchmark) -> set[str]:
    return {PurePosixPath(name).suffix for file in benchmark.files for name in _names(file)}


def _known_by_digest(members: Mapping[str, Opener], benchmark: Benchmark) -> dict[str, str]:
    """Return where the files go that are known versions under names of their own; only likely ones are read."""
    endings = _endings(benchmark)
    chosen: dict[str, str] = {}  # target -> name: of two copies of one file either will do
    for name, opener in members.items():
        if PurePosixPath(name).suffix in endings and (target := _known_name(opener, benchmark)):
            chosen.setdefault(target, name)
    _refuse_two_versions(benchmark, set(chosen))
    return {name: target for target, name in chosen.items()}


def _choose(names: Sequence[str], benchmark: Benchmark) -> dict[str, str]:
    """Return where each of the wanted `names` goes: the benchmark's folder may lie below the source."""
    found: dict[str, dict[str, str]] = {}  # prefix -> name -> target
    exact: set[str] = set()  # prefixes with a file that the benchmark names without a * or an argument
    for file in benchmark.files:
        for wanted in dict.fromkeys(_names(file)):
            pattern = re.compile(f"(?P<prefix>(?:.*/)?)(?P<target>{_as_regex(wanted, benchmark)})")
            for name in names:
                match = pattern.fullmatch(name)
                if match:
                    found.setdefault(match["prefix"], {})[name] = match["target"]
                    if not _is_open(wanted):
                        exact.add(match["prefix"])
    if len(exact) > 1 or (len(found) > 1 and "" not in found):
        raise BenchmarkError(
            f"{benchmark.id}: its files are there more than once, in {len(found)} folders; is it two versions?",
            "Nothing was added. Name the folder of one version.",
        )
    chosen = found.get("", {}) if "" in found else next(iter(found.values()), {})
    _refuse_two_versions(benchmark, set(chosen.values()))
    return chosen


def _refuse_two_versions(benchmark: Benchmark, targets: set[str]) -> None:
    for file in benchmark.files:
        present = sorted(set(_names(file)) & targets)
        if len(present) > 1:
            raise BenchmarkError(
                f"{benchmark.id}: holds more than one version: {', '.join(present)}",
                "Nothing was added. Name the file of one version.",
            )


def _as_regex(name: str, benchmark: Benchmark) -> str:
    """Return the expression for a file's name: `{argument}` is one of its values, `*` any text within a folder."""
    parts = _FIELD.split(name)
    for index, part in enumerate(parts):
        if index % 2:
            values = benchmark.arguments[part].values if part in benchmark.arguments else ()
            parts[index] = f"(?:{'|'.join(map(re.escape, values))})" if values else "[^/]+"
        else:
            parts[index] = re.escape(part).replace(r"\*", "[^/]*")
    return "".join(parts)


def _names(file: DataFile) -> tuple[str, ...]:
    return (file.name, *(version.name for version in file.known if version.name))


def _single_name(name: str, opener: Opener, benchmark: Benchmark) -> str:
    """Return the name that a single file gets in the site's folder."""
    if known := _known_name(opener, benchmark):
        return known
    if any(re.fullmatch(_as_regex(wanted, benchmark), name) for file in benchmark.files for wanted in _names(file)):
        return name
    needed = [file.name for file in benchmark.files if not file.optional]
    if len(needed) > 1 or any(_is_open(other) for other in needed):
        raise BenchmarkError(
            f"{name}: {benchmark.id} reads {', '.join(needed)}; name the folder that holds them", _ADVICE
        )
    same_kind = bool(needed) and PurePosixPath(needed[0]).suffix == PurePosixPath(name).suffix
    return needed[0] if same_kind else name


def _known_name(opener: Opener, benchmark: Benchmark) -> str:
    """Return the name that a known version with these bytes has; empty for none."""
    with opener() as opened:
        digest = hashlib.sha256()
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
    for file in benchmark.files:
        for version in file.known:
            known_name = version.name or file.name
            if version.sha256 == digest.hexdigest() and not _is_open(known_name):
                return known_name
    return ""


def _is_open(name: str) -> bool:
    """Tell whether the name stands for several files."""
    return "*" in name or bool(_FIELD.search(name))


def _folder_members(folder: Path) -> dict[str, Opener]:
    root = folder.resolve()
    members: dict[str, Opener] = {}
    for place, folders, names in os.walk(root, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in sorted((*folders, *names)):
            path = Path(place) / name
            relative = path.relative_to(root).as_posix()
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                raise BenchmarkError(f"{relative}: is a link out of its folder; put the file itself there", _ADVICE)
            if name in names and not name.startswith("."):
                refuse_keys_folder(path, root)
                members[relative] = _file_opener(path)
        if len(members) > _MOST_FILES:
            raise BenchmarkError(
                f"{folder.name}: holds more than {_MOST_FILES} files; name the dataset's folder", _ADVICE
            )
    return members


def _raise(error: OSError) -> None:
    raise error


def _file_opener(path: Path) -> Opener:
    return lambda: _opened(path)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    # Without waiting: opening a named pipe would wait for somebody to write into it.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BenchmarkError(f"{path.name}: is not a plain file", _ADVICE)
        yield file


@contextmanager
def _archive_members(path: Path) -> Iterator[dict[str, Opener]]:
    with _opened(path) as file:
        if path.name.casefold().endswith(".zip"):
            with zipfile.ZipFile(file) as archive:
                yield _zip_members(archive)
        else:
            with tarfile.open(fileobj=file, mode="r:*") as archive:
                yield _tar_members(archive)


def _zip_members(archive: zipfile.ZipFile) -> dict[str, Opener]:
    members: dict[str, Opener] = {}
    for info in archive.infolist():
        if info.is_dir():
            continue
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            raise BenchmarkError(f"{info.filename}: is a link or a device in the archive", _ADVICE)
        _add_member(members, info.filename, _zip_opener(archive, info))
    return members


def _tar_members(archive: tarfile.TarFile) -> dict[str, Opener]:
    members: dict[str, Opener] = {}
    for info in archive:
        if info.isdir():
            continue
        if not info.isreg():
            raise BenchmarkError(f"{info.name}: is a link or a device in the archive", _ADVICE)
        _add_member(members, info.name, _tar_opener(archive, info))
    return members


def _zip_opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Opener:
    return lambda: cast(AbstractContextManager[BinaryIO], archive.open(info))


def _tar_opener(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Opener:
    return lambda: cast(AbstractContextManager[BinaryIO], archive.extractfile(info))


def _add_member(members: dict[str, Opener], name: str, opener: Opener) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name:
        raise BenchmarkError(f"{name}: the archive would put this file outside its folder", _ADVICE)
    if any(part.startswith(".") or part == "__MACOSX" for part in path.parts if part != "."):
        return
    if str(path) in members:
        raise BenchmarkError(f"{name}: is in the archive twice", _ADVICE)
    members[str(path)] = opener
    if len(members) > _MOST_FILES:
        raise BenchmarkError(f"the archive holds more than {_MOST_FILES} files", _ADVICE)


def _copy(opener: Opener, target: Path) -> None:
    """Copy, mode 0600, while the disk keeps some room: a small archive can hold a very large file."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    usage = shutil.disk_usage(target.parent)
    room = usage.free - min(_KEPT_FREE, usage.total // 20)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with opener() as source, os.fdopen(handle, "wb") as copy:
        while chunk := source.read(_CHUNK):
            room -= len(chunk)
            if room < 0:
                raise BenchmarkError(f"{target.name}: there is not enough room on the disk", _ADVICE)
            copy.write(chunk)
        copy.flush()
        os.fsync(copy.fileno())
