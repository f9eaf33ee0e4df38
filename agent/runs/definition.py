"""Derive the properties of a run that follow from its benchmark's definition."""

from collections.abc import Mapping

from agent.catalog.benchmark import Benchmark
from agent.datasets.load import Known

SITE_LINEAGE = "site"


def list_changed_arguments(benchmark: Benchmark, arguments: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the arguments that an entry sets to a value other than the benchmark's default."""
    changed = []
    for name, argument in benchmark.arguments.items():
        if name in arguments and arguments[name] != argument.default:
            changed.append(name)
    return tuple(changed)


def list_free_arguments(benchmark: Benchmark, arguments: Mapping[str, str]) -> list[str]:
    """Return the names of the arguments whose value is free text written by the run entry's author.

    Values listed in the definition and numbers of tokens are not free text and may be shown outside the site.
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
    """Return the permitted values of each required argument. Runs with all of them make up the whole benchmark."""
    values = {}
    for name, argument in benchmark.arguments.items():
        if argument.required and argument.values:
            values[name] = tuple(argument.values)
    return values


def read_prompt_limit(benchmark: Benchmark, arguments: Mapping[str, str]) -> int | None:
    """Return the maximum tokens per prompt set by the benchmark's arguments, such as `max_length`; None if unset."""
    limits = []
    for name, argument in benchmark.arguments.items():
        if argument.kind == "tokens" and arguments.get(name):
            limits.append(int(arguments[name]))
    return min(limits, default=None)


def choose_lineage(benchmark: Benchmark, known: Known) -> str:
    """Return the lineage of the units: the benchmark's own, or the site's.

    All private datasets of a site are assumed to share patients. Gated data whose digest was never published may
    contain any patients, so it also counts as the site's own data.
    """
    if benchmark.access == "gated" and known == "unknown":
        return SITE_LINEAGE
    if benchmark.lineage:
        return benchmark.lineage
    return SITE_LINEAGE if benchmark.access == "private" else benchmark.id
