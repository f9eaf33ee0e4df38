"""Locate the files that a run reads: those of the run entry or the site, or the sample shipped with the agent."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agent.catalog.benchmark import Benchmark
from agent.catalog.data_section import DataFile, Version
from agent.catalog.named_file import refuse_keys_folder
from agent.datasets.folder import (
    FolderEntry,
    HashedFile,
    check_inside,
    find_entries,
    hash_file,
    hash_folder,
    join_digests,
)
from agent.errors import BenchmarkError

Known = Literal["official", "sample", "unknown", "invented"]


@dataclass(frozen=True, slots=True)
class Dataset:
    """The files that a run reads.

    Attributes:
        paths: the files, in instance order.
        digest: the SHA-256 of the file; for several files, the SHA-256 of their "digest  name" lines.
        known: "official" for a version listed in the definition, "sample" or "invented" for data shipped with the
            agent, and "unknown" for all other data; shown next to every result.
        problems: messages about missing files or other versions, for display.
        file_digests: the SHA-256 of each of `paths`.
        expected_instances: the number of instances in the known version; None if unknown.
        names: the name of each of `paths` relative to the dataset's folder, such as `labels/x/labels.parquet`.
        versions: the publisher's labels of the known versions (such as v1.2), without duplicates.
        arguments: the benchmark's arguments with defaults filled in; a sample has its own defaults.
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
    examples: HashedFile | None = None


def locate_dataset(
    benchmark: Benchmark, site_data: Path | None = None, arguments: Mapping[str, str] | None = None
) -> Dataset:
    """Find the benchmark's data: the run entry's `data_path`, or else `site_data`/<id>/, or else the sample.

    A folder contains either the official files under their own names or one file of another version.

    Raises:
        BenchmarkError: no data is found, or a file cannot be read or is a link out of its folder.
        ConfigError: an argument is unknown or missing.
    """
    passed = arguments or {}
    if data_path := passed.get("data_path"):
        return _locate_data_path(benchmark, Path(data_path), passed)
    if benchmark.dataset_file is not None:
        return _locate_single_file(
            benchmark, benchmark.dataset_file, benchmark.fill_arguments(passed)
        )
    folder = site_data / benchmark.id if site_data else None
    if (
        site_data
        and folder
        and not folder.exists()
        and locate_replaced_data(site_data, benchmark.id).exists()
    ):
        raise BenchmarkError(
            f"{benchmark.id}: replacing its data was interrupted, and the old data has not been restored yet",
            f"Run `intramural datasets add {benchmark.id} PATH --replace` again: it first restores the old data.",
        )
    if (
        folder
        and folder.is_dir()
        and any(not path.name.startswith(".") for path in folder.iterdir())
    ):
        return _locate_in_folder(benchmark, folder, benchmark.fill_arguments(passed))
    if benchmark.sample is None:
        names = ", ".join(file.name for file in benchmark.files)
        where = folder or f"data/{benchmark.id}"
        raise BenchmarkError(
            f"{benchmark.id}: no data found; expected {names or 'a file'} in {where}"
        )
    return _locate_sample(benchmark, benchmark.sample, passed)


def digest_source(benchmark: Benchmark, dataset: Dataset) -> str:
    """Return the SHA-256 of the definition's and the data's digests, or "" if the definition does not know the data."""
    if dataset.known == "unknown":
        return ""
    return hashlib.sha256(f"{benchmark.digest} {dataset.digest}".encode()).hexdigest()


def locate_replaced_data(site_data: Path, benchmark_id: str) -> Path:
    """Return the folder that contains a benchmark's old data while new data replaces it."""
    return site_data / f".{benchmark_id}.old"


def _locate_data_path(benchmark: Benchmark, path: Path, passed: Mapping[str, str]) -> Dataset:
    if path.is_dir():
        refuse_keys_folder(path / "any file")
        return _locate_in_folder(benchmark, path, benchmark.fill_arguments(passed))
    refuse_keys_folder(path)
    return _locate_single_file(benchmark, path, benchmark.fill_arguments(passed))


def _locate_in_folder(benchmark: Benchmark, folder: Path, arguments: Mapping[str, str]) -> Dataset:
    entries = find_entries(folder, benchmark.files, arguments)
    present = [entry for entry in entries if entry.present]
    sample = None if present else _find_sample_file(benchmark, folder)
    if sample is not None:
        return _locate_single_file(benchmark, sample, arguments)
    if present:
        missing = sum(not entry.present and not entry.file.optional for entry in entries)
        # This message is stored with the run and displayed. It omits file names, which may identify people.
        problems = [f"{missing} of {len(entries)} files are missing"] if missing else []
        return _describe_entries(benchmark, present, arguments, problems)
    paths = [
        path
        for path in sorted(folder.iterdir())
        if path.is_file() and not path.name.startswith(".")
    ]
    reads_one_name = not any(set("*/{") & set(file.name) for file in benchmark.files)
    if len(paths) == 1 and reads_one_name:
        return _locate_single_file(benchmark, check_inside(folder, paths[0]), arguments)
    names = ", ".join(entry.file.name for entry in entries)
    found = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    raise BenchmarkError(
        f"{benchmark.id}: expected {names or 'one file'} in {folder}, found {found}"
    )


def _find_sample_file(benchmark: Benchmark, folder: Path) -> Path | None:
    """Return the file of the benchmark's sample in a folder, or None if the folder does not have it.

    The sample's file may have another name than the official file, and have a licence beside it.
    """
    sample = benchmark.sample
    if sample is None or benchmark.sample_is_folder:
        return None
    path = folder / Path(sample.name).name
    if not path.is_file() or hash_file(check_inside(folder, path), path.name) != sample.sha256:
        return None
    return path


def _describe_entries(
    benchmark: Benchmark,
    entries: Sequence[FolderEntry],
    arguments: Mapping[str, str],
    problems: list[str],
) -> Dataset:
    files: dict[str, HashedFile] = {}
    for entry in entries:
        files.update(entry.present)
    versions = [entry.find_version() for entry in entries]
    known_versions = [version for version in versions if version is not None]
    labels = tuple(dict.fromkeys(version.label for version in known_versions if version.label))
    unknown = len(versions) - len(known_versions)
    if unknown:
        problems.append(_describe_unknown(benchmark, unknown, len(versions)))
    if len(labels) > 1:
        problems.append(f"the files belong to several versions: {', '.join(labels)}")
    notes = dict.fromkeys(version.note for version in known_versions if version.note)
    return _build_dataset(
        benchmark,
        files,
        arguments,
        known="unknown" if problems else "official",
        problems=(*problems, *notes),  # a known version may have a note
        expected_instances=_count_expected(benchmark, versions, arguments),
        versions=labels,
    )


def _describe_unknown(benchmark: Benchmark, unknown: int, files: int) -> str:
    if not benchmark.has_known_files:
        return "no published digest to compare with"
    if unknown == files == 1:
        return "the file is not a version listed in the benchmark's definition"
    return f"{unknown} of {files} files are not of a version listed in the benchmark's definition"


def _locate_single_file(benchmark: Benchmark, path: Path, arguments: Mapping[str, str]) -> Dataset:
    """Locate a single file, regardless of its name; its digest shows whether it is a known version."""
    file = HashedFile(path, hash_file(path, path.name))
    version = _find_version(benchmark, file.sha256)
    problems = []
    if benchmark.files and version is None:
        problems.append(_describe_unknown(benchmark, 1, 1))
    if version and version.note:
        problems.append(version.note)
    return _build_dataset(
        benchmark,
        {path.name: file},
        arguments,
        known="official" if version and len(benchmark.files) == 1 else "unknown",
        problems=tuple(problems),
        expected_instances=_count_expected(benchmark, [version], arguments),
        versions=(version.label,) if version and version.label else (),
    )


def _find_version(benchmark: Benchmark, sha256: str) -> Version | None:
    for file in benchmark.files:
        for version in file.known:
            if version.sha256 == sha256:
                return version
    return None


def _locate_sample(benchmark: Benchmark, sample: DataFile, passed: Mapping[str, str]) -> Dataset:
    arguments = benchmark.fill_arguments({**benchmark.sample_arguments, **passed})
    path = benchmark.folder / sample.name
    files: dict[str, HashedFile] = {}
    if benchmark.sample_is_folder:
        digest = hash_folder(path)
        for entry in find_entries(path, benchmark.files, arguments):
            files.update(entry.present)
    else:
        digest = hash_file(check_inside(benchmark.folder, path), path.name)
        files[path.name] = HashedFile(path, digest)
    if digest != sample.sha256:
        raise BenchmarkError(
            f"{benchmark.id}: the sample {sample.name} was changed; install the agent again"
        )
    if not files:
        expected = ", ".join(
            f"{name}={value}" for name, value in benchmark.sample_arguments.items()
        )
        raise BenchmarkError(
            f"{benchmark.id}: no data found, and the shipped sample only has files for {expected or 'other arguments'}"
        )
    has_usual_arguments = arguments == benchmark.fill_arguments(benchmark.sample_arguments)
    return _build_dataset(
        benchmark,
        files,
        arguments,
        known="invented" if benchmark.sample_is_invented else "sample",
        problems=("a sample, not the whole dataset",),
        expected_instances=sample.rows if has_usual_arguments else None,
    )


def _count_expected(
    benchmark: Benchmark, versions: Sequence[Version | None], arguments: Mapping[str, str]
) -> int | None:
    """Return the number of instances in the known versions, or None if an argument may change it.

    A version's `rows` counts the rows for the default arguments. Arguments that name files are part of the version, and
    those in tokens only shorten prompts. Any other argument with a non-default value may select other rows, or other
    parts of the rows.
    """
    for name, argument in benchmark.arguments.items():
        if argument.kind != "text" or benchmark.names_files_by(name):
            continue
        if (arguments.get(name) or "") != (argument.default or ""):
            return None
    count = 0
    for version in versions:
        if version is None or version.rows is None:
            return None
        count += version.rows
    return count


def _build_dataset(
    benchmark: Benchmark,
    files: Mapping[str, HashedFile],
    arguments: Mapping[str, str],
    *,
    known: Known,
    problems: tuple[str, ...],
    expected_instances: int | None,
    versions: tuple[str, ...] = (),
) -> Dataset:
    digests = {name: file.sha256 for name, file in files.items()}
    all_digests = dict(digests)
    examples = None
    if benchmark.few_shot and benchmark.few_shot.dataset_file:
        path = benchmark.few_shot.dataset_file
        examples = HashedFile(path, hash_file(path, path.name))
        all_digests["examples"] = examples.sha256
    return Dataset(
        paths=tuple(file.path for file in files.values()),
        digest=join_digests(all_digests) if len(all_digests) > 1 else next(iter(digests.values())),
        known=known,
        problems=problems,
        file_digests=tuple(digests.values()),
        expected_instances=expected_instances,
        names=tuple(files),
        versions=versions,
        arguments=arguments,
        examples=examples,
    )
