"""Frozen copies of a benchmark's data, so that a registered version keeps its files when the data changes.

Each copy is a folder such as `data/.frozen/<benchmark id>/0001/`, readable by its owner only:

    files/         exact copies of the data files, under the names that the benchmark reads
    examples/      the file of solved examples, if the definition names one
    .frozen.json   the benchmark and definition, the digest of each file, and, once the copy is registered,
                   the version's commitment

A copy is written under a temporary name and renamed when it is complete, so that a crash leaves no partial copy.
A copy without a commitment is not a version yet: runs ignore it, and the next registration finishes or removes it.
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
from agent.datasets.folder import HashedFile, hash_file, join_digests, list_data_files, read_stamp
from agent.datasets.load import Dataset, Known, iter_instances, locate_dataset
from agent.datasets.manage.examine import Choice, required_choices
from agent.datasets.manage.register import is_attested
from agent.errors import AgentError, BenchmarkError, ConfigError, StoreError
from agent.io.atomic_files import (
    lock_folder,
    open_plain,
    read_bounded,
    sync_directory,
    write_atomically,
)

_RECORD: Final = ".frozen.json"
_MAX_RECORD: Final = 16 * 2**20  # bytes
_CHUNK: Final = 2**20  # bytes
_FILES: Final = "files"
_EXAMPLES: Final = "examples"
_RESTORE: Final = (
    "Nothing was read. Restore the folder data/.frozen from a backup, or register the data again with `intramural "
    "datasets register`. `intramural run --unregistered` evaluates the current data, but its results cannot be "
    "submitted."
)


@dataclass(frozen=True, slots=True)
class Sources:
    """The current files of a benchmark's data, for all values of its required arguments.

    Attributes:
        files: the data files by the name that the benchmark reads, sorted by name.
        examples: the file of solved examples, if the definition names one.
        known: "official" if all files belong to versions that the benchmark's definition lists.
        attested: whether the data needs no data use agreement, or a person attested one.
    """

    files: Mapping[str, HashedFile]
    examples: HashedFile | None
    known: Known
    attested: bool

    @property
    def digest(self) -> str:
        """The digest of all files together."""
        return _digest_data(self.digests, self.examples.sha256 if self.examples else "")

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of each file, by name."""
        return {name: file.sha256 for name, file in self.files.items()}


@dataclass(frozen=True, slots=True)
class FrozenVersion:
    """One complete copy. All fields except the folder are keys of `.frozen.json`.

    Attributes:
        folder: the folder of the copy.
        number: the copy's number, counted from 1 for each benchmark.
        benchmark, definition: the benchmark's id, and the digest of the definition with which the copy is read.
        data: the digest of all files together.
        files: the SHA-256 of each file, by name.
        examples: the name and SHA-256 of the file of solved examples; empty if there is none.
        known, attested: see `Sources`.
        stamps: the size and modification time (nanoseconds) of the original files, by name.
        commitment: the commitment of the registered version; "" until it is registered.
        instances: the number of instances; 0 until the version is registered.
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

    @property
    def examples_digest(self) -> str:
        """The SHA-256 of the file of solved examples; empty if there is none."""
        return self.examples[1] if self.examples else ""


@dataclass(frozen=True, slots=True)
class NewerData:
    """The difference between the current data and a version.

    Attributes:
        differs: whether any file differs.
        rows: the current number of instances minus the version's; None if the data cannot be read.
    """

    differs: bool
    rows: int | None = 0

    def __str__(self) -> str:
        if not self.differs:
            return "no newer rows"
        if self.rows is None:
            return "the current data cannot be read"
        if not self.rows:
            return "the number of rows is the same, but the data differs"
        if self.rows > 0:
            return f"{self.rows:,} newer {'row' if self.rows == 1 else 'rows'}"
        missing = -self.rows
        return f"{missing:,} {'row' if missing == 1 else 'rows'} fewer than in the version"


def find_sources(benchmark: Benchmark, site_data: Path) -> Sources:
    """Find and hash the files that a benchmark reads for all values of its required arguments.

    Raises:
        ConfigError: a required argument can have any value, so the files cannot be listed.
        BenchmarkError: data is missing or cannot be read, or only the sample shipped with the agent exists.
    """
    choices = required_choices(benchmark)
    if not choices:
        raise ConfigError(
            f"{benchmark.id}: a required argument can have any value, so the benchmark's data files cannot be listed",
            "List the argument's values in the benchmark's definition.",
        )
    files: dict[str, HashedFile] = {}
    known: set[Known] = set()
    examples: HashedFile | None = None
    all_attested = True
    for choice in choices:
        dataset = locate_dataset(benchmark, site_data, choice)
        if dataset.known in ("sample", "invented"):
            raise BenchmarkError(
                f"{benchmark.id}: only the sample that is shipped with the agent is available",
                f"Add the site's own data with `intramural datasets add {benchmark.id} PATH`.",
            )
        for name, path, digest in zip(
            dataset.names, dataset.paths, dataset.file_digests, strict=True
        ):
            files[name] = HashedFile(path, digest)
        known.add(dataset.known)
        examples = dataset.examples
        all_attested = all_attested and is_attested(benchmark, dataset, site_data)
    return Sources(
        files=dict(sorted(files.items())),
        examples=examples,
        known=known.pop() if len(known) == 1 else "unknown",
        attested=all_attested,
    )


def read_frozen_versions(site_data: Path, benchmark_id: str) -> list[FrozenVersion]:
    """Return all copies of a benchmark's data, registered or not, oldest first.

    Raises:
        BenchmarkError: the record of a copy is damaged.
    """
    copies = _copies_folder(site_data, benchmark_id)
    if not copies.is_dir():
        return []
    # The names of temporary copies begin with a dot.
    folders = [path for path in copies.iterdir() if path.name.isdecimal() and path.is_dir()]
    return [_read_record(folder, benchmark_id) for folder in sorted(folders)]


def find_newest_frozen(benchmark: Benchmark, site_data: Path) -> FrozenVersion | None:
    """Return the newest registered version made with exactly this definition, or None.

    Raises:
        BenchmarkError: the record of a copy is damaged.
    """
    for version in reversed(read_frozen_versions(site_data, benchmark.id)):
        if version.commitment and version.definition == benchmark.digest:
            return version
    return None


def freeze(benchmark: Benchmark, site_data: Path) -> FrozenVersion:
    """Copy a benchmark's current data, or return the newest copy if it already contains the same bytes.

    Raises:
        ConfigError, BenchmarkError: see `find_sources`; or a file changed while it was copied.
        StoreError: the copy cannot be written, or another command is adding data.
    """
    with lock_folder(site_data):
        sources = find_sources(benchmark, site_data)
        versions = read_frozen_versions(site_data, benchmark.id)
        newest = versions[-1] if versions else None
        if newest and newest.definition == benchmark.digest and newest.data == sources.digest:
            return newest
        number = newest.number + 1 if newest else 1
        copies = _copies_folder(site_data, benchmark.id)
        name = f"{number:04d}"
        with _create_copy(copies, name) as folder:
            stamps = _copy_sources(sources, folder)
            version = FrozenVersion(
                folder=folder,
                number=number,
                benchmark=benchmark.id,
                definition=benchmark.digest,
                data=sources.digest,
                files=sources.digests,
                examples=(sources.examples.path.name, sources.examples.sha256)
                if sources.examples
                else (),
                known=sources.known,
                attested=sources.attested,
                stamps=stamps,
            )
            _write_record(version)
        return replace(version, folder=copies / name)


def mark_registered(version: FrozenVersion, commitment: str, instances: int) -> FrozenVersion:
    """Record that a copy is the registered version `commitment`, so that runs use it from now on.

    Raises:
        StoreError: the record cannot be written.
    """
    registered = replace(version, commitment=commitment, instances=instances)
    _write_record(registered)
    return registered


def drop_frozen(version: FrozenVersion) -> None:
    """Remove a copy that was not registered."""
    # Rename the folder first, in one step, so that a crash cannot leave a version with missing files.
    discarded = version.folder.with_name(f".new-{secrets.token_hex(8)}")
    version.folder.rename(discarded)
    shutil.rmtree(discarded, ignore_errors=True)


def has_files_for(
    version: FrozenVersion, benchmark: Benchmark, arguments: Mapping[str, str]
) -> bool:
    """Return whether a copy has the files that a run entry reads.

    For an optional argument, only the files for its default value are frozen.
    """
    if version.benchmark != benchmark.id or version.definition != benchmark.digest:
        return False
    for name, argument in benchmark.arguments.items():
        if argument.required or not benchmark.names_files_by(name):
            continue
        if arguments.get(name, argument.default) != argument.default:
            return False
    return True


def locate_frozen(
    benchmark: Benchmark, version: FrozenVersion, arguments: Mapping[str, str]
) -> Dataset:
    """Check the digests of the frozen files that a run reads, and return the files as a dataset.

    Raises:
        BenchmarkError: a file was changed, added or removed since the data was frozen.
        ConfigError: an argument is unknown or missing.
    """
    folder = version.folder / _FILES
    for name in version.files:
        if not (folder / name).is_file():
            raise _changed_copy(version)
    data_path = folder if benchmark.dataset_file is None else folder / next(iter(version.files))
    run_arguments = {
        name: value for name, value in arguments.items() if name in benchmark.arguments
    }
    run_arguments["data_path"] = str(data_path)
    try:
        dataset = locate_dataset(benchmark, None, run_arguments)
    except BenchmarkError:
        raise _changed_copy(version) from None  # the original message may contain a file name
    digests = dict(zip(dataset.names, dataset.file_digests, strict=True))
    for name, digest in digests.items():
        if version.files.get(name) != digest:
            raise _changed_copy(version)
    examples = _locate_examples(version)
    return replace(
        dataset, examples=examples, digest=_digest_dataset(digests, version.examples_digest)
    )


def find_newer_data(benchmark: Benchmark, site_data: Path, version: FrozenVersion) -> NewerData:
    """Return the difference between the current data and a version.

    No file is read if all of them still have the name, size and modification time they had when copied.
    """
    try:
        if _has_same_stamps(benchmark, site_data, version):
            return NewerData(differs=False)
        sources = find_sources(benchmark, site_data)
        if sources.digest == version.data:
            return NewerData(differs=False)
        rows = count_instances(
            benchmark, lambda choice: locate_dataset(benchmark, site_data, choice)
        )
    except (AgentError, OSError):
        return NewerData(differs=True, rows=None)
    return NewerData(differs=True, rows=rows - version.instances)


def describe_registration(benchmark: Benchmark, site_data: Path) -> str:
    """Return the newest registered version of a benchmark with what is newer, "no" if there is none, or a fault."""
    try:
        version = find_newest_frozen(benchmark, site_data)
    except BenchmarkError as error:
        return str(error)
    if version is None:
        return "no"
    return f"version {version.number}; {find_newer_data(benchmark, site_data, version)}"


def count_instances(benchmark: Benchmark, locate: Callable[[Choice], Dataset]) -> int:
    """Return the total number of instances for all values of the required arguments.

    Raises:
        BenchmarkError: the data cannot be read.
    """
    count = 0
    for choice in required_choices(benchmark):
        for _ in iter_instances(benchmark, locate(choice), arguments=choice, examples=0):
            count += 1
    return count


def _copies_folder(site_data: Path, benchmark_id: str) -> Path:
    return site_data / ".frozen" / benchmark_id


def _digest_data(files: Mapping[str, str], examples: str) -> str:
    """Return the digest of all files together, computed in the same way for one file as for several."""
    return join_digests({**files, _EXAMPLES: examples} if examples else files)


def _digest_dataset(files: Mapping[str, str], examples: str) -> str:
    """Return the value of `Dataset.digest` for these files."""
    if len(files) == 1 and not examples:
        return next(iter(files.values()))
    return _digest_data(files, examples)


def _has_same_stamps(benchmark: Benchmark, site_data: Path, version: FrozenVersion) -> bool:
    """Return whether the data's files have the names, sizes and modification times of the copied files."""
    if version.examples:
        return False  # the file of solved examples is not in the data folder
    if benchmark.dataset_file is not None:
        paths = {benchmark.dataset_file.name: benchmark.dataset_file}
    else:
        folder = site_data / benchmark.id
        paths = {path.relative_to(folder).as_posix(): path for path in list_data_files(folder)}
    # Compare by name, because swapping or renaming files keeps all sizes and times.
    return {name: read_stamp(path) for name, path in paths.items()} == version.stamps


def _locate_examples(version: FrozenVersion) -> HashedFile | None:
    if not version.examples:
        return None
    name, digest = version.examples
    path = version.folder / _EXAMPLES / name
    if not path.is_file() or hash_file(path, "the frozen examples") != digest:
        raise _changed_copy(version)
    return HashedFile(path, digest)


def _changed_copy(version: FrozenVersion) -> BenchmarkError:
    return BenchmarkError(
        f"{version.benchmark}: the frozen copy of version {version.number} is not as it was registered: one of its "
        "files was changed, added or removed",
        _RESTORE,
    )


@contextmanager
def _create_copy(copies: Path, name: str) -> Iterator[Path]:
    """Yield an empty folder, and rename it to `name` in `copies` if the `with` block succeeds.

    Leftovers of an interrupted command are removed first.
    """
    try:
        for folder in (copies.parent, copies):
            folder.mkdir(mode=0o700, exist_ok=True)
        for interrupted in copies.glob(".new-*"):
            shutil.rmtree(interrupted, ignore_errors=True)
        temporary = copies / f".new-{secrets.token_hex(8)}"
        temporary.mkdir(mode=0o700)
        try:
            yield temporary
            for path in temporary.rglob("*"):
                if path.is_dir():
                    sync_directory(path)
            sync_directory(temporary)
            temporary.rename(copies / name)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        # Any of these folders may be new, and a new folder is durable only once its parent is synced.
        for folder in (copies, copies.parent, copies.parent.parent):
            sync_directory(folder)
    except OSError as why:
        reason = why.strerror or type(why).__name__
        raise StoreError(
            f"the data cannot be frozen ({reason})", "Nothing was registered."
        ) from None


def _copy_sources(sources: Sources, folder: Path) -> dict[str, list[int]]:
    """Copy all files, and return the size and modification time of each original data file."""
    stamps = {}
    for name, source in sources.files.items():
        stamps[name] = read_stamp(source.path)
        _copy_file(source, folder / _FILES / name)
    if sources.examples:
        _copy_file(sources.examples, folder / _EXAMPLES / sources.examples.path.name)
    return stamps


def _copy_file(source: HashedFile, target: Path) -> None:
    """Copy a file with mode 0600.

    Raises:
        BenchmarkError: the file changed since it was hashed.
    """
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
        raise BenchmarkError(
            "a data file changed while it was being copied", "Nothing was registered. Try again."
        )


def _make_private(folder: Path) -> None:
    """Create a folder and its missing parents with mode 0700.

    `mkdir(parents=True)` would create the parents with default permissions.
    """
    if not folder.is_dir():
        _make_private(folder.parent)
        folder.mkdir(mode=0o700)


def _write_record(version: FrozenVersion) -> None:
    body = asdict(version)
    del body["folder"]
    write_atomically(
        version.folder / _RECORD, (json.dumps(body, indent=2, sort_keys=True) + "\n").encode()
    )


def _read_record(folder: Path, benchmark_id: str) -> FrozenVersion:
    try:
        content = read_bounded(folder / _RECORD, _MAX_RECORD, "the record of a frozen copy")
        body: Any = json.loads(content)
        examples = tuple(body.pop("examples"))
        version = FrozenVersion(folder=folder, examples=examples, **body)
        is_valid = (
            version.number == int(folder.name)
            and version.benchmark == benchmark_id
            and _has_valid_types(version)
            and _has_safe_names(version)
            and version.data == _digest_data(version.files, version.examples_digest)
        )
    except (StoreError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        is_valid = False
    if not is_valid:
        raise BenchmarkError(
            f"{benchmark_id}: the record of the frozen copy of version {int(folder.name)} is damaged",
            _RESTORE,
        )
    return version


def _has_valid_types(version: FrozenVersion) -> bool:
    texts = [version.definition, version.data, version.commitment]
    texts += [*version.files, *version.files.values(), *version.examples]
    return (
        all(isinstance(text, str) for text in texts)
        and len(version.examples) in (0, 2)
        and bool(version.files)
        and isinstance(version.instances, int)
        and isinstance(version.stamps, dict)
    )


def _has_safe_names(version: FrozenVersion) -> bool:
    """Return whether all file names are inside the copy, so that a forged record cannot make a run read other files."""
    for name in (*version.files, *version.examples[:1]):
        path = Path(name)
        if path.is_absolute() or ".." in path.parts:
            return False
    return True
