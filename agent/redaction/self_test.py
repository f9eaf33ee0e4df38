"""The self-test of an engine: one text per language, with identifiers that must be redacted.

The test runs at every start, under the policy in force. A policy, word list or library that causes names to be missed
is noticed before any instance is shown.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from agent.redaction.policy.policy import NEEDED, RedactionPolicy
from agent.redaction.redacted import Redacted, Withheld
from agent.redaction.spans.span import Span

# The text for each language and the identifiers in it, by entity. Identifiers whose entity is in NEEDED must be
# redacted under every policy, the others if the policy lists their entity.
SELF_TESTS: dict[str, tuple[str, Mapping[str, str]]] = {
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


class DetectingEngine(Protocol):
    """The methods of an engine that the self-test uses."""

    def find_record(self, texts: Sequence[str]) -> list[tuple[Span, ...] | Withheld]:
        """Return, for each text, the spans that must not be shown."""
        ...

    def redact(self, text: str) -> Redacted:
        """Redact one text."""
        ...


def passes_self_test(engine: DetectingEngine, policy: RedactionPolicy) -> bool:
    """Return whether `engine` finds and redacts the identifiers in the text of each language of `policy`.

    Under a policy that reads each text in its own language, the engine opens the further languages later, each with a
    test of its own.
    """
    languages = policy.read_languages[:1] if policy.chooses_language else policy.read_languages
    for language in languages:
        text, identifiers = SELF_TESTS[language]
        (spans,) = engine.find_record([text])
        if spans is Withheld.NO_MODEL:
            continue  # every field is withheld, with this reason
        if isinstance(spans, Withheld):
            return False
        redacted = engine.redact(text)
        for entity, value in identifiers.items():
            is_required = entity in NEEDED or entity in policy.entities
            if is_required and (value in redacted or not _is_covered(value, text, spans)):
                return False
    return True


def _is_covered(value: str, text: str, spans: Sequence[Span]) -> bool:
    start = text.index(value)
    covered = {position for span in spans for position in range(span.start, span.end)}
    return covered.issuperset(range(start, start + len(value)))
