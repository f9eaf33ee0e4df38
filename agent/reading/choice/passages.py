"""Find the passages of an answer that can state its option: a short answer, the conclusion, a heading, a decision."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from agent.reading.choice import cues
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.references import SIGNS, decode
from agent.reading.choice.stated import ASKS_FOR_ONE
from agent.reading.statements import is_denied, is_qualified

_MAX_SENTENCES = 60  # a longer answer is read at its beginning and end only
_MAX_SENTENCE = 1_000  # characters
_MAX_SHORT = 2  # sentences of a short answer
_MAX_HEADING = 6  # words
_MAX_NAME = 3  # words of a sentence that can be no more than a name
_MAX_WORDS = 35  # of a sentence of a short answer
_SENTENCE = re.compile(
    r"(?:\d{1,2}[.)]\s)?[^\n]+?(?:(?<![\s(][A-Z])[.!?][)\]\"']{0,2}(?=\s+[\"'(]?(?:[A-Z0-9]|$))|(?=\n|\Z))"
)
# Who begins with a small letter begins every sentence so.
_CASUAL_SENTENCE = re.compile(
    r"(?:\d{1,2}[.)]\s)?[^\n]+?(?:(?<=[a-z0-9)]{3})(?<!\bneg)(?<!\bpos)[.!?][)\]\"']{0,2}(?=\s|$)|(?=\n|\Z))"
)
_LIST_MARK = re.compile(r"\s?(?:\d{1,2}[.)]|[-•])(?:\s|$)")
# What begins a sentence about the options that are not the answer.
_ON_OTHERS = re.compile(
    r"(?:regarding|as\s(?:for|to)|about|of)\sthe\s(?:others?|rest|distractors)\b|the\s(?:others?|rest|distractors)\b"
    r"|(?:in\scontrast|by\scontrast|unlike|whereas)\b"
)
_NOT = re.compile(r"\b(?:not|no|never|nor|neither)\b|n't\b")
_SIGN = re.compile(f"[{SIGNS}]")
# "User: I would give heparin." is what somebody else says.
_OTHER_SPEAKER = re.compile(
    r"^(?:user|human|student|patient|question|q)\s?:", re.IGNORECASE | re.MULTILINE
)
# Sentences that belong to no answer.
_POLITE = re.compile(
    r"""
    i\shope | hope\sthis | let\sme\sknow | please | good\sluck | thanks?\b | feel\sfree | (?:great|good)\squestion
    | sure\b | disclaimer | would\syou\slike | do\syou\swant | note\sthat | remember | always | consult | if\syou
    | (?:this|the\sabove)\s(?:is|information|content)\b[^.]{0,30}\b(?:educational|medical\sadvice|substitute)
    | (?:my\s)?confidence | confident | as\san\sai | i(?:'m|\sam)\s(?:not\s)?an?\s
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What announces a conclusion; what follows is read.
_CONCLUDES = re.compile(
    r"(?<![\w'] )(?:(?:so|thus|hence|therefore|consequently|accordingly|overall|anatomically|clinically)\b"
    r"|in\s(?:other\swords|conclusion|summary|short|the\send|sum)\b|to\s(?:conclude|sum\sup)\b|all\sin\sall\b|on\sbalance\b"
    r"|taken\stogether\b|bottom\sline\b|(?:which|that)(?:'s|\sis)\swhy\b|(?:which|that|this)\s(?:leaves|makes|fits)\b|leaving\b"
    r"|(?:this|that|it)\s(?:points\sto|corresponds\sto|suggests|indicates|means|is)\b"
    r"|(?:i'd|i\swould)\s(?:\w{1,12}\s)?(?:answer|say|choose|pick|go\swith)\b"
    r"|(?:the\s)?(?:answer|diagnosis|conclusion|response)\s(?:here\s)?(?:is|would\sbe|must\sbe|:))",
    re.IGNORECASE,
)
# "The tooth that most often needs it is ...": what follows is read strictly.
_COPULA = re.compile(
    r"\b(?:is|are|was|were|would\sbe|must\sbe)"
    r"(?:\s(?:of\scourse|simply|just|precisely|exactly|clearly|therefore|thus|none\sother\sthan|called|known\sas)\b,?){0,2}"
    r"\s(?:the|an?)?"
)
_OWN_DECISION = re.compile(r"\bmy\b|\bwins\b|\bwinner\b")
_MAX_COPULAS = 5
# "The hormone that fat cells make is ..." defines the option, "The other one is ..." another.
_DEFINED = re.compile(
    r"(?:(?:so|thus|therefore|hence|and|overall),?\s)?(?:the|this|that|it|what)\b"
)
_OTHER_SUBJECT = re.compile(
    r"\b(?:next|least|rarest|less|rare|rarely|another|further|also|other|second|alternative|closest|runner-?up|mistake"
    r"|exam\w*|history|wrong|false|incorrect)\b"
)


# "Dx → ...", "Plan: ...", "Next step: ...": what follows is read.
_LABEL = re.compile(
    r"(?:(?:my|the|final|working|most\slikely|best)\s){0,2}"
    r"(?:dx|diagnosis|rx|tx|treatment|plan|impression|assessment|verdict|pick|choice|winner|conclusion|bottom\sline|take-home|(?:next|first|initial|best)\s(?:next\s)?(?:step|test|move|action))\s?(?::|->|→|=>|=|\s-\s)\s?"
)
_MAX_LABELLED = 8  # words behind a label


# "Final answer" above the last line
_HEADING = re.compile(
    r"\W{0,3}(?:(?:my|the)\s)?(?:final|overall)\s(?:answer|choice|pick|verdict|decision|conclusion|diagnosis)\W{0,3}"
)


class Passage(NamedTuple):
    """A part of an answer that may state the option.

    Attributes:
        start: its position.
        end: its end.
        is_strict: whether all of its words must be the option's, unless it has the option's whole text.
        is_exact: whether all of its words must be the option's even then.
        is_decision: whether it stands beside words of choice, so that a word of one option is enough.
    """

    start: int
    end: int
    is_strict: bool = False
    is_exact: bool = False
    is_decision: bool = False


def find_passages(answer: MarkedAnswer) -> Iterator[Passage]:
    """Yield the passages that can state the option of an answer."""
    sentences = _find_sentences(answer)
    if not sentences:
        return
    is_dialogue = _OTHER_SPEAKER.search(answer.plain) is not None
    if len(sentences) <= _MAX_SHORT and not is_dialogue:
        yield from _find_short_passages(answer, sentences)
        yield from _find_conclusion(answer, *sentences[-1])
    elif not answer.options.has_summary:
        yield from _find_heading(answer, sentences[0])
        for start, end in (sentences[0], sentences[-1]):
            yield from _find_predicate(answer, start, end)
        yield from _find_definition(answer, *sentences[-1])
        yield from _find_conclusion(answer, *sentences[-1])
    yield from _find_last_line(answer)
    yield from _find_labelled(answer, sentences)
    yield from _find_choices(answer, sentences)
    yield from _find_actions(answer, sentences)
    yield from _find_subjects(answer, sentences)


def _find_heading(answer: MarkedAnswer, sentence: tuple[int, int]) -> Iterator[Passage]:
    """Yield a first sentence that is a few words and no item of a list."""
    is_item = _LIST_MARK.match(answer.plain, answer.lines[0].start) is not None
    if not is_item and _count_words(answer, *sentence) <= _MAX_HEADING:
        yield Passage(*sentence, is_exact=True)


def _find_last_line(answer: MarkedAnswer) -> Iterator[Passage]:
    """Yield a last line that is a few words below a sentence, so that it is no item of a list."""
    if len(answer.lines) < 2:
        return
    previous, last = answer.lines[-2], answer.lines[-1]
    is_below_prose = _HEADING.fullmatch(answer.lower, previous.start, previous.end) or (
        answer.plain[previous.end - 1] in ".!?:" and _count_words(answer, *previous) > 3
    )
    is_item = _LIST_MARK.match(answer.plain, last.start) is not None
    if is_below_prose and not is_item and _count_words(answer, *last) <= _MAX_HEADING:
        yield Passage(*last, is_exact=True)


def ends_with_label(answer: MarkedAnswer) -> bool:
    """Return whether the last line is a tick or label and what follows it, without a full stop: "Dx → stenosis"."""
    last = answer.lines[-1] if answer.lines else None
    if last is None:
        return False
    return answer.text.startswith("✓", last.start) or bool(_LABEL.match(answer.lower, last.start))


def _find_labelled(answer: MarkedAnswer, sentences: list[tuple[int, int]]) -> Iterator[Passage]:
    """Yield the words after "Dx →" or "Next step:" in the last sentences, or in the first."""
    for start, end in {*sentences[:1], *sentences[-2:]}:
        label = _LABEL.match(answer.lower, start, end)
        if label and _count_words(answer, label.end(), end) <= _MAX_LABELLED:
            yield Passage(label.end(), end)


def _find_predicate(answer: MarkedAnswer, start: int, end: int) -> Iterator[Passage]:
    """Yield the words after "The most likely cause is"."""
    copula = _COPULA.search(answer.lower, start, end)
    if (
        copula
        and ASKS_FOR_ONE.search(answer.lower, start, copula.start())
        and not is_denied(answer.text, copula.start())
    ):
        yield Passage(copula.end(), end, is_strict=True)


def _find_definition(answer: MarkedAnswer, start: int, end: int) -> Iterator[Passage]:
    """Yield the words after "The hormone that is made by fat cells is of course"."""
    if not _DEFINED.match(answer.lower, start, end):
        return
    for copula in islice(_COPULA.finditer(answer.lower, start, end), _MAX_COPULAS):
        is_other = _OTHER_SUBJECT.search(answer.lower, start, copula.start())
        mentions = answer.options.words.mentions(answer.plain[start : copula.start()])
        if is_other or mentions or is_denied(answer.text, copula.start()):
            return
        yield Passage(copula.end(), end, is_exact=True)


def _find_conclusion(answer: MarkedAnswer, start: int, end: int) -> Iterator[Passage]:
    conclusions = list(_CONCLUDES.finditer(answer.lower, start, end))
    if conclusions:
        yield Passage(conclusions[-1].end(), end)


def _find_choices(answer: MarkedAnswer, sentences: list[tuple[int, int]]) -> Iterator[Passage]:
    """Yield the words after "I would choose" in the last sentences."""
    for cue in (cues.FINAL, cues.STATED, cues.CHOSEN):
        for start, end in sentences[-3:]:
            match = cue.search(answer.lower, start, end)
            if match and not is_denied(answer.text, match.start()):
                yield Passage(match.end(), end, is_decision=cue is cues.CHOSEN)


def _find_actions(answer: MarkedAnswer, sentences: list[tuple[int, int]]) -> Iterator[Passage]:
    """Yield the words after "I would give" in the first or the last sentences."""
    for start, end in sentences[:1] + sentences[1:][-3:]:
        action = cues.ACTION.search(answer.lower, start, end)
        if action and not is_denied(answer.text, action.start()):
            yield Passage(action.end(), end)


def _find_subjects(answer: MarkedAnswer, sentences: list[tuple[int, int]]) -> Iterator[Passage]:
    """Yield the words before "gets my vote" in the last sentences."""
    for start, end in sentences[-3:]:
        decision = cues.DECIDED.search(answer.lower, start, end)
        if decision is None or is_qualified(answer.text, decision.end()):
            continue
        clause = max(start, answer.find_clause_start(decision.start()))
        is_own = _OWN_DECISION.search(decision[0]) is not None
        yield Passage(clause, decision.start(), is_strict=not is_own, is_decision=is_own)


def _find_short_passages(
    answer: MarkedAnswer, sentences: list[tuple[int, int]]
) -> Iterator[Passage]:
    """Yield the sentences of a short answer that have words of an option; a long second one makes it unclear."""
    mentioning = [
        (start, end)
        for start, end in sentences
        if answer.options.words.mentions(answer.plain[start:end])
        or _SIGN.search(answer.text, start, end)
    ]
    if not mentioning:
        mentioning = sentences[:1]
    for start, end in _drop_unclear(answer, mentioning):
        if _count_words(answer, start, end) <= _MAX_WORDS:
            yield Passage(start, end)
        if _count_words(answer, start, end) <= _MAX_NAME:
            break


def _drop_unclear(answer: MarkedAnswer, sentences: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the sentences; none if two speak of different options and the first is neither a name nor a denial.

    "I would give heparin if the clot spreads. Warfarin is slow." does not choose warfarin.
    """
    if len(sentences) < 2:
        return sentences
    (start, end), second = sentences
    others = _list_options(answer, start, end) - _list_options(answer, *second)
    is_denial = cues.WRONG.search(answer.lower, start, end) or _NOT.search(answer.lower, start, end)
    if is_denial or not others:
        return sentences
    if _ON_OTHERS.match(answer.lower, second[0]):
        return sentences[:1]
    return sentences[:1] if _is_name(answer, start, end) else []


def _is_name(answer: MarkedAnswer, start: int, end: int) -> bool:
    """Return whether a sentence is no more than a name: "Heparin.", but not "Heparin takes days."."""
    if _count_words(answer, start, end) > _MAX_NAME:
        return False
    named = frozenset(decode(sign) for sign in _SIGN.findall(answer.text, start, end))
    text = answer.plain[start:end]
    return answer.options.words.find_option(text, named, is_exact=True) is not None


def _list_options(answer: MarkedAnswer, start: int, end: int) -> set[int]:
    """Return the options that a part of an answer mentions by text or by words."""
    named = {decode(sign) for sign in _SIGN.findall(answer.text, start, end)}
    return named | answer.options.words.list_mentioned(answer.plain[start:end])


def _count_words(answer: MarkedAnswer, start: int, end: int) -> int:
    return len(answer.plain[start:end].split())


def _find_sentences(answer: MarkedAnswer) -> list[tuple[int, int]]:
    """Return the positions of the sentences, without those that only say "I hope this helps"."""
    sentences: list[tuple[int, int]] = []
    pattern = _CASUAL_SENTENCE if answer.plain[:1].islower() else _SENTENCE
    for line in (
        answer.lines[: _MAX_SENTENCES // 2]
        + answer.lines[_MAX_SENTENCES // 2 :][-_MAX_SENTENCES // 2 :]
    ):
        if _OTHER_SPEAKER.match(answer.plain, line.start):
            continue
        for match in pattern.finditer(answer.plain, line.start, line.end):
            mark = _LIST_MARK.match(match[0])
            words = match[0][mark.end() if mark else 0 :].strip()
            if words and len(words) <= _MAX_SENTENCE and not _POLITE.match(words):
                start = answer.plain.index(words, match.start())
                sentences.append((start, start + len(words)))
    return sentences
