"""Run entries: `benchmark:key=value,...`, HELM's grammar, and the run expanders among the keys."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, cast

from agent.catalog.benchmark import Benchmark, BrokenDefinition, load_benchmark, survey_benchmarks
from agent.catalog.conf_file import read_conf_file
from agent.catalog.metric_uses import JUDGE_METRIC
from agent.errors import ConfigError
from agent.io.wording import find_unseen, nearest
from agent.vocabulary import RunEntry

CONFIGURABLE = "medhelm_configurable_benchmark"

# Expanders of HELM that are accepted with the one value that the agent does anyway.
_ONLY = {
    "num_train_trials": ("1",),
    "num_outputs": ("1", "default"),
    "num_trials": ("1",),
    "eval_split": ("test",),
}
EXPANDERS = frozenset(
    {
        "instructions",
        "stop",
        "max_eval_instances",
        "max_train_instances",
        "model",
        "model_deployment",
        "num_output_tokens",
        "increase_max_tokens",
        "temperature",
        *_ONLY,
    }
)
_IN_PROMPT = "Write it into the prompt file of a benchmark of the site's own."
_BY_SERVER = "The inference server knows the model's chat format; leave it out."
# Run expanders of HELM that would change the question in a way that this agent cannot, each with advice. They are
# refused by name, never taken for an argument of the benchmark.
_UNSUPPORTED = {
    "prompt": _IN_PROMPT,
    "newline": _IN_PROMPT,
    "global_prefix": _IN_PROMPT,
    "follow_format_instructions": _IN_PROMPT,
    "output_format_instructions": _IN_PROMPT,
    "format_prompt": _IN_PROMPT,
    "data_augmentation": "Make a file of the changed records, and name it with data_path=FILE.",
    "anthropic": _BY_SERVER,
    "claude_3": _BY_SERVER,
    "amazon-nova": _BY_SERVER,
    "idefics_instruct": _BY_SERVER,
    "llava": _BY_SERVER,
    "open_flamingo": _BY_SERVER,
    "chatml": _BY_SERVER,
    "add_to_stop": "Use stop=hash, semicolon or br.",
    "increase_temperature": "Give the temperature itself: temperature=NUMBER.",
    "tokenizer": "Name the deployment's own: tokenizer_file in model_deployments.yaml.",
    "num_prompt_tokens": "Prompts come from the dataset; leave it out.",
    "process_output": "Name a parser in the benchmark's definition.",
}
_WILDCARDS = frozenset({"", "all", "text", "code", "text_code", "instruction_following"})
_STOPS = {
    "none": (),
    "hash": ("###",),
    "semicolon": (";",),
    "br": ("<br>",),
}  # HELM's words for them
_MAX_DESCRIPTION = 2000  # characters


@dataclass(frozen=True, slots=True)
class Overrides:
    """Changes by a run entry's expanders; None or empty leaves the benchmark's or the command line's value."""

    max_eval_instances: int | None = None
    num_output_tokens: int | None = None
    increase_max_tokens: int = 0
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    instructions: Literal["none", "expert"] | None = None
    max_train_instances: int | None = None  # examples before the question; 0 for none


def parse_run_entry(description: str) -> RunEntry:
    """Parse by HELM's grammar: split at the first colon, then at commas, each pair at its first equals sign.

    There is no quoting: a value cannot hold a comma.

    Raises:
        ConfigError: not of that form, an expander of HELM's that is not supported, or a value out of range.
    """
    if len(description) > _MAX_DESCRIPTION:
        raise ConfigError(
            f"a run entry has {len(description)} characters; expected at most {_MAX_DESCRIPTION}"
        )
    hidden = find_unseen(description)
    if hidden:
        raise ConfigError(f"a run entry holds {hidden}, a character that cannot be seen")
    name, colon, rest = description.partition(":")
    if not name.strip():
        raise ConfigError(
            f"the run entry {description!r} names no benchmark; expected benchmark:key=value,..."
        )
    pairs = _parse_pairs(rest, description) if colon else {}
    arguments = {}
    expanders = {}
    for key, value in pairs.items():
        if key not in EXPANDERS:
            arguments[key] = value
        elif key not in ("model", "model_deployment", *_ONLY):
            expanders[key] = value
    entry = RunEntry(
        benchmark=name,
        model=pairs.get("model", ""),
        model_deployment=pairs.get("model_deployment", ""),
        arguments=arguments,
        expanders=expanders,
        description=description,
    )
    read_overrides(entry)  # raises where a value is out of range
    return entry


def _parse_pairs(text: str, description: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for pair in text.split(","):
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise ConfigError(
                f"the run entry {description!r}: expected key=value, not {pair!r} (a value cannot hold a comma)"
            )
        if key in pairs:
            raise ConfigError(f"the run entry {description!r} gives {key} twice")
        if key in _UNSUPPORTED:
            raise ConfigError(
                f"the run entry {description!r}: HELM's expander {key} is not supported here",
                _UNSUPPORTED[key],
            )
        if key in _ONLY and value not in _ONLY[key]:
            raise ConfigError(
                f"the run entry {description!r}: {key} is {value!r}, and {key}={_ONLY[key][0]} is all that is done here"
            )
        pairs[key] = value
    return pairs


def read_overrides(entry: RunEntry) -> Overrides:
    """Read the entry's expanders.

    Raises:
        ConfigError: a value is not of its kind or out of range.
    """
    instructions = entry.expanders.get("instructions")
    stop = entry.expanders.get("stop", "none")
    if instructions not in (None, "none", "expert"):
        raise ConfigError(
            f"{entry.description!r}: instructions is {instructions!r}, expected none or expert"
        )
    if stop not in _STOPS:
        raise ConfigError(
            f"{entry.description!r}: stop is {stop!r}, expected one of {', '.join(_STOPS)}"
        )
    return Overrides(
        max_eval_instances=_read_whole_number(entry, "max_eval_instances", {"default": "1000"}),
        num_output_tokens=_read_whole_number(entry, "num_output_tokens"),
        increase_max_tokens=_read_whole_number(entry, "increase_max_tokens") or 0,
        temperature=_read_temperature(entry),
        stop=_STOPS[stop],
        instructions=cast(Literal["none", "expert"] | None, instructions),
        max_train_instances=_read_whole_number(
            entry, "max_train_instances", {"zero": "0", "one": "1"}, low=0
        ),
    )


def compute_token_limit(entry: RunEntry, benchmark: Benchmark, *, reasoning: bool) -> int:
    """Return the length limit of an answer in tokens.

    `num_output_tokens` replaces the benchmark's (reasoning) limit, `increase_max_tokens` adds to it.
    """
    change = read_overrides(entry)
    limit = benchmark.reasoning_max_tokens if reasoning else benchmark.max_tokens
    return (change.num_output_tokens or limit) + change.increase_max_tokens


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
    entries: list[RunEntry] = []
    for item in chain.from_iterable(read_conf_file(path) for path in conf_paths):
        try:
            entry = parse_run_entry(item.description)
        except ConfigError as error:
            raise ConfigError(f"{item.where}: {error}", error.advice) from None
        if priority is not None and item.priority is not None and item.priority > priority:
            continue
        if groups and not {entry.benchmark, *item.groups} & set(groups):
            continue
        entries.append(entry)
    return entries


def rewrite_entry(entry: RunEntry, changes: Mapping[str, str]) -> RunEntry:
    """Return the entry with other values of some keys; an empty value takes the key out."""
    name, _, rest = entry.description.partition(":")
    pairs = [pair for pair in rest.split(",") if pair and pair.partition("=")[0] not in changes]
    pairs += [f"{key}={value}" for key, value in changes.items() if value]
    return parse_run_entry(f"{name}:{','.join(pairs)}" if pairs else name)


def format_counts(counts: Counter[str]) -> str:
    """Return a line for each name with its number of entries, for an error that lists them."""
    lines = []
    for name, count in counts.items():
        noun = "entry" if count == 1 else "entries"
        lines.append(f"\n  {name} ({count} {noun})")
    return "".join(lines)


def fill_models(entries: Iterable[RunEntry], models_to_run: Sequence[str]) -> list[RunEntry]:
    """Give entries without a model, or with a wildcard such as `model=text`, each of `models_to_run`.

    As in HELM, entries that name another model or deployment than `models_to_run` are left out where it is given.

    Raises:
        ConfigError: an entry names no model, and no models were given; or no entry is left.
    """
    filled: list[RunEntry] = []
    for entry in entries:
        # HELM's rule: with --models-to-run, a name without a slash is a wildcard. Without it, only HELM's words
        # are, since servers also know models by names such as "llama3".
        names_model = "/" in entry.model or bool(entry.model_deployment and not entry.model)
        if models_to_run and not names_model:
            filled += [rewrite_entry(entry, {"model": model}) for model in models_to_run]
        elif models_to_run:
            if entry.model in models_to_run or entry.model_deployment in models_to_run:
                filled.append(entry)
        elif names_model or entry.model not in _WILDCARDS:
            filled.append(entry)
        else:
            raise ConfigError(
                f"the run entry {entry.description!r} names no model",
                "Add model=..., or give the models with --models-to-run.",
            )
    if models_to_run and not filled:
        raise ConfigError(
            f"no run entry is for {', '.join(models_to_run)}", "Check --models-to-run."
        )
    return filled


def check_data_paths(entries: Iterable[RunEntry]) -> None:
    """Check that every file or folder that an entry names with data_path exists.

    Raises:
        ConfigError: lists those that do not, each once, with the number of entries that name it.
    """
    missing: Counter[str] = Counter()
    for entry in entries:
        path = entry.arguments.get("data_path")
        if path is not None and not _exists(path):
            missing[path or "(an empty path)"] += 1
    if missing:
        raise ConfigError(
            f"data that the run entries name is not here:{format_counts(missing)}", _DATA_ADVICE
        )


_DATA_ADVICE = (
    "Put it there; or give --ignore-data-paths to use what "
    "`intramural datasets add` put into the site's data folder."
)


def ignore_data_paths(entries: Iterable[RunEntry]) -> list[RunEntry]:
    """Take data_path out of every entry, so that the site's own data folder (or the sample) is used."""
    ignoring = []
    for entry in entries:
        names_data = "data_path" in entry.arguments
        ignoring.append(rewrite_entry(entry, {"data_path": ""}) if names_data else entry)
    return ignoring


def _exists(path: str) -> bool:
    try:
        return bool(path) and Path(path).exists()
    except (OSError, ValueError):
        return False


def resolve_benchmark(
    entry: RunEntry, benchmarks: Mapping[str, Benchmark], broken: Sequence[BrokenDefinition] = ()
) -> Benchmark:
    """Find the entry's benchmark by id or alias, or read `medhelm_configurable_benchmark:config_path=FILE`.

    Args:
        entry: names the benchmark.
        benchmarks: those that can be used, by id.
        broken: those that cannot (both from `survey_benchmarks`); naming one of them raises its error.

    Raises:
        ConfigError: no such benchmark, or an argument it does not take; names the nearest.
        BenchmarkError: its definition is wrong.
    """
    if entry.benchmark == CONFIGURABLE:
        path = entry.arguments.get("config_path")
        if not path:
            raise ConfigError(f"the run entry {entry.description!r} needs config_path=FILE")
        _check_arguments(entry, ("config_path",))
        return load_benchmark(Path(path), absolute_paths=True)
    for definition in broken:
        if entry.benchmark in definition.names:
            raise definition.error
    by_name: dict[str, Benchmark] = {}
    for usable in benchmarks.values():
        by_name.update(dict.fromkeys((usable.id, *usable.aliases), usable))
    if entry.benchmark not in by_name:
        raise ConfigError(
            f"there is no benchmark {entry.benchmark!r}{nearest(entry.benchmark, by_name)}",
            "See `intramural benchmarks list`, also for definitions that cannot be read.",
        )
    benchmark = by_name[entry.benchmark]
    allowed = ["data_path", *benchmark.arguments]
    if any(use.name == JUDGE_METRIC for use in benchmark.metrics):
        allowed.insert(1, "jury_config_path")
    _check_arguments(entry, allowed)
    return benchmark


def find_named_benchmark(name: str, own: Path | None = None) -> Benchmark:
    """Find a benchmark by id or alias among those that travel with the agent and the site's `own`.

    Raises:
        ConfigError: there is none; names the nearest.
        BenchmarkError: its definition is wrong.
    """
    return resolve_benchmark(RunEntry(name, "", "", {}, {}, name), *survey_benchmarks(own))


def _check_arguments(entry: RunEntry, allowed: Sequence[str]) -> None:
    for name in entry.arguments:
        if name not in allowed:
            raise ConfigError(
                f"the run entry {entry.description!r}: {entry.benchmark} takes no argument {name!r}"
                f"{nearest(name, (*allowed, *EXPANDERS))}"
            )


def _read_whole_number(
    entry: RunEntry, key: str, words: Mapping[str, str] | None = None, *, low: int = 1
) -> int | None:
    value = entry.expanders.get(key)
    if value is None:
        return None
    value = (words or {}).get(value, value)
    if not value.isascii() or not value.isdigit() or not low <= int(value) <= 10_000_000:
        raise ConfigError(
            f"{entry.description!r}: {key} is {value!r}, expected a whole number {'above 0' if low else 'from 0'}",
            "HELM's words for several values at once are not read: write one run entry for each value.",
        )
    return int(value)


def _read_temperature(entry: RunEntry) -> float | None:
    value = entry.expanders.get("temperature")
    if value is None:
        return None
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 10:
        raise ConfigError(
            f"{entry.description!r}: temperature is {value!r}, expected a number from 0 to 10"
        )
    return number
