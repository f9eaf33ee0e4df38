"""Read the claim of a line that begins with an option and goes on: "B) It replaces ...", "B, because ..."."""

import re
from collections.abc import Iterator

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.marked_answer import Line, MarkedAnswer, OptionReference
from agent.reading.choice.references import CONTRADICTION, PADDING, SIGNS, UNKNOWN
from agent.reading.choice.rules import OptionRule
from agent.reading.statements import is_conditional, is_question
from agent.reading.words import plain_words

BARE = re.compile(r"[(\[<{\"']*([A-Za-z])[)\]>}\"'.:,;!✓\s]{0,9}")
_AT_LINE_START = re.compile(
    rf"(?:(?i:{cues.CALLED})|(?i:the|an?)\s(?=[\"'(]?[{SIGNS}]))?[\"'(\[<{{]{{0,2}}(?:{cues.MARKED}"
    rf"|(?P<marked>[A-Za-z])(?=[.):\]](?![A-Za-z]\.)|\s-(?=\s)){cues.NOT_A_NAME}"
    rf"|(?P<capital>[A-Z]){cues.NOT_A_NAME}{cues.LINE_END})"
)
_OTHER_BRACKET = re.compile(
    r"\s?[(\[]\s?(?:(?:or|and|not|but)\b|[^()\[\]\n]{0,60}\bor\b)", re.IGNORECASE
)
# "Heparin, as the books say, or warfarin"
_NEXT_ITEM = re.compile(rf"[.;,]\s[{SIGNS}]{PADDING}*:")
_OR_OTHER = re.compile(rf",[^,.;!?\n]{{0,60}},\sor\s(?:the\s|an?\s)?[{SIGNS}]")
_MARK_AFTER_LETTER = re.compile(
    r"[)\]\"']?(?:[.):](?![A-Za-z]\.)[.:]?|\s-(?=\s)|(?=\s?[(\[]\w{1,30}\s\w))\s?"
)
_MARK_AFTER_TEXT = re.compile(
    r"[)\]\"']?(?:[.:;!](?!\w)(?!\s\d)|,(?=\s)|\s-(?=\s)|(?=\s?[(\[]))\s?"
)
_LOOSE_MARK = re.compile(r"\s?[/|=]\s?(?=\w{3})")
_SENTENCE_MARKS = frozenset({".", ").", "!", ".)", '".', ")"})
# "B. Not indicated here." rejects B; "B. The evidence does not support it." argues for it.
_STARTS_WRONG = re.compile(
    r"(?:this\s|it\s|that\s|which\s)?(?:is\s|are\s|was\s|would\s(?:be\s)?|can\s(?:be\s)?|could\s(?:be\s)?)?"
    r"(?:not\b|no(?=\s?(?:$|[.,;!\n]))|never|wrong|incorrect|false|untrue|unlikely|inappropriate|contraindicated|irrelevant|rule[sd]?\sout"
    r"|excluded|eliminated?|avoid\w*|does\snot|doesn't|isn't|cannot|can't|✗)"
)
# "Option (a) is the least likely"
_IS_LEAST = re.compile(
    r"\s?(?:is|are|was|seems|would\sbe)\s(?:clearly\s)?(?:the\s)?(?:least|less|runner-?up)\b"
)
# "Aspirin? No."
_DENIED_AT_ONCE = re.compile(r"[)\]\"']?\s?\?\s(?:no|nope|never|wrong|not|too)\b")
# "No. Yes, the rate went up."
_OTHER_SENTENCE = re.compile(rf"(?:[.!]|,?\s(?:but|and|or))\s{cues.MARKED}(?=\s?[,.!]|$)")


def read_at_line_start(answer: MarkedAnswer, position: int) -> OptionReference | None:
    """Return the reference with which a line begins at a position: "Option B", "(b)", "the heparin"."""
    match = _AT_LINE_START.match(answer.text, position)
    return answer.make_reference(match) if match else None


def read_begun(answer: MarkedAnswer, line: Line, rule: OptionRule) -> Iterator[OptionClaim]:
    """Read a line that begins with an option: "B) It replaces ...", "B, because ...", "Yes, the trial ..."."""
    text = answer.text
    opening = cues.LINE_START.match(text, line.start, line.end)
    position = opening.end() if opening else line.start
    reference = read_at_line_start(answer, position)
    if reference is None:
        reference = answer.read_letter_and_word(position)
        if reference is not None and not answer.calls_wrong(reference.end):
            yield OptionClaim(
                reference.option, line.start, reference.end, ClaimStrength.PROPOSED, rule
            )
        elif len(answer.lines) == 1:
            yield from _read_loosely_marked(answer, line, rule)
        return
    end = reference.end
    if is_question(text, end):
        if _DENIED_AT_ONCE.match(answer.lower, end):
            return
        # An answer that begins by asking is settled only by a plain statement later.
        yield OptionClaim(UNKNOWN, line.start, end, ClaimStrength.ANSWER, rule)
        return
    if _OTHER_BRACKET.match(text, end) or is_conditional(text, end):
        return
    references = answer.read_joined(reference)
    if len({joined.option for joined in references}) > 1:
        if answer.calls_wrong(references[-1].end):
            return  # "A, B and D fall short."
        for joined in references:
            yield OptionClaim(joined.option, line.start, joined.end, ClaimStrength.PROPOSED, rule)
        return
    if answer.has_other_text(reference):
        yield OptionClaim(CONTRADICTION, line.start, end, ClaimStrength.PROPOSED, rule)
        return
    if _OR_OTHER.match(text, end):
        return
    if _contradicts_at_once(answer, reference):
        yield OptionClaim(CONTRADICTION, line.start, end, ClaimStrength.ANSWER, rule)
        return
    if cues.REASON_TAIL.match(text, end):
        yield OptionClaim(
            reference.option, line.start, end, ClaimStrength.ANSWER, rule, reference.by_text
        )
        return
    strength = _rate_begun(answer, reference)
    if strength is not None:
        is_pair = _is_followed_by_letter(answer, reference, line)
        option = CONTRADICTION if is_pair else reference.option
        yield OptionClaim(option, line.start, end, strength, rule, reference.by_text)


def _contradicts_at_once(answer: MarkedAnswer, reference: OptionReference) -> bool:
    """Return whether the next sentence begins with another word such as yes or no: "No. Yes, it did."."""
    following = _OTHER_SENTENCE.match(answer.text, reference.end)
    if following is None or not reference.by_text:
        return False
    other = answer.make_reference(following)
    if not other.by_text or other.option == reference.option:
        return False
    return all(answer.options.is_common_word(named.option) for named in (reference, other))


def _rate_begun(answer: MarkedAnswer, reference: OptionReference) -> ClaimStrength | None:
    """Return how strong the claim of a line is that begins with the reference and goes on; None if it is none."""
    pattern = _MARK_AFTER_TEXT if reference.has_text else _MARK_AFTER_LETTER
    mark = pattern.match(answer.text, reference.end)
    if not mark:
        # "C - heparin acts at once"
        is_both = reference.has_text and not reference.by_text
        return ClaimStrength.PROPOSED if is_both and not answer.calls_wrong(reference.end) else None
    if _IS_LEAST.match(answer.lower, mark.end()):
        return None
    sign = mark[0].strip()
    begins_sentence = sign in _SENTENCE_MARKS
    if reference.by_text and not begins_sentence and _may_begin_list(answer, reference, mark):
        return None
    if reference.has_text and (begins_sentence or sign in {",", ";"}):
        return ClaimStrength.ANSWER if begins_sentence else ClaimStrength.PROPOSED
    own_text = answer.options.plain_texts[reference.option] if reference.option >= 0 else ""
    if own_text and plain_words(answer.plain[mark.end() : mark.end() + 300]).startswith(own_text):
        return ClaimStrength.PROPOSED
    if cues.REFERENCE.match(answer.text, mark.end()):
        return ClaimStrength.PROPOSED  # the words behind it are about another option
    # "B - scores did not differ" gives the reason for no.
    if begins_sentence or own_text == "no":
        is_wrong = _STARTS_WRONG.match(answer.lower, mark.end()) is not None
    else:
        is_wrong = answer.calls_wrong(mark.end())
    return None if is_wrong else ClaimStrength.PROPOSED


def _may_begin_list(answer: MarkedAnswer, reference: OptionReference, mark: re.Match[str]) -> bool:
    """Return whether an option's text may begin a list: "Aspirin, clopidogrel and ...", "Aspirin: ...".

    "Yes, the trial ..." begins none.
    """
    sign = mark[0].strip()
    if sign == ":" and _NEXT_ITEM.search(answer.text, mark.end()):
        return True  # "Heparin: given. Warfarin: not given."
    is_common = reference.option >= 0 and answer.options.is_common(reference.option)
    return not is_common and (sign == "," or len(answer.lines) > 1)


def _is_followed_by_letter(answer: MarkedAnswer, reference: OptionReference, line: Line) -> bool:
    """Return whether nothing but another letter follows: "A: B"."""
    mark = _MARK_AFTER_LETTER.match(answer.text, reference.end)
    letter = BARE.fullmatch(answer.text, mark.end(), line.end) if mark else None
    if letter is None or reference.option < 0:
        return letter is not None
    if reference.by_text and answer.options.get_letter_option(letter[1]) == reference.option:
        return False  # "No. B" where B is no
    return letter[1].lower() != answer.options.plain_texts[reference.option]


def _read_loosely_marked(
    answer: MarkedAnswer, line: Line, rule: OptionRule
) -> Iterator[OptionClaim]:
    """Read "A / glycogen branches"."""
    letter = answer.text[line.start]
    mark = _LOOSE_MARK.match(answer.text, line.start + 1)
    if not letter.isascii() or not letter.isupper() or not mark:
        return
    option = answer.options.get_letter_option(letter)
    names_other = re.search(f"[{SIGNS}]", answer.text[line.start : line.end])
    if not names_other and not answer.calls_wrong(mark.end()):
        yield OptionClaim(option, line.start, mark.start(), ClaimStrength.PROPOSED, rule)
