"""Read the value that one sentence or line states, and how clearly it states it. Pure.

Of the values that a sentence mentions, limits, ranges, the parts of a sum and what stands in explaining brackets are
not its result. What remains must be one value, or be led to by the others: behind the last equals sign of a
calculation, behind the verb, or as their sum.
"""

import math
import re
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Generic

from agent.reading import result_words, statements
from agent.reading.mentions import Mention, Mentions, V

_MAX_MENTIONS = 200  # values in a sentence; a sentence with more states none
_ROUNDED_ON_THE_WAY = 0.01  # relative difference
_MAX_LABEL = 40  # characters of "Total criteria met: "


class Strength(IntEnum):
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
class Statement(Generic[V]):
    """A sentence that mentions values: `mention` is the value that it states, None if it states no single one."""

    mention: Mention[V] | None
    strength: Strength
    is_aside: bool = False
    is_risk: bool = False
    is_named: bool = False
    """The statement calls its value the score, result or answer."""


_Pick = tuple[Mention[V] | None, Strength]
"""The mention that a sentence states, None if it states no single one, and how clearly."""


class SentenceReader(Generic[V]):
    """Reads the sentences of a plain text, each once."""

    def __init__(self, text: str, mentions: Mentions[V]) -> None:
        self._text = text
        self._mentions = mentions
        self._read: dict[tuple[int, int], Statement[V] | None] = {}

    def read(self, start: int, end: int) -> Statement[V] | None:
        """Return what a sentence states; None if it mentions no value."""
        if (start, end) not in self._read:
            self._read[start, end] = self._read_new(start, end)
        return self._read[start, end]

    def _read_new(self, start: int, end: int) -> Statement[V] | None:
        mentions = self._mentions.list_between(start, end)
        if not mentions:
            return None
        if len(mentions) > _MAX_MENTIONS:
            return Statement(None, Strength.WEAK)
        sentence = self._text[start:end]
        mentions = self._drop_bracketed(start, end, mentions)
        results = [mention for mention in mentions if not self._is_reference(start, mention)]
        if len(results) > 1:
            # "It's a 1:1 conversion, so still 6.86 mg."
            results = [mention for mention in results if not self._is_side_of_ratio(mention)]
        mention, strength = self._pick(start, end, results) if results else (None, Strength.WEAK)
        mention = self.follow_rounding(mention, end)
        first = mention or mentions[0]
        before = self._text[max(start, first.start - 200) : first.start]
        statement: Statement[V] = Statement(
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
            or self.is_bound(mention)
            or (self.is_denied(mention) and not self._is_sum_of_all(mention, mentions))
            or self.is_operand(mention)
        ):
            return replace(statement, mention=None)
        if strength <= Strength.WEAK and result_words.PART_OF_SCORE.match(self._text, mention.end):
            return replace(statement, mention=None)
        if self._is_alone(mention, start, end):
            return Statement(mention, Strength.ALONE)
        if strength <= Strength.WEAK and self._text[mention.start] == "+":
            return replace(statement, mention=None)  # points for a criterion
        return statement

    def _is_scale(self, start: int, end: int, mentions: list[Mention[V]]) -> bool:
        """Return whether a sentence says what ranges of values mean: "13-15 mild", "A ratio under 0.4 suggests"."""
        for mention in mentions:
            if mention.value is not None and not self.is_bound(mention):
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
        if result_words.REFERENCE.search(before):
            return True
        if result_words.REFERENCE_BEHIND.match(self._text, mention.end):
            return True
        return mention.value is None and self._text.startswith(("%", " %"), mention.end)

    def follow_rounding(self, mention: Mention[V] | None, end: int) -> Mention[V] | None:
        """Return the value to which the text rounds the mention: "21.6, rounded to 22"."""
        if mention is None:
            return None
        for other in self._mentions.list_between(mention.end, end):
            gap = self._text[mention.end : other.start]
            if are_close(mention.value, other.value) and result_words.ROUNDED_TO.match(gap):
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
            inside = self._mentions.list_between(brackets.start(1), brackets.end(1))
            before = [mention for mention in kept if mention.end <= brackets.start()]
            if not inside or not before:
                continue
            is_conditional = " if " in brackets[1]
            if not is_conditional and all(self.is_bound(mention) for mention in inside):
                kept = [m for m in kept if not brackets.start() <= m.start < brackets.end()]
                continue
            gap = self._text[before[-1].end : brackets.start()]
            if len(inside) == 1 and inside[0].value is None and result_words.BAND.fullmatch(gap):
                # "2.67, indeterminate (1.45-3.25)"
                kept = [m for m in kept if not brackets.start() <= m.start < brackets.end()]
                continue
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
        if all(are_close(mention.value, other.value) for other in inside):
            return True
        if result_words.CONFIDENCE_INTERVAL.match(content):
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
            return are_close(inside[-1].value, mention.value)
        if assigned:
            inside = [other for other in inside if other.start - brackets.start(1) in assigned]
        values = [other.value for other in inside]
        return adds_up(values, mention.value) or is_product_or_quotient(values, mention.value)

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
        if differ_by_a_thousand(mention.value, other.value):
            return False
        return (
            result_words.UNIT.fullmatch(unit) is not None
            and result_words.UNIT.fullmatch(other_unit) is not None
        )

    def _pick(self, start: int, end: int, mentions: list[Mention[V]]) -> _Pick[V]:
        """Return the mention that a sentence states as its value, and how clearly."""
        if len({mention.value for mention in mentions}) == 1:
            return mentions[-1], self._weigh(start, mentions[-1])
        assigned = self._list_assigned(start, end, mentions)
        pick = self._pick_computed(start, end, mentions, assigned)
        pick = pick or self._pick_sum(start, end, mentions)
        if pick:
            return pick
        mentions = self._drop_given(end, mentions)
        if len(mentions) == 1:
            return mentions[0], self._weigh(start, mentions[0])
        if result_words.PART.match(self._text, mentions[0].end):
            wholes = [m for m in mentions if not result_words.PART.match(self._text, m.end)]
            return self._pick(start, end, wholes) if wholes else (None, Strength.WEAK)
        addends = [mention.value for mention in mentions[1:]]
        if adds_up(addends, mentions[0].value) and self._is_behind_verb(start, mentions[0]):
            return mentions[0], self._weigh(start, mentions[0])
        if self._is_conversion(start, mentions, assigned):
            return mentions[1], Strength.EQUATION
        named = [mention for mention in mentions if self._is_named_result(start, mention)]
        if named:
            return self._pick_last(end, named, mentions), Strength.CONCLUSION
        return self._pick_labelled(start, end, mentions)

    def _list_assigned(self, start: int, end: int, mentions: list[Mention[V]]) -> list[Mention[V]]:
        """Return the mentions behind an equals sign, without those in brackets after the first mention."""
        behind_equals = {
            match.end() for match in result_words.EQUALS.finditer(self._text, start, end)
        }
        assigned = [mention for mention in mentions if mention.start in behind_equals]
        return [m for m in assigned if m is mentions[0] or not self._is_in_brackets(start, m)]

    def _pick_computed(
        self, start: int, end: int, mentions: list[Mention[V]], assigned: list[Mention[V]]
    ) -> _Pick[V] | None:
        """Pick the result of the last calculation: "80 / 1.6^2 = 31.25"."""
        computed = [mention for mention in assigned if self.is_computed(start, mention)]
        if not computed:
            return None
        if not self.is_explained(computed[-1], mentions, end):
            return None, Strength.EQUATION
        return computed[-1], max(Strength.EQUATION, self._weigh(start, computed[-1]))

    def _pick_sum(self, start: int, end: int, mentions: list[Mention[V]]) -> _Pick[V] | None:
        """Pick the last mention that is the sum of those before it: "2 and 3 give 5"."""
        for index in range(len(mentions) - 1, 1, -1):
            total = mentions[index]
            is_sum = self._is_sum(start, mentions[:index], total)
            if is_sum and self.is_explained(total, mentions, end):
                return total, Strength.CONCLUSION
        return None

    def _is_sum(self, start: int, before: list[Mention[V]], total: Mention[V]) -> bool:
        """Return whether the text leads from the mentions before, or from the last of them, to their sum."""
        values = [mention.value for mention in before]
        if adds_up(values, total.value) and self._is_behind_verb(start, total):
            return True
        # "With Na 131 this gives 262 + 6.4 + 3.9, and so 272.3"
        gap = self._text[before[-1].end : total.start]
        if not result_words.SO_OF_SUM.fullmatch(gap):
            return False
        return adds_up([mention.value for mention in self._list_addends(before)], total.value)

    def _drop_given(self, end: int, mentions: list[Mention[V]]) -> list[Mention[V]]:
        """Return the mentions before words such as "given a weight of", unless these lead to a result."""
        given = result_words.GIVEN.search(self._text, mentions[0].end, end)
        if not given or result_words.LEADS_TO.search(self._text, given.start(), end):
            return mentions
        return [mention for mention in mentions if mention.end <= given.start()]

    def _is_named_result(self, start: int, mention: Mention[V]) -> bool:
        before = self._text[max(start, mention.start - 120) : mention.start]
        return result_words.RESULT_NOUN.search(before) is not None

    def _pick_labelled(self, start: int, end: int, mentions: list[Mention[V]]) -> _Pick[V]:
        """Pick the mention behind a verb, or the first behind a short label: "BMI 31.25 kg/m2 (weight 80 kg)"."""
        text = self._text
        first, second = mentions[0], mentions[1]
        label = text[start : first.start]
        is_name = result_words.NAME_OF.fullmatch(label) is not None
        is_label = len(label.split()) <= 4 and not result_words.PREPOSITION.search(label)
        verbs = [mention for mention in mentions if self._is_behind_verb(start, mention)]
        is_arrow = verbs and result_words.ARROW_BEFORE.search(text, first.end, verbs[0].start)
        if is_name and verbs == mentions[1:] and is_arrow:
            return None, Strength.WEAK
        # "55.1 kg, which is 121 lb"
        is_restated = result_words.WHICH_IS.match(text, first.end, second.start)
        if verbs == mentions[1:2] and is_label and is_restated:
            return first, Strength.WEAK
        if verbs:
            last = self._pick_last(end, verbs, mentions)
            return last, self._weigh(start, last or verbs[-1])
        if (is_label or is_name) and self.is_explained(first, mentions, end):
            return first, Strength.WEAK
        return None, Strength.WEAK

    def _list_addends(self, mentions: list[Mention[V]]) -> list[Mention[V]]:
        """Return the last mentions that are joined by plus signs, or by commas."""
        addends = mentions[-1:]
        for mention in reversed(mentions[:-1]):
            gap = self._text[mention.end : addends[0].start]
            if not result_words.PLUS.fullmatch(gap):
                break
            addends.insert(0, mention)
        return addends

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
        if not leads_to_last and self.is_explained(first, mentions, end):
            return first
        if not self.is_explained(last, mentions, end):
            return None
        if len(stated) == 1:
            return last
        gap = self._text[stated[-2].end : last.start]
        if result_words.RIVAL.search(gap) or not result_words.LEADS_TO.search(gap):
            return None
        return last

    def _is_behind_verb(self, start: int, mention: Mention[V]) -> bool:
        before = self._text[max(start, mention.start - 60) : mention.start]
        if result_words.BEHIND_VERB.search(before) or result_words.GIVES_NAMED.search(before):
            return True
        return (
            mention.start - start <= 20 and result_words.APPROXIMATELY.fullmatch(before) is not None
        )

    def is_computed(self, start: int, mention: Mention[V]) -> bool:
        """Return whether a calculation stands before the equals sign, rather than a name."""
        before = self._text[max(start, mention.start - 200) : mention.start].rstrip(" =≈~$(→>-⇒≅")
        return result_words.CALCULATES.search(before) is not None

    def is_explained(self, mention: Mention[V], mentions: list[Mention[V]], end: int) -> bool:
        """Return whether the mentions behind this one in the sentence only explain, round or interpret it."""
        text = self._text
        previous_end = mention.end
        for other in mentions:
            if other.start <= mention.start:
                continue
            gap = result_words.BRACKETS.sub(" ", text[previous_end : other.start])
            is_same = are_close(mention.value, other.value)
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
        if result_words.COMPARES.match(gap):
            return True
        words = re.split("[,;]", self._text[start:end], maxsplit=2)
        return result_words.INTERPRETS.search(",".join(words[:2])) is not None

    def _weigh(self, start: int, mention: Mention[V]) -> Strength:
        text = self._text
        before = text[max(start, mention.start - 200) : mention.start]
        if result_words.RESULT_NOUN.search(before) or result_words.CONCLUDES.search(before):
            return Strength.CONCLUSION
        if result_words.SCORE_FOR.match(text[start : mention.start]):
            return Strength.CONCLUSION
        if result_words.EQUALS.search(
            text, max(start, mention.start - 6), mention.start + 2
        ) and self.is_computed(start, mention):
            return Strength.EQUATION
        return Strength.WEAK if self._is_behind_verb(start, mention) else Strength.MENTIONED

    def _is_alone(self, mention: Mention[V], start: int, end: int) -> bool:
        """Return whether the line has only the value and its unit."""
        before = self._text[start : mention.start]
        if len(before) > 30 or not result_words.APPROXIMATELY.fullmatch(before):
            return False
        if start > 0 and self._text[start - 1] != "\n":
            return False
        after = self._text[mention.end : end]
        if after.endswith(("; ", ";")):
            return False
        return len(after) < 80 and len(result_words.UNIT_WORDS.findall(after)) <= 6

    def begins_with_value(self, start: int, end: int) -> bool:
        """Return whether nothing but "about" or a sign stands before the first value of a sentence."""
        words = result_words.APPROXIMATELY.match(self._text, start, end)
        if words is None or self._text[words.end() : words.end() + 1].isspace():
            return False
        mentions = self._mentions.list_between(start, min(end, words.end() + 1))
        return bool(mentions)

    def is_bound(self, mention: Mention[V]) -> bool:
        """Return whether the mention is a limit ("< 5", "at least 5"), a ratio or part of one."""
        if self._is_ratio(mention) and not self._is_part_of_total(mention):
            return True
        before = self._text[max(0, mention.start - 40) : mention.start].rpartition("\n")[2]
        return (
            result_words.BOUND_BEFORE.search(before) is not None
            or result_words.BOUND_AFTER.match(self._text, mention.end) is not None
        )

    def _is_part_of_total(self, mention: Mention[V]) -> bool:
        """Return whether the mention is the first number of "Total: 3/4"."""
        match = result_words.OF_TOTAL.match(self._text, mention.end)
        line_start = self._text.rfind("\n", 0, mention.start) + 1
        if not match or not isinstance(mention.value, float):
            return False
        before = self._text[max(line_start, mention.start - _MAX_LABEL) : mention.start]
        return mention.value <= float(match[1]) and bool(result_words.TOTAL_OF.match(before))

    def _is_ratio(self, mention: Mention[V]) -> bool:
        """Return whether the mention is a side of "1:2" or "1/2"."""
        text, end = self._text, mention.end
        if text[end : end + 1] in (":", "/") and self._mentions.list_between(end + 1, end + 2):
            return True
        return (
            result_words.RATIO_BEFORE.search(text, max(0, mention.start - 2), mention.start)
            is not None
        )

    def _is_side_of_ratio(self, mention: Mention[V]) -> bool:
        """Return whether the mention is a side of "1:1"; after a colon with a space, a value follows its label."""
        text = self._text
        if text.startswith(":", mention.end) and text[mention.end + 1 : mention.end + 2].isdigit():
            return True
        return text[mention.start - 1 : mention.start] == ":" and (
            text[max(0, mention.start - 2) : mention.start - 1].isdigit()
        )

    def is_operand(self, mention: Mention[V]) -> bool:
        """Return whether the mention is part of a formula without a result."""
        before = self._text[max(0, mention.start - 3) : mention.start]
        return (
            result_words.OPERATOR_BEFORE.search(before) is not None
            or result_words.OPERATOR_BEHIND.match(self._text, mention.end) is not None
        )

    def _is_sum_of_all(self, mention: Mention[V], mentions: list[Mention[V]]) -> bool:
        """Return whether the mention is the sum of all before it: "Fever 1 + inflamed 1 + no cough 0 = 2"."""
        before = [other.value for other in mentions if other.start < mention.start]
        is_assigned = self._text[: mention.start].endswith(("= ", "="))
        return is_assigned and adds_up(before, mention.value)

    def is_denied(self, mention: Mention[V]) -> bool:
        """Return whether the mention is denied ("not 5") or one end of a range."""
        before = self._text[max(0, mention.start - 60) : mention.start]
        text = self._text
        start = mention.start
        if "ssumption" in text[max(0, start - 120) : start]:
            # "Under these assumptions, the total is 4.5."
            text = result_words.UNDER_ASSUMPTIONS.sub("", text[:start])
            start = len(text)
        return statements.is_denied(text, start) or result_words.BETWEEN.search(before) is not None


def _hide_signs(sentence: str) -> str:
    return re.sub("[<>≤≥]", " ", sentence)


def _is_aside(sentence: str) -> bool:
    """Return whether a sentence interprets or explains a result, or repeats what was given."""
    if result_words.USED_SO.match(sentence):
        return False
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


def are_close(value: object, other: object) -> bool:
    """Return whether two values are equal, or one is the other rounded to fewer digits."""
    if value is None or other is None:
        return False
    if value == other:
        return True
    if not isinstance(value, int | float) or not isinstance(other, int | float):
        return False
    return any(
        _is_rounded(value, other, digits) or _is_rounded(other, value, digits)
        for digits in range(5)
    )


def _is_rounded(value: float, other: float, digits: int) -> bool:
    """Return whether `other` is `value` with fewer digits; a half may be rounded up, or to the even digit."""
    if round(value, digits) == other:
        return True
    half = 0.5 * 10.0**-digits
    is_up = math.isclose(abs(other) - abs(value), half, rel_tol=1e-9)
    return is_up and round(other, digits) == other


def are_same(value: object, other: object) -> bool:
    """Return whether two values are equal, or differ by no more than what was rounded on the way."""
    if isinstance(value, float) and isinstance(other, float):
        return math.isclose(value, other, rel_tol=_ROUNDED_ON_THE_WAY)
    return value == other


def differ_by_a_thousand(value: object, other: object) -> bool:
    """Return whether one number is a thousand times the other, as it is in a unit with another prefix."""
    if not isinstance(value, float) or not isinstance(other, float):
        return False
    return math.isclose(value * 1000, other) or math.isclose(value, other * 1000)


def adds_up(parts: list[V | None], total: V | None) -> bool:
    """Return whether `parts` are two or more numbers that sum to `total`: "5 (2 for age, 3 for stroke)"."""
    numbers = [part for part in parts if isinstance(part, int | float)]
    if len(numbers) < 2 or not isinstance(total, int | float):
        return False
    return math.isclose(sum(numbers), total)


def is_product_or_quotient(parts: list[V | None], total: V | None) -> bool:
    """Return whether `total` is the product of two or more numbers, or the quotient of two; rounded or not."""
    numbers = [float(part) for part in parts if isinstance(part, int | float)]
    if len(numbers) != len(parts) or len(numbers) < 2 or not isinstance(total, int | float):
        return False
    if are_close(total, math.prod(numbers)):
        return True
    return len(numbers) == 2 and bool(numbers[1]) and are_close(total, numbers[0] / numbers[1])
