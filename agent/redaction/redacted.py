"""The type of redacted text, the functions that create it, and the only audited way to show original text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol, final

from agent.errors import RedactionError
from agent.redaction.published_data import is_published
from agent.vocabulary import Identifier

_SEAL: Final = object()


@final
class Redacted(str):
    """Text that a person may see.

    Only this package creates it. The constructor rejects other callers, and a test searches the whole source for them.
    Slicing or joining returns a plain `str`, which pages and exports do not accept, so redacted texts are shown one by
    one.
    """

    __slots__ = ()

    def __new__(cls, text: str, *, seal: object) -> "Redacted":
        """Mark `text` as redacted; `seal` must be the private object of this module."""
        if seal is not _SEAL:
            raise RedactionError("text was marked as redacted outside the redaction package")
        return super().__new__(cls, text)

    def __deepcopy__(self, memo: dict[int, object]) -> "Redacted":
        """Return this object, which is immutable."""
        return self


@dataclass(frozen=True, slots=True)
class CuedText:
    """A text with the words that precede it where it stands, which tell whether it identifies a person.

    Attributes:
        text: the text.
        cues: phrases such as "Patient name: ". The text is searched after each of them. Never shown.
    """

    text: str
    cues: tuple[str, ...] = ()

    @classmethod
    def wrap(cls, text: "str | CuedText") -> "CuedText":
        """Return a plain text as one without cues."""
        return cls(text) if isinstance(text, str) else text


class Withheld(StrEnum):
    """The reason why a whole field is not shown. A closed set, so that reasons can be counted."""

    # A field with more characters than the policy's limit, or a record with too many identifiers.
    TOO_LONG = "too long"
    TIME_LIMIT = "time limit"  # the engine exceeded the policy's time limit for one field
    UNDECODABLE = "undecodable"  # lone surrogates, control characters or replacement characters
    # More than a few words in a script, or prose in a language, that no policy supports.
    LANGUAGE = "language"
    NO_MODEL = "no model"  # the named-entity model of a language is missing or damaged
    ENGINE_ERROR = "engine error"  # the engine failed


class Redactor(Protocol):
    """Removes identifiers from text. Never raises because of a text: one that cannot be redacted is withheld."""

    @property
    def policy(self) -> str:
        """The name and version of the policy in force, for the page footer: "hipaa_safe_harbor 1"."""
        ...

    def redact(self, text: str) -> Redacted:
        """Redact one text that belongs to no record."""
        ...

    def redact_record(
        self,
        texts: Sequence[str | CuedText],
        identifiers: Sequence[Identifier] = (),
        unit: str | None = None,
        published: Sequence[str] = (),
    ) -> list[Redacted]:
        """Redact the texts of one record (prompt, answer, reasoning, references) together, in order.

        Equal values get equal tags in all texts. A name detected in one text is searched for in the others, as are
        `identifiers`, which the dataset states about the people in the record. Under a policy with surrogates or moved
        dates, records of the same `unit` (the patient) share surrogates and the number of days by which dates move.
        A value that stands in one of the `published` texts, which the reader sees beside the record, is left.
        """
        ...

    @property
    def shows_published(self) -> bool:
        """Whether the policy lets prompts and references of published benchmarks be shown as they are."""
        ...

    @property
    def withheld(self) -> Mapping[Withheld, int]:
        """The number of fields withheld since the redactor was opened, by reason."""
        ...


def mark_redacted(text: str) -> Redacted:
    """Mark the engine's output as redacted. Only modules of this package may call this."""
    return Redacted(text, seal=_SEAL)


def reveal_record(texts: Sequence[str], audit: Callable[[str], None], event: str) -> list[Redacted]:
    """Return original texts for display: the only way to bypass redaction.

    Args:
        texts: texts from instances, returned unchanged, in order.
        audit: writes the audit entry and returns once it is on disk. It runs first; if it raises, no text is shown.
        event: description of the revealed texts and their run, without any of the texts.
    """
    audit(event)
    return [mark_redacted(text) for text in texts]


def show_published(text: str, source: str) -> Redacted:
    """Return a text of a published benchmark for display, unchanged.

    Args:
        text: a message of the prompt, or a reference. Never an answer, which a model may have filled with anything.
        source: the source of its instance, which must be in the package's list of published data.

    Raises:
        RedactionError: the source is not published.
    """
    if not is_published(source):
        raise RedactionError("a text of unpublished data would be shown without redaction")
    return mark_redacted(text)


def join_redacted(fixed: Sequence[str], cells: Sequence[Redacted]) -> Redacted:
    """Join redacted cells with the text between them, which must be a benchmark's own and never a record's.

    Args:
        fixed: the texts before, between and after the cells; one more than there are cells.
        cells: the redacted cells, in order.

    Raises:
        TypeError: a cell was not redacted, which is a fault in the program.
    """
    pieces = [fixed[0]]
    for cell, text_after in zip(cells, fixed[1:], strict=True):
        if not isinstance(cell, Redacted):
            raise TypeError("a part of a prompt would be shown without redaction")
        pieces += [cell, text_after]
    return mark_redacted("".join(pieces))
