"""Decide from an answer's claims which option it names. Pure."""

from collections.abc import Sequence

from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.statements import find_last_retraction


def choose_claim(claims: Sequence[OptionClaim], text: str) -> OptionClaim | None:
    """Return the claim that decides, or None if there is none or the claims contradict each other.

    After a retraction ("Wait, no, ..."), only the claims behind it count, and they must be plain.
    """
    retraction = find_last_retraction(text)
    if retraction is not None and any(claim.end <= retraction for claim in claims):
        kept = [claim for claim in claims if claim.end > retraction]
        plain = any(claim.strength >= ClaimStrength.CALLED_CORRECT for claim in kept)
        claims = kept if plain else []
    if not claims:
        return None
    strongest = max(claim.strength for claim in claims)
    deciding = [claim for claim in claims if claim.strength == strongest]
    options = {claim.option for claim in deciding}
    if len(options) > 1 or deciding[0].option < 0:
        return None
    if strongest == ClaimStrength.FINAL and _begins_with_other_answer(claims, deciding[0], text):
        return None
    if strongest == ClaimStrength.ANSWER:
        # "Option A is correct. The statement that is not true is option D." contradicts itself; but if several
        # options are called correct, the question asks for something else.
        called_correct = {
            claim.option for claim in claims if claim.strength == ClaimStrength.CALLED_CORRECT
        }
        if len(called_correct) == 1 and called_correct != options:
            return None
    return deciding[0]


def _begins_with_other_answer(claims: Sequence[OptionClaim], final: OptionClaim, text: str) -> bool:
    """Return whether the first line gives another answer: "Answer: A. Aspirin" above "Final answer: D"."""
    first_line_end = text.find("\n")
    for claim in claims:
        is_in_first_line = claim.end <= first_line_end and claim.start == 0
        if (
            is_in_first_line
            and claim.strength == ClaimStrength.ANSWER
            and claim.option != final.option
        ):
            return True
    return False
