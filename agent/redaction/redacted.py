"""Redacted text as a type of its own, the functions that make it, and the one audited way past it."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol, final

from agent.errors import RedactionError
from agent.vocabulary import Identifier

_SEAL: Final = object()


@final
class Redacted(str):
    """Text a person may see.

    Only this package makes it: a test searches the whole source for other makers, and the constructor refuses them.
    Slicing or joining gives a plain `str`, which pages and exports do not take: redacted texts are shown piece by
    piece.
    """

    __slots__ = ()

    def __new__(cls, text: str, *, seal: object) -> "Redacted":
        """Mark `text` as redacted; `seal` is this package's own."""
        if seal is not _SEAL:
            raise RedactionError("text was marked as redacted outside the redaction package")
        return super().__new__(cls, text)

    def __deepcopy__(self, memo: dict[int, object]) -> "Redacted":
        """Return itself: it cannot change."""
        return self


class Withheld(StrEnum):
    """Why a whole field is not shown. Closed, so that it can be counted."""

    TOO_LONG = "too long"  # more characters than the policy's limit for one field; a record of too many identifiers
    TIME_LIMIT = "time limit"  # the engine did not finish in the policy's time for one field
    UNDECODABLE = (
        "undecodable"  # not text: lone surrogates, control characters, replacement characters
    )
    LANGUAGE = (
        "language"  # more than a few words in a script, or prose in a language, that no policy has
    )
    NO_MODEL = "no model"  # the named-entity model of a language is missing or damaged
    ENGINE_ERROR = "engine error"  # the engine failed


class Redactor(Protocol):
    """Removes identifiers from text. Never raises on text: a text that cannot be redacted is withheld and counted."""

    @property
    def policy(self) -> str:
        """Name and version of the policy in force, for the foot of each page: "hipaa_safe_harbor 1"."""
        ...

    def redact(self, text: str) -> Redacted:
        """Redact one text that stands alone."""
        ...

    def redact_record(
        self, texts: Sequence[str], identifiers: Sequence[Identifier] = (), unit: str | None = None
    ) -> list[Redacted]:
        """Redact the texts of one record (prompt, answer, reasoning, references) together, in order.

        The same value has the same tag in all of them. A name detected in one is searched in the others, as are
        `identifiers`, which the dataset itself states of the record's people. Under a policy with surrogates or moved
        dates, records of the same `unit` (the patient) have the same ones.
        """
        ...

    @property
    def withheld(self) -> Mapping[Withheld, int]:
        """Number of fields withheld since the redactor was opened, by reason."""
        ...


def mark_redacted(text: str) -> Redacted:
    """Mark the engine's output as redacted. For the modules of this package only."""
    return Redacted(text, seal=_SEAL)


def reveal_record(texts: Sequence[str], audit: Callable[[str], None], event: str) -> list[Redacted]:
    """Show original texts: the only way past redaction.

    Args:
        texts: texts of cases, returned unchanged, in order.
        audit: writes the audit entry and returns once it is on disk. It runs first; when it raises, no text is shown.
        event: the texts revealed and their run, without any text of a case.
    """
    audit(event)
    return [mark_redacted(text) for text in texts]
