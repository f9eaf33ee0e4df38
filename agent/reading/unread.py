"""Say why an answer was not read, in words that a person understands, and which option may help. Pure.

The kind of an unread answer is a description of its text. It changes no score.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from agent.reading.choice.claims import TooManyClaimsError
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.normalise import normalise
from agent.reading.choice.reader import collect_claims
from agent.reading.choice.references import CONTRADICTION, SIGNS, UNKNOWN, OptionTexts, decode
from agent.reading.json_answers import names_answer, select_parts
from agent.reading.json_objects import list_quoted_keys
from agent.reading.parsers import extract
from agent.reading.reading import ValueKind
from agent.reading.statements import is_refusal
from agent.vocabulary import AnswerParser, Reason, Unscored


@dataclass(frozen=True, slots=True)
class UnreadKind:
    """A kind of unread answer.

    Attributes:
        name: a short phrase for tables.
        description: one sentence for the documentation.
        advice: the option of `score` or the setting to try; empty if none helps.
        example: an answer of this kind; for a question with options, these are A to D.
    """

    name: str
    description: str
    advice: str
    example: str

    @property
    def advice_for_run(self) -> str:
        """The advice for answers of a run, whose parser is set in its run entry."""
        advice = self.advice
        for option, key in _RUN_ENTRY_FORMS:
            advice = advice.replace(option, key)
        return advice if advice == self.advice else f"{advice[:-1]} in the run entry."

    @property
    def advice_for_file(self) -> str:
        """The advice for answers from a file; empty if it is about asking a server."""
        return "" if any(words in self.advice for words in _ABOUT_ASKING) else self.advice

    @property
    def depends_on_parser(self) -> bool:
        """Whether another parser may read the answers."""
        names_parser = _FIELD_OPTION in self.advice or _PATTERN_OPTION in self.advice
        return names_parser or self.name == NO_LABEL.name


_FIELD_OPTION = "`--parser json --answer-field NAME`"
_PATTERN_OPTION = "`--parser pattern --answer-pattern REGEX`"
_RUN_ENTRY_FORMS = (
    (_FIELD_OPTION, "`parser=json,answer_field=NAME`"),
    (_PATTERN_OPTION, "`parser=pattern,answer_pattern=REGEX`"),
)
_ABOUT_ASKING = ("in the run entry", "`intramural doctor`")
_OTHER_FORM = (
    "If the model has its own form for stating answers, specify that form: "
    f"{_FIELD_OPTION} or {_PATTERN_OPTION}."
)
_LONGER = "Allow longer answers: `num_output_tokens=N` or `increase_max_tokens=N` in the run entry."

CUT_OFF = UnreadKind(
    "cut off",
    "The answer reached its token limit before it stated a result.",
    _LONGER,
    "Let us look at each option. Option A is",
)
EMPTY = UnreadKind(
    "empty",
    "The answer has no text.",
    "If the model reasons first, allow longer answers: `increase_max_tokens=N` in the run entry. "
    "`intramural doctor` "
    "tests the server.",
    " ",
)
WITHHELD = UnreadKind(
    "withheld by the server's filter",
    "The content filter of the server withheld the answer.",
    "Ask the operator of the server to switch its content filter off for this model.",
    "The first step is",
)
REPETITION = UnreadKind(
    "endless repetition",
    "The answer repeats itself.",
    "Check the model's chat template, and set a stop sequence or a lower token limit.",
    "The patient is stable. " * 12,
)
REFUSAL = UnreadKind(
    "refusal",
    "The model declines to answer.",
    "",
    "I'm sorry, but I cannot give medical advice.",
)
NO_FIELD = UnreadKind(
    "JSON without an answer key",
    "The answer is JSON, but none of its keys is known to hold the answer.",
    f"Name the key that holds the answer: {_FIELD_OPTION}.",
    '{"reasoning": "Vitamin B12 is absorbed in the ileum.", "outcome": "B"}',
)
UNCLEAR_FIELD = UnreadKind(
    "JSON with an unclear answer",
    "The JSON key for the answer holds several values, none, or one that cannot be read as an answer.",
    "",
    '{"answer": ["A", "B"]}',
)
NO_MATCH = UnreadKind(
    "the parser selects nothing",
    "The answer has no field or match that the parser selects.",
    f"Name another field or pattern: {_FIELD_OPTION} or {_PATTERN_OPTION}.",
    "I am not sure which one you mean.",
)
UNCLEAR_PART = UnreadKind(
    "no clear answer in the selected text",
    "The pattern selects a part of the answer, but that part cannot be read as an answer.",
    f"Check that the pattern selects the answer and nothing else: {_PATTERN_OPTION}.",
    "Answer: (C)",
)
NO_LABEL = UnreadKind(
    "no clear label",
    "The answer states none of the benchmark's labels, or several.",
    "If the model uses another word for a label, add it to `labels` in the benchmark's definition.",
    "It is partly true and partly invented.",
)
BEYOND_OPTIONS = UnreadKind(
    "letter beyond the options",
    "The answer names a letter that the question does not have.",
    "Check that the prompt lists all options: `intramural benchmarks check` shows it.",
    "The answer is F.",
)
CONTRADICTED_LETTER = UnreadKind(
    "letter with another option's text",
    "The letter names one option, and the text beside it is that of another.",
    "If the answers were produced elsewhere, check that their questions had the options in this order.",
    "B (Aspirin)",
)
SEVERAL_OPTIONS = UnreadKind(
    "several options named",
    "The answer names several options and chooses none of them clearly.",
    _OTHER_FORM,
    "It could be A or C.",
)
UNCLEAR_OPTION = UnreadKind(
    "one option named, but not chosen",
    "The answer names one option, but denies it, asks about it or ties it to a condition.",
    _OTHER_FORM,
    "Is it option B?",
)
NO_OPTION = UnreadKind(
    "no option named",
    "The answer names no option.",
    _OTHER_FORM,
    "The patient should rest.",
)
SEVERAL_VALUES = UnreadKind(
    "numbers, but no clear result",
    "The answer contains numbers or dates, but none of them is clearly the result.",
    _OTHER_FORM,
    "It is between 5 and 6.",
)
NO_VALUE = UnreadKind(
    "no number",
    "The answer contains no number or date.",
    _OTHER_FORM,
    "The risk is moderate.",
)
NO_VERDICT = UnreadKind(
    "no clear verdict",
    "The answer does not say whether the note is correct or which sentence is wrong, or contradicts itself.",
    _OTHER_FORM,
    "The note describes a patient with anaemia.",
)
UNCLEAR_QUERY = UnreadKind(
    "several queries, or an incomplete one",
    "The answer contains a query that is cut off, or several queries as alternatives.",
    _LONGER,
    "SELECT name FROM",
)
NO_QUERY = UnreadKind(
    "no query",
    "The answer contains no query, and does not say that the question has no answer.",
    _OTHER_FORM,
    "First, join the two tables by the patient's id.",
)
NO_CODES = UnreadKind(
    "no code named",
    "The answer names no ICD-10 code.",
    "",
    "The patient has diabetes.",
)
OTHER = UnreadKind("other", "The answer belongs to none of the other kinds.", _OTHER_FORM, "")

KINDS = (
    *(CUT_OFF, EMPTY, WITHHELD, REPETITION, REFUSAL, NO_FIELD, UNCLEAR_FIELD, NO_MATCH),
    *(UNCLEAR_PART, NO_LABEL),
    *(BEYOND_OPTIONS, CONTRADICTED_LETTER, SEVERAL_OPTIONS, UNCLEAR_OPTION, NO_OPTION),
    *(SEVERAL_VALUES, NO_VALUE, NO_VERDICT, UNCLEAR_QUERY, NO_QUERY, NO_CODES, OTHER),
)
"""Every kind, in the order of the documentation."""

KIND_BY_REASON = {
    Reason.CONTENT_FILTER: WITHHELD,
    Reason.LENGTH: CUT_OFF,
    Reason.EMPTY: EMPTY,
}
"""The kinds that follow from the reason alone, whatever the answer's text."""

# Keys that models give to parts of an answer, squashed. They are words of a format, and cannot tell of a person.
_COMMON_KEYS = frozenset(
    {
        *("answer", "answers", "answerchoice", "answerkey", "choice", "correctanswer", "correctoption", "finalanswer"),
        *("modelanswer", "option", "pick", "prediction", "result", "response", "selected", "selection"),
        *("selectedanswer", "selectedoption", "yourchoice", "classification", "category", "class", "conclusion"),
        *("assessment", "decision", "evaluation", "finaldecision", "finalverdict", "judgement", "judgment"),
        *("verdict", "label", "letter", "outcome"),
        *("correct", "factual", "hallucinated", "hallucination", "iscorrect", "isfactual", "ishallucinated"),
        *("truthful", "number", "score", "value", "unit", "query", "sql", "code", "codes", "output", "text", "content"),
        *("analysis", "argument", "chainofthought", "comment", "confidence", "details", "evidence", "explanation"),
        *("justification", "note", "probability", "question", "rationale", "reason", "reasoning", "reasons", "step"),
        *("stepbystep", "stepbystepthinking", "steps", "summary", "thinking", "thought", "thoughts", "why"),
    }
)  # fmt: skip

_EXAMINED = 20_000  # characters; the kind of a longer answer is decided by its beginning
_MIN_REPEATED = 5
_REPETITION = re.compile(r"(?=(\S.{3,200}?)\1{5})", re.DOTALL)
_ADVICE = re.compile(
    r"\bconsult (?:a|your|with a) (?:doctor|physician|healthcare|health care|medical|qualified)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")
_QUERY = re.compile(
    r"\b(?:select|with)\b.{0,400}?\b(?:from|as)\b|\bselect\b", re.DOTALL | re.IGNORECASE
)
_SIGN = re.compile(f"[{SIGNS}]")
_ARTICLE = re.compile(r"A\s(?!(?:and|or|then|but|nor|to|is|as|not|because)\b)\w")
_LETTER = re.compile(r"(?<![\w'-])[(\[\"'*]{0,3}([A-Z])[)\]\"'*]{0,3}(?![\w'-])")


def classify_unread(
    reason: Reason,
    answer: str,
    parser: AnswerParser,
    kind: ValueKind,
    options: tuple[str, ...] = (),
) -> UnreadKind:
    """Return the kind of an answer that was not read.

    Args:
        reason: why it has no score.
        answer: its text, without reasoning.
        parser: the parser that selects the part of the answer to read.
        kind: the kind of value that the metric reads.
        options: the texts of the question's options, if the value is an option.
    """
    if reason in KIND_BY_REASON:
        return KIND_BY_REASON[reason]
    if not answer.strip():
        return EMPTY
    answer = answer[:_EXAMINED]
    if _repeats_itself(answer):
        return REPETITION
    if is_refusal(answer) or _ADVICE.search(answer):
        return REFUSAL
    if parser.kind in ("json", "pattern"):
        return _classify_selected(answer, parser)
    if parser.kind == "label":
        return NO_LABEL
    parts = select_parts(answer)
    if parts is None:
        return _classify_text(answer, kind, options)
    if not parts:
        return _classify_json(answer)
    return _classify_text("\n".join(part.text for part in parts), kind, options)


def list_common_keys(answers: Iterable[str]) -> list[str]:
    """Return the keys of answers in JSON that are common words for parts of an answer, each once and in order.

    All other keys are left out, because a model may write anything into them.
    """
    keys: dict[str, None] = {}
    for answer in answers:
        for key in list_quoted_keys(answer[:_EXAMINED]):
            if re.sub(r"[ _-]", "", key).lower() in _COMMON_KEYS:
                keys[key] = None
    return list(keys)


def _repeats_itself(answer: str) -> bool:
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    end = answer[-1_500:]
    return bool(
        (len(lines) > 2 * _MIN_REPEATED and len(set(lines)) * _MIN_REPEATED < len(lines))
        or _REPETITION.search(end)
    )


def _classify_selected(answer: str, parser: AnswerParser) -> UnreadKind:
    """Return the kind of an answer of which a field or a pattern selects a part."""
    is_selected = not isinstance(extract(replace(parser, labels=()), answer), Unscored)
    if is_selected and parser.labels:
        return NO_LABEL
    if parser.kind == "pattern":
        return UNCLEAR_PART if is_selected else NO_MATCH
    if "{" not in answer:
        return NO_MATCH
    if not parser.field:
        return _classify_json(answer)
    return UNCLEAR_FIELD if parser.field in list_quoted_keys(answer) else NO_FIELD


def _classify_json(answer: str) -> UnreadKind:
    """Return the kind of an answer in JSON from which no part is read."""
    keys = list_quoted_keys(answer)
    return UNCLEAR_FIELD if any(names_answer(key) for key in keys) else NO_FIELD


def _classify_text(answer: str, kind: ValueKind, options: tuple[str, ...]) -> UnreadKind:
    if kind == "option":
        return _classify_options(answer, options)
    if kind == "number":
        return SEVERAL_VALUES if _NUMBER.search(answer) else NO_VALUE
    if kind == "verdict":
        return NO_VERDICT
    if kind == "query":
        return UNCLEAR_QUERY if _QUERY.search(answer) else NO_QUERY
    return NO_CODES if kind == "codes" else OTHER


def _classify_options(answer: str, options: tuple[str, ...]) -> UnreadKind:
    marked = MarkedAnswer(normalise(answer), OptionTexts(options))
    try:
        named = set(_iter_named(marked, len(options)))
    except TooManyClaimsError:
        return REPETITION
    if CONTRADICTION in named:
        return CONTRADICTED_LETTER
    if named == {UNKNOWN}:
        return BEYOND_OPTIONS
    if len(named) > 1:
        return SEVERAL_OPTIONS
    return UNCLEAR_OPTION if named else NO_OPTION


def _iter_named(marked: MarkedAnswer, count: int) -> Iterator[int]:
    """Yield the options that an answer names; also UNKNOWN for letters beyond them, and CONTRADICTION."""
    for claim in collect_claims(marked):
        yield claim.option
    for sign in _SIGN.finditer(marked.text):
        yield decode(sign[0])
    for letter in _LETTER.finditer(marked.plain):
        option = ord(letter[1]) - ord("A")
        if option < count and not _ARTICLE.match(marked.plain, letter.start()):
            yield option
    alone = _LETTER.fullmatch(marked.plain.strip().rstrip(".:"))
    if alone and ord(alone[1]) - ord("A") >= count:
        yield UNKNOWN
