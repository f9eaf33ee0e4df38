"""The entities (kinds of identifiers) that a policy may list, their tags, and their precedence in merged detections."""

from typing import Literal

Entity = Literal[
    "NAME",
    "LOCATION",
    "FACILITY",
    "ORGANIZATION",
    "ADDRESS",
    "ZIP",
    "DATE",
    "RELATIVE_DATE",
    "AGE",
    "AGE_BELOW_90",
    "PHONE",
    "EMAIL",
    "SSN",
    "MRN",
    "ENCOUNTER",
    "PLAN",
    "ACCOUNT",
    "LICENSE",
    "VEHICLE",
    "DEVICE",
    "URL",
    "IP",
    "ID",
    "SEX",
    "FAMILY",
    "PROFESSION",
    "NATIONALITY",
    "UNKNOWN_WORD",
]

# When two overlapping detections are merged, the result has the entity that is earlier in this list.
PRECEDENCE: tuple[Entity, ...] = (
    "EMAIL", "URL", "MRN", "PLAN", "ACCOUNT", "ENCOUNTER", "LICENSE", "VEHICLE", "DEVICE", "SSN", "PHONE", "IP",
    "ADDRESS", "NAME", "FACILITY", "ORGANIZATION", "DATE", "AGE", "ZIP", "LOCATION", "RELATIVE_DATE", "AGE_BELOW_90",
    "NATIONALITY", "PROFESSION", "FAMILY", "SEX", "ID", "UNKNOWN_WORD",
)  # fmt: skip

# Entities that are distinct in policies but share a tag in redacted text.
_TAGGED_AS: dict[str, str] = {
    "RELATIVE_DATE": "DATE",
    "AGE_BELOW_90": "AGE",
    "UNKNOWN_WORD": "WORD",
}


def tag_name(entity: str) -> str:
    """Return the word that represents `entity` in a tag."""
    return _TAGGED_AS.get(entity, entity)
