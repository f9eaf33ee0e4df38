"""Turn a benchmark's located files into instances, one after the other: the main path of loading."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from agent.catalog.benchmark import Benchmark
from agent.catalog.data_section import loader_by_ending
from agent.datasets.formats import FORMATS
from agent.datasets.instances import InstanceMaker
from agent.datasets.locate import Dataset, Known, locate_dataset
from agent.datasets.prompt import Instructions
from agent.datasets.readers.files import Files
from agent.datasets.readers.table import Problems, Table
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
    return list(
        iter_instances(
            benchmark, dataset, instructions=instructions, arguments=arguments, examples=examples
        )
    )


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

    Read it to its end before anything is asked: all problems of the files are raised after the last row.

    Args:
        benchmark: says how rows become prompts and references.
        dataset: from `locate_dataset`.
        instructions: HELM's expander: leave them out, or put an expert's role before them.
        arguments: of the run entry, where they differ from those the dataset was located with.
        examples: number of solved examples before the question; None: as many as the benchmark says.
        fault_of: returns any further problem of an instance, to be listed with its row; "" for none.

    Raises:
        BenchmarkError: lists every problem of the files (row and column; never a cell's text), or says that the
            file changed since it was located.
        ConfigError: an argument is unknown, or missing.
    """
    all_arguments = benchmark.fill_arguments({**dataset.arguments, **(arguments or {})})
    solved = _read_examples(benchmark, dataset, all_arguments, examples)
    maker = InstanceMaker(benchmark, all_arguments, instructions, solved, fault_of)
    count = 0
    messages: dict[str, None] = {}  # each once, in order
    for table, problems in _read_tables(benchmark, dataset, all_arguments, maker):
        for instance in maker.make(table, problems):
            count += 1
            yield instance
        messages |= dict.fromkeys(problems.messages)
        if len(messages) >= _ENOUGH:
            break
    if messages:
        raise BenchmarkError("\n".join(messages))
    expected = dataset.expected_instances
    if not count:
        raise BenchmarkError(f"{benchmark.id}: the dataset has no rows{maker.filtered}")
    if expected is not None and count != expected:
        raise BenchmarkError(
            f"{benchmark.id}: {count} instances, and the known version has {expected}"
        )


def _read_examples(
    benchmark: Benchmark, dataset: Dataset, arguments: Mapping[str, str], count: int | None
) -> tuple[str, ...]:
    """Return the first `count` solved examples; None: as many as the benchmark says."""
    few_shot = benchmark.few_shot
    if count is None:
        count = few_shot.count if few_shot else 0
    if not count:
        return ()
    if few_shot is None:
        raise BenchmarkError(
            f"{benchmark.id}: has no examples to show before the question (no `few_shot`)"
        )
    maker = InstanceMaker(benchmark, arguments)
    if dataset.examples:
        path, digest = dataset.examples
        files = Files({path.name: path}, {path.name: digest}, arguments, named=maker.named)
        tables = FORMATS[loader_by_ending(path)](files)
    else:
        tables = _read_tables(benchmark, dataset, arguments, maker)
    examples: list[str] = []
    for table, problems in tables:
        examples += islice(maker.solve(table, problems), count - len(examples))
        problems.check()
        if len(examples) == count:
            break
    if len(examples) < count:
        raise BenchmarkError(
            f"{benchmark.id}: {len(examples)} rows to show as examples, and {count} are wanted"
        )
    return tuple(examples)


def _read_tables(
    benchmark: Benchmark, dataset: Dataset, arguments: Mapping[str, str], maker: InstanceMaker
) -> Iterator[tuple[Table, Problems]]:
    files = Files(
        paths=dict(zip(dataset.names, dataset.paths, strict=True)),
        digests=dict(zip(dataset.names, dataset.file_digests, strict=True)),
        arguments=arguments,
        options=benchmark.data_options,
        named=maker.named,
    )
    return FORMATS[benchmark.loader](files)
