"""Read the claims of answers in other languages: "La respuesta correcta es B", "B ist richtig", "正解はBです".

The phrases are data (agent/reading/languages). An answer in another language is also read by its form, like one in
English: "B. Heparina". `apply_languages` leaves out such a claim if words of the other language deny it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from agent.reading.choice.claims import MAX_CLAIMS, ClaimStrength, OptionClaim, iter_matches
from agent.reading.choice.lists import find_listings
from agent.reading.choice.marked_answer import MarkedAnswer, OptionReference
from agent.reading.choice.references import PADDING, SIGNS, UNKNOWN
from agent.reading.choice.rules import (
    CALLED_CORRECT,
    COMMENTED_OPTIONS,
    FINAL_ANSWER,
    FIRST_LINE,
    LAST_LINE,
    STATED_ANSWER,
    OptionRule,
)
from agent.reading.languages import Language, find_languages
from agent.reading.statements import is_question

_REACH = 200  # characters that are examined before a statement
_MAX_JOINED = 10
# Before a sign of another script there may be no space.
_OTHER_SCRIPT = r"[\u0600-\u06ff\u0900-\ud7ff]"
_CLOSING = r"[)\]>}\"'.]{0,3}"
_SENTENCE_END = re.compile(
    rf"[.!?][)\]\"']*(?:\s|(?={_OTHER_SCRIPT}))|(?<={_OTHER_SCRIPT})[.!?]|\n"
)
_CLAUSE_END = re.compile(
    rf"[.!?,;:][)\]\"']*(?:\s|(?={_OTHER_SCRIPT}))|(?<={_OTHER_SCRIPT})[.!?,;:]\s?|\n|\s-\s"
)
# Polish "A ponieważ ..." is "And because ...".
_WORDS_OF_ONE_LETTER = frozenset("AEIOUWYZ")
_LINE_END = re.compile(r"[)\]>}\"'.!✓\s]{0,8}")
_SUBJECT = re.compile(
    rf"(?P<sign>[{SIGNS}]){PADDING}*|(?<![\w'-])(?P<capital>[A-Z])(?![A-Za-z0-9'-])"
)
_SUBJECT_IN_SCRIPT = re.compile(
    rf"(?P<sign>[{SIGNS}]){PADDING}*|(?<![A-Za-z0-9'-])(?P<capital>[A-Z])(?![A-Za-z0-9'-])"
)
_LIST_BEFORE = re.compile(
    rf"(?:^|[\s(])(?:[A-Z]|[{SIGNS}]{PADDING}*)[)\]]?[,;]\s?$|{PADDING}[)\]]?[,;]\s?$"
)


@dataclass(frozen=True, slots=True)
class _Cues:
    """The patterns of a language's statements. `reference` and `joined` read marked text, the others its lower case."""

    has_spaces: bool
    finals: re.Pattern[str]
    states: re.Pattern[str]
    reference: re.Pattern[str]
    joined_by_or: re.Pattern[str]
    joined_by_and: re.Pattern[str]
    or_more: re.Pattern[str]
    calls_right: re.Pattern[str]
    calls_wrong_next: re.Pattern[str]
    calls_wrong: re.Pattern[str]
    before_subject: re.Pattern[str]
    reason: re.Pattern[str]
    rest_of_clause: re.Pattern[str]
    denies: re.Pattern[str]
    sure: re.Pattern[str]
    conditions: re.Pattern[str]
    condition_next: re.Pattern[str]
    leads: re.Pattern[str]
    retracts: re.Pattern[str]


@lru_cache(None)
def _compile_cues(language: Language) -> _Cues:
    # "l'option": no space follows an apostrophe.
    space = r"(?:\s|(?<='))" if language.has_spaces else r"\s?"
    lead = f"(?:{language.leads}|{language.fillers})"
    before_letter = rf"(?:{lead}|{language.option_words}),?{space}"
    fillers = rf"\s?:?\s?(?:{before_letter}){{0,4}}(?::\s?)?"
    # In scripts without spaces, none follows a comma either.
    no_word = r"(?!\w)" if language.has_spaces else r"(?!\d)"
    opening = r"[\"'(\[<{]{0,2}"
    sign = rf"(?P<sign>[{SIGNS}]){PADDING}*"
    follows = rf"(?i:\s?(?:{language.because}|{language.follows}))"
    joins = rf"(?i:{space}(?:{language.and_words}|{language.or_words}){space})"
    # "C. difficile" is a name.
    not_name = rf"(?!\.\s(?!{language.because})[a-zß-ÿ])"
    bracket = r"\s[-(\[✓]" if language.has_spaces else r"\s?[(\[✓]|\s-"
    end = rf"(?=\s?$|\n|\s?[.,;:!?)\]}}\"'<✓]{no_word}|{bracket}|{follows}|{joins})"
    second_end = rf"(?=\s?$|\n|\s?[.,;:!?)\]/&+\"']{no_word}|\s[-(\[]|{follows}|{joins})"
    small = r"(?P<small>[a-h])(?=[)\]](?!\w)|\.?\s?$|\.?\n)"
    or_word = rf"{_CLOSING},?(?i:{space}{language.or_words}{space})"
    comma = rf"\s?[,;/&+|·・]\s?(?i:{language.and_words}{space})?"
    and_word = rf"{_CLOSING}(?:{comma}|(?i:{space}{language.and_words}{space}))"
    hedges = rf"(?i:(?:{before_letter}){{0,3}}){opening}"
    # In other scripts the words for "and" are short and occur within other words.
    reason_or_and = language.because + (
        rf"|\s{language.and_words}\s" if language.has_spaces else ""
    )
    # "B. No es A." denies A.
    not_other = rf"(?!{space}(?:{language.option_words}{space}){{0,2}}(?:[{SIGNS}]|[a-z]\b))"
    mark = r"(?:[)\]\"'.:,-]{0,3}|\s-)\s?[(]?"
    return _Cues(
        has_spaces=language.has_spaces,
        finals=re.compile(language.finals + fillers),
        states=re.compile(language.states + fillers),
        reference=re.compile(
            rf"{opening}(?:{sign}{end}|(?P<capital>[A-Z]){not_name}{end}|{small})"
        ),
        joined_by_or=re.compile(
            rf"{or_word}{hedges}(?:{sign}|(?P<capital>[A-Z])(?![A-Za-z0-9'-]))"
        ),
        joined_by_and=re.compile(rf"{and_word}{hedges}(?:{sign}|(?P<capital>[A-Z])){second_end}"),
        or_more=re.compile(or_word),
        calls_right=re.compile(mark + language.calls_right + end),
        calls_wrong_next=re.compile(mark + language.calls_wrong + not_other),
        calls_wrong=re.compile(language.calls_wrong),
        before_subject=re.compile(
            rf"(?:[-•]\s)?(?:{lead},?{space}){{0,3}}(?:{language.option_words}{space}){{0,3}}[\"'(\[]?"
        ),
        reason=re.compile(rf"{_CLOSING}[,:]?\s?-?\s?{language.because}"),
        rest_of_clause=re.compile(
            rf"[)\]>}}\"']{{0,3}}(?:(?!{reason_or_and})[^.,;:!?\n(]){{0,100}}"
        ),
        denies=re.compile(language.denies),
        sure=re.compile(language.sure),
        conditions=re.compile(language.conditions),
        condition_next=re.compile(rf"[^.!?\n]{{0,25}}?{language.conditions}"),
        leads=re.compile(language.leads),
        retracts=re.compile(rf"(?:^|(?<=[.!?,;:\n-])|(?<=[.!?,;:\n-]\s)){language.retracts}"),
    )


def apply_languages(answer: MarkedAnswer, claims: list[OptionClaim]) -> list[OptionClaim]:
    """Return the claims with those that phrases of other languages make, and without those that they deny.

    Raises:
        TooManyClaimsError: the answer repeats itself endlessly.
    """
    languages = find_languages(answer.plain)
    if not languages:
        return claims
    kept = claims
    stated: list[OptionClaim] = []
    retraction = -1
    for language in languages:
        cues = _compile_cues(language)
        kept = [claim for claim in kept if not _is_dropped(answer, claim, cues)]
        stated += _read_statements(answer, cues)
        retraction = max(retraction, _find_last_retraction(answer, cues))
    later = [claim for claim in (*kept, *stated) if claim.end > retraction]
    is_plain = any(claim.strength >= ClaimStrength.CALLED_CORRECT for claim in later)
    return later if is_plain or retraction < 0 else []


def _is_dropped(answer: MarkedAnswer, claim: OptionClaim, cues: _Cues) -> bool:
    """Return whether words of the language deny a claim that was read by its form."""
    if claim.rule is COMMENTED_OPTIONS or claim.strength == ClaimStrength.FINAL:
        return False
    start = _find_last_end(_CLAUSE_END, answer.lower, claim.start)
    words = cues.sure.sub("", answer.lower[start : claim.end])
    return (
        cues.denies.search(words) is not None
        or cues.calls_wrong.search(words) is not None
        or _is_denied_after(answer, claim.end, cues)
        or _is_joined(answer, claim.end, cues)
    )


def _read_statements(answer: MarkedAnswer, cues: _Cues) -> Iterator[OptionClaim]:
    yield from _read_after(cues.finals, answer, cues, ClaimStrength.FINAL, FINAL_ANSWER)
    yield from _read_after(cues.states, answer, cues, ClaimStrength.ANSWER, STATED_ANSWER)
    yield from _read_called_right(answer, cues)
    yield from _read_lines(answer, cues)


def _read_after(
    cue: re.Pattern[str],
    answer: MarkedAnswer,
    cues: _Cues,
    strength: ClaimStrength,
    rule: OptionRule,
) -> Iterator[OptionClaim]:
    """Read the option that follows a phrase such as "la respuesta es"."""
    for match in iter_matches(cue, answer.lower):
        found = cues.reference.match(answer.text, match.end())
        if not found or _is_denied_before(answer, match.start(), cues):
            continue
        reference = answer.make_reference(found)
        if _is_denied_after(answer, reference.end, cues):
            continue
        if "\n" in answer.text[match.start() : found.start()] and _begins_list(
            answer, found.start()
        ):
            continue
        for joined in _read_joined(answer, reference, cues):
            yield OptionClaim(
                joined.option, match.start(), reference.end, strength, rule, reference.by_text
            )


def _read_called_right(answer: MarkedAnswer, cues: _Cues) -> Iterator[OptionClaim]:
    """Read "B es correcta", "Bが正解です"."""
    subject = _SUBJECT if cues.has_spaces else _SUBJECT_IN_SCRIPT
    for match in iter_matches(subject, answer.text, 10 * MAX_CLAIMS):
        right = cues.calls_right.match(answer.lower, match.end())
        if not right or _is_denied_after(answer, right.end(), cues):
            continue
        start = _find_last_end(_CLAUSE_END, answer.lower, match.start())
        if not cues.before_subject.fullmatch(answer.lower, start, match.start()):
            continue
        # The commas in "A, B y C es correcta" do not start new clauses.
        if _LIST_BEFORE.search(answer.text[max(0, start - 12) : start]):
            continue
        if _is_conditional_before(answer, start, cues):
            continue
        reference = answer.make_reference(match)
        yield OptionClaim(
            reference.option,
            match.start(),
            right.end(),
            ClaimStrength.CALLED_CORRECT,
            CALLED_CORRECT,
            reference.by_text,
        )


def _read_lines(answer: MarkedAnswer, cues: _Cues) -> Iterator[OptionClaim]:
    """Read a first or last line that is an option, or an option and a reason: "Opción B.", "B, porque ..."."""
    if not answer.lines:
        return
    for line, rule in ((answer.lines[0], FIRST_LINE), (answer.lines[-1], LAST_LINE)):
        opening = cues.before_subject.match(answer.lower, line.start, line.end)
        start = opening.end() if opening else line.start
        match = cues.reference.match(answer.text, start)
        if not match:
            continue
        reference = answer.make_reference(match)
        is_whole_line = start > line.start and _LINE_END.fullmatch(
            answer.text, reference.end, line.end
        )
        reason = cues.reason.match(answer.lower, reference.end)
        is_word = answer.text[reference.start : reference.end] in _WORDS_OF_ONE_LETTER
        has_reason = reason is not None and not (is_word and reason[0].startswith(" "))
        if (is_whole_line or has_reason) and not is_question(answer.text, reference.end):
            yield OptionClaim(
                reference.option,
                line.start,
                reference.end,
                ClaimStrength.ANSWER,
                rule,
                reference.by_text,
            )


def _is_denied_before(answer: MarkedAnswer, start: int, cues: _Cues) -> bool:
    """Return whether the words before a statement deny it or make it conditional."""
    clause_start = _find_last_end(_CLAUSE_END, answer.lower, start)
    # Where words are written together, the phrase may begin within the word that denies it.
    clause_end = start if cues.has_spaces else start + 1
    clause = cues.sure.sub("", answer.lower[clause_start:clause_end])
    return (
        cues.denies.search(clause) is not None
        or cues.calls_wrong.search(clause) is not None
        or _is_conditional_before(answer, start, cues)
    )


def _is_conditional_before(answer: MarkedAnswer, start: int, cues: _Cues) -> bool:
    """Return whether the sentence begins with a condition: "si estuviera embarazada, ...", but not "..., por tanto"."""
    sentence_start = _find_last_end(_SENTENCE_END, answer.lower, start)
    sentence = answer.lower[sentence_start:start]
    condition = cues.conditions.search(sentence)
    return condition is not None and not cues.leads.search(sentence, condition.end())


def _is_denied_after(answer: MarkedAnswer, end: int, cues: _Cues) -> bool:
    """Return whether the words after an option deny it, make it conditional or make it a question."""
    rest = cues.rest_of_clause.match(answer.lower, end)
    words = cues.sure.sub("", rest[0]) if rest else ""
    return (
        cues.calls_wrong_next.match(answer.lower, end) is not None
        or cues.denies.search(words) is not None
        or is_question(answer.text, end)
        or (
            not cues.reason.match(answer.lower, end)
            and cues.condition_next.match(answer.lower, end) is not None
        )
    )


def _begins_list(answer: MarkedAnswer, position: int) -> bool:
    """Return whether a list of options begins at the position."""
    listings = find_listings(answer.plain, answer.options)
    return any(listing.items[0].start == position for listing in listings)


def _is_joined(answer: MarkedAnswer, end: int, cues: _Cues) -> bool:
    return bool(
        cues.joined_by_or.match(answer.text, end) or cues.joined_by_and.match(answer.text, end)
    )


def _read_joined(
    answer: MarkedAnswer, reference: OptionReference, cues: _Cues
) -> list[OptionReference]:
    """Return the reference and those that "o", "y" or a comma joins to it."""
    references = [reference]
    while len(references) < _MAX_JOINED:
        end = references[-1].end
        match = cues.joined_by_or.match(answer.text, end) or cues.joined_by_and.match(
            answer.text, end
        )
        if not match:
            if cues.or_more.match(answer.text, end):
                references.append(OptionReference(UNKNOWN, end, end))
            break
        references.append(answer.make_reference(match))
    return references


def _find_last_retraction(answer: MarkedAnswer, cues: _Cues) -> int:
    """Return the position of the last phrase that takes back everything before it, or -1."""
    last = -1
    for match in cues.retracts.finditer(answer.lower):
        last = match.start()
    return last


def _find_last_end(boundary: re.Pattern[str], text: str, position: int) -> int:
    """Return the end of the last boundary before the position, or a position at most `_REACH` characters before it."""
    last = max(0, position - _REACH)
    for match in boundary.finditer(text, last, position):
        last = match.end()
    return last
