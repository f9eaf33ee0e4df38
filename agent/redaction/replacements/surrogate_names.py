"""The words that surrogates are made of, and those of a name that are none: titles and particles."""

from functools import cache
from pathlib import Path


@cache
def surrogate_words(name: str) -> tuple[str, ...]:
    """Return the words of a file of surrogate_words/."""
    text = (Path(__file__).parent / "surrogate_words" / f"{name}.txt").read_text("utf-8")
    return tuple(
        word for line in text.splitlines() if not line.startswith("#") for word in line.split()
    )
