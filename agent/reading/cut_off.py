"""Decide whether an answer that ended at its limit of tokens had stated its result before. Pure.

A reading of such an answer stands only if the missing text cannot change it. A number or date must be marked as the
answer, in a sentence that ended before the cut: the last value of a calculation that breaks off is a step. A verdict
on a note or a query must not reach the end of the text, where a part of it may be missing. Options, labels, codes and
whole texts are read as in complete answers, because even a single token can be an option.

These rules are only for answers that the server is known to have cut off.
"""

import re

from agent.reading import result_words
from agent.reading.reading import Reading, ValueKind
from agent.reading.stated_value import BOXED, FINAL_ANSWER, FIRST_LINE, JSON_FIELD, WHOLE_ANSWER

KINDS_AT_RISK: frozenset[ValueKind] = frozenset({"number", "verdict", "query"})
"""The kinds of value whose readings may fail because of a cut."""

# These rules take only values behind which a box, an object or a line has ended.
_ENDED_RULES = frozenset({BOXED, FIRST_LINE, JSON_FIELD})

# A field, element or code ends directly behind the value: `25.3 mL/min"`, `25.3</answer>`, `25.3, "unit"`.
_FIELD_END = re.compile(r"(?: ?[^\s\"'`<>{},]{1,20})?(?:[\"'`}]|</|,\s{0,9}\")")
_MARKUP = " *_$\\()"
_FENCE = "```"


def is_stated_before_cut(
    reading: Reading, kind: ValueKind, answer: str, part_start: int = 0
) -> bool:
    """Return whether the reading of a cut-off answer would be the same for the complete answer.

    Args:
        reading: what was read, by the rule of its reader, at its place in `answer`.
        kind: the kind of the value.
        answer: the text up to the cut.
        part_start: where the part of the answer begins that the parser selected.
    """
    before = answer[part_start : reading.start]
    after = answer[reading.end :]
    if kind == "number":
        return _is_result_stated(reading.rule, before, after)
    if kind == "verdict":
        return _is_verdict_stated(reading, answer)
    if kind == "query":
        return _is_query_stated(reading, answer)
    return True


def _is_result_stated(rule: str, before: str, after: str) -> bool:
    """Return whether a number or date is marked as the result, and its sentence has ended."""
    if rule in _ENDED_RULES:
        return True
    if rule == FINAL_ANSWER:
        return _has_ended(after)
    if rule != WHOLE_ANSWER:
        return False
    if result_words.APPROXIMATELY.fullmatch(before):
        # An answer that begins with its value is in the form that was asked for: "25.3 mL/mi".
        return not _touches_end(after)
    return result_words.CUE.search(before) is not None and _has_ended(after)


def _has_ended(after: str) -> bool:
    """Return whether the statement of a value ended before the cut, given the text behind the value."""
    if _FIELD_END.match(after) or result_words.UNIT.fullmatch(after.strip(_MARKUP)):
        return True
    # The full stop at the end of "25." may be a decimal point, which `FULL_STOP` rules out.
    return bool(result_words.SENTENCE_END.search(after) or result_words.FULL_STOP.search(after))


def _touches_end(after: str) -> bool:
    """Return whether nothing but markup and stops follows a statement, so that it may be incomplete."""
    return "\n" not in after and not after.strip(" \t.,*_$")


def _is_verdict_stated(reading: Reading, answer: str) -> bool:
    """Return whether a verdict is the word that was asked for, or has ended before the cut."""
    if reading.rule == "whole answer" and reading.value == "CORRECT":
        return True
    if not _touches_end(answer[reading.end :]):
        return True
    if reading.rule != "stated verdict":
        return False
    # The place of "The error is in sentence 2. The dose should" is the whole line.
    number = reading.value.split()[-1]
    stated = answer[reading.start : reading.end]
    return re.search(rf"\b{number}\b[^.!?\n]{{0,200}}[.!?]\s", stated) is not None


def _is_query_stated(reading: Reading, answer: str) -> bool:
    """Return whether a query or abstention has an end, and no other query begins after it."""
    after = answer[reading.end :]
    if _FENCE in after and answer.count(_FENCE) % 2:
        return False  # the text ends within the code of a later query
    if after.strip(" \t\n.,*_|"):
        return True
    if reading.rule == JSON_FIELD:
        # Such a field is read only if it is closed, but a quotation mark of the query may look like its end.
        return not answer.endswith(('\\"', "\\'"))
    is_single_word = len(answer.split()) == 1  # "null"
    return is_single_word or reading.value.rstrip().endswith(";")
