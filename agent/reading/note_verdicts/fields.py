"""Read the verdict in fields: a JSON object, elements, or lines of keys and values. Pure."""

import re

from agent.reading.note_verdicts import patterns
from agent.reading.note_verdicts.claims import CONTRADICTION, NO_ERROR, SOME_ERROR, VerdictClaim
from agent.reading.note_verdicts.note import Sentences, look_up_sentence
from agent.reading.note_verdicts.text import find_in_text
from agent.reading.plain_answer import simplify

_KEYS_OF_ID = frozenset(
    {
        *("id", "sentence id", "error sentence", "error sentence id", "sentence", "line"),
        *("wrong sentence", "incorrect sentence", "error id", "sentence number"),
        *("error location", "wrong sentence id", "incorrect sentence id", "error line"),
        *("sentence index", "index", "error sentence number", "line number", "number"),
        *("location", "error in sentence", "erroneous sentence", "sentence with error"),
        *("altered sentence", "wrong id"),
    }
)  # fmt: skip
_KEYS_OF_FLAG = frozenset(
    {
        *("error", "error flag", "has error", "errors", "contains error", "flag", "is error"),
        *("error present", "error found", "error detected", "any error", "has errors"),
        *("note has error", "incorrect", "is incorrect", "note contains error"),
    }
)  # fmt: skip
_KEYS_OF_COUNT = frozenset(
    {
        "error count",
        "number of errors",
        "errors found",
        "num errors",
        "errors count",
        "total errors",
        "n errors",
    }
)
_KEYS_OF_CORRECTNESS = frozenset(
    {"correct", "is correct", "note correct", "note is correct", "all correct", "iscorrect"}
)
_KEYS_OF_ANSWER = frozenset(
    {
        *("answer", "verdict", "final answer", "output", "result", "response", "prediction"),
        *("label", "decision", "assessment", "conclusion", "status", "final verdict"),
        *("judgment", "judgement"),
    }
)  # fmt: skip
_KEYS_OF_CORRECTION = frozenset(
    {
        "corrected sentence",
        "correction",
        "corrected",
        "fix",
        "new",
        "corrected text",
        "replacement",
        "corrected version",
        "new sentence",
        "revised sentence",
    }
)
_TRUE = frozenset({"true", "yes", "1", "y", "ja", "sí", "present", "found"})
_FALSE = frozenset(
    {
        "false",
        "no",
        "0",
        "n",
        "none",
        "null",
        "na",
        "n/a",
        "nein",
        "absent",
        "no error",
        "no errors",
        "-1",
        "",
    }
)

_FIELD = re.compile(
    r"(?:^"
    r"|[{,;\[(])[ \t]{0,8}(?:[-*•+>][ \t]{1,3})?[*_`]{0,3}(?P<quote>[\"'`]?)"
    r"(?P<key>[A-Za-z][A-Za-z_ .-]{0,30}?)[\"'`]?[*_`]{0,3}[ \t]{0,3}(?:[:=]|(?<=(?i:id|ce|ne) )-(?= ))"
    r"\s{0,3}[*_`]{0,3}(?P<value>\"(?:[^\"\\\n]|\\.){0,1500}\"|'(?:[^'\\\n]|\\.){0,1500}'(?=[ \t]{0,3}[,;}\n]"
    r"|\Z)|[^\n,;}\]]{0,300})",
    re.MULTILINE,
)
_ELEMENT = re.compile(r"<(?P<key>[A-Za-z_]\w{0,30})>(?P<value>[^<]{0,1500})</(?P=key)>")
_LEADING_NUMBER = re.compile(
    rf"[^\w-]{{0,3}}(?:{patterns.SENTENCE_WORD}\s)?(?:ids?\s)?#?(-1|\d{{1,4}}){patterns.NOT_AFTER}",
    re.IGNORECASE,
)


class _Fields:
    """Collects what the fields of an answer state."""

    def __init__(self, sentences: Sentences) -> None:
        self._sentences = sentences
        self.flags: set[bool] = set()
        self.numbers: set[int] = set()
        self.answers: set[int] = set()
        self.names_no_sentence = False
        self.correction: bool | None = None
        self.start = -1
        self.end = -1

    def add(self, match: re.Match[str], *, is_quoted: bool) -> None:
        key = " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+", " ", match["key"]).lower().split())
        value = match["value"].strip(" \t*_`\r\n")
        text = value.strip("\"'").strip()
        if text == "[" and match.string.startswith("]", match.end("value")):
            text = ""
        word = text.lower().rstrip(".")
        is_known = True
        if key in _KEYS_OF_ID:
            self._add_sentence(text, word)
        elif key in _KEYS_OF_COUNT and word.isdigit():
            self.flags.add(int(word) > 0)
        elif key in _KEYS_OF_FLAG and word in _TRUE | _FALSE:
            self.flags.add(word in _TRUE)
        elif key in _KEYS_OF_FLAG and is_quoted and (number := _LEADING_NUMBER.match(text)):
            self.numbers.add(int(number[1]))
        elif key in _KEYS_OF_CORRECTNESS and word in _TRUE | _FALSE:
            self.flags.add(word in _FALSE)
        elif key in _KEYS_OF_CORRECTION:
            self.correction = word not in _FALSE
        elif key in _KEYS_OF_ANSWER and is_quoted:
            claim = find_in_text(simplify(text), self._sentences)
            if claim is not None:
                self.answers.add(claim.verdict)
            is_known = claim is not None
        else:
            is_known = False
        if is_known:
            self.start = match.start("key") if self.start < 0 else self.start
            self.end = match.end("value")

    def _add_sentence(self, text: str, word: str) -> None:
        number = _LEADING_NUMBER.match(text)
        if number and int(number[1]) >= 0:
            self.numbers.add(int(number[1]))
        elif word in _FALSE:
            self.names_no_sentence = True
        elif patterns.CORRECT_LINE.fullmatch(text.strip(" .")):
            self.flags.add(False)
        else:
            found = look_up_sentence(text, self._sentences)
            if found is not None:
                self.numbers.add(found)

    def decide(self) -> int | None:
        """Return the verdict, CONTRADICTION, or None if no field states one."""
        verdicts = set(self.answers)
        has_correction = self.correction is True
        if len(self.flags) > 1:
            return CONTRADICTION
        if self.flags == {False}:
            if self.numbers or has_correction:
                return CONTRADICTION
            verdicts.add(NO_ERROR)
        elif self.numbers:
            if self.names_no_sentence:
                return CONTRADICTION
            verdicts.add(self.numbers.pop() if len(self.numbers) == 1 else SOME_ERROR)
        elif self.flags == {True}:
            verdicts.add(SOME_ERROR)
        elif self.names_no_sentence and not has_correction:
            verdicts.add(NO_ERROR)
        if len(verdicts) > 1:
            verdicts.discard(SOME_ERROR)
        if len(verdicts) > 1:
            return CONTRADICTION
        return verdicts.pop() if verdicts else None


def find_in_fields(answer: str, sentences: Sentences) -> VerdictClaim | None:
    """Return the verdict in the fields of a JSON object, elements, or lines of keys and values."""
    if not (":" in answer or "=" in answer or "</" in answer or " - " in answer):
        return None
    fields = _Fields(sentences)
    for match in _FIELD.finditer(answer):
        fields.add(match, is_quoted=bool(match["quote"]) and match["value"][:1] != "")
    if "</" in answer:
        for match in _ELEMENT.finditer(answer):
            if match["key"].lower() not in ("answer", "final_answer"):
                fields.add(match, is_quoted=True)
    verdict = fields.decide()
    if verdict is None:
        return None
    if verdict >= 0 and sentences and verdict not in sentences:
        verdict = SOME_ERROR
    return VerdictClaim(verdict, fields.start, fields.end, "field", True)
