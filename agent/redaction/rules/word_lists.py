r"""The word lists of the rules, a file each in `words` of their language; patterns name them: `\L<months>`."""

import gzip
import re
from functools import cache
from pathlib import Path

import regex

_NAMED_LIST = re.compile(r"\\L<(\w+)>")


@cache
def read_entries(language: str, name: str) -> tuple[str, ...]:
    """Return the lines of a list as written, without empty ones and comments."""
    lines = _folder_of(language).joinpath(f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


@cache
def read_words(language: str, name: str) -> frozenset[str]:
    """Return the words of a list in lower case; a line may hold several."""
    return frozenset(
        word.casefold() for line in read_entries(language, name) for word in line.split()
    )


def read_safe_words(language: str) -> frozenset[str]:
    """Return the words that identify nobody. Those of English take 8 MB: they are read when first asked for."""
    packed = _folder_of(language).joinpath("safe_words.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode().split())


def write_lists(pattern: str, language: str) -> str:
    r"""Return a pattern with an alternative for each entry of the lists that it names: `\L<units>` as `(?:mg|ml)`.

    The alternatives stand in the order of the file, and the first that fits counts. The named lists of `regex` take as
    long here (0.6 to 1.4 microseconds a try, either way), but keep no order.
    """
    return _NAMED_LIST.sub(
        lambda reference: _write_alternatives(language, reference.group(1)), pattern
    )


def compile_pattern(pattern: str, language: str, flags: int = 0) -> regex.Pattern[str]:
    """Compile a pattern with the word lists of the language that it names."""
    return regex.compile(write_lists(pattern, language), flags)


@cache
def _write_alternatives(language: str, name: str) -> str:
    escaped = [
        regex.escape(entry, special_only=True, literal_spaces=True)
        for entry in read_entries(language, name)
    ]
    return f"(?:{'|'.join(escaped)})"


def _folder_of(language: str) -> Path:
    return Path(__file__).parent / language / "words"
