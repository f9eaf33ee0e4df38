"""Find the value at which an answer arrives that counts or computes again: "12. Let me recount: 4 + 9 = 13." Pure.

The value must end the answer. After a mere check ("Let me check: 11.2 / 0.64 = 17.5"), it must stand in a line of its
own, because a check that arrives elsewhere leaves open which of the two values holds.
"""

import re

from agent.reading import result_words
from agent.reading.asked_value import is_plausible
from agent.reading.caseless import CaselessPattern, compile_caseless
from agent.reading.mentions import Mention, Mentions, V
from agent.reading.quantity import Quantity

_COUNTS_AGAIN = compile_caseless(
    r"\b(?:let me|let's|i'll|i will|i should|i need to) (?:re-?\s?(?:count|calculate|compute|consider|think|do|add)\w*"
    r"|count (?:again|once more)|start (?:over|again)|correct)\b"
    r"|\b(?:recount|recalculat|recomput)ing\b|\b(?:wait|hmm+|oops)\b(?=[,.!-])|\bon (?:second thought|reflection)"
)
_CHECKS = compile_caseless(
    r"\b(?:let me|let's|i'll|i will) (?:just |quickly )?(?:check|double-?\s?check|verify|confirm|re-?check)\b"
)
_LEADS_TO_RESULT = compile_caseless(
    r"(?:[=≈→⇒]|->|\b(?:makes|gives|equals|totals?|totalling|comes to|adds up to|(?:score|total|sum|result) (?:is|of)"
    r"|(?:should|must) be))[ ~$*:]{0,4}\Z"
)
_REACH = 40  # characters before the value
_UNIT_AND_MARKS = re.compile(r" ?(?:points?|criteria)?[ .!*_)$\n`]{0,9}\Z")
_MARKS = " \n*_#$>-"


def find_recounted(
    text: str, mentions: Mentions[V], quantity: Quantity | None
) -> Mention[V] | None:
    """Return the value with which a recount ends the text; None if there is no recount, or it ends with none."""
    counted = _find_last(_COUNTS_AGAIN, text)
    checked = _find_last(_CHECKS, text)
    again = max(counted, checked)
    if again < 0:
        return None
    behind = mentions.list_between(again, len(text))
    if not behind:
        return None
    last = behind[-1]
    unit = result_words.MEASURE.match(text, last.end)
    if not _UNIT_AND_MARKS.match(text, unit.end() if unit else last.end):
        return None
    if quantity is not None and not _may_be(last, text, quantity):
        return None
    line_start = text.rfind("\n", 0, last.start) + 1
    if line_start > again and not text[line_start : last.start].strip(_MARKS):
        return last
    leads = _LEADS_TO_RESULT.search(text, max(again, last.start - _REACH), last.start)
    return last if leads and counted >= 0 and counted >= checked else None


def _find_last(pattern: CaselessPattern, text: str) -> int:
    """Return where the last match of a pattern ends, or -1."""
    end = -1
    for match in pattern.finditer(text):
        end = match.end()
    return end


def _may_be(mention: Mention[V], text: str, quantity: Quantity) -> bool:
    """Return whether a value can be the quantity, and has no other unit than the one that the question asks for."""
    if mention.value is None or not is_plausible(mention.value, quantity):
        return False
    has_unit = result_words.MEASURE.match(text, mention.end) is not None
    is_asked = quantity.unit is not None and quantity.unit.match(text, mention.end) is not None
    return is_asked or not has_unit
