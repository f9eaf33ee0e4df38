"""The parser that a run entry or the command `score` sets in place of the benchmark's own. Pure."""

from dataclasses import dataclass
from typing import Literal, cast, get_args

from agent.catalog.benchmark import Benchmark
from agent.errors import BenchmarkError, ConfigError
from agent.io.wording import nearest
from agent.vocabulary import AnswerParser, ParserKind

PARSER_KEYS = ("parser", "answer_field", "answer_pattern")
"""The keys of a run entry that set the parser. The options of `score` have the same names, written with hyphens."""

_Style = Literal["key", "option"]
_MAX_FIELD_LENGTH = 100


@dataclass(frozen=True, slots=True)
class ParserChoice:
    """A parser to use in place of a benchmark's own. All empty keeps the benchmark's.

    Attributes:
        kind: the kind of parser; None if only a field or pattern is set, which implies it.
        field: for "json", the field that holds the answer; empty for the benchmark's or, if it has none, the key that
            names the answer (`answer`, `answer_choice`, ...).
        pattern: for "pattern", the regular expression; empty for the benchmark's.
        where: the run entry, for messages; empty for the command line.
    """

    kind: ParserKind | None = None
    field: str = ""
    pattern: str = ""
    where: str = ""

    @property
    def is_set(self) -> bool:
        """Whether anything is set."""
        return bool(self.kind or self.field or self.pattern)

    def name(self, key: str) -> str:
        """Return a key as its author wrote it."""
        return key if self.where else f"--{key.replace('_', '-')}"

    def fault(self, text: str, advice: str = "") -> ConfigError:
        """Return the error for a wrong choice."""
        message = f"the run entry {self.where!r}: {text}" if self.where else text
        return ConfigError(message, advice) if advice else ConfigError(message)


NO_CHOICE = ParserChoice()


def read_parser_choice(
    kind: str | None, field: str | None, pattern: str | None, where: str = ""
) -> ParserChoice:
    """Check a choice as far as that is possible without its benchmark.

    Raises:
        ConfigError: the kind is unknown, the field or pattern is empty, wrong, or does not fit the kind.
    """
    if kind is None and field is None and pattern is None:
        return NO_CHOICE
    choice = ParserChoice(None, field or "", pattern or "", where)
    kinds = get_args(ParserKind)
    if kind is not None and kind not in kinds:
        raise choice.fault(
            f"{choice.name('parser')} is {kind!r}, expected one of {', '.join(kinds)}{nearest(kind, kinds)}"
        )
    if field is not None and not (field.strip() and len(field) <= _MAX_FIELD_LENGTH):
        raise choice.fault(
            f"{choice.name('answer_field')} is {field[:40]!r}, expected the name of a JSON field, of at most"
            f" {_MAX_FIELD_LENGTH} characters"
        )
    if field is not None and pattern is not None:
        raise choice.fault(
            f"{choice.name('answer_field')} and {choice.name('answer_pattern')} belong to different parsers",
            "Give one of them.",
        )
    implied = "json" if field is not None else "pattern" if pattern is not None else None
    if kind is not None and implied not in (None, kind):
        key = choice.name("answer_field" if implied == "json" else "answer_pattern")
        raise choice.fault(
            f"{key} needs {choice.name('parser')} {implied}, not {kind}",
            f"Remove {key} or change the parser.",
        )
    if pattern is not None:
        _check_pattern(choice, pattern)
    return ParserChoice(
        cast(ParserKind | None, kind or implied), choice.field, choice.pattern, where
    )


def _check_pattern(choice: ParserChoice, pattern: str) -> None:
    from agent.reading.parsers import compiled

    key = choice.name("answer_pattern")
    if not pattern:
        raise choice.fault(f"{key} is empty, expected a regular expression")
    try:
        groups = compiled(pattern).groups
    except BenchmarkError as error:
        raise choice.fault(f"{key}: {str(error).removeprefix('answer_pattern ')}") from None
    if groups > 1:
        raise choice.fault(
            f"{key} has {groups} groups, expected at most one, which selects the answer",
            "Write the other groups as (?:...).",
        )


def choose_parser(benchmark: Benchmark, choice: ParserChoice = NO_CHOICE) -> AnswerParser:
    """Return the parser that extracts the scored part of an answer: the chosen one, or the benchmark's own.

    A chosen field or pattern keeps the benchmark's labels, which are then read in the part that it selects.

    Raises:
        ConfigError: the parser does not fit the benchmark.
    """
    own = AnswerParser(
        benchmark.parser, benchmark.answer_field, benchmark.answer_pattern, benchmark.labels
    )
    kind = choice.kind
    if kind is None:
        return own
    key = choice.name("parser")
    if kind == "option_letter" and benchmark.choices is None:
        raise choice.fault(
            f"{key} option_letter needs options to choose from, and the questions of {benchmark.id} have none",
            f"Omit {key}: the answers are then read by the benchmark's own parser, {own.kind}.",
        )
    if kind == "text" and benchmark.choices is not None:
        raise choice.fault(
            f"{key} text is for answers in free text, but those of {benchmark.id} are options",
            f"Omit {key}: the answers are then read by the benchmark's own parser, {own.kind}.",
        )
    if kind == "json":
        field = choice.field or (own.field if own.kind == "json" else "")
        return AnswerParser("json", field=field, labels=own.labels)
    if kind == "pattern":
        pattern = choice.pattern or (own.pattern if own.kind == "pattern" else "")
        if not pattern:
            raise choice.fault(
                f"{key} pattern needs {choice.name('answer_pattern')}, a regular expression whose group 1 is the answer"
            )
        return AnswerParser("pattern", pattern=pattern, labels=own.labels)
    if kind == "label":
        if own.kind != "label":
            raise choice.fault(
                f"{key} label needs the labels of the benchmark, but {benchmark.id} defines none",
                "List them under `labels` in its definition, or use another parser.",
            )
        return own
    return AnswerParser(kind)
