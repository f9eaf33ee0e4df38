"""Read an answer that gives every option a probability: "A: 0.08, B: 0.11, C: 0.23, D: 0.58". Pure."""

import re
from collections.abc import Iterator
from itertools import islice

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.references import UNKNOWN
from agent.reading.choice.rules import COMMENTED_OPTIONS

_MAX_SHARES = 40
_TOTALS = (1.0, 100.0)
_TOLERANCE = 0.03  # of the total
_SHARE = re.compile(
    rf"(?:^|(?<=[\n\s{{,(]))[\"'(-]{{0,2}}(?i:option\s|-\s)?(?:{cues.MARKED}|(?P<capital>[A-J]))[\"')]{{0,2}}\s?(?:[:=-]|->|→)\s?"
    r"(?:about\s|around\s|~\s?)?(?P<number>\d{1,3}(?:\.\d{1,6})?)(?![\d.]?\d)\s?%?"
)
_PERCENT_OR_DECIMAL = re.compile(r"\d\s?%|\b[01]?\.\d")


def read_distribution(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Yield the claim of the most probable option, if all options have a probability and one is the highest.

    Probabilities of some options choose none: "B - 60%, C - 40%, hard to say".
    """
    if not _PERCENT_OR_DECIMAL.search(answer.plain):
        return
    shares: dict[int, float] = {}
    spans: dict[int, re.Match[str]] = {}
    for share in islice(_SHARE.finditer(answer.text), _MAX_SHARES):
        option = answer.make_reference(share).option
        if option < 0 or option in shares:
            return
        shares[option] = float(share["number"])
        spans[option] = share
    if 1 < len(shares) < answer.options.count:
        first = min(spans.values(), key=re.Match.start)
        yield OptionClaim(
            UNKNOWN, first.start(), first.end(), ClaimStrength.PROPOSED, COMMENTED_OPTIONS
        )
    if len(shares) != answer.options.count or not _is_total(sum(shares.values())):
        return
    highest = max(shares.values())
    likeliest = [option for option, share in shares.items() if share == highest]
    if len(likeliest) == 1:
        (option,) = likeliest
        span = spans[option]
        yield OptionClaim(
            option, span.start(), span.end(), ClaimStrength.CALLED_CORRECT, COMMENTED_OPTIONS
        )


def _is_total(total: float) -> bool:
    return any(abs(total - whole) <= _TOLERANCE * whole for whole in _TOTALS)
