"""Read answers produced elsewhere from a JSON Lines file, one `{"instance_id": ..., "answer": ...}` per line.

A line may have the server's `finish_reason` too, which says whether the answer was cut off or withheld.
Only ids and offsets are kept in memory. Each answer is read when its instance is scored.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Self

from agent.datasets.readers.table import Problems
from agent.errors import BenchmarkError
from agent.io.atomic_files import open_plain
from agent.reading.finish_reasons import FinishReason, find_finish_reason, list_names
from agent.reading.thoughts import build_response
from agent.vocabulary import Response

MAX_LINE_BYTES = 16 * 1024 * 1024
_KEYS = ("instance_id", "answer")
NOT_UTF8 = "is not UTF-8; save the file as UTF-8"
NOT_JSON = "is not JSON"
UTF_16 = "is not UTF-8 (it looks like UTF-16); save the file as UTF-8"
TWICE = "has a key twice"


@dataclass(frozen=True, slots=True)
class FileLine:
    """One line of a file.

    Attributes:
        number: line number, starting at 1.
        offset: position of its first byte in the file.
        content: its bytes; empty once they have been parsed.
    """

    number: int
    offset: int
    content: bytes = b""

    def without_content(self) -> "FileLine":
        """Return a copy without the content, which can be read again at `offset`."""
        return FileLine(self.number, self.offset)


class AnswersFile:
    """An open file of answers. Every line is validated when the file is opened.

    Attributes:
        name: the name of the file, for messages.
    """

    def __init__(self, name: str, file: BinaryIO) -> None:
        """Read and validate the whole file.

        Raises:
            BenchmarkError: lists every line that is not an answer or repeats the id of an earlier line.
        """
        self._file = file
        self.name = name
        self._lines: dict[str, FileLine] = {}  # by instance id
        problems = Problems(name)
        faults: set[str] = set()
        line_count = 0
        for line in iter_lines(file, problems):
            line_count += 1
            fields = _read_answer_line(line.content)
            if isinstance(fields, str):
                faults.add(fields)
                problems.add(f"line {line.number}", fields)
                continue
            first = self._lines.setdefault(fields["instance_id"], line.without_content())
            if first.number != line.number:
                problems.add(
                    f"line {line.number}", f"has the same instance_id as line {first.number}"
                )
        # The file probably has another format, such as a table. Report that once, not line by line.
        if faults and not self._lines and faults <= {NOT_UTF8, NOT_JSON, UTF_16}:
            fault = "contains no JSON" if len(faults) > 1 or NOT_JSON in faults else faults.pop()
            expected = f"each line must have the form {write_form(_KEYS)} (JSON Lines)"
            raise Problems(name).stop("the whole file", f"{fault}; {expected}")
        if line_count > 1 and not self._lines and len(faults) == 1:
            raise Problems(name).stop("every line", faults.pop())
        problems.check()
        if not self._lines:
            raise problems.stop("the whole file", "contains no answers")

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[Self]:
        """Open and validate the file, and close it at the end of the `with` block.

        Raises:
            BenchmarkError: the file cannot be read or is not a file of answers.
        """
        try:
            with open_plain(path) as file:
                yield cls(path.name, file)
        except OSError as why:
            raise BenchmarkError(f"{path.name}: cannot be read ({why.strerror})") from None

    @property
    def ids(self) -> Collection[str]:
        """The ids of all answers."""
        return self._lines.keys()

    def refuse_others(
        self, instance_ids: Collection[str], advice: str = BenchmarkError.advice
    ) -> None:
        """Check that every answer belongs to one of these instances.

        Raises:
            BenchmarkError: lists the lines with any other id, and gives `advice`.
        """
        problems = Problems(self.name)
        for identity, line in self._lines.items():
            if identity not in instance_ids:
                problems.add(f"line {line.number}", "has an instance_id that is not in the data")
        if problems.messages:
            raise BenchmarkError("\n".join(problems.messages), advice)

    def has(self, identity: str) -> bool:
        """Return whether the file has an answer for an instance."""
        return identity in self._lines

    def answer(self, identity: str) -> str | None:
        """Return the answer for an instance, or None if the file has none."""
        line = self._lines.get(identity)
        return None if line is None else self._read_answer(identity, line)[0]

    def response(self, identity: str) -> Response | None:
        """Return the response that the answer for an instance stands for, or None if the file has none."""
        line = self._lines.get(identity)
        if line is None:
            return None
        answer, content = self._read_answer(identity, line)
        response = build_response(answer)
        stated = _find_finish_reason(content)
        # An answer that breaks off within its reasoning was cut off, even if the line says "stop".
        if stated in ("length", "content_filter"):
            return replace(response, finish_reason=stated)
        return response

    def _read_answer(self, identity: str, line: FileLine) -> tuple[str, bytes]:
        """Read a line again; return its answer and its content."""
        self._file.seek(line.offset)
        content = self._file.readline(MAX_LINE_BYTES)
        fields = read_line(content, _KEYS)
        if isinstance(fields, str) or fields["instance_id"] != identity:
            raise BenchmarkError(
                f"{self.name}: line {line.number}: changed while the file was being read; start again"
            )
        return fields["answer"], content


def _read_answer_line(content: bytes) -> dict[str, str] | str:
    """Parse the line of an answer as `read_line` does, and check its finish_reason."""
    fields = read_line(content, _KEYS)
    if isinstance(fields, str):
        return fields
    reason = json.loads(content.decode("utf-8-sig")).get("finish_reason")
    if reason is not None and not isinstance(reason, str):
        return "its finish_reason is not a string"
    if reason is not None and find_finish_reason(reason) is None:
        return f"its finish_reason is unknown; known are {list_names()}"
    return fields


def _find_finish_reason(content: bytes) -> FinishReason | None:
    """Return the reason that the line of an answer states, or None if it states none."""
    reason = json.loads(content.decode("utf-8-sig")).get("finish_reason")
    return find_finish_reason(reason) if isinstance(reason, str) else None


def iter_lines(file: BinaryIO, problems: Problems) -> Iterator[FileLine]:
    """Yield every line that is not blank.

    Raises:
        BenchmarkError: a line is longer than MAX_LINE_BYTES.
    """
    number = 0
    offset = 0
    while content := file.readline(MAX_LINE_BYTES):
        number += 1
        if len(content) == MAX_LINE_BYTES and not content.endswith(b"\n"):
            raise problems.stop(f"line {number}", f"is longer than {MAX_LINE_BYTES // 2**20} MiB")
        if content.strip():
            yield FileLine(number, offset, content)
        offset += len(content)


def read_line(
    content: bytes, keys: Sequence[str], *, object_keys: Collection[str] = ()
) -> dict[str, str] | str:
    """Parse a line and return its strings under `keys`, or a description of its fault.

    The description quotes nothing from the line. The first key is the id, which may be an integer, because many files
    number their rows. A value under one of `object_keys` may also be an object; it is returned as JSON text.
    """
    # UTF-16 writes every ASCII letter with a zero byte, which JSON in UTF-8 never has.
    if b"\0" in content:
        return UTF_16
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return NOT_UTF8
    try:
        value = json.loads(text)
        top_keys = _list_top_keys(text)
    except (ValueError, RecursionError):
        return NOT_JSON
    if len(top_keys) > len(set(top_keys)):
        return TWICE
    if not isinstance(value, dict):
        return f"is not of the form {write_form(keys)}"
    missing = [f'"{key}"' for key in keys if key not in value]
    if missing:
        noun = "key" if len(missing) == 1 else "keys"
        return f"is not of the form {write_form(keys)}: it lacks the {noun} {', '.join(missing)}"
    id_key, *text_keys = keys
    identity = value[id_key]
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    if not isinstance(identity, str) or not identity.strip():
        return f"its {id_key} is neither a string nor an integer"
    fields = {id_key: identity.strip()}
    for key in text_keys:
        field = value[key]
        if isinstance(field, dict) and key in object_keys:
            if _has_repeated_keys(text):
                return f"its {key} has a key twice"
            field = json.dumps(field, ensure_ascii=False)
        if not isinstance(field, str):
            return f"its {key} is not a string{' or an object' if key in object_keys else ''}"
        fields[key] = field
    return fields


def _list_top_keys(text: str) -> list[str]:
    """Return the keys of the outermost object in valid JSON, repeated ones too."""
    objects: list[list[str]] = [[]]
    json.loads(text, object_pairs_hook=lambda pairs: objects.append([name for name, _ in pairs]))
    return objects[-1]  # the outermost object ends last


def _has_repeated_keys(text: str) -> bool:
    """Return whether an object in valid JSON has a key twice, so that two readers could see different values."""
    is_repeated: list[bool] = []

    def check_keys(pairs: list[tuple[str, object]]) -> None:
        is_repeated.append(len({name for name, _ in pairs}) < len(pairs))

    json.loads(text, object_pairs_hook=check_keys)
    return any(is_repeated)


def write_form(keys: Sequence[str]) -> str:
    """Return the expected form of a line, for messages."""
    return "{" + ", ".join(f'"{key}": ...' for key in keys) + "}"
