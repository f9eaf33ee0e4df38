"""The main path of loading: from a benchmark's located files to instances, one after the other."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from agent.catalog.benchmark import Benchmark
from agent.catalog.data_section import loader_by_ending
from agent.datasets.instances import InstanceMaker
from agent.datasets.locate import Dataset, Known, locate_dataset
from agent.datasets.prompt import Instructions
from agent.datasets.readers.files import Files
from agent.datasets.sources.formats import FORMATS
from agent.errors import BenchmarkError
from agent.vocabulary import Instance

__all__ = ["Dataset", "Instructions", "Known", "iter_instances", "load_instances", "locate_dataset"]

_ENOUGH = 100  # problems, after which no further file is read


def load_instances(
    benchmark: Benchmark,
    dataset: Dataset,
    *,
    instructions: Instructions | None = None,
    arguments: Mapping[str, str] | None = None,
    examples: int | None = None,
) -> list[Instance]:
    """Return all of `iter_instances`, in memory."""
    return list(iter_instances(benchmark, dataset, instructions=instructions, arguments=arguments, examples=examples))


def iter_instances(
    benchmark: Benchmark,
    dataset: Dataset,
    *,
    instructions: Instructions | None = None,
    arguments: Mapping[str, str] | None = None,
    examples: int | None = None,
    fault_of: Callable[[Instance], str] | None = None,
) -> Iterator[Instance]:
    """Read the files and render every instance, in dataset order, a row at a time.

    Walk it to its end before anything is asked: what is wrong with the files is told, all of it, behind the last row.

    Args:
        benchmark: says how rows become prompts and references.
        dataset: what `locate_dataset` found.
        instructions: HELM's expander: leave them out, or put an expert's role before them.
        arguments: of the run entry, where they differ from those the dataset was located with.
        examples: how many solved examples come before the question; None: as many as the benchmark says.
        fault_of: says of an instance what else is wrong with it, to be told with its row.

    Raises:
        BenchmarkError: lists every problem of the files (row and column; never a cell's text), or says that the
            file changed since it was located.
        ConfigError: an argument is unknown, or missing.
    """
    given = benchmark.fill_arguments({**dataset.arguments, **(arguments or {})})
    solved = _solved_examples(benchmark, dataset, given, examples)
    maker = InstanceMaker(benchmark, given, instructions, solved, fault_of)
    count, wrong = 0, dict[str, None]()
    for table, problems in FORMATS[benchmark.loader](_files(benchmark, dataset, given, maker)):
        for instance in maker.make(table, problems):
            count += 1
            yield instance
        wrong |= dict.fromkeys(problems.told)
        if len(wrong) >= _ENOUGH:
            break
    if wrong:
        raise BenchmarkError("\n".join(wrong))
    expected = dataset.expected_instances
    if not count:
        raise BenchmarkError(f"{benchmark.id}: the dataset has no rows{maker.filtered}")
    if expected is not None and count != expected:
        raise BenchmarkError(f"{benchmark.id}: {count} instances, and the known version has {expected}")


def _solved_examples(
    benchmark: Benchmark, dataset: Dataset, arguments: Mapping[str, str], wanted: int | None
) -> tuple[str, ...]:
    few_shot = benchmark.few_shot
    count = wanted if wanted is not None else few_shot.count if few_shot else 0
    if not count:
        return ()
    if few_shot is None:
        raise BenchmarkError(f"{benchmark.id}: has no examples to show before the question (no `few_shot`)")
    maker = InstanceMaker(benchmark, arguments)
    if dataset.examples:
        path, digest = dataset.examples
        files = Files({path.name: path}, {path.name: digest}, arguments, named=maker.named)
        tables = FORMATS[loader_by_ending(path)](files)
    else:
        tables = FORMATS[benchmark.loader](_files(benchmark, dataset, arguments, maker))
    found: list[str] = []
    for table, problems in tables:
        found += islice(maker.solve(table, problems), count - len(found))
        problems.check()
        if len(found) == count:
            break
    if len(found) < count:
        raise BenchmarkError(f"{benchmark.id}: {len(found)} rows to show as examples, and {count} are wanted")
    return tuple(found)


def _files(benchmark: Benchmark, dataset: Dataset, arguments: Mapping[str, str], maker: InstanceMaker) -> Files:
    return Files(
        dict(zip(dataset.names, dataset.paths, strict=True)),
        dict(zip(dataset.names, dataset.file_digests, strict=True)),
        arguments,
        benchmark.data_options,
        maker.named,
    )
