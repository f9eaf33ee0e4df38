"""Find an option that an answer grants after it has named another: "The answer is A. It could be B as well"."""

import re
from itertools import islice

from agent.reading.choice import cues
from agent.reading.choice.claims import OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.statements import find_undecided, is_denied, is_hypothetical

_MAX_GRANTS = 100
# One of these occurs in every grant; looking for them first is much faster.
_WORDS_OF_MAY_BE = ("could ", "may ", "might ")
_WORDS_OF_OR = ("or ", "or,", "alternatively", "maybe ", "perhaps ", "possibly ")
_WORDS_OF_PRAISE = ("also ", "equally ", "just ", "possible", "plausible", *_WORDS_OF_MAY_BE)
_BEGINNING = r"(?:^|(?<=\n)|(?<=[.,;:!?-]\s)|(?<=\())"
# "It could be", "the answer may just as well be"
_MAY_BE = re.compile(
    r"\b(?:it|this|that|(?:the|my|another)\s(?:\w{1,12}\s)?(?:answer|option|choice|possibility))\s(?:could|may|might)\s"
    r"(?:(?:also|well|still|even|possibly|just|as|equally|perhaps)\s){0,4}be\s"
)
# "Or B.", "Maybe B", "but so does B"
_OR = re.compile(
    rf"{_BEGINNING}(?:(?:or|alternatively|maybe|perhaps|possibly)\b,?\s){{1,3}}(?:it(?:'s|\sis)\s|is\sit\s)?"
)
_SO_DOES = re.compile(r"\bso\s(?:is|does|could|would)\s")
# "However, B" before a verb
_SUBJECT = re.compile(
    rf"{_BEGINNING}(?i:however|but|and|also|although|though)?,?\s?(?i:{cues.CALLED})?[(\[\"']?"
    rf"(?:{cues.MARKED}|(?P<capital>[A-Z]))[)\]\"']?(?=\s(?:is|are|could|may|might|would|can|seems)\s)"
)
# "could also be correct", "is equally plausible"
_IS_POSSIBLE = re.compile(
    r"[)\]\"']?\s(?:is|are|could|may|might|would|can|seems)\s(?:(?:also|be|to|well|equally|just|as|still|quite)\s){0,5}"
    r"(?:possible|plausible|correct|right|acceptable|reasonable|defensible|valid|good|an?\s(?:option|possibility|candidate))\b"
)
_PRAISES_TOO = re.compile(r"\s(?:also|equally|just|as|could|may|might|possible|plausible)\b")
_ASKED = re.compile(
    rf"(?i:{cues.CALLED})?[(\[\"']?(?:{cues.MARKED}|(?P<capital>[A-Z]))[)\]\"']?\s?\?"
)
_EQUALLY = re.compile(r"\b(?:also|as\swell|equally)\b")
_END = re.compile(r"[)\]\"']?\s?(?:[.!?](?:\s|$)|$|\n|[,)])")
# "The answer is B. That was an error."
_TAKEN_BACK = re.compile(
    r"[)\]\"']?(?:[.!]{1,3}|,|;|\n|\s-)\s?(?:(?:but|however|no),?\s)?"
    r"(?:(?:that|this|it)(?:'s|\sis|\swas)\s(?:probably\s)?(?:not\s(?:right|correct)|wrong|incorrect|an?\s(?:error|mistake))\b"
    r"|\(?(?:withdrawn|retracted)\b|but\s(?:the\s(?:\w{1,12}\s)?key|that|this)\sis\s(?:wrong|incorrect|mistaken)\b)"
)
_WITHDRAWS = re.compile(
    r"[^.!?\n]{0,200}\b(?:but|however|though|although|if|when|unless|only|were|had|less)\b"
)


def is_weakened(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether the text behind a claim grants another option or takes the claim back, so that nothing decides."""
    if _TAKEN_BACK.match(answer.lower, claim.end):
        return True
    rest = answer.lower[claim.end :]
    if find_undecided(rest) is not None and not _names_again(answer, claim):
        return True
    if any(map(rest.__contains__, _WORDS_OF_MAY_BE)) and _grants_behind(answer, claim, _MAY_BE):
        return True
    if any(map(rest.__contains__, _WORDS_OF_OR)) and _grants_behind(answer, claim, _OR):
        return True
    if "so " in rest and _grants_behind(answer, claim, _SO_DOES):
        return True
    return any(map(rest.__contains__, _WORDS_OF_PRAISE)) and _praises_rival(answer, claim)


def _names_again(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether the option is named behind the words that leave everything open."""
    undecided = find_undecided(answer.lower, claim.end)
    if undecided is None:
        return False
    names = islice(cues.NAMED_OPTION.finditer(answer.text, undecided), _MAX_GRANTS)
    return claim.option in {answer.make_reference(name).option for name in names}


def _grants_behind(answer: MarkedAnswer, claim: OptionClaim, cue: re.Pattern[str]) -> bool:
    """Return whether another option stands behind a cue such as "it could be"."""
    for match in islice(cue.finditer(answer.lower, claim.end), _MAX_GRANTS):
        if _asks_about_other(answer, claim, match.end()):
            return True
        reference = answer.read_reference(match.end())
        if reference is None or reference.option == claim.option:
            continue
        if cue is _OR and answer.options.has_common_word:
            return True  # "Or maybe no."
        is_last = _END.match(answer.text, reference.end) is not None
        is_enough = not _is_mere_hedge(answer, match) if cue is _MAY_BE else is_last
        if is_enough and _is_plain(answer, match.start(), reference.end):
            return True
    return False


def _asks_about_other(answer: MarkedAnswer, claim: OptionClaim, position: int) -> bool:
    """Return whether an answer asks "or is it C?"."""
    asked = _ASKED.match(answer.text, position)
    return asked is not None and answer.make_reference(asked).option != claim.option


def _praises_rival(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether another option is called possible or correct too."""
    for match in islice(_SUBJECT.finditer(answer.text, claim.end), _MAX_GRANTS):
        possible = _IS_POSSIBLE.match(answer.lower, match.end())
        if possible is None or not _PRAISES_TOO.search(possible[0]):
            continue
        is_other = answer.make_reference(match).option != claim.option
        if is_other and _is_plain(answer, match.start(), possible.end()):
            return True
    return False


def _is_mere_hedge(answer: MarkedAnswer, match: re.Match[str]) -> bool:
    """Return whether the sentence takes little back: "yes, but it could be no"."""
    is_contrast = answer.lower[: match.start()].endswith((" but ", " though ", " although "))
    return is_contrast and not _EQUALLY.search(match[0])


def _is_plain(answer: MarkedAnswer, start: int, end: int) -> bool:
    """Return whether a grant is neither denied nor limited to another case, nor withdrawn in its sentence."""
    if is_denied(answer.text, start) or is_hypothetical(answer.text, start, end):
        return False
    return _WITHDRAWS.match(answer.lower, end) is None
