"""The word lists and templates, which stand in text files beside this module."""

from pathlib import Path

_FOLDER = Path(__file__).parent


def read_entries(name: str) -> tuple[str, ...]:
    """Return the lines of a text file; `\\n` within a line stands for a line break."""
    lines = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return tuple(line.replace("\\n", "\n") for line in lines)
