"""Decide whether a value that was read is one of several between which a plain text does not choose. Pure.

`agent.reading.other_results` compares whole sentences. These rules look within a sentence, at units and at the
conditions under which values hold. Each stands in a function of its own:

| rule | example that states no value |
|---|---|
| another value opens the answer | 62.4 kg. The height is 172 cm, so 63.2 + 0.4 × (61 - 63.2) = 62.3 kg. |
| the working in brackets ends elsewhere | 27.4 kg/m2 (84 / 1.72^2 = 28.4) |
| a check arrives elsewhere | 65 mL/hr. Check: 40 + 20 + 8 = 68 mL/hr. |
| a value for each of two methods | With a factor of 0.6 it is 4.2 L; with 0.5 it is 3.5 L. |
| a unit in which nobody asked | 144.7 lb |
| something is added behind it | The score is 4. Actually the stroke counts 2 more. |
| a difference, or what was measured | 9.3 kg above it; 132 mEq/L measured |
| another quantity or method | delta ratio 6/6 = 1.0; 453 ms using Bazett's formula |
| one of two counts | 3, or 4 with the borderline saturation |
| two values with remarks | 62.3 mL/min (actual weight) / 58.7 mL/min (ideal weight) |
| a value of another day or of the note | 72 (was 80); The note says 5. |
| an item of a list without a total | - Age: 1 (new line) - Sex: 1 |
| the count opens and ends differently | Score: 5 (new line) Total: 4 |
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic

from agent.reading import asked_words, result_words
from agent.reading.asked_value import ClaimReader, is_count
from agent.reading.mentions import Mention, Mentions, V
from agent.reading.quantity import Quantity, QuantityName
from agent.reading.sentence_value import SentenceReader, Strength, adds_up, are_close
from agent.reading.statements import find_last_retraction

_MAX_TEXT = 20_000  # characters; a longer answer is an endless repetition
_MAX_CLAUSES = 200
_MAX_BRACKETS = 20

# Units in which a value is none that the question asks for, by a sample of the unit that it does.
_FOREIGN_UNITS = {
    " kg": re.compile(r" ?(?:lbs?|pounds?|stones?|st)\b"),
    " mL/hr": re.compile(
        r" ?(?:mL|ml|cc|L|l|lit(?:er|re)s?) ?(?:(?:/|per|a|in|over|each|every|al|pro|par) ?)"
        r"(?:days?|d|24|d[ií]as?|Tage?|jours?|giorn[oi])\b"
    ),
    " mg": re.compile(r" ?(?:m[lL]|cc|tablets?|pills?|ampoules?|vials?)\b(?! ?/)"),
    " mg/dL": re.compile(r" ?m(?:mol|Eq) ?/ ?[lL]\b"),
    " mmHg": re.compile(r" ?kPa\b"),
    " MME": re.compile(
        r" ?mg (?:[\w-]{1,15} ){0,2}(?:every|each|q ?\d|twice|(?:three|four) times|per (?:tablet|dose|pill)|tablets?)\b"
    ),
    " mL/min": re.compile(r" ?(?:mL ?/ ?s|L ?/ ?h)\b"),
}
_ADDED_LATER = re.compile(
    r"(?:^|[.!?]\s+|\n\W{0,3})(?:(?:oh|hm+|but|and),? )?actually\b", re.IGNORECASE
)
# "The sum is 4. But she also has heart failure."
_ALSO_HAS = re.compile(
    r"(?:[.!]\s+|\n)(?:but|however),? (?:she|he|the patient|they) (?:also|in addition) "
    r"(?:has|had|have|meets?|takes?|gets?)\b"
    r"|(?:[.!]\s+|\n)(?:but |however, |oh, )?i (?:forgot|missed|overlooked|left out)\b",
    re.IGNORECASE,
)
_UNIT = r"(?: ?(?:[a-zA-Z%]{1,5}(?:/[\w.]{1,6}(?:/[\w.]{1,6})?)?))?"
# "132 mEq/L measured", "9.3 kg above it"
_NOT_THE_RESULT = re.compile(
    rf"{_UNIT} (?:(?:measured|uncorrected|unadjusted)\b|(?:above|below|over|under|more than|less than|higher than"
    r"|lower than|heavier|lighter|too) (?:it|that|this|her|his|the ideal|the target|ideal|much|heavy|high)\b)"
)
# "62.3 mL/min (actual weight) / 58.7 mL/min (ideal weight)"
_REMARK = r" ?\([^()\d\n]{3,40}\)"
_NEXT_BY_REMARK = re.compile(rf"{_UNIT}{_REMARK} ?(?:/|,|;|and|or|vs\.?) ?")
_OWN_REMARK = re.compile(rf"{_UNIT}{_REMARK}")
# What was measured or noted: "a year ago 68", "72 (was 80)", "The note says 5.", "measured 310"
_OF_OTHERS = re.compile(
    r"(?:\b(?:ago|last (?:year|month|week|visit|time)|previous(?:ly)?|formerly)\b,?[^.,;\d\n]{0,25}"
    r"|\b(?:note|chart|record|report|physician|doctor|author) (?:says|states|gives|lists|claims|reports|documents)\b"
    r"[^.,;\d\n]{0,25}"
    r"|\((?:was|previously|before|earlier|last|formerly|up from|down from)\b[^\d)\n]{0,15}|\bmeasured:? )$",
    re.IGNORECASE,
)
_ITEM = re.compile(
    r"^[-*•+] [^\n:=]{1,60}[:=] ?\+?\d{1,2}(?: ?(?:points?|pts?))?[.;]?$", re.MULTILINE
)
_NAMES_TOTAL = re.compile(
    r"\b(?:total|scores?|sum|result|answer|overall|final|met)\b", re.IGNORECASE
)
_CALCULATION = re.compile(r"[ \d.,()=≈→+×*/·^√~$:-]{1,80}")
_RESTATED = re.compile(
    r",? ?(?:i\.e\.|that is|so|call it|say),? (?:about|approximately|roughly|around|~|≈) ?",
    re.IGNORECASE,
)
# "3, or 4 with the borderline saturation"
_OR_ANOTHER = re.compile(
    r"(?: ?(?:points?|criteria))?,? or (?:maybe |perhaps |possibly |even )?(?=\d)"
)
# "3 Punkte. Nein, das Alter zählt doppelt."
_TURNS_ELSEWHERE = re.compile(
    r"(?:[.!]\s+|\n)(?:nein|halt|moment|non|attend(?:s|ez)|esper[ae]|perd[oó]n|aspetta),\s",
    re.IGNORECASE,
)
# "a free water excess of 1.3 liters", where the deficit is negative
_OPPOSITE = re.compile(
    r"\b(?:excess|surplus|overload|decrease|drop|reduction|loss)\b[^.;\d\n]{0,20}$", re.IGNORECASE
)
# "Serum sodium is not stated in the note. If it were 145 mEq/L, the deficit would be 1.9 L."
_MISSING = re.compile(
    r"\b(?:(?:is|was|are|were)(?:n't| not) (?:\w+ly )?"
    r"(?:stated|given|reported|provided|documented|mentioned|visible|available|known|recorded|listed|specified)"
    r"|(?:is|are) (?:missing|unknown|lacking))\b",
    re.IGNORECASE,
)
_HYPOTHESIS = re.compile(
    r"(?:^|[.;!?\n]\s{0,3})\W{0,3}(?:if|assuming|suppose|supposing|were|had)\b[^.;!?\n]{0,80}?(?:\.\d[^.;!?\n]{0,40})?"
    r"\b(?:would|might|could) (?:then )?(?:be|come|equal|give|amount|work)\b",
    re.IGNORECASE,
)
_INCOMPLETE = re.compile(
    r" ?(?:points?|pts?)?,? ?\(?(?:without|before|excluding|not counting|so far|until now)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[;\n]|[.,](?=\s)|\s(?:and|or|but|while|whereas|versus|vs)\s")
_METHOD = re.compile(
    r"\b(?:with|without|using|under|including|excluding|on the basis of|based on)\b", re.IGNORECASE
)
_WOULD = re.compile(r"\b(?:would|might|could|if)\b|'d\b", re.IGNORECASE)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|so|final(?:ly)?|answer|overall|total|sum|together|should|must|correct(?:ed|ion)?"
    r"|actual(?:ly)?|instead|rather|prefer\w*|recommend\w*|standard|used?|not)\b",
    re.IGNORECASE,
)
_BEFORE_BRACKET = re.compile(r"[\w\s/%.^·-]{0,20}$")
_REACH_OF_ROUNDING = 30  # characters before a value
_ROUNDED = re.compile(r"\bround(?:ed|s|ing)?\b[^.;\d\n]{0,30}$", re.IGNORECASE)
_TOTAL = re.compile(
    r"\b(?:total|sum)(?: (?:score|points|count))?(?: is| of|:| =|:? ?=)? ?(?P<value>\d{1,3}(?:\.\d)?)\b"
    r"(?! ?(?:[+×*/-]|of\b|points? (?:for|from))|[.,]\d)",
    re.IGNORECASE,
)
# "age 1, sex 1, hypertension 1, so three points"
_TOTAL_IN_WORDS = re.compile(
    r"\b(?:so|thus|hence|total of|in all|altogether|makes|giving|i count) (?:a total of )?"
    rf"({'|'.join(asked_words.NUMBER_WORDS[2:])}) points?\b(?![\s\S]*\bpoints?\b)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\b(?:plus|add(?:s|ed|ing)?|adjust\w*|modif\w*|correct\w*|however|but|subtotal|maximum|possible)\b",
    re.IGNORECASE,
)
_CRITERIA_MET = re.compile(
    r"\bcriteria (?:that are )?(?:met|present|positive|fulfilled)(?: is| are|:| =) (?P<met>\d)\b(?!\.\d)"
    r"|\b(?:patient|she|he) (?:meets|fulfils|fulfills|satisfies|has) (?P<of>\d) (?:out )?of\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Clause:
    """A part of a sentence, from `start` to `end`."""

    start: int
    end: int


class RivalValues(Generic[V]):
    """Looks for values that stand against the one that was read."""

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

    def exist(self, *, is_explicit: bool) -> bool:
        """Return whether another value stands against the one that was read.

        Args:
            is_explicit: the value is marked as the answer, so that only its own brackets and unit can contradict it.
        """
        if len(self._text) > _MAX_TEXT:
            return False
        if self._is_in_foreign_unit() or self._is_computed_otherwise_in_brackets():
            return True
        if self._quantity and _NOT_THE_RESULT.match(self._text, self._chosen.end):
            return True
        if is_explicit:
            return False
        return (
            self._is_added_to()
            or self._is_one_of_two()
            or self._is_behind_other_opening()
            or self._is_checked_otherwise()
            or self._depends_on_method()
            or self._is_counted_otherwise()
            or self._is_computed_for_other()
            or self._is_by_other_method()
            or self._is_beside_other_remark()
            or self._is_of_others()
            or self._is_item_of_list()
            or self._is_step_of_hypothesis()
        )

    def follow_restated(self) -> Mention[V]:
        """Return the value as the text restates it: rounded in a later statement, or in percent if that is asked."""
        if self._quantity is None or len(self._text) > _MAX_TEXT:
            return self._chosen
        unit = self._quantity.unit
        signed = self._find_signed()
        if signed is not None:
            return signed
        behind = self._mentions.list_between(self._chosen.end, len(self._text))
        if unit and unit.match("%") and not unit.match(self._text, self._chosen.end):
            for other in behind:
                if unit.match(self._text, other.end) and _is_percent(
                    self._chosen.value, other.value
                ):
                    return other
        restated = [other for other in behind if self._is_rounded_later(other)]
        return restated[-1] if restated else self._chosen

    def _find_signed(self) -> Mention[V] | None:
        """Return the negative result that the text restates in words: "= -1.3 L. So there's an excess of 1.3 L."."""
        value = self._chosen.value
        if not isinstance(value, float) or value <= 0:
            return None
        start = max(self._text.rfind("\n", 0, self._chosen.start) + 1, self._chosen.start - 60)
        if not _OPPOSITE.search(self._text, start, self._chosen.start):
            return None
        for other in reversed(self._mentions.list_between(0, self._chosen.start)):
            if isinstance(other.value, float) and other.value < 0 and _agree(-other.value, value):
                line_start = self._text.rfind("\n", 0, other.start) + 1
                is_result = self._text[: other.start].rstrip(" ~≈$").endswith(("=", "≈", "→"))
                return (
                    other if is_result and self._sentences.is_computed(line_start, other) else None
                )
        return None

    def _is_rounded_later(self, other: Mention[V]) -> bool:
        """Return whether a later value is the one that was read with fewer digits, stated for the quantity."""
        if not are_close(self._chosen.value, other.value):
            return False
        if _count_decimals(other.value) >= _count_decimals(self._chosen.value):
            return False
        unit = self._quantity.unit if self._quantity else None
        gap = self._text[self._chosen.end : other.start]
        if unit and unit.match(self._text, other.end) and _RESTATED.fullmatch(gap):
            return True
        start = max(self._chosen.end, other.start - _REACH_OF_ROUNDING)
        if _ROUNDED.search(self._text, start, other.start):
            sentence_start = max(self._chosen.end, other.start - 3 * _REACH_OF_ROUNDING)
            return _WOULD.search(self._text, sentence_start, other.start) is None
        names = self._quantity.find_names(self._text) if self._quantity else ()
        before = [
            name for name in names if self._chosen.end <= name.start and name.end <= other.start
        ]
        if not before or not before[-1].is_asked:
            return False
        return asked_words.leads_to_value(self._text[before[-1].end : other.start])

    def _is_in_foreign_unit(self) -> bool:
        """Return whether the unit behind the value is none that the question asks for: pounds instead of kg."""
        if self._quantity is None or self._quantity.unit is None:
            return False
        for sample, foreign in _FOREIGN_UNITS.items():
            if self._quantity.unit.match(sample) and foreign.match(self._text, self._chosen.end):
                return True
        return False

    def _is_added_to(self) -> bool:
        """Return whether something is added behind the value: "4. Actually the stroke counts 2 more."."""
        counts = self._quantity is not None and is_count(self._quantity)
        if counts and _ALSO_HAS.search(self._text, self._chosen.end):
            return True
        if counts and _INCOMPLETE.match(self._text, self._chosen.end):
            return any(
                not self._agrees(other)
                for other in self._mentions.list_between(self._chosen.end, len(self._text))
            )
        behind = self._mentions.list_between(self._chosen.end, len(self._text))
        turns = _TURNS_ELSEWHERE.search(self._text, self._chosen.end)
        if turns and not any(self._agrees(other) for other in behind):
            return True
        added = _ADDED_LATER.search(self._text, self._chosen.end)
        if added is None:
            return False
        behind = self._mentions.list_between(added.end(), len(self._text))
        return any(not self._agrees(other) for other in behind)

    def _is_one_of_two(self) -> bool:
        """Return whether another count is offered behind the value: "3, or 4 with the borderline saturation"."""
        another = _OR_ANOTHER.match(self._text, self._chosen.end)
        if another is None or self._quantity is None or not is_count(self._quantity):
            return False
        behind = self._mentions.list_between(another.end(), another.end() + 1)
        return bool(behind) and not self._agrees(behind[0])

    def _is_computed_for_other(self) -> bool:
        """Return whether the value is what a calculation behind another quantity's name results in: "ratio 6/6 = 1"."""
        if self._quantity is None:
            return False
        line_start = self._text.rfind("\n", 0, self._chosen.start) + 1
        names: list[QuantityName] = []
        for name in self._quantity.find_names(self._text):
            if line_start <= name.start and name.end <= self._chosen.start:
                names.append(name)
        if not names or any(name.is_asked for name in names):
            return False
        return _CALCULATION.fullmatch(self._text, names[-1].end, self._chosen.start) is not None

    def _is_behind_other_opening(self) -> bool:
        """Return whether the answer opens with another value alone, in the same unit, and gives no word of change."""
        opening = self._find_opening()
        if opening is None or self._agrees(opening) or self._is_in_other_unit(opening):
            return False
        if find_last_retraction(self._text) is not None:
            return False
        return not self._is_used_for_chosen(opening)

    def _find_opening(self) -> Mention[V] | None:
        """Return the value that is the first sentence or line of the text."""
        stop = result_words.SENTENCE_END.search(self._text)
        if stop is None:
            return None
        statement = self._sentences.read(0, stop.end())
        if statement is None or statement.strength != Strength.ALONE:
            return None
        return statement.mention

    def _is_used_for_chosen(self, other: Mention[V]) -> bool:
        """Return whether the sentence of the value computes it from another one."""
        start = max(self._text.rfind("\n", 0, self._chosen.start), 0)
        used = self._mentions.list_between(start, self._chosen.start)
        return any(
            used_one is not other and are_close(used_one.value, other.value) for used_one in used
        )

    def _is_checked_otherwise(self) -> bool:
        """Return whether a calculation behind an opening value has another result in the unit asked for."""
        opening = self._find_opening()
        unit = self._quantity.unit if self._quantity else None
        if opening is None or unit is None or opening.start != self._chosen.start:
            return False
        results: list[Mention[V]] = []
        for other in self._mentions.list_between(self._chosen.end, len(self._text)):
            line_start = self._text.rfind("\n", 0, other.start) + 1
            is_result = self._text[: other.start].rstrip(" ~≈$").endswith(("=", "≈", "→"))
            if (
                is_result
                and unit.match(self._text, other.end)
                and self._sentences.is_computed(line_start, other)
            ):
                results.append(other)
        if not results or any(self._agrees(result) for result in results):
            return False
        line_start = self._text.rfind("\n", 0, results[-1].start) + 1
        return _WOULD.search(self._text, line_start, results[-1].start) is None

    def _is_computed_otherwise_in_brackets(self) -> bool:
        """Return whether brackets behind the value, or around it, compute another one: "27.4 (84 / 1.72^2 = 28.4)"."""
        line_start = self._text.rfind("\n", 0, self._chosen.start) + 1
        line_end = self._text.find("\n", self._chosen.end)
        line_end = len(self._text) if line_end < 0 else line_end
        for brackets in itertools.islice(
            result_words.BRACKETS.finditer(self._text, line_start, line_end), _MAX_BRACKETS
        ):
            inside = self._mentions.list_between(brackets.start(1), brackets.end(1))
            before = self._mentions.list_between(line_start, brackets.start())
            if not inside or not before:
                continue
            result, stated = inside[-1], before[-1]
            if self._chosen.start not in (result.start, stated.start):
                continue
            gap = self._text[stated.end : brackets.start()]
            rest = self._text[result.end : brackets.end(1)]
            if (
                (gap.endswith(".") and brackets[1][0].isalpha())  # the working of something else
                or not _BEFORE_BRACKET.fullmatch(gap)
                or not _BEFORE_BRACKET.fullmatch(rest)
            ):
                continue
            is_assigned = self._text[: result.start].rstrip(" ~≈$").endswith(("=", "≈", "→"))
            if not is_assigned or not self._sentences.is_computed(brackets.start(1), result):
                continue
            if self._sentences.is_operand(stated) or self._is_in_other_unit(stated, result):
                continue
            if not _agree(stated.value, result.value) and not _WOULD.search(brackets[1]):
                return True
        return False

    def _depends_on_method(self) -> bool:
        """Return whether the text gives one value with one method and another with another, and chooses none."""
        clauses = list(itertools.islice(self._iter_clauses(), _MAX_CLAUSES))
        for first, second in itertools.pairwise(clauses):
            if not first.start <= self._chosen.start < second.end:
                continue
            if self._state_rivals(first, second):
                return True
        return False

    def _iter_clauses(self) -> Iterator[_Clause]:
        start = 0
        for stop in _CLAUSE_END.finditer(self._text):
            if self._mentions.list_between(start, stop.start()):
                yield _Clause(start, stop.start())
            start = stop.end()
        if self._mentions.list_between(start, len(self._text)):
            yield _Clause(start, len(self._text))

    def _state_rivals(self, first: _Clause, second: _Clause) -> bool:
        """Return whether two clauses state different values of the same kind with two methods."""
        values: list[Mention[V]] = []
        for clause in (first, second):
            if not _METHOD.search(self._text, clause.start, clause.end):
                return False
            if _WOULD.search(self._text, clause.start, clause.end):
                return False
            if _CONCLUDES.search(self._text, clause.start, clause.end):
                return False
            if self._quantity and self._quantity.rivals.search(
                self._text, clause.start, clause.end
            ):
                return False
            value = self._find_result(clause)
            if value is None:
                return False
            values.append(value)
        if _agree(values[0].value, values[1].value):
            return False
        behind = self._mentions.list_between(second.end, len(self._text))
        return not any(self._agrees(other) for other in behind)

    def _find_result(self, clause: _Clause) -> Mention[V] | None:
        """Return the only value of a clause in the unit asked for; if no unit is asked for, one without a unit."""
        unit = self._quantity.unit if self._quantity else None
        in_unit: list[Mention[V]] = []
        bare: list[Mention[V]] = []
        for mention in self._mentions.list_between(clause.start, clause.end):
            if mention.value is None or self._sentences.is_operand(mention):
                continue
            if unit and unit.match(self._text, mention.end):
                in_unit.append(mention)
            elif result_words.MEASURE.match(self._text, mention.end) is None:
                bare.append(mention)
        found = in_unit or bare
        return found[0] if len(found) == 1 else None

    def _is_counted_otherwise(self) -> bool:
        """Return whether a count of points opens the answer and another one ends it, or two counts are stated."""
        if self._quantity is None or not is_count(self._quantity):
            return False
        if find_last_retraction(self._text) is not None:
            return False
        in_words = _TOTAL_IN_WORDS.search(self._text)
        if in_words:
            total_in_words = float(asked_words.NUMBER_WORDS.index(in_words[1].lower()))
            if not _agree(self._chosen.value, total_in_words):
                return True
        met = {match["met"] or match["of"] for match in _CRITERIA_MET.finditer(self._text)}
        if self._quantity.kind == "criteria" and len(met) > 1:
            return True
        totals = list(_TOTAL.finditer(self._text))
        reader = ClaimReader(self._text, self._mentions, self._sentences, self._quantity)
        claims = reader.list_claims()
        if not totals or not claims or claims[0].mention.end > totals[-1].start():
            return False
        stop = result_words.SENTENCE_END.search(self._text)
        if stop is None or claims[0].mention.start > stop.end():
            return False
        total = self._mentions.list_between(totals[-1].start("value"), totals[-1].end("value"))
        if not total or _agree(total[0].value, claims[0].mention.value):
            return False
        between = self._text[claims[0].mention.end : totals[-1].start()]
        parts = self._mentions.list_between(claims[0].mention.end, totals[-1].start())
        is_part = adds_up(
            [claims[0].mention.value, *(part.value for part in parts)], total[0].value
        )
        return not is_part and not _GOES_ON.search(between)

    def _is_by_other_method(self) -> bool:
        """Return whether another method than the one asked for is named behind the value: "453 ms using Bazett's"."""
        if self._quantity is None:
            return False
        behind = asked_words.METHOD_BEHIND.match(self._text, self._chosen.end)
        if behind is None:
            return False
        end = min(len(self._text), behind.end() + 1)
        rival = self._quantity.rivals.search(self._text, self._chosen.end, end)
        return rival is not None and self._quantity.names.search(rival[0]) is None

    def _is_beside_other_remark(self) -> bool:
        """Return whether two values stand side by side, each with a remark in brackets, and neither is preferred."""
        if self._quantity is None:
            return False
        line_start = self._text.rfind("\n", 0, self._chosen.start) + 1
        line_end = self._text.find("\n", self._chosen.end)
        line_end = len(self._text) if line_end < 0 else line_end
        mentions = self._mentions.list_between(line_start, line_end)
        for first, second in itertools.pairwise(mentions):
            if self._chosen.start not in (first.start, second.start):
                continue
            gap = self._text[first.end : second.start]
            own = _OWN_REMARK.match(self._text, second.end)
            if own is None or not _NEXT_BY_REMARK.fullmatch(gap):
                continue
            remarks = gap + own[0]
            if self._quantity.rivals.search(remarks) or self._quantity.names.search(remarks):
                continue
            if not _agree(first.value, second.value) and not self._is_in_other_unit(first, second):
                return True
        return False

    def _is_of_others(self) -> bool:
        """Return whether the value is one of another day, or of the note: "a year ago 68"."""
        start = max(self._text.rfind("\n", 0, self._chosen.start) + 1, self._chosen.start - 60)
        before = _OF_OTHERS.search(self._text, start, self._chosen.start)
        if before is None:
            return False
        return not any(
            name.is_asked and name.start >= before.start()
            for name in (self._quantity.find_names(self._text) if self._quantity else ())
            if name.end <= self._chosen.start
        )

    def _is_item_of_list(self) -> bool:
        """Return whether the value is that of an item in a list of points without a total."""
        if self._quantity is None or not is_count(self._quantity):
            return False
        items = list(itertools.islice(_ITEM.finditer(self._text), _MAX_CLAUSES))
        own = [item for item in items if item.start() <= self._chosen.start < item.end()]
        if len(items) < 2 or not own or _NAMES_TOTAL.search(own[0][0]):
            return False
        return not self._quantity.names.search(own[0][0])

    def _is_step_of_hypothesis(self) -> bool:
        """Return whether an input is called missing behind the value, and results are computed for guesses at it."""
        missing = _MISSING.search(self._text, self._chosen.end)
        if (
            self._quantity is None
            or missing is None
            or not _HYPOTHESIS.search(self._text, missing.end())
        ):
            return False
        line_start = self._text.rfind("\n", 0, self._chosen.start) + 1
        statement = self._sentences.read(line_start, self._chosen.end)
        if statement is not None and statement.strength >= Strength.CONCLUSION:
            return False
        reader = ClaimReader(self._text, self._mentions, self._sentences, self._quantity)
        claims = (claim.mention for claim in reader.list_claims())
        return not any(claim.start == self._chosen.start for claim in claims)

    def _is_in_other_unit(self, mention: Mention[V], other: Mention[V] | None = None) -> bool:
        """Return whether two values have different units."""
        units: list[str] = []
        for one in (mention, other or self._chosen):
            unit = result_words.MEASURE.match(self._text, one.end)
            units.append(unit[0].strip() if unit else "")
        return bool(units[0] and units[1]) and units[0] != units[1]

    def _agrees(self, other: Mention[V]) -> bool:
        return _agree(self._chosen.value, other.value)


def _count_decimals(value: object) -> int:
    return len(repr(value).partition(".")[2].rstrip("0")) if isinstance(value, float) else 0


def _is_percent(value: object, other: object) -> bool:
    """Return whether a number is another one in percent."""
    return isinstance(value, float) and isinstance(other, float) and are_close(value * 100, other)


def _agree(value: object, other: object) -> bool:
    """Return whether two values are the same, or one is the other with fewer decimals, rounded or cut."""
    if are_close(value, other) or value is None or other is None:
        return True
    if not isinstance(value, float) or not isinstance(other, float):
        return False
    decimals = [_count_decimals(number) for number in (value, other)]
    if decimals[0] == decimals[1]:
        return False
    return abs(value - other) <= 1.001 * 10.0 ** -min(decimals)
