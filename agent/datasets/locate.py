"""Which files a run reads: the run entry's, the site's own, or the sample that travels with the agent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agent.catalog.benchmark import Benchmark
from agent.catalog.data_section import DataFile, Version
from agent.catalog.named_file import refuse_keys_folder
from agent.datasets.folder import FolderEntry, Hashed, file_digest, find_entries, folder_digest, inside, joint_digest
from agent.errors import BenchmarkError

Known = Literal["official", "sample", "unknown", "invented"]


@dataclass(frozen=True, slots=True)
class Dataset:
    """The files a run reads.

    Attributes:
        paths: in instance order.
        digest: SHA-256 of the file; of several, SHA-256 of the "digest  name" lines.
        known: "official": a version that the benchmark knows; "sample" and "invented": what travels with the agent;
            "unknown": anything else, shown beside every result.
        problems: what a person should know (files missing, another version), in plain words.
        file_digests: SHA-256 of each path, in order.
        expected_instances: how many the known version gives; None if unknown.
        names: of each path within the dataset's folder (`labels/x/labels.parquet`), in order.
        versions: what their publishers call the known versions (v1.2), each once.
        arguments: the benchmark's own, with defaults; a sample's where the run entry gives none.
        examples: the file of solved examples, if the benchmark has one.
    """

    paths: tuple[Path, ...]
    digest: str
    known: Known
    problems: tuple[str, ...] = ()
    file_digests: tuple[str, ...] = ()
    expected_instances: int | None = None
    names: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    examples: Hashed | None = None


def locate_dataset(
    benchmark: Benchmark, site_data: Path | None = None, arguments: Mapping[str, str] | None = None
) -> Dataset:
    """Find the benchmark's data: `data_path` of the run entry, else `site_data`/<id>/, else the sample.

    A folder holds the official files under their own names, or one file of another version.

    Raises:
        BenchmarkError: no data at all, or a file cannot be read or is a link out of its folder.
        ConfigError: an argument is unknown, or missing.
    """
    passed = arguments or {}
    folder = site_data / benchmark.id if site_data else None
    if given := passed.get("data_path"):
        path = Path(given)
        if path.is_dir():
            refuse_keys_folder(path / "any file")
            return _in_folder(benchmark, path, benchmark.fill_arguments(passed))
        refuse_keys_folder(path)
        return _single(benchmark, path, benchmark.fill_arguments(passed))
    if benchmark.dataset_file is not None:
        return _single(benchmark, benchmark.dataset_file, benchmark.fill_arguments(passed))
    if (
        site_data is not None
        and not (site_data / benchmark.id).exists()
        and set_aside(site_data, benchmark.id).exists()
    ):
        raise BenchmarkError(
            f"{benchmark.id}: replacing its data was interrupted, and the old data is still set aside",
            f"Give `intramural datasets add {benchmark.id} PATH --replace` again: it first puts the old data back.",
        )
    if folder is not None and folder.is_dir() and any(not path.name.startswith(".") for path in folder.iterdir()):
        return _in_folder(benchmark, folder, benchmark.fill_arguments(passed))
    if benchmark.sample is None:
        names = ", ".join(file.name for file in benchmark.files)
        where = folder or f"data/{benchmark.id}"
        raise BenchmarkError(f"{benchmark.id}: no data here; expected {names or 'a file'} in {where}")
    return _sample(benchmark, benchmark.sample, passed)


def set_aside(site_data: Path, benchmark_id: str) -> Path:
    """Return where a benchmark's data waits while other data takes its place."""
    return site_data / f".{benchmark_id}.old"


def _in_folder(benchmark: Benchmark, folder: Path, arguments: Mapping[str, str]) -> Dataset:
    entries = find_entries(folder, benchmark.files, arguments)
    present = [entry for entry in entries if entry.found]
    if present:
        missing = sum(not entry.found and not entry.file.optional for entry in entries)
        # Kept with the run and shown, so without names: a site's own file name may say whose data it is.
        problems = (f"{missing} of {len(entries)} files are missing",) if missing else ()
        return _official(benchmark, present, arguments, problems)
    others = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith(".")]
    if len(others) == 1 and not any(set("*/{") & set(file.name) for file in benchmark.files):
        return _single(benchmark, inside(folder, others[0]), arguments)
    names = ", ".join(entry.file.name for entry in entries)
    raise BenchmarkError(f"{benchmark.id}: expected {names or 'one file'} in {folder}, found {len(others)} files")


def _official(
    benchmark: Benchmark, entries: Sequence[FolderEntry], arguments: Mapping[str, str], problems: tuple[str, ...]
) -> Dataset:
    versions = [entry.version() for entry in entries]
    labels = tuple(dict.fromkeys(version.label for version in versions if version and version.label))
    if other := versions.count(None):
        problems += (_not_known(benchmark, other, len(versions)),)
    if len(labels) > 1:
        problems += (f"files of several versions: {', '.join(labels)}",)
    files = {name: file for entry in entries for name, file in entry.found.items()}
    known: Known = "unknown" if problems else "official"
    problems += tuple(dict.fromkeys(version.note for version in versions if version and version.note))
    return _dataset(benchmark, files, arguments, known, problems, _rows(benchmark, versions, arguments), labels)


def _not_known(benchmark: Benchmark, other: int, files: int) -> str:
    if not benchmark.has_known_files:
        return "there is no published digest to compare with"
    return f"{other} of {files} files is not a version this benchmark knows"


def _single(benchmark: Benchmark, path: Path, arguments: Mapping[str, str]) -> Dataset:
    """Take one file, whatever its name; it may still be the whole of a version that the benchmark knows."""
    file = Hashed(path, file_digest(path, path.name))
    version = next((known for entry in benchmark.files for known in entry.known if known.sha256 == file.sha256), None)
    known: Known = "official" if version and len(benchmark.files) == 1 else "unknown"
    wrong = _not_known(benchmark, 1, 1) if benchmark.files and not version else ""
    problems = tuple(filter(None, (wrong, version.note if version else "")))
    labels = (version.label,) if version and version.label else ()
    return _dataset(
        benchmark, {path.name: file}, arguments, known, problems, _rows(benchmark, [version], arguments), labels
    )


def _sample(benchmark: Benchmark, sample: DataFile, passed: Mapping[str, str]) -> Dataset:
    arguments = benchmark.fill_arguments({**benchmark.sample_arguments, **passed})
    place = benchmark.folder / sample.name
    if benchmark.sample_is_folder:
        digest = folder_digest(place)
        entries = find_entries(place, benchmark.files, arguments)
        files = {name: file for entry in entries for name, file in entry.found.items()}
    else:
        digest = file_digest(inside(benchmark.folder, place), place.name)
        files = {place.name: Hashed(place, digest)}
    if digest != sample.sha256:
        raise BenchmarkError(f"{benchmark.id}: the sample {sample.name} was changed; install the agent again")
    if not files:
        given = ", ".join(f"{name}={value}" for name, value in benchmark.sample_arguments.items())
        raise BenchmarkError(
            f"{benchmark.id}: no data here, and the sample has only files of {given or 'another name'}"
        )
    usual = arguments == benchmark.fill_arguments(benchmark.sample_arguments)
    return _dataset(
        benchmark,
        files,
        arguments,
        "invented" if benchmark.sample_is_invented else "sample",
        ("a sample, not the whole dataset",),
        sample.rows if usual else None,
    )


def _rows(benchmark: Benchmark, versions: Sequence[Version | None], arguments: Mapping[str, str]) -> int | None:
    """Return how many instances the known versions give together; None if an argument may change which rows are read.

    A version's `rows` are those of the arguments' defaults. An argument that names a file is part of the version, and
    one in tokens shortens prompts; any other, given a value of its own, may take other rows or other parts of them.
    """
    for name, argument in benchmark.arguments.items():
        in_names = any(f"{{{name}}}" in file.name for file in benchmark.files)
        if argument.kind == "text" and not in_names and (arguments.get(name) or "") != (argument.default or ""):
            return None
    counts = [version.rows if version else None for version in versions]
    return sum(count for count in counts if count is not None) if None not in counts else None


def _dataset(
    benchmark: Benchmark,
    files: Mapping[str, Hashed],
    arguments: Mapping[str, str],
    known: Known,
    problems: tuple[str, ...],
    expected_instances: int | None,
    versions: tuple[str, ...] = (),
) -> Dataset:
    digests = {name: file.sha256 for name, file in files.items()}
    together, examples = dict(digests), None
    if benchmark.few_shot and benchmark.few_shot.dataset_file:
        path = benchmark.few_shot.dataset_file
        examples = Hashed(path, file_digest(path, path.name))
        together["examples"] = examples.sha256
    return Dataset(
        paths=tuple(file.path for file in files.values()),
        digest=joint_digest(together) if len(together) > 1 else next(iter(digests.values())),
        known=known,
        problems=problems,
        file_digests=tuple(digests.values()),
        expected_instances=expected_instances,
        names=tuple(files),
        versions=versions,
        arguments=arguments,
        examples=examples,
    )
