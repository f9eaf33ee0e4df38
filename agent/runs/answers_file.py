"""A file of answers that were produced elsewhere: `{"instance_id": ..., "answer": ...}` a line, found by id.

Only ids and places are in memory; each answer is read when its instance is scored.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Self

from agent.datasets.readers.table import Problems
from agent.errors import BenchmarkError
from agent.io.atomic_files import open_plain

MOST_LINE_BYTES = 16 * 1024 * 1024
_KEYS = ("instance_id", "answer")
NOT_UTF8, NOT_JSON = "is not UTF-8; save the file as UTF-8", "is not JSON"


class AnswersFile:
    """An open file of answers, whose every line was checked."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        """Read the file through.

        Raises:
            BenchmarkError: lists every line that is no answer, and every id that an earlier line has.
        """
        self._file = file
        self._name = name
        self._places: dict[str, tuple[int, int]] = {}  # id -> line, where it begins
        problems, said = Problems(name), set[str]()
        for number, place, line in each_line(file, problems):
            found = _answer(line)
            if isinstance(found, str):
                said.add(found)
                problems.add(f"line {number}", found)
                continue
            identity, _ = found
            first = self._places.setdefault(identity, (number, place))
            if first[0] != number:
                problems.add(f"line {number}", f"has the same instance_id as line {first[0]}")
        if said and not self._places and said <= {NOT_UTF8, NOT_JSON}:  # a table, say: once is enough
            expected = f"expected is {write_form(_KEYS)} on each line (JSON lines)"
            raise Problems(name).stop("the whole file", f"has no line of JSON; {expected}")
        problems.check()
        if not self._places:
            raise problems.stop("the whole file", "holds no answers")

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[Self]:
        """Open and check the file for the length of a `with` block.

        Raises:
            BenchmarkError: it cannot be read, or is no file of answers.
        """
        try:
            with open_plain(path) as file:
                yield cls(path.name, file)
        except OSError as why:
            raise BenchmarkError(f"{path.name}: cannot be read ({why.strerror})") from None

    def refuse_others(self, known: Collection[str], advice: str = BenchmarkError.advice) -> None:
        """See that every answer is to an instance that is there.

        Raises:
            BenchmarkError: lists the lines whose id is none of `known`, with `advice`.
        """
        problems = Problems(self._name)
        for identity, (number, _) in self._places.items():
            if identity not in known:
                problems.add(f"line {number}", "has an instance_id that the data does not have")
        if problems.messages:
            raise BenchmarkError("\n".join(problems.messages), advice)

    def has(self, identity: str) -> bool:
        """Whether there is an answer to an instance."""
        return identity in self._places

    def answer(self, identity: str) -> str | None:
        """Return the answer to an instance, or None if the file has none."""
        if identity not in self._places:
            return None
        number, place = self._places[identity]
        self._file.seek(place)
        found = _answer(self._file.readline(MOST_LINE_BYTES))
        if isinstance(found, str) or found[0] != identity:
            raise BenchmarkError(f"{self._name}: line {number}: changed while it was read; start again")
        return found[1]


def each_line(file: BinaryIO, problems: Problems) -> Iterator[tuple[int, int, bytes]]:
    """Yield (number, where it begins, bytes) of every line that is not empty.

    Raises:
        BenchmarkError: a line is longer than any answer.
    """
    number, place = 0, 0
    while line := file.readline(MOST_LINE_BYTES):
        number += 1
        if len(line) == MOST_LINE_BYTES and not line.endswith(b"\n"):
            raise problems.stop(f"line {number}", f"is longer than {MOST_LINE_BYTES // 2**20} MiB")
        if line.strip():
            yield number, place, line
        place += len(line)


def read_line(line: bytes, keys: Sequence[str]) -> dict[str, str] | str:
    """Return the texts that a line has under `keys`, or what is wrong with it, in words that quote nothing of it.

    The first key is the id: it may be a whole number, as most write the number of a row.
    """
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        return NOT_UTF8
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON
    if not isinstance(value, dict) or not value.keys() >= set(keys):
        return f"is not of the form {write_form(keys)}"
    found = {key: value[key] for key in keys}
    identity = found[keys[0]]
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    if not isinstance(identity, str) or not identity.strip():
        return f"its {keys[0]} is neither a text nor a whole number"
    found[keys[0]] = identity.strip()
    wrong = next((key for key in keys if not isinstance(found[key], str)), None)
    return found if wrong is None else f"its {wrong} is not a text"


def write_form(keys: Sequence[str]) -> str:
    """Write the form of a line for people."""
    return "{" + ", ".join(f'"{key}": ...' for key in keys) + "}"


def _answer(line: bytes) -> tuple[str, str] | str:
    found = read_line(line, _KEYS)
    return found if isinstance(found, str) else (found["instance_id"], found["answer"])
