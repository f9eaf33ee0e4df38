"""Find the sentence of a note that an answer quotes, corrects or describes without its number. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from agent.reading.note_verdicts import patterns
from agent.reading.note_verdicts.claims import VerdictClaim
from agent.reading.note_verdicts.note import (
    Sentences,
    find_phrase,
    look_up_part,
    look_up_sentence,
    split_words,
)

Span = tuple[int, int]

_MAX_LOOKED_UP = 40  # passages compared with the note's sentences
_MIN_REWRITTEN = 4  # words of a line that rewrites a sentence
_MAX_SHORT = 40  # words of an answer whose contrasts are corrections
_REACH_BEFORE_QUOTE = 80  # characters in which a quotation is called wrong
_REACH_BEFORE_WORDS = 24


class QuotedSentences:
    """Looks for the one sentence of the note that a text calls wrong in other ways than by its number.

    `is_doubted` tells whether the text doubts or denies what it says from one position to another.
    """

    def __init__(
        self, plain: str, sentences: Sentences, is_doubted: Callable[[int, int], bool]
    ) -> None:
        self._plain = plain
        self._sentences = sentences
        self._is_doubted = is_doubted

    def find(self, *, is_called_wrong: bool) -> VerdictClaim | None:
        """Return the claim that the only sentence found is wrong; None if the text means none, or several.

        Args:
            is_called_wrong: whether the text says elsewhere that some sentence is wrong.
        """
        corrections = list(patterns.CORRECTED.finditer(self._plain))
        passages = [match.span(1) for match in corrections if not self._is_in_note(match[1])]
        if corrections and not passages:
            return None
        passages = passages or self._list_quotes(is_called_wrong=is_called_wrong)
        is_whole = not passages
        passages = (passages or self._list_whole_text())[:_MAX_LOOKED_UP]
        numbers = [self._look_up(*span, may_be_part=not is_whole) for span in passages]
        if len(corrections) > 1 and None in numbers:
            return None  # One of several corrections could not be attributed.
        found = _keep_first((number, span) for number, span in zip(numbers, passages, strict=True))
        for find_words in (
            self._find_quoted_words,
            self._find_replaced_words,
            self._find_described,
            self._find_rewritten,
        ):
            found = found or _keep_first(find_words())
        if len(found) != 1:
            return None
        ((number, (start, end)),) = found.items()
        return VerdictClaim(number, start, end, "quoted sentence", True)

    def _look_up(self, start: int, end: int, *, may_be_part: bool) -> int | None:
        passage = self._plain[start:end]
        number = look_up_sentence(passage, self._sentences)
        if number is None and may_be_part:
            number = look_up_part(passage, self._sentences)
        return number

    def _is_in_note(self, passage: str) -> bool:
        """Return whether a passage has the words of a sentence, so that it corrects nothing."""
        words = split_words(passage)
        return any(split_words(sentence) == words for sentence in self._sentences.values())

    def _list_quotes(self, *, is_called_wrong: bool) -> list[Span]:
        """Return the quotations, or only those called wrong if the text does not call any sentence wrong."""
        quotes = [_get_quote(match) for match in patterns.QUOTED.finditer(self._plain)]
        if is_called_wrong:
            return quotes
        return [span for span in quotes if self._calls_quote_wrong(*span)]

    def _calls_quote_wrong(self, start: int, end: int) -> bool:
        before = self._plain[max(0, start - _REACH_BEFORE_QUOTE) : start]
        if patterns.CALLS_WRONG.search(before):
            return True
        return patterns.AFTER_QUOTED_ERROR.match(self._plain, end) is not None

    def _list_whole_text(self) -> list[Span]:
        """Return the span of a text of one line that may be a corrected sentence and nothing else."""
        if "\n" in self._plain.strip() or patterns.CALLED_FINE.search(self._plain):
            return []
        caption = patterns.CALLED_CORRECT.match(self._plain)
        start = caption.end() if caption else 0
        return [] if self._is_in_note(self._plain[start:]) else [(start, len(self._plain))]

    def _find_quoted_words(self) -> Iterator[tuple[int | None, Span]]:
        """Yield the sentences with the quoted words that the text calls wrong: '"5 mg" should be "50 mg"'."""
        for match in islice(patterns.SHORT_QUOTE.finditer(self._plain), _MAX_LOOKED_UP):
            start, end = _get_quote(match)
            calls_wrong = patterns.AFTER_QUOTED_ERROR.match(
                self._plain, end
            ) or patterns.BEFORE_QUOTED_ERROR.search(
                self._plain, max(0, start - _REACH_BEFORE_WORDS), start
            )
            if calls_wrong and not self._is_doubted(start, end):
                yield find_phrase(self._plain[start:end], self._sentences), (start, end)

    def _find_replaced_words(self) -> Iterator[tuple[int | None, Span]]:
        """Yield the sentences with words that the text replaces: "replace fluconazole with metronidazole"."""
        cues: tuple[patterns.VerdictPattern, ...] = patterns.REPLACED_WORDS
        if len(self._plain.split()) <= _MAX_SHORT:
            cues += patterns.CONTRASTED_WORDS
        for match in patterns.find_statements(cues, self._plain, _MAX_LOOKED_UP):
            groups = match.groupdict()
            start, end = match.span("old")
            if groups.get("new") and self._mentions(groups["new"]):
                continue  # The note already says so.
            # The denial in "should be streptozotocin, not paclitaxel" belongs to the correction.
            asserted_at = match.start("from") if "from" in groups else start
            if not self._is_doubted(asserted_at, max(asserted_at + 1, start)):
                yield self._look_up_words(match["old"]), (start, end)

    def _find_described(self) -> Iterator[tuple[int | None, Span]]:
        """Yield the sentences described by their words: "the labetalol sentence is the wrong one"."""
        for match in patterns.find_statements(
            patterns.DESCRIBED_SENTENCE, self._plain, _MAX_LOOKED_UP
        ):
            if not self._is_doubted(*match.span("old")):
                yield self._look_up_words(match["old"]), match.span("old")

    def _mentions(self, words: str) -> bool:
        phrase = words.lower()
        return any(phrase in sentence.lower() for sentence in self._sentences.values())

    def _look_up_words(self, words: str) -> int | None:
        """Return the only sentence with these words, unless they could name anything in the note: "the patient"."""
        phrase = patterns.WORDS_BEFORE_NAME.sub("", words.strip(" \"'"), count=1)
        if patterns.GENERAL_WORDS.fullmatch(phrase):
            return None
        return find_phrase(phrase, self._sentences)

    def _find_rewritten(self) -> Iterator[tuple[int | None, Span]]:
        """Yield the sentences that a line or a quotation repeats with other words in them."""
        spans = [match.span("text") for match in patterns.BULLETED_LINE.finditer(self._plain)]
        spans += [_get_quote(match) for match in patterns.QUOTED.finditer(self._plain)]
        for start, end in spans[:_MAX_LOOKED_UP]:
            number = look_up_sentence(self._plain[start:end], self._sentences)
            if number is None or self._is_doubted(start, end):
                continue
            words = split_words(self._plain[start:end])
            new_words = words - split_words(self._sentences[number])
            if new_words and len(words) >= _MIN_REWRITTEN:
                yield number, (start, end)


def _get_quote(match: re.Match[str]) -> Span:
    """Return the span within the quotation marks, which are double or single."""
    return match.span(1) if match[1] else match.span(2)


def _keep_first(pairs: Iterable[tuple[int | None, Span]]) -> dict[int, Span]:
    """Return the first span of every sentence that was found."""
    found: dict[int, Span] = {}
    for number, span in pairs:
        if number is not None:
            found.setdefault(number, span)
    return found
