"""Name a benchmark as people see it: its display name with the part that was run, such as "MedDialog (icliniq)"."""

from collections.abc import Iterable, Sequence

from agent.store import Run


def name_benchmark(runs: Sequence[Run]) -> str:
    """Return the name of the benchmark of these runs, with its part if all of them are on the same one."""
    first = runs[0]
    title = first.details.display_name or first.benchmark
    parts = {name_part(run) for run in runs}
    part = parts.pop() if len(parts) == 1 else ""
    return f"{title} ({part})" if part else title


def name_benchmarks(runs: Iterable[Run]) -> dict[str, str]:
    """Return the name of each benchmark of these runs by its id."""
    runs_by_benchmark: dict[str, list[Run]] = {}
    for run in runs:
        runs_by_benchmark.setdefault(run.benchmark, []).append(run)
    return {benchmark: name_benchmark(group) for benchmark, group in runs_by_benchmark.items()}


def name_part(run: Run) -> str:
    """Return the part of its benchmark that a run entry chose, such as "icliniq"; empty if it chose none.

    A pooled run has chosen none, because its entry no longer contains the arguments that differ.
    """
    own = run.details.arguments
    return ", ".join(_name_value(key, value) for key, value in run.pairs if key in own)


def _name_value(key: str, value: str) -> str:
    """Return a value that explains itself, such as "icliniq", and others with their key, such as "max length 1000"."""
    if any(letter.isalpha() for letter in value):
        return value
    return f"{key.replace('_', ' ')} {value}"
