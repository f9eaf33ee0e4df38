"""Read the value that a plain text states for the quantity that its question asks for. Pure.

A statement in which the quantity is named and followed by a value is a claim: "Anion gap 28 mEq/L", "I make his
CHA2DS2-VASc score 3". So is a count with its criteria ("3 of the 8 PERC criteria") and a dose with its drug. No claims
are values of other quantities and other methods, bounds, thresholds, and statements about patients in general. Of
claims that differ, the last counts if the text takes the earlier ones back, uses them in its calculation, or draws a
conclusion; otherwise none does.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

from agent.reading import asked_words, result_words
from agent.reading.mentions import Mention, Mentions, V
from agent.reading.quantity import Quantity, QuantityName
from agent.reading.sentence_value import (
    SentenceReader,
    adds_up,
    are_close,
    differ_by_a_thousand,
    is_product_or_quotient,
)
from agent.reading.statements import find_last_retraction

_MAX_NAMES = 300  # names of quantities in a text; an answer with more is an endless repetition
_MAX_GAP = 120  # characters between a name and its value
_MAX_SENTENCE = 1_000  # characters
_MAX_BEFORE = 60  # characters before a name that may qualify it
_MAX_METHOD = 20  # characters from a method's name to the quantity's: "Fridericia QTc"
_MAX_PARTS = 40  # of a sum of points


@dataclass(frozen=True, slots=True)
class ValueClaim(Generic[V]):
    """A statement of a value of the quantity asked for.

    Attributes:
        mention: the value.
        sentence: the span of the sentence, or of the part of it that is about the quantity.
        is_final: the statement draws a conclusion.
    """

    mention: Mention[V]
    sentence: tuple[int, int]
    is_final: bool


class ClaimReader(Generic[V]):
    """Reads the claims about a quantity in a plain text."""

    def __init__(
        self,
        text: str,
        mentions: Mentions[V],
        sentences: SentenceReader[V],
        quantity: Quantity,
    ) -> None:
        self._text = text
        self._mentions = mentions
        self._sentences = sentences
        self._quantity = quantity
        self._names = quantity.find_names(text)
        self._ruled_out: set[int] = set()
        self.counts = is_count(quantity)
        """Whether the quantity is a number of points or criteria, which may be a sum."""

    def list_claims(self) -> list[ValueClaim[V]]:
        """Return the claims in the order of their values; [] for an endless repetition."""
        if len(self._names) > _MAX_NAMES:
            return []
        claims: list[ValueClaim[V]] = []
        for index, name in enumerate(self._names):
            claim = self._read_name(index, name) if name.is_asked else None
            if claim:
                claims.append(claim)
        if not claims:
            claims += self._list_named_behind()
        claims.sort(key=lambda claim: claim.mention.start)
        return claims

    def is_of_other_quantity(self, mention: Mention[V], start: int) -> bool:
        """Return whether the last name before a value, in its sentence, is another quantity's."""
        last: QuantityName | None = None
        for name in self._names:
            if start <= name.start and name.end <= mention.start:
                last = name
        return last is not None and not last.is_asked

    def is_ruled_out(self, mention: Mention[V], start: int) -> bool:
        """Return whether a value is a limit, a general example, or directly stated for another quantity or method."""
        if mention.start in self._ruled_out:
            return True
        if self._quantity.source.match(self._text, mention.end):
            return True
        before = [name for name in self._names if start <= name.start and name.end <= mention.start]
        gap_start = before[-1].end if before else start
        gap = self._text[gap_start : mention.start]
        if len(gap) > _MAX_GAP or self._mentions.list_between(gap_start, mention.start):
            return False
        # "The date of conception, two weeks after the last period, is 05/06/2013."
        is_asked = any(name.is_asked for name in before)
        if before and not is_asked and asked_words.leads_to_value(gap):
            return True
        rival = self._quantity.rivals.search(self._text, start, mention.start)
        is_asked_by_method = rival and self._quantity.names.search(rival[0])
        return (
            rival is not None
            and not is_asked_by_method
            and (not before or rival.start() >= before[-1].start - _MAX_METHOD)
        )

    def is_about_other_case(self, start: int, end: int) -> bool:
        """Return whether a sentence says what the value is in another case: "With actual weight it would be 62.5"."""
        if asked_words.OTHER_CASE.match(self._text, start, end):
            return True
        if self._quantity.kind in ("date", "duration"):
            return False
        return asked_words.WOULD.search(self._text, start, end) is not None

    def names_only_others(self, start: int, end: int) -> bool:
        """Return whether a sentence names another quantity or method, but not the one asked for."""
        names = [name for name in self._names if start <= name.start < end]
        if any(name.is_asked for name in names):
            return False
        if self._quantity.rivals.search(self._text, start, end):
            return True
        return any(self._has_value(name, end) for name in names)

    def is_named_with_other_value_behind(self, mention: Mention[V], end: int) -> bool:
        """Return whether the quantity is named behind a position, in a sentence that mentions another value."""
        for name in self._names:
            if not name.is_asked or name.start < end:
                continue
            name_end = self._find_end(name)
            if not self._has_value(name, name_end):
                continue
            first = self._mentions.list_between(name.end, name_end)[0]
            if not are_close(first.value, mention.value):
                return True
        return False

    def _find_end(self, name: QuantityName) -> int:
        return self._find_sentence(name)[1]

    def _has_value(self, name: QuantityName, end: int) -> bool:
        """Return whether a value is stated behind a name."""
        mentions = self._mentions.list_between(name.end, end)
        if not mentions:
            return False
        gap = self._text[name.end : mentions[0].start]
        if len(gap) > _MAX_GAP or not asked_words.leads_to_value(gap):
            return False
        is_operand = asked_words.COMPUTES_ON.match(self._text, mentions[0].end)
        return not is_operand or not gap.isspace()

    def _read_name(self, index: int, name: QuantityName) -> ValueClaim[V] | None:
        """Return the claim that begins with a name, if one does."""
        start, end = self._find_sentence(name)
        following = self._find_next_name(index)
        if following is not None:
            end = min(end, max(following.start, name.end))
        mention = self._read_attached(name) or self._prefer_unit(
            self._read_behind(name.end, end), name.end, end
        )
        if mention is None or not self._is_plausible(mention):
            return None
        if self._is_about_others(start, name, mention, end):
            self._ruled_out.add(mention.start)
            return None
        return ValueClaim(mention, (start, end), self._is_final(start, name.start))

    def _find_next_name(self, index: int) -> QuantityName | None:
        """Return the next name, but not the same quantity's in brackets: "IBW 60.5 kg (54 kg is 89% of IBW)"."""
        start = self._names[index].end
        for name in self._names[index + 1 :]:
            between = self._text[start : name.start]
            is_in_brackets = between.count("(") > between.count(")")
            if not (is_in_brackets and name.is_asked):
                return name
        return None

    def _find_sentence(self, name: QuantityName) -> tuple[int, int]:
        """Return the span of a name's sentence. To a name that ends its line belongs the next line."""
        text = self._text
        first = max(0, name.start - _MAX_SENTENCE)
        start = text.rfind("\n", first, name.start) + 1 or first
        for match in result_words.SENTENCE_END.finditer(text, start, name.start):
            start = match.end()
        begin = name.end
        label_end = asked_words.END_OF_LABEL.match(text, name.end)
        if label_end and (label_end["mark"] or not text[start : name.start].strip(" *_#-")):
            begin = label_end.end()
        return start, self._find_sentence_end(begin)

    def _find_sentence_end(self, start: int) -> int:
        last = min(len(self._text), start + _MAX_SENTENCE)
        match = result_words.SENTENCE_END.search(self._text, start, last)
        return match.end() if match else last

    def _read_attached(self, name: QuantityName) -> Mention[V] | None:
        """Return the value written together with a name: "GCS12", "Child-Pugh A5"."""
        if not self.counts:
            return None
        words = asked_words.IN_WORDS.match(self._text, name.end)
        if words:
            count = float(asked_words.NUMBER_WORDS.index(words[1].lower()))
            return self._mentions.make_number(count, *words.span(1))
        match = asked_words.ATTACHED.match(self._text, name.end)
        if match is None:
            return None
        return self._mentions.make_number(float(match[1]), *match.span(1))

    def _read_behind(self, start: int, end: int) -> Mention[V] | None:
        """Return the value that follows a name, or the result of the calculation that does."""
        mentions = self._mentions.list_between(start, end)
        if not mentions:
            return None
        converted = self._find_converted(mentions)
        if converted:
            return converted
        first = mentions[0]
        gap = self._text[start : first.start]
        if asked_words.BEGINS_FORMULA.match(self._text, start):
            end = self._find_formula_end(start, end)
            return self._read_computed(start, end, needs_calculation=True)
        if asked_words.LIMIT_OF.match(gap):
            self._ruled_out.add(first.start)
            return None
        if len(gap) > _MAX_GAP or not asked_words.leads_to_value(gap):
            return self._read_sum(start, end, mentions)
        if self._is_result(first, mentions, end):
            rounded = self._sentences.follow_rounding(first, end)
            return self._follow_unit(rounded or first, end)
        return self._read_computed(start, end, needs_calculation=False)

    def _find_formula_end(self, start: int, end: int) -> int:
        """Return where a formula ends before one of its parts is computed: "= TBW × (Na/140 - 1), TBW = 53.4 L"."""
        for part in asked_words.PART_OF_FORMULA.finditer(self._text, start, end):
            if re.search(
                rf"(?<!\w){re.escape(part['name'])}(?!\w)", self._text[start : part.start()]
            ):
                return part.start()
        return end

    def _read_sum(self, start: int, end: int, mentions: list[Mention[V]]) -> Mention[V] | None:
        """Return the total of a list of points behind a name: "HEART: H 1, E 1, A 2, R 1, T 0 → 5"."""
        if not self.counts or self._text[start : start + 1] not in (":", " "):
            return None
        for index, mention in enumerate(mentions[:_MAX_PARTS]):
            before = self._text[max(start, mention.start - 25) : mention.start]
            parts = [part.value for part in mentions[:index]]
            if not asked_words.TOTALS.search(before) or not adds_up(parts, mention.value):
                continue
            return mention if self._is_result(mention, mentions, end) else None
        return None

    def _read_computed(self, start: int, end: int, *, needs_calculation: bool) -> Mention[V] | None:
        """Return the result of a calculation behind a name."""
        statement = self._sentences.read(start, end)
        if statement is None or statement.mention is None or statement.is_risk:
            return None
        before = self._text[max(start, statement.mention.start - 6) : statement.mention.start]
        if not asked_words.EQUALS.search(before) or self._is_limited(statement.mention):
            return None
        if needs_calculation and not self._ends_calculation(start, statement.mention):
            return None
        return self._follow_unit(statement.mention, end)

    def _ends_calculation(self, start: int, mention: Mention[V]) -> bool:
        """Return whether numbers are computed before the equals sign of a value: not in "with RR = 60/82"."""
        before = self._text[start : mention.start].rstrip(" =≈~$(→>-⇒≅")
        step = asked_words.EQUALS_SIGN.split(before)[-1]
        return asked_words.CALCULATION.fullmatch(step) is not None

    def _is_result(self, mention: Mention[V], mentions: list[Mention[V]], end: int) -> bool:
        """Return whether a value is stated, and what follows in its sentence explains or interprets it."""
        if self._is_limited(mention) or self._sentences.is_operand(mention):
            return False
        is_operand = asked_words.COMPUTES_ON.match(self._text, mention.end)
        if is_operand and not self._is_of_maximum(mention):
            return False
        return self._is_followed_by_comment(mention, mentions, end)

    def _is_followed_by_comment(
        self, mention: Mention[V], mentions: list[Mention[V]], end: int
    ) -> bool:
        """Return whether the other values of a sentence are those of a comment on this one."""
        behind = self._list_rivals_behind(mention, mentions, end)
        if not behind:
            return True
        gap = self._text[mention.end : behind[0].start]
        if self._quantity.rivals.search(gap):
            return True
        if result_words.WHICH_IS.match(gap):
            # "2, which puts the risk between 34 and 40 per cent"
            gap = gap.replace(" between ", " ")
        if result_words.RIVAL.search(gap):
            return False
        if is_product_or_quotient([other.value for other in behind], mention.value):
            return True
        if asked_words.COMMENTS.match(gap):
            return True
        if self.counts and asked_words.BEHIND_COLON.match(gap):
            return True
        return self._sentences.is_explained(mention, [mention, *behind], end)

    def _list_rivals_behind(
        self, mention: Mention[V], mentions: list[Mention[V]], end: int
    ) -> list[Mention[V]]:
        """Return the mentions behind a value, without bounds, percentages, maxima, and parts in brackets."""
        text = self._text
        behind: list[Mention[V]] = []
        for other in mentions:
            if other.start <= mention.start or asked_words.SIGN_BEFORE.search(
                text, mention.end, other.start
            ):
                continue
            if result_words.PERCENT.match(text, other.end) and not result_words.PERCENT.match(
                text, mention.end
            ):
                continue
            if asked_words.MAXIMUM_BEFORE.search(text, mention.end, other.start) and other.end:
                continue
            if asked_words.REFERENCE_BEFORE.search(text, mention.end, other.start):
                continue
            behind.append(other)
        for brackets in result_words.BRACKETS.finditer(text, mention.end, end):
            inside = [other for other in behind if brackets.start() < other.start < brackets.end()]
            explains = len(inside) > 1 or (
                self.counts and asked_words.EXPLAINS_COUNT.match(brackets[1])
            )
            explains = explains or asked_words.ABOUT_INPUT.match(brackets[1])
            if explains and not asked_words.OFFERS.search(brackets[1]):
                behind = [other for other in behind if other not in inside]
        return behind

    def _is_limited(self, mention: Mention[V]) -> bool:
        if mention.value is None or self._sentences.is_denied(mention):
            return True
        return self._sentences.is_bound(mention) and not self._is_of_maximum(mention)

    def _is_of_maximum(self, mention: Mention[V]) -> bool:
        """Return whether a count of points or criteria stands before its maximum: "2/8"."""
        match = result_words.OF_TOTAL.match(self._text, mention.end)
        if match is None or not self.counts:
            return False
        return isinstance(mention.value, float) and mention.value <= float(match[1])

    def _find_converted(self, mentions: list[Mention[V]]) -> Mention[V] | None:
        """Return the last value if it is one before it in the unit asked for: "0.386 s, that is 386 msec"."""
        unit = self._quantity.unit
        last = mentions[-1]
        if unit is None or not unit.match(self._text, last.end):
            return None
        for mention in mentions[:-1]:
            if unit.match(self._text, mention.end):
                continue
            if differ_by_a_thousand(mention.value, last.value) and mention is not mentions[0]:
                return last
        return None

    def _prefer_unit(self, mention: Mention[V] | None, start: int, end: int) -> Mention[V] | None:
        """Return the equal value in the unit that the question asks for: "CrCl = 62.4 mL/min = 1.04 mL/s"."""
        unit = self._quantity.unit
        if mention is None or unit is None or unit.match(self._text, mention.end):
            return mention
        if result_words.MEASURE.match(self._text, mention.end) is None and "%" not in unit.pattern:
            return mention
        for other in reversed(self._mentions.list_between(start, end)):
            before = self._text[max(start, other.start - 6) : other.start]
            if unit.match(self._text, other.end) and asked_words.EQUALS.search(before):
                return other
        return mention

    def _follow_unit(self, mention: Mention[V], end: int) -> Mention[V]:
        """Return the same value in the unit that the question asks for: "0.386 s, that is 386 msec"."""
        unit = self._quantity.unit
        if unit is None or unit.match(self._text, mention.end):
            return mention
        for other in self._mentions.list_between(mention.end, end):
            if differ_by_a_thousand(mention.value, other.value) and unit.match(
                self._text, other.end
            ):
                return other
        return mention

    def _is_plausible(self, mention: Mention[V]) -> bool:
        return is_plausible(mention.value, self._quantity)

    def _is_about_others(
        self, start: int, name: QuantityName, mention: Mention[V], end: int
    ) -> bool:
        """Return whether a statement is hypothetical, general, or about another method, version or drug."""
        text = self._text
        if self._quantity.source.match(text, mention.end):
            return True
        before = text[max(start, name.start - _MAX_BEFORE) : name.start]
        if asked_words.OTHER_CASE.match(text, start, name.end) or asked_words.QUALIFIED.search(
            before
        ):
            return True
        if asked_words.GENERAL.search(before) and asked_words.GENERAL_BEHIND.match(
            text, mention.end
        ):
            return True
        if asked_words.LIMIT_BEHIND.match(text, mention.end):
            return True
        clause_start = start + len(text[start : name.start].rpartition(", ")[0])
        rivals = self._quantity.rivals
        if rivals.search(text, clause_start, name.start) or rivals.search(
            text, name.end, mention.start
        ):
            return True
        method = asked_words.METHOD_BEHIND.match(text, mention.end, end)
        return method is not None and rivals.search(method[0]) is not None

    def _is_final(self, start: int, end: int) -> bool:
        """Return whether the words before a name draw a conclusion."""
        return asked_words.CONCLUDES.search(self._text, start, end) is not None

    def _list_named_behind(self) -> Iterator[ValueClaim[V]]:
        """Yield the claims in which the name stands behind the value: "3 of the 8 PERC criteria"."""
        text = self._text
        for match in self._quantity.behind.finditer(text):
            line_start = text.rfind("\n", 0, match.start()) + 1
            mentions = self._mentions.list_between(line_start, match.start())
            if not mentions:
                continue
            mention = mentions[-1]
            gap = text[mention.end : match.start()]
            if len(gap) > _MAX_GAP or not asked_words.UNIT_GAP.fullmatch(gap):
                continue
            if self._is_limited(mention) or not self._is_plausible(mention):
                continue
            start = line_start
            for stop in result_words.SENTENCE_END.finditer(text, line_start, mention.start):
                start = stop.end()
            end = self._find_sentence_end(match.end())
            behind = self._mentions.list_between(match.end(), end)
            if not self._is_followed_by_comment(mention, [mention, *behind], end):
                continue
            if asked_words.OTHER_CASE.match(text, start, mention.start):
                continue
            if asked_words.GIVEN.search(text, start, mention.start):
                continue
            yield ValueClaim(mention, (start, match.end()), self._is_final(start, mention.start))


def is_count(quantity: Quantity) -> bool:
    """Return whether the quantity is a number of points or criteria."""
    return quantity.kind in ("points", "criteria")


def is_plausible(value: object, quantity: Quantity) -> bool:
    """Return whether a value is one that the quantity can have: points are whole or half, criteria a small count."""
    if not isinstance(value, float):
        return True
    if quantity.kind == "points":
        return value * 2 == int(value * 2)
    if quantity.kind == "criteria":
        return value == int(value) and 0 <= value <= asked_words.MOST_CRITERIA
    return True


def choose_claim(
    claims: Sequence[ValueClaim[V]], text: str, mentions: Mentions[V]
) -> ValueClaim[V] | None:
    """Return the claim that decides; None if there is none or they contradict each other."""
    if not claims:
        return None
    last = claims[-1]
    retraction = find_last_retraction(text)
    for claim in claims[:-1]:
        if are_close(claim.mention.value, last.mention.value):
            continue
        if retraction is not None and claim.mention.end <= retraction <= last.mention.start:
            continue
        if last.is_final and not claim.is_final:
            continue
        used = mentions.list_between(last.sentence[0], last.mention.start)
        is_beside = claim.sentence[0] == last.sentence[0]
        if not is_beside and any(are_close(claim.mention.value, mention.value) for mention in used):
            continue
        return None
    return last
