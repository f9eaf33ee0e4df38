"""From a benchmark's dataset files to instances; every problem of a file is named with its row."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.catalog.benchmark import Benchmark
from agent.catalog.data_section import DataFile, Version
from agent.catalog.named_file import KEY_TEXT_BYTES, refuse_key_text, refuse_keys_folder
from agent.datasets.files import Files
from agent.datasets.formats import FORMATS
from agent.datasets.instances import InstanceMaker, Instructions
from agent.errors import BenchmarkError
from agent.vocabulary import Instance

Known = Literal["official", "sample", "unknown", "invented"]


@dataclass(frozen=True, slots=True)
class Dataset:
    """The files a run reads.

    Attributes:
        paths: in instance order.
        digest: SHA-256 of the file; of several, SHA-256 of the "digest  name" lines.
        known: "official": the version the benchmark was written for; "sample" and "invented": what travels with
            the agent; "unknown": anything else, shown beside every result.
        problems: what a person should know (files missing, another version), in plain words.
        file_digests: SHA-256 of each path, in order.
        expected_instances: how many the known version gives; None if unknown.
    """

    paths: tuple[Path, ...]
    digest: str
    known: Known
    problems: tuple[str, ...] = ()
    file_digests: tuple[str, ...] = ()
    expected_instances: int | None = None


def locate_dataset(
    benchmark: Benchmark, site_data: Path | None = None, arguments: Mapping[str, str] | None = None
) -> Dataset:
    """Find the benchmark's data: `data_path` of the run entry, else `site_data`/<id>/, else the sample.

    A folder holds the official files under their own names, or one file of another version.

    Raises:
        BenchmarkError: no data at all, or a file cannot be read.
    """
    given = (arguments or {}).get("data_path")
    if given:
        path = Path(given)
        if path.is_dir():
            refuse_keys_folder(path / "any file")
            return _in_folder(benchmark, path)
        refuse_keys_folder(path)
        return _dataset(benchmark, (path,))
    if benchmark.dataset_file is not None:
        return _dataset(benchmark, (benchmark.dataset_file,))
    folder = site_data / benchmark.id if site_data else None
    if folder is not None and folder.is_dir() and any(folder.iterdir()):
        return _in_folder(benchmark, folder)
    if benchmark.sample is None:
        names = ", ".join(file.name for file in benchmark.files)
        where = folder or f"data/{benchmark.id}"
        raise BenchmarkError(f"{benchmark.id}: no data here; expected {names or 'a file'} in {where}")
    return _sample(benchmark, benchmark.sample)


def load_instances(
    benchmark: Benchmark,
    dataset: Dataset,
    *,
    instructions: Instructions | None = None,
) -> list[Instance]:
    """Read the files and render every instance, in dataset order.

    Args:
        benchmark: says how rows become prompts and references.
        dataset: what `locate_dataset` found.
        instructions: HELM's expander: leave them out, or put an expert's role before them.

    Raises:
        BenchmarkError: lists every problem of a file (row and column; never a cell's text), or says that the
            file changed since it was located.
    """
    maker = InstanceMaker(benchmark, instructions)
    files = Files(
        {path.name: path for path in dataset.paths},
        {path.name: digest for path, digest in zip(dataset.paths, dataset.file_digests, strict=True)},
        named=maker.named,
    )
    instances: list[Instance] = []
    for table, problems in FORMATS[benchmark.loader](files):
        instances += maker.make(table, problems)
        problems.check()
    expected = dataset.expected_instances
    if not instances:
        raise BenchmarkError(f"{benchmark.id}: the dataset has no rows")
    if expected is not None and len(instances) != expected:
        raise BenchmarkError(f"{benchmark.id}: {len(instances)} instances, and the known version has {expected}")
    return instances


def _in_folder(benchmark: Benchmark, folder: Path) -> Dataset:
    present = [file for file in benchmark.files if (folder / file.name).is_file()]
    if present:
        missing = len(benchmark.files) - len(present)
        # Kept with the run and shown, so without names: a site's own file name may say whose data it is.
        problems = (f"{missing} of {len(benchmark.files)} files are missing",) if missing else ()
        paths = tuple(folder / file.name for file in present)
        for path in paths:
            refuse_keys_folder(path, folder)
        return _dataset(benchmark, paths, problems)
    others = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith(".")]
    if len(others) == 1:
        refuse_keys_folder(others[0], folder)
        return _dataset(benchmark, (others[0],))
    names = ", ".join(file.name for file in benchmark.files)
    raise BenchmarkError(f"{benchmark.id}: expected {names or 'one file'} in {folder}, found {len(others)} files")


def _dataset(benchmark: Benchmark, paths: tuple[Path, ...], problems: tuple[str, ...] = ()) -> Dataset:
    digests = tuple(_sha256(path) for path in paths)
    official = {version.sha256: version for file in benchmark.files for version in file.known}
    known = [official.get(digest) for digest in digests]
    other = known.count(None)
    if benchmark.files and other:
        problems += (f"{other} of {len(paths)} files is not a version this benchmark knows",)
    is_official = bool(benchmark.files) and len({id(file) for file in known if file}) == len(benchmark.files)
    return Dataset(
        paths=paths,
        digest=_joint(paths, digests),
        known="official" if is_official and not other else "unknown",
        problems=problems,
        file_digests=digests,
        expected_instances=_total(known),
    )


def _sample(benchmark: Benchmark, sample: DataFile) -> Dataset:
    path = benchmark.folder / sample.name
    refuse_keys_folder(path, benchmark.folder)
    digest = _sha256(path)
    if digest != sample.sha256:
        raise BenchmarkError(f"{benchmark.id}: the sample {sample.name} was changed; install the agent again")
    return Dataset(
        paths=(path,),
        digest=digest,
        known="invented" if benchmark.sample_is_invented else "sample",
        problems=("a sample, not the whole dataset",),
        file_digests=(digest,),
        expected_instances=sample.rows,
    )


def _total(files: list[Version | None]) -> int | None:
    rows = [file.rows if file else None for file in files]
    return sum(count for count in rows if count is not None) if None not in rows else None


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            refuse_key_text(file.read(KEY_TEXT_BYTES))
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as why:
        raise BenchmarkError(f"{path.name}: cannot be read ({why.strerror})") from None
    except BenchmarkError as why:
        raise BenchmarkError(f"{path.name}: {why}") from None


def _joint(paths: tuple[Path, ...], digests: tuple[str, ...]) -> str:
    if len(digests) == 1:
        return digests[0]
    lines = "".join(f"{digest}  {path.name}\n" for path, digest in zip(paths, digests, strict=True))
    return hashlib.sha256(lines.encode()).hexdigest()
