"""Find the fields of the JSON object that ends an answer, and those of them that may hold its result. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.reading import result_words
from agent.reading.json_decoding import EndlessTextError
from agent.reading.json_objects import JsonMember, JsonObject, JsonScalar, find_objects
from agent.reading.quantity import Quantity

_LONGEST_KEY = 60  # characters
_KEYS_OF_TOTAL = frozenset({"total", "score", "total score", "total points", "final score"})


@dataclass(frozen=True, slots=True)
class ValueField:
    """A field of an object, whose value stands from `start` to `end` with its quotes.

    Attributes:
        key: the key as it is written.
        key_start: the position of the key.
        object_start: the position of the outermost object that holds the field.
    """

    key: str
    key_start: int
    start: int
    end: int
    object_start: int

    @property
    def names_answer(self) -> bool:
        """Whether the key is a word for the answer: "result"."""
        return self.key.lower() in result_words.ANSWER_FIELDS

    @property
    def may_be_answer(self) -> bool:
        """Whether the key is no word for what stands beside an answer: "explanation", "items", "unit"."""
        return result_words.BESIDE_THE_ANSWER.search(self.key) is None


def list_value_fields(text: str) -> list[ValueField]:
    """Return the fields of the objects in a plain text that ends with one; none if it does not, or repeats itself."""
    end = len(text.rstrip(" \n`"))
    # The last brace of an object may be missing behind a string.
    is_unclosed = text.startswith("{") and text.endswith('"', 0, end) and "}" not in text
    if not text.endswith("}", 0, end) and not is_unclosed:
        return []
    try:
        objects = find_objects(text)
    except EndlessTextError:
        return []
    fields: list[ValueField] = []
    for found in objects:
        fields += _iter_fields(found, found.start)
    return fields


def _iter_fields(found: JsonObject, object_start: int) -> Iterator[ValueField]:
    """Yield the fields of an object and of those within it, except of an object that lists what was counted."""
    for member in found.members:
        if len(member.key) > _LONGEST_KEY:
            continue
        field = _make_field(member, object_start)
        if (
            not isinstance(member.value, JsonObject)
            or field.names_answer
            or not field.may_be_answer
        ):
            yield field
        else:
            yield from _iter_fields(member.value, object_start)


def _make_field(member: JsonMember, object_start: int) -> ValueField:
    value = member.value
    if isinstance(value, JsonScalar):
        start, end = value.outer_start, value.outer_end
    else:
        start, end = value.start, value.end
    return ValueField(member.key, member.start, start, end, object_start)


def choose_likely_fields(
    fields: Sequence[ValueField], quantity: Quantity | None
) -> list[ValueField]:
    """Return the fields that may hold the answer: the one named after the quantity or its total, or all others."""
    likely = [field for field in fields if field.may_be_answer]
    if quantity is None or len(likely) < 2:
        return likely
    asked: list[ValueField] = []
    for field in likely:
        # Abbreviations of quantities are found in capitals only, and keys are usually in small letters.
        names = quantity.find_names(field.key.replace("_", " ").upper())
        if names and names[-1].is_asked:
            asked.append(field)
    if len(asked) == 1:
        return asked
    is_count = quantity.kind in ("points", "criteria")
    totals = [field for field in likely if _is_key_of_total(field.key)]
    return totals if is_count and len(totals) == 1 else likely


def _is_key_of_total(key: str) -> bool:
    return key.lower().replace("_", " ") in _KEYS_OF_TOTAL
