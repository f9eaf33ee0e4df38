"""Read which of a benchmark's labels an answer states: "1", "**0** - true", "Verdict: hallucinated", "return 0". Pure.

`agent.reading.label_marks` marks the places that name a label. The readers of options (`agent.reading.choice`) then
collect the statements and lines that give one as the answer; fields ("hallucinated: true") and a question with its
answer ("Hallucinated? No.") are read here. The strongest statements decide, and must all name the same label: an answer
that contradicts itself ("0, i.e. hallucinated") or leaves the choice open ("0 or 1", "not 1") is unread.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from agent.reading.choice.claims import ClaimStrength, OptionClaim, TooManyClaimsError, iter_matches
from agent.reading.choice.decision import choose_claim
from agent.reading.choice.lines import read_lines
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.normalise import normalise, normalise_with_positions
from agent.reading.choice.other_languages import apply_languages
from agent.reading.choice.references import CONTRADICTION, LETTER_SIGNS, PADDING, SIGNS, decode
from agent.reading.choice.rules import (
    FINAL_ANSWER,
    FIRST_LINE,
    STATED_ANSWER,
    WHOLE_ANSWER,
    OptionRule,
)
from agent.reading.choice.stated import read_after, read_statements
from agent.reading.json_answers import names_answer
from agent.reading.json_decoding import EndlessTextError
from agent.reading.json_objects import (
    JsonObject,
    blank_objects,
    find_objects,
    iter_members,
    iter_scalars,
)
from agent.reading.label_marks import (
    CONCLUSION,
    FINAL,
    STATED,
    LabelOptions,
    Labels,
    is_ticked,
    may_have_box,
    prepare_labels,
)
from agent.reading.label_sentences import SENTENCE, find_sentence
from agent.reading.reading import Reading
from agent.reading.statements import find_undecided, is_question
from agent.reading.words import plain_words

FIELD = OptionRule(
    "field", "A field or a line of key and value states the label.", '{"hallucinated": true}'
)
ASKED = OptionRule(
    "question and answer",
    "The answer asks whether a label fits, and says so.",
    "Hallucinated? No.",
)
TICKED = OptionRule("ticked box", "The box before one label is ticked.", "[ ] 0 [x] 1")
RULES = (FIELD, ASKED, TICKED, SENTENCE)
"""The rules for labels that options do not have; the others are those of options."""

_SIGN_LINE = re.compile(rf"[\W_]{{0,6}}([{SIGNS}]){PADDING}*[\W_]{{0,6}}?")
_CODE_SIGN = re.compile(f"[{LETTER_SIGNS}]")
_NUMBER_LINE = re.compile(r"\W{0,3}(\d{1,6}(?:[.,]\d{1,6})?)\W{0,3}")
_BEGUN = re.compile(
    rf"[\"'(\[]{{0,2}}([{SIGNS}]{PADDING}*)[\"')\]]{{0,2}}\s?"
    r"([:;,.!]|-(?=\s)|(?=(?:The|This|It|There)\s[a-z]))(?!\s?\d{1,3}\s?%)"
)
_PICTURES = re.compile(
    "[\u20e3\u2600-\u2609\u2615-\u2704\u270a-\u2712\u2728-\u274b\u2764\U0001f300-\U0001faff]"
)
_CONDITION = re.compile(r"\s?\b(?:except|if|only|unless|or)\b")
_SECOND_THOUGHTS = re.compile(
    r"\b(?:wait|hmm|or\s(?:maybe|perhaps|rather|possibly)|on\s(?:second|further|closer)|correction|reconsider|scratch|make\sthat)\b"
)
_TURN = re.compile(r"\s?\b(?:but|however|although|though|except|if|only|unless|or)\b")
# "label: 1.0", as programs write the digit 1. Without a label, it may be a score.
_WRITTEN_AS_FLOAT = re.compile(
    r"^(?P<cue>(?:the\s)?(?:label|answer|judge?ment|verdict|class|prediction)\s?[:=]\s?)(?P<code>\d)\.0$",
    re.MULTILINE | re.IGNORECASE,
)
_WHOLE_FLOAT = re.compile(r"\W{0,3}(?P<code>\d)\.0\W{0,3}")
# "hallucinated: 0.4"
_FRACTION = re.compile(r"\W{0,3}[a-z][a-z _]{1,40}[:=]\s?0?\.\d{1,4}\W{0,3}", re.IGNORECASE)
# "If the paper had found a direct relation, then the label would be 1."
_OF_OTHER_CASE = re.compile(
    r"\b(?:if|had|were|otherwise)\b[^.;!?\n]{0,200}\b(?:would|i'd)\b|\botherwise\b[^.;!?\n]{0,40}$",
    re.IGNORECASE,
)
_SENTENCE_START = re.compile(r"[.;!?]\s|\n")
_NEXT_ITEM = re.compile(r"\n\s?(\d)[.)]\s")
_MAX_LENGTH = 100_000  # characters; a longer answer is an endless repetition
_MAX_WHOLE = 60
_REACH_OF_CASE = 300  # characters before a claim
_MARKS = " \t\r\n.*`\"'()[]{}!:$#_"
_NEXT_QUESTION = re.compile(
    r"\n\s?(?:Question|Q|Knowledge|Context|Example|Input|Task)(?:\s?\d{1,4})?\s?[:.]\s"
)
_REPEATED = re.compile(r"(?P<code>\S{1,2})(?:[\s,]{1,3}(?P=code)){2,}[.\s]{0,3}")
# "0 0 0" in a line, "The judgement is 1 1"
_CODE_REPEATED = re.compile(
    r"(?<![\d.,/-])(?P<code>\d)(?:[ ,]{1,2}(?P=code)){1,20}(?=[ .]{0,3}(?:\n|$))"
)
_VALUE = r"\s?\\?[\"'(\[<{]{0,3}(?P<value>[^\"'\n,;}\])|<>\\]{1,40})"
# A line or cell of key and value, or an element; objects of JSON are found by `agent.reading.json_objects`.
_FIELD = re.compile(
    r"(?:^|[{,;\n(|]|<)\s?[\"'\-•+\\]{0,3}\s?(?P<key>[a-z][\w -]{0,40}?)\??\\?[\"']{0,2}\s?(?:::?|=|\||->|=>|→|>)"
    + _VALUE
)
_VALUE_OF_MEMBER = re.compile(_VALUE)
_LONGEST_KEY = 60  # characters
_KEY_GAP = re.compile(r"[_\-\s]+")
_MORE_VALUES = re.compile(r"[\"']?\s?,\s?[\"'\w]")
_ASKED = re.compile(
    r"(?P<words>[\w' -]{2,60})\?[\"')\]]{0,2}\s?(?:->|→|[:-])?\s?(?P<reply>yes|no|true|false|nope|yep"
    r"|i\s(?:do\snot|don't)\sthink\sso|not\sat\sall|i\sthink\sso)\b"
)
_KEY_PREFIX = re.compile(r"^(?:is|has|contains|any|answer is|answer|response|was|are)\s")
_KEY_SUFFIX = re.compile(r"\s(?:flag|detected|found|present|label|answer|response)$")
_KEYS_OF_VERDICT = frozenset(
    {
        *("verdict", "judgement", "judgment", "classification", "class", "rating", "decision", "output"),
        *("digit", "conclusion", "assessment", "evaluation", "category"),
        *("final verdict", "final judgement", "final judgment", "final label", "your judgement"),
        *("your judgment", "final decision", "overall label", "overall verdict", "overall", "final"),
        *("veredicto", "urteil", "jugement", "giudizio", "my verdict"),
    }
)  # fmt: skip
_KEYS_OF_MEASURE = frozenset(
    {
        "result",
        "score",
        "value",
        "severity",
        "status",
        "grade",
        "level",
        "risk",
        "priority",
        "triage",
    }
)
_TRUE = frozenset(
    {"true", "yes", "i think so", "1", "y", "yep", "detected", "found", "present", "✓"}
)
_FALSE = frozenset(
    {
        "false",
        "no",
        "0",
        "n",
        "nope",
        "none",
        "not at all",
        "i do not think so",
        "i don't think so",
        "absent",
        "not detected",
        "none detected",
        "✗",
    }
)
_UNKNOWN = frozenset(
    {
        *("null", "na", "none", "unknown", "uncertain", "unclear", "maybe", "perhaps", "possibly"),
        *("unsure", "not sure", "partly", "partially", "undecided", "it depends", "cannot tell"),
    }
)


def find_label(answer: str, labels: Labels) -> str | None:
    """Return the label that an answer states, or None if it states none or several.

    Args:
        answer: the response's text, without reasoning.
        labels: every label, followed by the other words that mean it.
    """
    options = prepare_labels(labels)
    if len(answer) <= _MAX_WHOLE:
        label = options.names.get(answer.strip(_MARKS).lower())
        if label is not None and "\n" not in answer.strip():
            return labels[label][0]
    quick = options.read_quickly(answer)
    if quick is not None and len(answer) <= _MAX_LENGTH:
        return labels[quick][0]
    claim = _find_claim(answer, labels)
    return None if claim is None else labels[claim.option][0]


def read_label(answer: str, labels: Labels) -> Reading | None:
    """Return the label of `find_label`, with the span of the answer that states it and the rule that read it."""
    label = find_label(answer, labels)
    if label is None:
        return None
    claim = _find_claim(answer, labels)
    text, positions = normalise_with_positions(answer)
    if claim is None or claim.end > len(positions) or text != normalise(answer):
        return Reading(label, 0, len(answer), WHOLE_ANSWER.name)
    return Reading(label, positions[claim.start], positions[claim.end - 1] + 1, claim.rule.name)


@lru_cache(16)
def _find_claim(answer: str, labels: Labels) -> OptionClaim | None:
    if len(answer) > _MAX_LENGTH:
        return None
    options = prepare_labels(labels)
    text = _PICTURES.sub(".", normalise(answer))
    whole = _WHOLE_FLOAT.fullmatch(text)
    if whole:
        text = f"{whole['code']}.".ljust(len(text))
    if not _REPEATED.fullmatch(text):
        text = _CODE_REPEATED.sub(_write_code_once, text)
    if whole is None and ".0" in text:
        text = _WRITTEN_AS_FLOAT.sub(_write_code, text)
    # A base model may go on with another question of its own; its answer is the one before.
    next_question = _NEXT_QUESTION.search(text)
    if next_question:
        claim = _choose(text[: next_question.start()], options)
        if claim is not None:
            return claim
    return _choose(text, options)


def _write_code_once(match: re.Match[str]) -> str:
    """Return "0" for "0 0 0", with spaces that keep the length of the text."""
    return match["code"].ljust(len(match[0]))


def _write_code(match: re.Match[str]) -> str:
    """Return "1. " for "1.0", which keeps the length of the text."""
    return f"{match['cue']}{match['code']}. "


def _choose(text: str, options: LabelOptions) -> OptionClaim | None:
    repeated = _REPEATED.fullmatch(text)
    if repeated and repeated["code"] in options.names:
        return OptionClaim(
            options.names[repeated["code"]],
            0,
            repeated.end("code"),
            ClaimStrength.ANSWER,
            WHOLE_ANSWER,
        )
    if _FRACTION.fullmatch(text):
        return None
    answer = MarkedAnswer(text, options)
    try:
        claims = _collect_claims(answer, options)
    except TooManyClaimsError:
        return None
    claims = [claim for claim in claims if not _is_of_other_case(text, claim)] or claims
    if not claims:
        return _read_sentence(answer, options)
    claim = choose_claim(claims, answer.text)
    if claim is None:
        return None
    undecided = find_undecided(answer.lower, claim.end)
    if undecided is not None and not options.has_code(text[undecided:]):
        return None
    doubt = _SECOND_THOUGHTS.search(answer.lower, claim.end)
    if doubt and options.names_other(text, doubt.end(), claim.option):
        return None
    return claim


def _is_of_other_case(text: str, claim: OptionClaim) -> bool:
    """Return whether a claim says what the label would be in another case."""
    first = max(0, claim.start - _REACH_OF_CASE)
    starts = [match.end() for match in _SENTENCE_START.finditer(text, first, claim.start)]
    return _OF_OTHER_CASE.search(text[starts[-1] if starts else first : claim.end]) is not None


def _collect_claims(answer: MarkedAnswer, options: LabelOptions) -> list[OptionClaim]:
    """Return all claims of an answer.

    Raises:
        TooManyClaimsError: the answer repeats itself endlessly.
    """
    statements = [
        *read_after(FINAL, answer, ClaimStrength.FINAL, FINAL_ANSWER),
        *read_after(STATED, answer, ClaimStrength.ANSWER, STATED_ANSWER),
        *read_after(CONCLUSION, answer, ClaimStrength.ANSWER, STATED_ANSWER),
        *read_statements(answer),
    ]
    claims = [
        *_read_fields(answer, options),
        *_read_asked(answer, options),
        *_read_ticked(answer, options),
        *statements,
        *read_lines(answer, [], {claim.end for claim in statements}),
        *_read_pure_lines(answer, options),
        *_read_beginning(answer),
    ]
    return apply_languages(answer, claims)


def _read_sentence(answer: MarkedAnswer, options: LabelOptions) -> OptionClaim | None:
    """Read "The answer contradicts the abstract." of an answer that names no other label."""
    lower = answer.plain.lower()
    if not options.sentences or options.has_code(lower):
        return None
    claim = find_sentence(lower, options.sentences)
    if claim is None:
        return None
    for mark in options.find_marks(lower):
        is_within = claim.start <= mark.start and mark.end <= claim.end
        if mark.label != claim.option and not is_within:
            return None
    return claim


def _read_ticked(answer: MarkedAnswer, options: LabelOptions) -> Iterator[OptionClaim]:
    """Read "[x] 0 [ ] 1"."""
    lower = answer.plain.lower()
    if not may_have_box(lower):
        return
    for mark in options.find_marks(answer.plain):
        if is_ticked(lower, mark):
            yield OptionClaim(mark.label, mark.start, mark.end, ClaimStrength.FINAL, TICKED)


def _read_pure_lines(answer: MarkedAnswer, options: LabelOptions) -> Iterator[OptionClaim]:
    """Read every line that is nothing but a label, so that "0", "1" and "0" contradict each other."""
    for line in answer.lines:
        number = _NUMBER_LINE.fullmatch(answer.text, line.start, line.end)
        if number and number[1] not in options.names:
            yield OptionClaim(
                CONTRADICTION, line.start, line.end, ClaimStrength.ANSWER, WHOLE_ANSWER
            )
        sign = _SIGN_LINE.fullmatch(answer.text, line.start, line.end)
        if sign:
            label = decode(sign[1])
            yield OptionClaim(label, line.start, line.end, ClaimStrength.ANSWER, WHOLE_ANSWER)


def _read_beginning(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Read an answer that begins with a label and goes on with the reason: "Made up: the journal does not exist."."""
    begun = _BEGUN.match(answer.text)
    if begun and not is_question(answer.text, begun.end(1)):
        # A reason may begin with "True, ..."; a digit there is the label, or its number in a list.
        is_code = _CODE_SIGN.match(begun[1]) is not None
        turn = _CONDITION if is_code else _TURN
        following = _NEXT_ITEM.search(answer.text, begun.end())
        if is_code and begun[2] == "." and following:
            return  # "1." begins a list
        if not is_code and _TURN.match(answer.lower, begun.end()):
            # "True, but the journal is invented"
            yield OptionClaim(CONTRADICTION, 0, begun.end(1), ClaimStrength.PROPOSED, FIRST_LINE)
        turns = not is_code and begun[2] == "," and _TURN.search(answer.lower, begun.end())
        if not turns and not turn.match(answer.lower, begun.end()):
            strength = ClaimStrength.ANSWER if is_code else ClaimStrength.PROPOSED
            yield OptionClaim(decode(begun[1][0]), 0, begun.end(1), strength, FIRST_LINE)


def _read_fields(answer: MarkedAnswer, options: LabelOptions) -> Iterator[OptionClaim]:
    """Read '"judgement": 1', "hallucinated: true"."""
    is_json = "{" in answer.plain
    claims: list[OptionClaim] = []
    asked: set[int] = set()
    for field in _iter_fields(answer.plain.lower()):
        key = " ".join(_KEY_GAP.sub(" ", field.key).split())
        key_label = _look_up_key(key, options)
        strength = _rate_key(key, is_json=is_json)
        if key_label is None and strength is None:
            continue
        value = plain_words(field.value)
        if key_label is not None:
            asked.add(key_label)
            label = _read_reply(key_label, value, options)
        else:
            label = options.names.get(value)
        if field.has_more_values:
            label = CONTRADICTION
        if label is not None:
            strength = strength or (ClaimStrength.FINAL if is_json else ClaimStrength.ANSWER)
            claims.append(OptionClaim(label, field.start, field.end, strength, FIELD))
    # "true: 0, hallucinated: 1" explains the labels.
    if len(asked) < 2 or len({claim.option for claim in claims}) == 1:
        yield from claims


class _Field(NamedTuple):
    """A key with the beginning of its value, from `start` to `end`; the value may be the first of a list."""

    key: str
    value: str
    start: int
    end: int
    has_more_values: bool


def _iter_fields(lower: str) -> Iterator[_Field]:
    """Yield the members of all JSON objects, then the lines, cells and elements of key and value around them.

    Raises:
        TooManyClaimsError: the answer repeats itself endlessly.
    """
    around = lower
    if "{" in lower:
        try:
            objects = find_objects(lower)
        except EndlessTextError:
            raise TooManyClaimsError from None
        for found in objects:
            yield from _iter_members(found)
        around = blank_objects(lower, objects)
    for match in iter_matches(_FIELD, around):
        before_value = around[match.end("key") : match.start("value")]
        has_more_values = "[" in before_value and bool(_MORE_VALUES.match(around, match.end()))
        yield _Field(match["key"], match["value"], match.start("key"), match.end(), has_more_values)


def _iter_members(found: JsonObject) -> Iterator[_Field]:
    for member in iter_members(found):
        scalars = list(iter_scalars(member.value))
        value = _VALUE_OF_MEMBER.match(scalars[0].raw) if scalars else None
        if value is not None and len(member.key) <= _LONGEST_KEY:
            end = scalars[0].start + value.end()
            key = member.key.rstrip("?")
            yield _Field(key, value["value"], member.start, end, len(scalars) > 1)


@lru_cache(1_000)  # models repeat their keys in every answer
def _rate_key(key: str, *, is_json: bool) -> ClaimStrength | None:
    """Return how strong a field's statement is by its key; None if the key does not name the verdict."""
    if key in _KEYS_OF_MEASURE:
        return ClaimStrength.PROPOSED
    if key in _KEYS_OF_VERDICT or names_answer(key):
        is_final = is_json or key.startswith(("final", "overall"))
        return ClaimStrength.FINAL if is_final else ClaimStrength.ANSWER
    return None


@lru_cache(1_000)
def _list_forms(key: str) -> tuple[str, str, str]:
    """Return a key as it is, without the verb before it, and also without the noun after it."""
    without_verb = _KEY_PREFIX.sub("", key)
    return key, without_verb, _KEY_SUFFIX.sub("", without_verb)


def _look_up_key(key: str, options: LabelOptions) -> int | None:
    """Return the label of a key that asks whether it fits: "is_hallucinated", "hallucination detected"."""
    for words in _list_forms(key):
        label = options.names.get(words)
        if label is not None and not words.isdigit():
            return label
    return None


def _read_reply(asked: int, reply: str, options: LabelOptions) -> int | None:
    """Return the label that yes or no means: "no" is the other label, if there are two."""
    if reply in _TRUE:
        label = asked
    elif reply in _FALSE and options.count == 2:
        label = 1 - asked
    elif reply in _UNKNOWN:
        return CONTRADICTION
    else:
        return None
    # "true: 1" could mean the label 1.
    is_code = reply.isdigit() and reply in options.names
    return CONTRADICTION if is_code and options.names[reply] != label else label


def _read_asked(answer: MarkedAnswer, options: LabelOptions) -> Iterator[OptionClaim]:
    """Read "Is the answer hallucinated? False."."""
    lower = answer.plain.lower()
    if "?" not in lower:
        return
    for match in iter_matches(_ASKED, lower):
        marks = {mark.label for mark in options.find_marks(match["words"])}
        if len(marks) != 1 or re.search(r"\b(?:not|or)\b", match["words"]):
            continue
        label = _read_reply(marks.pop(), match["reply"], options)
        if label is not None:
            yield OptionClaim(label, match.start(), match.end(), ClaimStrength.ANSWER, ASKED)
