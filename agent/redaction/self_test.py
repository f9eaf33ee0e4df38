"""The self-test of an engine: a text in each language, with identifiers that it must redact.

It runs at every start, under the policy in force, so that a policy, a word list or a library that misses names is
noticed before a case is shown.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from agent.redaction.policy.policy import NEEDED, RedactionPolicy
from agent.redaction.redacted import Redacted, Withheld
from agent.redaction.spans.span import Span

# Text by language, and the identifiers in it by entity. Those of NEEDED must go under every policy, the others
# where the policy asks for them.
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
    """An engine, as far as the self-test uses it."""

    def find_record(self, texts: Sequence[str]) -> list[tuple[Span, ...] | Withheld]:
        """Return the spans of each text that must not be shown."""
        ...

    def redact(self, text: str) -> Redacted:
        """Redact one text."""
        ...


def passes_self_test(engine: DetectingEngine, policy: RedactionPolicy) -> bool:
    """Tell whether `engine` finds and redacts the identifiers in the text of each language of `policy`."""
    for language in policy.languages:
        text, identifiers = SELF_TESTS[language]
        (spans,) = engine.find_record([text])
        if spans is Withheld.NO_MODEL:
            continue  # no text is shown, and each field says why
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
