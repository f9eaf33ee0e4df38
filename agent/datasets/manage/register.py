"""What data a site has for each benchmark: put in whole or not at all, read completely first, and recorded.

`data/<benchmark id>/` holds the files under the names that the benchmark reads, and `.dataset.json`: their digests,
sizes and times, how many instances they gave, and, for data that needs an agreement, who attested it.
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
from agent.datasets.load import Dataset, Known, locate_dataset
from agent.datasets.locate import set_aside
from agent.datasets.manage.examine import Choice, Examined, examine, required_choices
from agent.datasets.manage.intake import TakenIn, take_in
from agent.errors import AgentError, BenchmarkError, ConfigError
from agent.io.atomic_files import locked, sync_directory, write_atomically

RECORD = ".dataset.json"
_LARGEST_RECORD = 16 * 2**20  # bytes
_MOST_NAMES = 2  # files that are named where only their number would do

State = Literal["ready", "missing", "changed", "sample only", "not attested", "cannot be read"]


@dataclass(frozen=True, slots=True)
class Attestation:
    """Who says that the site may use the data, and under which agreement."""

    agreement: str
    by: str


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """What was put in. `files` is SHA-256 by name; times are UTC in ISO form, empty where nothing was attested.

    `stamps` is the size and the time of the last change (nanoseconds) of each file: one that still has both is taken
    for unchanged where somebody only looks. Runs read and hash every byte all the same.
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
"""Called before each part of a dataset is read, with what is read."""


@dataclass(frozen=True, slots=True)
class Added:
    """What `put_in` did. `left_out` counts files of the source that the benchmark does not read."""

    record: DatasetRecord
    found: Examined
    left_out: int


@dataclass(frozen=True, slots=True)
class DataState:
    """Whether a benchmark can be run here on whole data; `detail` says what to do or what is known."""

    state: State
    detail: str
    instances: int | None = None


def check_may_hold(benchmark: Benchmark, attestation: Attestation | None) -> None:
    """See whether data of this benchmark may be put into a site.

    Raises:
        ConfigError: its data is a file that its definition names; or it needs an agreement and nobody attests it.
    """
    if benchmark.dataset_file is not None:
        raise ConfigError(
            f"{benchmark.id}: its definition names its data, {benchmark.dataset_file.name}",
            "Change that file, or name another one in the run entry with data_path=FILE.",
        )
    if benchmark.access == "gated" and attestation is None:
        raise ConfigError(f"{benchmark.id}: this data is gated. {attested_text(benchmark)}", _ATTEST_ADVICE)


_ATTEST_ADVICE = 'If that is so: --agreement "NAME AND VERSION OF THE AGREEMENT" --attested-by "YOUR NAME".'


def attested_text(benchmark: Benchmark) -> str:
    """Return what somebody attests who puts gated data in."""
    agreement = benchmark.agreement or "the agreement of its owner"
    where = f" ({benchmark.agreement_url})" if benchmark.agreement_url else ""
    return (
        f"Whoever adds it attests that this site has accepted {agreement}{where}, that everybody who can run "
        "benchmarks here may see the data under it, and that model servers it is sent to are covered by it."
    )


def put_in(
    benchmark: Benchmark,
    source: Path,
    site_data: Path,
    *,
    attestation: Attestation | None,
    replace: bool = False,
    progress: Progress = lambda _: None,
) -> Added:
    """Copy a benchmark's files from a file, a folder or an archive into the site, after reading all of them.

    Raises:
        ConfigError: see `check_may_hold`; or there is data already and `replace` is not set.
        BenchmarkError: a file or row is wrong, each named; the site's data is as it was.
        StoreError: another command is adding data.
    """
    check_may_hold(benchmark, attestation)
    with staged(benchmark, site_data, replace=replace) as folder:
        taken = take_in(source, benchmark, folder)
        record, found = accept(benchmark, folder, attestation, taken, progress)
    return Added(record, found, taken.left_out)


@contextmanager
def staged(benchmark: Benchmark, site_data: Path, *, replace: bool) -> Iterator[Path]:
    """Yield an empty folder that becomes the benchmark's data at the end of the `with` block, unless it raises.

    Raises:
        ConfigError: there is data already and `replace` is not set.
        BenchmarkError: the disk refuses.
        StoreError: another command is adding data.
    """
    target, growing = site_data / benchmark.id, site_data / f".{benchmark.id}.new"
    replaced = set_aside(site_data, benchmark.id)
    with locked(site_data):
        try:
            _tidy(target, growing, replaced)
            if not replace and holds_data(target):
                raise ConfigError(f"{benchmark.id}: there is data already in {target}", "Give --replace to replace it.")
            growing.mkdir(mode=0o700)
            yield growing
            if target.exists():
                target.rename(replaced)
            growing.rename(target)
            sync_directory(site_data)
        except OSError as why:
            reason = why.strerror or type(why).__name__
            raise BenchmarkError(f"{target}: cannot be written ({reason})", "Nothing was added.") from None
        finally:
            _tidy(target, growing, replaced)


def _tidy(target: Path, growing: Path, replaced: Path) -> None:
    """Take away what an interrupted command left; the old data comes back if the new did not take its place."""
    shutil.rmtree(growing, ignore_errors=True)
    if replaced.exists() and not target.exists():
        replaced.rename(target)
    shutil.rmtree(replaced, ignore_errors=True)


def holds_data(folder: Path) -> bool:
    """Tell whether there is any file in a benchmark's folder besides hidden ones."""
    return folder.is_dir() and any(not path.name.startswith(".") for path in folder.iterdir())


def accept(
    benchmark: Benchmark,
    folder: Path,
    attestation: Attestation | None,
    taken: TakenIn | None = None,
    progress: Progress = lambda _: None,
) -> tuple[DatasetRecord, Examined]:
    """Read everything in `folder` and write its record there; `taken` says what its files were called before.

    Raises:
        BenchmarkError: a file or row is wrong, each named as whoever handed it over calls it.
    """
    try:
        found = read_all(benchmark, folder, progress=progress)
    except BenchmarkError as why:
        said = "\n".join(_as_given(line, taken.given if taken else {}) for line in str(why).splitlines())
        raise BenchmarkError(said, "Nothing was added. Correct what is named and add the data again.") from None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = DatasetRecord(
        files=_digests(folder),
        known=found.known,
        instances=found.instances,
        added_at=now,
        agreement=attestation.agreement if attestation else "",
        attested_by=attestation.by if attestation else "",
        attested_at=now if attestation else "",
        stamps={path.relative_to(folder).as_posix(): _stamp(path) for path in _data_files(folder)},
    )
    write_atomically(folder / RECORD, (json.dumps(asdict(record), indent=2, sort_keys=True) + "\n").encode())
    return record, found


def _as_given(line: str, given: Mapping[str, str]) -> str:
    """Put the name that a file had before at the beginning of a message about it."""
    name, colon, rest = line.partition(": ")
    return f"{given.get(name, name)}{colon}{rest}"


def read_all(benchmark: Benchmark, folder: Path, *, keep: int = 0, progress: Progress = lambda _: None) -> Examined:
    """Read all of the data in `folder`; choices of required arguments whose files are not there are passed over.

    Every choice is read by itself, also where several read the same file: `progress` is told of each.

    Raises:
        BenchmarkError: lists what is wrong with all of them; or there is none.
    """
    choices = [choice for choice in required_choices(benchmark) if _is_there(benchmark, folder, choice)]
    if not choices:
        raise BenchmarkError(f"{benchmark.id}: none of its files is there; expected {_expected(benchmark)}")

    def locate(choice: Choice) -> Dataset:
        if len(choices) > 1:
            named = ", ".join(f"{name}={value}" for name, value in choice.items())
            progress(f"{named} ({choices.index(choice) + 1} of {len(choices)})")
        return locate_dataset(benchmark, None, {"data_path": str(folder), **choice})

    return examine(benchmark, choices, locate, keep=keep)


def _is_there(benchmark: Benchmark, folder: Path, choice: Choice) -> bool:
    """Tell whether a file that belongs to this choice alone is there; files for all choices do not count."""
    own = [file.name for file in benchmark.files if any(f"{{{name}}}" in file.name for name in choice)]
    return not own or any(any(folder.glob(_filled(name, choice, benchmark))) for name in own)


def _filled(name: str, choice: Choice, benchmark: Benchmark) -> str:
    defaults = {key: argument.default or "*" for key, argument in benchmark.arguments.items()}
    for key, value in {**defaults, **choice}.items():
        name = name.replace(f"{{{key}}}", value)
    return name


def _digests(folder: Path, unchanged: DatasetRecord | None = None) -> dict[str, str]:
    """Return the SHA-256 of every file; one that has size and time as in the record `unchanged` is not read."""
    files: dict[str, str] = {}
    for path in _data_files(folder):
        name = path.relative_to(folder).as_posix()
        if unchanged and name in unchanged.files and unchanged.stamps.get(name) == _stamp(path):
            files[name] = unchanged.files[name]
            continue
        with path.open("rb") as file:
            files[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return files


def _data_files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(".")]


def _stamp(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]


def read_record(site_data: Path, benchmark_id: str) -> DatasetRecord | None:
    """Return what was recorded when the data was put in; None if it was put there by hand.

    Raises:
        BenchmarkError: the record is damaged.
    """
    path = site_data / benchmark_id / RECORD
    try:
        with path.open("rb") as file:
            record = DatasetRecord(**json.loads(file.read(_LARGEST_RECORD)))
        if not isinstance(record.files, dict) or not isinstance(record.stamps, dict):
            raise ValueError
        return record
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, RecursionError):
        raise BenchmarkError(
            f"{path}: the record of the data cannot be read", "Add the data again with --replace."
        ) from None


def data_state(benchmark: Benchmark, site_data: Path, *, verify: bool = False) -> DataState:
    """Say whether the benchmark's data is here, as it was put in, and attested where that is needed.

    Files that have the size and time they were put in with are read only to `verify` them.
    """
    folder = site_data / benchmark.id
    expected = f"{_expected(benchmark)} with `intramural datasets add {benchmark.id} PATH`"
    if benchmark.dataset_file is not None:  # whose data it is may stand in its name, and this is shown and logged
        if not benchmark.dataset_file.is_file():
            return DataState("missing", "the file that its definition names")
        return DataState("ready", "your own data, the file that its definition names")
    if not folder.exists() and set_aside(site_data, benchmark.id).exists():
        return DataState("cannot be read", "replacing it was interrupted: add it again with --replace")
    if not holds_data(folder):
        if fetchable(benchmark):
            expected = f"`intramural datasets fetch {benchmark.id}`"
        kind = "invented sample" if benchmark.sample_is_invented else "sample"
        if benchmark.sample is not None:
            return DataState("sample only", f"{kind}; {expected}", benchmark.sample.rows)
        return DataState("missing", expected)
    try:
        record = read_record(site_data, benchmark.id)
        digests = _digests(folder, None if verify else record)
    except (AgentError, OSError) as why:
        return DataState("cannot be read", str(why))
    if record is not None and (changed := _changed(record.files, digests)):
        return DataState("changed", f"{changed}; add it again with --replace", record.instances)
    if benchmark.access == "gated" and (record is None or not record.attested_by):
        return DataState("not attested", f"add it again: datasets add {benchmark.id} PATH --replace, with attestation")
    if record is None:
        return DataState("ready", "put there by hand, not checked")
    return DataState("ready", _ready_detail(benchmark, record), record.instances)


def attested(benchmark: Benchmark, dataset: Dataset, site_data: Path) -> bool:
    """Tell whether the site may use these files: they need no agreement, or are those for which somebody attested one.

    Raises:
        BenchmarkError: the record of the site's data is damaged.
    """
    if benchmark.access != "gated" or dataset.known in ("sample", "invented"):
        return True
    record = read_record(site_data, benchmark.id)
    return record is not None and bool(record.attested_by) and {*dataset.file_digests} <= {*record.files.values()}


def fetchable(benchmark: Benchmark) -> bool:
    """Tell whether every file that the benchmark needs is public and has a pinned address and digest."""
    needed = [file for file in benchmark.files if not file.optional]
    pinned = all(file.url.startswith("http") and file.sha256 for file in needed)
    return benchmark.access == "public" and bool(needed) and pinned


def version_text(benchmark: Benchmark, known: Known) -> str:
    """Say whether data is of a version that the benchmark knows, where it knows any."""
    if known == "official":
        return "a version this benchmark knows"
    if benchmark.access == "private" and not benchmark.has_known_files:
        return "your own data"
    return "not wholly a version it knows" if benchmark.has_known_files else "no published digest to compare with"


def _ready_detail(benchmark: Benchmark, record: DatasetRecord) -> str:
    by = f"; {record.agreement}, attested by {record.attested_by}" if record.attested_by else ""
    versions = [version for file in benchmark.files for version in file.known]
    notes = dict.fromkeys(version.note for version in versions if version.sha256 in record.files.values())
    return "; ".join(
        filter(None, (f"{version_text(benchmark, record.known)}, added {record.added_at[:10]}{by}", *notes))
    )


def _changed(recorded: Mapping[str, str], present: Mapping[str, str]) -> str:
    gone = len(recorded.keys() - present.keys())
    new = len(present.keys() - recorded.keys())
    other = sum(present[name] != digest for name, digest in recorded.items() if name in present)
    what = ((other, "changed"), (gone, "gone"), (new, "new"))
    return ", ".join(f"{count} {'file' if count == 1 else 'files'} {word}" for count, word in what if count)


def _expected(benchmark: Benchmark) -> str:
    names = [file.name for file in benchmark.files]
    if len(names) > _MOST_NAMES:
        return f"{len(names)} files (see `intramural benchmarks show {benchmark.id}`)"
    return ", ".join(names) or "one file of yours"
