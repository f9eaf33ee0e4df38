"""Names of the lists of a run's instances, as they stand in addresses. Pure."""

import re
from dataclasses import dataclass
from typing import Final

_NUMBER: Final = r"-?[0-9]{1,9}(?:\.[0-9]{1,6})?"
STEM: Final = (
    r"instances(?:(?:-(?!beside-)[a-z_]{1,40}){0,2}"
    rf"|-from-{_NUMBER}(?:-to-{_NUMBER})?|-to-{_NUMBER})"
)
"""A pattern of the names of all lists; behind each stand a hyphen and the number of the page."""
_RANGE: Final = re.compile(rf"instances(?:-from-(?P<low>{_NUMBER}))?(?:-to-(?P<high>{_NUMBER}))?")


@dataclass(frozen=True, slots=True)
class ScoreRange:
    """Scores from `low` to `high`, both included; None for no such bound."""

    low: float | None = None
    high: float | None = None

    @property
    def stem(self) -> str:
        """The name of the list of instances with such scores; that of all instances without a bound."""
        low = "" if self.low is None else f"-from-{_format(self.low)}"
        high = "" if self.high is None else f"-to-{_format(self.high)}"
        return f"instances{low}{high}"

    @property
    def label(self) -> str:
        """The range for people."""
        if self.low is None:
            return "Any score" if self.high is None else f"Score up to {_format(self.high)}"
        if self.high is None:
            return f"Score from {_format(self.low)}"
        return f"Score from {_format(self.low)} to {_format(self.high)}"


def read_score_range(stem: str) -> ScoreRange | None:
    """Return the range that the name of a list states; None for a list of another kind."""
    found = _RANGE.fullmatch(stem)
    if found is None or stem == "instances":
        return None
    low, high = found["low"], found["high"]
    return ScoreRange(None if low is None else float(low), None if high is None else float(high))


def _format(number: float) -> str:
    """Return a number as it stands in addresses: with at most six decimals, and none that is 0."""
    text = f"{number:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
