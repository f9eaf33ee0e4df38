r"""The word lists of the rules, one file each in `words` of their language. Patterns refer to them as `\L<months>`."""

import gzip
import re
from functools import cache
from pathlib import Path

import regex

_NAMED_LIST = re.compile(r"\\L<(\w+)>")


@cache
def read_entries(language: str, name: str) -> tuple[str, ...]:
    """Return the lines of a list as written, without empty lines and comments."""
    lines = _find_folder(language).joinpath(f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


@cache
def read_words(language: str, name: str) -> frozenset[str]:
    """Return the words of a list in lower case. A line may contain several words."""
    return frozenset(
        word.casefold() for line in read_entries(language, name) for word in line.split()
    )


def read_safe_words(language: str) -> frozenset[str]:
    """Return the words that do not identify a person. The English list takes 8 MB and is read on first use."""
    packed = _find_folder(language).joinpath("safe_words.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode().split())


def write_lists(pattern: str, language: str) -> str:
    r"""Expand the word lists that a pattern refers to into alternatives: `\L<units>` becomes `(?:mg|ml)`.

    The alternatives are in the order of the file, and the first match counts. Named lists of `regex` are equally fast
    here (0.6 to 1.4 microseconds per attempt in both cases), but are unordered.
    """
    return _NAMED_LIST.sub(
        lambda reference: _write_alternatives(language, reference.group(1)), pattern
    )


@cache  # the patterns of all engines of a process, of which `regex` would keep too few
def compile_pattern(pattern: str, language: str, flags: int = 0) -> regex.Pattern[str]:
    """Compile a pattern together with the word lists of the language that it refers to."""
    return regex.compile(write_lists(pattern, language), flags)


@cache
def _write_alternatives(language: str, name: str) -> str:
    escaped = [
        regex.escape(entry, special_only=True, literal_spaces=True)
        for entry in read_entries(language, name)
    ]
    return f"(?:{'|'.join(escaped)})"


def _find_folder(language: str) -> Path:
    return Path(__file__).parent / language / "words"
