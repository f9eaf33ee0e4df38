"""Records that are stored as JSON objects: frozen dataclasses whose fields give the keys and types.

A record of an earlier version may lack keys. Their fields then have the default, and the keys are not added when the
record is written again. An unknown key or a value of a wrong type is refused, because the record must be damaged or
written by another program.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, astuple, dataclass, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Self, Union, cast, get_args, get_origin, get_type_hints

from agent.errors import StoreError
from agent.vocabulary import AnswerParser, Judge, Scale

DAMAGED_ADVICE = "Restore the store from a backup; if a newer version of the agent wrote to it, use that version."
LEFT_OUT_IF_NONE = {
    "left out": True
}  # metadata of a field whose key is omitted, rather than null, if the value is None
_MAX_KEY_LENGTH = 60  # maximum length of an unknown key quoted in a message
# Stored as lists of their fields, which is shorter and compatible with earlier versions: type -> length of the shortest
# list. Later fields are left out from the end of the list while they have their defaults, so that the records and the
# digests of runs without them stay as they were.
_ARRAYS: Mapping[type[Any], int] = {Judge: 3, Scale: 2}
_TYPE_NAMES = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}

_Reader = Callable[[object, str], Any]  # arguments: a value and the path of its key


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """Base class of the store's records.

    Attributes:
        lacking: keys that the stored record lacks. `dataclasses.replace` removes the keys that it sets.
    """

    lacking: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Remove keys from `lacking` whose fields have a value other than the default."""
        if self.lacking:
            keys = _keys_of(type(self))
            still_lacking = frozenset(
                name for name in self.lacking if getattr(self, name) == keys[name].default
            )
            object.__setattr__(self, "lacking", still_lacking)

    @classmethod
    def from_json(cls, value: object, path: str = "") -> Self:
        """Read a record from its stored form.

        Args:
            value: the record as returned by `json.loads`.
            path: path of the key that contains it, for messages.

        Raises:
            StoreError: a key is unknown, missing or of a wrong type; the message names the key, never a value.
        """
        if not isinstance(value, dict):
            raise _damaged(path or "the record", "is not an object")
        keys = _keys_of(cls)
        for name in value.keys() - keys.keys():
            raise _damaged(_join(path, name), "is unknown")
        read: dict[str, Any] = {}
        lacking = set()
        for name, key in keys.items():
            if name in value:
                read[name] = key.read(value[name], _join(path, name))
            elif key.default is MISSING:
                raise _damaged(_join(path, name), "is missing")
            elif not key.is_left_out_if_none:
                lacking.add(name)
        return cls(**read, lacking=frozenset(lacking))

    def to_json(self) -> dict[str, Any]:
        """Return the record in its stored form, without the keys that it lacks."""
        written = {}
        for name, key in _keys_of(type(self)).items():
            value = getattr(self, name)
            is_left_out = value is None and key.is_left_out_if_none
            if name not in self.lacking and not is_left_out:
                written[name] = _write(value)
        return written


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of a record, with its reader and the default for records that lack it."""

    name: str
    read: _Reader
    default: object
    is_left_out_if_none: bool


def _keys_of(record: type[Any]) -> Mapping[str, _Key]:
    key: Any = record  # mypy considers the class of a dataclass unhashable
    return _find_keys(key)


@cache
def _find_keys(record: type[Any]) -> Mapping[str, _Key]:
    types = get_type_hints(record)
    return {
        each.name: _Key(
            each.name, _reader_of(types[each.name]), _default_of(each), bool(each.metadata)
        )
        for each in fields(record)
        if each.name != "lacking"
    }


def _default_of(each: Field[Any]) -> object:
    return each.default if each.default_factory is MISSING else each.default_factory()


@cache
def _reader_of(kind: Any) -> _Reader:
    """Return the reader for a field's type. Cached, because the look-up takes longer than reading a value."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _read_one_of(arguments)
    if origin is Literal:
        return _read_literal(arguments)
    if origin is tuple:
        return _read_list(_reader_of(arguments[0]))
    if origin is Mapping:
        return _read_mapping(_reader_of(arguments[1]))
    if kind in _ARRAYS:
        return _read_array(kind)
    if kind is AnswerParser:
        return _read_object(kind)
    if kind in _TYPE_NAMES:
        return _read_plain(kind)
    if kind is Any:
        return lambda value, _: value
    return cast("_Reader", kind.from_json)


def _read_plain(kind: type[Any]) -> _Reader:
    # An int is accepted as a float and stays an int; booleans are not numbers.
    types = (float, int) if kind is float else (kind,)

    def read(value: object, path: str) -> object:
        if type(value) not in types:
            raise _damaged(path, f"is not {_TYPE_NAMES[kind]}")
        return value

    return read


def _read_literal(words: Sequence[str]) -> _Reader:
    def read(value: object, path: str) -> object:
        if value not in words:
            raise _damaged(path, f"is none of {', '.join(words)}")
        return value

    return read


def _read_one_of(kinds: Sequence[Any]) -> _Reader:
    """Return a reader for a union: of plain types, or of one type and None."""
    is_optional = NoneType in kinds
    *plain, last = (kind for kind in kinds if kind is not NoneType)
    read_last = _reader_of(last)

    def read(value: object, path: str) -> object:
        if (value is None and is_optional) or type(value) in plain:
            return value
        return read_last(value, path)

    return read


def _read_list(read_item: _Reader) -> _Reader:
    def read(value: object, path: str) -> tuple[object, ...]:
        if not isinstance(value, list):
            raise _damaged(path, "is not a list")
        return tuple(read_item(item, f"{path}[{number}]") for number, item in enumerate(value))

    return read


def _read_mapping(read_item: _Reader) -> _Reader:
    def read(value: object, path: str) -> dict[str, object]:
        if value == []:  # imported runs of early versions store [] if they have no parts
            return {}
        if not isinstance(value, dict):
            raise _damaged(path, "is not an object")
        return {key: read_item(item, _join(path, key)) for key, item in value.items()}

    return read


def _read_array(kind: type[Any]) -> _Reader:
    """Return a reader for a dataclass stored as a list of its fields."""
    readers = [_reader_of(each) for each in get_type_hints(kind).values()]
    shortest, longest = _ARRAYS[kind], len(readers)
    lengths = f"{shortest}" if shortest == longest else f"{shortest} to {longest}"

    def read(value: object, path: str) -> object:
        if not isinstance(value, list) or not shortest <= len(value) <= longest:
            raise _damaged(path, f"is not a list of {lengths}")
        items = zip(readers, value, strict=False)
        return kind(
            *(
                read_item(item, f"{path}[{number}]")
                for number, (read_item, item) in enumerate(items)
            )
        )

    return read


def _read_object(kind: type[Any]) -> _Reader:
    """Return a reader for a dataclass that is not a `Record`, stored as an object with all of its fields.

    Fields that are empty tuples are left out.
    """
    readers = {key: _reader_of(each) for key, each in get_type_hints(kind).items()}
    optional = {each.name for each in fields(kind) if each.default == ()}

    def read(value: object, path: str) -> object:
        if not isinstance(value, dict) or value.keys() | optional != readers.keys():
            raise _damaged(path, f"is not an object of {', '.join(readers)}")
        return kind(**{key: readers[key](item, _join(path, key)) for key, item in value.items()})

    return read


def _write(value: Any) -> Any:
    """Return a field's value in its stored form."""
    if isinstance(value, StoredRecord):
        return value.to_json()
    if type(value) in _ARRAYS:
        return _write_array(value)
    if isinstance(value, AnswerParser):
        return {key: _write(item) for key, item in asdict(value).items() if item != ()}
    if isinstance(value, tuple):
        return [_write(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _write(item) for key, item in value.items()}
    return value


def _write_array(value: Any) -> list[object]:
    """Return the fields of a dataclass as a list, without later fields at its end that have their defaults."""
    items = list(astuple(value))
    defaults = [each.default for each in fields(value)]
    while len(items) > _ARRAYS[type(value)] and items[-1] == defaults[len(items) - 1]:
        items.pop()
    return items


def _join(path: str, key: str) -> str:
    shown = (
        key if key.isprintable() and len(key) <= _MAX_KEY_LENGTH else repr(key[:_MAX_KEY_LENGTH])
    )
    return f"{path}.{shown}" if path else shown


def _damaged(path: str, fault: str) -> StoreError:
    return StoreError(
        f"a stored run is damaged, or was written by another version: {path} {fault}",
        DAMAGED_ADVICE,
    )
