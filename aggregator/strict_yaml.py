"""Strictly reading YAML files whose content the root key signs: an ambiguous file is an error with its line.

Duplicate keys, anchors, aliases, tags and a second document are refused, so that a reader sees
exactly what is signed. Plain scalars are text except `true`, `false`, `null`, integers and decimal
fractions. YAML 1.1 interpretations (`no` as false, `010` as eight, `1:30` as ninety) do not apply.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import ValidationError

from aggregator.errors import SettingsError
from aggregator.small_file import read_small

_MAX_DEPTH: Final = 20

_WORDS: Final[Mapping[str, bool | None]] = {
    "true": True,
    "false": False,
    "null": None,
    "~": None,
    "": None,
}
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_FRACTION = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,18}")
_LIKE_A_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

Place = tuple[str | int, ...]  # keys and list positions from the outermost value inwards


@dataclass(frozen=True, slots=True)
class YamlFile:
    """The value of a YAML file, with the line of each nested value."""

    name: str
    value: object
    lines: Mapping[Place, int]

    def refusal(self, error: ValidationError) -> SettingsError:
        """Return an error that reports all problems of a value, each with its line and key."""
        named = sorted((self._line(place), fault) for place, fault in faults(error))
        return SettingsError(
            f"{self.name}: " + "; ".join(f"line {line}: {fault}" for line, fault in named)
        )

    def _line(self, place: Place) -> int:
        """Return the line of a value; for a missing value, the line of its parent."""
        while place not in self.lines:
            place = place[:-1]
        return self.lines[place]


def faults(error: ValidationError) -> list[tuple[Place, str]]:
    """Return the position and message of each problem of a value, without quoting the value."""
    found = []
    for fault in error.errors(include_input=False, include_url=False):
        where = ".".join(map(str, fault["loc"])) or "the whole file"
        words = _in_words(fault["type"], fault["msg"], fault.get("ctx", {}))
        found.append((fault["loc"], f"{where}: {words}"))
    return found


_IN_WORDS: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "extra_forbidden": "unknown key",
    "string_type": "expected text",
    "string_too_short": "expected text that is not empty",
    "string_pattern_mismatch": "the text does not have the expected format",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "model_type": "expected a mapping of keys to values",
    "dict_type": "expected a mapping of keys to values",
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "finite_number": "expected a number",
}
"""Our messages for the validator's error types."""
_BOUNDS: Final[Mapping[str, tuple[str, str]]] = {
    "greater_than_equal": ("ge", "expected at least"),
    "less_than_equal": ("le", "expected at most"),
    "greater_than": ("gt", "expected more than"),
    "less_than": ("lt", "expected less than"),
}


def _in_words(kind: str, message: str, context: Mapping[str, Any]) -> str:
    """Return our message for a problem. Messages of our own validators are kept."""
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return f"{words} {context[bound]}"
    return _IN_WORDS.get(kind, message.removeprefix("Value error, "))


def read_yaml(path: Path) -> YamlFile:
    """Read a YAML file.

    Raises:
        SettingsError: the file is unreadable, too large, not YAML, or uses refused features.
    """
    text = _read_text(path)
    lines: dict[Place, int] = {(): 1}
    try:
        root = yaml.compose(text, Loader=_Composer)
        value = None if root is None else _value(root, (), lines)
    except yaml.MarkedYAMLError as why:
        line = f" line {why.problem_mark.line + 1}:" if why.problem_mark else ""
        problem = ", ".join(part for part in (why.context, why.problem) if part)
        raise SettingsError(f"{path.name}:{line} {problem or 'not YAML'}") from None
    except yaml.reader.ReaderError as why:
        line_number = text.count("\n", 0, why.position) + 1
        raise SettingsError(
            f"{path.name}: line {line_number}: a character that is not allowed in YAML"
        ) from None
    return YamlFile(path.name, value, lines)


def _read_text(path: Path) -> str:
    data = read_small(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        line = data.count(b"\n", 0, why.start) + 1
        raise SettingsError(f"{path.name}: line {line} is not UTF-8") from None


class _Composer(yaml.BaseLoader):
    """A composer that refuses ambiguous YAML features."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise _refused("anchors and aliases are not supported; repeat the value instead", event)
        if event.tag is not None:
            raise _refused("tags are not supported", event)
        if self._depth == _MAX_DEPTH:
            raise _refused(f"nested more than {_MAX_DEPTH} levels deep", event)
        self._depth += 1
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _value(node: yaml.Node, place: Place, lines: dict[Place, int]) -> object:
    lines[place] = node.start_mark.line + 1
    match node:
        case yaml.ScalarNode():
            return _scalar(node)
        case yaml.SequenceNode():
            return [_value(item, (*place, number), lines) for number, item in enumerate(node.value)]
    pairs: dict[str, object] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _refused("a key is not text", key_node)
        key = key_node.value
        if key in pairs:
            named = f"the key {key!r}" if _LIKE_A_KEY.fullmatch(key) else "a key"
            raise _refused(f"{named} is given twice", key_node)
        pairs[key] = _value(value_node, (*place, key), lines)
    return pairs


def _scalar(node: yaml.ScalarNode) -> str | int | float | bool | None:
    text = str(node.value)
    if node.style is not None:  # quoted scalar or block scalar
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _FRACTION.fullmatch(text) else text


def _refused(problem: str, at: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=at.start_mark)
