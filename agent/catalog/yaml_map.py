"""Reading YAML written by people: every scalar stays text, every wrong key is named, all problems come at once."""

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from agent.errors import AgentError

_MAX_BYTES = 8 * 2**20
_NULLS = {"", "null", "Null", "NULL", "~"}

# The C parser where PyYAML was built with it: the same result, ten times as fast.
_Base: type[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _TextLoader(_Base):  # type: ignore[misc]
    """Leaves `yes`, `007` and `1e3` as the text they are, and refuses a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(problem="a key is not text", problem_mark=key.start_mark)
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is given twice", problem_mark=key.start_mark)
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def nearest(word: str, known: Iterable[str]) -> str:
    """Return " (did you mean ...?)" for the most similar known word, or nothing."""
    by_case = {name.casefold(): name for name in known}
    found = difflib.get_close_matches(word.casefold(), by_case, n=1, cutoff=0.6)
    return f" (did you mean {by_case[found[0]]!r}?)" if found else ""


def read_text(path: Path, error: type[AgentError]) -> str:
    """Read a small UTF-8 file, a byte order mark allowed.

    Raises:
        AgentError: of the type `error`; the file is missing, too large, or not UTF-8.
    """
    try:
        data = path.read_bytes()
    except OSError as why:
        raise error(f"{path}: cannot be read ({why.strerror})") from None
    if len(data) > _MAX_BYTES:
        raise error(f"{path}: {len(data)} bytes, and at most {_MAX_BYTES} are read")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        line = data.count(b"\n", 0, why.start) + 1
        raise error(f"{path}: line {line} is not UTF-8; save the file as UTF-8") from None


def read_yaml(path: Path, error: type[AgentError]) -> "YamlMap":
    """Read a YAML file that holds one map.

    Raises:
        AgentError: of the type `error`, with the file's name and line.
    """
    try:
        # Safe: this loader builds text, lists and maps, and nothing else.
        value = yaml.load(read_text(path, error), Loader=_TextLoader)  # noqa: S506
    except yaml.MarkedYAMLError as why:
        line = f" line {why.problem_mark.line + 1}:" if why.problem_mark else ""
        raise error(f"{path}:{line} {why.problem or 'not YAML'}") from None
    except (yaml.YAMLError, RecursionError):
        raise error(f"{path}: not YAML") from None
    if not isinstance(value, dict):
        raise error(f"{path}: expected a map of keys, not {_kind(value)}")
    return YamlMap(value, "", [])


def _kind(value: object) -> str:
    match value:
        case dict():
            return "a map"
        case list():
            return "a list"
        case None | "":
            return "nothing"
    return "a single value"


class YamlMap:
    """A map being read. Ask for each key you know, then call `finish`: what is left over is a problem.

    A wrong value is noted in `problems` and its default returned, so that one reading finds every mistake.
    """

    def __init__(self, value: dict[str, object], where: str, problems: list[str]) -> None:
        self._value = value
        self._where = where
        self._known: list[str] = []
        self.problems = problems

    def note(self, key: str, problem: str) -> None:
        """Add a problem of `key`."""
        self.problems.append(f"{self._where}{key}: {problem}")

    def has(self, key: str) -> bool:
        """Tell whether the key is present, whatever its value."""
        return key in self._value

    def skip(self, key: str) -> bool:
        """Accept a key without reading it, and tell whether it is there."""
        self._known.append(key)
        return key in self._value

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text. Without a default the key is required."""
        value = self._take(key)
        if value is None or (isinstance(value, str) and value in _NULLS):
            if default is None:
                self.note(key, "is required and is missing or empty")
            return default or ""
        if not isinstance(value, str):
            self.note(key, f"expected a text, not {_kind(value)}")
            return default or ""
        return value

    def choice(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """Return one of the `allowed` words."""
        value = self.text(key, default)
        if value and value not in allowed:
            self.note(key, f"{value!r} is not one of {', '.join(allowed)}{nearest(value, allowed)}")
            return default or allowed[0]
        return value or allowed[0]

    def integer(self, key: str, default: int | None, *, low: int = 1, high: int = 10_000_000) -> int | None:
        """Return a whole number within `low` and `high`."""
        value = self.text(key, "")
        if not value:
            return default
        try:
            number = int(value)
        except ValueError:
            self.note(key, "expected a whole number")
            return default
        if not low <= number <= high:
            self.note(key, f"expected a number from {low} to {high}")
            return default
        return number

    def flag(self, key: str, default: bool) -> bool:
        """Return whether a key says true."""
        value = self.text(key, "true" if default else "false")
        if value.lower() not in ("true", "false"):
            self.note(key, "expected true or false")
            return default
        return value.lower() == "true"

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; a missing key is an empty list."""
        value = self._take(key)
        if value in (None, ""):
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            self.note(key, "expected a list of texts")
            return ()
        return tuple(value)

    def pairs(self, key: str) -> dict[str, str]:
        """Return a map of texts; a missing key is an empty map."""
        value = self._take(key)
        if value in (None, ""):
            return {}
        if not isinstance(value, dict) or not all(isinstance(item, str) and item for item in value.values()):
            self.note(key, "expected a map of texts")
            return {}
        return dict(value)

    def map(self, key: str) -> "YamlMap | None":
        """Return the map under a key, or None if there is none."""
        value = self._take(key)
        if value in (None, ""):
            return None
        if not isinstance(value, dict):
            self.note(key, f"expected a map, not {_kind(value)}")
            return None
        return YamlMap(value, f"{self._where}{key}.", self.problems)

    def maps(self, key: str) -> "list[YamlMap]":
        """Return the maps of the list under a key; a missing key is an empty list."""
        value = self._take(key)
        if value in (None, ""):
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.note(key, "expected a list of maps")
            return []
        return [YamlMap(item, f"{self._where}{key}[{i}].", self.problems) for i, item in enumerate(value, 1)]

    def is_list(self, key: str) -> bool:
        """Tell whether the key holds a list."""
        return isinstance(self._value.get(key), list)

    def finish(self) -> None:
        """Note every key that nobody asked for."""
        for key in self._value:
            if key not in self._known:
                self.note(key, f"unknown key{nearest(key, self._known)}")

    def _take(self, key: str) -> object:
        self._known.append(key)
        return self._value.get(key)
