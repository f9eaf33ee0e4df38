"""Read JSON files from elsewhere. Each value keeps its path in the file, so that an error can name it."""

import json
import math
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.errors import BenchmarkError
from agent.io.plain_text import printable

MAX_BYTES = 256 << 20  # per file, which is read into memory at once
MAX_VALUES = 16_000_000  # per file: short values take many times their size in memory
MAX_WHOLE = 1 << 53  # larger whole numbers are not all exact in JSON, and the store refuses them
MAX_NAME_LENGTH = 500  # characters of a name or id
PLAIN_NAME = re.compile(r"[A-Za-z0-9_.@:/-]{1,80}")  # a name that cannot contain a sentence
MAX_CLASS_LENGTH = 160  # characters of a scenario's class, with its module
ADVICE = "Nothing of this run was imported. Get the folder again from its source, or leave it out."


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A JSON value with its file and path: `stats.json [3].name`."""

    file: str
    path: str
    value: Any

    def wrong(self, expected: str) -> BenchmarkError:
        """Return an error that names this path and what was `expected`. It never quotes the value."""
        where = printable(f"{self.file} {self.path}" if self.path else self.file)[:MAX_NAME_LENGTH]
        return BenchmarkError(f"{where}: expected {expected}", ADVICE)

    def has(self, key: str) -> bool:
        """Return whether this map has a value under `key` that is not null."""
        return self._map().get(key) is not None

    def at(self, key: str) -> "JsonNode":
        """Return the value of this map under `key`."""
        if key not in self._map():
            raise self.wrong(f"a key {key}")
        return JsonNode(self.file, f"{self.path}.{key}".lstrip("."), self.value[key])

    def maybe(self, key: str) -> "JsonNode | None":
        """Return the value of this map under `key`; None if it is missing or null."""
        return self.at(key) if self.has(key) else None

    def items(self) -> Iterator["JsonNode"]:
        """Yield the elements of this list."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return (
            JsonNode(self.file, f"{self.path}[{index}]", item)
            for index, item in enumerate(self.value)
        )

    def pairs(self) -> Iterator[tuple[str, "JsonNode"]]:
        """Yield the keys and values of this map."""
        return ((key, self.at(key)) for key in self._map())

    def text(self) -> str:
        """Return this value, which must be a string."""
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    def name(self) -> str:
        """Return this string as a name: one line, not empty, without control characters."""
        text = self.text()
        if not text.strip() or len(text) > MAX_NAME_LENGTH or not text.isprintable():
            raise self.wrong(
                f"a name of 1 to {MAX_NAME_LENGTH} characters without control characters"
            )
        return text

    def plain_name(self) -> str:
        """Return this string as the name of a metric or group, which exports show unchanged."""
        if not PLAIN_NAME.fullmatch(self.text()):
            raise self.wrong("a name of 1 to 80 letters, digits and _-.@:/, without spaces")
        return self.text()

    def class_name(self) -> str:
        """Return this string as the name of a scenario's class."""
        if not is_class_name(self.text()):
            raise self.wrong(
                f"a class: at most {MAX_CLASS_LENGTH} letters, digits and _-.@:/, without spaces"
            )
        return self.text()

    def one_of(self, words: Sequence[str]) -> str:
        """Return this string, which must be one of `words`."""
        if self.text() not in words:
            raise self.wrong(" or ".join(words))
        return self.text()

    def number(self) -> float:
        """Return this value, which must be a finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.wrong("a number")
        try:
            value = float(self.value)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise self.wrong("a finite number")
        return value

    def whole(self) -> int:
        """Return this value, which must be a whole number."""
        number = self.number()
        if not number.is_integer() or abs(number) > MAX_WHOLE:
            raise self.wrong("a whole number of at most 16 digits")
        return int(number)

    def count(self) -> int:
        """Return this number as a count: rounded and not negative."""
        value = self.number()
        if not 0 <= value <= MAX_WHOLE:
            raise self.wrong("a count of at most 16 digits")
        return round(value)

    def yes_no(self) -> bool:
        """Return this value, which must be true or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def _map(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.wrong("a map")
        return self.value


def is_class_name(text: str) -> bool:
    """Return whether this may be the name of a class with its module: plain names separated by dots."""
    return len(text) <= MAX_CLASS_LENGTH and all(map(PLAIN_NAME.fullmatch, text.split(".")))


def read_json(folder: Path, name: str) -> tuple[JsonNode, bytes]:
    """Read the file `name` of `folder`; return its value and its bytes.

    Raises:
        BenchmarkError: the file is missing, a link, not a plain file, too large, not UTF-8, or not JSON (such as NaN).
    """
    shown_name = printable(f"{folder.name}/{name}")
    content = _read_plain_file(folder / name, shown_name)
    # Values are counted before parsing, because the parsed values could exhaust the memory.
    values = sum(map(content.count, (b",", b"[", b"{")))
    if values > MAX_VALUES:
        raise BenchmarkError(
            f"{shown_name}: expected at most {MAX_VALUES // 1_000_000} million values", ADVICE
        )
    return JsonNode(shown_name, "", _parse_json(content, shown_name)), content


def _read_plain_file(path: Path, shown_name: str) -> bytes:
    """Return the content of a plain file (not a link, device or pipe) that is not too large."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise BenchmarkError(f"{shown_name}: expected a plain file", ADVICE)
            if status.st_size > MAX_BYTES:
                raise BenchmarkError(
                    f"{shown_name}: expected at most {MAX_BYTES >> 20} MiB", ADVICE
                )
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise BenchmarkError(f"{shown_name}: the file is missing", ADVICE) from None
    except OSError as error:
        expected = f"a file that can be read ({error.strerror})"
        if path.is_symlink():
            expected = "a plain file, not a link"
        raise BenchmarkError(f"{shown_name}: expected {expected}", ADVICE) from None
    if len(content) != status.st_size:
        raise BenchmarkError(f"{shown_name}: the file changed while it was read", ADVICE)
    return content


def _parse_json(content: bytes, shown_name: str) -> Any:
    try:
        return json.loads(
            content.decode("utf-8"),
            parse_constant=_refuse_constant,
            object_pairs_hook=_refuse_twice,
        )
    except _TwiceError:
        raise BenchmarkError(f"{shown_name}: a key is repeated in a map", ADVICE) from None
    except json.JSONDecodeError as error:
        raise BenchmarkError(
            f"{shown_name}: invalid JSON at line {error.lineno}, column {error.colno}", ADVICE
        ) from None
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{shown_name}: invalid UTF-8 at byte {error.start}", ADVICE) from None
    except RecursionError:
        raise BenchmarkError(
            f"{shown_name}: lists and maps are nested too deeply", ADVICE
        ) from None
    except ValueError:
        raise BenchmarkError(
            f"{shown_name}: a number is not valid (it is NaN or infinite, or has too many digits)",
            ADVICE,
        ) from None


class _TwiceError(Exception):
    """Raised when a key is repeated in a map."""


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a map of the pairs. A repeated key could let two readers see different values."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise _TwiceError
    return values


def _refuse_constant(constant: str) -> float:
    raise ValueError(constant)
