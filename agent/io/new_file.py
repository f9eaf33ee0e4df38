"""Open a new file that only its owner can read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from agent.errors import ConfigError

_ADVICE = "Choose the name of a new file."


def check_new(path: Path) -> None:
    """Check, before anything is computed, that a file does not exist yet.

    Raises:
        ConfigError: it exists, or its folder does not.
    """
    _check_folder(path)
    if path.exists() or path.is_symlink():
        raise ConfigError(f"{path.name} exists already", _ADVICE)


def _check_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise ConfigError(
            f"{path.name} cannot be written: there is no folder {path.parent}",
            "Create the folder, or choose another place for the file.",
        )


@contextmanager
def open_new(path: Path, *, newline: str | None = None) -> Iterator[TextIO]:
    """Open a new text file that only its owner can read; it is deleted if an error occurs.

    Raises:
        ConfigError: the file exists or cannot be written, or its folder does not exist.
    """
    with _create(path), path.open("w", encoding="utf-8", newline=newline) as file:
        yield file


@contextmanager
def open_new_binary(path: Path) -> Iterator[BinaryIO]:
    """Open a new file of bytes that only its owner can read; it is deleted if an error occurs.

    Raises:
        ConfigError: the file exists or cannot be written, or its folder does not exist.
    """
    with _create(path), path.open("wb") as file:
        yield file


@contextmanager
def _create(path: Path) -> Iterator[None]:
    """Create an empty file, and delete it if an error occurs in the `with` block."""
    _check_folder(path)
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            yield
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    except OSError as why:
        raise ConfigError(f"{path.name} cannot be written ({why.strerror})", _ADVICE) from None
