"""Read an answer that sets one option apart from all others: "All of them except C", or a list with one that differs.

Whether a question asks for the true statement or for the untrue one, the option that is set apart is the answer.
"""

import re
from collections.abc import Iterator
from itertools import islice

from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.marked_answer import Line, MarkedAnswer
from agent.reading.choice.references import PADDING, SIGNS, decode
from agent.reading.choice.rules import COMMENTED_OPTIONS, STATED_ANSWER
from agent.reading.statements import find_last_retraction, is_denied, is_question

_MAX_STATEMENTS = 20
_MAX_LINES = 60
_MAX_STATEMENT = 400  # characters of a line
_MIN_OPTIONS = 3  # of a list in which one differs from the others
_ALL = r"(?:all|any|each|every\w*)"
_GROUP = (
    r"(?:(?:of\s)?(?:them|these|those|the\s\w{1,12}|above|given|listed|others?|options?|choices?"
    r"|statements?)\s){0,3}"
)
_HOLD = r"(?:(?:is|are|hold|holds|apply|applies|fit|fits|belong|belongs|true|correct|right|wrong|false|here)\s){0,3}"
# "All of them are true except", "everything but"
_ALL_EXCEPT = re.compile(
    rf"\b{_ALL}[\s,]{{1,2}}{_GROUP}{_HOLD}(?:except|but|bar|save|apart\sfrom|other\sthan)(?:\s(?:for|that|option|choice|statement))?\s"
)
_REST = re.compile(r"[^.;!?\n]{1,300}")
_VERDICT_ON_OTHERS = re.compile(
    r"[)\]\"',]{0,2}\s(?:are|is|hold|apply|fit|belong)\s(?:true|correct|right|wrong|false)?.{0,60}\Z"
)
_LETTER = re.compile(
    rf"[(\[\"']?(?:(?P<sign>[{SIGNS}]){PADDING}*|(?P<capital>[A-Z]))[)\]\"'.]{{0,2}}"
)
_SIGN = re.compile(f"[{SIGNS}]")
_BEGINS_WITH_OPTION = re.compile(rf"(?:[-•+]\s|\d[.)]\s)?[\"'(]?([{SIGNS}])")
_AND_MORE = re.compile(r"\s?(?:,|/|&|\band\b|\bor\b)\s?")
# "Rickets: F", "It crosses the placenta - true, mostly."
_JUDGED = re.compile(
    r"(?P<statement>.{2,300}?)\s?(?:[:=|]|->|→|\s-|,)\s?[(\[]?(?P<verdict>t|f|true|false|correct|incorrect|right|wrong|holds|✓|✗)[)\]]?"
    r"(?=$|[.,;!]|\s-|\s\()"
)
_RIGHT = frozenset({"t", "true", "correct", "right", "holds", "✓"})
# "It is excreted by the kidney  <-- this one"
_ARROW = re.compile(r"\s(?:<\s?[-=]{1,4}|<<+|←|⬅|◄)\s?(?P<note>.{0,60})\Z")
# "✓ Heparin", "C | ✓", and "A ✗ B ✗ C ✓ D ✗" in one line
_TICKED = re.compile(
    rf"(?P<tick>[✓✗])\s?(?:(?P<sign>[{SIGNS}]){PADDING}*|(?P<capital>[A-J])(?![\w'-]))"
    rf"|(?:(?P<other_sign>[{SIGNS}]){PADDING}*|(?P<other>[A-J])(?![\w'-]))[)\].:]?\s?[|:-]?\s?(?P<behind>[✓✗])"
)
_UNSURE = re.compile(r"\b(?:maybe|possibly|or|also|too)\b|\?")
_REJECTS = re.compile(
    r"\b(?:not?|never|wrong|false|incorrect|tempting|trap|maybe|possibly|or)\b|n't\b|[?✗]"
)


def read_exceptions(answer: MarkedAnswer) -> list[OptionClaim]:
    """Return the claims of an answer that sets one option apart from the others."""
    if find_last_retraction(answer.text) is not None or answer.options.has_common_word:
        return []
    return [
        *_read_all_except(answer),
        *_read_odd_verdict(answer),
        *_read_arrow(answer),
        *_read_ticked(answer),
    ]


def _read_all_except(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read "All of them except that it is excreted by the kidney"."""
    if not answer.options.are_phrases:
        return  # "All except C" may be meant for a question with several right options
    for match in islice(_ALL_EXCEPT.finditer(answer.lower), _MAX_STATEMENTS):
        rest = _REST.match(answer.text, match.end())
        if (
            rest is None
            or is_denied(answer.text, match.start())
            or is_question(answer.text, match.end())
        ):
            continue
        verdict = _VERDICT_ON_OTHERS.search(rest[0])
        end = rest.start() + verdict.start() if verdict else rest.end()
        option = _read_exception(answer, match.end(), end)
        if option is not None:
            yield OptionClaim(option, match.start(), end, ClaimStrength.MENTIONED, STATED_ANSWER)


def _read_exception(answer: MarkedAnswer, start: int, end: int) -> int | None:
    """Return the only option that a part of an answer names by its letter, text or words."""
    letter = _LETTER.fullmatch(answer.text, start, end)
    if letter is not None:
        option = answer.make_reference(letter).option
        return option if option >= 0 else None
    if _AND_MORE.search(answer.text, start, end) and _SIGN.search(answer.text, start, end):
        return None
    named = frozenset(decode(sign) for sign in _SIGN.findall(answer.text[start:end]))
    return answer.options.words.find_option(answer.plain[start:end], named, is_strict=True)


def _read_odd_verdict(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read a list that calls all options true but one, or all untrue but one."""
    if not _MIN_OPTIONS <= answer.options.count <= len(answer.lines):
        return
    verdicts: dict[int, bool] = {}
    lines: dict[int, Line] = {}
    for line in answer.lines[:_MAX_LINES]:
        judged = _JUDGED.match(answer.lower[line.start : line.end][:_MAX_STATEMENT])
        if judged is None:
            continue
        option = _find_option_of_line(answer, line.start, line.start + judged.end("statement"))
        if option is None or option in verdicts:
            return
        verdicts[option] = judged["verdict"] in _RIGHT
        lines[option] = line
    if len(verdicts) != answer.options.count:
        return
    for is_right in (True, False):
        odd = [option for option, verdict in verdicts.items() if verdict == is_right]
        if len(odd) == 1:
            line = lines[odd[0]]
            yield OptionClaim(
                odd[0], line.start, line.end, ClaimStrength.MENTIONED, COMMENTED_OPTIONS
            )


def _read_arrow(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read a list of the options in which an arrow points to one."""
    marked: list[tuple[Line, int]] = []
    for line in answer.lines[:_MAX_LINES]:
        arrow = _ARROW.search(answer.plain[line.start : line.end])
        if arrow is None:
            continue
        if _UNSURE.search(arrow["note"].lower()):
            return
        if not _REJECTS.search(arrow["note"].lower()):
            marked.append((line, line.start + arrow.start()))
    if len(marked) != 1:
        return
    ((line, end),) = marked
    option = _find_option_of_line(answer, line.start, end)
    if option is not None:
        yield OptionClaim(option, line.start, line.end, ClaimStrength.MENTIONED, COMMENTED_OPTIONS)


def _read_ticked(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read a list of all options in which one has a tick and every other one a cross or an empty box."""
    if "✓" not in answer.text or "✗" not in answer.text:
        return
    ticked: list[re.Match[str]] = []
    options: list[int] = []
    for item in islice(_TICKED.finditer(answer.text), _MAX_LINES):
        sign = item["sign"] or item["other_sign"]
        letter = item["capital"] or item["other"] or ""
        options.append(decode(sign) if sign else answer.options.get_letter_option(letter))
        if (item["tick"] or item["behind"]) == "✓":
            ticked.append(item)
    is_complete = sorted(options) == list(range(answer.options.count))
    if len(ticked) == 1 and is_complete:
        (item,) = ticked
        option = options[
            [match["tick"] or match["behind"] for match in _TICKED.finditer(answer.text)].index("✓")
        ]
        yield OptionClaim(
            option, item.start(), item.end(), ClaimStrength.MENTIONED, COMMENTED_OPTIONS
        )


def _find_option_of_line(answer: MarkedAnswer, start: int, end: int) -> int | None:
    """Return the option with which a line begins, or that it means by its words."""
    sign = _BEGINS_WITH_OPTION.match(answer.text, start, end)
    if sign:
        option = decode(sign[1])
        return option if option >= 0 else None
    return answer.options.words.find_option(answer.plain[start:end], frozenset())
