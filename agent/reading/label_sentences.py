"""Read the sentences that mean a label without naming it: "the answer contradicts the abstract". Pure.

A benchmark lists them among the words for a label, in the notation of `agent.reading.label_notation`. Such a sentence
is weak evidence: it is read if the answer states no label, its sentences agree, and no word qualifies them.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.rules import OptionRule
from agent.reading.statements import (
    find_last_retraction,
    is_denied,
    is_hypothetical,
    is_question,
    is_refusal,
)

SENTENCE = OptionRule(
    "sentence about the label",
    "A sentence means a label without naming it, and no other sentence contradicts or qualifies it.",
    "There is no sign of hallucination.",
)

_MAX_SENTENCES = 20  # of one label
_REACH = 60  # characters examined before a sentence
_BEFORE = re.compile(
    r"(?:^|[\n.,:;!?=>(-]\s?|\b(?:and|so|because|since|that|as|for|think|believe|say|guess|find|overall|therefore|thus|hence)\s)"
    r"[\"'(]{0,2}$"
)
_DOUBT = re.compile(
    r"\b(?:may|might|could|can|possibly|perhaps|maybe|potentially|partly|partially|somewhat|mostly|mainly|almost|nearly|either"
    r"|neither|whether|claim|claims|sure)\b[^.!?\n]{0,40}$"
)
_QUALIFIES = re.compile(
    r"\b(?:but|however|although|though|except|yet|while|whereas|partly|partially|mostly|in\spart|part\sof|parts\sof|in\sone|in\ssome"
    r"|on\sthe\sone|otherwise|unless|if|nevertheless|half|entirely|unclear|unsure|not\ssure|cannot|can't)\b"
)


class LabelSentence(NamedTuple):
    """A pattern of sentences that mean a label, which is given by its number."""

    label: int
    pattern: re.Pattern[str]


def find_sentence(lower: str, sentences: Iterable[LabelSentence]) -> OptionClaim | None:
    """Return the claim of the sentences in a text in lower case, or None if they are absent, doubtful or disagree."""
    if _QUALIFIES.search(lower) or is_refusal(lower) or find_last_retraction(lower) is not None:
        return None
    claims = list(_iter_claims(lower, sentences))
    labels = {claim.option for claim in claims}
    return claims[0] if len(labels) == 1 else None


def _iter_claims(lower: str, sentences: Iterable[LabelSentence]) -> Iterator[OptionClaim]:
    for label, pattern in sentences:
        for match in islice(pattern.finditer(lower), _MAX_SENTENCES):
            if _is_asserted(lower, match.start(), match.end()):
                yield OptionClaim(label, *match.span(), ClaimStrength.PROPOSED, SENTENCE)


def _is_asserted(lower: str, start: int, end: int) -> bool:
    """Return whether a clause begins at `start`, and is neither denied, doubted nor asked."""
    if not _BEFORE.search(lower, max(0, start - _REACH), start):
        return False
    if is_question(lower, end) or _DOUBT.search(lower, max(0, start - _REACH), start):
        return False
    return not is_denied(lower, start) and not is_hypothetical(lower, start, end)
