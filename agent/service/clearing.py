"""How the texts of one page become fit to be seen: through redaction, or past it with an entry in the audit log."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.redaction import Redacted, Redactor, reveal_record


@dataclass(frozen=True, slots=True)
class Cleared:
    """The texts of several records, in order, and how many of them were withheld."""

    records: list[list[Redacted]]
    withheld: int


class Clearer(Protocol):
    """Makes the texts of cases fit to be seen."""

    @property
    def note(self) -> str:
        """What was done to texts, in plain words, for the foot of each page."""
        ...

    @property
    def reveals(self) -> bool:
        """Whether original text is shown."""
        ...

    def clear(self, records: Sequence[Sequence[str]], event: str) -> Cleared:
        """Clear the texts of several records. `event` says what is looked at, without any text of a case."""
        ...


class Redacting:
    """Shows redacted text."""

    reveals = False

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self.note = f"Texts are redacted under policy {redactor.policy}."

    def clear(self, records: Sequence[Sequence[str]], event: str) -> Cleared:
        """Redact each record by itself."""
        del event
        before = sum(self._redactor.withheld.values())
        texts = [self._redactor.redact_record(record) for record in records]
        return Cleared(texts, sum(self._redactor.withheld.values()) - before)


class Revealing:
    """Shows original text; `audit` writes each look before it happens."""

    reveals = True
    note = "Original texts are shown. Each page opened is in the audit log."

    def __init__(self, audit: Callable[[str], None]) -> None:
        self._audit = audit

    def clear(self, records: Sequence[Sequence[str]], event: str) -> Cleared:
        """Return the texts as they are, after one audit entry for all of them."""
        texts = iter(reveal_record([text for record in records for text in record], self._audit, event))
        return Cleared([[next(texts) for _ in record] for record in records], 0)
