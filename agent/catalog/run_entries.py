"""Run entries: `benchmark:key=value,...`, HELM's grammar, and the run expanders among the keys."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.catalog.benchmark import Benchmark, Broken, load_benchmark
from agent.catalog.small_file import decode, read_bytes
from agent.catalog.wording import nearest, unseen
from agent.errors import ConfigError
from agent.vocabulary import RunEntry

CONFIGURABLE = "medhelm_configurable_benchmark"

_SUPPORTED = frozenset(
    {
        "instructions",
        "stop",
        "max_eval_instances",
        "model",
        "model_deployment",
        "num_output_tokens",
        "increase_max_tokens",
        "temperature",
    }
)
# Run expanders of HELM that would change what is asked in a way that this agent cannot do: refused by name,
# never taken for an argument of the benchmark.
_UNSUPPORTED = frozenset(
    {
        "prompt",
        "newline",
        "add_to_stop",
        "global_prefix",
        "anthropic",
        "claude_3",
        "amazon-nova",
        "follow_format_instructions",
        "idefics_instruct",
        "llava",
        "open_flamingo",
        "format_prompt",
        "num_train_trials",
        "max_train_instances",
        "num_outputs",
        "num_trials",
        "eval_split",
        "data_augmentation",
        "tokenizer",
        "num_prompt_tokens",
        "increase_temperature",
        "chatml",
        "output_format_instructions",
        "process_output",
    }
)
_WILDCARDS = frozenset({"", "all", "text", "code", "text_code", "instruction_following"})
_STOPS = {"none": (), "hash": ("###",), "semicolon": (";",), "br": ("<br>",)}  # HELM's words for them
_MAX_DESCRIPTION = 2000  # characters
_INCLUDE = re.compile(r"\binclude\s*(?:required\s*\(|url\s*\(|file\s*\(|package\s*\(|classpath\s*\(|\")", re.IGNORECASE)


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

    There is no quoting: a value cannot hold a comma.

    Raises:
        ConfigError: not of that form, an expander of HELM's that is not supported, or a value out of range.
    """
    if len(description) > _MAX_DESCRIPTION:
        raise ConfigError(f"a run entry has {len(description)} characters; expected at most {_MAX_DESCRIPTION}")
    hidden = unseen(description)
    if hidden:
        raise ConfigError(f"a run entry holds {hidden}, a character that cannot be seen")
    name, colon, rest = description.partition(":")
    if not name.strip():
        raise ConfigError(f"the run entry {description!r} names no benchmark; expected benchmark:key=value,...")
    pairs: dict[str, str] = {}
    for pair in rest.split(",") if colon else []:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise ConfigError(
                f"the run entry {description!r}: expected key=value, not {pair!r} (a value cannot hold a comma)"
            )
        if key in pairs:
            raise ConfigError(f"the run entry {description!r} gives {key} twice")
        if key in _UNSUPPORTED:
            raise ConfigError(f"the run entry {description!r}: HELM's expander {key} is not supported here")
        pairs[key] = value
    entry = RunEntry(
        benchmark=name,
        model=pairs.get("model", ""),
        model_deployment=pairs.get("model_deployment", ""),
        arguments={key: value for key, value in pairs.items() if key not in _SUPPORTED},
        expanders={key: value for key, value in pairs.items() if key in _SUPPORTED and not key.startswith("model")},
        description=description,
    )
    overrides(entry)
    return entry


def overrides(entry: RunEntry) -> Overrides:
    """Read the entry's expanders.

    Raises:
        ConfigError: a value is not of its kind or out of range.
    """
    given = entry.expanders
    instructions, stop = given.get("instructions"), given.get("stop", "none")
    if instructions not in (None, "none", "expert"):
        raise ConfigError(f"{entry.description!r}: instructions is {instructions!r}, expected none or expert")
    if stop not in _STOPS:
        raise ConfigError(f"{entry.description!r}: stop is {stop!r}, expected one of {', '.join(_STOPS)}")
    instances = _whole(entry, "max_eval_instances", {"default": "1000"})
    return Overrides(
        max_eval_instances=instances,
        num_output_tokens=_whole(entry, "num_output_tokens"),
        increase_max_tokens=_whole(entry, "increase_max_tokens") or 0,
        temperature=_temperature(entry),
        stop=_STOPS[stop],
        instructions="none" if instructions == "none" else "expert" if instructions else None,
    )


def output_tokens(entry: RunEntry, benchmark: Benchmark, *, reasoning: bool) -> int:
    """Length limit of an answer in tokens.

    `num_output_tokens` replaces the benchmark's (reasoning) limit, `increase_max_tokens` adds to it.
    """
    change = overrides(entry)
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
    for path in conf_paths:
        for number, item in enumerate(_conf_entries(path), 1):
            where = f"{path}: entry {number}"
            entry, entry_priority, entry_groups = _conf_entry(item, where)
            if priority is not None and entry_priority is not None and entry_priority > priority:
                continue
            if groups and not {entry.benchmark, *entry_groups} & set(groups):
                continue
            entries.append(entry)
    return entries


def fill_models(entries: Iterable[RunEntry], models_to_run: Sequence[str]) -> list[RunEntry]:
    """Give entries without a model, or with a wildcard such as `model=text`, each of `models_to_run`.

    Raises:
        ConfigError: such an entry, and no models given.
    """
    filled: list[RunEntry] = []
    for entry in entries:
        # HELM's rule: with --models-to-run, a name without a slash is a wildcard. Without it, only HELM's words
        # are, since servers also know models by names such as "llama3".
        named = "/" in entry.model or bool(entry.model_deployment and not entry.model)
        if not named and models_to_run:
            filled += [_with_model(entry, model) for model in models_to_run]
        elif named or entry.model not in _WILDCARDS:
            filled.append(entry)
        else:
            raise ConfigError(
                f"the run entry {entry.description!r} names no model",
                "Add model=..., or give the models with --models-to-run.",
            )
    return filled


def benchmark_of(entry: RunEntry, benchmarks: Mapping[str, Benchmark], broken: Sequence[Broken] = ()) -> Benchmark:
    """Find the entry's benchmark by id or alias, or read `medhelm_configurable_benchmark:config_path=FILE`.

    Args:
        entry: what was asked for.
        benchmarks: those that can be used, by id.
        broken: those that cannot (both from `survey_benchmarks`); asking for one of them raises its error.

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
    for one in broken:
        if entry.benchmark in one.names:
            raise one.error
    by_name = {name: b for b in benchmarks.values() for name in (b.id, *b.aliases)}
    if entry.benchmark not in by_name:
        raise ConfigError(
            f"there is no benchmark {entry.benchmark!r}{nearest(entry.benchmark, by_name)}",
            "See `intramural benchmarks list`, also for definitions that cannot be read.",
        )
    benchmark = by_name[entry.benchmark]
    _check_arguments(entry, ("data_path", *benchmark.arguments))
    return benchmark


def _check_arguments(entry: RunEntry, known: Sequence[str]) -> None:
    for name in entry.arguments:
        if name not in known:
            raise ConfigError(
                f"the run entry {entry.description!r}: {entry.benchmark} takes no argument {name!r}"
                f"{nearest(name, (*known, *_SUPPORTED))}"
            )


def _whole(entry: RunEntry, key: str, words: Mapping[str, str] | None = None) -> int | None:
    value = entry.expanders.get(key)
    if value is None:
        return None
    value = (words or {}).get(value, value)
    if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= 10_000_000:
        raise ConfigError(f"{entry.description!r}: {key} is {value!r}, expected a whole number above 0")
    return int(value)


def _temperature(entry: RunEntry) -> float | None:
    value = entry.expanders.get("temperature")
    if value is None:
        return None
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 10:
        raise ConfigError(f"{entry.description!r}: temperature is {value!r}, expected a number from 0 to 10")
    return number


def _with_model(entry: RunEntry, model: str) -> RunEntry:
    name, _, rest = entry.description.partition(":")
    kept = [pair for pair in rest.split(",") if pair and not pair.startswith("model=")]
    return parse_run_entry(f"{name}:{','.join([*kept, f'model={model}'])}")


def _conf_entries(path: Path) -> list[object]:
    text = decode(read_bytes(path, ConfigError), path, ConfigError)
    # HOCON can put the environment's variables into any value; runs are named and kept by these.
    if "${" in text:
        line = text.count("\n", 0, text.index("${")) + 1
        raise ConfigError(f"{path}: line {line}: substitution (a dollar sign and a brace) is not supported")
    # HOCON can include other files and even web addresses; a run reads what it is given and nothing else.
    if _INCLUDE.search(text):
        raise ConfigError(f"{path}: `include` is not supported; give each file with --conf-paths")
    from pyhocon import ConfigFactory
    from pyhocon.exceptions import ConfigException
    from pyparsing import ParseBaseException

    try:
        tree = ConfigFactory.parse_string(text).as_plain_ordered_dict()
    except ParseBaseException as why:
        raise ConfigError(f"{path}: line {why.lineno} is not HOCON") from None
    except (ConfigException, RecursionError, AttributeError, TypeError):
        raise ConfigError(f"{path}: not HOCON with a map of keys") from None
    entries = tree.get("entries")
    if not isinstance(entries, list) or set(tree) != {"entries"}:
        raise ConfigError(f"{path}: expected one key `entries` with a list")
    return entries


def _conf_entry(item: object, where: str) -> tuple[RunEntry, int | None, list[str]]:
    known = ("description", "priority", "groups")
    if not isinstance(item, dict) or not isinstance(item.get("description"), str):
        raise ConfigError(f"{where}: expected a map with a text `description`")
    for key in item:
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}{nearest(key, known)}")
    priority, groups = item.get("priority"), item.get("groups") or []
    if priority is not None and (isinstance(priority, bool) or not isinstance(priority, int)):
        raise ConfigError(f"{where}: priority is not a whole number")
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise ConfigError(f"{where}: groups is not a list of texts")
    try:
        return parse_run_entry(item["description"]), priority, groups
    except ConfigError as why:
        raise ConfigError(f"{where}: {why}", why.advice) from None
