"""Clear stored instances for display to people: redact them, or reveal them with an entry in the audit log.

This is the only path from the store to pages and exports.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent.redaction.gateway.judgements import SeatJudgement, undo_escapes
from agent.redaction.gateway.questions import (
    QuestionSplitter,
    SplitQuestion,
    clear_whole,
    copy_cleared,
)
from agent.redaction.gateway.readings import (
    AnswerReading,
    ClearedReading,
    clear_readings,
    list_reading_texts,
)
from agent.redaction.gateway.subject import Subject
from agent.redaction.redacted import CuedText, Redacted, Redactor, reveal_record
from agent.vocabulary import Instance, Score, Unscored

if TYPE_CHECKING:
    from agent.site.directory import Site
    from agent.store import Store, StoredInstance


@dataclass(frozen=True, slots=True)
class ClearedMessage:
    """A message of the prompt."""

    role: str
    text: Redacted


@dataclass(frozen=True, slots=True)
class ClearedReference:
    """A reference answer. `letter` is that of its answer option, or empty for an answer in free text."""

    letter: str
    text: Redacted
    correct: bool


@dataclass(frozen=True, slots=True)
class ClearedReply:
    """A reply of a judge. If the reply is redacted, its JSON escapes are decoded."""

    text: Redacted
    reasoning: Redacted
    finish_reason: str


@dataclass(frozen=True, slots=True)
class ClearedJudgement:
    """The judgement of an answer by one jury seat, as a person may see it.

    Attributes:
        metric: the metric of the jury's score.
        seat: number of the seat, starting at 0.
        judge: the name of the judge.
        grades: grade per criterion, on the jury's own scale; None without a valid verdict.
        reason: why there is no valid verdict.
        repaired: whether the judge was asked to correct its first reply.
        words: texts of the verdict, such as explanations, by criterion and field.
        replies: the first reply and the correction; empty if there was no reply, and after a purge.
    """

    metric: str
    seat: int
    judge: str
    grades: Mapping[str, float] | None
    reason: str | None
    repaired: bool
    words: Mapping[str, Mapping[str, Redacted]]
    replies: tuple[ClearedReply, ...]


@dataclass(frozen=True, slots=True)
class ClearedCase:
    """An instance of a run as a person may see it. Texts that were purged, or do not exist yet, are None.

    Attributes:
        position: position in benchmark order, starting at 0.
        key: keyed hash of the instance's id, which is the same in every run of the benchmark at this site.
        id: the dataset's own id, for finding the record; only set if original text is shown.
        scores: scores by metric name.
        judgements: judgements of the answer, by metric and seat.
        likelihoods: log-likelihoods of the options by letter, if the run compared them; None for options whose value
            is below those that the server returned.
        readings: what the metrics read from the answer.
    """

    position: int
    key: str
    id: Redacted | None
    prompt: tuple[ClearedMessage, ...] | None
    references: tuple[ClearedReference, ...] | None
    answer: Redacted | None
    reasoning: Redacted | None
    finish_reason: str | None
    scores: Mapping[str, Score | Unscored]
    judgements: tuple[ClearedJudgement, ...] = ()
    likelihoods: Mapping[str, float | None] = field(default_factory=dict)
    readings: tuple[ClearedReading, ...] = ()


class Clearer(ABC):
    """Clears instances so that a person may see them.

    Attributes:
        reveals: whether original text is shown.
        note: how texts are treated, in plain words for the reader.
    """

    reveals: bool
    note: str

    @property
    @abstractmethod
    def withheld(self) -> int:
        """The number of texts withheld so far."""

    def clear(
        self,
        run_id: str,
        instances: "Sequence[StoredInstance]",
        judged: Mapping[int, Sequence[SeatJudgement]] | None = None,
        read: Mapping[int, tuple[AnswerReading, ...]] | None = None,
    ) -> list[ClearedCase]:
        """Clear all texts of several instances of one run, in order.

        Args:
            judged: judgements of the juries, by position (`gateway.judgements.read_seat_judgements`). A judge's words
                are cleared together with the question and the answer that they refer to.
            read: what the metrics read from the answers, by position.
        """
        if not instances:
            return []
        judgements = [(judged or {}).get(stored.position, ()) for stored in instances]
        readings = [(read or {}).get(stored.position, ()) for stored in instances]
        questions = [self._split_stored(stored) for stored in instances]
        records: list[list[str | CuedText]] = []
        for stored, question, of_answer, read_from in zip(
            instances, questions, judgements, readings, strict=True
        ):
            texts = list(_list_texts(stored, question, of_answer, reveals=self.reveals))
            records.append([*texts, *list_reading_texts(read_from)])
        which = f"run={run_id} instances={_describe_positions(instances)}"
        subjects = [Subject.read_instance(stored.instance) for stored in instances]
        published = [question.published if question else () for question in questions]
        cleared = self.clear_records(records, which, subjects, published)
        cases: list[ClearedCase] = []
        for stored, question, of_answer, read_from, cleared_texts in zip(
            instances, questions, judgements, readings, cleared, strict=True
        ):
            remaining = iter(cleared_texts)
            case = _build_case(stored, question, of_answer, remaining, reveals=self.reveals)
            cases.append(_add_readings(case, stored, read_from, remaining))
        return cases

    def clear_answered(
        self, answered: Sequence[tuple[Instance, str]], which: str
    ) -> list[tuple[Instance, Redacted]]:
        """Clear questions together with their answers.

        Args:
            answered: instances, each with an answer to it.
            which: description of the instances, without any of their texts.

        Returns:
            For each, an instance that has only the cleared prompt and references, and the cleared answer.
        """
        questions = [self._split(instance) for instance, _ in answered]
        records: list[list[str | CuedText]] = []
        for question, (_, answer) in zip(questions, answered, strict=True):
            records.append([*question.list_to_clear(), answer])
        subjects = [Subject.read_instance(instance) for instance, _ in answered]
        cleared: list[tuple[Instance, Redacted]] = []
        published = [question.published for question in questions]
        records_cleared = self.clear_records(records, which, subjects, published)
        for (instance, _), question, texts in zip(
            answered, questions, records_cleared, strict=True
        ):
            remaining = iter(texts)
            copy = copy_cleared(instance, question, remaining)
            cleared.append((copy, next(remaining)))
        return cleared

    def _split_stored(self, stored: "StoredInstance") -> SplitQuestion | None:
        return None if stored.instance is None else self._split(stored.instance)

    def _split(self, instance: Instance) -> SplitQuestion:
        """Split a question into the parts to clear and those shown as they are; by default, clear all of it."""
        return clear_whole(instance)

    @abstractmethod
    def clear_records(
        self,
        records: Sequence[Sequence[str | CuedText]],
        which: str,
        subjects: Sequence[Subject] = (),
        published: Sequence[Sequence[str]] = (),
    ) -> list[list[Redacted]]:
        """Clear the texts of several records, each record separately.

        Args:
            records: the texts of each record.
            which: description of the records, without any of their texts.
            subjects: the subject of each record; empty if nothing is known about its people.
            published: the published texts beside each record; empty if there are none.
        """


class Redacting(Clearer):
    """Shows redacted text."""

    reveals = False

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._splitter = QuestionSplitter(redactor)
        published = (
            "; questions of public benchmarks are shown as published"
            if redactor.shows_published
            else ""
        )
        self.note = f"Texts are redacted under policy {redactor.policy}{published}."

    def _split(self, instance: Instance) -> SplitQuestion:
        return self._splitter.split(instance)

    @property
    def withheld(self) -> int:
        """The number of texts withheld so far because they could not be redacted."""
        return sum(self._redactor.withheld.values())

    def clear_records(
        self,
        records: Sequence[Sequence[str | CuedText]],
        which: str,
        subjects: Sequence[Subject] = (),
        published: Sequence[Sequence[str]] = (),
    ) -> list[list[Redacted]]:
        """Redact the texts of each record together."""
        del which
        known_subjects = subjects or [Subject()] * len(records)
        published_texts = published or [()] * len(records)
        cleared: list[list[Redacted]] = []
        for record, subject, beside in zip(records, known_subjects, published_texts, strict=True):
            cleared.append(
                self._redactor.redact_record(record, subject.identifiers, subject.unit, beside)
            )
        return cleared


class Revealing(Clearer):
    """Shows original text and the dataset's own ids.

    Args:
        audit: writes an entry to the audit log and returns once it is on disk; it runs before anything is shown.
        purpose: the reason for showing the text, in one word.
    """

    reveals = True
    note = "Original texts are shown. Every text that is opened is recorded in the audit log."
    withheld = 0

    def __init__(self, audit: Callable[[str], None], purpose: str) -> None:
        self._audit = audit
        self._purpose = purpose

    def clear_records(
        self,
        records: Sequence[Sequence[str | CuedText]],
        which: str,
        subjects: Sequence[Subject] = (),
        published: Sequence[Sequence[str]] = (),
    ) -> list[list[Redacted]]:
        """Return the texts unchanged, after writing the audit entry."""
        del subjects, published
        all_texts = [CuedText.wrap(text).text for record in records for text in record]
        texts = iter(reveal_record(all_texts, self._audit, f"{self._purpose} {which}"))
        return [[next(texts) for _ in record] for record in records]


def add_system_account(event: str, by: str = "") -> str:
    """Return an event for the audit log with the system's account that runs this program.

    An event of the service is returned as it is: it names the person, `by`, and the system's account is the service's.
    """
    return event if by or not hasattr(os, "getuid") else f"{event} uid={os.getuid()}"


def open_clearer(site: "Site", store: "Store", *, reveal: bool, purpose: str) -> Clearer:
    """Open the clearer for the site's instances: under its redaction policy, or with `reveal`, with its audit log.

    Raises:
        RedactionError: see `agent.redaction.open_redactor`.
    """
    from agent.redaction import open_redactor

    if reveal:
        return Revealing(
            lambda event: store.audit.record("reveal", add_system_account(event)), purpose
        )
    # An export is often repeated, so its detections are stored. Viewing pages does not change the store.
    findings = store.findings if purpose == "export" else None
    return Redacting(
        open_redactor(
            site.settings.redaction_policy, site.directory, findings, site.surrogate_key()
        )
    )


def _describe_positions(instances: "Sequence[StoredInstance]") -> str:
    """Return the positions of instances as "20-39" if they follow each other, and one by one otherwise."""
    positions = [stored.position for stored in instances]
    first, last = positions[0], positions[-1]
    if positions == list(range(first, last + 1)):
        return f"{first}-{last}"
    return ",".join(str(position) for position in positions)


def _list_texts(
    stored: "StoredInstance",
    question: SplitQuestion | None,
    judged: Sequence[SeatJudgement],
    *,
    reveals: bool,
) -> Iterator[str | CuedText]:
    """Yield every text of an instance that must be cleared, in the order in which `_build_case` consumes them."""
    instance, response = stored.instance, stored.response
    if instance is not None and reveals:
        yield instance.id
    if question is not None:
        yield from question.list_to_clear()
    if response is not None:
        yield response.text
        yield response.reasoning
    for judgement in judged:
        texts = [text for fields in judgement.words.values() for text in fields.values()]
        for reply in judgement.replies:
            texts += (reply.text, reply.reasoning)
        yield from texts if reveals else map(undo_escapes, texts)


def _build_case(
    stored: "StoredInstance",
    question: SplitQuestion | None,
    judged: Sequence[SeatJudgement],
    texts: Iterator[Redacted],
    *,
    reveals: bool,
) -> ClearedCase:
    instance, response = stored.instance, stored.response
    identity = next(texts) if reveals and instance is not None else None
    prompt = references = None
    if instance is not None and question is not None:
        prompt = tuple(_build_messages(instance, question.take_messages(texts)))
        references = tuple(_build_references(instance, question.take_references(texts)))
    return ClearedCase(
        position=stored.position,
        key=stored.instance_key.hex()[:16],
        id=identity,
        prompt=prompt,
        references=references,
        answer=None if response is None else next(texts),
        reasoning=None if response is None else next(texts),
        finish_reason=None if response is None else response.finish_reason,
        scores=stored.scores,
        judgements=tuple(_build_judgement(judgement, texts) for judgement in judged),
        likelihoods={} if response is None else response.likelihoods_by_option,
    )


def _add_readings(
    case: ClearedCase,
    stored: "StoredInstance",
    readings: tuple[AnswerReading, ...],
    texts: Iterator[Redacted],
) -> ClearedCase:
    if stored.response is None or case.answer is None or not readings:
        return case
    cleared = clear_readings(readings, stored.response.text, case.answer, texts)
    return replace(case, readings=tuple(cleared))


def _build_messages(instance: Instance, texts: Sequence[Redacted]) -> Iterator[ClearedMessage]:
    for message, text in zip(instance.messages, texts, strict=True):
        yield ClearedMessage(message.role, text)


def _build_references(instance: Instance, texts: Sequence[Redacted]) -> Iterator[ClearedReference]:
    for index, (reference, text) in enumerate(zip(instance.references, texts, strict=True)):
        letter = chr(ord("A") + index) if instance.multiple_choice else ""
        yield ClearedReference(letter, text, reference.correct)


def _build_judgement(judgement: SeatJudgement, texts: Iterator[Redacted]) -> ClearedJudgement:
    words: dict[str, dict[str, Redacted]] = {}
    for criterion, fields in judgement.words.items():
        words[criterion] = {field: next(texts) for field in fields}
    seat = judgement.seat
    return ClearedJudgement(
        metric=judgement.metric,
        seat=seat.seat,
        judge=judgement.judge,
        grades=None if seat.grades is None else dict(seat.grades),
        reason=seat.reason,
        repaired=seat.repaired,
        words=words,
        replies=tuple(
            ClearedReply(next(texts), next(texts), reply.finish_reason)
            for reply in judgement.replies
        ),
    )
