"""The subject of a record: identifiers stated by its dataset, which redaction searches for in the record's texts."""

import re
from dataclasses import dataclass

from agent.vocabulary import Identifier, Instance

# A number assigned to a person: letters with three digits among them, or six consecutive digits. Fewer digits are
# probably the number of a table's row or of a topic, which need not be searched for in every text.
_MIXED_NUMBER = re.compile(r"(?=(?:\D*\d){3})(?=.*[^\W\d_])\S{5,40}")
_LONG_NUMBER = re.compile(r"\d{6,40}")


@dataclass(frozen=True, slots=True)
class Subject:
    """The people of a record, as its dataset describes them. Never shown.

    Attributes:
        identifiers: identifiers of these people, searched for in each text of the record.
        unit: the patient or document. All dates of one unit are moved by the same number of days.
    """

    identifiers: tuple[Identifier, ...] = ()
    unit: str | None = None

    @classmethod
    def read_instance(cls, instance: Instance | None) -> "Subject":
        """Return the subject of an instance, which is empty after a purge.

        The instance's unit and id are used as identifiers if they look like numbers assigned to a person.
        """
        if instance is None:
            return cls()
        numbers = (*_find_numbers(instance.unit), *_find_numbers(instance.id))
        stated = [Identifier("ID", number) for number in dict.fromkeys(numbers)]
        return cls((*instance.identifiers, *stated), instance.unit)


def _find_numbers(text: str) -> list[str]:
    """Return the whole text if it is one identifier of letters and digits, and each long number in it."""
    text = text.strip()
    numbers = _LONG_NUMBER.findall(text)
    return [text, *numbers] if _MIXED_NUMBER.fullmatch(text) else numbers
