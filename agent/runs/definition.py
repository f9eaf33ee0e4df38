"""Read the facts about a run that its benchmark's definition decides."""

from collections.abc import Mapping

from agent.catalog.benchmark import Benchmark
from agent.datasets.load import Known
from agent.metrics import AnswerParser

SITE_LINEAGE = "site"


def list_changed_arguments(benchmark: Benchmark, arguments: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the arguments that an entry sets to another value than the benchmark's default."""
    changed = []
    for name, argument in benchmark.arguments.items():
        if name in arguments and arguments[name] != argument.default:
            changed.append(name)
    return tuple(changed)


def list_free_arguments(benchmark: Benchmark, arguments: Mapping[str, str]) -> list[str]:
    """Return the names of the arguments whose value is free text of the run entry's author.

    Values that the definition lists and numbers of tokens are not free: they may be shown outside the site.
    """
    free = []
    for name, value in arguments.items():
        argument = benchmark.arguments[name]
        is_listed = value in (*argument.values, argument.default)
        is_number = argument.kind == "tokens" and value.isdigit()
        if not is_listed and not is_number:
            free.append(name)
    return free


def list_required_values(benchmark: Benchmark) -> dict[str, tuple[str, ...]]:
    """Return the values of the arguments that every run must choose: all of them together are the benchmark."""
    values = {}
    for name, argument in benchmark.arguments.items():
        if argument.required and argument.values:
            values[name] = tuple(argument.values)
    return values


def read_prompt_limit(benchmark: Benchmark, arguments: Mapping[str, str]) -> int | None:
    """Return the most tokens that a prompt may have by an argument of the benchmark, such as `max_length`."""
    limits = []
    for name, argument in benchmark.arguments.items():
        if argument.kind == "tokens" and arguments.get(name):
            limits.append(int(arguments[name]))
    return min(limits, default=None)


def build_parser(benchmark: Benchmark) -> AnswerParser:
    """Return how the benchmark reads an answer."""
    return AnswerParser(benchmark.parser, benchmark.answer_field, benchmark.answer_pattern)


def choose_lineage(benchmark: Benchmark, known: Known) -> str:
    """Return the dataset that the units come from. All private data of a site is taken to share its patients.

    Gated data of a version without a published digest may hold any patients: it counts as the site's own.
    """
    if benchmark.access == "gated" and known == "unknown":
        return SITE_LINEAGE
    if benchmark.lineage:
        return benchmark.lineage
    return SITE_LINEAGE if benchmark.access == "private" else benchmark.id
