"""Read the verdict in a plain text: lines in the form of an answer, and statements in sentences. Pure."""

import re
from dataclasses import dataclass, replace

from agent.reading.note_verdicts import patterns
from agent.reading.note_verdicts.claims import CONTRADICTION, NO_ERROR, SOME_ERROR, VerdictClaim
from agent.reading.note_verdicts.note import (
    Sentences,
    look_up_sentence,
    measure_similarity,
    split_words,
)
from agent.reading.note_verdicts.quoted import QuotedSentences

_MIN_SIMILARITY = 0.6
_MIN_RESEMBLANCE = 0.3  # of a line that begins with a sentence's number
_ONLY_NUMBER = re.compile(r"\W*\d{1,4}\W*")
_MAX_SHORT = 80  # characters of a sentence that says no more than that the note is right
_FIRST_SENTENCE = re.compile(rf"\s{{0,20}}(?P<text>[^.!?\n]{{5,{_MAX_SHORT}}})(?=[.!?\n]|\Z)")
_LAST_SENTENCE = re.compile(rf"(?:[.!?]\s|\n)\s{{0,9}}(?P<text>[^.!?\n]{{5,{_MAX_SHORT}}})\Z")
_MAX_LINES = 400  # lines examined at each end of an answer
_MAX_RESTATED = 40  # sentences compared with the one that an answer repeats
_ARTICLES = frozenset({"the", "a", "an"})


def find_in_text(plain: str, sentences: Sentences) -> VerdictClaim | None:
    """Return the verdict of a plain text; None if it states none, or takes it back."""
    if plain.strip(" .\n") == "0":
        return None  # the number of the first sentence, or a flag that there is no error
    flat = patterns.BOXED.sub(lambda match: " " * len(match[0]), plain.translate(patterns.FLAT))
    next_task = patterns.NEXT_TASK.search(flat)
    if next_task and flat[: next_task.start()].strip():
        claim = find_in_text(plain[: next_task.start()], sentences)
        if claim is not None:
            return claim
    start, end = _find_answer_to_prompt(flat)
    # Spaces take the place of a repeated prompt, so that positions stay the same.
    plain, flat = " " * start + plain[start:end], " " * start + flat[start:end]
    if sentences:
        flat = _write_numbers(flat, max(sentences))
    claims = ClaimsOfText(plain, flat, sentences)
    claims.add_lines()
    claims.add_statements()
    return claims.decide()


def _find_answer_to_prompt(flat: str) -> tuple[int, int]:
    """Return the part of a text that answers, without the prompt that models repeat before it or go on with."""
    prompt = patterns.PROMPT.search(flat)
    if prompt is None:
        return 0, len(flat)
    if flat[: prompt.start()].strip():
        return 0, prompt.start()
    answer = patterns.PROMPT_END.search(flat, prompt.end())
    if answer is None:
        return 0, 0
    following = patterns.PROMPT.search(flat, answer.end())
    return answer.start(), following.start() if following else len(flat)


def _write_numbers(flat: str, last: int) -> str:
    """Write "sentence ten" and "the last sentence" with digits; the text keeps its length."""
    for match in patterns.NUMBER_IN_WORDS.finditer(flat):
        start, end = match.span("word")
        number = patterns.NUMBER_WORDS[match["word"]]
        flat = flat[:start] + str(number).ljust(end - start) + flat[end:]
    for match in patterns.PLACE_IN_WORDS.finditer(flat):
        sentence = flat[match.start("sentence") : match.end("sentence")]
        numbered = f"{sentence} {_get_place(match['place'], last)}".ljust(len(match[0]))
        flat = flat[: match.start()] + numbered + flat[match.end() :]
    return flat


def _get_place(place: str, last: int) -> int:
    """Return the number of the first, last or last but one sentence."""
    if place in ("penultimate", "second-to-last"):
        return last - 1
    return 0 if place in ("first", "very first", "opening") else last


@dataclass(frozen=True, slots=True)
class _NumberedLine:
    """A line that begins with a sentence's number; `head` is the match of `ID_LINE`."""

    line: re.Match[str]
    head: re.Match[str]
    is_first: bool = False

    @property
    def start(self) -> int:
        return self.line.start()

    @property
    def end(self) -> int:
        return self.line.end()

    @property
    def number(self) -> int:
        return _get_number(self.head)

    @property
    def has_mark_of_list(self) -> bool:
        """Whether the number has a full stop or bracket: "1." or "1)"."""
        return self.head["mark"].startswith((".", ")"))


def _get_number(head: re.Match[str]) -> int:
    """Return the number in a match of `ID_LINE`, whose group stands before the mark."""
    return int(head[head.re.groupindex["mark"] - 1])


class ClaimsOfText:
    """Collects the claims of a plain text about a note, and decides between them."""

    def __init__(self, plain: str, flat: str, sentences: Sentences) -> None:
        self._plain = plain
        self._flat = flat
        self._sentences = sentences
        self._claims: list[VerdictClaim] = []
        lower = flat.lower()
        self._may_retract = any(map(lower.__contains__, patterns.WORDS_OF_RETRACTION))
        self._names_unknown_number = False
        self._numbers_called_fine: set[int] = set()
        self._judged_lines: list[tuple[int, int]] = []

    # Lines in the form of an answer.

    def add_lines(self) -> None:
        """Add the lines in the form that was asked for, and those of the official submission."""
        opening = patterns.OPENING_CORRECT.match(self._flat)
        turns = opening and opening["none"] and patterns.TURN.search(self._flat, opening.end())
        if opening and not turns:
            self._add(NO_ERROR, opening.start(), opening.end(), "line", is_final=True)
        self._add_short_sentence()
        lines = self._find_lines()
        numbered: list[_NumberedLine] = []
        for line in lines:
            start, end = line.span()
            if self._add_stated_line(start, end) or self._add_incorrect_line(line):
                continue
            number = self._read_number(start, end)
            if number is not None:
                numbered.append(_NumberedLine(line, number, is_first=line is lines[0]))
        if numbered:
            self._add_numbered(numbered, lines[-1])
        if self._sentences and self._sentences.keys() <= self._numbers_called_fine:
            self._add(NO_ERROR, 0, len(self._flat), "stated verdict", is_final=False)

    def _find_lines(self) -> list[re.Match[str]]:
        """Return the lines with words; of a very long answer, the first and the last ones."""
        found = patterns.LINE.finditer(self._flat)
        lines = [line for line in found if line[0].strip(" .-=:,'~+")]
        if len(lines) > 2 * _MAX_LINES:
            return lines[:_MAX_LINES] + lines[-_MAX_LINES:]
        return lines

    def _add_stated_line(self, start: int, end: int) -> bool:
        """Add a line that states a whole verdict, in one of the forms in which answers do; return whether it does."""
        submission = patterns.SUBMISSION.match(self._plain, start, end)
        if submission:
            self._add_submission(submission)
            return True
        both = patterns.CORRECT_AND_CORRECTION.match(self._flat, start, end)
        if both:
            self._add(CONTRADICTION, start, both.end(), "line", is_final=True)
            return True
        if self._add_flagged_line(start, end) or self._add_judged_line(start, end):
            return True
        return self._add_correct_line(start, end)

    def _add_incorrect_line(self, line: re.Match[str]) -> bool:
        """Add a line that says "incorrect", with the number of a sentence if it names one."""
        start, end = line.span()
        incorrect = patterns.INCORRECT.match(self._flat, start)
        if incorrect is None:
            return False
        number = patterns.ID_LINE.match(self._flat, incorrect.end(), end)
        if number and self._is_sentence(number, end):
            self._add_number(_NumberedLine(line, number), "line")
        else:
            self._add(SOME_ERROR, start, incorrect.end(), "line", is_final=True)
        return True

    def _read_number(self, start: int, end: int) -> re.Match[str] | None:
        """Return the number at the start of a line that names a sentence, and add or note what the line says of it."""
        number = patterns.ID_LINE.match(self._flat, start, end)
        if number is None or self._begins_list_in_line(number, end):
            return None
        status = patterns.STATUS.match(self._flat[number.end() : end].lstrip(" '"))
        if status and status["wrong"]:
            self._add(_get_number(number), start, end, "stated verdict", is_final=False)
            return None
        if status:
            self._numbers_called_fine.add(_get_number(number))
        return number if self._is_sentence(number, end) else None

    def _begins_list_in_line(self, number: re.Match[str], end: int) -> bool:
        """Return whether a number begins a list within its line: "1. The pH fits. 2. The drug fits."."""
        mark = number["mark"].strip()[:1]
        if mark not in (".", ")") or number["word"] or number["id"]:
            return False
        following = f"{_get_number(number) + 1}{mark} "
        return any(
            f"{stop} {following}" in self._flat[number.end() : end] for stop in (".", ";", ",")
        )

    def _add_short_sentence(self) -> None:
        """Add a first or last sentence that says no more than that the note is right: "So it's correct."."""
        text = self._flat.rstrip(" .!\n")
        for sentence in (
            _FIRST_SENTENCE.match(text),
            _LAST_SENTENCE.search(text, max(0, len(text) - _MAX_SHORT)),
        ):
            if sentence is None or self._flat[sentence.end() :].lstrip(" ").startswith("?"):
                continue
            fine = patterns.SHORT_FINE.fullmatch(text, *sentence.span("text"))
            if fine is None or fine[0].strip(" .,!").lower() in patterns.SHORT_WORDS:
                continue
            self._add(NO_ERROR, *sentence.span("text"), "line", is_final=False)

    def _add_submission(self, match: re.Match[str]) -> None:
        flag = match["flag"] or match["bare_flag"]
        number = int(match["id"] or match["bare_id"])
        has_text = match["text"].strip(" \"'“”.,").upper() not in ("", "NA", "N/A", "NONE", "NULL")
        if flag == "0":
            verdict = NO_ERROR if number == -1 and not has_text else CONTRADICTION
        else:
            verdict = number if number >= 0 else CONTRADICTION
        self._add(verdict, match.start(), match.end(), "submission line", is_final=True)

    def _add_flagged_line(self, start: int, end: int) -> bool:
        """Add a line of flag, number and corrected sentence, as in a submission: "1 6 The dose is 5 mg."."""
        match = patterns.FLAG_AND_NUMBER.match(self._flat, start, end)
        if match is None:
            return False
        number = int(match["number"])
        if look_up_sentence(match["text"], self._sentences) != number:
            return False
        self._add(number, start, end, "submission line", is_final=True)
        return True

    def _add_judged_line(self, start: int, end: int) -> bool:
        """Add a line that repeats a sentence and says whether it is right: "1 The dose is 5 mg. - INCORRECT"."""
        status = patterns.STATUS_BEHIND.search(self._flat, max(start, end - 40), end)
        number = status and patterns.ID_LINE.match(self._flat, start, status.start())
        if not status or not number or self._measure(number, status.start()) < _MIN_SIMILARITY:
            return False
        if status["wrong"]:
            self._add(_get_number(number), start, end, "stated verdict", is_final=False)
        else:
            self._numbers_called_fine.add(_get_number(number))
        self._judged_lines.append((start, end))
        return True

    def _add_correct_line(self, start: int, end: int) -> bool:
        match = patterns.CORRECT_LINE.match(self._flat, start, end)
        if match is None:
            return False
        rest = self._flat[match.end() : self._find_sentence_end(match.end())]
        exception = patterns.EXCEPTION.search(rest)
        if exception and not patterns.HARMLESS.search(rest):
            found = patterns.EXCEPT_FOR.search(self._flat, match.end(), end)
            verdict = int(found[1]) if found else CONTRADICTION
            self._add(
                verdict, match.start(), found.end() if found else match.end(), "line", is_final=True
            )
            return True
        self._add(
            NO_ERROR,
            start,
            match.end(),
            "final answer" if match["label"] else "line",
            is_final=True,
        )
        return True

    def _is_sentence(self, match: re.Match[str], end: int) -> bool:
        """Return whether a number at the start of a line is that of a sentence, and no count or range."""
        if match[0].strip() == "-1" and not self._flat[match.end() : end].strip():
            return False
        if self._sentences and self._measure(match, end) == 1:
            return True
        if patterns.COUNT.match(self._flat, match.end()) or patterns.SEVERAL.match(
            self._flat, match.end("mark") - len(match["mark"])
        ):
            return False
        rest = self._flat[match.end() : end].lstrip(" '")
        if not rest.strip(" ."):
            if patterns.CALLED_CORRECT.match(match[0]):
                return False
            # An item of a list of numbers: "- 7".
            if not match["word"] and match[0].lstrip().startswith(("- ", "+ ")):
                return False
            return not match["word"] or match["word"].lower() != "s"
        if patterns.STATUS.match(rest) or patterns.ONLY_NUMBERS.fullmatch(rest):
            return False
        if match["word"] or match["id"]:
            if match["mark"].strip() == ",":
                return patterns.REASON.match(rest) is not None
            return bool(match["mark"]) or rest[0].isupper()
        if self._rewrites_sentence(match, end):
            return True
        is_marked = bool(match["mark"]) or bool(match["label"])
        is_reasoned = (
            _get_number(match) in self._sentences and patterns.REASON.match(rest) is not None
        )
        return (
            is_marked
            or is_reasoned
            or not rest[0].islower()
            or self._measure(match, end) >= _MIN_SIMILARITY
        )

    def _rewrites_sentence(self, match: re.Match[str], end: int) -> bool:
        """Return whether an answer of one line rewrites the sentence loosely: "6 pt diagnosed w/ trichomoniasis"."""
        if self._plain.strip().count("\n") or match.start() > 4:
            return False
        words = split_words(self._plain[match.end() : end])
        shared = {
            number: len(words & split_words(sentence))
            for number, sentence in self._sentences.items()
        }
        count = shared.pop(_get_number(match), 0)
        return count >= 2 and 3 * count >= len(words) and count > max(shared.values(), default=0)

    def _add_numbered(self, numbered: list[_NumberedLine], last: re.Match[str]) -> None:
        """Add the lines that begin with a sentence's number, unless they only list the note or the reasons."""
        labelled = [line for line in numbered if line.head["label"]]
        for line in labelled:
            self._add_number(line, "final answer")
        if labelled:
            return
        announced = [line for line in numbered if self._follows_announcement(line.start)]
        kept = self._drop_list_items(numbered)
        if announced:
            kept = [line for line in kept if line.start >= announced[0].start]
        if self._sentences and len({line.number for line in kept}) > 1:
            kept = [
                line
                for line in kept
                if not self._repeats_note(line) and not self._breaks_off(line, kept)
            ]
        if len({line.number for line in kept}) > 1:
            self._add_several(kept, last, is_announced=bool(announced))
        elif kept:
            self._add_first(
                kept[0], is_at_edge=kept[0].is_first or kept[0].line is last or kept[0] in announced
            )

    def _add_several(
        self, lines: list[_NumberedLine], last: re.Match[str], *, is_announced: bool
    ) -> None:
        """Add lines with different numbers: errors that are not named, or the answer below a list of reasons."""
        is_note = not self._sentences and not is_announced
        if not is_note and all(map(self._resembles, lines)):
            start, end = lines[0].start, lines[-1].end
            self._add(SOME_ERROR, start, end, "line", is_final=True)
        elif self._sentences and lines[-1].line is last and self._resembles(lines[-1]):
            self._add_number(lines[-1], "line")

    def _add_first(self, line: _NumberedLine, *, is_at_edge: bool) -> None:
        """Add a line if it opens or closes the answer, is announced, or is similar to its sentence."""
        is_alone = not line.head["word"] or not self._mentions_others(line)
        is_similar = bool(self._sentences) and self._resembles(line)
        if (is_at_edge and is_alone) or is_similar:
            says_wrong = patterns.CALLS_WRONG.search(line.head[0]) is not None
            self._add_number(line, "stated verdict" if says_wrong else "line")

    def _drop_list_items(self, lines: list[_NumberedLine]) -> list[_NumberedLine]:
        """Drop the items of a list that is numbered from 0 or 1: "1. It was 50 mg."."""
        items = [line for line in lines if line.has_mark_of_list]
        numbers = [line.number for line in items]
        if len(numbers) < 2 or numbers[0] not in (0, 1):
            return lines
        if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            return lines
        others = [line for line in lines if line not in items]
        if others and self._begins_next_item(others[-1], after=items[-1]):
            others.pop()
        named = [line for line in items if line.head["word"] or line.head["id"]]
        return sorted([*others, *named], key=lambda line: line.start)

    def _begins_next_item(self, line: _NumberedLine, *, after: _NumberedLine) -> bool:
        """Return whether the answer was cut off in the number of the next item: "1" below "12. It was 50 mg."."""
        number = line.head[0].strip()
        is_next_line = self._flat[after.end : line.start] == "\n"
        is_end = not self._flat[line.start + len(line.head[0]) :].strip()
        return is_next_line and is_end and str(after.number + 1).startswith(number)

    def _mentions_others(self, line: _NumberedLine) -> bool:
        """Return whether the text after a numbered line's head mentions another sentence."""
        later = patterns.REFERENCE_PATTERN.finditer(self._flat, line.head.end())
        return any(int(other[1]) != line.number for other in later)

    def _follows_announcement(self, start: int) -> bool:
        before = self._flat[max(0, start - 80) : start].rstrip(" \n")
        return patterns.ANNOUNCEMENT.search(before) is not None

    def _resembles(self, line: _NumberedLine) -> bool:
        """Return whether a numbered line is similar to that sentence of the note; true if the note is not known."""
        return not self._sentences or self._measure(line.head, line.end) >= _MIN_RESEMBLANCE

    def _measure(self, head: re.Match[str], end: int) -> float:
        sentence = self._sentences.get(_get_number(head), "")
        text = self._plain[head.end() : end]
        return measure_similarity(split_words(text), split_words(sentence))

    def _repeats_note(self, line: _NumberedLine) -> bool:
        sentence = self._sentences.get(line.number, "")
        return split_words(self._plain[line.head.end() : line.end]) == split_words(sentence)

    def _breaks_off(self, line: _NumberedLine, lines: list[_NumberedLine]) -> bool:
        """Return whether the answer breaks off in a line that begins the note's next sentence after a repeated one."""
        text = self._plain[line.head.end() : line.end].strip()
        sentence = self._sentences.get(line.number, "")
        if self._plain[line.end :].strip() or not sentence.startswith(text):
            return False
        return any(other.number == line.number - 1 and self._repeats_note(other) for other in lines)

    def _add_number(self, line: _NumberedLine, rule: str) -> None:
        self._add(line.number, line.start, line.end, rule, is_final=True)

    # Sentences.

    def add_statements(self) -> None:
        """Add the statements of the reasoning that the note is correct or that a sentence is wrong."""
        flat = self._flat
        for match in patterns.TOKEN.finditer(flat):
            self._add_token(match)
        for match in patterns.find_statements(patterns.CALLS_CORRECT, flat):
            if self._may_call_correct(match):
                self._add(NO_ERROR, match.start(), match.end(), "stated verdict", is_final=False)
        for match in patterns.find_statements(patterns.CALLS_WRONG_SOMEWHERE, flat):
            if patterns.FINDS_NONE.match(match[0]):
                continue
            if not self._is_doubted(match.start(), match.end()):
                self._add(SOME_ERROR, match.start(), match.end(), "stated verdict", is_final=False)
        if not patterns.DIGIT.search(flat):
            return
        self._add_fine_range()
        for match in patterns.find_statements(patterns.CALLS_SENTENCE_WRONG, flat):
            self._add_reference(match)
        for match in patterns.BARE_WRONG.finditer(flat):
            if int(match[1]) in self._sentences:
                self._add_reference(match)
        self._add_listed_errors()
        self._add_repeated_sentences()
        for match in patterns.LABELLED.finditer(flat):
            if not self._is_doubted(match.start(), match.end()) and not patterns.COUNT.match(
                flat, match.end()
            ):
                self._add(int(match[1]), match.start(), match.end(), "final answer", is_final=True)

    def _add_fine_range(self) -> None:
        """Add the statement that every sentence is right by their numbers: "sentences 0 to 10 are accurate"."""
        for match in patterns.find_statements((patterns.RANGE_FINE,), self._flat):
            first, last = int(match["first"]), int(match["last"])
            is_whole = (
                self._sentences and first == min(self._sentences) and last >= max(self._sentences)
            )
            if is_whole and not self._is_doubted(match.start(), match.end()):
                self._add(NO_ERROR, match.start(), match.end(), "stated verdict", is_final=False)

    def _add_token(self, match: re.Match[str]) -> None:
        start = self._find_sentence_start(match.start())
        end = self._find_sentence_end(match.end())
        before, after = self._flat[start : match.start()], self._flat[match.end() : end]
        if _ONLY_NUMBER.fullmatch(before) or any(a <= start < b for a, b in self._judged_lines):
            return
        is_at_edge = not before.strip(" -=>:'.+✅✔✓☑") or not after.strip(" '.)✅✔✓☑")
        if not is_at_edge and not patterns.BEFORE_TOKEN.search(before):
            return
        clause = patterns.CLAUSE_END.split(before.rstrip(" :,"))[-1]
        if patterns.SENTENCE_BEFORE.search(before[-80:]):
            return
        if patterns.IF.match(before) and patterns.CONDITION.match(before):
            return
        if (
            patterns.DOUBT.search(clause) or patterns.CONDITION.match(before)
        ) and not patterns.CHOSEN.search(before):
            return
        if (
            patterns.EITHER.search(clause)
            or patterns.NEGATION.search(clause)
            or (patterns.EXCEPTION.search(after) and not patterns.HARMLESS.search(after))
        ):
            return
        self._add(NO_ERROR, match.start(), match.end(), "final answer", is_final=True)

    def _may_call_correct(self, match: re.Match[str]) -> bool:
        start, end = self._find_sentence_start(match.start()), self._find_sentence_end(match.end())
        before, after = self._flat[start : match.start()], self._flat[match.end() : end]
        clause = patterns.CLAUSE_END.split(before)[-1] + self._flat[match.start() : end]
        aside = patterns.FINE_ASIDE.search(clause)
        if (
            patterns.REFERENCE_PATTERN.search(clause[: aside.start()] if aside else clause)
            or patterns.PARTIAL.search(match[0])
            or patterns.PARTIAL.search(after[:40])
        ):
            return False
        if patterns.ALMOST.search(before) or patterns.IF_WITHIN.search(before[-80:]):
            return False
        if patterns.IN_PART.match(after) or self._fits_another_diagnosis(match[0], after):
            return False
        if patterns.WITHOUT_CONFIDENCE.match(after):
            return False
        is_doubted = (
            patterns.DOUBT.search(before)
            or patterns.DOUBT.search(after)
            or patterns.CONDITION.match(before)
        )
        if is_doubted and not patterns.CHOSEN.search(before):
            return False
        if patterns.EXCEPTION.search(after) and not patterns.HARMLESS.search(after):
            return False
        if patterns.TURN_NEXT.match(self._flat, end):
            return False
        return not patterns.NEGATION.search(patterns.CLAUSE_END.split(before)[-1])

    def _fits_another_diagnosis(self, statement: str, after: str) -> bool:
        """Return whether the note is called consistent with something that it does not mention."""
        fits = patterns.CONSISTENT_WITH.match(after)
        if not self._sentences or fits is None or not statement.lower().endswith("consistent"):
            return False
        diagnosis = fits["diagnosis"].strip().lower()
        is_named = any(diagnosis in sentence.lower() for sentence in self._sentences.values())
        return not is_named and patterns.OF_THE_NOTE.match(diagnosis) is None

    def _is_doubted(self, start: int, end: int) -> bool:
        sentence_start, sentence_end = (
            self._find_sentence_start(start),
            self._find_sentence_end(end),
        )
        before = self._flat[sentence_start:start]
        after = self._flat[end:sentence_end]
        clause_before = patterns.CLAUSE_END.split(before)[-1]
        clause_after = patterns.CLAUSE_END.split(after)[0]
        if "but" in after or "though" in after:
            after = patterns.CANNOT_NAME.sub("", after)
        if patterns.EXCUSE.search(after):
            return True
        if patterns.EITHER.search(clause_before):
            return True
        if patterns.CHOSEN.search(self._flat, sentence_start, end):
            return False
        if patterns.CONDITION.match(before) or after.rstrip().endswith("?"):
            return True
        if any(
            patterns.DOUBT.search(part)
            for part in (clause_before, self._flat[start:end], clause_after)
        ):
            return True
        return patterns.NEGATION.search(clause_before) is not None

    def _add_reference(self, match: re.Match[str]) -> None:
        number = next(
            group
            for name, group in zip(range(1, 99), match.groups(), strict=False)
            if group and group.isdigit()
        )
        if self._flat.startswith("CORRECT", match.start()):
            return
        is_number_first = match.re is patterns.WRONG_AFTER.lowered
        between = ""
        if "between" in match.re.groupindex:
            between = self._flat[match.start("between") : match.end("between")]
        if "flag" in between or "count" in between or patterns.NEGATION.search(between):
            return
        others = list(patterns.REFERENCE_PATTERN.finditer(between))
        if others:
            # "Together with sentence 0 (frothy discharge), the diagnosis in sentence 6 is wrong."
            start = match.start("between") + others[-1].start()
            nearer = match.re.search(match.string, start, match.end())
            if nearer and nearer.start() > match.start():
                self._add_reference(nearer)
            return
        if is_number_first and patterns.FINE.search(between):
            return
        if patterns.NOT_SAID_WRONG.match(self._flat, match.end()):
            return
        if is_number_first and patterns.ONLY_THEN_WRONG.search(between):
            return
        if self._is_doubted(match.start(), match.end()):
            return
        number_end = match.start("between") if is_number_first else match.end()
        if patterns.COUNT.match(self._flat, number_end):
            return
        if patterns.SEVERAL.match(self._flat, number_end):
            self._add(SOME_ERROR, match.start(), match.end(), "stated verdict", is_final=False)
            return
        self._add(int(number), match.start(), match.end(), "stated verdict", is_final=False)

    def _add_listed_errors(self) -> None:
        """Add the sentences of a list whose entry says "This one is wrong."."""
        for line in patterns.LINE.finditer(self._flat):
            head = patterns.ID_LINE.match(self._flat, line.start(), line.end())
            if head is None or head.end() >= line.end():
                continue
            position = head.end()
            for end in [
                *(
                    end.end()
                    for end in patterns.SENTENCE_END.finditer(self._flat, position, line.end())
                ),
                line.end(),
            ]:
                wrong = patterns.THIS_WRONG.match(self._flat[position:end].strip())
                if wrong and not patterns.NEGATION.search(wrong[0]):
                    self._add(
                        _get_number(head), head.start(), end, "stated verdict", is_final=False
                    )
                position = end

    def _add_repeated_sentences(self) -> None:
        """Add a sentence that the text repeats or corrects after its number: "An error. 10 The dose is 5 mg."."""
        for match in patterns.NUMBER_IN_TEXT.finditer(self._flat):
            sentence = self._sentences.get(int(match[1]))
            line_end = self._flat.find("\n", match.end())
            end = line_end if line_end >= 0 else len(self._flat)
            if sentence is None or end - match.end() > 3 * len(sentence) + 40:
                continue
            words = split_words(self._plain[match.end() : end])
            has_error = patterns.CALLS_WRONG.search(
                self._flat, max(0, match.start() - 120), match.start()
            )
            if has_error and measure_similarity(words, split_words(sentence)) >= _MIN_SIMILARITY:
                self._add(int(match[1]), match.start(1), end, "stated verdict", is_final=False)

    def _find_sentence_start(self, position: int) -> int:
        start = max(0, position - 400)
        ends = [
            match.end() for match in patterns.SENTENCE_END.finditer(self._flat, start, position)
        ]
        return ends[-1] if ends else start

    def _find_sentence_end(self, position: int) -> int:
        match = patterns.SENTENCE_END.search(self._flat, position, position + 400)
        return match.start() + 1 if match else min(len(self._flat), position + 400)

    def _add(self, verdict: int, start: int, end: int, rule: str, *, is_final: bool) -> None:
        if verdict >= 0 and self._sentences and verdict not in self._sentences:
            verdict = SOME_ERROR
            self._names_unknown_number = True
        self._claims.append(VerdictClaim(verdict, start, end, rule, is_final))

    # The decision.

    def decide(self) -> VerdictClaim | None:
        """Return the claim that the whole text makes, or None if its claims are absent or contradict each other."""
        if len(patterns.OFFERED.findall(self._flat)) > 1:
            return None
        claims = sorted(self._claims, key=lambda claim: (claim.start, claim.end))
        claims = self._drop_retracted(claims)
        concluded = self._find_last_word(claims) or self._find_conclusion(claims)
        if concluded is not None:
            return concluded
        finals = [claim for claim in claims if claim.is_final]
        chosen = _choose(finals) if finals else _choose(claims)
        if finals and chosen is not None:
            chosen = self._compare_with_reasoning(
                chosen, [claim for claim in claims if not claim.is_final]
            )
        if (chosen is None and not claims) or (chosen is not None and chosen.verdict == SOME_ERROR):
            chosen = self._find_quoted(chosen)
        if chosen is None or self._questions_sentence(chosen) or self._is_restated(chosen):
            return None
        if chosen.verdict != NO_ERROR and self._is_left_open(chosen.end):
            return None
        if not self._may_retract:
            return chosen
        if patterns.RETRACTION.search(self._flat, chosen.end):
            return None
        if patterns.STRONG_RETRACTION.search(self._flat, chosen.start):
            return None
        return chosen

    def _is_left_open(self, end: int) -> bool:
        """Return whether the text says behind a verdict on a sentence that the note may be right after all."""
        later = self._flat[end:]
        return bool(patterns.LEFT_OPEN.search(later) or patterns.ALSO_POSSIBLE.search(later))

    def _find_last_word(self, claims: list[VerdictClaim]) -> VerdictClaim | None:
        """Return the claim that the note is right if the answer ends with it and only weighed sentences before."""
        kept = patterns.KEPT.search(self._flat, max(0, len(self._flat) - _MAX_SHORT))
        if kept and not self._is_conditional(kept):
            return VerdictClaim(NO_ERROR, *kept.span("verdict"), "final answer", True)
        last = patterns.LAST_WORD.search(self._flat, max(0, len(self._flat) - _MAX_SHORT))
        if last is None or any(start <= last.start() < end for start, end in self._judged_lines):
            return None
        others = [claim for claim in claims if claim.verdict != NO_ERROR]
        if not others or not all(self._is_weighed(claim, last) for claim in others):
            return None
        return VerdictClaim(NO_ERROR, *last.span("verdict"), "final answer", True)

    def _is_conditional(self, kept: re.Match[str]) -> bool:
        """Return whether the words before a last word deny it or tie it to a condition."""
        before = self._flat[self._find_sentence_start(kept.start()) : kept.start()]
        return bool(
            patterns.CONDITION.match(before)
            or patterns.IF_WITHIN.search(before)
            or patterns.NEGATION.search(patterns.CLAUSE_END.split(before)[-1])
        )

    def _is_weighed(self, claim: VerdictClaim, last: re.Match[str]) -> bool:
        """Return whether a line repeats a sentence of the note, and the text up to the last word calls it right."""
        sentence = self._sentences.get(claim.verdict)
        if claim.rule != "line" or sentence is None:
            return False
        line = self._flat[claim.start : min(claim.end, last.start())]
        text = self._flat[claim.start : last.start()]
        if patterns.ALTERS.search(text) or self._has_line(claim.verdict, claim.end, last.start()):
            return False
        if last["arrow"] and not patterns.SENTENCE_END.search(line):
            return False  # the verdict on the sentence alone
        is_repeated = split_words(sentence) <= split_words(line)
        return is_repeated or "?" in line or patterns.APPROVES.search(text) is not None

    def _has_line(self, number: int, start: int, end: int) -> bool:
        """Return whether another line begins with a sentence's number: the sentence as it should be."""
        heads = (
            patterns.ID_LINE.match(self._flat, line.start(), end)
            for line in patterns.LINE.finditer(self._flat, start, end)
        )
        return any(head is not None and _get_number(head) == number for head in heads)

    def _find_conclusion(self, claims: list[VerdictClaim]) -> VerdictClaim | None:
        """Return the claim that the note is right with which an answer ends that begins with a sentence of the note.

        Some models repeat the sentence that they doubt, weigh it and decide for it: "8 The dose is 5 mg. Hmm, ...
        Therefore there's no error." A sentence that is called wrong in words is none of these.
        """
        others = [claim for claim in claims if claim.verdict != NO_ERROR]
        if not others or any(claim.rule != "line" for claim in others):
            return None
        start = max(claim.end for claim in others)
        behind = [claim for claim in claims if claim.start >= start]
        words = self._flat[start:]
        if not behind or patterns.AFTER_CORRECTION.search(words):
            return None
        text_end = len(self._flat.rstrip(" .!*\n"))
        last_start = self._find_sentence_start(text_end)
        last = [claim for claim in behind if claim.end > last_start]
        if not last:
            return None
        is_concluded = patterns.CONCLUDES.match(self._flat, last_start) is not None
        is_said_before = any(claim.end <= last_start for claim in behind)
        return last[-1] if is_concluded or is_said_before else None

    def _questions_sentence(self, chosen: VerdictClaim) -> bool:
        """Return whether the note is called correct and a sentence of it is called questionable below that."""
        if chosen.verdict != NO_ERROR:
            return False
        for doubt in patterns.QUESTIONED.finditer(self._flat, chosen.end):
            rest = self._flat[doubt.end() : self._find_sentence_end(doubt.end())]
            if not patterns.EXCUSE.search(rest):
                return True
        return False

    def _is_restated(self, chosen: VerdictClaim) -> bool:
        """Return whether the answer repeats a sentence unaltered and states it again below, as a fact."""
        sentence = self._sentences.get(chosen.verdict)
        later = self._plain[chosen.end :]
        if chosen.rule != "line" or sentence is None or not later.strip():
            return False
        words = split_words(sentence)
        line = self._plain[chosen.start : chosen.end]
        if split_words(line) - {str(chosen.verdict)} != words - {str(chosen.verdict)}:
            return False
        if patterns.ALTERS.search(later) or patterns.TURN.search(later):
            return False
        parts = patterns.SENTENCE_END.split(later)[:_MAX_RESTATED]
        return any(split_words(part) - _ARTICLES == words - _ARTICLES for part in parts)

    def _drop_retracted(self, claims: list[VerdictClaim]) -> list[VerdictClaim]:
        """Drop the claims before the last retraction if a sentence is named after it: "CORRECT... wait. 10 Dose"."""
        retractions = list(patterns.RETRACTION.finditer(self._flat)) if self._may_retract else []
        if not retractions:
            return claims
        later = [claim for claim in claims if claim.start >= retractions[-1].start()]
        decides = any(claim.is_final and self._is_decision(claim) for claim in later)
        return later if decides else claims

    def _is_decision(self, claim: VerdictClaim) -> bool:
        """Return whether a claim names a sentence, or is announced as final: "My final answer is CORRECT"."""
        if claim.verdict >= 0:
            return True
        before = self._flat[max(0, claim.start - 60) : claim.start]
        return patterns.ANNOUNCED_AS_FINAL.search(before) is not None

    def _compare_with_reasoning(
        self, final: VerdictClaim, reasoning: list[VerdictClaim]
    ) -> VerdictClaim | None:
        errors = [claim for claim in reasoning if claim.verdict != NO_ERROR]
        if final.verdict == NO_ERROR:
            after = any(claim.start > final.start for claim in errors)
            before = errors and not patterns.TURN.search(self._flat, errors[-1].end, final.start)
            return None if after or before else final
        if final.verdict == SOME_ERROR:
            named = {claim.verdict: claim for claim in errors if claim.verdict >= 0}
            return next(iter(named.values())) if len(named) == 1 else final
        return final

    def _find_quoted(self, claim: VerdictClaim | None) -> VerdictClaim | None:
        """Return the claim with the sentence that the text quotes or corrects without its number."""
        if not self._sentences or self._names_unknown_number:
            return claim
        quoted = QuotedSentences(self._plain, self._sentences, self._is_doubted)
        return quoted.find(is_called_wrong=claim is not None) or claim


def _choose(claims: list[VerdictClaim]) -> VerdictClaim | None:
    """Return the claim on which all agree; two different wrong sentences are an error that is not named."""
    if not claims or any(claim.verdict == CONTRADICTION for claim in claims):
        return None
    verdicts = {claim.verdict for claim in claims}
    numbers = {verdict for verdict in verdicts if verdict >= 0}
    if NO_ERROR in verdicts and len(verdicts) > 1:
        return None
    labelled = [claim for claim in claims if claim.rule == "final answer"]
    if len(numbers) > 1:
        if labelled and len({claim.verdict for claim in labelled}) == 1:
            return labelled[-1]
        return replace(claims[0], verdict=SOME_ERROR)
    if numbers:
        return next(claim for claim in claims if claim.verdict >= 0)
    return claims[-1]
