r"""The word lists of the rules, a file each in `words` of their language; patterns name them: `\L<months>`."""

from functools import cache
from pathlib import Path


@cache
def read_entries(language: str, name: str) -> tuple[str, ...]:
    """Return the lines of a list as written, without empty ones and comments."""
    path = Path(__file__).parent / language / "words" / f"{name}.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
