"""Which option an answer to a multiple-choice question means: the documented letter extraction.

MedHELM credits only the bare capital letter, so "B.", "(B)" and "Answer: B" count as wrong there. Here the
sources below are tried in this order; the first that names any option decides. If it names several different
options, or none does, the answer is unparsed. Nothing is guessed.

1. The whole answer is one letter, or an option's own text ("b", "**B**", "(B).", "$\\boxed{B}$", "Yes.").
2. A stated answer: "final answer: B", then "the answer is B", "correct option: (B)", "I choose B", "B is correct".
   The option's text may stand for the letter ("The answer is maybe").
3. The first or last line is a letter, or begins with one and a mark ("B) Aspirin", "(B) Aspirin", "B: Aspirin").
4. The first words, up to a comma, semicolon or full stop, are an option's text ("Yes, because ...").
5. One option alone is mentioned as such ("option B", "choice B", "(B)").

A letter that is part of the sentence is none of these: "A patient ...", "B cells", "C. difficile", "D-dimer".
"""

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator

_LETTER = r"[A-Za-z]"
# What may follow a letter that names an option in running text. "and", "or" bring a second letter: see _ALSO.
_END = r"(?=\s*$|\s*\n|\s*[.,;:!?)\]}\"'](?!\w)|\s+[-–—(\[]|\s+(?:because|since|as|due|for|given|based|which|where)\b)"
# Capital only: in "B, a vitamin" the a is an article.
_ALSO = re.compile(r"[)\]]?\s*(?:,|/|&|\+|\band\b|\bor\b)\s*(?:and\s+|or\s+)?[(\[]?([A-Z])(?![\w'’])")
_IS = r"(?:\s*(?::|=|->|→)|\s+(?:is|was|would\s+be|should\s+be|must\s+be))"
_NOUN = r"(?:answer|option|choice|response|diagnosis|conclusion)"
_FILLER = r"(?:\s*(?:most\s+likely|therefore|thus|clearly|probably|indeed|simply|definitely|option|choice|letter|:))*"
_STATED = re.compile(rf"\b{_NOUN}{_IS}{_FILLER}\s*", re.IGNORECASE)
_FINAL = re.compile(rf"\bfinal\s+{_NOUN}{_IS}?{_FILLER}\s*", re.IGNORECASE)
_CHOSEN = re.compile(
    rf"\bI(?:['’](?:d|ll)|\s+would|\s+will)?\s+(?:choose|select|pick|go\s+with|opt\s+for){_FILLER}\s+",
    re.IGNORECASE,
)
_AT_START = re.compile(rf"[(\[\"']?({_LETTER}){_END}")
_IS_CORRECT = re.compile(rf"(?:^|[\s(])({_LETTER})\)?\s+is\s+(?:the\s+)?(?:most\s+)?(?:correct|right|best|likely)\b")
_BARE = re.compile(rf"[(\[<{{\"']*({_LETTER})[)\]>}}\"'.:,;!]*")
_LEADING = re.compile(rf"(?:[(\[<]({_LETTER})[)\]>]|({_LETTER})(?:[.):]|\s+[-–—](?=\s)))[.:]?\s*(.*)", re.DOTALL)
_MENTION = re.compile(rf"\b(?:option|choice)\s+[(\[]?({_LETTER})(?![\w'’-])|\(({_LETTER})\)", re.IGNORECASE)
_NOT = re.compile(r"\b(?:wrong|incorrect|(?:not|isn't)\s+(?:correct|right|the))\b", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{\s*(?:\\(?:text|mathrm|textbf)\s*\{\s*)?([^{}]*)\}?\s*\}")
_REACH = 1000  # characters after a cue that may hold the option's text
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def extract_option(answer: str, options: tuple[str, ...]) -> int | None:
    """Return the index of the option the answer means, or None when it names none or several.

    Args:
        answer: the response's text, without reasoning.
        options: the options' texts; option i has the letter "ABC..."[i].
    """
    return _Reader(options).read(answer)


class _Reader:
    """Reads answers to one question."""

    def __init__(self, options: tuple[str, ...]) -> None:
        self._texts = [plain_words(option) for option in options]

    def read(self, answer: str) -> int | None:
        text = _without_markup(answer)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if not lines:
            return None
        edges = (lines[0], lines[-1])
        sources: tuple[Iterable[int], ...] = (
            self._whole(text),
            self._after(_FINAL, text),
            (*self._after(_STATED, text), *self._after(_CHOSEN, text), *self._called_correct(text)),
            (index for line in edges for index in self._line(line)),
            self._first_words(lines[0]),
            self._mentions(text),
        )
        for source in sources:
            named = set(source)
            if named:
                return named.pop() if len(named) == 1 else None
        return None

    def _index(self, letter: str) -> Iterator[int]:
        index = ord(letter.upper()) - ord("A")
        if 0 <= index < len(self._texts):
            yield index

    def _of_text(self, words: str) -> Iterator[int]:
        if words and self._texts.count(words) == 1:
            yield self._texts.index(words)

    def _whole(self, text: str) -> Iterator[int]:
        bare = _BARE.fullmatch(text.strip())
        yield from self._index(bare[1]) if bare else self._of_text(plain_words(text))

    def _after(self, cue: re.Pattern[str], text: str) -> Iterator[int]:
        for match in cue.finditer(text):
            rest = text[match.end() : match.end() + _REACH]
            letter = _AT_START.match(rest)
            if letter and not self._is_a_name(rest[letter.start(1) :]):
                yield from self._index(letter[1])
                yield from self._leading_text(rest[letter.end(1) :])
                also = _ALSO.match(rest, letter.end(1))
                yield from self._index(also[1]) if also else ()
            elif second := re.match(rf"[(\[]?({_LETTER})(?=[\s)\],/&+])", rest):
                # "B and C", "A/B": a letter that is followed by another one.
                also = _ALSO.match(rest, second.end())
                if also:
                    yield from self._index(second[1])
                    yield from self._index(also[1])
                else:
                    yield from self._leading_text(rest)
            else:
                yield from self._leading_text(rest)

    def _leading_text(self, rest: str) -> Iterator[int]:
        """Find the option whose text the rest begins with; the longest, as one may begin another."""
        words = plain_words(rest.split("\n", maxsplit=1)[0])
        begun = [t for t in self._texts if t and (words == t or words.startswith(t + " "))]
        yield from self._of_text(max(begun, key=len)) if begun else ()

    def _called_correct(self, text: str) -> Iterator[int]:
        for match in _IS_CORRECT.finditer(text):
            yield from self._index(match[1])

    def _line(self, line: str) -> Iterator[int]:
        bare = _BARE.fullmatch(line)
        if bare:
            yield from self._index(bare[1])
            return
        leading = _LEADING.match(line)
        if not leading:
            return
        letter, rest = leading[1] or leading[2], leading[3]
        also = _ALSO.match(line, leading.end(1) if leading[1] else leading.end(2))
        yield from self._index(also[1]) if also else ()
        yield from self._leading_text(rest)
        for index in self._index(letter):
            words = plain_words(rest)
            own = bool(self._texts[index]) and words.startswith(self._texts[index])
            if own or not (self._is_a_name(line) or _NOT.search(rest.partition("\n")[0])):
                yield index

    def _is_a_name(self, text: str) -> bool:
        """Tell whether text such as "C. difficile" is a species and not option C: no option's text follows it."""
        name = re.match(rf"{_LETTER}\.\s+(?=[a-z])", text)
        return name is not None and not list(self._leading_text(text[name.end() :]))

    def _first_words(self, line: str) -> Iterator[int]:
        yield from self._of_text(plain_words(re.split(r"[,;:.]", line, maxsplit=1)[0]))

    def _mentions(self, text: str) -> Iterator[int]:
        for match in _MENTION.finditer(text):
            yield from self._index(match[1] or match[2])


def plain_words(text: str) -> str:
    """Return the text in lower case, without punctuation, with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().translate(_PUNCTUATION).split())


def _without_markup(answer: str) -> str:
    """Take Markdown emphasis, code marks, headings and LaTeX boxes away."""
    text = unicodedata.normalize("NFKC", answer).replace("\u200b", "")
    text = _BOXED.sub(r"\1", text)
    text = re.sub(r"[*`$]+|__+|^[ \t]*#+[ \t]*|^[ \t]*>[ \t]+", "", text, flags=re.MULTILINE)
    return text.strip()
