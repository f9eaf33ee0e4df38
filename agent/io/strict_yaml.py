"""A strict YAML parser: only texts, lists and maps; no aliases, tags or duplicate keys; scalars stay texts."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml

from agent.errors import AgentError
from agent.io.small_file import decode_text
from agent.io.wording import find_unseen

LIKE_A_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

_MAX_DEPTH = 20  # limited because the parser's time grows with the square of the depth
_TOO_DEEP = f"values are nested more than {_MAX_DEPTH} levels deep"

# The C parser, if PyYAML was built with it, gives the same result ten times as fast.
_Parser: type[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def parse_yaml(data: bytes, path: Path, error: type[AgentError]) -> object:
    """Return the value of a YAML file's bytes, or None for an empty file; `path` is used in messages only.

    Raises:
        AgentError: the bytes are not valid YAML, raised as the type `error`; the message names the file and the line.
    """
    text = decode_text(data, path, error)
    try:
        return _Builder().build(yaml.parse(text, Loader=_Parser))
    except yaml.MarkedYAMLError as why:
        raise error(f"{path}:{_describe_error(why)}") from None
    except (yaml.YAMLError, RecursionError):
        raise error(f"{path}: is not YAML") from None


def _describe_error(why: yaml.MarkedYAMLError) -> str:
    line = f" line {why.problem_mark.line + 1}:" if why.problem_mark else ""
    problem = why.problem or "is not YAML"
    if (
        "nesting depth" in problem
    ):  # the C parser of PyYAML 6.0.4 looks ahead and has a limit of its own
        problem = _TOO_DEEP
    hint = (
        "; in 'single quotes' a backslash has no special meaning"
        if "unknown escape" in problem
        else ""
    )
    return f"{line} {problem}{hint}"


class _Builder:
    """Builds texts, lists and maps from a parser's events.

    Scalars stay texts (`yes`, `007`, `1e3`). Aliases are refused, because a few lines of them can expand to gigabytes.
    Tags and duplicate keys are refused too.
    """

    def __init__(self) -> None:
        self._value: object = None
        self._open: list[
            Callable[[object, Any], None]
        ] = []  # functions that add a value to each open collection, the innermost last

    def build(self, events: Iterable[Any]) -> object:
        """Return the document's value; None for an empty file.

        Raises:
            yaml.MarkedYAMLError: the input is not YAML, or contains refused YAML.
        """
        documents = 0
        for event in events:
            match event:
                case yaml.DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise _make_error(
                            "expected a single document, but another begins here", event
                        )
                case yaml.AliasEvent():
                    raise _make_error(
                        "anchors and aliases are not supported; write the value out", event
                    )
                case yaml.ScalarEvent():
                    self._refuse_anchor_and_tag(event)
                    self._add_value(event.value, event)
                case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                    self._refuse_anchor_and_tag(event)
                    self._open_collection(event)
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    self._open.pop()
        return self._value

    @staticmethod
    def _refuse_anchor_and_tag(event: Any) -> None:
        if event.anchor is not None:
            raise _make_error("anchors and aliases are not supported; write the value out", event)
        if event.tag is not None:
            raise _make_error("tags are not supported; every value is text, a list or a map", event)

    def _open_collection(self, event: Any) -> None:
        if len(self._open) == _MAX_DEPTH:
            raise _make_error(_TOO_DEEP, event)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[object] = []
            self._add_value(items, event)
            self._open.append(lambda value, _: items.append(value))
        else:
            pairs: dict[str, object] = {}
            self._add_value(pairs, event)
            self._open.append(_make_pair_adder(pairs))

    def _add_value(self, value: object, event: Any) -> None:
        if self._open:
            self._open[-1](value, event)
        else:
            self._value = value


def _make_pair_adder(pairs: dict[str, object]) -> Callable[[object, Any], None]:
    """Return a function that adds keys and values alternately."""
    waiting: list[str] = []  # the key that still needs a value

    def add(value: object, event: Any) -> None:
        if waiting:
            pairs[waiting.pop()] = value
        elif not isinstance(value, str):
            raise _make_error("a key is not text", event)
        elif find_unseen(value):
            raise _make_error(f"a key contains {find_unseen(value)}, an invisible character", event)
        elif value in pairs:
            named = f"the key {value!r}" if LIKE_A_KEY.fullmatch(value) else "a key"
            raise _make_error(f"{named} is given twice", event)
        else:
            waiting.append(value)

    return add


def _make_error(problem: str, event: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
