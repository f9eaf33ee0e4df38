"""Drop the claims of references that choose nothing: hedges, items of a ranking, options that are merely repeated."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.lists import Listing
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.references import UNKNOWN
from agent.reading.choice.rules import STATED_ANSWER

_MAX_FOUND = 100  # hedges, items or names of an answer
# "It could be", "might also be"
_MAY_BE = re.compile(
    r"\b(?:could|might|may)\s(?:(?:also|well|still|even|possibly|just)\s){0,2}be\s"
)
# "A" may be an article, and "I" is seldom an option: "A woman could be B, I think".
_NAME = re.compile(
    rf"{cues.MARKED}|(?<![\w'-])(?P<capital>[B-HJ](?![\w'-])"
    r"|A(?=[)\].:,;!?]|\s?$|\n|\s(?:is|was|and|or|but|seems|looks|fits|appears|remains|would|could|might|may)\b))"
)
_ITEM = re.compile(
    rf"(?:^|(?<=\s))(?P<number>\d)[.)]\s(?:(?i:option|choice)\s)?[(\[\"']?"
    rf"(?:{cues.MARKED}|(?P<capital>[A-J])(?![\w'-]))"
    # Nothing stands behind it but a remark in brackets or the next item.
    r"[)\]\"'.,;:]{0,3}(?:\s?[(\[][^()\[\]\n]{1,40}[)\]])?[.,;]?(?=\s*$|\n|\s\d[.)]\s)"
)
_ANNOUNCEMENT = re.compile(r":\s{0,9}\n\s{0,9}\Z")


class _Span(NamedTuple):
    """The position of a reference that chooses nothing."""

    start: int
    end: int


def drop_tentative(
    answer: MarkedAnswer, listings: Sequence[Listing], claims: list[OptionClaim]
) -> list[OptionClaim]:
    """Return the claims that choose; a claim of an unknown option if the answer only hedges, ranks or repeats."""
    spans = [*_find_hedges(answer), *_find_ranked(answer), *_find_repeated(answer, listings)]
    if not spans:
        return claims
    kept = [claim for claim in claims if not _is_within(claim, spans)]
    first = spans[0]
    nothing = OptionClaim(UNKNOWN, first.start, first.end, ClaimStrength.MENTIONED, STATED_ANSWER)
    return kept or [nothing]


def _is_within(claim: OptionClaim, spans: Sequence[_Span]) -> bool:
    return any(span.start < claim.end <= span.end for span in spans)


def _find_hedges(answer: MarkedAnswer) -> list[_Span]:
    """Return the references behind "could be" in an answer that names another option too."""
    hedges: list[_Span] = []
    hedged: set[int] = set()
    for match in islice(_MAY_BE.finditer(answer.lower), _MAX_FOUND):
        reference = answer.read_reference(match.end())
        if reference is not None:
            joined = answer.read_joined(reference)
            hedges.append(_Span(reference.start, joined[-1].end))
            hedged |= {other.option for other in joined}
    if not hedges:
        return []
    is_alone = _list_named(answer) <= hedged and len(hedged) == 1
    return [] if is_alone else hedges


def _list_named(answer: MarkedAnswer) -> set[int]:
    names = islice(_NAME.finditer(answer.text), _MAX_FOUND)
    return {answer.make_reference(name).option for name in names}


def _find_ranked(answer: MarkedAnswer) -> list[_Span]:
    """Return the items of "1. B 2. A", which rank options or answer several questions."""
    items = list(islice(_ITEM.finditer(answer.text), _MAX_FOUND))
    numbers = [int(item["number"]) for item in items]
    options = {answer.make_reference(item).option for item in items}
    if len(options) < 2 or numbers[0] != 1 or numbers != sorted(set(numbers)):
        return []
    return [_Span(*item.span()) for item in items]


def _find_repeated(answer: MarkedAnswer, listings: Sequence[Listing]) -> Iterator[_Span]:
    """Yield the first item of a list that merely repeats the options below "The answer is:"."""
    for listing in listings:
        first, *others = listing.items
        if not _ANNOUNCEMENT.search(answer.text[max(0, first.start - 20) : first.start]):
            continue
        if not any(answer.calls_wrong(item.text_start) for item in others):
            yield _Span(first.start, first.end)
