"""Arguments that a run entry passes to a benchmark: `clear:condition=homelessness`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from agent.errors import ConfigError
from agent.io.wording import nearest
from agent.io.yaml_map import YamlMap

FILE_ARGUMENTS = frozenset({"config_path", "data_path", "jury_config_path"})
"""Arguments of a run entry that name files. Every benchmark accepts them in addition to its own arguments."""
DATA_ARGUMENTS = FILE_ARGUMENTS - {"jury_config_path"}  # the arguments that select the data

_MAX_TOKENS = 100_000_000
_HELM_NOTHING = "None"  # in HELM's run names, `category=None` means all categories
_LIKE_A_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument that a run entry may pass.

    Attributes:
        values: the allowed values; if empty, any text is allowed.
        default: the value if the entry does not pass the argument, or None if there is no default.
        required: whether an entry must pass the argument.
        column: a column that must equal the value for a row to be read; an empty value selects all rows. If None, the
            argument does not select rows.
        kind: "text", or "tokens" for the maximum number of tokens in a prompt, which neither selects rows nor names
            files.
    """

    values: tuple[str, ...] = ()
    default: str | None = None
    required: bool = False
    column: str | None = None
    kind: Literal["text", "tokens"] = "text"


def read_arguments(section: YamlMap) -> dict[str, Argument]:
    """Read the key `arguments` of a definition: a map of arguments by name, or a list of names without restrictions."""
    if section.is_list("arguments"):
        arguments = {name: Argument() for name in section.names("arguments")}
    else:
        arguments = {
            name: _read_argument(inner) for name, inner in section.named_maps("arguments").items()
        }
    for name in arguments:
        if not _LIKE_A_NAME.fullmatch(name) or name in FILE_ARGUMENTS or name == "options":
            section.note(
                "arguments",
                "expected names of letters, digits and _, other than `options` and the names of file arguments",
            )
            return {}
    return arguments


def _read_argument(section: YamlMap) -> Argument:
    argument = Argument(
        values=section.names("values"),
        default=section.name("default", "") if section.has("default") else None,
        required=section.flag("required", False),
        column=section.name("column", "") or None,
        kind=cast(Literal["text", "tokens"], section.choice("kind", ("text", "tokens"), "text")),
    )
    problem = _find_problem(argument, argument.default) if argument.default else ""
    if problem:
        section.note("default", problem)
    section.finish()
    return argument


def fill_arguments(
    benchmark_id: str, declared: Mapping[str, Argument], passed: Mapping[str, str]
) -> dict[str, str]:
    """Check the arguments of a run entry and fill in the defaults; arguments without a value are omitted.

    Args:
        benchmark_id: the benchmark's id, for messages.
        declared: the arguments of the benchmark, by name.
        passed: the arguments of the run entry; those that name files are ignored.

    Raises:
        ConfigError: a name or value is unknown (the message suggests the nearest), or a required argument is missing.
    """
    for name in passed:
        if name not in declared and name not in FILE_ARGUMENTS:
            raise ConfigError(f"{benchmark_id} takes no argument {name!r}{nearest(name, declared)}")
    values: dict[str, str] = {}
    for name, argument in declared.items():
        value = passed.get(name, argument.default)
        if value is None and argument.required:
            raise ConfigError(f"{benchmark_id} needs the argument {name}{_list_allowed(argument)}")
        if argument.column and value == _HELM_NOTHING:
            value = argument.default
        if value is None:
            continue
        # The default need not be one of the allowed values: it may be empty, which selects all rows.
        problem = "" if value == argument.default else _find_problem(argument, value)
        if problem:
            raise ConfigError(f"{benchmark_id}: {name} is {value!r}: {problem}")
        values[name] = value
    return values


def _find_problem(argument: Argument, value: str) -> str:
    if argument.values and value not in argument.values:
        return (
            f"expected{_list_allowed(argument).removeprefix(':')}{nearest(value, argument.values)}"
        )
    if argument.kind == "tokens" and not (
        value.isascii() and value.isdigit() and 1 <= int(value) <= _MAX_TOKENS
    ):
        return "expected a whole number of tokens above 0"
    return ""


def _list_allowed(argument: Argument) -> str:
    return f": one of {', '.join(argument.values)}" if argument.values else ""
