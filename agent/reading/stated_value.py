"""Decide which of the values that a plain text mentions it states as its result. Pure.

The rules are tried in the order of their names below. The first that applies decides: if what it points at is not a
single clear value, the text states none.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Generic

from agent.reading import result_words
from agent.reading.asked_value import ClaimReader, ValueClaim, choose_claim, is_count, is_plausible
from agent.reading.mentions import Mention, Mentions, V
from agent.reading.only_value import find_only_value
from agent.reading.other_results import OtherResults
from agent.reading.quantity import Quantity
from agent.reading.recounts import find_recounted
from agent.reading.rival_values import RivalValues
from agent.reading.sentence_value import (
    SentenceReader,
    Statement,
    Strength,
    adds_up,
    are_close,
    are_same,
    differ_by_a_thousand,
)
from agent.reading.statements import find_last_retraction, is_denied, is_taken_back
from agent.reading.value_fields import ValueField, choose_likely_fields, list_value_fields

JSON_FIELD = "JSON field"
WHOLE_ANSWER = "whole answer"
BOXED = "LaTeX box"
FINAL_ANSWER = "final answer"
LAST_STATEMENT = "last statement"
FIRST_LINE = "first line"
ASKED = "quantity asked for"

_MAX_CUES = 50  # "answer:" is looked for in the last of them
_MAX_PASSAGE = 1_000  # characters behind a cue
_MAX_PARTS = 50  # lines that may add up to a total
_WORDS_OF_UNIT = 4  # that may follow a value at the end of a text without a full stop
_LONGEST_LAST_WORD = 12
_MAX_SENTENCES = 200  # before the last statement, among which a marked result is looked for
_LONGEST_LAST_SENTENCE = (
    10  # words without digits in a sentence without a full stop behind others with one
)
_REACH_OF_HEDGE = 80  # characters before a value
_MAX_ANSWER = 20_000  # characters; a longer answer is an endless repetition, and its claims are not looked for
_MAX_COMMENTS = 12  # sentences at the end of a text
_EXPLICIT = frozenset((JSON_FIELD, BOXED, FINAL_ANSWER))
_NEAR_CUE = 40  # characters between "answer:" and a value that it must mean


@dataclass(frozen=True, slots=True)
class Choice(Generic[V]):
    """The mention that a text states as its value, and the name of the rule that says so."""

    mention: Mention[V]
    rule: str


def choose(
    text: str,
    find_mentions: Callable[[str], Mentions[V]],
    quantity: Quantity | None = None,
) -> Choice[V] | None:
    """Return the mention that the text states as its value, and the rule that says so.

    If the quantity that the question asks for is known, a value that the text states for it comes before a value of
    another quantity.
    """
    mentions = find_mentions(text)
    if mentions.only:
        return Choice(mentions.only, WHOLE_ANSWER)
    continuation = result_words.CONTINUATION.search(text, 1)
    if continuation:
        # The model has answered and invents the next question.
        before = text[: continuation.start()].rstrip()
        choice = choose(before, find_mentions, quantity) if before else None
        if choice and _answers_again(text[continuation.start() :], choice, find_mentions, quantity):
            return None
        return choice
    recounted = find_recounted(text, mentions, quantity)
    if recounted is not None:
        return Choice(recounted, LAST_STATEMENT)
    if quantity is None or len(text) > _MAX_ANSWER:
        choice = _Reader(text, mentions).choose()
    else:
        choice = _choose_asked(text, mentions, find_mentions, quantity)
    if choice is None or _is_hedge(text, mentions, choice.mention):
        return None
    if _is_hedged_behind(text, mentions, choice.mention):
        return None
    is_explicit = choice.rule in _EXPLICIT
    others = OtherResults(text, mentions, choice.mention, quantity)
    rivals = RivalValues(text, mentions, choice.mention, quantity)
    if others.exist(is_explicit=is_explicit) or rivals.exist(is_explicit=is_explicit):
        return None
    return replace(choice, mention=rivals.follow_restated())


def _answers_again(
    text: str,
    choice: Choice[V],
    find_mentions: Callable[[str], Mentions[V]],
    quantity: Quantity | None,
) -> bool:
    """Return whether a text that follows an answer asks the same question again and gives another value.

    A run of further questions is none of this: a base model goes on with examples.
    """
    if quantity is None or len(text) > _MAX_ANSWER:
        return False
    question = result_words.ASKED_AGAIN.match(text)
    if question is None or result_words.OTHER_PATIENT.search(text):
        return False
    if result_words.CONTINUATION.search(text, question.end() - 1):
        return False
    names = quantity.find_names(question[0])
    if not any(name.is_asked for name in names):
        return False
    again = choose(text[question.end() :], find_mentions, quantity)
    return again is not None and not are_close(again.mention.value, choice.mention.value)


def _is_hedge(text: str, mentions: Mentions[V], mention: Mention[V]) -> bool:
    """Return whether a value is only thought possible beside another one: the 30 of "probably 25, but could be 30"."""
    turn = result_words.COULD_BE_INSTEAD.search(
        text, max(0, mention.start - _REACH_OF_HEDGE), mention.start
    )
    if turn is None:
        return False
    line_start = text.rfind("\n", 0, turn.start()) + 1
    return bool(mentions.list_between(line_start, turn.start()))


def _is_hedged_behind(text: str, mentions: Mentions[V], mention: Mention[V]) -> bool:
    """Return whether another value is called possible behind a value: "25. It could be 30."."""
    for turn in result_words.COULD_BE_TOO.finditer(text, mention.end):
        others = mentions.list_between(turn.end(), turn.end() + 2)
        if not others or are_close(others[0].value, mention.value):
            continue
        stop = result_words.SENTENCE_END.search(text, others[0].end)
        rest = text[others[0].end : stop.start() if stop else len(text)]
        if not result_words.CONDITION.search(rest):
            return True
    return False


def _choose_asked(
    text: str,
    mentions: Mentions[V],
    find_mentions: Callable[[str], Mentions[V]],
    quantity: Quantity,
) -> Choice[V] | None:
    """Return the value of the quantity asked for; comments on other cases and quantities at the end do not count."""
    reader = _Reader(text, mentions, quantity)
    choice = reader.weigh_claims(reader.choose(), quantity)
    if choice:
        return choice
    end = reader.find_last_comments(quantity)
    if end == 0 or end >= len(text):
        return None
    before = text[:end].rstrip()
    shorter = _Reader(before, find_mentions(before), quantity)
    return shorter.weigh_claims(shorter.choose(), quantity)


class _Reader(Generic[V]):
    """Decides which of the mentions in a plain text is its value."""

    def __init__(self, text: str, mentions: Mentions[V], quantity: Quantity | None = None) -> None:
        self._text = text
        self._mentions = mentions
        self._quantity = quantity
        self._sentences = SentenceReader(text, mentions)

    def choose(self) -> Choice[V] | None:
        fields = list_value_fields(self._text)
        if fields:
            return self._choose_field(fields, self._quantity)
        if "\\boxed" in self._text:
            for box in reversed(list(result_words.BOXED.finditer(self._text))):
                if self._mentions.list_between(box.start(1), box.end(1)):
                    return self._choose_boxed(*box.span(1))
        only_sentence = self._get_only_sentence()
        if only_sentence:
            choice = self._choose_only_sentence(*only_sentence)
            if choice is None or not self._is_cut_off(choice.mention):
                return choice
        is_decided, choice = self._choose_cued()
        if is_decided:
            return choice
        return None if only_sentence else self._choose_statement()

    def weigh_claims(self, choice: Choice[V] | None, quantity: Quantity) -> Choice[V] | None:
        """Return the value stated for the quantity asked for, or the choice; None if they contradict each other."""
        reader = ClaimReader(self._text, self._mentions, self._sentences, quantity)
        claims = reader.list_claims()
        if choice and choice.rule == JSON_FIELD:
            claims = self._drop_claims_of_other_fields(claims)
        if choice and self._is_other_kind(choice, quantity):
            choice = None
        claim = choose_claim(claims, self._text, self._mentions)
        if choice is None:
            if claim:
                return self._accept_claim(claim, reader)
            return self._choose_by_kind(quantity, reader) if not claims else None
        if choice.rule not in _EXPLICIT and not claims:
            span = self._find_sentence(choice.mention)
            is_whole = choice.rule == WHOLE_ANSWER
            if reader.is_ruled_out(choice.mention, span[0]):
                return None
            if reader.is_named_with_other_value_behind(choice.mention, span[1]):
                return None
            return None if not is_whole and self._is_comment(span, quantity, reader) else choice
        if not claims or self._agree(choice.mention, claims[-1].mention):
            return choice
        is_behind = choice.mention.start > claims[-1].mention.start
        if choice.rule in _EXPLICIT or claim is None:
            return choice if is_behind else None
        is_beside = claim.sentence[0] <= choice.mention.start < claim.sentence[1]
        if not is_behind or is_beside or self._is_stated_for_other(choice.mention, reader):
            return self._accept_claim(claim, reader)
        statement = self._sentences.read(*self._find_sentence(choice.mention))
        return choice if statement and statement.strength > Strength.WEAK else None

    def _drop_claims_of_other_fields(self, claims: list[ValueClaim[V]]) -> list[ValueClaim[V]]:
        """Drop the claims whose value is that of a field beside the answer: "MME", "version": "2022"."""
        beside: list[ValueField] = []
        for field in list_value_fields(self._text):
            is_prose = " " in self._text[field.start : field.end]
            if not is_prose and not field.may_be_answer:
                beside.append(field)
        kept: list[ValueClaim[V]] = []
        for claim in claims:
            if not any(field.start <= claim.mention.start < field.end for field in beside):
                kept.append(claim)
        return kept

    def find_last_comments(self, quantity: Quantity) -> int:
        """Return where the comments on other cases, units and quantities begin that end the text."""
        end = len(self._text)
        if self._is_open(0, end):
            return end
        reader = ClaimReader(self._text, self._mentions, self._sentences, quantity)
        sentences = self._iter_sentences_from_end(0, end)
        for span in itertools.islice(sentences, _MAX_COMMENTS):
            has_values = self._mentions.list_between(*span)
            if has_values and not self._is_comment(span, quantity, reader):
                return end
            if has_values:
                end = span[0]
        return end

    def _is_comment(
        self, span: tuple[int, int], quantity: Quantity, reader: ClaimReader[V]
    ) -> bool:
        """Return whether a sentence is about another case, method, unit or quantity than the one asked for."""
        if find_last_retraction(self._text[span[0] : span[1]]) is not None:
            return False
        if reader.names_only_others(*span) or self._has_only_other_units(span, quantity):
            return True
        if result_words.FINALLY.search(self._text, *span):
            return False
        return reader.is_about_other_case(*span)

    def _has_only_other_units(self, span: tuple[int, int], quantity: Quantity) -> bool:
        asked = quantity.unit
        if asked is None and not is_count(quantity):
            return False
        for mention in self._mentions.list_between(*span):
            unit = result_words.MEASURE.match(self._text, mention.end)
            if self._sentences.is_bound(mention):
                continue
            if unit is None or (asked and asked.match(self._text, mention.end)):
                return False
        return True

    def _is_other_kind(self, choice: Choice[V], quantity: Quantity) -> bool:
        """Return whether a value cannot be the quantity: points that are a percentage, or another unit."""
        if not is_plausible(choice.mention.value, quantity):
            return True
        if is_count(quantity) and result_words.PERCENT.match(self._text, choice.mention.end):
            return True
        return choice.rule not in _EXPLICIT and self._is_in_other_unit(choice, quantity)

    def _is_in_other_unit(self, choice: Choice[V], quantity: Quantity) -> bool:
        """Return whether a value has another unit than the one asked for, in which the text states another value."""
        unit = quantity.unit
        measure = result_words.MEASURE.match(self._text, choice.mention.end)
        if unit is None or measure is None or unit.match(self._text, choice.mention.end):
            return False
        for mention in self._mentions.list_between(0, len(self._text)):
            if unit.match(self._text, mention.end) and not differ_by_a_thousand(
                mention.value, choice.mention.value
            ):
                return True
        return False

    def _is_stated_for_other(self, mention: Mention[V], reader: ClaimReader[V]) -> bool:
        start, _ = self._find_sentence(mention)
        return reader.is_of_other_quantity(mention, start)

    def _accept_claim(self, claim: ValueClaim[V], reader: ClaimReader[V]) -> Choice[V] | None:
        """Return the value that is claimed, unless the text takes it back, leaves it open or states another result."""
        mention = claim.mention
        if is_taken_back(self._text, mention.end):
            return None
        is_last = claim.sentence[1] >= len(self._text.rstrip())
        if is_last and self._is_cut_off(mention):
            return None
        if self._is_left_open(claim) or self._is_contradicted_elsewhere(claim, reader):
            return None
        return Choice(mention, ASKED)

    def _choose_by_kind(self, quantity: Quantity, reader: ClaimReader[V]) -> Choice[V] | None:
        """Return the only value of the kind that the question asks for, or a running total, or "none" as zero."""
        if result_words.REFUSAL.search(self._text) or result_words.ASKS_BACK.search(self._text):
            return None
        if result_words.ALTERNATIVE.search(self._text):
            return None
        mention = find_only_value(self._text, self._mentions, self._sentences, quantity)
        if mention and reader.is_ruled_out(mention, self._find_sentence(mention)[0]):
            return None
        if result_words.NOT_STATED.search(self._text):
            return None
        if mention is None or is_taken_back(self._text, mention.end):
            return None
        return Choice(mention, ASKED)

    def _is_left_open(self, claim: ValueClaim[V]) -> bool:
        """Return whether the text refuses, asks back, or offers another value beside the claim or after it."""
        text = self._text
        if result_words.REFUSAL.search(text) or result_words.ASKS_BACK.search(text):
            return True
        alternative = result_words.ALTERNATIVE.search(text, claim.sentence[0])
        while alternative and alternative[0].lower() == "pending":
            alternative = result_words.ALTERNATIVE.search(text, alternative.end())
        return alternative is not None

    def _is_contradicted_elsewhere(self, claim: ValueClaim[V], reader: ClaimReader[V]) -> bool:
        """Return whether another sentence calls another value the score, total, result or answer."""
        counts = reader.counts
        sentences = itertools.islice(
            self._iter_sentences_from_end(0, len(self._text)), _MAX_SENTENCES
        )
        for start, end in sentences:
            statement = self._sentences.read(start, end)
            if statement is None or statement.mention is None:
                continue
            is_addition = counts and result_words.ADDITION.search(self._text, start, end)
            if not statement.is_named and not is_addition:
                continue
            if statement.is_aside or statement.is_risk:
                continue
            if self._agree(statement.mention, claim.mention):
                continue
            if reader.is_of_other_quantity(statement.mention, start):
                continue
            if claim.sentence[0] <= statement.mention.start < claim.sentence[1]:
                continue
            return True
        return False

    def _choose_field(
        self, fields: list[ValueField], quantity: Quantity | None
    ) -> Choice[V] | None:
        """Return the value of the only field that may be the answer."""
        named = [field for field in fields if field.names_answer]
        likely = named or choose_likely_fields(fields, quantity)
        statements: list[Statement[V]] = []
        for field in likely:
            statement = self._sentences.read(field.start, field.end)
            if statement:
                statements.append(statement)
        if len(statements) == 1:
            before = self._find_last_result(0, fields[0].object_start)
            if before and not self._agree(before.mention, statements[0].mention):
                return None
            return self._accept(statements[0], JSON_FIELD)
        # {"weeks": 10, "days": 3}
        mentions = self._mentions.list_between(fields[0].key_start, fields[-1].end)
        if not named and len(mentions) == 1 and mentions[0].start < fields[0].start:
            return Choice(mentions[0], JSON_FIELD)
        return None

    def _choose_boxed(self, start: int, end: int) -> Choice[V] | None:
        """Return the value in a LaTeX box, which may be a fraction of two numbers."""
        fraction = result_words.FRACTION.fullmatch(self._text, start, end)
        if fraction is None or not float(fraction[2]):
            return self._accept(self._sentences.read(start, end), BOXED)
        value = float(fraction[1]) / float(fraction[2])
        mention = self._mentions.make_number(value, start, end)
        return self._accept(Statement(mention, Strength.ALONE), BOXED)

    def _accept(self, statement: Statement[V] | None, rule: str) -> Choice[V] | None:
        if statement is None or statement.mention is None:
            return None
        if rule == WHOLE_ANSWER and self._is_open(0, len(self._text)):
            return None
        if is_taken_back(self._text, statement.mention.end):
            return None
        return Choice(statement.mention, rule)

    def _split_sentences(self, start: int, end: int) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for match in result_words.SENTENCE_END.finditer(self._text, start, end):
            spans.append((start, match.end()))
            start = match.end()
        spans.append((start, end))
        return [span for span in spans if self._text[span[0] : span[1]].strip()]

    def _choose_only_sentence(self, start: int, end: int) -> Choice[V] | None:
        mentions = self._mentions.list_between(start, end)
        if not mentions or result_words.OTHER_DATE.match(self._text):
            return None
        sentence = self._text[start:end]
        is_input = result_words.INPUT.match(sentence) and not result_words.EQUALS.search(sentence)
        if is_input and not result_words.LEADS_TO.search(sentence):
            return None
        first = mentions[0]
        if result_words.OF_A_SCORE.search(sentence):
            return None
        if any(mention.value != first.value for mention in mentions):
            return self._accept(self._sentences.read(start, end), WHOLE_ANSWER)
        if (
            first.value is None
            or self._sentences.is_bound(first)
            or self._sentences.is_denied(first)
        ):
            return None
        if first.end < end and self._sentences.is_operand(first):
            return None
        return self._accept(Statement(first, Strength.WEAK), WHOLE_ANSWER)

    def _get_only_sentence(self) -> tuple[int, int] | None:
        """Return the span of the text if it is a single sentence."""
        text = self._text
        start = self._skip_blank(0)
        end = len(text.rstrip())
        if text.find("\n", start, end) >= 0:
            return None
        sentences = self._split_sentences(start, end)
        return sentences[0] if len(sentences) == 1 else None

    def _iter_sentences_from_end(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        while end > start:
            line_start = max(start, self._text.rfind("\n", 0, end - 1) + 1)
            if end > line_start:
                yield from reversed(self._split_sentences(line_start, end))
            end = line_start

    def _choose_cued(self) -> tuple[bool, Choice[V] | None]:
        """Return whether the last "answer:" decides, and the value that it states."""
        text = self._text
        for cue in itertools.islice(self._iter_cues_from_end(), _MAX_CUES):
            if is_denied(text, cue.start()):
                return True, None
            line_start = text.rfind("\n", 0, cue.start()) + 1
            if result_words.OF_THE_SCALE.search(text, max(line_start, cue.start() - 20), cue.end()):
                continue
            start = cue.end()
            end = self._find_line_end(start)
            if not re.search(r"\w", text[start:end]):
                start = self._skip_blank(end)
                end = self._find_line_end(start)
            sentences = self._split_sentences(start, min(end, start + _MAX_PASSAGE))
            if not sentences and not text[end:].strip(" \n*_`"):
                return True, None  # the answer breaks off before it states one
            mentions = self._mentions.list_between(*sentences[0]) if sentences else []
            if not mentions:
                continue
            if result_words.UNKNOWN.match(text, start):
                return True, None
            if result_words.INPUT.match(text[start:end]):
                continue
            statement = self._sentences.read(*sentences[0])
            if statement is None or statement.mention is None:
                if mentions[0].start - start > _NEAR_CUE:
                    continue
                return True, None
            if is_taken_back(text, statement.mention.end):
                return False, None
            if self._is_contradicted(statement.mention, cue.start()):
                return True, None
            if self._repeats_cue(cue[0], line_start, statement.mention):
                return True, None
            return True, Choice(statement.mention, FINAL_ANSWER)
        return False, None

    def _iter_cues_from_end(self) -> Iterator[re.Match[str]]:
        lowered = self._text.lower()
        if not any(map(lowered.__contains__, result_words.CUE_WORDS)):
            return
        end = len(self._text)
        while end > 0:
            start = self._text.rfind("\n", 0, end - 1) + 1
            line = self._text[start:end].lower()
            if any(map(line.__contains__, result_words.CUE_WORDS)):
                yield from reversed(list(result_words.CUE.finditer(self._text, start, end)))
            end = start

    def _repeats_cue(self, cue: str, line_start: int, mention: Mention[V]) -> bool:
        """Return whether the line before has the same cue and another value: "Answer: 5.31", "Answer: 5.3"."""
        start = self._text.rfind("\n", 0, max(0, line_start - 1)) + 1
        line = self._text[start:line_start]
        if not line.lower().strip(" *#>").startswith(cue.lower().strip()):
            return False
        values = self._mentions.list_between(start, line_start)
        return len(values) == 1 and not are_same(values[0].value, mention.value)

    def _is_contradicted(self, mention: Mention[V], cue_start: int) -> bool:
        """Return whether the last result before "answer:", or the last of the text, is called a result and differs."""
        before = self._find_last_result(0, cue_start)
        if before and before.is_named and not self._agree(before.mention, mention):
            return find_last_retraction(self._text[:cue_start]) is None
        after = self._find_last_result(mention.end, len(self._text))
        return after is not None and after.is_named and not self._agree(after.mention, mention)

    def _agree(self, mention: Mention[V] | None, other: Mention[V] | None) -> bool:
        """Return whether two values are the same, rounded or not, as a fraction or in percent."""
        if mention is None or other is None:
            return True
        value, second = mention.value, other.value
        if are_close(value, second):
            return True
        if not isinstance(value, float) or not isinstance(second, float):
            return False
        return are_close(value * 100, second) or are_close(second * 100, value)

    def _find_line_end(self, start: int) -> int:
        end = self._text.find("\n", start)
        return len(self._text) if end < 0 else end

    def _skip_blank(self, start: int) -> int:
        while start < len(self._text) and self._text[start].isspace():
            start += 1
        return start

    def _choose_statement(self) -> Choice[V] | None:
        """Return the last stated result, or the first line if that is a value alone."""
        last = self._find_last_result(0, len(self._text))
        first = self._read_first_line()
        if first is None or first.mention is None:
            if last is None or last.mention is None:
                return None
            if self._is_cut_off(last.mention) and not self._is_repeated():
                return None
            return self._accept(self._prefer_marked(last), LAST_STATEMENT)
        if last is None or last.mention is None or last.strength < Strength.CONCLUSION:
            return self._accept(first, FIRST_LINE)
        if not are_close(first.mention.value, last.mention.value):
            return None
        return self._accept(last, FIRST_LINE if last.mention == first.mention else LAST_STATEMENT)

    def _prefer_marked(self, last: Statement[V]) -> Statement[V] | None:
        """Return the result that is marked as one before a plain last statement of something else; None if unclear."""
        if last.mention is None or last.strength >= Strength.CONCLUSION:
            return last
        start, end = self._find_sentence(last.mention)
        marked = self._find_marked_result(start)
        if marked is None or marked.mention is None or self._agree(marked.mention, last.mention):
            return last
        used = self._mentions.list_between(marked.mention.end, end)
        if any(are_close(marked.mention.value, mention.value) for mention in used):
            return last  # the marked result was a step
        if is_taken_back(self._text, marked.mention.end):
            return last
        if result_words.OTHER_QUANTITY.search(self._text, start, end):
            return marked
        marked_start, _ = self._find_sentence(marked.mention)
        is_step = result_words.BODY_SIZE.search(self._text, marked_start, marked.mention.start)
        return last if is_step else None

    def _find_sentence(self, mention: Mention[V]) -> tuple[int, int]:
        """Return the span of the sentence in which a mention stands."""
        line_start = self._text.rfind("\n", 0, mention.start) + 1
        sentences = self._split_sentences(line_start, self._find_line_end(mention.start))
        return next(span for span in sentences if mention.start < span[1])

    def _find_marked_result(self, end: int) -> Statement[V] | None:
        """Return the last statement that draws a conclusion, or is a paragraph "label: value"."""
        sentences = itertools.islice(self._iter_sentences_from_end(0, end), _MAX_SENTENCES)
        for start, sentence_end in sentences:
            statement = self._sentences.read(start, sentence_end)
            if statement is None or statement.mention is None:
                continue
            if statement.is_aside or statement.is_risk:
                continue
            is_final = statement.is_named or result_words.FINALLY.search(
                self._text, start, statement.mention.start
            )
            if statement.strength >= Strength.CONCLUSION and is_final:
                return statement
            is_equation = statement.strength == Strength.EQUATION
            if not is_equation and self._is_paragraph(start, sentence_end):
                return statement
        return None

    def _is_paragraph(self, start: int, end: int) -> bool:
        """Return whether a sentence "label: value" is a paragraph."""
        text = self._text
        is_first = start == 0 or text.startswith("\n\n", start - 2)
        is_last = "\n\n" in text[max(start, end - 2) : end + 1]
        if not is_first or not is_last or not result_words.LABEL.match(text, start, end):
            return False
        if result_words.STEP.match(text, start):
            return False
        return result_words.INPUT.match(text[start:end]) is None

    def _is_cut_off(self, stated: Mention[V]) -> bool:
        """Return whether the text ends within a sentence or line, as answers do that reach the limit of tokens."""
        text = result_words.END_MARK.sub("", self._text[-_MAX_PASSAGE:].rstrip(" \n*_"))
        text = self._text[:-_MAX_PASSAGE] + text.rstrip(" \n*_")
        line_start = text.rfind("\n") + 1
        line = text[line_start:][-_MAX_PASSAGE:]
        if result_words.BREAKS_OFF.search(line[-_LONGEST_LAST_WORD:]) or line.count(
            "("
        ) > line.count(")"):
            return True
        if not line[-1:].isalnum() or result_words.LIST_MARK.match(line):
            return False
        stops = len(result_words.FULL_STOP.findall(text[-_MAX_PASSAGE:]))
        start, end = self._split_sentences(line_start, len(text))[-1]
        mentions = self._mentions.list_between(start, end)
        if not mentions:
            return stops > 0
        words = result_words.WORDS.findall(text[max(start, end - _MAX_PASSAGE) : end])
        if stops and len(words) > _LONGEST_LAST_SENTENCE:
            return True
        rest = text[mentions[-1].end : end]
        is_prose = len(result_words.UNIT_WORDS.findall(text[start:end])) > _WORDS_OF_UNIT
        if is_prose and ((stops > 1 and not rest) or (stops and stated.start < start)):
            # Digits may be missing, or the result.
            return True
        return len(rest.split()) > (_WORDS_OF_UNIT if stops else 2 * _WORDS_OF_UNIT)

    def _is_repeated(self) -> bool:
        """Return whether the text states the same value again and again."""
        mentions = self._mentions.list_between(0, len(self._text))
        return len(mentions) > 2 and len({mention.value for mention in mentions}) == 1

    def _read_first_line(self) -> Statement[V] | None:
        start = self._skip_blank(0)
        end = self._find_line_end(start)
        sentences = self._split_sentences(start, end)
        if not sentences:
            return None
        # "Wells score: 4" as a paragraph of its own; running totals begin with a sentence.
        is_paragraph = self._text.startswith("\n\n", end) or result_words.EXPLANATION.match(
            self._text, end
        )
        is_label = len(sentences) == 1 and result_words.LABEL.match(self._text, start, end)
        if not (is_paragraph and is_label) and not self._sentences.begins_with_value(*sentences[0]):
            return None
        statement = self._sentences.read(*sentences[0])
        if statement is None or statement.is_aside:
            return None
        if statement.strength == Strength.ALONE:
            return statement
        if is_paragraph and is_label and statement.strength == Strength.CONCLUSION:
            return statement
        return None

    def _find_last_result(self, start: int, end: int) -> Statement[V] | None:
        """Return the last statement that is a result, passing over those that interpret it; None if it is not clear."""
        risk: Statement[V] | None = None
        needed = Strength.WEAK  # to be accepted
        weak: Statement[V] | None = None
        block_start = end
        is_last = True
        for sentence_start, sentence_end in self._iter_sentences_from_end(start, end):
            if sentence_start >= block_start:
                continue
            if self._is_open(sentence_start, sentence_end):
                return None
            block = self._list_block(start, sentence_start, sentence_end)
            statement = self._read_block(block)
            if statement is None:
                if is_last and result_words.PROMISE.match(self._text, sentence_start, sentence_end):
                    return None
                continue
            if len(block) > 1 and not (statement.is_aside or statement.is_risk):
                block_start = block[0][0]
            if self._is_in_note(sentence_start) and (
                statement.strength < Strength.CONCLUSION
                or result_words.POSSIBILITY.search(self._text, sentence_start, sentence_end)
            ):
                is_last = False
                continue
            if statement.is_aside or (statement.mention is None and statement.is_risk):
                is_last = False
                continue
            if not is_last and result_words.SO_FAR.search(self._text, sentence_start, sentence_end):
                return None
            is_last = False
            if weak and weak.mention:
                if statement.mention is None or statement.strength < Strength.WEAK:
                    continue
                is_other = not are_close(weak.mention.value, statement.mention.value)
                return None if statement.is_named and is_other else weak
            if statement.mention is None:
                if statement.strength > Strength.WEAK:
                    return None
                needed = Strength.CONCLUSION
                continue
            if statement.is_risk:
                risk = risk or statement
                continue
            if statement.strength == Strength.MENTIONED:
                needed = max(needed, Strength.EQUATION)
                continue
            if statement.strength < needed:
                return None
            if statement.strength == Strength.WEAK:
                if result_words.REFUSAL.search(self._text):
                    return None
                if self._is_one_of_several(sentence_start, sentence_end, statement):
                    return None
                if self._is_one_of_parallel(start, sentence_start, sentence_end):
                    return None
                weak = statement
                continue
            if self._is_total_of_other_parts(start, sentence_start, statement):
                return None
            if self._is_one_of_several(sentence_start, sentence_end, statement):
                return None
            if risk is None:
                return statement
            return self._choose_risk_or_result(risk, statement)
        if risk and weak:
            return self._choose_risk_or_result(risk, weak)
        return weak or (risk if needed == Strength.WEAK else None)

    def _is_in_note(self, start: int) -> bool:
        """Return whether a sentence stands in a paragraph "Note: ..."."""
        first = max(0, start - _MAX_PASSAGE)
        line_start = self._text.rfind("\n", first, start) + 1
        if line_start == 0 and first > 0:
            return False
        return result_words.NOTE.match(self._text, line_start) is not None

    def _is_total_of_other_parts(self, first: int, start: int, statement: Statement[V]) -> bool:
        """Return whether the sentence before a score is an addition with another result: "2 + 1 + 2 = 5. Score: 7"."""
        if not statement.is_named:
            return False
        sentence = next(self._iter_sentences_from_end(first, start), None)
        if sentence is None or not result_words.ADDITION.search(self._text, *sentence):
            return False
        addition = self._sentences.read(*sentence)
        return addition is not None and not self._agree(addition.mention, statement.mention)

    def _is_one_of_several(self, start: int, end: int, statement: Statement[V]) -> bool:
        """Return whether calculations side by side in a line have several results: "A: 60 × 2 = 120; B: 5 × 4 = 20"."""
        line_start = self._text.rfind("\n", 0, start) + 1
        if line_start == start or statement.strength not in (Strength.WEAK, Strength.EQUATION):
            return False
        before = self._sentences.read(*self._split_sentences(line_start, start)[-1])
        if before is None or before.mention is None or before.strength != statement.strength:
            return False
        is_labelled = result_words.LABEL.match(self._text, start, end)
        is_listed = is_labelled or self._sentences.begins_with_value(start, end)
        if before.is_aside or (statement.strength == Strength.WEAK and not is_listed):
            return False
        used = [mention.value for mention in self._mentions.list_between(start, end)]
        is_other = not are_close(
            before.mention.value, statement.mention and statement.mention.value
        )
        return is_other and before.mention.value not in used

    def _is_one_of_parallel(self, first: int, start: int, end: int) -> bool:
        """Return whether a sentence and the one before it are alike but for the value: "By Bazett it is 512 msec"."""
        previous = next(self._iter_sentences_from_end(first, start), None)
        if previous is None:
            return False
        for pattern in (result_words.BY_METHOD, result_words.CRITERION):
            if pattern.match(self._text, start, end) and pattern.match(self._text, *previous):
                statement = self._sentences.read(start, end)
                before = self._sentences.read(*previous)
                if statement and before and not self._agree(statement.mention, before.mention):
                    return True
        return False

    def _is_open(self, start: int, end: int) -> bool:
        """Return whether a sentence says that there is no result, or that there are several."""
        return bool(
            result_words.REFUSAL.search(self._text, start, end)
            or result_words.ASKS_BACK.search(self._text, start, end)
            or result_words.ALTERNATIVE.search(self._text, start, end)
        )

    def _list_block(self, first: int, start: int, end: int) -> list[tuple[int, int]]:
        """Return the lines "label: value" that end with this one; the sentence alone if it is none."""
        block = [(start, end)]
        if not self._is_labelled(start, end):
            return block
        line_end = start
        while line_end > first and self._text[line_end - 1] in " \n":
            line_end -= 1
        while line_end > first and len(block) < _MAX_PARTS:
            line_start = max(first, self._text.rfind("\n", 0, line_end) + 1)
            if not self._is_labelled(line_start, line_end):
                break
            if not self._mentions.list_between(line_start, line_end):
                break
            block.insert(0, (line_start, line_end))
            line_end = line_start - 1
        return block

    def _is_labelled(self, start: int, end: int) -> bool:
        return (start == 0 or self._text[start - 1] == "\n") and (
            result_words.LABEL.match(self._text, start, end) is not None
        )

    def _read_block(self, block: list[tuple[int, int]]) -> Statement[V] | None:
        """Return what the last of several lines "label: value" states, or the sentence before them.

        Lines with values side by side ("Eye: 2, Verbal: 3") state no result, unless one is made of the others: their
        sum, or a calculation that uses them.
        """
        last = self._sentences.read(*block[-1])
        if last is None or last.mention is None or last.is_aside or last.is_risk or len(block) == 1:
            return last
        values = [self._get_value(*line) for line in block]
        if last.strength >= Strength.CONCLUSION:
            return last
        if adds_up(values[:-1], last.mention.value):
            return replace(last, strength=Strength.CONCLUSION)
        if adds_up(values[1:], values[0]):
            first = self._sentences.read(*block[0])
            return first and replace(first, strength=Strength.CONCLUSION)
        heading = self._read_heading(block[0][0])
        if heading and heading.mention and adds_up(values, heading.mention.value):
            return replace(heading, strength=Strength.CONCLUSION)
        if "\n\n" in self._text[block[-2][1] - 1 : block[-1][0]]:
            return last
        used = {last.mention.value}
        for (start, end), value in zip(reversed(block[:-1]), reversed(values[:-1]), strict=True):
            used |= {mention.value for mention in self._mentions.list_between(end, block[-1][1])}
            is_input = result_words.INPUT.match(self._text[start:end])
            if value in used or is_input or result_words.STEP.match(self._text, start):
                continue
            if not are_close(value, last.mention.value):
                return Statement(None, last.strength)
        return last

    def _get_value(self, start: int, end: int) -> V | None:
        """Return the value that a line states, or its last value."""
        statement = self._sentences.read(start, end)
        if statement and statement.mention:
            return statement.mention.value
        return self._mentions.list_between(start, end)[-1].value

    def _read_heading(self, start: int) -> Statement[V] | None:
        """Return the statement of the sentence before a list."""
        end = len(self._text[max(0, start - _MAX_PASSAGE) : start].rstrip()) + max(
            0, start - _MAX_PASSAGE
        )
        line_start = self._text.rfind("\n", 0, end) + 1
        sentences = self._split_sentences(line_start, end)
        return self._sentences.read(*sentences[-1]) if sentences else None

    def _choose_risk_or_result(
        self, risk: Statement[V], result: Statement[V]
    ) -> Statement[V] | None:
        """Return the statement that a risk follows, or the risk if that is what was calculated."""
        if risk.mention is None or result.mention is None:
            return None
        if result.strength >= Strength.CONCLUSION:
            return result
        value, other = risk.mention.value, result.mention.value
        if are_close(value, other):
            return risk
        if isinstance(value, float) and isinstance(other, float) and are_close(value, other * 100):
            return risk
        return None
