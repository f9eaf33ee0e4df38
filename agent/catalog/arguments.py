"""Arguments that a run entry passes to a benchmark: `clear:condition=homelessness`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from agent.errors import ConfigError
from agent.io.wording import nearest
from agent.io.yaml_map import YamlMap

FILE_ARGUMENTS = frozenset({"config_path", "data_path", "jury_config_path"})
"""What a run entry may pass besides a benchmark's own arguments: names of files."""
DATA_ARGUMENTS = FILE_ARGUMENTS - {"jury_config_path"}  # those that change which data is asked

_MOST_TOKENS = 100_000_000
_HELMS_NOTHING = "None"  # `category=None` in a run name of HELM's: all categories
_LIKE_A_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Argument:
    """What a run entry may pass under one name.

    Attributes:
        values: those allowed; empty: any text.
        default: where the entry passes none; None: there is none.
        required: whether an entry must pass it.
        column: only rows whose cell here equals the value are taken (all, if the value is empty); None: of no row.
        kind: "text", or "tokens" for the most tokens of a prompt, which no row and no file name sees.
    """

    values: tuple[str, ...] = ()
    default: str | None = None
    required: bool = False
    column: str | None = None
    kind: Literal["text", "tokens"] = "text"


def read_arguments(m: YamlMap) -> dict[str, Argument]:
    """Read the key `arguments` of a definition: a map from name to argument, or a list of names for any value."""
    if m.is_list("arguments"):
        found = {name: Argument() for name in m.names("arguments")}
    else:
        found = {name: _argument(inner) for name, inner in m.named_maps("arguments").items()}
    for name in found:
        if not _LIKE_A_NAME.fullmatch(name) or name in FILE_ARGUMENTS or name == "options":
            m.note("arguments", "expected names of letters, digits and _, none of them `options` or a file's")
            return {}
    return found


def _argument(inner: YamlMap) -> Argument:
    found = Argument(
        values=inner.names("values"),
        default=inner.name("default", "") if inner.has("default") else None,
        required=inner.flag("required", False),
        column=inner.name("column", "") or None,
        kind=cast(Literal["text", "tokens"], inner.choice("kind", ("text", "tokens"), "text")),
    )
    if found.default and _problem(found, found.default):
        inner.note("default", f"{_problem(found, found.default)}")
    inner.finish()
    return found


def fill_arguments(benchmark_id: str, declared: Mapping[str, Argument], passed: Mapping[str, str]) -> dict[str, str]:
    """Check the arguments of a run entry and fill in the defaults; an argument without a value is left out.

    Args:
        benchmark_id: for messages.
        declared: the arguments of the benchmark, by name.
        passed: those of the run entry; those that name files are skipped.

    Raises:
        ConfigError: a name or value that the benchmark does not know (with the nearest), or a required one missing.
    """
    for name in passed:
        if name not in declared and name not in FILE_ARGUMENTS:
            raise ConfigError(f"{benchmark_id} takes no argument {name!r}{nearest(name, declared)}")
    values: dict[str, str] = {}
    for name, argument in declared.items():
        value = passed.get(name, argument.default)
        if value is None and argument.required:
            raise ConfigError(f"{benchmark_id} needs the argument {name}{_allowed(argument)}")
        if argument.column and value == _HELMS_NOTHING:
            value = argument.default
        if value is None:
            continue
        # A default may be a value that an entry could not pass: the empty one, for all rows.
        problem = "" if value == argument.default else _problem(argument, value)
        if problem:
            raise ConfigError(f"{benchmark_id}: {name} is {value!r}: {problem}")
        values[name] = value
    return values


def _problem(argument: Argument, value: str) -> str:
    if argument.values and value not in argument.values:
        return f"expected{_allowed(argument).removeprefix(':')}{nearest(value, argument.values)}"
    if argument.kind == "tokens" and not (value.isascii() and value.isdigit() and 1 <= int(value) <= _MOST_TOKENS):
        return "expected a whole number of tokens above 0"
    return ""


def _allowed(argument: Argument) -> str:
    return f": one of {', '.join(argument.values)}" if argument.values else ""
