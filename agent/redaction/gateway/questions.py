"""Split the prompt and the references of an instance into texts to clear and texts shown as they are."""

from collections.abc import Iterator
from dataclasses import dataclass

from agent.redaction.gateway.cells import (
    FixedTexts,
    SplitMessage,
    keep_whole,
    list_references,
    split_messages,
    take_cleared,
)
from agent.redaction.published_data import is_published
from agent.redaction.redacted import CuedText, Redacted, Redactor, show_published
from agent.vocabulary import Instance, Message, Reference


@dataclass(frozen=True, slots=True)
class SplitQuestion:
    """The prompt and the references of an instance.

    Attributes:
        messages: the messages, each split at its cells.
        references: the references' texts.
        published: the texts that are shown because they are published.
    """

    messages: tuple[SplitMessage, ...]
    references: tuple[CuedText | Redacted, ...]
    published: tuple[str, ...] = ()

    def list_to_clear(self) -> Iterator[CuedText]:
        """Yield the texts to clear, in the order in which they are taken back."""
        for message in self.messages:
            yield from _leave_out_cleared(message.cells)
        yield from _leave_out_cleared(self.references)

    def take_messages(self, cleared: Iterator[Redacted]) -> list[Redacted]:
        """Return the text of each message, with the next cleared texts in their places."""
        return [message.join_cleared(cleared) for message in self.messages]

    def take_references(self, cleared: Iterator[Redacted]) -> list[Redacted]:
        """Return the references, with the next cleared texts in their places; call `take_messages` first."""
        return [take_cleared(reference, cleared) for reference in self.references]


class QuestionSplitter:
    """Decides which parts of a question must be cleared.

    Args:
        redactor: searches the fixed text of benchmarks that are not shipped, and knows the policy.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._fixed_texts = FixedTexts(redactor)
        self._shows_published = redactor.shows_published

    def split(self, instance: Instance) -> SplitQuestion:
        """Return the parts of a question. Of a published one, none must be cleared."""
        if self._shows_published and is_published(instance.source):
            return _show_question(instance)
        if not self._fixed_texts.may_be_shown(instance):
            return clear_whole(instance)
        return SplitQuestion(split_messages(instance), tuple(list_references(instance)))


def clear_whole(instance: Instance) -> SplitQuestion:
    """Return a question of which every text must be cleared."""
    return SplitQuestion(keep_whole(instance), tuple(list_references(instance)))


def copy_cleared(instance: Instance, split: SplitQuestion, cleared: Iterator[Redacted]) -> Instance:
    """Return an instance that has only the cleared prompt and references, without ids and other columns."""
    messages: list[Message] = []
    for message, text in zip(instance.messages, split.take_messages(cleared), strict=True):
        messages.append(Message(message.role, text))
    references: list[Reference] = []
    for reference, text in zip(instance.references, split.take_references(cleared), strict=True):
        references.append(Reference(text, reference.correct))
    return Instance(
        id="",
        unit="",
        messages=tuple(messages),
        references=tuple(references),
        multiple_choice=instance.multiple_choice,
    )


def _show_question(instance: Instance) -> SplitQuestion:
    messages: list[SplitMessage] = []
    for message in instance.messages:
        shown = show_published(message.content, instance.source)
        messages.append(SplitMessage(message.role, ("", ""), (shown,)))
    references = [
        show_published(reference.text, instance.source) for reference in instance.references
    ]
    published = [message.content for message in instance.messages]
    return SplitQuestion(tuple(messages), tuple(references), (*published, *references))


def _leave_out_cleared(texts: tuple[CuedText | Redacted, ...]) -> Iterator[CuedText]:
    for text in texts:
        if isinstance(text, CuedText):
            yield text
