"""Write new JSON files that only their owner can read. Large files are written item by item."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO


class Items:
    """A JSON array that is written item by item."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._any = False

    def add(self, item: object) -> None:
        """Write the next item."""
        self._file.write(
            (",\n" if self._any else "\n") + json.dumps(item, ensure_ascii=False, allow_nan=False)
        )
        self._any = True


@contextmanager
def open_json_array(
    path: Path, key: str = "", around: Callable[[], dict[str, Any]] | None = None
) -> Iterator[Items]:
    """Open a new file for an array; with `key`, for an object with the array and the keys that "
    "`around` returns."""
    with _new_file(path) as file:
        file.write("[" if not key else f"{{{json.dumps(key)}: [")
        yield Items(file)
        file.write("\n]\n")
        if key:
            whole = json.dumps(around() if around else {}, ensure_ascii=False, allow_nan=False)
            file.write(f", {whole[1:-1]}}}\n" if len(whole) > 2 else "}\n")


def write_json(path: Path, value: object) -> None:
    """Write `value` to a new file."""
    with _new_file(path) as file:
        json.dump(value, file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def _new_file(path: Path) -> TextIO:
    return os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
    )
