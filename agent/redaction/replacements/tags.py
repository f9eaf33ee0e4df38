"""Typed, numbered tags: equal values have equal numbers throughout a record."""

from collections.abc import Iterable
from typing import get_args

import regex

from agent.redaction.entities import Entity, tag_name
from agent.redaction.redacted import Withheld
from agent.redaction.replacements.date_values import read_date
from agent.redaction.replacements.people import RecordPeople

# Matches exactly the tags that this package writes, so that no other text passes for a tag.
_ENTITIES = "|".join(sorted({tag_name(entity) for entity in get_args(Entity)}))
TAG = regex.compile(
    rf"\[(?P<entity>{_ENTITIES})-(?P<number>[1-9]\d{{0,2}})\]|\[WITHHELD: (?:{'|'.join(Withheld)})\]"
)
WITHHELD_TAG = "[WITHHELD: "
"""The beginning of the tag that stands for a whole text."""

# The highest number. All further values share it, so that no long number passes for a tag.
MAX_TAG_NUMBER = 999
_INSIGNIFICANT = regex.compile(r"[\s\p{P}\p{S}]+")
_NUMBERED = frozenset(
    {"PHONE", "SSN", "MRN", "ENCOUNTER", "PLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "ID"}
)
_MAX_DATE_LENGTH = 40  # characters; longer values are not a single date


class TagTable:
    """The tags of one record.

    Args:
        texts: the record's texts. Existing tags in them are kept, and numbering continues after them.
        people: the people of the record. Each has one number, however the name is written.
        language: "en" or "es", which determines what 03/04/2022 means. All formats of one day share a number.
    """

    def __init__(self, texts: Iterable[str], people: RecordPeople, language: str = "en") -> None:
        self._people = people
        self._language = language
        self._numbers: dict[tuple[str, str], int] = {}
        self._last: dict[str, int] = {}
        for text in texts:
            for tag in TAG.finditer(text):
                if entity := tag.group("entity"):
                    self._last[entity] = max(self._last.get(entity, 0), int(tag.group("number")))

    def write_tag(self, entity: str, value: str) -> str:
        """Return the tag for `value`. Values that differ only in their spelling share a tag."""
        entity = tag_name(entity)
        key = entity, self._meaning(entity, value)
        if key not in self._numbers:
            self._last[entity] = self._numbers[key] = min(
                self._last.get(entity, 0) + 1, MAX_TAG_NUMBER
            )
        return f"[{entity}-{self._numbers[key]}]"

    def _meaning(self, entity: str, value: str) -> str:
        plain = _INSIGNIFICANT.sub(" ", value).strip().casefold() or value
        if entity == "NAME":
            person = self._people.find_person(value)
            return f"{' '.join(person.words)}/{person.number}" if person.words else plain
        if (
            entity == "DATE"
            and len(value) <= _MAX_DATE_LENGTH
            and (written := read_date(value, language=self._language))
        ):
            return (
                written.date.isoformat() if "day" in written.positions else f"{written.date:%Y-%m}"
            )
        if entity in _NUMBERED:
            return plain.replace(" ", "").lstrip("0") or plain
        return plain
