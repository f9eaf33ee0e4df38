"""Run entries: `benchmark:key=value,...`, HELM's grammar, and the run expanders among the keys."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.catalog.benchmark import Benchmark
from agent.vocabulary import RunEntry


@dataclass(frozen=True, slots=True)
class Overrides:
    """What a run entry's expanders change; None or empty leaves the benchmark's or the command line's value."""

    max_eval_instances: int | None = None
    num_output_tokens: int | None = None
    increase_max_tokens: int = 0
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    instructions: Literal["none", "expert"] | None = None


def parse_run_entry(description: str) -> RunEntry:
    """Parse by HELM's grammar: split at the first colon, then at commas, each pair at its first equals sign.

    Raises:
        ConfigError: not of that form, an expander of HELM's that is not supported, or a value out of range.
    """
    raise NotImplementedError


def overrides(entry: RunEntry) -> Overrides:
    """Read the entry's expanders."""
    raise NotImplementedError


def output_tokens(entry: RunEntry, benchmark: Benchmark, *, reasoning: bool) -> int:
    """Length limit of an answer in tokens.

    `num_output_tokens` replaces the benchmark's (reasoning) limit, `increase_max_tokens` adds to it.
    """
    raise NotImplementedError


def read_run_entries(
    conf_paths: Sequence[Path], *, priority: int | None = None, groups: Sequence[str] = ()
) -> list[RunEntry]:
    """Read HELM's conf files (HOCON: entries: [{description, priority, groups}]).

    Args:
        conf_paths: the files, in order.
        priority: keep entries of this priority or a more important (lower) one; those without one are kept.
        groups: keep entries of these groups or benchmarks; empty keeps all.

    Raises:
        ConfigError: a file is missing or not of that form; names file and entry number.
    """
    raise NotImplementedError


def fill_models(entries: Iterable[RunEntry], models_to_run: Sequence[str]) -> list[RunEntry]:
    """Give entries without a model, or with a wildcard such as `model=text`, each of `models_to_run`.

    Raises:
        ConfigError: such an entry, and no models given.
    """
    raise NotImplementedError


def benchmark_of(entry: RunEntry, benchmarks: Mapping[str, Benchmark]) -> Benchmark:
    """Find the entry's benchmark by id or alias, or read `medhelm_configurable_benchmark:config_path=FILE`.

    Raises:
        ConfigError: no such benchmark, or an argument it does not take; names the nearest.
        BenchmarkError: the configured file is wrong.
    """
    raise NotImplementedError
