"""Kinds of identifiers: what a policy may ask for, how each is tagged, and which of two names a union of findings."""

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

# Of two overlapping findings the one earlier in this list names the union.
PRECEDENCE: tuple[Entity, ...] = (
    "EMAIL", "URL", "MRN", "PLAN", "ACCOUNT", "ENCOUNTER", "LICENSE", "VEHICLE", "DEVICE", "SSN", "PHONE", "IP",
    "ADDRESS", "NAME", "FACILITY", "ORGANIZATION", "DATE", "AGE", "ZIP", "LOCATION", "RELATIVE_DATE", "AGE_BELOW_90",
    "NATIONALITY", "PROFESSION", "FAMILY", "SEX", "ID", "UNKNOWN_WORD",
)  # fmt: skip

# Kinds that policies tell apart and readers do not.
_TAGGED_AS: dict[str, str] = {
    "RELATIVE_DATE": "DATE",
    "AGE_BELOW_90": "AGE",
    "UNKNOWN_WORD": "WORD",
}


def tag_name(entity: str) -> str:
    """Return the word that stands for `entity` in a tag."""
    return _TAGGED_AS.get(entity, entity)
