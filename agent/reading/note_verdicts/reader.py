"""Read whether an answer calls a note correct, or which of its sentences it calls wrong. Pure.

A verdict can be stated in the benchmark's own form ("CORRECT", "10 The dose is 5 mg."), as fields (JSON, elements,
lines of "key: value", the official submission line) or in sentences ("The error is in sentence 10."). Every statement
in the answer is collected. A statement in the form of an answer outweighs the reasoning around it; statements that
contradict each other are unread.

The numbered sentences of the note are used if the caller knows them: a number that no sentence has names no sentence,
and a sentence that is quoted or corrected without its number is looked up.
"""

from dataclasses import replace

from agent.reading.note_verdicts import patterns
from agent.reading.note_verdicts.claims import CONTRADICTION, NO_ERROR, SOME_ERROR, VerdictClaim
from agent.reading.note_verdicts.fields import find_in_fields
from agent.reading.note_verdicts.note import Sentences
from agent.reading.note_verdicts.tables import find_in_table
from agent.reading.note_verdicts.text import find_in_text
from agent.reading.plain_answer import simplify, simplify_with_positions
from agent.reading.reading import Reading

_MAX_NUMBER_WORD = 20  # characters


def find_verdict(answer: str, sentences: Sentences | None = None) -> int | None:
    """Return the number of the sentence that an answer calls wrong, NO_ERROR, SOME_ERROR, or None if it is unread."""
    if patterns.is_undecided(answer):
        return None
    claim = _find_in_form(answer, sentences or {})
    claim = claim or find_in_text(simplify(answer), sentences or {})
    return None if claim is None or claim.verdict == CONTRADICTION else claim.verdict


def read_verdict(answer: str, sentences: Sentences | None = None) -> Reading | None:
    """Return the verdict of `find_verdict`, with the words that state it: "correct", "error 10" or "error ?"."""
    if patterns.is_undecided(answer):
        return None
    claim = _find_in_form(answer, sentences or {})
    if claim is None:
        plain, positions = simplify_with_positions(answer)
        claim = find_in_text(plain, sentences or {})
        if claim is not None:
            last = positions[max(claim.end - 1, claim.start)]
            claim = replace(claim, start=positions[claim.start], end=last + 1)
    if claim is None or claim.verdict == CONTRADICTION:
        return None
    return Reading(_name(claim.verdict), claim.start, claim.end, claim.rule)


def _name(verdict: int) -> str:
    if verdict == NO_ERROR:
        return "correct"
    return "error ?" if verdict == SOME_ERROR else f"error {verdict}"


def _find_in_form(answer: str, sentences: Sentences) -> VerdictClaim | None:
    """Return the verdict of an answer in the form that was asked for, or in fields."""
    claim = _find_whole(answer, sentences) or find_in_fields(answer, sentences)
    return claim or find_in_table(answer, sentences)


def _find_whole(answer: str, sentences: Sentences) -> VerdictClaim | None:
    """Return the verdict of an answer that has exactly the form that was asked for, as most have."""
    match = patterns.WHOLE.fullmatch(answer)
    if match is None and len(answer) <= _MAX_NUMBER_WORD:
        word = answer.strip(" .\n*").lower()
        if patterns.NUMBER_WORDS.get(word, NO_ERROR) in sentences:
            return VerdictClaim(patterns.NUMBER_WORDS[word], 0, len(answer), "whole answer", True)
    if match is None:
        return None
    verdict = int(match["number"]) if match["number"] else NO_ERROR
    if patterns.says_more(answer, sentences.get(verdict, "")):
        return None
    if verdict >= 0 and sentences and verdict not in sentences:
        verdict = SOME_ERROR
    return VerdictClaim(verdict, match.start("verdict"), match.end("verdict"), "whole answer", True)
