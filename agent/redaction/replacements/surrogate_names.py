"""The words of which surrogates consist, and the words within names that are not names: titles and particles."""

from functools import cache
from pathlib import Path


@cache
def surrogate_words(name: str) -> tuple[str, ...]:
    """Return the words in a file of surrogate_words/."""
    text = (Path(__file__).parent / "surrogate_words" / f"{name}.txt").read_text("utf-8")
    return tuple(
        word for line in text.splitlines() if not line.startswith("#") for word in line.split()
    )
