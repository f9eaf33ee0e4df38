"""Read YAML written by people, and report all problems and wrong keys at once."""

import math
from pathlib import Path
from typing import overload

from agent.errors import AgentError
from agent.io.small_file import read_bytes
from agent.io.strict_yaml import LIKE_A_KEY, parse_yaml
from agent.io.wording import find_unseen, nearest

_MAX_NAME = 200  # characters
_NULLS = {"", "null", "Null", "NULL", "~"}


def read_yaml(path: Path, error: type[AgentError]) -> "YamlMap":
    """Read a YAML file that contains one map.

    Raises:
        AgentError: the file is not a YAML map, raised as the type `error`; the message names the file and the line.
    """
    return parse_map(read_bytes(path, error), path, error)


def parse_map(data: bytes, path: Path, error: type[AgentError]) -> "YamlMap":
    """Return the map in the bytes of a YAML file; `path` is used in messages only.

    Raises:
        AgentError: the file is not a YAML map, raised as the type `error`; the message names the file and the line.
    """
    value = parse_yaml(data, path, error)
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
    """A YAML map being read. Read each key of the format, then call `finish`, which reports all other keys.

    For a wrong value, a problem is recorded and the default is returned, so that all mistakes are found at once.
    """

    def __init__(self, value: dict[str, object], where: str, problems: list[str]) -> None:
        self._value = value
        self._where = where
        self._read_keys: list[str] = []
        self.problems = problems

    def note(self, key: str, problem: str) -> None:
        """Add a problem with `key`."""
        self.problems.append(f"{self._where}{key}: {problem}")

    def has(self, key: str) -> bool:
        """Return whether the key is present, with or without a value."""
        return key in self._value

    def skip(self, key: str) -> bool:
        """Accept a key without reading it; return whether it is present."""
        self._read_keys.append(key)
        return key in self._value

    def name(self, key: str, default: str | None = None) -> str:
        """Return a one-line text of at most 200 printable characters."""
        value = self.text(key, default)
        hidden = find_unseen(value)
        if hidden:
            self.note(key, f"contains {hidden}, an invisible character")
        elif len(value) > _MAX_NAME:
            self.note(key, f"has {len(value)} characters; expected at most {_MAX_NAME}")
        else:
            return value
        return default or ""

    def names(self, key: str) -> tuple[str, ...]:
        """Return a list of one-line texts of printable characters; [] for a missing key."""
        values = self.texts(key)
        if any(find_unseen(value) or len(value) > _MAX_NAME for value in values):
            self.note(
                key,
                f"expected a list of one-line texts with at most {_MAX_NAME} printable characters each",
            )
            return ()
        return values

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text without control characters except line breaks and tabs. Without a default it is required."""
        value = self._take(key)
        if value is None or (isinstance(value, str) and value in _NULLS):
            if default is None:
                self.note(key, "is required, but is missing or empty")
            return default or ""
        if not isinstance(value, str):
            self.note(key, f"expected a text, not {_kind(value)}")
            return default or ""
        hidden = find_unseen(value, one_line=False)
        if hidden:
            self.note(key, f"contains {hidden}, an invisible character")
            return default or ""
        return value

    def choice(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """Return one of the `allowed` words."""
        value = self.text(key, default)
        if value and value not in allowed:
            self.note(key, f"{value!r} is not one of {', '.join(allowed)}{nearest(value, allowed)}")
            return default or allowed[0]
        return value or allowed[0]

    @overload
    def integer(self, key: str, default: int, *, low: int = 1, high: int = 10_000_000) -> int: ...

    @overload
    def integer(
        self, key: str, default: None, *, low: int = 1, high: int = 10_000_000
    ) -> int | None: ...

    def integer(
        self, key: str, default: int | None, *, low: int = 1, high: int = 10_000_000
    ) -> int | None:
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

    def number(self, key: str, default: float, *, low: float, high: float) -> float:
        """Return a number within `low` and `high`, with or without decimals."""
        value = self.text(key, "")
        if not value:
            return default
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        # A comparison with nan is false, so it is refused too.
        if not low <= number <= high:
            self.note(key, f"expected a number from {low:g} to {high:g}")
            return default
        return number

    def flag(self, key: str, default: bool) -> bool:
        """Return the value of a boolean key."""
        value = self.text(key, "true" if default else "false")
        if value.lower() not in ("true", "false"):
            self.note(key, "expected true or false")
            return default
        return value.lower() == "true"

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; [] for a missing key."""
        value = self._take(key)
        if value in (None, ""):
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            self.note(key, "expected a list of texts")
            return ()
        if any(find_unseen(item, one_line=False) for item in value):
            self.note(key, "a text contains an invisible character")
            return ()
        return tuple(value)

    def pairs(self, key: str) -> dict[str, str]:
        """Return a map of texts; {} for a missing key."""
        value = self._take(key)
        if value in (None, ""):
            return {}
        if not isinstance(value, dict) or not all(
            isinstance(item, str) and item for item in value.values()
        ):
            self.note(key, "expected a map of texts")
            return {}
        if any(find_unseen(item, one_line=False) for item in value.values()):
            self.note(key, "a text contains an invisible character")
            return {}
        return dict(value)

    def named_texts(self, key: str) -> dict[str, tuple[str, ...]]:
        """Return the lists of texts under a key, by name; {} for a missing key. A list may be empty."""
        value = self._take(key)
        if value in (None, ""):
            return {}
        if not isinstance(value, dict):
            self.note(key, f"expected a map of lists of texts, not {_kind(value)}")
            return {}
        inner = YamlMap(value, f"{self._where}{key}.", self.problems)
        return {name: inner.texts(name) for name in value}

    def map(self, key: str) -> "YamlMap | None":
        """Return the map under a key, or None if the key is missing."""
        value = self._take(key)
        if value in (None, ""):
            return None
        if not isinstance(value, dict):
            self.note(key, f"expected a map, not {_kind(value)}")
            return None
        return YamlMap(value, f"{self._where}{key}.", self.problems)

    def maps(self, key: str) -> "list[YamlMap]":
        """Return the list of maps under a key; [] for a missing key."""
        value = self._take(key)
        if value in (None, ""):
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.note(key, "expected a list of maps")
            return []
        return [
            YamlMap(item, f"{self._where}{key}[{i}].", self.problems)
            for i, item in enumerate(value, 1)
        ]

    def named_maps(self, key: str) -> "dict[str, YamlMap]":
        """Return the map of maps under a key, by name; {} for a missing key."""
        value = self._take(key)
        if value in (None, ""):
            return {}
        if not isinstance(value, dict) or not all(
            isinstance(item, dict) for item in value.values()
        ):
            self.note(key, "expected a map of maps")
            return {}
        return {
            name: YamlMap(item, f"{self._where}{key}.{name}.", self.problems)
            for name, item in value.items()
        }

    def is_map(self, key: str) -> bool:
        """Return whether the value of the key is a map."""
        return isinstance(self._value.get(key), dict)

    def is_list(self, key: str) -> bool:
        """Return whether the value of the key is a list."""
        return isinstance(self._value.get(key), list)

    def finish(self) -> None:
        """Report every key that was not read.

        Keys that do not have the usual form are only counted, because the user may have named a file of records by
        mistake.
        """
        unknown = [key for key in self._value if key not in self._read_keys]
        like_keys = [key for key in unknown if LIKE_A_KEY.fullmatch(key)]
        for key in like_keys:
            self.note(key, f"unknown key{nearest(key, self._read_keys)}")
        odd_count = len(unknown) - len(like_keys)
        if odd_count:
            self.note(
                "the whole map",
                f"{odd_count} keys are not of the form of a key (letters, digits, _, -); is this the wrong file?",
            )

    def _take(self, key: str) -> object:
        self._read_keys.append(key)
        return self._value.get(key)
