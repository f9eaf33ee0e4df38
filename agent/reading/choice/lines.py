"""Read the claims of the first and the last line and sentence: "B. Vitamin B12", "B, because ...", "... Winner: B"."""

import re
from collections.abc import Iterator
from itertools import pairwise

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.line_beginnings import BARE, read_at_line_start, read_begun
from agent.reading.choice.lists import Listing
from agent.reading.choice.marked_answer import Line, MarkedAnswer, OptionReference
from agent.reading.choice.references import LETTER_SIGNS, PADDING, SIGNS
from agent.reading.choice.rules import (
    FIRST_LINE,
    LAST_LINE,
    STATED_ANSWER,
    WHOLE_ANSWER,
    OptionRule,
)
from agent.reading.statements import is_denied, is_question

_ASKED_BACK = re.compile(
    r"[(\[\"']?[A-Z][)\]\"'.]?(?:,?\s(?:I\s(?:think|guess|believe)|probably|maybe|right))?\s?\?"
)
_LABEL = re.compile(
    rf"[^\n{SIGNS}]{{1,160}}?(?::|=>|=|->|→|⇒|\s-(?=\s))\s?(?=[\"'(\[]{{0,2}}(?:[{SIGNS}]|[A-Za-z](?!\w)))"
)
_ARROW = re.compile(r"(?:=>|->|→|⇒)\s?\Z")
_SENTENCE_BREAK = re.compile(r"[.!?]\s")
_MIN_FINDING = 5  # words before an arrow that are a sentence and not "Not likely ->"
_LETTER_PAIR = re.compile(r"[(\[]?([A-Za-z])[)\].]?\s?[:=>.-]{1,2}\s?[(\[]?[A-Za-z][)\].]{0,2}")
_NO_LABEL = re.compile(
    r"\b(?:options?|choices|considered|considering|compar\w*|between|versus|question(?!\s?\d)|note|left\sout|runner-?up|(?<!next\s)(?<!best\s)(?<!first\s)step|figure"
    r"|example|patient|analysis|explanation|reasoning|explain)\b[^:]{0,40}$"
)
# "B rather than C."
_PREFERENCE = re.compile(
    rf"(?:(?i:{cues.CALLED})|(?i:the|an?)\s(?=[\"'(]?[{SIGNS}]))?[(\[\"']?(?:{cues.MARKED}|(?P<capital>[A-Z]))[)\]\"']?"
    r",?\s(?:rather\sthan|instead\sof|over|(?:and\s|but\s)?not)\s"
    rf"(?i:{cues.CALLED}|(?:the|an?)\s)?[(\[\"']?(?:[{SIGNS}]{PADDING}*|[A-J])[)\]\"']?[.!]?(?=\s?$|\n)"
)
_TICK = re.compile(r"[✓✗•+*-]\s?|\d[.)]\s")
_SHORT_PHRASE = re.compile(
    rf"[^\n.,;:!?()\[\]{SIGNS}]{{2,70}}\s(?:(?=[{LETTER_SIGNS}])|[(\[](?=[{SIGNS}]))"
)
_REMARK = re.compile(rf"[^\n,.;:?!{SIGNS}]{{3,80}},\s(?=[^,]{{0,40}}$|[^,\n]{{0,40}}\n)")
_NO_REMARK = re.compile(
    r"\bif\b(?!\s(?:forced|pressed|pushed|i\s(?:had|have|must)))|\b(?:not|no|never|unless|when|otherwise|first|initially|maybe|perhaps|previously|possibly|wrong|incorrect|instead)\b"
    r"|\b(?:in|for|with|during)\s(?!this|my|these|the|that|all|view|light|summary|conclusion)"
)
_CLOSING_LETTER = re.compile(r"[.!?]\s[(\[\"']?([A-J])[)\]\"']?[.!]?\s?\Z")
_CONCLUDING_LETTER = re.compile(
    rf"\b(?:so|thus|hence|therefore|leaving|which\sleaves)\b[^.;:!?\n{SIGNS}]{{3,100}}\s-\s[(\[\"']?([A-J])[)\]\"']?[.!]?\s?\Z"
)
_MAX_LINES = 200
_ANNOUNCES = re.compile(r"\b(?:is|are|be|answer|option|choice)\s?:$")
# "Now let's go through the options:", "I will look at them one by one:"
_ANNOUNCES_LIST = re.compile(
    r"\b(?:go|going|work|walk|look|consider|review|evaluat|analy[sz]|examin|assess|discuss|check|compar|weigh|tak)\w{0,4}\s"
    r"[^.:\n]{0,40}?\b(?:options|choices|alternatives|candidates|answers|each(?:\s\w{1,12})?|one\sby\sone|in\sturn)"
    r"(?:\s\w{1,12}){0,4}\s?:$"
)
_ANNOUNCES_ANSWER = re.compile(
    r"\b(?:is|are|be|answer|best|correct|choose|chose|pick|select|choice|option|conclu\w*)\b"
)
_MIN_CUT_OFF = 12  # words of a line without a full stop that is more than a heading
# "6. Answer" above the last line.
_HEADING = re.compile(
    r"(?:\d{1,2}[.)]\s)?(?:my\s|the\s)?(?:final\s|overall\s|correct\s|best\s|selected\s|chosen\s)?"
    r"(?:answer|conclusion|verdict|decision|choice|option|selection)(?:\s(?:choice|option|letter))?",
    re.IGNORECASE,
)
_TRAILING_MARKS = re.compile(r"[.!)\]\"'\s✓]{0,9}$")


def read_lines(
    answer: MarkedAnswer, listings: list[Listing], claimed_ends: set[int]
) -> Iterator[OptionClaim]:
    """Yield the claims of the first and the last line, and of the last sentence. Items of lists claim nothing.

    References that end at one of `claimed_ends` are part of a statement that has been read already.
    """
    if not answer.lines:
        return
    listed = {item.start for listing in listings for item in listing.items}
    first, last = answer.lines[0], answer.lines[-1]
    is_only_line = len(answer.lines) == 1
    is_text_list = _is_text_list(answer)
    if first.start not in listed:
        rule = WHOLE_ANSWER if is_only_line else FIRST_LINE
        for claim in _read_line(answer, first, rule, claimed_ends):
            if not (claim.by_text and is_text_list):
                yield claim
        if not is_only_line:
            yield from _read_closing_letter(answer, first)
    if not is_only_line and last.start not in listed and not _is_first_item(answer):
        for claim in _read_line(answer, last, LAST_LINE, claimed_ends):
            if not claim.by_text:
                yield claim
            elif not is_text_list and _is_after_prose(answer):
                # An option's text at the end is weaker than a letter at the beginning.
                yield claim._replace(strength=ClaimStrength.PROPOSED)
    yield from _read_announced(answer)
    yield from _read_concluding_letter(answer, last)
    trailing = _TRAILING_MARKS.search(answer.text, max(last.start, last.end - 10), last.end)
    end_of_words = trailing.start() if trailing else last.end
    sentence_start = answer.find_sentence_start(max(last.start, end_of_words))
    is_pair = BARE.fullmatch(answer.text, last.start, sentence_start) is not None  # "A. B"
    if sentence_start > last.start and not is_pair:
        sentence = Line(sentence_start, last.end)
        yield from (
            _read_pure(answer, sentence, LAST_LINE)
            or _read_labelled(answer, sentence, LAST_LINE)
            or _read_after_remark(answer, sentence, LAST_LINE)
        )


def _read_announced(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read "The most frequent cause is:", or the heading "Answer", and the option on the next line."""
    for line, following in pairwise(answer.lines[:_MAX_LINES]):
        is_heading = _HEADING.fullmatch(answer.plain, line.start, line.end) is not None
        ends_open = _ANNOUNCES.search(answer.lower, max(line.start, line.end - 40), line.end)
        if not is_heading and not ends_open:
            continue
        if is_denied(answer.text, line.end):
            continue
        for claim in _read_pure(answer, following, STATED_ANSWER):
            if not claim.by_text:
                yield claim


def _read_closing_letter(answer: MarkedAnswer, line: Line) -> Iterator[OptionClaim]:
    """Read a letter that is the last sentence of the first line: "This points to a granuloma. **A.**"."""
    letter = _CLOSING_LETTER.search(answer.text, max(line.start, line.end - 12), line.end)
    if letter and not cues.NOT_AN_OPTION.search(answer.lower, line.start, letter.start()):
        option = answer.options.get_letter_option(letter[1])
        yield OptionClaim(
            option, letter.start(1), letter.end(1), ClaimStrength.PROPOSED, FIRST_LINE
        )


def _read_concluding_letter(answer: MarkedAnswer, line: Line) -> Iterator[OptionClaim]:
    """Read a letter behind the dash with which a conclusion ends: "..., so the rest can be set aside - C"."""
    letter = _CONCLUDING_LETTER.search(answer.text, max(line.start, line.end - 120), line.end)
    if letter is None:
        return
    clause = answer.lower[letter.start() : letter.start(1)]
    if cues.NOT_AN_OPTION.search(clause.rstrip(" -")) or cues.WRONG.search(clause):
        return
    option = answer.options.get_letter_option(letter[1])
    yield OptionClaim(option, letter.start(), letter.end(1), ClaimStrength.PROPOSED, LAST_LINE)


def _is_first_item(answer: MarkedAnswer) -> bool:
    """Return whether the last line begins a list of comments that was cut off.

    "Let's go through the options:" stands above it, or it begins with an option and ends within a sentence.
    """
    previous, last = answer.lines[-2], answer.lines[-1]
    above = answer.lower[max(previous.start, previous.end - 100) : previous.end]
    if _ANNOUNCES_LIST.search(above) and not _ANNOUNCES_ANSWER.search(above):
        return True
    if read_at_line_start(answer, last.start) is None:
        return False
    is_long = len(answer.plain[last.start : last.end].split()) >= _MIN_CUT_OFF
    return is_long and answer.plain[last.end - 1].isalnum()


def _is_text_list(answer: MarkedAnswer) -> bool:
    """Return whether several lines begin with different options' texts, so that the lines are a list."""
    begun: set[int] = set()
    for line in answer.lines:
        mark = _TICK.match(answer.text, line.start)
        reference = read_at_line_start(answer, mark.end() if mark else line.start)
        if reference is not None and reference.by_text:
            begun.add(reference.option)
    return len(begun) > 1


def _is_after_prose(answer: MarkedAnswer) -> bool:
    """Return whether the line before the last one is a sentence or an announcement rather than another item."""
    previous = answer.plain[answer.lines[-2].start : answer.lines[-2].end]
    if _HEADING.fullmatch(previous):
        return True
    return previous.endswith(":") or (
        previous.endswith((".", "!", "?", ")")) and len(previous.split()) > 3
    )


def _read_line(
    answer: MarkedAnswer, line: Line, rule: OptionRule, claimed_ends: set[int]
) -> list[OptionClaim]:
    claims = _read_pure(answer, line, rule) or _read_preference(answer, line, rule)
    if claims:
        return claims
    # An answer of one line with more than an option is no "whole answer".
    rule = FIRST_LINE if rule is WHOLE_ANSWER else rule
    if not _is_letter_pair(answer, line):
        claims = _read_labelled(answer, line, rule)
    return (
        claims
        or list(read_begun(answer, line, rule))
        or _read_after_phrase(answer, line, rule, claimed_ends)
        or _read_after_remark(answer, line, rule)
    )


def _read_pure(answer: MarkedAnswer, line: Line, rule: OptionRule) -> list[OptionClaim]:
    """Read a line or sentence that is nothing but an option: "(B).", "It must be B. Vitamin B12", "B, I think"."""
    text = answer.text
    opening = cues.LINE_START.match(text, line.start, line.end)
    position = opening.end() if opening else line.start
    bare = BARE.fullmatch(text, position, line.end)
    if bare:
        option = answer.options.get_letter_option(bare[1])
        reference: OptionReference | None = OptionReference(option, bare.start(1), bare.end(1))
    elif rule is WHOLE_ANSWER and _ASKED_BACK.fullmatch(text, line.start, line.end):
        letter = text[line.start : line.end].lstrip("([\"'")[0]
        return [
            OptionClaim(
                answer.options.get_letter_option(letter),
                line.start,
                line.end,
                ClaimStrength.ANSWER,
                rule,
            )
        ]
    else:
        reference = read_at_line_start(answer, position)
    if reference is None or reference.end > line.end:
        return []
    reference = answer.extend_by_own_text(reference)
    is_whole = cues.PURE_TAIL.fullmatch(text, reference.end, line.end)
    if not is_whole or is_question(text, reference.end):
        return []
    return [
        OptionClaim(
            reference.option,
            line.start,
            reference.end,
            ClaimStrength.ANSWER,
            rule,
            reference.by_text,
        )
    ]


def _read_preference(answer: MarkedAnswer, line: Line, rule: OptionRule) -> list[OptionClaim]:
    """Read a line that sets an option above another one: "B rather than C."."""
    preference = _PREFERENCE.fullmatch(answer.text, line.start, line.end)
    if preference is None:
        return []
    reference = answer.make_reference(preference)
    return [
        OptionClaim(
            reference.option,
            line.start,
            reference.end,
            ClaimStrength.ANSWER,
            rule,
            reference.by_text,
        )
    ]


def _read_labelled(answer: MarkedAnswer, line: Line, rule: OptionRule) -> list[OptionClaim]:
    """Read a line that ends with an option behind a colon or arrow: "So, once more: B.", "Remaining choice -> gold"."""
    label = _LABEL.match(answer.text, line.start, line.end)
    if not label:
        return []
    words = answer.lower[line.start : label.end()].rstrip(" :=->→⇒([\"'")
    if cues.OTHER_LABEL.match(answer.lower, line.start):
        return []
    if _NO_LABEL.search(words) or cues.NOT_AN_OPTION.search(words):
        return []
    reference = answer.read_reference(label.end())
    if reference is None:
        return []
    is_rejected = is_denied(answer.text, line.start + len(words)) or cues.WRONG.search(words)
    if is_rejected and not _concludes_on_yes_or_no(answer, label, reference):
        return []
    if not cues.PURE_TAIL.fullmatch(answer.text, reference.end, line.end):
        return []
    strength = ClaimStrength.PROPOSED if reference.by_text else ClaimStrength.ANSWER
    return [OptionClaim(reference.option, line.start, reference.end, strength, rule)]


def _concludes_on_yes_or_no(
    answer: MarkedAnswer, label: re.Match[str], reference: OptionReference
) -> bool:
    """Return whether an arrow leads from a finding to yes or no: "No difference was seen -> no"."""
    if not reference.by_text or not answer.options.is_common_word(reference.option):
        return False
    is_arrow = _ARROW.search(label[0]) is not None
    sentence = _SENTENCE_BREAK.split(label[0])[-1]
    return is_arrow and len(sentence.split()) >= _MIN_FINDING


def _is_letter_pair(answer: MarkedAnswer, line: Line) -> bool:
    pair = _LETTER_PAIR.fullmatch(answer.text, line.start, line.end)
    # The x of "x = B" is no option.
    return pair is not None and answer.options.get_letter_option(pair[1]) >= 0


def _read_after_phrase(
    answer: MarkedAnswer, line: Line, rule: OptionRule, claimed_ends: set[int]
) -> list[OptionClaim]:
    """Read a line of a few words and an option in brackets: "Medium bisque (C), 85% sure"."""
    phrase = _SHORT_PHRASE.match(answer.text, line.start, line.end)
    if not phrase:
        return []
    reference = answer.read_reference(phrase.end())
    if reference is None or reference.end in claimed_ends:
        return []
    words = answer.lower[line.start : phrase.end()]
    if len(words.split()) > 9 or cues.WRONG.search(words) or is_denied(answer.text, phrase.end()):
        return []
    if not cues.PURE_TAIL.fullmatch(answer.text, reference.end, line.end):
        return []
    return [OptionClaim(reference.option, line.start, reference.end, ClaimStrength.PROPOSED, rule)]


def _read_after_remark(answer: MarkedAnswer, line: Line, rule: OptionRule) -> list[OptionClaim]:
    """Read a line of a remark and an option: "Without a doubt, C.", "Considering all of this, C"."""
    remark = _REMARK.match(answer.text, line.start, line.end)
    if not remark or _NO_REMARK.search(answer.lower, line.start, remark.end()):
        return []
    return _read_pure(answer, Line(remark.end(), line.end), rule)
