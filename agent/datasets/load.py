"""Read a benchmark's located files as instances, one at a time."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from agent.catalog.benchmark import Benchmark
from agent.catalog.data_section import loader_by_ending
from agent.datasets.formats import FORMATS
from agent.datasets.instances import InstanceMaker
from agent.datasets.locate import Dataset, Known, digest_source, locate_dataset
from agent.datasets.prompt import Instructions, RenderedText
from agent.datasets.readers.files import Files
from agent.datasets.readers.table import Problems, Table
from agent.datasets.row_numbers import RowNumbers
from agent.errors import BenchmarkError
from agent.vocabulary import Instance

__all__ = ["Dataset", "Instructions", "Known", "iter_instances", "load_instances", "locate_dataset"]

_ENOUGH = 100  # number of problems after which no further file is read


def load_instances(
    benchmark: Benchmark,
    dataset: Dataset,
    *,
    instructions: Instructions | None = None,
    arguments: Mapping[str, str] | None = None,
    examples: int | None = None,
) -> list[Instance]:
    """Return all instances that `iter_instances` yields, as a list."""
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
    row_numbers: RowNumbers | None = None,
) -> Iterator[Instance]:
    """Read the files row by row and yield every instance in dataset order.

    Consume the iterator fully before sending requests: the problems of the files are raised after the last row.

    Args:
        benchmark: defines how rows become prompts and references.
        dataset: the located files, from `locate_dataset`.
        instructions: HELM's `instructions` run expander: "none" omits the instructions, "expert" adds an expert role.
        arguments: the run entry's arguments that differ from those of `dataset`.
        examples: the number of solved examples before the question; by default the benchmark's own.
        fault_of: an additional check; returns the problem that it finds in an instance, which is listed with the row,
            or "" if there is none.
        row_numbers: notes each instance's id, and the id that earlier versions gave it.

    Raises:
        BenchmarkError: the files have problems, all of which are listed by row and column without any cell text,
            or a file changed since it was located.
        ConfigError: an argument is unknown or missing.
    """
    all_arguments = benchmark.fill_arguments({**dataset.arguments, **(arguments or {})})
    solved = _read_examples(benchmark, dataset, all_arguments, examples)
    maker = InstanceMaker(
        benchmark,
        all_arguments,
        instructions,
        solved,
        fault_of,
        row_numbers,
        source=digest_source(benchmark, dataset),
    )
    count = 0
    messages: dict[str, None] = {}  # an ordered set
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
            f"{benchmark.id}: read {count} instances, but the known version has {expected}"
        )


def _read_examples(
    benchmark: Benchmark, dataset: Dataset, arguments: Mapping[str, str], count: int | None
) -> tuple[RenderedText, ...]:
    """Return the first `count` solved examples, or the benchmark's own number if `count` is None."""
    few_shot = benchmark.few_shot
    if count is None:
        count = few_shot.count if few_shot else 0
    if not count:
        return ()
    if few_shot is None:
        raise BenchmarkError(
            f"{benchmark.id}: the definition has no solved examples to show (no `few_shot`)"
        )
    maker = InstanceMaker(benchmark, arguments)
    if dataset.examples:
        path, digest = dataset.examples
        files = Files({path.name: path}, {path.name: digest}, arguments, named=maker.named)
        tables = FORMATS[loader_by_ending(path)](files)
    else:
        tables = _read_tables(benchmark, dataset, arguments, maker)
    examples: list[RenderedText] = []
    for table, problems in tables:
        examples += islice(maker.solve(table, problems), count - len(examples))
        problems.check()
        if len(examples) == count:
            break
    if len(examples) < count:
        raise BenchmarkError(
            f"{benchmark.id}: {count} solved examples are needed, but only {len(examples)} rows can be used"
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
