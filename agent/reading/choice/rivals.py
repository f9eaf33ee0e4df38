"""Find an option that an answer grants after it has named another: "The answer is A. It could be B as well"."""

import re
from itertools import islice

from agent.reading.choice import cues
from agent.reading.choice.claims import OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.references import SIGNS
from agent.reading.statements import is_denied, is_hypothetical

_MAX_GRANTS = 100
_BEGINNING = r"(?:^|(?<=\n)|(?<=[.,;:!?-]\s))"
# "It could be", "the answer may just as well be", "B is also"
_GRANTING_WORD = re.compile(
    r"\b(?:could|may|might|also|equally|possible|plausible|alternatively|or|maybe|perhaps|possibly|either|so)\b"
)
_MAY_BE = re.compile(
    r"\b(?:it|this|that|(?:the|my|another)\s(?:\w{1,12}\s)?(?:answer|option|choice|possibility))\s(?:could|may|might)\s"
    r"(?:(?:also|well|still|even|possibly|just|as|equally|perhaps)\s){0,4}be\s"
)
# "Or B.", "Maybe B"
_OR = re.compile(
    rf"{_BEGINNING}(?:(?:or|alternatively|maybe|perhaps|possibly)\b,?\s){{1,3}}(?:it(?:'s|\sis)\s)?"
)
_SO_DOES = re.compile(r"\bso\s(?:is|does|could|would)\s")
_REFERENCE = re.compile(
    rf"{_BEGINNING}(?i:however|but|and|also|although|though)?,?\s?(?i:{cues.CALLED})?[(\[\"']?(?:{cues.MARKED}|(?P<capital>[A-Z]))[)\]\"']?"
    r"(?=\s(?:is|are|could|may|might|would|can|seems)\s)"
)
_IS_POSSIBLE = re.compile(
    r"[)\]\"']?\s(?:is|are|could|may|might|would|can|seems)\s(?:(?:also|be|to|well|equally|just|as|still|quite)\s){0,5}"
    r"(?:possible|plausible|correct|right|acceptable|reasonable|defensible|valid|good|an?\s(?:option|possibility|candidate))\b"
)
_EQUALLY = re.compile(r"\b(?:also|as\swell|equally)\b")
_GRANTS = re.compile(r"\s(?:also|equally|just|as|could|may|might|possible|plausible)\b")
_END = re.compile(r"[)\]\"']?\s?(?:[.!?](?:\s|$)|$|\n)")
_UNLESS = re.compile(
    r"[^.!?\n]{0,200}\b(?:but|however|though|although|if|when|unless|only|were|had|less)\b"
)
_HAS_SIGN_OR_LETTER = re.compile(rf"[{SIGNS}]|\b[A-J]\b")


def grants_rival(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether the text behind a claim grants another option, so that nothing decides between the two."""
    text, lower = answer.text, answer.lower
    if not _GRANTING_WORD.search(lower, claim.end) or not _HAS_SIGN_OR_LETTER.search(
        text, claim.end
    ):
        return False
    for cue in (_MAY_BE, _OR, _SO_DOES):
        for match in islice(cue.finditer(lower, claim.end), _MAX_GRANTS):
            reference = answer.read_reference(match.end())
            if reference is None or reference.option == claim.option:
                continue
            if cue is _MAY_BE and _is_mere_hedge(answer, match):
                continue
            is_last = _END.match(text, reference.end) is not None
            if (is_last or cue is _MAY_BE) and _is_plain(answer, match.start(), reference.end):
                return True
    for match in islice(_REFERENCE.finditer(text, claim.end), _MAX_GRANTS):
        possible = _IS_POSSIBLE.match(lower, match.end())
        if possible is None or not _GRANTS.search(possible[0]):
            continue
        is_other = answer.make_reference(match).option != claim.option
        if is_other and _is_plain(answer, match.start(), possible.end()):
            return True
    return False


def _is_mere_hedge(answer: MarkedAnswer, match: re.Match[str]) -> bool:
    """Return whether the same sentence takes little back: "yes, but it could be no"."""
    is_contrast = answer.lower[: match.start()].endswith((" but ", " though ", " although "))
    return is_contrast and not _EQUALLY.search(match[0])


def _is_plain(answer: MarkedAnswer, start: int, end: int) -> bool:
    """Return whether a grant is neither denied nor limited to another case, nor withdrawn in its sentence."""
    if is_denied(answer.text, start) or is_hypothetical(answer.text, start, end):
        return False
    return _UNLESS.match(answer.lower, end) is None
