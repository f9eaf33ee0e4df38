"""Frozen copies of a benchmark's data: what a registered version holds, whatever becomes of the data itself.

`data/.frozen/<benchmark id>/0001/` is one copy, for its owner alone:

    files/         the data files, byte by byte, under the names that the benchmark reads
    examples/      the file of solved examples, where the definition names one
    .frozen.json   which benchmark and definition it is of, the digest of each file, and, once the copy is registered,
                   the version's commitment

A copy grows beside its place and gets its name when it is whole, so that a crash leaves none. Without a commitment it
is no version yet: runs pass over it, and the next registration finishes it or takes it away.
"""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from agent.catalog.benchmark import Benchmark
from agent.datasets.folder import Hashed, file_digest, joint_digest
from agent.datasets.load import Dataset, Known, iter_instances, locate_dataset
from agent.datasets.manage.examine import Choice, required_choices
from agent.datasets.manage.register import attested
from agent.errors import AgentError, BenchmarkError, ConfigError, StoreError
from agent.io.atomic_files import locked, open_plain, read_bounded, sync_directory, write_atomically

_RECORD: Final = ".frozen.json"
_LARGEST_RECORD: Final = 16 * 2**20  # bytes
_CHUNK: Final = 2**20  # bytes
_EXAMPLES: Final = "examples"
_RESTORE: Final = (
    "Nothing was read. Restore the folder data/.frozen from a back-up; or register the data anew with `intramural "
    "datasets register`. `intramural run --unregistered` evaluates the data as it lies, which cannot be submitted."
)


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of a benchmark's data as they lie now, those of all its required arguments together.

    Attributes:
        files: by the name that the benchmark reads, in order of these names.
        examples: the file of solved examples, if the definition names one.
        known: "official" if all of them are of versions that the benchmark knows.
        attested: whether the data needs no agreement, or somebody attested one.
    """

    files: Mapping[str, Hashed]
    examples: Hashed | None
    known: Known
    attested: bool

    @property
    def digest(self) -> str:
        """One digest of all files."""
        digests = {name: file.sha256 for name, file in self.files.items()}
        return _data_digest(digests, self.examples.sha256 if self.examples else "")


@dataclass(frozen=True, slots=True)
class FrozenVersion:
    """One copy, whole.

    Attributes:
        folder: where it lies.
        number: from 1, in the order in which the benchmark's data was frozen.
        benchmark, definition: id, and digest of the definition that reads it.
        data: one digest of all files.
        files: SHA-256 by name.
        examples: name and SHA-256 of the file of solved examples; empty if there is none.
        known, attested: as `Sources` has them.
        stamps: size and time of the last change (nanoseconds) of the files that were copied, by name.
        commitment: names the registered version; "" until it is registered.
        instances: how many it gives; 0 until it is registered.
    """

    folder: Path
    number: int
    benchmark: str
    definition: str
    data: str
    files: Mapping[str, str]
    examples: tuple[str, str] | tuple[()]
    known: Known
    attested: bool
    stamps: Mapping[str, list[int]] = field(default_factory=dict)
    commitment: str = ""
    instances: int = 0


@dataclass(frozen=True, slots=True)
class NewerData:
    """How the data as it lies differs from a version.

    Attributes:
        differs: whether any file is another one.
        rows: instances that the data gives beyond the version's; negative if fewer; None if it cannot be read now.
    """

    differs: bool
    rows: int | None = 0

    def __str__(self) -> str:
        if not self.differs:
            return "no newer rows"
        if self.rows is None:
            return "the data as it lies cannot be read"
        if not self.rows:
            return "as many rows lie there now, and not the same"
        count = f"{abs(self.rows):,} {'row' if abs(self.rows) == 1 else 'rows'}"
        return f"{count} fewer lie there now" if self.rows < 0 else _waiting(self.rows)


def _waiting(rows: int) -> str:
    return f"{rows:,} newer {'row waits' if rows == 1 else 'rows wait'}"


def find_sources(benchmark: Benchmark, site_data: Path) -> Sources:
    """Return the files that all required arguments of a benchmark read together, hashed.

    Raises:
        ConfigError: a required argument takes any value, so that nobody can say which files all of them are.
        BenchmarkError: data is missing or cannot be read, or it is the sample that travels with the agent.
    """
    choices = required_choices(benchmark)
    if not choices:
        raise ConfigError(
            f"{benchmark.id}: a required argument may have any value, so its data has no end",
            "List the argument's values in the benchmark's definition.",
        )
    files: dict[str, Hashed] = {}
    known: set[Known] = set()
    examples: Hashed | None = None
    is_attested = True
    for choice in choices:
        dataset = locate_dataset(benchmark, site_data, choice)
        if dataset.known in ("sample", "invented"):
            raise BenchmarkError(
                f"{benchmark.id}: there is only the sample that travels with the agent",
                f"Add the site's own data with `intramural datasets add {benchmark.id} PATH`.",
            )
        for name, path, digest in zip(dataset.names, dataset.paths, dataset.file_digests, strict=True):
            files[name] = Hashed(path, digest)
        known.add(dataset.known)
        examples = dataset.examples
        is_attested = is_attested and attested(benchmark, dataset, site_data)
    return Sources(
        files=dict(sorted(files.items())),
        examples=examples,
        known=known.pop() if len(known) == 1 else "unknown",
        attested=is_attested,
    )


def frozen_versions(site_data: Path, benchmark_id: str) -> list[FrozenVersion]:
    """Return all copies of a benchmark's data, registered or not, oldest first.

    Raises:
        BenchmarkError: the record of one is damaged.
    """
    place = _place(site_data, benchmark_id)
    if not place.is_dir():
        return []
    folders = [path for path in place.iterdir() if path.name.isdecimal() and path.is_dir()]
    return [_read_record(folder, benchmark_id) for folder in sorted(folders)]


def newest_frozen(benchmark: Benchmark, site_data: Path) -> FrozenVersion | None:
    """Return the newest registered version that exactly this definition reads; None if there is none.

    Raises:
        BenchmarkError: the record of a copy is damaged.
    """
    registered = [
        version
        for version in frozen_versions(site_data, benchmark.id)
        if version.commitment and version.definition == benchmark.digest
    ]
    return registered[-1] if registered else None


def freeze(benchmark: Benchmark, site_data: Path) -> FrozenVersion:
    """Copy a benchmark's data as it lies now. The newest copy is returned instead where it holds the same bytes.

    Raises:
        ConfigError, BenchmarkError: see `find_sources`; or a file changed while it was copied.
        StoreError: the disk refuses, or another command is adding data.
    """
    with locked(site_data):
        sources = find_sources(benchmark, site_data)
        versions = frozen_versions(site_data, benchmark.id)
        if versions and (versions[-1].definition, versions[-1].data) == (benchmark.digest, sources.digest):
            return versions[-1]
        number = versions[-1].number + 1 if versions else 1
        with _grown(_place(site_data, benchmark.id), f"{number:04d}") as growing:
            stamps = _copy_sources(sources, growing)
            version = FrozenVersion(
                folder=growing,
                number=number,
                benchmark=benchmark.id,
                definition=benchmark.digest,
                data=sources.digest,
                files={name: file.sha256 for name, file in sources.files.items()},
                examples=(sources.examples.path.name, sources.examples.sha256) if sources.examples else (),
                known=sources.known,
                attested=sources.attested,
                stamps=stamps,
            )
            _write_record(version)
        return replace(version, folder=_place(site_data, benchmark.id) / f"{number:04d}")


def mark_registered(version: FrozenVersion, commitment: str, instances: int) -> FrozenVersion:
    """Note that a copy is the registered version `commitment`; runs take it from now on. Raises StoreError."""
    registered = replace(version, commitment=commitment, instances=instances)
    _write_record(registered)
    return registered


def drop_frozen(version: FrozenVersion) -> None:
    """Take a copy away that was not registered."""
    # First out of sight in one step, so that a crash leaves no copy with half its files.
    away = version.folder.with_name(f".new-{secrets.token_hex(8)}")
    version.folder.rename(away)
    shutil.rmtree(away, ignore_errors=True)


def covers(version: FrozenVersion, benchmark: Benchmark, arguments: Mapping[str, str]) -> bool:
    """Whether a copy has the files that a run entry asks for: of an optional argument, its default's are frozen."""
    for name, argument in benchmark.arguments.items():
        chooses_file = any(f"{{{name}}}" in file.name for file in benchmark.files)
        if chooses_file and not argument.required and arguments.get(name, argument.default) != argument.default:
            return False
    return (version.benchmark, version.definition) == (benchmark.id, benchmark.digest)


def locate_frozen(benchmark: Benchmark, version: FrozenVersion, arguments: Mapping[str, str]) -> Dataset:
    """Return the files of a copy that a run reads, after hashing them.

    Raises:
        BenchmarkError: a file was changed, added or taken away since the data was frozen.
        ConfigError: an argument is unknown, or missing.
    """
    folder = version.folder / "files"
    if any(not (folder / name).is_file() for name in version.files):
        raise _changed_copy(version)
    place = folder / next(iter(version.files)) if benchmark.dataset_file is not None else folder
    own_arguments = {name: value for name, value in arguments.items() if name in benchmark.arguments}
    try:
        dataset = locate_dataset(benchmark, None, {**own_arguments, "data_path": str(place)})
    except BenchmarkError:
        raise _changed_copy(version) from None  # the message may name a file
    for name, digest in zip(dataset.names, dataset.file_digests, strict=True):
        if version.files.get(name) != digest:
            raise _changed_copy(version)
    digests = dict(zip(dataset.names, dataset.file_digests, strict=True))
    return replace(
        dataset,
        examples=_frozen_examples(version),
        digest=_joint(digests, version.examples[1] if version.examples else ""),
    )


def newer_data(benchmark: Benchmark, site_data: Path, version: FrozenVersion) -> NewerData:
    """Return how the data as it lies differs from a version; files with the size and time they had are not read."""
    try:
        if _stamps_are(benchmark, site_data, version):
            return NewerData(differs=False)
        sources = find_sources(benchmark, site_data)
        if sources.digest == version.data:
            return NewerData(differs=False)
        rows = count_instances(benchmark, lambda choice: locate_dataset(benchmark, site_data, choice))
    except (AgentError, OSError):
        return NewerData(differs=True, rows=None)
    return NewerData(differs=True, rows=rows - version.instances)


def count_instances(benchmark: Benchmark, locate: Callable[[Choice], Dataset]) -> int:
    """Return how many instances the data gives for all required arguments together. Raises BenchmarkError."""
    return sum(
        1
        for choice in required_choices(benchmark)
        for _ in iter_instances(benchmark, locate(choice), arguments=choice, examples=0)
    )


def _place(site_data: Path, benchmark_id: str) -> Path:
    return site_data / ".frozen" / benchmark_id


def _data_digest(files: Mapping[str, str], examples: str) -> str:
    """Return the digest of files by name; the same for one file as for several, so that no name is needed to tell."""
    return joint_digest({**files, _EXAMPLES: examples} if examples else files)


def _joint(digests: Mapping[str, str], examples: str) -> str:
    """Return the digest that a located dataset has, see `Dataset.digest`."""
    together = {**digests, _EXAMPLES: examples} if examples else digests
    return joint_digest(together) if len(together) > 1 else next(iter(together.values()))


def _stamps_are(benchmark: Benchmark, site_data: Path, version: FrozenVersion) -> bool:
    """Whether exactly the files that were copied lie there, as old and as large as they were."""
    if version.examples:
        return False  # they lie elsewhere
    if benchmark.dataset_file is not None:
        found = [benchmark.dataset_file]
    else:
        folder = site_data / benchmark.id
        found = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    present = sorted(_stamp(path) for path in found)
    return present == sorted(version.stamps.values())


def _stamp(path: Path) -> list[int]:
    state = path.stat()
    return [state.st_size, state.st_mtime_ns]


def _frozen_examples(version: FrozenVersion) -> Hashed | None:
    if not version.examples:
        return None
    name, digest = version.examples
    path = version.folder / _EXAMPLES / name
    if not path.is_file() or file_digest(path, "the frozen examples") != digest:
        raise _changed_copy(version)
    return Hashed(path, digest)


def _changed_copy(version: FrozenVersion) -> BenchmarkError:
    return BenchmarkError(
        f"{version.benchmark}: the frozen copy of version {version.number} is not as it was registered: a file of it "
        "was changed, added or taken away",
        _RESTORE,
    )


@contextmanager
def _grown(place: Path, name: str) -> Iterator[Path]:
    """Yield an empty folder that gets its name in `place` at the end of the `with` block, unless it raises.

    What an interrupted command left behind is taken away first.
    """
    try:
        for folder in (place.parent, place):
            folder.mkdir(mode=0o700, exist_ok=True)
        for left in place.glob(".new-*"):
            shutil.rmtree(left, ignore_errors=True)
        growing = place / f".new-{secrets.token_hex(8)}"
        growing.mkdir(mode=0o700)
        try:
            yield growing
            for folder in (path for path in growing.rglob("*") if path.is_dir()):
                sync_directory(folder)
            sync_directory(growing)
            growing.rename(place / name)
        except BaseException:
            shutil.rmtree(growing, ignore_errors=True)
            raise
        for folder in (place, place.parent, place.parent.parent):
            sync_directory(folder)
    except OSError as why:
        reason = why.strerror or type(why).__name__
        raise StoreError(f"the data cannot be frozen ({reason})", "Nothing was registered.") from None


def _copy_sources(sources: Sources, growing: Path) -> dict[str, list[int]]:
    """Copy all files; return size and time of each original."""
    stamps = {}
    for name, source in sources.files.items():
        stamps[name] = _stamp(source.path)
        _copy(source, growing / "files" / name)
    if sources.examples:
        _copy(sources.examples, growing / _EXAMPLES / sources.examples.path.name)
    return stamps


def _copy(source: Hashed, target: Path) -> None:
    """Copy a file, mode 0600. Raises BenchmarkError if it is not the one that was hashed any more."""
    _make_private(target.parent)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    digest = hashlib.sha256()
    with open_plain(source.path) as original, os.fdopen(handle, "wb") as copy:
        while chunk := original.read(_CHUNK):
            digest.update(chunk)
            copy.write(chunk)
        copy.flush()
        os.fsync(copy.fileno())
    if digest.hexdigest() != source.sha256:
        raise BenchmarkError("a file of the data changed while it was frozen", "Nothing was registered. Try again.")


def _make_private(folder: Path) -> None:
    """Make a folder and those above it, each mode 0700 (`mkdir` would leave the upper ones open to others)."""
    if not folder.is_dir():
        _make_private(folder.parent)
        folder.mkdir(mode=0o700)


def _write_record(version: FrozenVersion) -> None:
    body = {name: value for name, value in asdict(version).items() if name != "folder"}
    write_atomically(version.folder / _RECORD, (json.dumps(body, indent=2, sort_keys=True) + "\n").encode())


def _read_record(folder: Path, benchmark_id: str) -> FrozenVersion:
    try:
        content = read_bounded(folder / _RECORD, _LARGEST_RECORD, "the record of a frozen copy")
        body: Any = json.loads(content)
        examples = tuple(body.pop("examples"))
        version = FrozenVersion(folder=folder, examples=examples, **body)
        is_whole = _is_whole(version) and (version.number, version.benchmark) == (int(folder.name), benchmark_id)
    except (StoreError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        is_whole = False
    if not is_whole:
        raise BenchmarkError(
            f"{benchmark_id}: the record of the frozen copy of version {int(folder.name)} is damaged", _RESTORE
        )
    return version


def _is_whole(version: FrozenVersion) -> bool:
    """Whether a record has the form of one, and its digest is that of its files."""
    texts = (version.definition, version.data, version.commitment, *version.files, *version.files.values())
    names = [*version.files, *version.examples[:1]]
    return (
        all(isinstance(text, str) for text in (*texts, *version.examples))
        and len(version.examples) in (0, 2)
        and bool(version.files)
        and not any(Path(name).is_absolute() or ".." in Path(name).parts for name in names)
        and isinstance(version.instances, int)
        and isinstance(version.stamps, dict)
        and version.data == _data_digest(version.files, version.examples[1] if version.examples else "")
    )
