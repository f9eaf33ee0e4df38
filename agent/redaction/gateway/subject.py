"""Whose a record is: what its dataset says of its people, for redaction to search in its texts."""

import re
from dataclasses import dataclass

from agent.vocabulary import Identifier, Instance

# What somebody was given: letters with three digits among them, or six digits in a row. Not the numbers of rows.
_WITH_DIGITS = re.compile(r"(?=(?:\D*\d){3})(?=.*[^\W\d_])\S{5,40}")
_NUMBER = re.compile(r"\d{6,40}")


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose a record is, as its dataset says. Never shown.

    Attributes:
        identifiers: of the record's people, searched in each of its texts.
        unit: the patient or document; dates of one are moved by as many days in every record of it.
    """

    identifiers: tuple[Identifier, ...] = ()
    unit: str | None = None

    @classmethod
    def of(cls, instance: Instance | None) -> "Whose":
        """Return whose an instance is; nobody's, once it is purged.

        Its unit and its id count as identifiers where they look like numbers that somebody was given.
        """
        if instance is None:
            return cls()
        own = (number for text in (instance.unit, instance.id) for number in _numbers(text.strip()))
        return cls((*instance.identifiers, *(Identifier("ID", number) for number in dict.fromkeys(own))), instance.unit)


def _numbers(text: str) -> tuple[str, ...]:
    whole = (text,) if _WITH_DIGITS.fullmatch(text) else ()
    return (*whole, *_NUMBER.findall(text))
