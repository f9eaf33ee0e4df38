"""Collect an answer's claims: its statements that a certain option is the answer.

A statement that is denied ("not B"), conditional ("in pregnancy it would be B"), or a question is no claim. A statement
that names several options ("B or D") is a claim of each.
"""

import re
from collections.abc import Iterator
from enum import IntEnum
from itertools import islice
from typing import NamedTuple

from agent.reading.choice import cues
from agent.reading.choice.lists import Item, Listing, find_listings
from agent.reading.choice.references import (
    CONTRADICTION,
    PADDING,
    SIGNS,
    TEXT_SIGNS,
    UNKNOWN,
    Options,
    Reference,
    decode,
)
from agent.reading.choice.rules import (
    CALLED_CORRECT,
    COMMENTED_OPTIONS,
    FINAL_ANSWER,
    FIRST_LINE,
    LAST_LINE,
    NAMED_IN_SENTENCE,
    STATED_ANSWER,
    WHOLE_ANSWER,
    Rule,
)
from agent.reading.statements import (
    is_conditional,
    is_denied,
    is_hypothetical,
    is_qualified,
    is_question,
)

MAX_CLAIMS = 300  # per kind of cue; a text with more is an endless repetition


class Strength(IntEnum):
    """How plainly a claim is made. Stronger claims decide alone."""

    MENTIONED = 0
    """A sentence names the option, and no other option is named."""
    PROPOSED = 1
    """A sentence or line proposes the option without calling it the answer: "the drug of choice is heparin"."""
    CALLED_CORRECT = 2
    """The option is called correct."""
    ANSWER = 3
    """The option is given as the answer."""
    FINAL = 4
    """The option is given as the final answer."""


class Claim(NamedTuple):
    """A statement that an option is the answer."""

    option: int
    start: int
    end: int
    strength: Strength
    rule: Rule


class TooManyClaimsError(Exception):
    """The answer repeats itself endlessly."""


class MarkedAnswer:
    """A normalised answer in which the references to a question's options are marked."""

    def __init__(self, text: str, options: Options) -> None:
        self.options = options
        self.plain = text
        self.text = options.mark(text)
        self.lower = _lower(self.text)
        self.lines = [Reference(0, m.start(), m.end()) for m in re.finditer(r"[^\n]+", self.text)]

    def read_reference(self, position: int) -> Reference | None:
        """Return the reference at the position, if one is there."""
        match = cues.REFERENCE.match(self.text, position)
        if not match:
            return None
        option = self._decode(match)
        end = match.end()
        if match["sign"] and _is_text_sign(match["sign"]) and not _AFTER_TEXT.match(self.text, end):
            return None
        if match["sign"] is None and self._has_other_text(option, end):
            option = CONTRADICTION
        start = match.start("sign") if match["sign"] else end - 1
        return Reference(option, start, end)

    def read_joined(self, reference: Reference) -> list[Reference]:
        """Return the reference and those that "and", "or" or a comma joins to it."""
        references = [reference]
        end = reference.end
        while len(references) < 30:
            match = cues.JOINED.match(self.text, end)
            if not match:
                break
            end = match.end()
            references.append(Reference(self._decode(match), match.start(), end))
        if len(references) == 1 and cues.OR_MORE.match(self.text, end):
            references.append(Reference(UNKNOWN, end, end))
        return references

    def calls_wrong(self, end: int) -> bool:
        """Return whether the words after a reference call the option wrong: ": wrong", " is not indicated"."""
        predicate = _PREDICATE.match(self.lower, end)
        return predicate is not None and cues.WRONG.search(predicate[0]) is not None

    def _decode(self, match: re.Match[str]) -> int:
        groups = match.groupdict()
        if groups["sign"]:
            return decode(groups["sign"])
        letter = groups["capital"] or groups.get("small") or groups.get("vowel") or ""
        return self.options.get_letter_option(letter)

    def extend_by_own_text(self, reference: Reference) -> Reference:
        """Extend a lone letter by its option's text in brackets, if that is a letter too: "B (c)"."""
        bracket = _BRACKET.match(self.plain, reference.end)
        if not bracket or reference.option < 0:
            return reference
        if bracket[1].lower() != self.options.plain_texts[reference.option]:
            return reference
        return reference._replace(end=bracket.end())

    def _has_other_text(self, option: int, end: int) -> bool:
        """Return whether the brackets after a letter hold another option: "C (c)" where c is option B's text."""
        bracket = _BRACKET.match(self.plain, end)
        if not bracket or option < 0:
            return False
        inside = bracket[1].strip()
        if inside.lower() == self.options.plain_texts[option]:
            return False
        return len(inside) == 1 and inside.isalpha()


_BRACKET = re.compile(r"\s?[(\[]([^()\[\]\n]{1,40})[)\]]")
_AFTER_TEXT = re.compile(cues.END + r"|(?=\s(?:therapy|treatment)\b)")
_PREDICATE = re.compile(
    rf"[)\]\"']? ?(?!{cues.BECAUSE})(?:[^.;,!?\n]|,(?=\swhich)|\.(?=\d)){{0,300}}?(?=[.;!?\n]|,(?!\swhich)|\s{cues.BECAUSE}(?<!which)|$)"
)


def collect_claims(answer: MarkedAnswer) -> list[Claim]:
    """Return all claims of an answer.

    Raises:
        TooManyClaimsError: a cue occurs too often.
    """
    listings = find_listings(answer.plain, answer.options)
    claims: list[Claim] = []
    claims += _read_after(cues.FINAL, answer, Strength.FINAL, FINAL_ANSWER)
    claims += _read_after(cues.STATED, answer, Strength.ANSWER, STATED_ANSWER)
    claims += _read_after(cues.STATED_ELSEWHERE, answer, Strength.ANSWER, STATED_ANSWER)
    claims += _read_after(cues.CHOSEN, answer, Strength.ANSWER, STATED_ANSWER)
    claims += _read_after(cues.CONCLUSION, answer, Strength.ANSWER, STATED_ANSWER)
    claims += _read_after_copula(answer)
    claims += _read_called_right(answer)
    claims += _read_lines(answer, listings)
    claims += _read_listings(answer, listings)
    claims += _read_sentences(answer)
    return claims


def _read_after(
    cue: re.Pattern[str], answer: MarkedAnswer, strength: Strength, rule: Rule
) -> Iterator[Claim]:
    """Read the option that follows a cue such as "the answer is"."""
    matches = list(islice(cue.finditer(answer.lower), MAX_CLAIMS + 1))
    if len(matches) > MAX_CLAIMS:
        raise TooManyClaimsError
    for match in matches:
        yield from _read_statement(answer, match.start(), match.end(), strength, rule)


def _read_statement(
    answer: MarkedAnswer, start: int, position: int, strength: Strength, rule: Rule
) -> Iterator[Claim]:
    reference = answer.read_reference(position)
    if reference is None:
        return
    references = answer.read_joined(reference)
    end = references[-1].end
    text = answer.text
    if (
        is_denied(text, start)
        or answer.calls_wrong(end)
        or is_question(text, end)
        or is_conditional(text, end)
        or is_hypothetical(text, start, end)
    ):
        return
    for joined in references:
        yield Claim(joined.option, start, end, strength, rule)


def _read_after_copula(answer: MarkedAnswer) -> Iterator[Claim]:
    """Read "the best next step is C", "the statement that is not true is option D", "... is heparin (C)"."""
    matches = list(islice(cues.COPULA.finditer(answer.lower), MAX_CLAIMS + 1))
    if len(matches) > MAX_CLAIMS:
        raise TooManyClaimsError
    for match in matches:
        position = match.end()
        reference = answer.read_reference(position)
        if reference is None:
            continue
        sentence_start = _find_sentence_start(answer.text, match.start())
        subject = answer.lower[sentence_start : match.start()]
        start = sentence_start
        if cues.NOT_AN_OPTION.search(subject):
            continue
        is_lone_letter = not answer.text[reference.start] >= "\ue000"
        is_text_alone = _is_text_sign(answer.text[reference.start])
        if is_text_alone and not _ASKS_FOR_ONE.search(subject):
            continue
        strength = Strength.PROPOSED if is_lone_letter or is_text_alone else Strength.ANSWER
        # "The statement that is not true is D" answers a question for the untrue statement.
        cleaned = _UNTRUE_STATEMENT.sub(
            lambda found: "x" * len(found[0]), answer.text[sentence_start : match.start()]
        )
        if cleaned != answer.text[sentence_start : match.start()]:
            if is_denied(cleaned, len(cleaned)):
                continue
            for joined in answer.read_joined(reference):
                yield Claim(joined.option, start, reference.end, Strength.ANSWER, STATED_ANSWER)
            continue
        if is_denied(answer.text, match.start()):
            continue
        for claim in _read_statement(answer, match.start(), position, strength, STATED_ANSWER):
            yield claim._replace(start=start)


_UNTRUE_STATEMENT = re.compile(
    r"\b(?:statement|one|finding|feature|drug|condition|exception)\s(?:that|which|who)\s(?:is|are|was|does|do|would|cannot|can)\b(?:\s(?:not|be)\b)?"
    r"(?:\s\w{1,20}){0,4}|\b(?:incorrect|false|untrue|wrong)\sstatement|\bexception",
    re.IGNORECASE,
)
_ASKS_FOR_ONE = re.compile(
    r"\b(?:best|most|first|choice|preferred|ideal|initial|next|drug|treatment|diagnosis|cause|step|test|investigation|management"
    r"|agent|therapy|antidote|organism|pathogen|mechanism|structure|nerve|artery|vein|muscle|enzyme|gene|location|site|finding"
    r"|correct|likely|appropriate|right)\b"
)


def _read_called_right(answer: MarkedAnswer) -> Iterator[Claim]:
    """Read "B is correct", "Option B is the best answer", "Hepatitis B is the most likely diagnosis"."""
    text = answer.text
    matches = list(islice(_SUBJECT.finditer(text), 3 * MAX_CLAIMS + 1))
    claims = 0
    for match in matches:
        right = cues.IS_RIGHT.match(text, match.end())
        if not right:
            continue
        claims += 1
        if claims > MAX_CLAIMS:
            raise TooManyClaimsError
        by_text = match["sign"] is not None and _is_text_sign(match["sign"])
        is_plural = (right["verb"] or "").lower() == "are"
        if (is_plural and not by_text) or is_qualified(text, right.end()):
            continue
        clause_start = _find_clause_start(text, match.start())
        lead_in = text[clause_start : match.start()]
        if not _BEFORE_SUBJECT.fullmatch(lead_in):
            continue
        head = text[max(0, clause_start - 12) : clause_start]
        # The commas in "A, B, and C is correct" do not start new clauses.
        if _LIST_BEFORE.search(head):
            continue
        if head.endswith((", ", "; ", "- ")) and is_denied(text, match.start()):
            continue
        if is_question(text, right.end()) or is_hypothetical(text, match.start(), right.end()):
            continue
        option = (
            decode(match["sign"])
            if match["sign"]
            else answer.options.get_letter_option(match["capital"])
        )
        names_answer = right["right"] or re.search(
            r"answer|option|choice$", (right["noun"] or "").lower()
        )
        strength = Strength.CALLED_CORRECT if names_answer or not by_text else Strength.PROPOSED
        yield Claim(option, match.start(), right.end(), strength, CALLED_CORRECT)


_SUBJECT = re.compile(rf"(?:{cues.MARKED}|(?<![\w'-])(?P<capital>[A-Z])(?=[)\]\"'.:]?\s))")
_BEFORE_SUBJECT = re.compile(rf"{cues.LEAD_IN}(?i:{cues.CALLED}|the\s|an?\s)?[(\[\"']?(?:[-•]\s)?")
_LIST_BEFORE = re.compile(
    rf"(?:^|[\s(])(?:[A-Z]|[{SIGNS}]{PADDING}*)[)\]]?[,;]\s$|{PADDING}[)\]]?[,;]\s$"
)
_CLAUSE_START = re.compile(r"(?:[.!?,;:]|\s-)\s|\n")
_SENTENCE_START = re.compile(r"[.!?][)\]\"']*\s|\n")


def _find_clause_start(text: str, position: int) -> int:
    start = max(0, position - 120)
    for boundary in _CLAUSE_START.finditer(text, start, position):
        start = boundary.end()
    return start


def _find_sentence_start(text: str, position: int) -> int:
    start = max(0, position - 400)
    for boundary in _SENTENCE_START.finditer(text, start, position):
        start = boundary.end()
    return start


def _is_text_sign(sign: str) -> bool:
    return TEXT_SIGNS[0] <= sign <= TEXT_SIGNS[-1]


def _lower(text: str) -> str:
    """Return the text in lower case, of the same length."""
    lower_text = text.lower()
    if len(lower_text) == len(text):
        return lower_text
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def _read_lines(answer: MarkedAnswer, listings: list[Listing]) -> Iterator[Claim]:
    """Read the first and the last line and sentence, if they are an option or begin with one."""
    if not answer.lines:
        return
    listed = {item.start for listing in listings for item in listing.items}
    first, last = answer.lines[0], answer.lines[-1]
    only_line = len(answer.lines) == 1
    claims: list[Claim] = []
    if first.start not in listed:
        rule = WHOLE_ANSWER if only_line else FIRST_LINE
        claims += _read_line(answer, first.start, first.end, rule)
    if not only_line and last.start not in listed:
        claims += _read_line(answer, last.start, last.end, LAST_LINE)
    sentence_start = _find_sentence_start(answer.text, max(last.start, last.end - 2))
    if sentence_start > last.start:
        pure = _read_pure(answer, sentence_start, last.end, LAST_LINE)
        claims += pure
    yield from claims


def _read_line(answer: MarkedAnswer, start: int, end: int, rule: Rule) -> Iterator[Claim]:
    pure = list(_read_pure(answer, start, end, rule))
    if pure:
        yield from pure
        return
    begun_rule = FIRST_LINE if rule is WHOLE_ANSWER else rule
    yield from _read_begun(answer, start, end, begun_rule)


def _read_pure(answer: MarkedAnswer, start: int, end: int, rule: Rule) -> Iterator[Claim]:
    """Read a line or sentence that is nothing but an option: "(B).", "It must be B. Vitamin B12", "B, I think"."""
    text = answer.text
    opening = cues.LINE_START.match(text, start, end)
    position = opening.end() if opening else start
    bare = _BARE.fullmatch(text, position, end)
    reference = (
        Reference(answer.options.get_letter_option(bare[1]), bare.start(1), bare.end(1))
        if bare
        else _read_at_line_start(answer, position)
    )
    if reference is None or reference.end > end:
        return
    reference = answer.extend_by_own_text(reference)
    if not cues.PURE_TAIL.fullmatch(text, reference.end, end):
        return
    if is_question(text, reference.end):
        return
    yield Claim(reference.option, start, reference.end, Strength.ANSWER, rule)


_BARE = re.compile(r"[(\[<{\"']*([A-Za-z])[)\]>}\"'.:,;!✓\s]{0,9}")


def _read_at_line_start(answer: MarkedAnswer, position: int) -> Reference | None:
    match = _LINE_REFERENCE.match(answer.text, position)
    if not match:
        return None
    if match["sign"]:
        return Reference(decode(match["sign"]), match.start("sign"), match.end())
    letter = match["marked"] or match["capital"]
    return Reference(answer.options.get_letter_option(letter), match.start(), match.end())


_LINE_REFERENCE = re.compile(
    rf"(?:(?i:{cues.CALLED})|(?i:the|an?)\s(?=[\"'(]?[{SIGNS}]))?[\"'(\[<{{]{{0,2}}(?:{cues.MARKED}"
    rf"|(?P<marked>[A-Za-z])(?=[.):\]](?![A-Za-z]\.)|\s-(?=\s)){cues._NOT_A_NAME}|(?P<capital>[A-Z]){cues._NOT_A_NAME}{cues.LINE_END})"
)


def _read_begun(answer: MarkedAnswer, start: int, end: int, rule: Rule) -> Iterator[Claim]:
    """Read a line that begins with an option and goes on: "B) It replaces ...", "B, because ...", "Yes, the trial ..."."""
    text = answer.text
    opening = cues.LINE_START.match(text, start, end)
    reference = _read_at_line_start(answer, opening.end() if opening else start)
    if reference is None:
        return
    if is_question(text, reference.end):
        # An answer that begins by asking is settled only by a plain statement later.
        yield Claim(UNKNOWN, start, reference.end, Strength.ANSWER, rule)
        return
    if _OTHER_BRACKET.match(text, reference.end):
        return
    references = answer.read_joined(reference)
    if len(references) > 1 and references[1].option != reference.option:
        for joined in references:
            yield Claim(joined.option, start, joined.end, Strength.PROPOSED, rule)
        return
    if answer._has_other_text(reference.option, reference.end):
        yield Claim(CONTRADICTION, start, reference.end, Strength.PROPOSED, rule)
        return
    if is_conditional(text, reference.end):
        return
    if cues.REASON_TAIL.match(text, reference.end):
        yield Claim(reference.option, start, reference.end, Strength.ANSWER, rule)
        return
    sign = text[reference.start]
    has_text = "\ue040" <= sign < "\ue0c0"
    mark = (_MARK_AFTER_TEXT if has_text else _MARK_AFTER_LETTER).match(text, reference.end)
    if not mark:
        return
    is_sentence = mark[0].strip() in {".", ").", "!"}
    if _BARE.fullmatch(text, mark.end(), end):  # "A: B"
        yield Claim(CONTRADICTION, start, end, Strength.PROPOSED, rule)
        return
    other = cues.REFERENCE.match(text, mark.end())
    starts_clause = has_text and mark[0].strip() in {".", ").", "!", ",", ";"}
    is_wrong = not starts_clause and other is None and answer.calls_wrong(mark.end())
    if is_wrong:
        return
    strength = Strength.ANSWER if has_text and is_sentence else Strength.PROPOSED
    yield Claim(reference.option, start, reference.end, strength, rule)


_OTHER_BRACKET = re.compile(
    r"\s?[(\[]\s?(?:(?:or|and|not|but)\b|[^()\[\]\n]{0,60}\bor\b)", re.IGNORECASE
)
_MARK_AFTER_LETTER = re.compile(
    r"[)\]\"']?(?:[.):](?![A-Za-z]\.)[.:]?|\s-(?=\s)|(?=\s?[(\[]\w{1,30}\s\w))\s?"
)
_MARK_AFTER_TEXT = re.compile(
    r"[)\]\"']?(?:[.:;!](?!\w)(?!\s\d)|,(?=\s)|\s-(?=\s)|(?=\s?[(\[]))\s?"
)


def _read_listings(answer: MarkedAnswer, listings: list[Listing]) -> Iterator[Claim]:
    """Read a list in which one option is called right, or all but one are called wrong."""
    for listing in listings:
        right: list[Item] = []
        wrong: list[Item] = []
        for item in listing.items:
            comment = answer.lower[item.text_start : item.end]
            mark = answer.lower[item.start : item.text_start]
            if cues.WRONG.search(comment[:300]) or "✗" in mark:
                wrong.append(item)
            elif cues.CALLED_RIGHT.search(comment) or "✓" in mark:
                right.append(item)
        is_complete = len({item.option for item in listing.items}) == answer.options.count
        if not right and is_complete and len(wrong) == len(listing.items) - 1 and len(wrong) >= 2:
            right = [item for item in listing.items if item not in wrong]
        for item in right:
            yield Claim(
                item.option, item.start, item.end, Strength.CALLED_CORRECT, COMMENTED_OPTIONS
            )


def _read_sentences(answer: MarkedAnswer) -> Iterator[Claim]:
    """Read a sentence that proposes an option by its text: "The patient should receive heparin."."""
    text = answer.text
    signs = list(islice(_TEXT_SIGN.finditer(text), 20))
    if (
        not signs
        or len({decode(sign[0][0]) for sign in signs}) > 1
        or _ANY_LETTER_SIGN.search(text)
    ):
        return
    for sign in signs:
        start = _find_sentence_start(text, sign.start())
        before = answer.lower[start : sign.start()]
        is_object = _ENDS_SENTENCE.match(text, sign.end()) and _LEADS_TO_OBJECT.search(before)
        is_subject = _PROPOSES.match(answer.lower, sign.end()) and _BEFORE_SUBJECT.fullmatch(
            text[start : sign.start()]
        )
        if not (is_object or is_subject):
            continue
        if (
            is_denied(text, sign.start())
            or is_question(text, sign.end())
            or answer.calls_wrong(sign.end())
        ):
            continue
        if is_qualified(text, sign.end()) or is_hypothetical(text, start, sign.end()):
            continue
        yield Claim(decode(sign[0][0]), start, sign.end(), Strength.MENTIONED, NAMED_IN_SENTENCE)


_TEXT_SIGN = re.compile(rf"[{TEXT_SIGNS}]{PADDING}*")
_ANY_LETTER_SIGN = re.compile("[\ue000-\ue03f\ue080-\ue0ff]".replace("\ue0ff", "\ue0f1"))
_ENDS_SENTENCE = re.compile(
    r"[)\]\"']{0,2}(?:\s(?:now|immediately|first|here|today|in\sthis\s(?:case|patient|setting)|for\sthis\spatient|as\s(?:the\s)?(?:best\s)?(?:next|first)\sstep))?"
    r"\s?(?:[.!](?:\s|$)|$)"
)
_LEADS_TO_OBJECT = re.compile(
    r"\b(?:is|was|be|are|has|have|had|with|of|for|to|by|in|a|an|the|give|given|giving|start|starting|receive|receives|prescribe|administer|perform|order|use|using"
    r"|recommend|recommended|suggests?|suggesting|indicates?|indicating|needs?|requires?|shows?|supports?|favou?rs?|choose|consider|call|called|called"
    r"|via|through|causes?|caused|inhibits?|probably|likely|on|from|as|into|do|does|get|obtain|develop|developed|diagnosed|treat)\s[\"'(]?$"
)
_PROPOSES = re.compile(
    r"\s(?:should\sbe|would\sbe|must\sbe|is\s(?:indicated|recommended|preferred|appropriate|needed|required|advised|the|most|best|responsible|usually|typically|what|first)"
    r"|can\sbe\s(?:given|used)|needs?\sto\sbe|has\sto\sbe|explains?|accounts?\sfor|causes?|fits)\b"
)
