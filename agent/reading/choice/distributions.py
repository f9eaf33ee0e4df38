"""Read an answer that gives every option a probability or a rating: "A: 0.08, B: 0.11, C: 0.23, D: 0.58". Pure."""

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
_REFERENCE = rf"(?i:option\s|-\s|p\(?)?(?:{cues.MARKED}|(?P<capital>[A-J])(?![\w'-]))[\"')]{{0,3}}"
_SHARE = re.compile(
    rf"(?:^|(?<=[\n\s{{,(]))[\"'(-]{{0,2}}{_REFERENCE}"
    r"(?:\s?(?:[:=|-]|->|→)\s?[\"']?(?:about\s|around\s|~\s?)?|\s(?=\d{1,3}(?:\.\d+)?\s?%))"
    r"(?P<number>\d{1,3}(?:\.\d{1,6})?)(?![\d.]?\d)\s?%?(?P<of>\s?(?:/|out\sof)\s?(?:5|10|100)\b)?(?!\s?(?:mg|mcg|g|ml|units?|u|iu|kg|cm|mm|days?|years?|h|min)\b)"
)
# "C: ★★★★"
_STARS = re.compile(
    rf"(?:^|(?<=[\n\s,]))[\"'(-]{{0,2}}{_REFERENCE}\s?[:=|-]?\s?(?P<stars>[★⭐●]{{1,10}})[☆○]{{0,10}}"
)
_STAR = re.compile("[★⭐]")
_PERCENT_OR_DECIMAL = re.compile(r"\d\s?%|\b[01]?\.\d")
_OUT_OF = re.compile(r"\d\s?(?:/|out\sof)\s?(?:5|10|100)\b")
# The heading of a table or list of ratings; others may list risks or ranks.
_RATING = re.compile(
    r"\b(?:ratings?|scores?|confidence|certainty|likelihood|probabilit(?:y|ies)|plausibility|suitability|fit)\b"
)
_OTHER_FIGURE = re.compile(
    r"\b(?:ranks?|risks?|rates?|mortality|prevalence|incidence|frequency|doses?|costs?|toxicity|apgar|gcs)\b"
)


def read_distribution(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Yield the claim of the most probable option, if all options have a probability and one is the highest.

    Probabilities of some options choose none: "B - 60%, C - 40%, hard to say". Ratings need no total, but a heading or
    "/10" must show that they are some.
    """
    if _STAR.search(answer.plain):
        yield from _read_highest(answer, _STARS, is_rating=True)
        return
    is_rating = _RATING.search(answer.lower) is not None or _OUT_OF.search(answer.plain) is not None
    if is_rating or _PERCENT_OR_DECIMAL.search(answer.plain):
        yield from _read_highest(
            answer, _SHARE, is_rating=is_rating and not _OTHER_FIGURE.search(answer.lower)
        )


def _read_highest(
    answer: MarkedAnswer, pattern: re.Pattern[str], *, is_rating: bool
) -> Iterator[OptionClaim]:
    shares: dict[int, float] = {}
    spans: dict[int, re.Match[str]] = {}
    for share in islice(pattern.finditer(answer.text), _MAX_SHARES):
        option = answer.make_reference(share).option
        if option < 0 or option in shares:
            return
        groups = share.groupdict()
        shares[option] = float(groups["number"]) if "number" in groups else len(share["stars"])
        spans[option] = share
    is_share = _PERCENT_OR_DECIMAL.search(answer.plain) is not None
    if is_share and 1 < len(shares) < answer.options.count:
        first = min(spans.values(), key=re.Match.start)
        yield OptionClaim(
            UNKNOWN, first.start(), first.end(), ClaimStrength.PROPOSED, COMMENTED_OPTIONS
        )
    if len(shares) != answer.options.count or not (is_rating or _is_total(sum(shares.values()))):
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
