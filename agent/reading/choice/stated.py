"""Read the claims of sentences: "the answer is B", "I choose B", "B is correct", "the drug of choice is heparin".

A statement that is denied ("not B"), conditional ("in pregnancy it would be B"), or a question is no claim.
"""

import re
from collections.abc import Iterator

from agent.reading.choice import cues
from agent.reading.choice.claims import MAX_CLAIMS, ClaimStrength, OptionClaim, iter_matches
from agent.reading.choice.marked_answer import MarkedAnswer, OptionReference
from agent.reading.choice.references import LETTER_SIGNS, PADDING, SIGNS, UNKNOWN
from agent.reading.choice.rules import CALLED_CORRECT, FINAL_ANSWER, STATED_ANSWER, OptionRule
from agent.reading.statements import (
    is_conditional,
    is_denied,
    is_hypothetical,
    is_qualified,
    is_question,
)

_APPOSITION = re.compile(
    rf"[^.,;:!?\n{SIGNS}]{{1,60}},\s(?:i\.e\.,?\s|namely\s|that\sis,?\s)?(?=[\"'(]?[{SIGNS}])"
)
# "The statement that is not true", "the drug that does not cross the placenta"
_ANY_THAT_IS_NOT = re.compile(
    r"\bthe\s(?:\w{1,20}\s){1,6}(?:that|which|who)\s(?:is|are|was|does|do|did|would|cannot|can|has|have)"
    r"(?:\snot|n't)?\b"
)
_ONE_THAT_IS_NOT = (
    r"\b(?:statement|one|finding|feature|drug|condition|exception|option)\s(?:that|which|who)\s"
    r"(?:is|are|was|does|do|would|cannot|can)\b(?:\s(?:not|be)\b)?(?:\s\w{1,20}){0,4}"
)
# "So the least likely cause"
_SO_THE_LEAST = (
    r"\b(?:so|thus|therefore|hence),?\sthe\s"
    r"(?:least|worst|incorrect|false|wrong|untrue)\b(?:\s\w{1,20}){0,3}"
)
# "The statement that is not true is D" answers a question for the untrue statement and denies nothing.
_UNTRUE_STATEMENT = re.compile(
    rf"{_ONE_THAT_IS_NOT}|{_SO_THE_LEAST}"
    r"|\b(?:incorrect|false|untrue|wrong)\sstatement|\b(?:exception|odd\s(?:one|man)\sout|outlier)\b",
    re.IGNORECASE,
)
ASKS_FOR_ONE = re.compile(
    r"\b(?:best|most|first|choice|preferred|ideal|initial|next|drug|treatment|diagnosis|cause|step|test|investigation"
    r"|management|agent|therapy|antidote|organism|pathogen|mechanism|structure|nerve|artery|vein|muscle|enzyme|gene|location"
    r"|site|finding|correct|likely|appropriate|right|therefore|thus|hence|so"
    r"|what\s(?:i|we)(?:'d|'ll|\swould|\swill)?\s(?:want|need|give|order|choose|pick|write|prescribe|recommend|put|start))\b"
)
# "In 2010 the answer was B"
# "is my answer", "it is"
_DECIDES = re.compile(
    r"\bmy\s(?:\w{1,12}\s){0,2}(?:answer|choice|pick|vote|verdict|call)\b|\bit\sis\b|\bwinner\b"
)
_WANTED = re.compile(
    r"\bwhat\s(?:i|we)(?:'d|'ll|\swould|\swill)?\s\w{3,9}(?:\s(?:is|here|now))?\s?\Z"
)
_FORMER = re.compile(
    r"\b(?:first|earlier|old|older|former\w*|original\w*|until|(?:in|before)\s(?:19|20)\d\d)\b[^.!?\n]{0,50}\Z"
)
_COMMENT = re.compile(r":\s\w")
_LETTER_SIGN = re.compile(f"[{LETTER_SIGNS}]")
_BRACKETED = re.compile(
    rf"\b(?:is|are|be|was|with|give|start|of|to|for)\s[^.,;:!?\n{SIGNS}]{{2,80}}?\s(?=[{LETTER_SIGNS}]{PADDING}*\s?(?:[.!](?:\s|$)|\n|$))"
)
# An option, or the letter of "the statement in D"
_NAMED = re.compile(
    rf"{cues.MARKED}|(?:^|(?<=\n)|\b[Ii]n\s|\b[Ss]tatement\s)(?P<capital>[A-Z])(?=[)\]\"'.:,]?(?:\s|\Z))"
)
_SUBJECT = re.compile(rf"(?:{cues.MARKED}|(?<![\w'-])(?P<capital>[A-Z])(?=[)\]\"'.:]?\s))")
BEFORE_SUBJECT = re.compile(
    rf"{cues.LEAD_IN}{cues.OTHER_IS_WRONG}(?i:{cues.CALLED}|the\s|an?\s|statistically\s|here\s)?[(\[\"']?(?:[-•]\s)?"
)
"""What may come before an option that is the subject of its clause."""
# "... make anticholinergic toxicity (option C) the best explanation"
_MADE_RIGHT = re.compile(
    rf"\b(?:makes?|making)\s(?:it\s)?(?=[^.,;:!?\n{SIGNS}]{{0,60}}?{cues.MARKED}"
    r"\s(?:the|by\sfar\sthe)\s(?:best|correct|right|most\s(?:likely|plausible|probable|appropriate))\b)"
)
# "This corresponds to option C"
_COMPARED = re.compile(
    rf"(?i:\bbetween)\s(?:(?i:{cues.CALLED})?[(\"']?(?:[{SIGNS}]{PADDING}*|[A-Z])[)\"']?(?:,\s|\s(?:and|or|vs\.?)\s)?){{2,4}}[,:]\s"
    rf"(?i:{cues.CALLED})?[(\"']?(?:{cues.MARKED}|(?P<capital>[A-Z]))[)\"']?"
    r"\s(?:is|fits|seems|looks|explains|matches|works)\s(?:\w{1,12}\s){0,3}?(?:better|best|stronger|more\s(?:likely|plausible|appropriate|suitable|probable|fitting))\b"
)
_CORRESPONDS = re.compile(
    r"\b(?:corresponds?|refers?|amounts?|equates?|points?)\s(?:exactly\s|best\s|most\sclosely\s)?to\s"
    rf"(?=[\"'(]?(?:[{LETTER_SIGNS}]|[a-z](?=[,.:;]|\s[(-]|$)))"
)
_LIST_BEFORE = re.compile(
    rf"(?:^|[\s(])(?:[A-Z]|[{SIGNS}]{PADDING}*)[)\]]?[,;]\s$|{PADDING}[)\]]?[,;]\s$"
)
# One of these occurs in every correction; looking for them first is much faster.
_WORDS_OF_CORRECTION = (
    *("actually", "no, ", "no: ", "no - ", "no ", "correction", "edit", "rather", "make that", "i mean"),
    *("sorry", "on second", "on reflection", "but it", " change ", "changing "),
)  # fmt: skip
_NAMES_ANSWER = re.compile(
    r"(?:answer|option|choice|pick|selection|vote|guess|bet)$", re.IGNORECASE
)


def read_statements(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Yield the claims of all sentences."""
    final = read_after(cues.FINAL, answer, ClaimStrength.FINAL, FINAL_ANSWER)
    corrected = read_after(cues.CORRECTED, answer, ClaimStrength.ANSWER, STATED_ANSWER)
    claims = [
        *(final if "final" in answer.lower else ()),
        *read_after(cues.STATED, answer, ClaimStrength.ANSWER, STATED_ANSWER),
        *read_after(cues.NOT_BUT, answer, ClaimStrength.ANSWER, STATED_ANSWER),
        *read_after(cues.CHOSEN, answer, ClaimStrength.ANSWER, STATED_ANSWER),
        *(corrected if any(map(answer.lower.__contains__, _WORDS_OF_CORRECTION)) else ()),
        *read_after(cues.CONCLUSION, answer, ClaimStrength.ANSWER, STATED_ANSWER),
    ]
    yield from claims
    yield from _read_after_copula(answer, {claim.end for claim in claims})
    yield from _read_bracketed(answer)
    yield from _read_corresponding(answer)
    yield from _read_made_right(answer)
    yield from _read_called_right(answer)
    yield from _read_decided(answer)
    yield from _read_only_left(answer)
    yield from _read_compared(answer)


def read_after(
    cue: re.Pattern[str], answer: MarkedAnswer, strength: ClaimStrength, rule: OptionRule
) -> Iterator[OptionClaim]:
    """Read the option that follows a cue such as "the answer is"."""
    for match in iter_matches(cue, answer.lower):
        reference = answer.read_reference(match.end())
        if reference is None:
            reference = _read_apposition(answer, match.end())
        if reference is None:
            continue
        # "So ascites: seen." is an item of a list.
        if (
            cue is cues.CONCLUSION
            and reference.by_text
            and _COMMENT.match(answer.text, reference.end)
        ):
            continue
        yield from _make_claims(answer, match.start(), reference, strength, rule)


def _read_apposition(answer: MarkedAnswer, position: int) -> OptionReference | None:
    """Return the reference behind other words for it: "the answer is a blood thinner, heparin"."""
    apposition = _APPOSITION.match(answer.text, position)
    reference = answer.read_reference(apposition.end()) if apposition else None
    if reference is None or (reference.by_text and answer.options.is_common(reference.option)):
        return None  # "this suggests that the rate has gone up, maybe because ..."
    return reference


def _make_claims(
    answer: MarkedAnswer,
    start: int,
    reference: OptionReference,
    strength: ClaimStrength,
    rule: OptionRule,
) -> Iterator[OptionClaim]:
    """Yield the claims of a statement that begins at `start`, unless it is denied, conditional or a question."""
    references = answer.read_joined(reference)
    end = references[-1].end
    text = answer.text
    is_past = " was " in answer.lower[max(0, start - 1) : reference.start]
    if is_past and _FORMER.search(answer.lower, max(0, start - 60), reference.start):
        return
    if is_denied(text, start) or answer.is_rejected(references[-1], end) or is_question(text, end):
        return
    if is_conditional(text, end) or is_hypothetical(text, start, end):
        return
    for joined in references:
        yield OptionClaim(joined.option, start, end, strength, rule, reference.by_text)
    if cues.ALSO_RIGHT.match(text, end) or cues.OTHER_CASE_TOO.match(text, end):
        yield OptionClaim(UNKNOWN, start, end, strength, rule)


def _read_after_copula(answer: MarkedAnswer, claimed_ends: set[int]) -> Iterator[OptionClaim]:
    """Read "the best next step is C", "the statement that is not true is option D".

    References that end where another claim does have been read as plainly already.
    """
    for match in iter_matches(cues.COPULA, answer.lower):
        reference = answer.read_reference(match.end())
        if reference is None or reference.end in claimed_ends:
            continue
        sentence_start = answer.find_sentence_start(match.start())
        subject = answer.lower[sentence_start : match.start()]
        is_asked_for = reference.has_text and ASKS_FOR_ONE.search(subject)
        if not is_asked_for and cues.NOT_AN_OPTION.search(subject):
            continue
        untrue = _UNTRUE_STATEMENT.search(subject)
        is_plain = untrue is not None or not reference.by_text
        untrue = untrue or _ANY_THAT_IS_NOT.search(subject)
        if untrue:
            rest = subject[: untrue.start()] + subject[untrue.end() :]
            if not is_denied(rest, len(rest)) and not is_question(answer.text, reference.end):
                for joined in answer.read_joined(reference):
                    yield OptionClaim(
                        joined.option,
                        sentence_start,
                        reference.end,
                        ClaimStrength.ANSWER if is_plain else ClaimStrength.PROPOSED,
                        STATED_ANSWER,
                    )
            continue
        if (reference.by_text and not ASKS_FOR_ONE.search(subject)) or is_denied(
            answer.text, match.start()
        ):
            continue
        # A lone letter or an option's text after "is" may be part of an explanation.
        is_marked = answer.text[reference.start] >= SIGNS[0] and not reference.by_text
        strength = ClaimStrength.ANSWER if is_marked else ClaimStrength.PROPOSED
        if reference.by_text and _WANTED.search(subject):
            strength = ClaimStrength.CALLED_CORRECT
        yield from _make_claims(answer, match.start(), reference, strength, STATED_ANSWER)


def _read_bracketed(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read "the treatment of choice is low-dose heparin (option C).", where the words are not quite the option's."""
    if not _LETTER_SIGN.search(answer.text):
        return
    for match in iter_matches(_BRACKETED, answer.lower):
        sentence_start = answer.find_sentence_start(match.start())
        sentence = answer.lower[sentence_start : match.end()]
        if not ASKS_FOR_ONE.search(sentence) or is_denied(answer.text, match.end()):
            continue
        reference = answer.read_reference(match.end())
        if reference is not None:
            yield from _make_claims(
                answer, match.start(), reference, ClaimStrength.PROPOSED, STATED_ANSWER
            )


def _read_corresponding(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read "the term refers to option C: ...", "of the options given, this corresponds to D"."""
    for match in iter_matches(_CORRESPONDS, answer.lower):
        reference = answer.read_reference(match.end())
        if reference is not None:
            yield from _make_claims(
                answer, match.start(), reference, ClaimStrength.PROPOSED, STATED_ANSWER
            )


def _read_made_right(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read "the rash and the fever make measles (option C) the best explanation"."""
    if " mak" not in answer.lower:
        return
    for match in iter_matches(_MADE_RIGHT, answer.text):
        if is_denied(answer.text, match.start()) or is_question(answer.text, match.end()):
            continue
        reference = answer.make_reference(match)
        yield OptionClaim(
            reference.option,
            match.start(),
            reference.end,
            ClaimStrength.CALLED_CORRECT,
            CALLED_CORRECT,
            reference.by_text,
        )


def _read_decided(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read "The statement in D, that it is fatty, is the one I would mark", "heparin gets my vote"."""
    for match in iter_matches(cues.DECIDED, answer.lower):
        start = max(
            answer.find_sentence_start(match.start()), answer.find_clause_start(match.start())
        )
        named = list(_NAMED.finditer(answer.text, start, match.start()))
        if not named:
            start = answer.find_sentence_start(match.start())
            named = list(_NAMED.finditer(answer.text, start, match.start()))
        references = [answer.make_reference(name) for name in named]
        if len({reference.option for reference in references}) != 1:
            continue
        reference = references[-1]
        is_called_wrong = cues.WRONG.search(answer.lower, start, match.start())
        if is_called_wrong or is_denied(answer.text, reference.start):
            continue
        if is_qualified(answer.text, match.end()) or is_question(answer.text, match.end()):
            continue
        if cues.OTHER_CASE_TOO.match(answer.text, match.end()):
            continue
        is_plain = not reference.by_text or _DECIDES.search(match[0].lower())
        yield OptionClaim(
            reference.option,
            start,
            match.end(),
            ClaimStrength.CALLED_CORRECT if is_plain else ClaimStrength.PROPOSED,
            STATED_ANSWER,
            reference.by_text,
        )


def _read_only_left(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read "Only c remains"."""
    for match in iter_matches(cues.ONLY_LEFT, answer.lower):
        if is_denied(answer.text, match.start()) or is_question(answer.text, match.end()):
            continue
        option = answer.make_reference(match).option
        yield OptionClaim(option, match.start(), match.end(), ClaimStrength.ANSWER, STATED_ANSWER)


def _read_compared(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read "Between B and C, C is better"."""
    if "between" not in answer.lower:
        return
    for match in iter_matches(_COMPARED, answer.text):
        reference = answer.make_reference(match)
        if is_question(answer.text, match.end()) or is_qualified(answer.text, match.end()):
            continue
        yield OptionClaim(
            reference.option,
            match.start(),
            match.end(),
            ClaimStrength.ANSWER,
            STATED_ANSWER,
            reference.by_text,
        )


def _read_called_right(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read "B is correct", "Option B is the best answer", "Hepatitis B is the most likely diagnosis"."""
    text = answer.text
    for match in iter_matches(_SUBJECT, text, 10 * MAX_CLAIMS):
        right = cues.IS_RIGHT.match(text, match.end())
        if not right:
            continue
        reference = answer.make_reference(match)
        is_plural = (right["verb"] or "").lower() == "are"
        if (is_plural and not reference.by_text) or is_qualified(text, right.end()):
            continue
        clause_start = answer.find_clause_start(match.start())
        if not BEFORE_SUBJECT.fullmatch(text, clause_start, match.start()):
            continue
        head = text[max(0, clause_start - 12) : clause_start]
        # The commas in "A, B, and C is correct" do not start new clauses.
        if _LIST_BEFORE.search(head):
            continue
        if head.endswith((", ", "; ", "- ")) and is_denied(text, match.start()):
            continue
        if is_question(text, right.end()) or is_hypothetical(text, match.start(), right.end()):
            continue
        names_answer = right["right"] or not right["noun"] or _NAMES_ANSWER.search(right["noun"])
        is_weak = reference.by_text and not names_answer
        strength = ClaimStrength.PROPOSED if is_weak else ClaimStrength.CALLED_CORRECT
        yield OptionClaim(
            reference.option,
            match.start(),
            right.end(),
            strength,
            CALLED_CORRECT,
            reference.by_text,
        )
