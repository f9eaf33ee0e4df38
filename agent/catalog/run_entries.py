"""Parse run entries, `benchmark:key=value,...` in HELM's grammar, and the run expanders among their keys."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, cast, get_args

from agent.catalog.benchmark import Benchmark, BrokenDefinition, load_benchmark, survey_benchmarks
from agent.catalog.conf_file import read_conf_file
from agent.catalog.metric_uses import JUDGE_METRIC
from agent.catalog.parser_choice import (
    NO_CHOICE,
    PARSER_KEYS,
    ParserChoice,
    read_parser_choice,
)
from agent.errors import ConfigError
from agent.io.wording import find_unseen, nearest
from agent.vocabulary import AnswerMode, RunEntry

CONFIGURABLE = "medhelm_configurable_benchmark"

# HELM's expanders that are accepted only with the values that do not change anything.
_ONLY = {
    "num_train_trials": ("1",),
    "num_outputs": ("1", "default"),
    "num_trials": ("1",),
    "eval_split": ("test",),
}
EXPANDERS = frozenset(
    {
        "answer_mode",
        *PARSER_KEYS,
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
_IN_PROMPT = "Write it into the prompt file of your own benchmark."
_BY_SERVER = "Omit it; the inference server applies the model's chat format."
# HELM's run expanders that are not supported, with advice. They are refused by name, so that they are not mistaken for
# an argument of the benchmark.
_UNSUPPORTED = {
    "prompt": _IN_PROMPT,
    "newline": _IN_PROMPT,
    "global_prefix": _IN_PROMPT,
    "follow_format_instructions": _IN_PROMPT,
    "output_format_instructions": _IN_PROMPT,
    "format_prompt": _IN_PROMPT,
    "data_augmentation": "Create a file with the changed records, and use it with data_path=FILE.",
    "anthropic": _BY_SERVER,
    "claude_3": _BY_SERVER,
    "amazon-nova": _BY_SERVER,
    "idefics_instruct": _BY_SERVER,
    "llava": _BY_SERVER,
    "open_flamingo": _BY_SERVER,
    "chatml": _BY_SERVER,
    "add_to_stop": "Use stop=hash, semicolon or br.",
    "increase_temperature": "Use the temperature itself: temperature=NUMBER.",
    "tokenizer": "Set the deployment's tokenizer_file in model_deployments.yaml.",
    "num_prompt_tokens": "Omit it; prompts come from the dataset.",
    "process_output": "Use parser=json or parser=pattern, or set a parser in the benchmark's definition.",
}
_WILDCARDS = frozenset({"", "all", "text", "code", "text_code", "instruction_following"})
# HELM's names for stop sequences.
_STOPS = {"none": (), "hash": ("###",), "semicolon": (";",), "br": ("<br>",)}
_MAX_DESCRIPTION = 2000  # characters
_TEXT_TOKENS = 64  # room for the text of an option behind the longest prompt
_CONSTRAINED_TOKENS = (
    64  # enough for an option within JSON, with the white space that models put into it
)


@dataclass(frozen=True, slots=True)
class Overrides:
    """The changes that a run entry's expanders make; None or empty keeps the value of the benchmark or command line."""

    max_eval_instances: int | None = None
    num_output_tokens: int | None = None
    increase_max_tokens: int = 0
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    instructions: Literal["none", "expert"] | None = None
    max_train_instances: int | None = None  # number of examples before the question
    answer_mode: AnswerMode = "generate"
    parser: ParserChoice = NO_CHOICE


def parse_run_entry(description: str) -> RunEntry:
    """Parse a run entry in HELM's grammar.

    The description is split at the first colon, then at commas, and each pair at its first equals sign. There is no
    quoting, so a value cannot contain a comma.

    Raises:
        ConfigError: the syntax is wrong, an expander of HELM is not supported, or a value is out of range.
    """
    if len(description) > _MAX_DESCRIPTION:
        raise ConfigError(
            f"a run entry has {len(description)} characters; expected at most {_MAX_DESCRIPTION}"
        )
    hidden = find_unseen(description)
    if hidden:
        raise ConfigError(f"a run entry contains {hidden}, which is an invisible character")
    name, colon, rest = description.partition(":")
    if not name.strip():
        raise ConfigError(
            f"the run entry {description!r} lacks a benchmark; expected benchmark:key=value,..."
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
    read_overrides(entry)  # raises an error if a value is out of range
    return entry


def _parse_pairs(text: str, description: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for pair in text.split(","):
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise ConfigError(
                f"the run entry {description!r}: expected key=value, not {pair!r} (a value cannot contain a comma)"
            )
        if key in pairs:
            raise ConfigError(f"the run entry {description!r} has {key} twice")
        if key in _UNSUPPORTED:
            raise ConfigError(
                f"the run entry {description!r}: HELM's expander {key} is not supported",
                _UNSUPPORTED[key],
            )
        if key in _ONLY and value not in _ONLY[key]:
            raise ConfigError(
                f"the run entry {description!r}: {key} is {value!r}, but only {key}={_ONLY[key][0]} is supported"
            )
        pairs[key] = value
    return pairs


def read_overrides(entry: RunEntry) -> Overrides:
    """Read the entry's expanders.

    Raises:
        ConfigError: a value has the wrong type or is out of range.
    """
    instructions = entry.expanders.get("instructions")
    stop = entry.expanders.get("stop", "none")
    answer_mode = entry.expanders.get("answer_mode", "generate")
    if instructions not in (None, "none", "expert"):
        raise ConfigError(
            f"{entry.description!r}: instructions is {instructions!r}, expected none or expert"
        )
    if answer_mode not in get_args(AnswerMode):
        raise ConfigError(
            f"{entry.description!r}: answer_mode is {answer_mode!r}, expected one of {', '.join(get_args(AnswerMode))}"
            f"{nearest(answer_mode, get_args(AnswerMode))}"
        )
    lengths = {"num_output_tokens", "increase_max_tokens"} & entry.expanders.keys()
    if answer_mode.startswith("logprob") and lengths:
        raise ConfigError(
            f"{entry.description!r}: answer_mode={answer_mode} cannot be combined with {' and '.join(sorted(lengths))}",
            "Remove the length: the model does not write an answer, but rates the options.",
        )
    parser = read_parser_choice(
        entry.expanders.get("parser"),
        entry.expanders.get("answer_field"),
        entry.expanders.get("answer_pattern"),
        where=entry.description,
    )
    if parser.is_set and answer_mode != "generate":
        raise parser.fault(
            f"the parser of answers cannot be set with answer_mode={answer_mode}, which leaves nothing to parse",
            "Remove one of the two.",
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
        answer_mode=cast(AnswerMode, answer_mode),
        parser=parser,
        max_train_instances=_read_whole_number(
            entry, "max_train_instances", {"zero": "0", "one": "1"}, low=0
        ),
    )


def compute_token_limit(entry: RunEntry, benchmark: Benchmark, *, reasoning: bool) -> int:
    """Return the maximum length of an answer in tokens.

    `num_output_tokens` replaces the benchmark's (reasoning) limit, and `increase_max_tokens` is added to it. A
    constrained answer ends by itself, but may be written as JSON; of a logprob answer only the first token is read;
    an option's text takes up room in the prompt.
    """
    change = read_overrides(entry)
    if change.answer_mode == "logprob":
        return 1
    if change.answer_mode.startswith("logprob_text"):
        return _TEXT_TOKENS
    limit = benchmark.reasoning_max_tokens if reasoning else benchmark.max_tokens
    limit = (change.num_output_tokens or limit) + change.increase_max_tokens
    if change.answer_mode == "constrained":
        return max(limit, _CONSTRAINED_TOKENS)
    return limit


def read_run_entries(
    conf_paths: Sequence[Path], *, priority: int | None = None, groups: Sequence[str] = ()
) -> list[RunEntry]:
    """Read HELM's conf files; see `agent.catalog.conf_file`.

    Args:
        conf_paths: the files, in order.
        priority: if given, keep only entries with this or a smaller number, or without a priority.
        groups: if given, keep only entries of these groups or benchmarks.

    Raises:
        ConfigError: a file is missing or invalid; the message names the file and the entry number. Or the priority and
            the groups leave no entry.
    """
    entries: list[RunEntry] = []
    known_groups: set[str] = set()
    count = 0
    for item in chain.from_iterable(read_conf_file(path) for path in conf_paths):
        try:
            entry = parse_run_entry(item.description)
        except ConfigError as error:
            raise ConfigError(f"{item.where}: {error}", error.advice) from None
        count += 1
        known_groups |= {entry.benchmark, *item.groups}
        if priority is not None and item.priority is not None and item.priority > priority:
            continue
        if groups and not {entry.benchmark, *item.groups} & set(groups):
            continue
        entries.append(entry)
    if count and not entries:
        raise _make_filter_error(count, priority, groups, known_groups)
    return entries


def _make_filter_error(
    count: int, priority: int | None, groups: Sequence[str], known_groups: set[str]
) -> ConfigError:
    """Return the error for filters that leave none of the entries of the conf files."""
    filters: list[str] = []
    if groups:
        filters.append(f"--groups-to-run {' '.join(groups)}")
    if priority is not None:
        filters.append(f"--priority {priority}")
    guesses = [nearest(group, known_groups) for group in groups if group not in known_groups]
    noun = "entry" if count == 1 else "entries"
    message = f"{' and '.join(filters)} leaves none of the {count} run {noun} of the conf files"
    advice = f"Known groups, which include the benchmarks: {', '.join(sorted(known_groups))}."
    if not groups:
        advice = "Give a larger number, or leave --priority out."
    return ConfigError(message + "".join(guesses[:1]), advice)


def rewrite_entry(entry: RunEntry, changes: Mapping[str, str]) -> RunEntry:
    """Return the entry with the values of some keys changed; an empty value removes the key.

    Raises:
        ConfigError: a value contains a comma, behind which it would set other keys; or see `parse_run_entry`.
    """
    for value in changes.values():
        if "," in value:
            raise ConfigError(f"expected a name without a comma, not {value!r}")
    name, _, rest = entry.description.partition(":")
    pairs = [pair for pair in rest.split(",") if pair and pair.partition("=")[0] not in changes]
    pairs += [f"{key}={value}" for key, value in changes.items() if value]
    return parse_run_entry(f"{name}:{','.join(pairs)}" if pairs else name)


def format_counts(counts: Counter[str]) -> str:
    """Format names and their numbers of entries as lines for an error message."""
    lines = []
    for name, count in counts.items():
        noun = "entry" if count == 1 else "entries"
        lines.append(f"\n  {name} ({count} {noun})")
    return "".join(lines)


def collect_run_entries(
    descriptions: Sequence[str],
    conf_paths: Sequence[Path],
    *,
    priority: int | None = None,
    groups: Sequence[str] = (),
    models_to_run: Sequence[str] = (),
) -> list[RunEntry]:
    """Return the entries of a command line: those that it states, and then those of its files.

    Raises:
        ConfigError: there is no entry, or see `parse_run_entry`, `read_run_entries` and `fill_models`.
    """
    entries = [parse_run_entry(description) for description in descriptions]
    entries += read_run_entries(conf_paths, priority=priority, groups=groups)
    if not entries:
        raise ConfigError("no run entries given", "Give --run-entries or --conf-paths.")
    return fill_models(entries, models_to_run)


def fill_models(entries: Iterable[RunEntry], models_to_run: Sequence[str]) -> list[RunEntry]:
    """Replace each entry without a model, or with a wildcard such as `model=text`, by one entry per model to run.

    As in HELM, if `models_to_run` is not empty, entries with other models or deployments are skipped.

    Raises:
        ConfigError: an entry has no model and `models_to_run` is empty, or no entry remains.
    """
    filled: list[RunEntry] = []
    for entry in entries:
        # As in HELM, with --models-to-run a name without a slash is a wildcard. Without the option, only HELM's own
        # wildcards are, since servers can use model names such as "llama3".
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
                f"the run entry {entry.description!r} lacks a model",
                "Add model=..., or list the models with --models-to-run.",
            )
    if models_to_run and not filled:
        raise ConfigError(
            f"no run entry is for {', '.join(models_to_run)}", "Check --models-to-run."
        )
    return filled


def check_data_paths(entries: Iterable[RunEntry]) -> None:
    """Check that the `data_path` of every entry exists.

    Raises:
        ConfigError: some paths do not exist; each is listed with the number of entries that name it.
    """
    missing: Counter[str] = Counter()
    for entry in entries:
        path = entry.arguments.get("data_path")
        if path is not None and not _exists(path):
            missing[path or "(an empty path)"] += 1
    if missing:
        raise ConfigError(
            f"data that the run entries name does not exist:{format_counts(missing)}", _DATA_ADVICE
        )


_DATA_ADVICE = "Copy it there, or use --ignore-data-paths to read the data added by `intramural datasets add` instead."


def ignore_data_paths(entries: Iterable[RunEntry]) -> list[RunEntry]:
    """Remove data_path from every entry, so that the site's data folder (or the sample) is used."""
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
    """Return the entry's benchmark by id or alias, or read `medhelm_configurable_benchmark:config_path=FILE`.

    Args:
        entry: the run entry.
        benchmarks: the usable benchmarks by id, from `survey_benchmarks`.
        broken: the unusable definitions, from `survey_benchmarks`; an entry that names one of them raises its error.

    Raises:
        ConfigError: the benchmark or one of the arguments is unknown; the message suggests the nearest name.
        BenchmarkError: the definition is invalid.
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
            "See `intramural benchmarks list`, which also shows definitions that cannot be read.",
        )
    benchmark = by_name[entry.benchmark]
    allowed = ["data_path", *benchmark.arguments]
    if any(use.name == JUDGE_METRIC for use in benchmark.metrics):
        allowed.insert(1, "jury_config_path")
    _check_arguments(entry, allowed)
    return benchmark


def find_named_benchmark(name: str, own: Path | None = None) -> Benchmark:
    """Return a benchmark by id or alias, from those shipped with the agent and those of the site in `own`.

    Raises:
        ConfigError: there is no such benchmark; the message suggests the nearest name.
        BenchmarkError: the definition is invalid.
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
            "HELM's keywords for several values at once are not supported: write one run entry "
            "for each value.",
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
