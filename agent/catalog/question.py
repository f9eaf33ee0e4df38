"""Read how a definition turns rows into questions: options, right answers, examples and shortening."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from agent.catalog.definition_files import DefinitionFiles
from agent.errors import BenchmarkError
from agent.io.yaml_map import YamlMap

Parser = Literal["option_letter", "text", "json", "pattern", "label"]
PARSERS: tuple[Parser, ...] = ("option_letter", "text", "json", "pattern", "label")

_MAX_EXAMPLES = 100
_MAX_LABELS = 20
_MAX_LABEL_LENGTH = 100  # characters
_MAX_SENTENCE_LENGTH = 1000  # characters of a pattern of sentences that mean a label


@dataclass(frozen=True, slots=True)
class Gold:
    """The column with the right answer, which is a text, an option letter, or an option number counted from 1."""

    column: str
    form: Literal["text", "letter", "number"] = "text"
    # A column with JSON lists of wrong answers, used if the table has it.
    incorrect_column: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a multiple-choice question, either the same for all rows (`texts`) or in `columns` of each row."""

    texts: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FewShot:
    """Solved examples before the question: the first `count` rows of a file, or of the rows with `value` in `column`.

    Rows that can be examples are never asked as questions.
    """

    count: int
    dataset_file: Path | None = None
    column: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Shorten:
    """The column that may be shortened if a prompt is too long. `keep` is the end of the text that is preserved."""

    column: str
    keep: Literal["start", "end"] = "start"


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """The rule for reading an answer.

    The parser `json` reads `field` in the last JSON object, and the parser `pattern` reads the match of a regular
    expression. The parser `label` reads which of `labels` the answer states; each is followed by other words for it.
    """

    parser: Parser
    field: str = ""
    pattern: str = ""
    labels: tuple[tuple[str, ...], ...] = ()


def read_choices(section: YamlMap) -> Choices | None:
    """Read the key `choices`."""
    if not section.has("choices"):
        return None
    if section.is_list("choices"):
        texts = section.texts("choices")
        if not 2 <= len(texts) <= 26 or len(set(texts)) != len(texts):
            section.note("choices", "expected 2 to 26 different texts")
        return Choices(texts=texts)
    inner = section.map("choices")
    columns = inner.texts("columns") if inner else ()
    if inner:
        inner.finish()
    if not 2 <= len(columns) <= 26 or len(set(columns)) != len(columns):
        section.note(
            "choices", "expected a list of 2 to 26 texts, or `columns` with 2 to 26 columns"
        )
    return Choices(columns=columns)


def read_gold(section: YamlMap, choices: Choices | None, *, judged_alone: bool) -> Gold | None:
    """Read the key `gold`. Without it, MedHELM's columns are used, unless a jury is the only metric."""
    inner = section.map("gold")
    if inner is None:
        return (
            None if judged_alone else Gold("correct_answer", incorrect_column="incorrect_answers")
        )
    forms = ("text", "letter", "number")
    gold = Gold(
        column=inner.text("column"),
        form=cast(Literal["text", "letter", "number"], inner.choice("form", forms, "text")),
        incorrect_column=inner.text("incorrect_column", ""),
    )
    inner.finish()
    if choices is None and gold.form != "text":
        section.note("gold.form", "a letter or number needs `choices`")
    return gold


def read_few_shot(section: YamlMap, files: DefinitionFiles) -> FewShot | None:
    """Read the key `few_shot`."""
    inner = section.map("few_shot")
    if inner is None:
        return None
    count = inner.integer("count", None, high=_MAX_EXAMPLES)
    file = files.find(inner, "dataset_file") if inner.has("dataset_file") else None
    column = inner.text("column", "")
    value = inner.text("value", "")
    if count is None:
        inner.note("count", f"is required: a number from 1 to {_MAX_EXAMPLES}")
    names_file = inner.skip("dataset_file")
    names_rows = bool(column or value)
    is_half_named = bool(column) != bool(value)
    if names_file == names_rows or is_half_named:
        inner.note(
            "dataset_file",
            "expected either a file of examples, or `column` and `value` to select the examples",
        )
    inner.finish()
    return FewShot(count=count or 1, dataset_file=file, column=column, value=value)


def read_shorten(section: YamlMap) -> Shorten | None:
    """Read the key `shorten`."""
    inner = section.map("shorten")
    if inner is None:
        return None
    keep = cast(Literal["start", "end"], inner.choice("keep", ("start", "end"), "start"))
    shorten = Shorten(inner.text("column"), keep)
    inner.finish()
    return shorten


def read_answer_rule(section: YamlMap, choices: Choices | None) -> AnswerRule:
    """Read the keys `parser`, `answer_field`, `answer_pattern` and `labels`."""
    default = "option_letter" if choices else "text"
    parser = cast(Parser, section.choice("parser", PARSERS, default))
    # The parsers `json`, `pattern` and `label` work both with and without choices.
    if parser in ("option_letter", "text") and parser != default:
        section.note(
            "parser",
            "option_letter needs `choices`, and the parser text can only be used without them",
        )
    _note_wrong_parser(section, "answer_field", parser, needed="json")
    _note_wrong_parser(section, "answer_pattern", parser, needed="pattern")
    _note_wrong_parser(section, "labels", parser, needed="label")
    field = section.name("answer_field", "answer")
    pattern = section.text("answer_pattern", "")
    words = section.named_texts("labels")
    if parser == "json":
        return AnswerRule(parser, field=field)
    if parser == "pattern":
        _check_pattern(section, pattern)
        return AnswerRule(parser, pattern=pattern)
    if parser == "label":
        labels = tuple((label, *others) for label, others in words.items())
        _check_labels(section, labels)
        return AnswerRule(parser, labels=labels)
    return AnswerRule(parser)


def _note_wrong_parser(section: YamlMap, key: str, parser: Parser, *, needed: Parser) -> None:
    if section.has(key) and parser != needed:
        section.note(key, f"is only allowed with `parser: {needed}`")


def _check_pattern(section: YamlMap, pattern: str) -> None:
    from agent.reading.parsers import compiled

    if not pattern:
        section.note("answer_pattern", "is required with `parser: pattern`")
        return
    try:
        compiled(pattern)
    except BenchmarkError as why:
        section.note("answer_pattern", str(why).removeprefix("answer_pattern "))


def _check_labels(section: YamlMap, labels: tuple[tuple[str, ...], ...]) -> None:
    from agent.reading.label_notation import is_sentence
    from agent.reading.words import plain_words

    if not 2 <= len(labels) <= _MAX_LABELS:
        section.note(
            "labels",
            f"`parser: label` needs from 2 to {_MAX_LABELS} labels, each with a list of the other words that mean it,"
            f" not {len(labels)}",
        )
    label_of: dict[str, str] = {}
    for label, *others in labels:
        for text in (label, *others):
            if is_sentence(text):
                _check_sentence(section, label, text)
                continue
            words = plain_words(text)
            if not words or len(text) > _MAX_LABEL_LENGTH or "\n" in text:
                section.note(
                    "labels",
                    f"{label!r}: expected words on one line, of at most {_MAX_LABEL_LENGTH} characters,"
                    f" not {text[:40]!r}",
                )
            elif label_of.setdefault(words, label) != label:
                section.note(
                    "labels",
                    f"{text!r} stands for both {label_of[words]!r} and {label!r}. Leave it to one of them",
                )


def _check_sentence(section: YamlMap, label: str, text: str) -> None:
    """Note a pattern of sentences with unbalanced parentheses, or one that is too long."""
    from agent.reading.label_notation import is_balanced

    if not is_balanced(text):
        section.note("labels", f"{label!r}: the parentheses of {text[:40]!r} are not balanced")
    if len(text) > _MAX_SENTENCE_LENGTH or "\n" in text:
        section.note(
            "labels",
            f"{label!r}: expected a sentence on one line, of at most {_MAX_SENTENCE_LENGTH} characters,"
            f" not {text[:40]!r}",
        )
