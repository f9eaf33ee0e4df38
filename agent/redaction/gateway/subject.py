"""The subject of a record: identifiers that its dataset states, for redaction to search in the record's texts."""

import re
from dataclasses import dataclass

from agent.vocabulary import Identifier, Instance

# A number that was given to a person: letters with three digits among them, or six digits in a row. Fewer digits are
# the number of a row or of a topic, and would be searched in every text for nothing.
_MIXED_NUMBER = re.compile(r"(?=(?:\D*\d){3})(?=.*[^\W\d_])\S{5,40}")
_LONG_NUMBER = re.compile(r"\d{6,40}")


@dataclass(frozen=True, slots=True)
class Subject:
    """The people of a record, as its dataset states them. Never shown.

    Attributes:
        identifiers: of these people, searched in each text of the record.
        unit: the patient or document; dates of one are moved by as many days in every record of it.
    """

    identifiers: tuple[Identifier, ...] = ()
    unit: str | None = None

    @classmethod
    def read_instance(cls, instance: Instance | None) -> "Subject":
        """Return the subject of an instance; an empty one after a purge.

        The instance's unit and id count as identifiers where they look like numbers given to a person.
        """
        if instance is None:
            return cls()
        numbers = (*_find_numbers(instance.unit), *_find_numbers(instance.id))
        stated = [Identifier("ID", number) for number in dict.fromkeys(numbers)]
        return cls((*instance.identifiers, *stated), instance.unit)


def _find_numbers(text: str) -> list[str]:
    """Return the whole text if it is a number of letters and digits, and each long number in it."""
    text = text.strip()
    numbers = _LONG_NUMBER.findall(text)
    return [text, *numbers] if _MIXED_NUMBER.fullmatch(text) else numbers
