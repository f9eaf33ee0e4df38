"""How a row becomes a question, as a definition says it: options, right answer, examples, what may be shortened."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from agent.catalog.definition_files import DefinitionFiles
from agent.errors import BenchmarkError
from agent.io.yaml_map import YamlMap

Parser = Literal["option_letter", "text", "json", "pattern"]
PARSERS: tuple[Parser, ...] = ("option_letter", "text", "json", "pattern")

_MOST_EXAMPLES = 100


@dataclass(frozen=True, slots=True)
class Gold:
    """Where the right answer stands: in `column`, as the answer's text, an option letter, or a 1-based number."""

    column: str
    form: Literal["text", "letter", "number"] = "text"
    incorrect_column: str = ""  # each cell a JSON list of wrong answers; used where the table has it


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a multiple-choice question: the same for all rows (`texts`), or each row's (`columns`)."""

    texts: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FewShot:
    """Solved examples before the question: the first `count` rows of a file, or of the rows with `value` in `column`.

    Rows of the dataset that may be examples are never asked.
    """

    count: int
    dataset_file: Path | None = None
    column: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Shorten:
    """The column that may be cut when a prompt does not fit the model; `keep` is the end of it that stays."""

    column: str
    keep: Literal["start", "end"] = "start"


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """How an answer is read: `field` of the last JSON object with `json`, `pattern` with `pattern`."""

    parser: Parser
    field: str = ""
    pattern: str = ""


def read_choices(m: YamlMap) -> Choices | None:
    """Read the key `choices`."""
    if not m.has("choices"):
        return None
    if m.is_list("choices"):
        texts = m.texts("choices")
        if not 2 <= len(texts) <= 26 or len(set(texts)) != len(texts):
            m.note("choices", "expected 2 to 26 different texts")
        return Choices(texts=texts)
    inner = m.map("choices")
    columns = inner.texts("columns") if inner else ()
    if inner:
        inner.finish()
    if not 2 <= len(columns) <= 26 or len(set(columns)) != len(columns):
        m.note("choices", "expected a list of 2 to 26 texts, or `columns` with 2 to 26 columns")
    return Choices(columns=columns)


def read_gold(m: YamlMap, choices: Choices | None, *, judged_alone: bool) -> Gold | None:
    """Read the key `gold`; without it MedHELM's columns. A jury alone needs no right answer."""
    inner = m.map("gold")
    if inner is None:
        return None if judged_alone else Gold("correct_answer", incorrect_column="incorrect_answers")
    forms = ("text", "letter", "number")
    gold = Gold(
        column=inner.text("column"),
        form=cast(Literal["text", "letter", "number"], inner.choice("form", forms, "text")),
        incorrect_column=inner.text("incorrect_column", ""),
    )
    inner.finish()
    if choices is None and gold.form != "text":
        m.note("gold.form", "a letter or number needs `choices`")
    return gold


def read_few_shot(m: YamlMap, files: DefinitionFiles) -> FewShot | None:
    """Read the key `few_shot`."""
    inner = m.map("few_shot")
    if inner is None:
        return None
    count = inner.integer("count", None, high=_MOST_EXAMPLES)
    file = files.find(inner, "dataset_file") if inner.has("dataset_file") else None
    column, value = inner.text("column", ""), inner.text("value", "")
    if count is None:
        inner.note("count", f"is required: a number from 1 to {_MOST_EXAMPLES}")
    if inner.skip("dataset_file") == bool(column or value) or bool(column) != bool(value):
        inner.note("dataset_file", "expected either a file of examples, or `column` and `value` of rows that are")
    inner.finish()
    return FewShot(count or 1, file, column, value)


def read_shorten(m: YamlMap) -> Shorten | None:
    """Read the key `shorten`."""
    inner = m.map("shorten")
    if inner is None:
        return None
    keep = cast(Literal["start", "end"], inner.choice("keep", ("start", "end"), "start"))
    found = Shorten(inner.text("column"), keep)
    inner.finish()
    return found


def read_answer_rule(m: YamlMap, choices: Choices | None) -> AnswerRule:
    """Read the keys `parser`, `answer_field` and `answer_pattern`."""
    parser = cast(Parser, m.choice("parser", PARSERS, "option_letter" if choices else "text"))
    if parser in ("option_letter", "text") and (parser == "option_letter") != (choices is not None):
        m.note("parser", "option_letter goes with `choices`, and text without")
    for key, of in (("answer_field", "json"), ("answer_pattern", "pattern")):
        if m.has(key) and parser != of:
            m.note(key, f"goes with `parser: {of}`")
    field, pattern = m.name("answer_field", "answer"), m.text("answer_pattern", "")
    if parser == "pattern":
        _check_pattern(m, pattern)
    return AnswerRule(parser, field if parser == "json" else "", pattern if parser == "pattern" else "")


def _check_pattern(m: YamlMap, pattern: str) -> None:
    from agent.metrics.answers import compiled

    if not pattern:
        m.note("answer_pattern", "is required with `parser: pattern`")
        return
    try:
        compiled(pattern)
    except BenchmarkError as why:
        m.note("answer_pattern", str(why).removeprefix("answer_pattern "))
