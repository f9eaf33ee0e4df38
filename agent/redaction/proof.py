"""What an engine must clear before it is used: a text in each language, and the identifiers in it.

Run at every start, under the policy in force, so that a policy, a word list or a library that lets names through is
noticed before a case is shown.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from agent.redaction.policy import NEEDED, RedactionPolicy
from agent.redaction.redacted import Redacted, Withheld
from agent.redaction.spans import Span

# Text by language, and the identifiers in it by entity. Those of NEEDED must go under every policy, the others
# where the policy asks for them.
PROOFS: dict[str, tuple[str, Mapping[str, str]]] = {
    "en": (
        "Dr. Anna Kowalski, MRN: 00451234, on 03/14/2022, call 617-555-0143, a.k@ward.example, SSN 123-45-6789.",
        {
            "NAME": "Anna Kowalski",
            "MRN": "00451234",
            "DATE": "03/14/2022",
            "PHONE": "617-555-0143",
            "EMAIL": "a.k@ward.example",
            "SSN": "123-45-6789",
        },
    ),
    "es": (
        "Paciente: Ana García Pérez, NHC: 00451234, vista el 14/03/2022, tel. 617 555 014, a.g@planta.example.",
        {
            "NAME": "Ana García Pérez",
            "MRN": "00451234",
            "DATE": "14/03/2022",
            "PHONE": "617 555 014",
            "EMAIL": "a.g@planta.example",
        },
    ),
}


class Proven(Protocol):
    """An engine, as far as it is proven."""

    def find_record(self, texts: Sequence[str]) -> list[tuple[Span, ...] | Withheld]:
        """Return what must not be shown of each text."""
        ...

    def redact(self, text: str) -> Redacted:
        """Clear one text."""
        ...


def proven(engine: Proven, policy: RedactionPolicy) -> bool:
    """Whether `engine` finds, and takes out, what it must in the known text of each language of `policy`."""
    for language in policy.languages:
        text, identifiers = PROOFS[language]
        required = [value for entity, value in identifiers.items() if entity in NEEDED or entity in policy.entities]
        found = engine.find_record([text])[0]
        if found is Withheld.NO_MODEL:
            continue  # nothing is shown, and each field says why
        shown = engine.redact(text)
        if isinstance(found, Withheld) or any(value in shown or not _covered(text, value, found) for value in required):
            return False
    return True


def _covered(text: str, value: str, found: Sequence[Span]) -> bool:
    start = text.index(value)
    covered = {place for span in found for place in range(span.start, span.end)}
    return covered.issuperset(range(start, start + len(value)))
