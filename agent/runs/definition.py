"""What a benchmark's definition says about its runs."""

from collections.abc import Mapping

from agent.catalog.benchmark import Benchmark
from agent.datasets.load import Known
from agent.metrics import AnswerParser

SITE_LINEAGE = "site"


def chosen(benchmark: Benchmark, given: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arguments by which an entry asks something else than the benchmark does by itself."""
    return tuple(
        name for name, argument in benchmark.arguments.items() if name in given and given[name] != argument.default
    )


def free_arguments(benchmark: Benchmark, given: Mapping[str, str]) -> list[str]:
    """Return the arguments whose value the definition does not list: text of the run entry's writer, so of anybody."""
    found = {name: benchmark.arguments[name] for name in given}
    return [
        name
        for name, argument in found.items()
        if given[name] not in (*argument.values, argument.default)
        and not (argument.kind == "tokens" and given[name].isdigit())
    ]


def parts(benchmark: Benchmark) -> dict[str, tuple[str, ...]]:
    """Return the values of the arguments that every run must choose: all of them together are the benchmark."""
    return {
        name: tuple(argument.values)
        for name, argument in benchmark.arguments.items()
        if argument.required and argument.values
    }


def prompt_limit(benchmark: Benchmark, arguments: Mapping[str, str]) -> int | None:
    """Return the most tokens that a prompt may have by an argument of the benchmark, such as `max_length`."""
    limits = [
        int(arguments[name])
        for name, argument in benchmark.arguments.items()
        if argument.kind == "tokens" and arguments.get(name)
    ]
    return min(limits, default=None)


def build_parser(benchmark: Benchmark) -> AnswerParser:
    """Return how the benchmark reads an answer."""
    return AnswerParser(benchmark.parser, benchmark.answer_field, benchmark.answer_pattern)


def lineage(benchmark: Benchmark, known: Known) -> str:
    """Return the dataset that the units come from. All private data of a site is taken to share its patients.

    Gated data of a version that nobody published a digest of may be anybody's: it counts as the site's own.
    """
    if benchmark.access == "gated" and known == "unknown":
        return SITE_LINEAGE
    return benchmark.lineage or (SITE_LINEAGE if benchmark.access == "private" else benchmark.id)
