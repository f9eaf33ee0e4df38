"""A claim: an answer's statement that a certain option is the answer."""

import re
from collections.abc import Iterator
from enum import IntEnum
from itertools import islice
from typing import NamedTuple

from agent.reading.choice.rules import OptionRule

MAX_CLAIMS = 300  # of one cue; an answer with more is an endless repetition


class ClaimStrength(IntEnum):
    """How plainly a claim is made. The strongest claims decide."""

    MENTIONED = 0
    """A sentence names the option, and no other option is named."""
    PROPOSED = 1
    """A sentence or line proposes the option without calling it the answer: "the drug of choice is heparin"."""
    CALLED_CORRECT = 2
    """The option is called correct."""
    ANSWER = 3
    """The option is given as the answer."""
    FINAL = 4
    """The option is given as the final answer."""


class OptionClaim(NamedTuple):
    """A statement that an option is the answer. A statement that names several options makes a claim of each."""

    option: int
    start: int
    end: int
    strength: ClaimStrength
    rule: OptionRule
    by_text: bool = False


class TooManyClaimsError(Exception):
    """The answer repeats itself endlessly."""


def iter_matches(
    cue: re.Pattern[str], text: str, limit: int = MAX_CLAIMS
) -> Iterator[re.Match[str]]:
    """Yield the matches of a cue.

    Raises:
        TooManyClaimsError: there are more than `limit`.
    """
    matches = list(islice(cue.finditer(text), limit + 1))
    if len(matches) > limit:
        raise TooManyClaimsError
    yield from matches
