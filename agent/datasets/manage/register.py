"""The data of a site's benchmarks: added completely or not at all, after all of it was read, and recorded.

`data/<benchmark id>/` holds the files under the names that the benchmark reads, and `.dataset.json`: their digests,
sizes and times, the number of instances, and, for data that needs an agreement, the person who attested it.
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
_MAX_NAMES = 2  # of expected files in one line; with more of them, only their number is shown

State = Literal["ready", "missing", "changed", "sample only", "not attested", "cannot be read"]


@dataclass(frozen=True, slots=True)
class Attestation:
    """Who says that the site may use the data, and under which agreement."""

    agreement: str
    by: str


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """The record of added data, `.dataset.json`.

    `files` is SHA-256 by name; times are UTC in ISO form, empty where nothing was attested. `stamps` is the size and
    the time of the last change (nanoseconds) of each file: a file that still has both counts as unchanged in lists and
    checks. Runs read and hash every byte all the same.
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
"""Called with the name of each part of a dataset before it is read."""


@dataclass(frozen=True, slots=True)
class AddedData:
    """Data that was added to the site. `left_out` counts files of the source that the benchmark does not read."""

    record: DatasetRecord
    contents: DatasetContents
    left_out: int


@dataclass(frozen=True, slots=True)
class DataState:
    """Whether a benchmark can be run here on whole data; `detail` is advice, or describes the data."""

    state: State
    detail: str
    instances: int | None = None


def check_may_hold(benchmark: Benchmark, attestation: Attestation | None) -> None:
    """Check that data of this benchmark may be added to a site.

    Raises:
        ConfigError: its data is a file that its definition names; or it needs an agreement and nobody attests it.
    """
    if benchmark.dataset_file is not None:
        raise ConfigError(
            f"{benchmark.id}: its definition names its data, {benchmark.dataset_file.name}",
            "Change that file, or name another one in the run entry with data_path=FILE.",
        )
    if benchmark.access == "gated" and attestation is None:
        raise ConfigError(
            f"{benchmark.id}: this data is gated. {describe_attestation(benchmark)}", _ATTEST_ADVICE
        )


_ATTEST_ADVICE = (
    'If that is so: --agreement "NAME AND VERSION OF THE AGREEMENT" --attested-by "YOUR NAME".'
)


def describe_attestation(benchmark: Benchmark) -> str:
    """Return the sentence that a person attests by adding gated data."""
    agreement = benchmark.agreement or "the agreement of its owner"
    where = f" ({benchmark.agreement_url})" if benchmark.agreement_url else ""
    return (
        f"Whoever adds it attests that this site has accepted {agreement}{where}, that everybody who can run "
        "benchmarks here may see the data under it, and that model servers it is sent to are covered by it."
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
    """Copy a benchmark's files from a file, a folder or an archive into the site, after reading all of them.

    Raises:
        ConfigError: see `check_may_hold`; or there is data already and `replace` is not set.
        BenchmarkError: a file or row is wrong, each named; the site's data is as it was.
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
    """Yield an empty folder that becomes the benchmark's data at the end of the `with` block, unless it raises.

    Raises:
        ConfigError: there is data already and `replace` is not set.
        BenchmarkError: the disk refuses.
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
                    f"{benchmark.id}: there is data already in {target}",
                    "Give --replace to replace it.",
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


def _clean_up(target: Path, growing: Path, replaced: Path) -> None:
    """Remove the remains of an interrupted command; put the old data back if the new data did not replace it."""
    shutil.rmtree(growing, ignore_errors=True)
    if replaced.exists() and not target.exists():
        replaced.rename(target)
    shutil.rmtree(replaced, ignore_errors=True)


def holds_data(folder: Path) -> bool:
    """Tell whether a benchmark's folder has anything in it besides hidden files."""
    return folder.is_dir() and any(not path.name.startswith(".") for path in folder.iterdir())


def record_data(
    benchmark: Benchmark,
    folder: Path,
    attestation: Attestation | None,
    source_names: Mapping[str, str] | None = None,
    progress: Progress = lambda _: None,
) -> tuple[DatasetRecord, DatasetContents]:
    """Read everything in `folder` and write its record there; `source_names` are the names that its files had before.

    Raises:
        BenchmarkError: a file or row is wrong, each file named as it was in the source.
    """
    try:
        contents = read_all(benchmark, folder, progress=progress)
    except BenchmarkError as why:
        lines = [_restore_name(line, source_names or {}) for line in str(why).splitlines()]
        advice = "Nothing was added. Correct what is named and add the data again."
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
    """Begin a message about a file with the name that the file had in the source."""
    name, colon, message = line.partition(": ")
    return f"{source_names.get(name, name)}{colon}{message}"


def read_all(
    benchmark: Benchmark, folder: Path, *, keep: int = 0, progress: Progress = lambda _: None
) -> DatasetContents:
    """Read all of the data in `folder`, but skip choices of required arguments whose files are not there.

    Every choice is read by itself, also where several read the same file: `progress` is called for each.

    Raises:
        BenchmarkError: lists all problems of all choices; or no choice has files.
    """
    choices = [
        choice for choice in required_choices(benchmark) if _has_files(benchmark, folder, choice)
    ]
    if not choices:
        raise BenchmarkError(
            f"{benchmark.id}: none of its files is there; expected {_list_expected(benchmark)}"
        )

    def locate(choice: Choice) -> Dataset:
        if len(choices) > 1:
            arguments = ", ".join(f"{name}={value}" for name, value in choice.items())
            progress(f"{arguments} ({choices.index(choice) + 1} of {len(choices)})")
        return locate_dataset(benchmark, None, {"data_path": str(folder), **choice})

    return examine(benchmark, choices, locate, keep=keep)


def _has_files(benchmark: Benchmark, folder: Path, choice: Choice) -> bool:
    """Tell whether a file that belongs to this choice alone is there; files for all choices do not count."""
    patterns = []
    for file in benchmark.files:
        if any(f"{{{name}}}" in file.name for name in choice):
            patterns.append(_fill_pattern(file.name, choice, benchmark))
    if not patterns:
        return True
    return any(any(folder.glob(pattern)) for pattern in patterns)


def _fill_pattern(name: str, choice: Choice, benchmark: Benchmark) -> str:
    """Fill a choice and the defaults of all other arguments into a file's name."""
    values = {key: argument.default or "*" for key, argument in benchmark.arguments.items()}
    values.update(choice)
    for key, value in values.items():
        name = name.replace(f"{{{key}}}", value)
    return name


def _hash_files(folder: Path, record: DatasetRecord | None = None) -> dict[str, str]:
    """Return the SHA-256 of every file by name; a file whose size and time are those of its `record` is not read."""
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
    """Return the record of added data; None if a person copied the files there by hand.

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
            f"{path}: the record of the data cannot be read", "Add the data again with --replace."
        ) from None


def check_data(benchmark: Benchmark, site_data: Path, *, verify: bool = False) -> DataState:
    """Return whether the benchmark's data is here, unchanged since it was added, and attested where that is needed.

    Files with the size and time that they had when they were added are read only to `verify` them.
    """
    folder = site_data / benchmark.id
    if benchmark.dataset_file is not None:
        # Without the file's name, which may say whose data it is: this text is shown and logged.
        if not benchmark.dataset_file.is_file():
            return DataState("missing", "the file that its definition names")
        return DataState("ready", "your own data, the file that its definition names")
    if not folder.exists() and locate_replaced_data(site_data, benchmark.id).exists():
        return DataState(
            "cannot be read", "replacing it was interrupted: add it again with --replace"
        )
    if not holds_data(folder):
        return _describe_missing(benchmark)
    try:
        record = read_record(site_data, benchmark.id)
        digests = _hash_files(folder, None if verify else record)
    except (AgentError, OSError) as why:
        return DataState("cannot be read", str(why))
    changes = _count_changes(record.files, digests) if record else ""
    if record and changes:
        return DataState("changed", f"{changes}; add it again with --replace", record.instances)
    if benchmark.access == "gated" and (record is None or not record.attested_by):
        return DataState(
            "not attested",
            f"add it again: datasets add {benchmark.id} PATH --replace, with attestation",
        )
    if record is None:
        return DataState("ready", "put there by hand, not checked")
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
    """Tell whether the site may use these files: they need no agreement, or a person attested one for all of them.

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
    """Tell whether every file that the benchmark needs is public and has a pinned address and digest."""
    needed = [file for file in benchmark.files if not file.optional]
    pinned = all(file.url.startswith("http") and file.sha256 for file in needed)
    return benchmark.access == "public" and bool(needed) and pinned


def describe_version(benchmark: Benchmark, known: Known) -> str:
    """Describe whether data is of a version that the benchmark knows, where it knows any."""
    if known == "official":
        return "a version this benchmark knows"
    if benchmark.access == "private" and not benchmark.has_known_files:
        return "your own data"
    return (
        "not wholly a version it knows"
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
    """Return the numbers of files that changed, are gone or are new, in words; empty if all are as recorded."""
    common = recorded.keys() & present.keys()
    counts = {
        "changed": sum(present[name] != recorded[name] for name in common),
        "gone": len(recorded.keys() - present.keys()),
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
    return ", ".join(names) or "one file of yours"
