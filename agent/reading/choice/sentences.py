"""Read the claims of sentences that name a single option by its text: "The patient should receive heparin."."""

import re
from collections.abc import Iterator
from itertools import islice

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.references import (
    BOTH_SIGNS,
    LETTER_SIGNS,
    PADDING,
    SIGNS,
    TEXT_SIGNS,
    decode,
)
from agent.reading.choice.rules import NAMED_IN_SENTENCE
from agent.reading.choice.stated import BEFORE_SUBJECT
from agent.reading.statements import (
    is_denied,
    is_hypothetical,
    is_qualified,
    is_question,
    is_refusal,
    is_unfinished,
)

_MAX_SIGNS = 20
_MAX_LAST_SENTENCE = 400  # characters
_MAX_SENTENCES = 4
_TEXT_SIGN = re.compile(rf"[{TEXT_SIGNS}]{PADDING}*")
_LETTER_SIGN = re.compile(f"[{LETTER_SIGNS}]")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")
_SIGN = re.compile(rf"[{SIGNS}]{PADDING}*")
_LONE_LETTER = re.compile(r"(?<![\w'-])(?:[B-J](?![\w'])|A(?=[).:,;]|$|\s(?:and|or|is)\b))")
# A sentence with one of these words may compare, doubt or deny the option that it names.
_DOUBTS = re.compile(
    r"\b(?:not|no|never|nor|none|without|cannot|could|may|might|would|possib\w*|perhaps|maybe|sometimes|also|next|second|least|less"
    r"|worst|tempt\w*|trap|unlike|than|instead|whereas|while|although|though|but|however|other|another|depends?|if|unless|until|when"
    r"|except|question|options|choices|initial\w*|previous\w*|first\sthought)\b|n't\b"
)
# "The antidote of heparin (C) is best" does not propose heparin.
_OPPOSES = re.compile(
    r"\b(?:anti\w*|inhibit\w*|block\w*|revers\w*|alternative|opposite|absence|lack|loss|resist\w*|allerg\w*|against|stop\w*"
    r"|withdraw\w*|discontinu\w*|follow\w*|after|before|contrast|differ\w*|similar\w*|instead|response|reaction|complication\w*)\b"
)
# "It is listed under option C (nerve)."
_FILED_UNDER = re.compile(
    r"\b(?:found|listed|described|given|stated|named|covered|captured|represented|expressed|contained|worded)\s"
    r"(?:[^.,;:!?\n]{0,50}\s)?(?:under|by|in|as|with)\s\Z"
)
_CALLED_OPTION = re.compile(r"(?:option|choice|answer)\s", re.IGNORECASE)
_ENDS_SENTENCE = re.compile(
    r"[)\]\"']{0,2}(?:\s(?:now|immediately|first|here|today|in\sthis\s(?:case|patient|setting)|for\sthis\spatient"
    r"|as\s(?:the\s)?(?:best\s)?(?:next|first)\sstep))?\s?(?:[.!](?:\s|$)|$)"
)
_LEADS_TO_OBJECT = re.compile(
    r"\b(?:is|was|be|are|has|have|had|with|of|for|to|by|in|a|an|the|give|given|giving|start|starting|receive|receives"
    r"|prescribe|administer|perform|order|use|using|recommend|recommended|suggests?|suggesting|indicates?|indicating|needs?"
    r"|requires?|shows?|supports?|favou?rs?|choose|consider|call|called|via|through|causes?|caused|inhibits?|probably|likely"
    r"|on|from|as|into|do|does|get|obtain|develop|developed|diagnosed|treat|expect|expects|expected)\s[\"'(]?$"
)
# "This patient" may come before the option "Does not have a history of homelessness".
_VERB = re.compile(
    r"(?:is|are|was|has|have|does|do|can|cannot|can't|should|may|must|will)\b", re.IGNORECASE
)
# "a yes or a no", "points away from heparin"
_IS_SECOND = re.compile(r"\b(?:or|away\sfrom)\s(?:an?\s|the\s)?[\"']?\Z")
_UNSURE = re.compile(r"\b(?:could|might|possibly|perhaps|maybe)\b")
_PROPOSES = re.compile(
    r"\s(?:should\sbe|would\sbe|must\sbe|can\sbe\s(?:given|used)|needs?\sto\sbe|has\sto\sbe|explains?|accounts?\sfor|causes?|fits"
    r"|is\s(?:indicated|recommended|preferred|appropriate|needed|required|advised|the|most|best|responsible|usually|typically"
    r"|what|first))\b"
)


def read_sentences(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read a short answer that proposes an option by its text: "The patient should receive heparin."."""
    text = answer.text
    signs = list(islice(_TEXT_SIGN.finditer(text), _MAX_SIGNS))
    if len({decode(sign[0][0]) for sign in signs}) != 1 or _LETTER_SIGN.search(text):
        return
    if is_refusal(answer.plain) or is_unfinished(answer.plain):
        return
    is_long = len(list(islice(_SENTENCE_END.finditer(text), _MAX_SENTENCES + 1))) > _MAX_SENTENCES
    last_start = answer.find_sentence_start(len(text.rstrip(" .!")))
    for sign in signs:
        start = answer.find_sentence_start(sign.start())
        is_read = start >= last_start or not is_long
        if is_read and _proposes(answer, start, sign) and not _is_doubted(answer, start, sign):
            option = decode(sign[0][0])
            yield OptionClaim(option, start, sign.end(), ClaimStrength.MENTIONED, NAMED_IN_SENTENCE)


def _proposes(answer: MarkedAnswer, start: int, sign: re.Match[str]) -> bool:
    """Return whether the sentence from `start` on proposes its option: "give heparin", "heparin is indicated"."""
    text = answer.text
    if answer.calls_wrong(sign.end()):
        return False
    if _ENDS_SENTENCE.match(text, sign.end()):
        before = answer.lower[start : sign.start()]
        if _LEADS_TO_OBJECT.search(before) or _VERB.match(answer.plain, sign.start()):
            return True
    if not _PROPOSES.match(answer.lower, sign.end()):
        return False
    return BEFORE_SUBJECT.fullmatch(text, start, sign.start()) is not None


def _is_doubted(answer: MarkedAnswer, start: int, sign: re.Match[str]) -> bool:
    """Return whether the sentence from `start` on denies its option, asks for it, or names it for another case."""
    text = answer.text
    if is_denied(text, sign.start()) or is_question(text, sign.end()):
        return True
    if _UNSURE.search(answer.lower, start, sign.start()):
        return True
    if _IS_SECOND.search(answer.lower, start, sign.start()):
        return True
    sentence_end = _SENTENCE_END.search(text, sign.end())
    end = sentence_end.start() if sentence_end else len(text)
    if cues.SAID_BY_OTHERS.search(answer.lower, start, end):
        return True
    return is_qualified(text, sign.end()) or is_hypothetical(text, start, sign.end())


def read_last_sentence(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read a last sentence that names one option by letter and text, whatever words stand before it.

    Examples: "Thus, exposure to snails (choice D) is most likely.", "It is found under option C (nerve).".
    """
    text = answer.text
    end = len(text.rstrip())
    start = answer.find_sentence_start(max(0, end - 2))
    if end - start > _MAX_LAST_SENTENCE or not text.endswith((".", "!", ".)"), 0, end):
        return
    signs = list(islice(_SIGN.finditer(text, start, end), 2))
    if len(signs) != 1 or _LONE_LETTER.search(text, start, end):
        return
    sign = signs[0]
    if not BOTH_SIGNS[0] <= sign[0][0] <= BOTH_SIGNS[-1]:
        return
    before = answer.lower[start : sign.start()]
    is_listed = _FILED_UNDER.search(before) and _CALLED_OPTION.match(answer.plain, sign.start())
    right = cues.IS_RIGHT.match(text, sign.end())
    is_right = (
        right is not None and (right["right"] or right["noun"]) and not _OPPOSES.search(before)
    )
    if not (is_listed or is_right) or _DOUBTS.search(answer.lower, start, end):
        return
    if cues.WRONG.search(answer.lower, start, end) or is_denied(text, sign.start()):
        return
    yield OptionClaim(
        decode(sign[0][0]), start, sign.end(), ClaimStrength.PROPOSED, NAMED_IN_SENTENCE
    )
