r"""Find the option that an answer to a multiple-choice question names: the documented letter extraction.

MedHELM accepts only the bare capital letter, so it scores "B.", "(B)" and "Answer: B" as wrong. Here the following
sources are tried in order, and the first source that names any option decides. The answer is unparsed if that source
names several different options, if no source names an option, or if the answer retracts it later ("Wait, ...").
Nothing is guessed.

1. The whole answer is a letter or an option's text ("b", "**B**", "(B).", "Yes.").
2. A final answer: "final answer: B", "\boxed{B}".
3. A stated answer: "the answer is B", "correct option: (B)", "Letter of the best option (A or B): B", "I choose B",
   also in other languages ("La respuesta es B", "Antwort: B", "答案：B"), and "B is correct" if "B" or "option B" is
   the whole subject. The option's text may replace the letter ("The answer is maybe", "Hepatitis B is the most likely
   diagnosis").
4. The first or last line is a letter or an option's text, or begins with a letter and a mark ("B) Aspirin", "(B)
   Aspirin", "Option B, because ...", "B because ...", "It is B", "Probably B"), or with a letter and its option's text
   ("B (Aspirin)", "B = Aspirin"; "A (not B)" is not read). If such a line only begins that way, every line that does
   is read, so that a list of the options is not taken for an answer.
5. The first words, up to a comma, semicolon, full stop or "because", are an option's text ("Yes, because ...").

A letter that is part of the sentence does not count: "A patient ...", "B cells", "C. difficile", "Hepatitis B". Nor
does an option that is denied, ruled out, made conditional or questioned: "not A", "A is likely wrong", "the answer is
B?". An unsure answer is still an answer ("I'd say B, but I'm not sure").
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from agent.reading.statements import is_conditional, is_denied, is_qualified, is_taken_back
from agent.reading.words import ASCII_MARKS, plain_words

# A longer answer is an endless repetition, not a choice.
_MAX_LENGTH = 100_000  # characters
_MAX_STATEMENTS = 300  # per kind of statement

_LETTER = r"[A-Za-z]"
_BECAUSE = r"(?:because|since|as|due|for|given|based|which|where|rather|instead)\b"
# What may follow a letter that names an option in running text. "and" and "or" introduce a second letter: see _ALSO.
_END = rf"(?=\s?$|\n|\s?[.,;:!)\]}}\"'<](?!\w)|\s[-(\[]|\s{_BECAUSE})"
# Capitals only: in "B, a vitamin", the a is an article.
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
_STATED = re.compile(
    rf"\b(?:{_NOUN}{_OF_WHAT}{_IS}|ans\s?[:.=]|(?:correct|right|best)\s?[:=]){_FILLER}",
    re.IGNORECASE,
)
_FINAL = re.compile(rf"\bfinal\s{_NOUN}(?:{_OF_WHAT}{_IS})?{_FILLER}", re.IGNORECASE)
# The same in other languages, but only "answer is B" and "answer: B"; with a word in between it is not a cue.
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
_LINE_START = re.compile(
    rf"(?:[-•+]\s)?{_LEAD_IN}((?:{_OPENING}){{0,2}}{_CALLED}|(?:{_OPENING}){{1,2}})?"
)
_REASONED = re.compile(
    r"[A-Z](?:,\s(?:because|since|as|given|due)\b|\s(?:because|since|given\sthat|due\sto)\b)"
)
_AFTER_OWN_TEXT = re.compile(rf"\s?$|\s?[.,;:!](?!\w)(?!\s(?:or|and)\b)|\s-\s|\s{_BECAUSE}")
_JOINED = re.compile(rf"({_LETTER})(?:\s?[,=/|]\s?|\s(?=[(\[]))")
_LEADING = re.compile(
    rf"(?:[(\[<]({_LETTER})[)\]>]|({_LETTER})(?:[.):](?![A-Za-z]\.)|\s-(?=\s)))[.:]?\s?"
)

_ADVERB = (
    r"(?:(?:also|clearly|therefore|thus|indeed|likely|most\slikely"
    r"|probably|definitely|certainly|the|single)\s){0,4}"
)
_RIGHT = r"(?:correct|right|best|most\s(?:likely|appropriate|suitable|accurate))"
_NOUN_OF_CHOICE = (
    r"(?:answer|option|choice|diagnosis|response|conclusion|explanation|(?:next\s)?step|treatment|test|management"
    r"|therapy|drug)"
)
_STOP = r"\s?(?:[.,;!)](?!\w)|$|\n)|\s(?:because|since|as|given|due)\b"
_IS_RIGHT = re.compile(
    rf"\s(is|are|would\sbe|must\sbe)\s{_ADVERB}(?:{_RIGHT}(?={_STOP})"
    rf"|(?:{_RIGHT}\s)?{_NOUN_OF_CHOICE}(?={_STOP}|\s(?:here|for|in|of|to)\b))",
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
_PREDICATE = re.compile(
    rf"(?:[^.;,!?\n]|,(?=\swhich)){{0,300}}?(?=[.;!?\n]|,(?!\swhich)|\s{_BECAUSE}(?<!which)|$)"
)
# Where an option's text may end: "no." and "no, because", but not "no longer" and not "No. 1".
_TEXT_END = re.compile(rf"[.,;:!)\]\"'<]+(?=\s|$)(?!\s\d)|\s(?=[(\[])|\s-\s|\s(?={_BECAUSE})|$")
_LETTER_TOO = re.compile(r"[\s,]{0,2}[(\[](?:option\s)?([A-Z])[)\]]", re.IGNORECASE)

_TEXT_COMMAND = re.compile(r"\\(?:text|textbf|mathrm|mathbf|bf)\s?\{([^{}]{0,500})\}")
_BOXED = re.compile(r"\\boxed\s?\{([^{}]{0,500})\}")
_TAG = re.compile(r"<(?:final_)?answer>\s?([^<>]{1,500})</(?:final_)?answer>", re.IGNORECASE)
_MARKUP = re.compile(r"~~[^~]{0,500}~~|[*`$~✓✔✅☑]+|\\[()\[\]]|__+|^#+ ?|^> ", re.MULTILINE)
_MARKS_ELSEWHERE = str.maketrans({"。": ". ", "、": ", "})


class _Mention(NamedTuple):
    """A mention of an option, and the position in the answer where it ends."""

    option: int
    end: int


@lru_cache(16)  # the four match metrics read the same answer
def extract_option(answer: str, options: tuple[str, ...]) -> int | None:
    """Return the index of the option that the answer names, or None if it names none or several.

    Args:
        answer: the response's text, without reasoning.
        options: the options' texts; option i has the letter "ABC..."[i].
    """
    return _Reader(options).read(answer) if len(answer) <= _MAX_LENGTH else None


class _Reader:
    """Reads answers to a single question."""

    def __init__(self, options: tuple[str, ...]) -> None:
        self._texts = [plain_words(option) for option in options]
        self._longest = max(map(len, self._texts), default=0)
        within = rf"(?:[^()\[\]\n]|[(\[][^()\[\]\n]{{1,200}}[)\]]){{1,{2 * self._longest + 20}}}+"
        self._own_texts = re.compile(rf"(?<![\w'])([A-Z])\s?[(\[]({within})[)\]]")
        self._reach = (
            2 * max(map(len, options), default=0) + 100
        )  # a span that may contain an option's text

    def read(self, answer: str) -> int | None:
        """Return the option in the first source that names any; None if it names several or a retracted one."""
        text = _remove_markup(answer)
        if any(_holds_more_than(_MAX_STATEMENTS, cue, text) for cue in _CUES):
            return None
        sources = (
            self._read_whole,
            self._read_final_answers,
            self._read_stated_answers,
            self._read_edge_lines,
            self._read_first_words,
        )
        for source in sources:
            mentions = list(source(text))
            if mentions:
                return _choose_only(mentions, text)
        return None

    def _read_whole(self, text: str) -> Iterator[_Mention]:
        bare = _BARE.fullmatch(text)
        if bare:
            return self._name_letter(bare[1], len(text))
        return self._name_text(plain_words(text), len(text))

    def _read_final_answers(self, text: str) -> Iterator[_Mention]:
        return self._read_after(_FINAL, text)

    def _read_stated_answers(self, text: str) -> Iterator[_Mention]:
        yield from self._read_after(_STATED, text)
        yield from self._read_after(_STATED_ELSEWHERE, text)
        yield from self._read_after(_CHOSEN, text)
        yield from self._read_called_right(text)

    def _read_edge_lines(self, text: str) -> Iterator[_Mention]:
        """Read the first and last lines, or every line if one of these only begins with a letter."""
        lines = list(re.finditer(r"[^\n]+", text))
        if not lines:
            return
        mentions: list[_Mention] = []
        is_letter_alone = True
        for line in (lines[0], lines[-1]):
            mentions_of_line = list(self._read_line(line[0], line.start()))
            mentions += mentions_of_line
            if mentions_of_line and not _BARE.fullmatch(line[0]):
                is_letter_alone = False
        if is_letter_alone:
            yield from mentions
            return
        for line in lines:
            yield from self._read_line(line[0], line.start())

    def _read_first_words(self, text: str) -> Iterator[_Mention]:
        start = _LINE_START.match(text)
        return self._read_text_at(text, start.end() if start else 0)

    def _name_letter(self, letter: str, end: int) -> Iterator[_Mention]:
        index = ord(letter.upper()) - ord("A")
        if 0 <= index < len(self._texts):
            yield _Mention(index, end)

    def _name_text(self, words: str, end: int) -> Iterator[_Mention]:
        # If the options' texts are themselves letters, a letter refers to the option labelled with it.
        is_letter = len(words) == 1 and 0 <= ord(words) - ord("a") < len(self._texts)
        if words and not is_letter and self._texts.count(words) == 1:
            yield _Mention(self._texts.index(words), end)

    def _read_after(self, cue: re.Pattern[str], text: str) -> Iterator[_Mention]:
        """Read the letter or the option's text that follows a cue such as "the answer is"."""
        for match in cue.finditer(text):
            if not is_denied(text, match.start()):
                yield from self._read_statement(text, match.end())

    def _read_statement(self, text: str, start: int) -> Iterator[_Mention]:
        statement = text[start : start + self._reach]
        stated_texts = list(self._read_text_at(text, start))
        if stated_texts and len(self._texts[stated_texts[0].option]) > 1:
            yield from stated_texts
            return
        letter = _AT_START.match(statement)
        # "The answer is a (rare) disease": a lower-case a or i counts only before a mark or the end.
        if letter and letter[1] in "ai" and re.match(r"\s[^\n]", statement[letter.end() :]):
            return
        if letter and not self._is_a_name(statement[letter.start(1) :]):
            yield from self._read_stated_letter(text, start, letter)
            return
        # "B and C", "A/B": a letter followed by another letter.
        first = re.match(rf"[(\[]?({_LETTER})(?=[\s)\],/&+])", statement)
        second = _ALSO.match(statement, first.end()) if first else None
        if first and second:
            yield from self._name_letter(first[1], start + second.end())
            yield from self._name_letter(second[1], start + second.end())
        else:
            yield from stated_texts

    def _read_stated_letter(
        self, text: str, start: int, letter: re.Match[str]
    ) -> Iterator[_Mention]:
        """Read the letter at the start of a statement, and the option named by the next words, which may differ."""
        statement = letter.string
        end = letter.end(1)
        after_letter = statement[end:]
        if not is_conditional(text, start + end):
            for mention in self._name_letter(letter[1], start + end):
                if not self._is_rejected(after_letter, own=self._texts[mention.option]):
                    yield mention
        yield from self._read_begun_text(after_letter, start + end)
        second = _ALSO.match(statement, end)
        if second:
            yield from self._name_letter(second[1], start + second.end())

    def _read_text_at(self, text: str, start: int) -> Iterator[_Mention]:
        """Read the longest option whose text is at `start`, up to a mark; one option's text may begin another's."""
        line = text[start : start + self._reach].partition("\n")[0]
        words = ""
        read_to = 0
        longest_text = ""
        longest_end = -1
        for boundary in _TEXT_END.finditer(line):
            words = f"{words} {plain_words(line[read_to : boundary.end()])}".strip()
            read_to = boundary.end()
            if len(words) > self._longest:
                break
            if (
                words
                and words in self._texts
                and not self._is_rejected(line[read_to:], after=boundary[0])
            ):
                longest_text = words
                longest_end = read_to
        if longest_end < 0:
            return
        mentions = list(self._name_text(longest_text, start + longest_end))
        yield from mentions
        letter = _LETTER_TOO.match(line, max(longest_end - 1, 0))
        if mentions and letter:
            yield from self._name_letter(letter[1], start + letter.end())

    def _read_begun_text(self, text: str, end: int) -> Iterator[_Mention]:
        """Read the option whose text begins the words after a letter, to check that both agree."""
        line = text.lstrip(" .,:;)]}-").partition("\n")[0]
        words = plain_words(line)
        longest = ""
        for option_text in self._texts:
            if (words == option_text or words.startswith(option_text + " ")) and len(
                option_text
            ) > len(longest):
                longest = option_text
        if not self._is_rejected(line, after=":", own=longest):
            yield from self._name_text(
                longest, end + len(longest) + 2
            )  # the preceding full stop and space

    def _read_called_right(self, text: str) -> Iterator[_Mention]:
        """Read "B is correct", "Option B is the best answer", "Hepatitis B is the most likely diagnosis"."""
        for match in _IS_RIGHT.finditer(text):
            cut = max(0, match.start() - self._reach)
            before = text[cut : match.start()]
            starts = [boundary.end() for boundary in _CLAUSE_START.finditer(before)][-6:]
            if cut == 0:
                starts.insert(0, 0)
            if not starts:
                continue
            head = before[: starts[-1]]
            subject = before[starts[-1] :]
            # The commas in "A, B, and C is correct" do not start new clauses.
            is_list = re.search(r"(?:^|[\s(])[A-Z][)\]]?[,;]\s$", head) is not None
            if is_list or is_qualified(text, match.end()):
                continue
            if head.endswith((", ", "; ", "- ")) and is_denied(text, match.start() - len(subject)):
                continue
            letter = _SUBJECT.fullmatch(subject, _measure_lead_in(subject))
            if not letter:
                yield from self._read_clause(before, starts, match.end())
            elif match[1].lower() != "are":
                yield from self._name_letter(letter[1], match.end())

    def _read_clause(self, before: str, starts: list[int], end: int) -> Iterator[_Mention]:
        """Read the option whose text extends from one of `starts` to the end; its own commas are not starts."""
        for start in starts:
            clause = before[start:]
            mentions = list(self._name_text(plain_words(clause[_measure_lead_in(clause) :]), end))
            if mentions:
                yield from mentions
                return

    def _read_line(self, line: str, start: int) -> Iterator[_Mention]:
        opening = _LINE_START.match(line)
        skipped = opening.end() if opening else 0
        content = line[skipped:]
        end = start + len(line)
        if bare := _BARE.fullmatch(content):
            yield from self._name_letter(bare[1], end)
        elif leading := _LEADING.match(content):
            yield from self._read_leading_letter(content, leading, start + skipped)
        elif (joined := _JOINED.match(content)) and self._is_own_text(
            joined[1], content[joined.end() :]
        ):
            yield from self._name_letter(
                joined[1], end
            )  # "B, Vitamin B12 injection", "B (Vitamin B12 injection)"
        elif re.match(
            r"[A-Z]\s?[(\[]", content
        ):  # "B (Vitamin B12 injection), because ...", but not "A (not B)"
            yield from self._read_letters_with_own_text(content, start + skipped)
        elif (opening and opening[1]) or _REASONED.match(
            content
        ):  # "Option B, because ...", "B because ..."
            for mention in self._read_statement(line, skipped):
                yield _Mention(mention.option, start + mention.end)
        else:
            yield from self._name_text(plain_words(content), end)

    def _read_letters_with_own_text(self, line: str, start: int) -> Iterator[_Mention]:
        """Read "B (Aspirin), because ..."; read nothing if it continues otherwise: "B (Aspirin) or heparin"."""
        mentions: list[_Mention] = []
        for match in self._own_texts.finditer(line):
            after = line[match.end() :]
            is_own = self._is_own_text(match[1], match[2])
            if not is_own or is_denied(line, match.start()) or self._is_rejected(after):
                continue
            if not _AFTER_OWN_TEXT.match(after):
                return
            mentions += self._name_letter(match[1], start + match.end())
        yield from mentions

    def _is_own_text(self, letter: str, text: str) -> bool:
        words = plain_words(text)
        return any(self._texts[mention.option] == words for mention in self._name_letter(letter, 0))

    def _read_leading_letter(
        self, line: str, leading: re.Match[str], start: int
    ) -> Iterator[_Mention]:
        """Read "B) Aspirin", and another option that such a line may name: "A or B)", "A: B", "A) Heparin"."""
        bracketed, marked = leading[1], leading[2]
        end = start + leading.end()
        after = line[leading.end() :]
        letter_mentions = list(self._name_letter(bracketed or marked, end))
        text_mentions = list(self._read_begun_text(after, end))
        yield from text_mentions
        option = letter_mentions[0].option if letter_mentions else None
        if text_mentions and text_mentions[0].option == option:
            return
        pair = _BARE.fullmatch(after)  # "A: B"
        second = _ALSO.match(line, leading.end(1) if bracketed else leading.end(2)) or pair
        if second:
            yield from self._name_letter(second[1], end)
        own_text = self._texts[option] if option is not None else ""
        if pair or not (self._is_a_name(line) or self._is_rejected(after, after=":", own=own_text)):
            yield from letter_mentions

    def _is_rejected(self, text: str, *, after: str = "", own: str = "") -> bool:
        """Return whether the text after an option calls it wrong: ": wrong", " is not indicated", ", which is false".

        `after` is the mark between option and text, if it has already been read; after a full stop or comma another
        statement begins. `own` is the option's text if that comes first.
        """
        if after.strip() in {".", ",", ";", "!"} and not text.lstrip().startswith("which"):
            text = ""
        predicate = _PREDICATE.match(text)
        words = plain_words(predicate[0] if predicate else "")
        first_line = text.partition("\n")[0]
        mark = "❌" if re.search("[❌✗✘]", first_line) else ""
        return _WRONG.search(words.removeprefix(own).strip() + mark) is not None

    def _is_a_name(self, text: str) -> bool:
        """Return whether text such as "C. difficile" is a species rather than option C with its text."""
        name = re.match(rf"{_LETTER}\.\s(?=[a-z])", text)
        return name is not None and not list(self._read_begun_text(text[name.end() :], 0))


def _holds_more_than(count: int, cue: re.Pattern[str], text: str) -> bool:
    matches = islice(cue.finditer(text), count + 1)
    return sum(1 for _ in matches) > count


def _choose_only(mentions: Sequence[_Mention], text: str) -> int | None:
    """Return the option of all mentions, or None if they name several or the text after them retracts it."""
    options = {mention.option for mention in mentions}
    last_end = max(mention.end for mention in mentions)
    if len(options) > 1 or is_taken_back(text, last_end):
        return None
    return mentions[0].option


def _measure_lead_in(clause: str) -> int:
    """Return the length of words such as "So, I think that"."""
    lead_in = re.match(_LEAD_IN, clause)
    return lead_in.end() if lead_in else 0


def _remove_markup(answer: str) -> str:
    """Remove Markdown, LaTeX and repeated white space; the content of a LaTeX box becomes a final answer."""
    text = unicodedata.normalize("NFKC", answer).translate(ASCII_MARKS).replace("\u200b", "")
    text = text.translate(_MARKS_ELSEWHERE)
    text = "\n".join(" ".join(line.split()) for line in text.splitlines())
    text = _TEXT_COMMAND.sub(r"\1", text)
    text = _BOXED.sub(r"Final answer: \1 ", _TAG.sub(r"Final answer: \1 ", text))
    text = re.sub(r"\b(?i:final|correct)_(?=(?i:answer|option))", "final ", text)
    text = _MARKUP.sub("", text)
    return "\n".join(line.strip() for line in text.split("\n") if line.strip())
