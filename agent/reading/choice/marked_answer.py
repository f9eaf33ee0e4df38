"""A normalised answer in which the references to a question's options are marked, and questions about its parts."""

import re
from typing import NamedTuple

from agent.reading.choice import cues
from agent.reading.choice.references import CONTRADICTION, TEXT_SIGNS, UNKNOWN, OptionTexts, decode


class OptionReference(NamedTuple):
    """A reference to an option, from `start` to `end`. `by_text`: it consists of the option's text alone."""

    option: int
    start: int
    end: int
    by_text: bool = False
    has_text: bool = False


class Line(NamedTuple):
    """The position of a line."""

    start: int
    end: int


_MAX_JOINED = 30
_BRACKET = re.compile(r"\s?[(\[]([^()\[\]\n]{1,40})[)\]]")
_AFTER_TEXT = re.compile(cues.END + r"|(?=\s(?:therapy|treatment)\b)")
# The words after a reference, up to the end of the clause or the reason.
_PREDICATE = re.compile(
    rf"[)\]\"']? ?(?!{cues.BECAUSE})(?:[^.;,!?\n]|,(?=\swhich)|\.(?=\d)){{0,300}}?"
    rf"(?=[.;!?\n]|,(?!\swhich)|\s{cues.BECAUSE}(?<!which)|$)"
)
_CLAUSE_END = re.compile(r"(?:[.!?,;:]|\s-)\s|\n")
_SENTENCE_END = re.compile(r"[.!?][)\]\"']*\s|\n")
_LETTER_AND_WORD = re.compile(r"[(\"']?([A-Z])[)\"']?\s([A-Za-z]{4,30})\b")

# "I hope this helps!", "Confidence: 92%", "(If the question had asked for the test, I would have said B.)"
_CLOSING_LINE = re.compile(
    r"(?:i\shope|hope\sthis|let\sme\sknow|would\syou\slike|do\syou\swant|feel\sfree|good\sluck|thanks?\b|please\s(?:consult|let|note)"
    r"|(?:this\sis|for)\s(?:general\s)?(?:educational|informational)\b[^\n]*|this\s(?:is|does)\snot\s(?:medical\sadvice|a\ssubstitute|replace)[^\n]*"
    r"|if\syou\s(?:have|want|need|would))[^\n]*"
    r"|(?:my\s)?(?:confidence|certainty|probability)(?:\s(?:level|score))?\s?[:=][^\n]{1,30}"
    r"|\((?:if|had|note|although|though|disclaimer)\b[^\n]*\)"
)
_LETTER_AND_SENTENCE = re.compile(r"[A-Za-z][)\]]?\.\s")
_WRONG_NOW = re.compile(r"[)\]\"']?\s(?:is|are|would\sbe)\s(?:wrong|incorrect|false)\b")


class MarkedAnswer:
    """A normalised answer.

    Attributes:
        plain: the answer.
        text: the answer with marked references, of the same length.
        lower: the same in lower case.
        lines: the lines' positions, without last lines such as "I hope this helps".
        options: the question's options.
    """

    def __init__(self, plain: str, options: OptionTexts) -> None:
        self.options = options
        self.plain = plain
        self.text = options.mark(plain)
        self.lower = _lower(self.text)
        lines = [Line(line.start(), line.end()) for line in re.finditer(r"[^\n ][^\n]*", plain)]
        self.lines = self._drop_closing_lines(lines)

    def _drop_closing_lines(self, lines: list[Line]) -> list[Line]:
        """Return the lines without the last ones that say nothing about the answer."""
        for count in range(len(lines), 1, -1):
            line = lines[count - 1]
            if not _CLOSING_LINE.fullmatch(self.lower, line.start, line.end):
                return lines[:count]
        return lines

    def read_reference(self, position: int) -> OptionReference | None:
        """Return the reference at the position, which is behind a cue such as "the answer is"."""
        match = cues.REFERENCE.match(self.text, position)
        if match:
            reference = self.make_reference(match)
            if reference.by_text and not _AFTER_TEXT.match(self.text, reference.end):
                return None
            if not match["sign"] and self.has_other_text(reference):
                return reference._replace(option=CONTRADICTION)
            return reference
        return self.read_letter_and_word(position)

    def read_letter_and_word(self, position: int) -> OptionReference | None:
        """Return the reference "C thiazide" if option C is "Thiazide diuretics"."""
        match = _LETTER_AND_WORD.match(self.plain, position)
        if not match:
            return None
        option = self.options.get_letter_option(match[1])
        if option < 0 or not self.options.is_first_word(option, match[2]):
            return None
        return OptionReference(option, match.start(1), match.end())

    def read_joined(self, reference: OptionReference) -> list[OptionReference]:
        """Return the reference and those that "and", "or" or a comma joins to it."""
        references = [reference]
        end = reference.end
        while len(references) < _MAX_JOINED:
            match = cues.JOINED.match(self.text, end)
            if not match:
                break
            end = match.end()
            references.append(self.make_reference(match))
        # In "C. Paneth cells or other cells ...", a sentence follows the letter.
        begins_sentence = reference.has_text and not reference.by_text
        if len(references) == 1 and not begins_sentence and cues.OR_MORE.match(self.text, end):
            references.append(OptionReference(UNKNOWN, end, end))
        return references

    def make_reference(self, match: re.Match[str]) -> OptionReference:
        """Return the reference that a match of a sign or letter stands for."""
        sign = match["sign"]
        if sign:
            is_text = TEXT_SIGNS[0] <= sign <= TEXT_SIGNS[-1]
            has_text = TEXT_SIGNS[0] <= sign < "\ue0c0"
            return OptionReference(
                decode(sign), match.start("sign"), match.end(), is_text, has_text
            )
        groups = match.groupdict()
        name = next(name for name in ("capital", "small", "vowel", "marked") if groups.get(name))
        option = self.options.get_letter_option(groups[name] or "")
        return OptionReference(option, match.start(name), match.end())

    def calls_wrong(self, end: int) -> bool:
        """Return whether the words after a reference call the option wrong: ": wrong", " is not indicated"."""
        predicate = _PREDICATE.match(self.lower, end)
        return predicate is not None and cues.WRONG.search(predicate[0]) is not None

    def is_rejected(self, reference: OptionReference, end: int) -> bool:
        """Return whether the words after a stated option call it wrong.

        In "The answer is C. Heparin is not a thrombolytic." the second sentence gives the reason.
        """
        letter_and_text = self.plain[reference.start : reference.end]
        if reference.has_text and _LETTER_AND_SENTENCE.match(letter_and_text):
            return _WRONG_NOW.match(self.lower, end) is not None
        return self.calls_wrong(end)

    def extend_by_own_text(self, reference: OptionReference) -> OptionReference:
        """Extend a lone letter by its option's text or number in brackets: "B (c)", "B (2)"."""
        bracket = _BRACKET.match(self.plain, reference.end)
        if not bracket or reference.option < 0:
            return reference
        is_own_text = bracket[1].lower() == self.options.plain_texts[reference.option]
        is_own_number = bracket[1] == str(reference.option + 1) and not self.options.has_numbers
        if not (is_own_text or is_own_number):
            return reference
        return reference._replace(end=bracket.end())

    def has_other_text(self, reference: OptionReference) -> bool:
        """Return whether the brackets after a letter hold another letter: "C (c)" where c is option B's text."""
        bracket = _BRACKET.match(self.plain, reference.end)
        if not bracket or reference.option < 0:
            return False
        inside = bracket[1].strip()
        is_letter = len(inside) == 1 and inside.isalpha()
        return is_letter and inside.lower() != self.options.plain_texts[reference.option]

    def find_clause_start(self, position: int) -> int:
        """Return the start of the clause that contains the position."""
        start = max(0, position - 120)
        for boundary in _CLAUSE_END.finditer(self.text, start, position):
            start = boundary.end()
        return start

    def find_sentence_start(self, position: int) -> int:
        """Return the start of the sentence that contains the position."""
        start = max(0, position - 400)
        for boundary in _SENTENCE_END.finditer(self.text, start, position):
            start = boundary.end()
        return start


def _lower(text: str) -> str:
    """Return the text in lower case, of the same length."""
    lower_text = text.lower()
    if len(lower_text) == len(text):
        return lower_text
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
