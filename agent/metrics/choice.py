r"""Which option an answer to a multiple-choice question means: the documented letter extraction.

MedHELM credits only the bare capital letter, so "B.", "(B)" and "Answer: B" count as wrong there. Here the
sources below are tried in this order; the first that names any option decides. If it names several different
options, or none does, or the answer takes it back later ("Wait, ..."), the answer is unparsed. Nothing is guessed.

1. The whole answer is one letter, or an option's own text ("b", "**B**", "(B).", "Yes.").
2. A final answer: "final answer: B", "\boxed{B}".
3. A stated answer: "the answer is B", "correct option: (B)", "Letter of the best option (A or B): B", "I choose B",
   also in other languages ("La respuesta es B", "Antwort: B", "答案：B"), and "B is correct" where "B" or "option B" is
   the whole subject. The option's text may stand for the letter ("The answer is maybe", "Hepatitis B is the most likely
   diagnosis").
4. The first or last line is a letter or an option's text, or begins with a letter and a mark ("B) Aspirin", "(B)
   Aspirin", "Option B, because ...", "B because ...", "It is B", "Probably B"), or with a letter and its own text ("B
   (Aspirin)", "B = Aspirin"; "A (not B)" is not read). If no more than a beginning, every line that begins so is
   heard: a list of the options is no answer.
5. The first words, up to a comma, semicolon, full stop or "because", are an option's text ("Yes, because ...").

A letter that is part of the sentence is none of these: "A patient ...", "B cells", "C. difficile", "Hepatitis B". Nor
is an option that is denied, ruled out, made conditional or asked about: "not A", "A is likely wrong", "the answer is
B?". An unsure answer is still an answer ("I'd say B, but I'm not sure").
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from agent.metrics.statements import is_conditional, is_denied, is_qualified, is_taken_back
from agent.metrics.words import ASCII_MARKS, plain_words

# An answer beyond these is a loop, not a choice.
_LONGEST = 100_000  # characters
_MOST = 300  # statements of one kind

_LETTER = r"[A-Za-z]"
_BECAUSE = r"(?:because|since|as|due|for|given|based|which|where|rather|instead)\b"
# What may follow a letter that names an option in running text. "and", "or" bring a second letter: see _ALSO.
_END = rf"(?=\s?$|\n|\s?[.,;:!)\]}}\"'<](?!\w)|\s[-(\[]|\s{_BECAUSE})"
# Capital only: in "B, a vitamin" the a is an article.
_ALSO = re.compile(r"[)\]]?\s?(?:,|/|&|\+|\band\b|\bor\b)\s?(?:and\s|or\s)?[(\[]?([A-Z])(?![\w'])")
_IS = r"(?:[\"']?\s?(?::|=|->|→|>)|\s-(?=\s)|\s(?:is|was|would\sbe|should\sbe|must\sbe))"
_NOUN = r"(?:answer|option|choice|letter|response|diagnosis|conclusion|solution)"
# "The answer to this question is", "Letter of the best option (A, B, C or D):"
_OF_WHAT = (
    r"(?:\s(?:to|for)\s(?:this|the)\s(?:\w{1,20}\s){0,3}(?:question|problem|case)"
    r"|(?<=letter)\s(?:of|for)\s(?:the\s)?(?:(?:best|right|correct|most\slikely)\s)?(?:option|answer|choice))?"
    r"(?:\s?\([A-Z](?:(?:,\s?|\sor\s|,\sor\s)[A-Z]){1,9}\))?"
)
_FILLER = (
    r"(?:\s?(?:most\slikely|therefore|thus|clearly|probably|likely|indeed|simply|definitely|certainly|option|choice"
    r"|letter|:))*\s?"
)
_STATED = re.compile(rf"\b(?:{_NOUN}{_OF_WHAT}{_IS}|ans\s?[:.=]|(?:correct|right|best)\s?[:=]){_FILLER}", re.IGNORECASE)
_FINAL = re.compile(rf"\bfinal\s{_NOUN}(?:{_OF_WHAT}{_IS})?{_FILLER}", re.IGNORECASE)
# The same in other languages, but only "answer is B" and "answer: B": with a word between them it is no cue.
_STATED_ELSEWHERE = re.compile(
    r"(?:\b(?:respuesta|r[ée]ponse|antwort|risposta|resposta|antwoord|ответ)"
    r"(?:\s(?:correcta|correcte|correta|corretta|finale?))?|答案|答え|解答|正解|정답)"
    r"(?:\s?:|\s(?:es|est|ist|è|é|is)\b|是|は|은|는)\s?:?\s?"
    r"(?:(?:la|letra|lettera|lettre|option|opci[óo]n|opção|opzione|optie)\s){0,2}",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    r"\bI(?:'d|'ll|\swould|\swill|\smust)?\s(?:choose|select|pick|go\swith|opt\sfor|answer|say"
    rf"|(?:think|believe)(?:\sthat)?\sit(?:'s|\sis)){_FILLER}(?<=[\s:])",
    re.IGNORECASE,
)
_AT_START = re.compile(rf"[(\[\"']?({_LETTER}){_END}")
_BARE = re.compile(rf"[(\[<{{\"']*({_LETTER})[)\]>}}\"'.:,;!]*")
_LEAD_IN = (
    r"(?i:(?:(?:so|thus|hence|therefore|overall|ultimately|consequently|in\s(?:conclusion|summary|short)|and|clearly"
    r"|(?:i|we)\s(?:think|believe|conclude)(?:\sthat)?),?\s){0,3})"
)
_CALLED = r"(?i:(?:the\s)?(?:correct\s|best\s)?(?:option|choice|answer|letter)\s)"
_OPENING = (
    r"(?i:(?:it|this)(?:'s|\sis|\s(?:must|should|would)\sbe)\s|(?:choose|select|pick)\s|(?:most\s)?(?:likely|probably)(?:\s|:\s?)"
    r"|(?:->|=>|→|⇒)\s?)"
)
_LINE_START = re.compile(rf"(?:[-•+]\s)?{_LEAD_IN}((?:{_OPENING}){{0,2}}{_CALLED}|(?:{_OPENING}){{1,2}})?")
_REASONED = re.compile(r"[A-Z](?:,\s(?:because|since|as|given|due)\b|\s(?:because|since|given\sthat|due\sto)\b)")
_AFTER_OWN_TEXT = re.compile(rf"\s?$|\s?[.,;:!](?!\w)(?!\s(?:or|and)\b)|\s-\s|\s{_BECAUSE}")
_JOINED = re.compile(rf"({_LETTER})(?:\s?[,=/|]\s?|\s(?=[(\[]))")
_LEADING = re.compile(rf"(?:[(\[<]({_LETTER})[)\]>]|({_LETTER})(?:[.):](?![A-Za-z]\.)|\s-(?=\s)))[.:]?\s?")

_ADVERB = (
    r"(?:(?:also|clearly|therefore|thus|indeed|likely|most\slikely|probably|definitely|certainly|the|single)\s){0,4}"
)
_RIGHT = r"(?:correct|right|best|most\s(?:likely|appropriate|suitable|accurate))"
_THING = (
    r"(?:answer|option|choice|diagnosis|response|conclusion|explanation|(?:next\s)?step|treatment|test|management"
    r"|therapy|drug)"
)
_STOP = r"\s?(?:[.,;!)](?!\w)|$|\n)|\s(?:because|since|as|given|due)\b"
_IS_RIGHT = re.compile(
    rf"\s(is|are|would\sbe|must\sbe)\s{_ADVERB}(?:{_RIGHT}(?={_STOP})"
    rf"|(?:{_RIGHT}\s)?{_THING}(?={_STOP}|\s(?:here|for|in|of|to)\b))",
    re.IGNORECASE,
)
_CUES = (_FINAL, _STATED, _STATED_ELSEWHERE, _CHOSEN, _IS_RIGHT)
_CLAUSE_START = re.compile(r"(?:[.!?,;]|\s-)\s|\n")
_SUBJECT = re.compile(rf"{_CALLED}?[(\[\"']?([A-Z])[)\]\"'.:]?(?:\s\([^()]{{0,200}}\))?")

_VERBS = (
    r"(?:(?:which|this|that|is|are|was|were|can|could|may|should|must|would|be|seems?|looks?|option|answer|choice)"
    r"\s){1,6}"
)
_WRONG = re.compile(
    r"\b(?:wrong|incorrect|false|unlikely|inappropriate|contraindicated|distractor|rul(?:e|ed|ing) out|exclud\w*"
    rf"|eliminat\w*|avoid\w*)\b|[❌✗✘]|(?:^|\s){_VERBS}(?:not|never)\b|\b(?:isnt|cant|cannot|doesnt|arent)\b|^not\b"
)
_PREDICATE = re.compile(rf"(?:[^.;,!?\n]|,(?=\swhich)){{0,300}}?(?=[.;!?\n]|,(?!\swhich)|\s{_BECAUSE}(?<!which)|$)")
# Where an option's text may end: "no." and "no, because", but not "no longer" and not "No. 1".
_TEXT_END = re.compile(rf"[.,;:!)\]\"'<]+(?=\s|$)(?!\s\d)|\s(?=[(\[])|\s-\s|\s(?={_BECAUSE})|$")
_LETTER_TOO = re.compile(r"[\s,]{0,2}[(\[](?:option\s)?([A-Z])[)\]]", re.IGNORECASE)

_TEXT_COMMAND = re.compile(r"\\(?:text|textbf|mathrm|mathbf|bf)\s?\{([^{}]{0,500})\}")
_BOXED = re.compile(r"\\boxed\s?\{([^{}]{0,500})\}")
_TAG = re.compile(r"<(?:final_)?answer>\s?([^<>]{1,500})</(?:final_)?answer>", re.IGNORECASE)
_MARKUP = re.compile(r"~~[^~]{0,500}~~|[*`$~✓✔✅☑]+|\\[()\[\]]|__+|^#+ ?|^> ", re.MULTILINE)
_MARKS_ELSEWHERE = str.maketrans({"。": ". ", "、": ", "})


class _Named(NamedTuple):
    """An option, and where in the answer its naming ends."""

    option: int
    end: int


@lru_cache(16)  # a benchmark's four matches read the same answer
def extract_option(answer: str, options: tuple[str, ...]) -> int | None:
    """Return the index of the option the answer means, or None when it names none or several.

    Args:
        answer: the response's text, without reasoning.
        options: the options' texts; option i has the letter "ABC..."[i].
    """
    return _Reader(options).read(answer) if len(answer) <= _LONGEST else None


class _Reader:
    """Reads answers to one question."""

    def __init__(self, options: tuple[str, ...]) -> None:
        self._texts = [plain_words(option) for option in options]
        self._longest = max(map(len, self._texts), default=0)
        within = rf"(?:[^()\[\]\n]|[(\[][^()\[\]\n]{{1,200}}[)\]]){{1,{2 * self._longest + 20}}}+"
        self._own_texts = re.compile(rf"(?<![\w'])([A-Z])\s?[(\[]({within})[)\]]")
        self._reach = 2 * max(map(len, options), default=0) + 100  # characters that may hold an option's text

    def read(self, answer: str) -> int | None:
        text = _without_markup(answer)
        if any(len(list(islice(cue.finditer(text), _MOST + 1))) > _MOST for cue in _CUES):
            return None
        sources = (self._whole, self._final, self._stated, self._edges, self._first_words)
        for source in sources:
            named = list(source(text))
            if named:
                alone = len({option for option, _ in named}) == 1
                return named[0].option if alone and not is_taken_back(text, max(end for _, end in named)) else None
        return None

    def _whole(self, text: str) -> Iterator[_Named]:
        bare = _BARE.fullmatch(text)
        yield from self._letter(bare[1], len(text)) if bare else self._of_text(plain_words(text), len(text))

    def _final(self, text: str) -> Iterator[_Named]:
        return self._after(_FINAL, text)

    def _stated(self, text: str) -> Iterator[_Named]:
        yield from self._after(_STATED, text)
        yield from self._after(_STATED_ELSEWHERE, text)
        yield from self._after(_CHOSEN, text)
        yield from self._called_right(text)

    def _edges(self, text: str) -> Iterator[_Named]:
        lines = list(re.finditer(r"[^\n]+", text))
        edges = (lines[0], lines[-1]) if lines else ()
        named = [(line, name) for line in edges for name in self._line(line[0], line.start())]
        if all(_BARE.fullmatch(line[0]) for line, _ in named):
            return iter([name for _, name in named])
        return (name for line in lines for name in self._line(line[0], line.start()))

    def _first_words(self, text: str) -> Iterator[_Named]:
        start = _LINE_START.match(text)
        return self._text_at(text, start.end() if start else 0)

    def _letter(self, letter: str, end: int) -> Iterator[_Named]:
        index = ord(letter.upper()) - ord("A")
        if 0 <= index < len(self._texts):
            yield _Named(index, end)

    def _of_text(self, words: str, end: int) -> Iterator[_Named]:
        # Where options are letters themselves, a letter names the option that has it and not the one that says it.
        is_letter = len(words) == 1 and 0 <= ord(words) - ord("a") < len(self._texts)
        if words and not is_letter and self._texts.count(words) == 1:
            yield _Named(self._texts.index(words), end)

    def _after(self, cue: re.Pattern[str], text: str) -> Iterator[_Named]:
        """Read the letter or the option's text that follows a cue such as "the answer is"."""
        for match in cue.finditer(text):
            if not is_denied(text, match.start()):
                yield from self._statement(text, match.end())

    def _statement(self, text: str, start: int) -> Iterator[_Named]:
        rest = text[start : start + self._reach]
        stated = list(self._text_at(text, start))
        if stated and len(self._texts[stated[0].option]) > 1:
            yield from stated
            return
        letter = _AT_START.match(rest)
        # "The answer is a (rare) disease": a small a or i needs a mark or the end after it.
        if letter and letter[1] in "ai" and re.match(r"\s[^\n]", rest[letter.end() :]):
            return
        if letter and not self._is_a_name(rest[letter.start(1) :]):
            end = letter.end(1)
            if not is_conditional(text, start + end):
                named = self._letter(letter[1], start + end)
                yield from (name for name in named if not self._is_rejected(rest[end:], own=self._texts[name.option]))
            yield from self._begun_text(rest[end:], start + end)
            also = _ALSO.match(rest, end)
            yield from self._letter(also[1], start + also.end()) if also else ()
            return
        # "B and C", "A/B": a letter that is followed by another one.
        first = re.match(rf"[(\[]?({_LETTER})(?=[\s)\],/&+])", rest)
        also = _ALSO.match(rest, first.end()) if first else None
        if first and also:
            yield from self._letter(first[1], start + also.end())
            yield from self._letter(also[1], start + also.end())
        else:
            yield from stated

    def _text_at(self, text: str, start: int) -> Iterator[_Named]:
        """Find the option whose text stands at `start` up to a mark; the longest, as one may begin another."""
        rest = text[start : start + self._reach].partition("\n")[0]
        words, read, found = "", 0, -1
        for boundary in _TEXT_END.finditer(rest):
            words = f"{words} {plain_words(rest[read : boundary.end()])}".strip()
            read = boundary.end()
            if len(words) > self._longest:
                break
            if words and words in self._texts and not self._is_rejected(rest[read:], after=boundary[0]):
                found, stated = read, words
        if found >= 0:
            named = list(self._of_text(stated, start + found))
            yield from named
            letter = _LETTER_TOO.match(rest, max(found - 1, 0)) if named else None
            yield from self._letter(letter[1], start + letter.end()) if letter else ()

    def _begun_text(self, rest: str, end: int) -> Iterator[_Named]:
        """Find the option whose text the words after a letter begin with, to see whether both agree."""
        rest = rest.lstrip(" .,:;)]}-").partition("\n")[0]
        words = plain_words(rest)
        begun = max((t for t in self._texts if words == t or words.startswith(t + " ")), key=len, default="")
        if not self._is_rejected(rest, after=":", own=begun):
            yield from self._of_text(begun, end + len(begun) + 2)  # a full stop and a space before it

    def _called_right(self, text: str) -> Iterator[_Named]:
        """Read "B is correct", "Option B is the best answer", "Hepatitis B is the most likely diagnosis"."""
        for match in _IS_RIGHT.finditer(text):
            cut = max(0, match.start() - self._reach)
            before = text[cut : match.start()]
            starts = [boundary.end() for boundary in _CLAUSE_START.finditer(before)][-6:]
            starts = starts if cut else [0, *starts]
            if not starts:
                continue
            # In "A, B, and C is correct" the commas begin no new clause.
            head, subject = before[: starts[-1]], before[starts[-1] :]
            if re.search(r"(?:^|[\s(])[A-Z][)\]]?[,;]\s$", head) or is_qualified(text, match.end()):
                continue
            if head.endswith((", ", "; ", "- ")) and is_denied(text, match.start() - len(subject)):
                continue
            lead_in = re.match(_LEAD_IN, subject)
            letter = _SUBJECT.fullmatch(subject, lead_in.end() if lead_in else 0)
            if letter and match[1].lower() != "are":
                yield from self._letter(letter[1], match.end())
            elif not letter:
                yield from self._whole_text(before, starts, match.end())

    def _whole_text(self, before: str, starts: list[int], end: int) -> Iterator[_Named]:
        """Find the option whose text reaches from one of `starts` to the end; its own commas are no starts."""
        for start in starts:
            lead_in = re.match(_LEAD_IN, before[start:])
            named = list(self._of_text(plain_words(before[start + (lead_in.end() if lead_in else 0) :]), end))
            if named:
                yield from named
                return

    def _line(self, line: str, start: int) -> Iterator[_Named]:
        opening = _LINE_START.match(line)
        skipped = opening.end() if opening else 0
        content, end = line[skipped:], start + len(line)
        if bare := _BARE.fullmatch(content):
            yield from self._letter(bare[1], end)
        elif leading := _LEADING.match(content):
            yield from self._leading(content, leading, start + skipped)
        elif (joined := _JOINED.match(content)) and self._is_own_text(joined[1], content[joined.end() :]):
            yield from self._letter(joined[1], end)  # "B, Vitamin B12 injection", "B (Vitamin B12 injection)"
        elif re.match(r"[A-Z]\s?[(\[]", content):  # "B (Vitamin B12 injection), because ...", but not "A (not B)"
            yield from self._with_own_text(content, start + skipped)
        elif (opening and opening[1]) or _REASONED.match(content):  # "Option B, because ...", "B because ..."
            yield from (_Named(option, start + end) for option, end in self._statement(line, skipped))
        else:
            yield from self._of_text(plain_words(content), end)

    def _with_own_text(self, line: str, start: int) -> Iterator[_Named]:
        """Read "B (Aspirin), because ..."; nothing where one goes on otherwise: "B (Aspirin) or heparin"."""
        named: list[_Named] = []
        for match in self._own_texts.finditer(line):
            rest = line[match.end() :]
            own = self._is_own_text(match[1], match[2])
            if not own or is_denied(line, match.start()) or self._is_rejected(rest):
                continue
            if not _AFTER_OWN_TEXT.match(rest):
                return
            named += self._letter(match[1], start + match.end())
        yield from named

    def _is_own_text(self, letter: str, rest: str) -> bool:
        words = plain_words(rest)
        return any(self._texts[name.option] == words for name in self._letter(letter, 0))

    def _leading(self, line: str, leading: re.Match[str], start: int) -> Iterator[_Named]:
        rest, end = line[leading.end() :], start + leading.end()
        named = list(self._letter(leading[1] or leading[2], end))
        own = self._texts[named[0].option] if named else ""
        begun = list(self._begun_text(rest, end))
        yield from begun
        if named and [name.option for name in begun] == [named[0].option]:
            return
        also = _ALSO.match(line, leading.end(1) if leading[1] else leading.end(2))
        pair = _BARE.fullmatch(rest)  # "A: B"
        second = also or pair
        yield from self._letter(second[1], end) if second else ()
        if pair or not (self._is_a_name(line) or self._is_rejected(rest, after=":", own=own)):
            yield from named

    def _is_rejected(self, rest: str, *, after: str = "", own: str = "") -> bool:
        """Tell whether what follows a named option calls it wrong: ": wrong", " is not indicated", ", which is false".

        `after` is the mark between the two, where it is already read; behind a full stop or comma another
        statement begins. `own` are the option's words where they come first.
        """
        if after.strip() in {".", ",", ";", "!"}:
            rest = rest if rest.lstrip().startswith("which") else ""
        predicate = _PREDICATE.match(rest)
        words = plain_words(predicate[0] if predicate else "")
        mark = "❌" if re.search("[❌✗✘]", rest.partition("\n")[0]) else ""
        return _WRONG.search(words.removeprefix(own).strip() + mark) is not None

    def _is_a_name(self, text: str) -> bool:
        """Tell whether text such as "C. difficile" is a species and not option C: no option's text follows it."""
        name = re.match(rf"{_LETTER}\.\s(?=[a-z])", text)
        return name is not None and not list(self._begun_text(text[name.end() :], 0))


def _without_markup(answer: str) -> str:
    """Take Markdown, LaTeX and runs of white space away; what a LaTeX box holds is a final answer."""
    text = unicodedata.normalize("NFKC", answer).translate(ASCII_MARKS).replace("\u200b", "")
    text = text.translate(_MARKS_ELSEWHERE)
    text = "\n".join(" ".join(line.split()) for line in text.splitlines())
    text = _TEXT_COMMAND.sub(r"\1", text)
    text = _BOXED.sub(r"Final answer: \1 ", _TAG.sub(r"Final answer: \1 ", text))
    text = re.sub(r"\b(?i:final|correct)_(?=(?i:answer|option))", "final ", text)
    text = _MARKUP.sub("", text)
    return "\n".join(line.strip() for line in text.split("\n") if line.strip())
