"""Decide whether a plain text states another result beside the one that was read, without a word of correction. Pure.

Small models repeat a statement with another value, begin with a value at which their working does not arrive, or answer
the same question again. A careful person would then ask back. Each rule stands in a function of its own:

| rule | example that states no result |
|---|---|
| the same sentence with another value | The score is 4. The score is 5. |
| working that ends elsewhere | 30 (new line) Using 80/2.56 = 31.25 |
| a plain result that differs from the opening | BMI = 67 (new line) 142 × 0.74 × 0.65 = 68.4 |
| a total that differs from the answer | Answer: 4 (new line) The total is 5. |
| an earlier claim that nothing corrects | The score is 2. Fever is 1 point. He has a score of 3. |
| points of one criterion among several | The pulse is 1 point. The pressure is 1 point. |
"""

import itertools
import re
from collections.abc import Iterator
from typing import Generic

from agent.reading import asked_words, result_words
from agent.reading.asked_value import ClaimReader, is_count
from agent.reading.mentions import Mention, Mentions, V
from agent.reading.quantity import Quantity, QuantityName
from agent.reading.sentence_value import (
    SentenceReader,
    Statement,
    Strength,
    adds_up,
    are_close,
    are_same,
)
from agent.reading.statements import find_last_retraction

_MAX_TEXT = 20_000  # characters; a longer answer is an endless repetition
_MAX_SENTENCES = 200
_MAX_TEMPLATE = 300  # characters of a sentence that is compared with others
_CLOSE = 0.005  # relative difference of values that were rounded on the way

_NUMBER = re.compile(r"[-+]?\d[\d.,]*")
_COMPUTED_AS = re.compile(
    r"\b(?:calculated|computed|obtained|derived|given|found|that is|which is|i\.e)\b", re.IGNORECASE
)
_STEP = re.compile(r"\W{0,4}(?:step\b|\d{1,2}[.)]|[-+*•] )", re.IGNORECASE)
_WORD = re.compile(r"[a-z]{3,}")
_QUALIFIES = re.compile(r"\b(?:corrected|adjusted)\b", re.IGNORECASE)
_OPERATOR = re.compile(r"\d[^\n\d]{0,12}? ?[x×*/+] ?[\d(]")
_IS_OPERAND = re.compile(r"[^\n\d=]{0,12}? ?[x×*+] ?[\d(]")
_WOULD = re.compile(r"\b(?:would|might|could)\b|\bmodification\b", re.IGNORECASE)
_POINTS = re.compile(r" ?points?\b", re.IGNORECASE)
_MIN_PARTS = 2  # other sentences with points
_OF_ALL = re.compile(
    r"\b(?:scores?|total|sum|overall|altogether|therefore|thus|hence|final|in all)\b", re.IGNORECASE
)
_RETURNS = re.compile(
    r"\b(?:therefore|thus|hence|overall|so|final(?:ly)?|answer|in (?:total|summary|conclusion)|total|sum|altogether"
    r"|rounded|corrected|adjusted|result)\b|∴",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"\b(?:total|sum|adds? up to)\b[^.;\n]{0,40}$"
    r"|\bscore(?: is| was| of| equals| ?[:=])[^.;\n]{0,20}$"
    r"|\b(?:patient|he|she) (?:has|scores?|gets?|receives?|earns?) $",
    re.IGNORECASE,
)


class OtherResults(Generic[V]):
    """Looks for results in a text that differ from the one that was read."""

    def __init__(
        self,
        text: str,
        mentions: Mentions[V],
        chosen: Mention[V],
        quantity: Quantity | None,
    ) -> None:
        self._text = text
        self._mentions = mentions
        self._chosen = chosen
        self._quantity = quantity
        self._sentences = SentenceReader(text, mentions)
        self._spans = list(itertools.islice(self._iter_sentences(), _MAX_SENTENCES))

    def exist(self, *, is_explicit: bool) -> bool:
        """Return whether a result differs from the one that was read and is neither corrected nor used for it.

        Args:
            is_explicit: the result is marked as the answer, so that only another marked result contradicts it.
        """
        if len(self._text) > _MAX_TEXT:
            return False
        if find_last_retraction(self._text) is not None:
            return False
        own = self._find_sentence(self._chosen)
        if own is None:
            return False
        if self._computes_other_value(own):
            return True
        if len(self._spans) < 2:
            return False
        if (
            self._ends_undecided()
            or self._is_repeated_with_other_value(own)
            or self._has_other_total(own)
            or self._is_claimed_twice()
        ):
            return True
        if is_explicit:
            return False
        if self._is_one_of_parts(own) or self._is_claimed_otherwise(own):
            return True
        if own == self._spans[0]:
            return self._works_towards_other(own)
        return self._opens_with_other(own)

    def _iter_sentences(self) -> Iterator[tuple[int, int]]:
        start = 0
        for stop in result_words.SENTENCE_END.finditer(self._text):
            if self._text[start : stop.end()].strip():
                yield start, stop.end()
            start = stop.end()
        if self._text[start:].strip():
            yield start, len(self._text)

    def _find_sentence(self, mention: Mention[V]) -> tuple[int, int] | None:
        for start, end in self._spans:
            if start <= mention.start < end:
                return start, end
        return None

    def _is_repeated_with_other_value(self, own: tuple[int, int]) -> bool:
        """Return whether another sentence is the same but for its values: "The score is 4. The score is 5."."""
        template = self._write_template(*own)
        if "#" not in template or template[0] == "#":
            return False
        if _STEP.match(template) or not _WORD.search(template) or len(template) > _MAX_TEMPLATE:
            return False
        head = template[:2]
        for span in self._spans:
            if span == own or head not in self._text[span[0] : span[0] + 12].lower():
                continue  # most sentences; what follows takes much longer
            if self._write_template(*span) != template:
                continue
            stated = self._sentences.read(*span)
            if stated is None or stated.mention is None or self._agrees(stated.mention):
                continue
            if not self._leads_to_chosen(stated.mention, own):
                return True
        return False

    def _computes_other_value(self, own: tuple[int, int]) -> bool:
        """Return whether the sentence goes on with a calculation of another result: "25.3, that is 70/2.89 = 24.2"."""
        for other in self._mentions.list_between(self._chosen.end, own[1]):
            before = self._text[max(own[0], other.start - 6) : other.start]
            if not asked_words.EQUALS.search(before) or self._agrees(other):
                continue
            gap = self._text[self._chosen.end : other.start]
            if self._sentences.is_computed(self._chosen.end, other) and _COMPUTED_AS.search(gap):
                return True
        return False

    def _ends_undecided(self) -> bool:
        """Return whether the last two sentences are the same but for their values: "Answer: 5.31", "Answer: 5"."""
        last = self._write_template(*self._spans[-1])
        if not last or _STEP.match(last) or last != self._write_template(*self._spans[-2]):
            return False
        values: list[V | None] = []
        for span in self._spans[-2:]:
            statement = self._sentences.read(*span)
            if statement is None or statement.mention is None:
                return False
            values.append(statement.mention.value)
        return not are_same(*values)

    def _write_template(self, start: int, end: int) -> str:
        words = _NUMBER.sub("#", self._text[start:end].lower())
        return words.strip(" \n*_#.-") if _WORD.search(words) else ""

    def _leads_to_chosen(
        self, other: Mention[V], own: tuple[int, int], *, is_strict: bool = False
    ) -> bool:
        """Return whether the text works from another value to the chosen one, or adds up to it behind that value."""
        if other.start > self._chosen.start:
            return False
        used = self._mentions.list_between(own[0], self._chosen.start)
        if any(are_close(other.value, mention.value) for mention in used):
            return True
        parts: list[V | None] = []
        for start, end in self._spans:
            if start < other.end or end > own[0]:
                continue
            used = self._mentions.list_between(start, end)
            is_calculation = _OPERATOR.search(self._text, start, end) is not None
            if is_calculation and any(are_close(other.value, mention.value) for mention in used):
                return True
            statement = self._sentences.read(start, end)
            if statement is None or statement.mention is None:
                continue
            parts.append(statement.mention.value)
            is_computed = statement.strength >= Strength.EQUATION
            if is_strict:
                is_computed = self._sentences.is_computed(start, statement.mention)
            if is_computed and self._agrees(statement.mention):
                return True
        sentence = self._find_sentence(other)
        operands = self._mentions.list_between(*sentence) if sentence else []
        return adds_up(parts, self._chosen.value) or adds_up(
            [operand.value for operand in operands], self._chosen.value
        )

    def _has_other_total(self, own: tuple[int, int]) -> bool:
        """Return whether a total of points behind the answer differs from it."""
        if self._quantity is None or not is_count(self._quantity):
            return False
        for span in self._spans:
            if span[0] < own[1]:
                continue
            statement = self._read_result(*span)
            if statement is None or statement.mention is None:
                continue
            before = self._text[span[0] : statement.mention.start]
            if _TOTAL.search(before) and self._differs(statement, span):
                return True
        return False

    def _works_towards_other(self, own: tuple[int, int]) -> bool:
        """Return whether the last calculation behind an opening value has another result."""
        results: list[V | None] = []
        is_other = False
        for span in self._spans:
            statement = self._read_result(*span) if span[0] >= own[1] else None
            if statement is None or statement.mention is None:
                continue
            if statement.strength == Strength.EQUATION:
                results.append(statement.mention.value)
                is_other = self._differs(statement, span)
        return is_other and not adds_up(results, self._chosen.value)

    def _opens_with_other(self, own: tuple[int, int]) -> bool:
        """Return whether the first sentence states another value, and the one that was read is no conclusion."""
        if self._is_concluded(own):
            return False
        opening = self._find_opening()
        if opening is None or self._agrees(opening) or self._refines(own, opening):
            return False
        stated = self._sentences.read(*own)
        if stated is not None and (
            stated.strength == Strength.EQUATION
            or self._sentences.is_computed(own[0], self._chosen)
        ):
            used = self._mentions.list_between(own[0], self._chosen.start)
            return not any(are_close(opening.value, mention.value) for mention in used)
        return not self._leads_to_chosen(opening, own)

    def _is_named(self, statement: Statement[V], span: tuple[int, int]) -> bool:
        """Return whether the last name before a stated value is that of the quantity."""
        mention = statement.mention
        if self._quantity is None or mention is None or statement.is_aside or statement.is_risk:
            return False
        names = self._list_names(span[0], mention.start)
        return bool(names) and names[-1].is_asked and statement.strength >= Strength.WEAK

    def _list_names(self, start: int, end: int) -> list[QuantityName]:
        if self._quantity is None:
            return []
        return [name for name in self._quantity.find_names(self._text) if start <= name.start < end]

    def _is_total(self, statement: Statement[V]) -> bool:
        if self._quantity is None or not is_count(self._quantity) or statement.mention is None:
            return False
        return _TOTAL.search(self._text[: statement.mention.start]) is not None

    def _list_claims(self) -> list[Mention[V]]:
        """Return the values that are claimed for the quantity asked for."""
        if self._quantity is None:
            return []
        reader = ClaimReader(self._text, self._mentions, self._sentences, self._quantity)
        return [claim.mention for claim in reader.list_claims()]

    def _is_claimed_otherwise(self, own: tuple[int, int]) -> bool:
        """Return whether an earlier claim for the quantity differs, and nothing concludes on or leads to the later."""
        stated = self._sentences.read(*own)
        if stated is not None and stated.strength == Strength.ALONE:
            return False  # a last line that is the value alone, as it was asked for
        first = own
        other: Mention[V] | None = None
        for claim in reversed(self._list_claims()):
            span = self._find_sentence(claim)
            if span is None or span[0] >= own[0] or _WOULD.search(self._text, *span):
                continue
            if not self._agrees(claim):
                other = None if _is_operand(self._text, claim.end) else claim
                break
            first = span
        if other is None or self._is_concluded(first) or self._refines(first, other):
            return False
        return not self._leads_to_chosen(other, first, is_strict=True)

    def _is_claimed_twice(self) -> bool:
        """Return whether the same sentence claims two values of an amount: "The gap is 2.5. ... The gap is 1.25."."""
        if self._quantity is None or is_count(self._quantity):
            return False
        stated: dict[str, Mention[V]] = {}
        for claim in self._list_claims():
            span = self._find_sentence(claim)
            template = self._write_template(*span) if span else ""
            if not template or len(template) > _MAX_TEMPLATE or template.count("#") != 1:
                continue
            first = stated.setdefault(template, claim)
            if not self._agrees(first) and self._agrees(claim):
                return True
        return False

    def _refines(self, own: tuple[int, int], other: Mention[V]) -> bool:
        """Return whether a value is called corrected or adjusted, and the one before it is not."""
        before = self._find_sentence(other)
        if before is None or not _QUALIFIES.search(self._text, *own):
            return False
        return _QUALIFIES.search(self._text, *before) is None

    def _is_concluded(self, own: tuple[int, int]) -> bool:
        # "The corrected calcium is 9.3" names a quantity and concludes nothing.
        sentence = _QUALIFIES.sub("", self._text[slice(*own)])
        return bool(_RETURNS.search(sentence) or asked_words.CONCLUDES.search(sentence))

    def _is_one_of_parts(self, own: tuple[int, int]) -> bool:
        """Return whether points are those of one criterion among several, without a total: "The pulse is 1 point."."""
        if self._quantity is None or not is_count(self._quantity):
            return False
        if self._list_names(*own) or not _POINTS.match(self._text, self._chosen.end):
            return False
        if _OF_ALL.search(self._text, *own):
            return False
        others = 0
        for span in self._spans:
            mentions = self._mentions.list_between(*span) if span != own else []
            others += any(_POINTS.match(self._text, mention.end) for mention in mentions)
        return others >= _MIN_PARTS

    def _find_opening(self) -> Mention[V] | None:
        """Return the value of a first sentence that is nothing else, or that names the quantity."""
        first = self._spans[0]
        if _WOULD.search(self._text, *first):
            return None
        statement = self._sentences.read(*first)
        if statement is not None and statement.strength == Strength.ALONE:
            return statement.mention
        if statement is not None and (
            self._is_total(statement) or self._is_named(statement, first)
        ):
            return statement.mention
        claims = self._list_claims()
        return claims[0] if claims and claims[0].start < first[1] else None

    def _read_result(self, start: int, end: int) -> Statement[V] | None:
        statement = self._sentences.read(start, end)
        if statement is None or statement.is_aside or statement.is_risk:
            return None
        # "With the McIsaac modification you would add 1 point = 4."
        return None if _WOULD.search(self._text, start, end) else statement

    def _differs(self, statement: Statement[V], span: tuple[int, int]) -> bool:
        """Return whether a result is another value of the same quantity and not computed from the one that was read."""
        mention = statement.mention
        if mention is None or self._agrees(mention):
            return False
        if result_words.PERCENT.match(self._text, mention.end):
            return False
        names = self._list_names(span[0], mention.start)
        if names and not names[-1].is_asked:
            return False
        used = self._mentions.list_between(span[0], mention.start)
        if not names and any(are_close(self._chosen.value, other.value) for other in used):
            return False
        if self._quantity is None:
            return True
        unit = self._quantity.unit
        is_measured = result_words.MEASURE.match(self._text, mention.end) is not None
        return not (unit and is_measured and not unit.match(self._text, mention.end))

    def _agrees(self, mention: Mention[V]) -> bool:
        """Return whether a value is the one that was read, rounded or not, in percent or in a unit with a prefix."""
        value, other = self._chosen.value, mention.value
        if other is None or value is None or are_close(value, other):
            return True
        if not isinstance(value, float) or not isinstance(other, float):
            return False
        for factor in (1, 10, 100, 1000, 0.1, 0.01, 0.001):
            if abs(value * factor - other) <= _CLOSE * abs(other):
                return True
        return False


def _is_operand(text: str, end: int) -> bool:
    """Return whether a calculation goes on behind a value: "252 + 57.2"."""
    return _IS_OPERAND.match(text, end) is not None
