"""Typed, numbered tags: the same value has the same number everywhere in one record."""

from collections.abc import Iterable, Mapping
from typing import get_args

import regex

from agent.redaction.entities import Entity, tag_name
from agent.redaction.redacted import Withheld

# Exactly what this package writes, so that nobody can pass text off as a tag.
_ENTITIES = "|".join(sorted({tag_name(entity) for entity in get_args(Entity)}))
TAG = regex.compile(rf"\[(?P<entity>{_ENTITIES})-(?P<number>[1-9]\d{{0,2}})\]|\[WITHHELD: (?:{'|'.join(Withheld)})\]")
_INSIGNIFICANT = regex.compile(r"[\s\p{P}\p{S}]+")


class TagTable:
    """The tags of one record.

    Args:
        texts: the record's texts. Tags that they already hold are left alone, and numbers go on after them.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._last: dict[str, int] = {}
        for text in texts:
            for tag in TAG.finditer(text):
                if entity := tag.group("entity"):
                    self._last[entity] = max(self._last.get(entity, 0), int(tag.group("number")))

    def tag(self, entity: str, value: str) -> str:
        """Return the tag of `value`, which differs from another only by more than case, spaces and punctuation."""
        entity = tag_name(entity)
        key = entity, _plain(value)
        if key not in self._numbers:
            self._last[entity] = self._numbers[key] = self._last.get(entity, 0) + 1
        return f"[{entity}-{self._numbers[key]}]"

    def name_parts(self, parts: Mapping[str, str]) -> None:
        """Let each part of a name (by full name) have the tag of the full name."""
        for part, whole in parts.items():
            self.tag("NAME", whole)
            self._numbers.setdefault(("NAME", _plain(part)), self._numbers["NAME", _plain(whole)])


def _plain(value: str) -> str:
    return _INSIGNIFICANT.sub(" ", value).strip().casefold() or value
