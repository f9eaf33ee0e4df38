"""Decide which of the values that a plain text mentions it states as its result. Pure.

The rules are tried in the order of their names below. The first that applies decides: if what it points at is not a
single clear value, the text states none.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Generic

from agent.reading import result_words
from agent.reading.mentions import Mention, Mentions, V
from agent.reading.statements import find_last_retraction, is_denied, is_taken_back

JSON_FIELD = "JSON field"
WHOLE_ANSWER = "whole answer"
BOXED = "LaTeX box"
FINAL_ANSWER = "final answer"
LAST_STATEMENT = "last statement"
FIRST_LINE = "first line"

_MAX_CUES = 50  # "answer:" is looked for in the last of them
_MAX_PASSAGE = 1_000  # characters behind a cue
_MAX_MENTIONS = 200  # values in a sentence; a sentence with more states none
_MAX_PARTS = 50  # lines that may add up to a total
_WORDS_OF_UNIT = 4  # that may follow a value at the end of a text without a full stop
_LONGEST_LAST_WORD = 12
_NEAR_CUE = 40  # characters between "answer:" and a value that it must mean


class _Strength(IntEnum):
    """How clearly a sentence states the result of the answer."""

    MENTIONED = 0
    """The only value of a sentence, but neither behind a verb nor a label."""
    WEAK = 1
    """A value behind a verb or label, of something that may not be the result."""
    EQUATION = 2
    """A calculation with its result."""
    CONCLUSION = 3
    """A sentence that draws a conclusion, or names a score or total."""
    ALONE = 4
    """A line that is the value alone."""


@dataclass(frozen=True, slots=True)
class _Statement(Generic[V]):
    """A sentence that mentions values: `mention` is the value that it states, None if it states no single one."""

    mention: Mention[V] | None
    strength: _Strength
    is_aside: bool = False
    is_risk: bool = False
    is_named: bool = False
    """The statement calls its value the score, result or answer."""


@dataclass(frozen=True, slots=True)
class Choice(Generic[V]):
    """The mention that a text states as its value, and the name of the rule that says so."""

    mention: Mention[V]
    rule: str


def choose(text: str, find_mentions: Callable[[str], Mentions[V]]) -> Choice[V] | None:
    """Return the mention that the text states as its value, and the rule that says so."""
    mentions = find_mentions(text)
    if mentions.only:
        return Choice(mentions.only, WHOLE_ANSWER)
    reader = _Reader(text, mentions)
    continuation = result_words.CONTINUATION.search(text, 1)
    if continuation:
        # The model has answered and invents the next question.
        before = text[: continuation.start()].rstrip()
        return choose(before, find_mentions) if before else None
    return reader.choose()


class _Reader(Generic[V]):
    """Decides which of the mentions in a plain text is its value."""

    def __init__(self, text: str, mentions: Mentions[V]) -> None:
        self._text = text
        self._mentions = mentions

    def choose(self) -> Choice[V] | None:
        fields = self._list_json_fields()
        if fields:
            return self._choose_field(fields)
        if "\\boxed" in self._text:
            for box in reversed(list(result_words.BOXED.finditer(self._text))):
                if self._get_mentions(box.start(1), box.end(1)):
                    return self._accept(self._read_statement(box.start(1), box.end(1)), BOXED)
        only_sentence = self._get_only_sentence()
        if only_sentence:
            choice = self._choose_only_sentence(*only_sentence)
            if choice is None or not self._is_cut_off(choice.mention):
                return choice
        is_decided, choice = self._choose_cued()
        if is_decided:
            return choice
        return self._choose_statement()

    def _list_json_fields(self) -> list[re.Match[str]]:
        """Return the fields of the object that ends the text, if one does."""
        end = len(self._text.rstrip(" \n`"))
        if not self._text.endswith("}", 0, end):
            return []
        first = result_words.OBJECT_START.search(self._text, 0, end)
        return (
            list(result_words.JSON_FIELD.finditer(self._text, first.start(), end)) if first else []
        )

    def _choose_field(self, fields: list[re.Match[str]]) -> Choice[V] | None:
        """Return the value of the only field that may be the answer."""
        named = [field for field in fields if field[1].lower() in result_words.ANSWER_FIELDS]
        others = [field for field in fields if not result_words.BESIDE_THE_ANSWER.search(field[1])]
        statements: list[_Statement[V]] = []
        for field in named or others:
            statement = self._read_statement(field.start(2), field.end(2))
            if statement:
                statements.append(statement)
        if len(statements) == 1:
            before = self._find_last_result(0, max(0, self._text.rfind("{", 0, fields[0].start())))
            if before and not self._agree(before.mention, statements[0].mention):
                return None
            return self._accept(statements[0], JSON_FIELD)
        # {"weeks": 10, "days": 3}
        mentions = self._get_mentions(fields[0].start(), fields[-1].end())
        if not named and len(mentions) == 1 and mentions[0].start < fields[0].start(2):
            return Choice(mentions[0], JSON_FIELD)
        return None

    def _accept(self, statement: _Statement[V] | None, rule: str) -> Choice[V] | None:
        if statement is None or statement.mention is None:
            return None
        if rule == WHOLE_ANSWER and self._is_open(0, len(self._text)):
            return None
        if is_taken_back(self._text, statement.mention.end):
            return None
        return Choice(statement.mention, rule)

    def _get_mentions(self, start: int, end: int) -> list[Mention[V]]:
        return self._mentions.list_between(start, end)

    def _split_sentences(self, start: int, end: int) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for match in result_words.SENTENCE_END.finditer(self._text, start, end):
            spans.append((start, match.end()))
            start = match.end()
        spans.append((start, end))
        return [span for span in spans if self._text[span[0] : span[1]].strip()]

    def _choose_only_sentence(self, start: int, end: int) -> Choice[V] | None:
        mentions = self._get_mentions(start, end)
        if not mentions or result_words.OTHER_DATE.match(self._text):
            return None
        first = mentions[0]
        if any(mention.value != first.value for mention in mentions):
            return self._accept(self._read_statement(start, end), WHOLE_ANSWER)
        if first.value is None or self._is_bound(first) or self._is_denied(first):
            return None
        if first.end < end and self._is_operand(first):
            return None
        return self._accept(_Statement(first, _Strength.WEAK), WHOLE_ANSWER)

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
            mentions = self._get_mentions(*sentences[0]) if sentences else []
            if not mentions:
                continue
            if result_words.UNKNOWN.match(text, start):
                return True, None
            if result_words.INPUT.match(text[start:end]):
                continue
            statement = self._read_statement(*sentences[0])
            if statement is None or statement.mention is None:
                if mentions[0].start - start > _NEAR_CUE:
                    continue
                return True, None
            if is_taken_back(text, statement.mention.end):
                return False, None
            if self._is_contradicted(statement.mention, cue.start()):
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
        if _are_close(value, second):
            return True
        if not isinstance(value, float) or not isinstance(second, float):
            return False
        return _are_close(value * 100, second) or _are_close(second * 100, value)

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
            return self._accept(last, LAST_STATEMENT)
        if last is None or last.mention is None or last.strength < _Strength.CONCLUSION:
            return self._accept(first, FIRST_LINE)
        if not _are_close(first.mention.value, last.mention.value):
            return None
        return self._accept(last, FIRST_LINE if last.mention == first.mention else LAST_STATEMENT)

    def _is_cut_off(self, stated: Mention[V]) -> bool:
        """Return whether the text ends within a sentence or line, as answers do that reach the limit of tokens."""
        text = self._text.rstrip(" \n*_")
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
        mentions = self._get_mentions(start, end)
        if not mentions:
            return stops > 0
        rest = text[mentions[-1].end : end]
        is_prose = len(result_words.UNIT_WORDS.findall(text[start:end])) > _WORDS_OF_UNIT
        if is_prose and stops > 1 and (not rest or stated.start < start):
            # Digits may be missing, or the result.
            return True
        return len(rest.split()) > (_WORDS_OF_UNIT if stops else 2 * _WORDS_OF_UNIT)

    def _is_repeated(self) -> bool:
        """Return whether the text states the same value again and again."""
        mentions = self._get_mentions(0, len(self._text))
        return len(mentions) > 2 and len({mention.value for mention in mentions}) == 1

    def _read_first_line(self) -> _Statement[V] | None:
        start = self._skip_blank(0)
        end = self._find_line_end(start)
        sentences = self._split_sentences(start, end)
        if not sentences or not self._get_mentions(*sentences[0]):
            return None
        statement = self._read_statement(*sentences[0])
        if statement is None or statement.is_aside:
            return None
        if statement.strength == _Strength.ALONE:
            return statement
        # "Wells score: 4" as a paragraph of its own; running totals begin with a sentence.
        is_paragraph = self._text.startswith("\n\n", end) or result_words.EXPLANATION.match(
            self._text, end
        )
        is_label = len(sentences) == 1 and result_words.LABEL.match(self._text[start:end])
        if is_paragraph and is_label and statement.strength == _Strength.CONCLUSION:
            return statement
        return None

    def _find_last_result(self, start: int, end: int) -> _Statement[V] | None:
        """Return the last statement that is a result, passing over those that interpret it; None if it is not clear."""
        risk: _Statement[V] | None = None
        needed = _Strength.WEAK  # to be accepted
        weak: _Statement[V] | None = None
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
                continue
            if len(block) > 1 and not (statement.is_aside or statement.is_risk):
                block_start = block[0][0]
            if statement.is_aside or (statement.mention is None and statement.is_risk):
                is_last = False
                continue
            if not is_last and result_words.SO_FAR.search(self._text, sentence_start, sentence_end):
                return None
            is_last = False
            if weak and weak.mention:
                if statement.mention is None or statement.strength < _Strength.WEAK:
                    continue
                is_other = not _are_close(weak.mention.value, statement.mention.value)
                return None if statement.is_named and is_other else weak
            if statement.mention is None:
                if statement.strength > _Strength.WEAK:
                    return None
                needed = _Strength.CONCLUSION
                continue
            if statement.is_risk:
                risk = risk or statement
                continue
            if statement.strength == _Strength.MENTIONED:
                needed = max(needed, _Strength.EQUATION)
                continue
            if statement.strength < needed:
                return None
            if statement.strength == _Strength.WEAK:
                if result_words.REFUSAL.search(self._text):
                    return None
                weak = statement
                continue
            if self._is_total_of_other_parts(start, sentence_start, statement):
                return None
            if risk is None:
                return statement
            return self._choose_risk_or_result(risk, statement)
        if risk and weak:
            return self._choose_risk_or_result(risk, weak)
        return weak or (risk if needed == _Strength.WEAK else None)

    def _is_total_of_other_parts(self, first: int, start: int, statement: _Statement[V]) -> bool:
        """Return whether the sentence before a score is an addition with another result: "2 + 1 + 2 = 5. Score: 7"."""
        if not statement.is_named:
            return False
        sentence = next(self._iter_sentences_from_end(first, start), None)
        if sentence is None or not result_words.ADDITION.search(self._text, *sentence):
            return False
        addition = self._read_statement(*sentence)
        return addition is not None and not self._agree(addition.mention, statement.mention)

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
            if not self._get_mentions(line_start, line_end):
                break
            block.insert(0, (line_start, line_end))
            line_end = line_start - 1
        return block

    def _is_labelled(self, start: int, end: int) -> bool:
        return (start == 0 or self._text[start - 1] == "\n") and (
            result_words.LABEL.match(self._text, start, end) is not None
        )

    def _read_block(self, block: list[tuple[int, int]]) -> _Statement[V] | None:
        """Return what the last of several lines "label: value" states, or the sentence before them.

        Lines with values side by side ("Eye: 2, Verbal: 3") state no result, unless one is made of the others: their
        sum, or a calculation that uses them.
        """
        last = self._read_statement(*block[-1])
        if last is None or last.mention is None or last.is_aside or last.is_risk or len(block) == 1:
            return last
        values = [self._get_value(*line) for line in block]
        if last.strength >= _Strength.CONCLUSION:
            return last
        if _adds_up(values[:-1], last.mention.value):
            return replace(last, strength=_Strength.CONCLUSION)
        if _adds_up(values[1:], values[0]):
            first = self._read_statement(*block[0])
            return first and replace(first, strength=_Strength.CONCLUSION)
        heading = self._read_heading(block[0][0])
        if heading and heading.mention and _adds_up(values, heading.mention.value):
            return replace(heading, strength=_Strength.CONCLUSION)
        if "\n\n" in self._text[block[-2][1] - 1 : block[-1][0]]:
            return last
        used = {last.mention.value}
        for (start, end), value in zip(reversed(block[:-1]), reversed(values[:-1]), strict=True):
            used |= {mention.value for mention in self._get_mentions(end, block[-1][1])}
            is_input = result_words.INPUT.match(self._text[start:end])
            if value in used or is_input or result_words.STEP.match(self._text, start):
                continue
            if not _are_close(value, last.mention.value):
                return _Statement(None, last.strength)
        return last

    def _get_value(self, start: int, end: int) -> V | None:
        """Return the value that a line states, or its last value."""
        statement = self._read_statement(start, end)
        if statement and statement.mention:
            return statement.mention.value
        return self._get_mentions(start, end)[-1].value

    def _read_heading(self, start: int) -> _Statement[V] | None:
        """Return the statement of the sentence before a list."""
        end = len(self._text[max(0, start - _MAX_PASSAGE) : start].rstrip()) + max(
            0, start - _MAX_PASSAGE
        )
        line_start = self._text.rfind("\n", 0, end) + 1
        sentences = self._split_sentences(line_start, end)
        return self._read_statement(*sentences[-1]) if sentences else None

    def _choose_risk_or_result(
        self, risk: _Statement[V], result: _Statement[V]
    ) -> _Statement[V] | None:
        """Return the statement that a risk follows, or the risk if that is what was calculated."""
        if risk.mention is None or result.mention is None:
            return None
        if result.strength >= _Strength.CONCLUSION:
            return result
        value, other = risk.mention.value, result.mention.value
        if _are_close(value, other):
            return risk
        if isinstance(value, float) and isinstance(other, float) and _are_close(value, other * 100):
            return risk
        return None

    def _read_statement(self, start: int, end: int) -> _Statement[V] | None:
        """Return what a sentence states; None if it mentions no value."""
        mentions = self._get_mentions(start, end)
        if not mentions:
            return None
        if len(mentions) > _MAX_MENTIONS:
            return _Statement(None, _Strength.WEAK)
        sentence = self._text[start:end]
        mentions = self._drop_bracketed(start, end, mentions)
        results = [mention for mention in mentions if not self._is_reference(start, mention)]
        mention, strength = self._pick(start, end, results) if results else (None, _Strength.WEAK)
        mention = self._follow_rounding(mention, end)
        first = mention or mentions[0]
        before = self._text[max(start, first.start - 200) : first.start]
        statement: _Statement[V] = _Statement(
            mention,
            strength,
            is_aside=not results or _is_aside(sentence) or self._is_scale(start, end, mentions),
            is_risk=self._is_risk(start, first),
            is_named=result_words.NAMED_RESULT.search(before) is not None,
        )
        if mention is None:
            return statement
        if (
            mention.value is None
            or self._is_bound(mention)
            or self._is_denied(mention)
            or self._is_operand(mention)
        ):
            return replace(statement, mention=None)
        if self._is_alone(mention, start, end):
            return _Statement(mention, _Strength.ALONE)
        if strength <= _Strength.WEAK and self._text[mention.start] == "+":
            return replace(statement, mention=None)  # points for a criterion
        return statement

    def _is_scale(self, start: int, end: int, mentions: list[Mention[V]]) -> bool:
        """Return whether a sentence says what ranges of values mean: "13-15 mild", "A ratio under 0.4 suggests"."""
        for mention in mentions:
            if mention.value is not None and not self._is_bound(mention):
                return False
        before = self._text[start : mentions[0].start]
        if result_words.NAMED_RESULT.search(before):
            return False
        return (
            result_words.APPROXIMATELY.fullmatch(before.rstrip("<>≤≥ ")) is not None
            or before.rstrip("<>≤≥ ").endswith("(")
            or result_words.INTERPRETS.search(_hide_signs(self._text[start:end])) is not None
        )

    def _is_reference(self, start: int, mention: Mention[V]) -> bool:
        """Return whether a value is a limit with which results are compared: "the threshold of 90", "normal 8-12"."""
        before = self._text[max(start, mention.start - 50) : mention.start]
        return result_words.REFERENCE.search(before) is not None

    def _follow_rounding(self, mention: Mention[V] | None, end: int) -> Mention[V] | None:
        """Return the value to which the text rounds the mention: "21.6, rounded to 22"."""
        if mention is None:
            return None
        for other in self._get_mentions(mention.end, end):
            gap = self._text[mention.end : other.start]
            if _are_close(mention.value, other.value) and result_words.ROUNDED_TO.match(gap):
                return other
        return mention

    def _is_risk(self, start: int, mention: Mention[V]) -> bool:
        if result_words.RISK_BEHIND.match(self._text, mention.end):
            return True
        before = self._text[start : mention.start]
        return (
            result_words.RISK.search(before) is not None
            and result_words.SCORE.search(before) is None
        )

    def _drop_bracketed(self, start: int, end: int, mentions: list[Mention[V]]) -> list[Mention[V]]:
        """Return the mentions without those in brackets that explain the value before them."""
        kept = mentions
        for brackets in result_words.BRACKETS.finditer(self._text, start, end):
            inside = self._get_mentions(brackets.start(1), brackets.end(1))
            before = [mention for mention in kept if mention.end <= brackets.start()]
            if not inside or not before:
                continue
            if all(self._is_bound(mention) for mention in inside):
                kept = [m for m in kept if not brackets.start() <= m.start < brackets.end()]
                continue
            gap = self._text[before[-1].end : brackets.start()]
            if re.search(r"[-+*/×=(] ?$|[,)]", gap):
                continue
            if self._explains(brackets, before[-1], inside):
                kept = [m for m in kept if not brackets.start() <= m.start < brackets.end()]
        return kept

    def _explains(
        self, brackets: re.Match[str], mention: Mention[V], inside: list[Mention[V]]
    ) -> bool:
        content = brackets[1]
        if len(inside) == 1 and re.match(r"not [\d-]", content):
            return True
        if _holds_rival(content):
            return False
        if all(_are_close(mention.value, other.value) for other in inside):
            return True
        if len(inside) == 1 and self._is_converted(brackets, mention, inside[0]):
            return True
        if (
            result_words.EXPLAINS.match(content)
            or result_words.INTERPRETS.search(content)
            or result_words.ARITHMETIC.search(content)
        ):
            return True
        assigned = [match.end() for match in result_words.EQUALS.finditer(content)]
        if len(assigned) == 1:
            return _are_close(inside[-1].value, mention.value)
        if assigned:
            inside = [other for other in inside if other.start - brackets.start(1) in assigned]
        return _adds_up([other.value for other in inside], mention.value)

    def _is_converted(
        self, brackets: re.Match[str], mention: Mention[V], other: Mention[V]
    ) -> bool:
        """Return whether brackets repeat the value in another unit: "12.7 mg/dL (3.2 mmol/L)"."""
        unit = self._text[mention.end : brackets.start()].strip()
        before = self._text[brackets.start(1) : other.start]
        other_unit = self._text[other.end : brackets.end(1)].strip()
        if not result_words.APPROXIMATELY.fullmatch(before) or unit == other_unit:
            return False
        # "0.369 s (369 ms)": either may be the unit that was asked for.
        if _differ_by_a_thousand(mention.value, other.value):
            return False
        return (
            result_words.UNIT.fullmatch(unit) is not None
            and result_words.UNIT.fullmatch(other_unit) is not None
        )

    def _pick(
        self, start: int, end: int, mentions: list[Mention[V]]
    ) -> tuple[Mention[V] | None, _Strength]:
        """Return the mention that a sentence states as its value, and how clearly."""
        text = self._text
        if len({mention.value for mention in mentions}) == 1:
            mention = mentions[-1]
            return mention, self._weigh(start, mention)
        behind_equals = {match.end() for match in result_words.EQUALS.finditer(text, start, end)}
        assigned = [mention for mention in mentions if mention.start in behind_equals]
        assigned = [m for m in assigned if m is mentions[0] or not self._is_in_brackets(start, m)]
        computed = [mention for mention in assigned if self._is_computed(start, mention)]
        if computed:
            if self._is_explained(computed[-1], mentions, end):
                return computed[-1], max(_Strength.EQUATION, self._weigh(start, computed[-1]))
            return None, _Strength.EQUATION
        before_last = [mention.value for mention in mentions[:-1]]
        if _adds_up(before_last, mentions[-1].value) and self._is_behind_verb(start, mentions[-1]):
            return mentions[-1], _Strength.CONCLUSION
        if result_words.PART.match(text, mentions[0].end):
            rest = [
                mention for mention in mentions if not result_words.PART.match(text, mention.end)
            ]
            return self._pick(start, end, rest) if rest else (None, _Strength.WEAK)
        others = [mention.value for mention in mentions[1:]]
        if _adds_up(others, mentions[0].value) and self._is_behind_verb(start, mentions[0]):
            return mentions[0], self._weigh(start, mentions[0])
        if self._is_conversion(start, mentions, assigned):
            return mentions[1], _Strength.EQUATION
        named = [
            m
            for m in mentions
            if result_words.RESULT_NOUN.search(text[max(start, m.start - 120) : m.start])
        ]
        if named:
            return self._pick_last(end, named, mentions), _Strength.CONCLUSION
        verbs = [m for m in mentions if self._is_behind_verb(start, m)]
        if verbs:
            last = self._pick_last(end, verbs, mentions)
            return last, self._weigh(start, last or verbs[-1])
        label = text[start : mentions[0].start]
        is_label = len(label.split()) <= 4 and not result_words.PREPOSITION.search(label)
        is_label = is_label or result_words.NAME_OF.fullmatch(label) is not None
        if is_label and self._is_explained(mentions[0], mentions, end):
            return mentions[0], _Strength.WEAK
        return None, _Strength.WEAK

    def _is_conversion(
        self, start: int, mentions: list[Mention[V]], assigned: list[Mention[V]]
    ) -> bool:
        """Return whether one amount equals another in the same unit: "8 mg dexamethasone = 53.4 mg prednisolone"."""
        if len(mentions) != 2 or assigned != mentions[1:]:
            return False
        units = [result_words.UNIT_WORDS.match(self._text, mention.end + 1) for mention in mentions]
        if not units[0] or not units[1] or units[0][0] != units[1][0]:
            return False
        return (
            result_words.APPROXIMATELY.fullmatch(self._text[start : mentions[0].start]) is not None
        )

    def _is_in_brackets(self, start: int, mention: Mention[V]) -> bool:
        before = self._text[start : mention.start]
        return before.count("(") > before.count(")")

    def _pick_last(
        self, end: int, stated: list[Mention[V]], mentions: list[Mention[V]]
    ) -> Mention[V] | None:
        """Return the only stated mention, or the last if it is a conclusion from the others."""
        first = stated[0]
        last = stated[-1]
        leads_to_last = result_words.LEADS_TO.search(self._text, first.end, last.start)
        if not leads_to_last and self._is_explained(first, mentions, end):
            return first
        if not self._is_explained(last, mentions, end):
            return None
        if len(stated) == 1:
            return last
        gap = self._text[stated[-2].end : last.start]
        if result_words.RIVAL.search(gap) or not result_words.LEADS_TO.search(gap):
            return None
        return last

    def _is_behind_verb(self, start: int, mention: Mention[V]) -> bool:
        before = self._text[max(start, mention.start - 80) : mention.start]
        if result_words.BEHIND_VERB.search(before) or result_words.GIVES_NAMED.search(before):
            return True
        return (
            mention.start - start <= 20 and result_words.APPROXIMATELY.fullmatch(before) is not None
        )

    def _is_computed(self, start: int, mention: Mention[V]) -> bool:
        """Return whether a calculation stands before the equals sign, rather than a name."""
        before = self._text[max(start, mention.start - 200) : mention.start].rstrip(" =≈~$(→>-⇒≅")
        return result_words.CALCULATES.search(before) is not None

    def _is_explained(self, mention: Mention[V], mentions: list[Mention[V]], end: int) -> bool:
        """Return whether the mentions behind this one in the sentence only explain, round or interpret it."""
        text = self._text
        previous_end = mention.end
        for other in mentions:
            if other.start <= mention.start:
                continue
            gap = result_words.BRACKETS.sub(" ", text[previous_end : other.start])
            is_same = _are_close(mention.value, other.value)
            if not is_same and result_words.NOT_OTHER.match(gap):
                previous_end = other.end
                continue
            if result_words.RIVAL.search(gap):
                return False
            if not is_same and result_words.IN_OTHER_WORDS.search(gap):
                return False
            if self._explains_rest(gap, previous_end, min(end, other.end + 40)):
                return result_words.RIVAL.search(text[mention.end : end]) is None
            if not is_same:
                return False
            previous_end = other.end
        return True

    def _explains_rest(self, gap: str, start: int, end: int) -> bool:
        """Return whether words behind a value begin an explanation or interpretation."""
        if result_words.WHICH_IS.match(gap) or _explains_from(gap):
            return True
        return result_words.INTERPRETS.search(self._text, start, end) is not None

    def _weigh(self, start: int, mention: Mention[V]) -> _Strength:
        text = self._text
        before = text[max(start, mention.start - 200) : mention.start]
        if result_words.RESULT_NOUN.search(before) or result_words.CONCLUDES.search(before):
            return _Strength.CONCLUSION
        if result_words.EQUALS.search(
            text, max(start, mention.start - 6), mention.start + 2
        ) and self._is_computed(start, mention):
            return _Strength.EQUATION
        return _Strength.WEAK if self._is_behind_verb(start, mention) else _Strength.MENTIONED

    def _is_alone(self, mention: Mention[V], start: int, end: int) -> bool:
        """Return whether the line has only the value and its unit."""
        before = self._text[start : mention.start]
        if len(before) > 30 or not result_words.APPROXIMATELY.fullmatch(before):
            return False
        if start > 0 and self._text[start - 1] != "\n":
            return False
        after = self._text[mention.end : end]
        return len(after) < 80 and len(result_words.UNIT_WORDS.findall(after)) <= 6

    def _is_bound(self, mention: Mention[V]) -> bool:
        if self._is_ratio(mention):
            return True
        before = self._text[max(0, mention.start - 40) : mention.start].rpartition("\n")[2]
        return (
            result_words.BOUND_BEFORE.search(before) is not None
            or result_words.BOUND_AFTER.match(self._text, mention.end) is not None
        )

    def _is_ratio(self, mention: Mention[V]) -> bool:
        """Return whether the mention is a side of "1:2" or "1/2"."""
        text, end = self._text, mention.end
        if text[end : end + 1] in (":", "/") and self._get_mentions(end + 1, end + 2):
            return True
        return (
            result_words.RATIO_BEFORE.search(text, max(0, mention.start - 2), mention.start)
            is not None
        )

    def _is_operand(self, mention: Mention[V]) -> bool:
        """Return whether the mention is part of a formula without a result."""
        before = self._text[max(0, mention.start - 3) : mention.start]
        return (
            result_words.OPERATOR_BEFORE.search(before) is not None
            or result_words.OPERATOR_BEHIND.match(self._text, mention.end) is not None
        )

    def _is_denied(self, mention: Mention[V]) -> bool:
        before = self._text[max(0, mention.start - 60) : mention.start]
        return (
            is_denied(self._text, mention.start) or result_words.BETWEEN.search(before) is not None
        )


def _hide_signs(sentence: str) -> str:
    return re.sub("[<>≤≥]", " ", sentence)


def _is_aside(sentence: str) -> bool:
    """Return whether a sentence interprets or explains a result, or repeats what was given."""
    return bool(
        result_words.ASIDE.match(sentence)
        or result_words.INPUT.match(sentence)
        or result_words.USED.search(sentence)
        or result_words.WOULD_HAVE.search(sentence)
    )


def _explains_from(gap: str) -> bool:
    """Return whether the words behind a value, with or without its unit, begin an explanation."""
    if ";" in gap or result_words.NEW_STATEMENT.search(gap):
        return False
    words = gap.split(" ")
    return any(
        result_words.EXPLAINS.match(" ".join(words[skipped:]))
        for skipped in range(min(4, len(words)))
    )


def _holds_rival(brackets: str) -> bool:
    """Return whether brackets may contain another answer: "5 (or 6)". "Rounded to" does not begin a range."""
    content = re.sub(r"^(?:or )?rounded to\b", "", brackets, flags=re.IGNORECASE)
    return result_words.RIVAL.search(content) is not None


def _are_close(value: object, other: object) -> bool:
    """Return whether two values are equal, or one is the other rounded to fewer digits."""
    if value is None or other is None:
        return False
    if value == other:
        return True
    if not isinstance(value, int | float) or not isinstance(other, int | float):
        return False
    return any(
        round(value, digits) == other or round(other, digits) == value for digits in range(5)
    )


def _differ_by_a_thousand(value: object, other: object) -> bool:
    """Return whether one number is a thousand times the other, as it is in a unit with another prefix."""
    if not isinstance(value, float) or not isinstance(other, float):
        return False
    return math.isclose(value * 1000, other) or math.isclose(value, other * 1000)


def _adds_up(parts: list[V | None], total: V | None) -> bool:
    """Return whether `parts` are two or more numbers that sum to `total`: "5 (2 for age, 3 for stroke)"."""
    numbers = [part for part in parts if isinstance(part, int | float)]
    if len(numbers) < 2 or not isinstance(total, int | float):
        return False
    return math.isclose(sum(numbers), total)
