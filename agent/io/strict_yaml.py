"""YAML as text, lists and maps: no aliases, no tags, no key twice, and every scalar the text it is."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml

from agent.errors import AgentError
from agent.io.small_file import decode
from agent.io.wording import unseen

LIKE_A_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

_MAX_DEPTH = 20  # the parser's time grows with the square of the depth

# The C parser where PyYAML was built with it: the same result, ten times as fast.
_Parser: type[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def parse_yaml(data: bytes, path: Path, error: type[AgentError]) -> object:
    """Return the value of a YAML file's bytes, None for an empty file; `path` is only named.

    Raises:
        AgentError: of the type `error`, with the file's name and line.
    """
    text = decode(data, path, error)
    try:
        return _Builder().build(yaml.parse(text, Loader=_Parser))
    except yaml.MarkedYAMLError as why:
        line = f" line {why.problem_mark.line + 1}:" if why.problem_mark else ""
        problem = why.problem or "not YAML"
        hint = "; in 'single quotes' a backslash stays what it is" if "unknown escape" in problem else ""
        raise error(f"{path}:{line} {problem}{hint}") from None
    except (yaml.YAMLError, RecursionError):
        raise error(f"{path}: not YAML") from None


class _Builder:
    """Builds text, lists and maps from a parser's events, and nothing else.

    Scalars stay the text they are (`yes`, `007`, `1e3`). Aliases are refused, because a few lines of them stand for
    gigabytes; so are tags, and a key given twice.
    """

    def __init__(self) -> None:
        self._value: object = None
        self._open: list[Callable[[object, Any], None]] = []  # how each collection around takes its next value

    def build(self, events: Iterable[Any]) -> object:
        """Return the document's value; None for an empty file.

        Raises:
            yaml.MarkedYAMLError: not YAML, or YAML that is refused.
        """
        documents = 0
        for event in events:
            match event:
                case yaml.DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise _wrong("expected a single document, and here is another", event)
                case yaml.AliasEvent():
                    raise _wrong("anchors and aliases are not supported; write the value out", event)
                case yaml.ScalarEvent():
                    self._plain(event)
                    self._put(event.value, event)
                case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                    self._plain(event)
                    self._start(event)
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    self._open.pop()
        return self._value

    @staticmethod
    def _plain(event: Any) -> None:
        if event.anchor is not None:
            raise _wrong("anchors and aliases are not supported; write the value out", event)
        if event.tag is not None:
            raise _wrong("tags are not supported; every value is text, a list or a map", event)

    def _start(self, event: Any) -> None:
        if len(self._open) == _MAX_DEPTH:
            raise _wrong(f"nested more than {_MAX_DEPTH} deep", event)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[object] = []
            self._put(items, event)
            self._open.append(lambda value, _: items.append(value))
        else:
            pairs: dict[str, object] = {}
            self._put(pairs, event)
            self._open.append(_pair_taker(pairs))

    def _put(self, value: object, event: Any) -> None:
        if self._open:
            self._open[-1](value, event)
        else:
            self._value = value


def _pair_taker(pairs: dict[str, object]) -> Callable[[object, Any], None]:
    """Return what takes keys and values by turns."""
    waiting: list[str] = []

    def take(value: object, event: Any) -> None:
        if waiting:
            pairs[waiting.pop()] = value
        elif not isinstance(value, str):
            raise _wrong("a key is not text", event)
        elif unseen(value):
            raise _wrong(f"a key holds {unseen(value)}, a character that cannot be seen", event)
        elif value in pairs:
            named = f"the key {value!r}" if LIKE_A_KEY.fullmatch(value) else "a key"
            raise _wrong(f"{named} is given twice", event)
        else:
            waiting.append(value)

    return take


def _wrong(problem: str, event: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
