"""Add data to a site's benchmarks, completely or not at all, and only after reading all of it.

`data/<benchmark id>/` contains the files under the names that the benchmark reads. Its file `.dataset.json` records
their digests, sizes and modification times, the number of instances and, for data that needs a data use agreement,
the person who attested it.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from agent.catalog.benchmark import Benchmark
from agent.datasets.folder import list_data_files, read_stamp
from agent.datasets.load import Dataset, Known, locate_dataset
from agent.datasets.locate import locate_replaced_data
from agent.datasets.manage.examine import Choice, DatasetContents, examine, required_choices
from agent.datasets.manage.intake import copy_source
from agent.errors import AgentError, BenchmarkError, ConfigError
from agent.io.atomic_files import lock_folder, sync_directory, write_atomically

RECORD = ".dataset.json"
_MAX_RECORD = 16 * 2**20  # bytes
# Expected file names shown in a message; if there are more, only their number is shown.
_MAX_NAMES = 2

State = Literal["ready", "missing", "changed", "sample only", "not attested", "cannot be read"]


@dataclass(frozen=True, slots=True)
class Attestation:
    """The agreement under which the site may use the data, and the person who attests it."""

    agreement: str
    by: str


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """The record of added data, `.dataset.json`.

    `files` maps file names to SHA-256 digests. Times are in UTC and ISO format, or empty if nothing was attested.
    `stamps` contains the size and modification time (nanoseconds) of each file. Lists and checks treat a file with
    the same size and time as unchanged, but runs always hash the files.
    """

    files: Mapping[str, str]
    known: Known
    instances: int
    added_at: str
    agreement: str = ""
    attested_by: str = ""
    attested_at: str = ""
    stamps: Mapping[str, list[int]] = field(default_factory=dict)


Progress = Callable[[str], None]
"""A function called with the name of each part of a dataset before it is read."""


@dataclass(frozen=True, slots=True)
class AddedData:
    """Data that was added to the site. `left_out` counts the source files that the benchmark does not read."""

    record: DatasetRecord
    contents: DatasetContents
    left_out: int


@dataclass(frozen=True, slots=True)
class DataState:
    """The state of a benchmark's data at this site. `detail` describes the data or gives advice."""

    state: State
    detail: str
    instances: int | None = None


def check_may_hold(benchmark: Benchmark, attestation: Attestation | None) -> None:
    """Check that data of this benchmark may be added to a site.

    Raises:
        ConfigError: the definition names its own data file, or the data needs an agreement that is not attested.
    """
    if benchmark.dataset_file is not None:
        raise ConfigError(
            f"{benchmark.id}: the definition already names the benchmark's data file, {benchmark.dataset_file.name}",
            "Change that file, or give another file in the run entry with data_path=FILE.",
        )
    if benchmark.access == "gated" and attestation is None:
        raise ConfigError(
            f"{benchmark.id}: this data is gated. {describe_attestation(benchmark)}", _ATTEST_ADVICE
        )


_ATTEST_ADVICE = 'To attest this, add: --agreement "NAME AND VERSION OF THE AGREEMENT" --attested-by "YOUR NAME".'


def describe_attestation(benchmark: Benchmark) -> str:
    """Return the statement that a person attests by adding gated data."""
    agreement = benchmark.agreement or "the agreement of its owner"
    where = f" ({benchmark.agreement_url})" if benchmark.agreement_url else ""
    return (
        f"The person who adds it attests that this site has accepted {agreement}{where}, that it allows everyone who "
        "can run benchmarks here to see the data, and that it covers the model servers that receive the data."
    )


def add_data(
    benchmark: Benchmark,
    source: Path,
    site_data: Path,
    *,
    attestation: Attestation | None,
    replace: bool = False,
    progress: Progress = lambda _: None,
) -> AddedData:
    """Copy a benchmark's files from a file, folder or archive to the site, and check all of them.

    Raises:
        ConfigError: see `check_may_hold`; or the site already has data and `replace` is not set.
        BenchmarkError: files or rows are invalid, all of which are listed; the site's data is unchanged.
        StoreError: another command is adding data.
    """
    check_may_hold(benchmark, attestation)
    with stage_data(benchmark, site_data, replace=replace) as folder:
        copied = copy_source(source, benchmark, folder)
        record, contents = record_data(
            benchmark, folder, attestation, copied.source_names, progress
        )
    return AddedData(record, contents, copied.left_out)


@contextmanager
def stage_data(benchmark: Benchmark, site_data: Path, *, replace: bool) -> Iterator[Path]:
    """Yield an empty folder, and make it the benchmark's data folder if the `with` block succeeds.

    Raises:
        ConfigError: the site already has data and `replace` is not set.
        BenchmarkError: the folder cannot be written.
        StoreError: another command is adding data.
    """
    target = site_data / benchmark.id
    growing = site_data / f".{benchmark.id}.new"
    replaced = locate_replaced_data(site_data, benchmark.id)
    with lock_folder(site_data):
        try:
            _clean_up(target, growing, replaced)
            if not replace and holds_data(target):
                raise ConfigError(
                    f"{benchmark.id}: {target} already contains data",
                    "Use --replace to replace it.",
                )
            growing.mkdir(mode=0o700)
            yield growing
            if target.exists():
                target.rename(replaced)
            growing.rename(target)
            sync_directory(site_data)
        except OSError as why:
            reason = why.strerror or type(why).__name__
            raise BenchmarkError(
                f"{target}: cannot be written ({reason})", "Nothing was added."
            ) from None
        finally:
            _clean_up(target, growing, replaced)


def remove_data(benchmark: Benchmark, site_data: Path) -> int:
    """Delete a benchmark's data with its record, and return the number of files. Registered versions stay.

    Raises:
        ConfigError: the site has no data of this benchmark, or the definition names its own data file.
        BenchmarkError: the folder cannot be deleted.
        StoreError: another command is adding data.
    """
    if benchmark.dataset_file is not None:
        raise ConfigError(
            f"{benchmark.id}: the definition names the benchmark's data file, {benchmark.dataset_file.name}",
            "Delete that file yourself.",
        )
    target = site_data / benchmark.id
    replaced = locate_replaced_data(site_data, benchmark.id)
    with lock_folder(site_data):
        try:
            _clean_up(target, site_data / f".{benchmark.id}.new", replaced)
            if not holds_data(target):
                raise ConfigError(
                    f"{benchmark.id}: this site has no data of it", "There is nothing to remove."
                )
            count = len(list_data_files(target))
            # Files that are being deleted must not look like a dataset, and are not restored after a crash.
            deleted = site_data / f".{benchmark.id}.new"
            target.rename(deleted)
            sync_directory(site_data)
            shutil.rmtree(deleted)
        except OSError as why:
            reason = why.strerror or type(why).__name__
            raise BenchmarkError(
                f"{benchmark.id}: its data cannot be deleted ({reason})",
                "Nothing else was changed.",
            ) from None
    return count


def _clean_up(target: Path, growing: Path, replaced: Path) -> None:
    """Remove leftovers of an interrupted command, and restore the old data unless the new data replaced it."""
    shutil.rmtree(growing, ignore_errors=True)
    if replaced.exists() and not target.exists():
        replaced.rename(target)
    shutil.rmtree(replaced, ignore_errors=True)


def holds_data(folder: Path) -> bool:
    """Return whether a benchmark's folder contains anything except hidden files."""
    return folder.is_dir() and any(not path.name.startswith(".") for path in folder.iterdir())


def record_data(
    benchmark: Benchmark,
    folder: Path,
    attestation: Attestation | None,
    source_names: Mapping[str, str] | None = None,
    progress: Progress = lambda _: None,
) -> tuple[DatasetRecord, DatasetContents]:
    """Read all data in `folder` and write its record there.

    `source_names` maps the names of the files to their original names, which are used in messages.

    Raises:
        BenchmarkError: files or rows are invalid, all of which are listed.
    """
    try:
        contents = read_all(benchmark, folder, progress=progress)
    except BenchmarkError as why:
        lines = [_restore_name(line, source_names or {}) for line in str(why).splitlines()]
        advice = "Nothing was added. Correct these problems and add the data again."
        raise BenchmarkError("\n".join(lines), advice) from None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = DatasetRecord(
        files=_hash_files(folder),
        known=contents.known,
        instances=contents.instances,
        added_at=now,
        agreement=attestation.agreement if attestation else "",
        attested_by=attestation.by if attestation else "",
        attested_at=now if attestation else "",
        stamps={_relative_name(folder, path): read_stamp(path) for path in list_data_files(folder)},
    )
    write_atomically(
        folder / RECORD, (json.dumps(asdict(record), indent=2, sort_keys=True) + "\n").encode()
    )
    return record, contents


def _restore_name(line: str, source_names: Mapping[str, str]) -> str:
    """Replace the file name at the beginning of a message with its name in the source."""
    name, colon, message = line.partition(": ")
    return f"{source_names.get(name, name)}{colon}{message}"


def read_all(
    benchmark: Benchmark, folder: Path, *, keep: int = 0, progress: Progress = lambda _: None
) -> DatasetContents:
    """Read all data in `folder`, skipping values of required arguments that have no files there.

    Each combination of argument values is read separately, even if several combinations share a file. `progress` is
    called before each.

    Raises:
        BenchmarkError: no choice has files, or there are problems, all of which are listed.
    """
    choices = [
        choice for choice in required_choices(benchmark) if _has_files(benchmark, folder, choice)
    ]
    if not choices:
        raise BenchmarkError(
            f"{benchmark.id}: none of its files was found; expected {_list_expected(benchmark)}"
        )

    def locate(choice: Choice) -> Dataset:
        if len(choices) > 1:
            arguments = ", ".join(f"{name}={value}" for name, value in choice.items())
            progress(f"{arguments} ({choices.index(choice) + 1} of {len(choices)})")
        return locate_dataset(benchmark, None, {"data_path": str(folder), **choice})

    return examine(benchmark, choices, locate, keep=keep)


def _has_files(benchmark: Benchmark, folder: Path, choice: Choice) -> bool:
    """Return whether a file that belongs only to this choice exists; files shared by all combinations do not count."""
    patterns = []
    for file in benchmark.files:
        if any(f"{{{name}}}" in file.name for name in choice):
            patterns.append(_fill_pattern(file.name, choice, benchmark))
    if not patterns:
        return True
    return any(any(folder.glob(pattern)) for pattern in patterns)


def _fill_pattern(name: str, choice: Choice, benchmark: Benchmark) -> str:
    """Fill argument values into a file name: those in `choice`, and the defaults of the other arguments."""
    values = {key: argument.default or "*" for key, argument in benchmark.arguments.items()}
    values.update(choice)
    for key, value in values.items():
        name = name.replace(f"{{{key}}}", value)
    return name


def _hash_files(folder: Path, record: DatasetRecord | None = None) -> dict[str, str]:
    """Return the SHA-256 of every file by name.

    A file with the size and modification time in `record` is not read; its recorded digest is returned.
    """
    files: dict[str, str] = {}
    for path in list_data_files(folder):
        name = _relative_name(folder, path)
        if record and name in record.files and record.stamps.get(name) == read_stamp(path):
            files[name] = record.files[name]
            continue
        with path.open("rb") as file:
            files[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return files


def _relative_name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def read_record(site_data: Path, benchmark_id: str) -> DatasetRecord | None:
    """Return the record of added data, or None if the files were copied there by hand.

    Raises:
        BenchmarkError: the record is damaged.
    """
    path = site_data / benchmark_id / RECORD
    try:
        with path.open("rb") as file:
            record = DatasetRecord(**json.loads(file.read(_MAX_RECORD)))
        if not isinstance(record.files, dict) or not isinstance(record.stamps, dict):
            raise ValueError
        return record
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, RecursionError):
        raise BenchmarkError(
            f"{path}: this record of the data cannot be read", "Add the data again with --replace."
        ) from None


def check_data(benchmark: Benchmark, site_data: Path, *, verify: bool = False) -> DataState:
    """Return whether the benchmark's data exists, is unchanged since it was added and is attested if necessary.

    Files with an unchanged size and modification time, and files that were copied there by hand, are only read if
    `verify` is set.
    """
    folder = site_data / benchmark.id
    if benchmark.dataset_file is not None:
        # This text is shown and logged. It omits the file name, which may identify people.
        if not benchmark.dataset_file.is_file():
            return DataState("missing", "the file named in its definition")
        return DataState("ready", "your own data, the file named in its definition")
    if not folder.exists() and locate_replaced_data(site_data, benchmark.id).exists():
        return DataState(
            "cannot be read",
            "replacing the data was interrupted; add the data again with --replace",
        )
    if not holds_data(folder):
        return _describe_missing(benchmark)
    try:
        record = read_record(site_data, benchmark.id)
        is_compared = record is not None or verify
        digests = _hash_files(folder, None if verify else record) if is_compared else {}
    except (AgentError, OSError) as why:
        return DataState("cannot be read", str(why))
    changes = _count_changes(record.files, digests) if record else ""
    if record and changes:
        return DataState(
            "changed", f"{changes}; add the data again with --replace", record.instances
        )
    if benchmark.access == "gated" and (record is None or not record.attested_by):
        return DataState(
            "not attested",
            f"add the data again with attestation: datasets add {benchmark.id} PATH --replace",
        )
    if record is None:
        return DataState("ready", "copied there by hand, not checked")
    return DataState("ready", _describe_record(benchmark, record), record.instances)


def _describe_missing(benchmark: Benchmark) -> DataState:
    if is_fetchable(benchmark):
        advice = f"`intramural datasets fetch {benchmark.id}`"
    else:
        advice = f"{_list_expected(benchmark)} with `intramural datasets add {benchmark.id} PATH`"
    if benchmark.sample is None:
        return DataState("missing", advice)
    kind = "invented sample" if benchmark.sample_is_invented else "sample"
    return DataState("sample only", f"{kind}; {advice}", benchmark.sample.rows)


def is_attested(benchmark: Benchmark, dataset: Dataset, site_data: Path) -> bool:
    """Return whether these files need no data use agreement, or a person attested one for all of them.

    Raises:
        BenchmarkError: the record of the site's data is damaged.
    """
    if benchmark.access != "gated" or dataset.known in ("sample", "invented"):
        return True
    record = read_record(site_data, benchmark.id)
    if record is None or not record.attested_by:
        return False
    return set(dataset.file_digests) <= set(record.files.values())


def is_fetchable(benchmark: Benchmark) -> bool:
    """Return whether every required file of the benchmark is public and has a pinned address and digest."""
    needed = [file for file in benchmark.files if not file.optional]
    pinned = all(file.url.startswith("http") and file.sha256 for file in needed)
    return benchmark.access == "public" and bool(needed) and pinned


def describe_version(benchmark: Benchmark, known: Known) -> str:
    """Describe whether the data is a version that the benchmark's definition lists."""
    if known == "official":
        return "a known version"
    if benchmark.access == "private" and not benchmark.has_known_files:
        return "your own data"
    return (
        "not entirely a known version"
        if benchmark.has_known_files
        else "no published digest to compare with"
    )


def _describe_record(benchmark: Benchmark, record: DatasetRecord) -> str:
    details = [f"{describe_version(benchmark, record.known)}, added {record.added_at[:10]}"]
    if record.attested_by:
        details.append(f"{record.agreement}, attested by {record.attested_by}")
    for file in benchmark.files:
        for version in file.known:
            if version.note and version.sha256 in record.files.values():
                details.append(version.note)
    return "; ".join(dict.fromkeys(details))


def _count_changes(recorded: Mapping[str, str], present: Mapping[str, str]) -> str:
    """Describe how many files changed, are missing or are new; return "" if all are as recorded."""
    common = recorded.keys() & present.keys()
    counts = {
        "changed": sum(present[name] != recorded[name] for name in common),
        "missing": len(recorded.keys() - present.keys()),
        "new": len(present.keys() - recorded.keys()),
    }
    texts = [
        f"{count} {'file' if count == 1 else 'files'} {change}"
        for change, count in counts.items()
        if count
    ]
    return ", ".join(texts)


def _list_expected(benchmark: Benchmark) -> str:
    names = [file.name for file in benchmark.files]
    if len(names) > _MAX_NAMES:
        return f"{len(names)} files (see `intramural benchmarks show {benchmark.id}`)"
    return ", ".join(names) or "one file of your own"
