"""What an own metric declares about itself, checked. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agent.errors import BenchmarkError

PREFIX = "own/"
"""Beginning of the names of all own metrics, so that none has the name of another metric."""

API = 1
"""The version of the interface between this program and a metric's file."""

NAME = re.compile(r"[a-z][a-z0-9_]{0,26}")
NAME_RULE = "1 to 27 lower-case letters, digits or underscores, beginning with a letter"
_MAX_WORDS = 60
_MAX_BOUND = 1_000_000
_MARK = " (own)"
_DIGEST_DIGITS = 16


@dataclass(frozen=True, slots=True)
class OwnMetric:
    """A site's own metric.

    Attributes:
        display_name: its title and unit, marked as the site's own.
        low: the worst possible score.
        high: the best possible score.
        binary: whether a score is always `low` or `high`.
        sha256: digest of its code.
    """

    display_name: str
    low: int
    high: int
    binary: bool
    sha256: str


def is_own(name: str) -> bool:
    """Return whether a metric's name is that of a site's own metric."""
    return name.startswith(PREFIX)


def name_in_scorecard(name: str, sha256: str) -> str:
    """Return the id of an own metric in scorecards. Another file has another id, and no other metric has such an id."""
    return f"own-{name.removeprefix(PREFIX)}-{sha256[:_DIGEST_DIGITS]}"


def read_declaration(name: str, sha256: str, declared: Mapping[str, object]) -> OwnMetric:
    """Check the constants in a metric's file.

    Args:
        name: the metric's name in site.yaml.
        sha256: digest of its code.
        declared: the module's constants by name, with None for those it lacks.

    Raises:
        BenchmarkError: a constant is missing or wrong; the message names all of them.
    """
    problems = []
    if declared.get("API") != API:
        problems.append(f"API must be {API}, the version of the interface that it is written for")
    if declared.get("NAME") != name:
        problems.append(f"NAME must be {name!r}, as in site.yaml")
    low, high = declared.get("LOW"), declared.get("HIGH")
    if not (_is_bound(low) and _is_bound(high) and low < high):  # type: ignore[operator]
        problems.append(
            f"LOW and HIGH must be whole numbers from {-_MAX_BOUND} to {_MAX_BOUND}, LOW the worst score and HIGH the "
            "best"
        )
    title, unit = declared.get("TITLE"), declared.get("UNIT") or ""
    if not (_is_words(title) and title):
        problems.append(f"TITLE must be a text of 1 to {_MAX_WORDS} characters")
    if not _is_words(unit):
        problems.append(f"UNIT must be a text of at most {_MAX_WORDS} characters")
    binary = declared.get("BINARY") or False
    if not isinstance(binary, bool):
        problems.append("BINARY must be True or False")
    if declared.get("HIGHER_IS_BETTER") not in (None, True):
        problems.append(
            "HIGHER_IS_BETTER must be True, because tables, floors and ranks take a higher score for a better one; "
            "for an amount that should be low, return LOW + HIGH - amount"
        )
    if declared.get("score") != "function":
        problems.append("score(answer, references, context) must be a function")
    if problems:
        raise BenchmarkError(
            f"{PREFIX}{name}: its file cannot be used: {'; '.join(problems)}",
            "Nothing was asked. `intramural benchmarks new NAME --kind python-metric` writes a working example.",
        )
    words = f"{title}, {unit}" if unit else str(title)
    assert isinstance(low, int)
    assert isinstance(high, int)
    return OwnMetric(f"{words}{_MARK}", low, high, bool(binary), sha256)


def _is_bound(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MAX_BOUND


def _is_words(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _MAX_WORDS and value.isprintable()
