"""Change the marks in one record of a sample: wrong detections and missed identifiers, kept in the sealed texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.errors import ConfigError
from agent.io.plain_text import replace_controls
from agent.review.marking import MarkedSpan, ReviewVerdict, find_missed_spans

if TYPE_CHECKING:
    from agent.store import ReviewedText, Store

MOST_WORDS = 2_000  # characters of one missed identifier; whoever marks more has marked a passage

Limits = tuple[int, int]  # start and end in characters, end exclusive


@dataclass(frozen=True, slots=True)
class MissedWords:
    """Words of a record that redaction should have found, with their kind of identifier."""

    words: str
    entity: str


@dataclass(frozen=True, slots=True)
class RecordMarks:
    """A reviewer's changes to the marks of one record.

    Attributes:
        wrong: for each text, by item, the indexes (from 0) of all detections that identify no person.
        dropped: for each text, by item, the missed identifiers that are no longer marked.
        missed: further words to mark, in every text of the record that contains them.
    """

    wrong: Mapping[int, frozenset[int]] = field(default_factory=dict)
    dropped: Mapping[int, frozenset[Limits]] = field(default_factory=dict)
    missed: Sequence[MissedWords] = ()


@dataclass(frozen=True, slots=True)
class MarkedRecord:
    """The outcome of `mark_record`.

    Attributes:
        added: number of missed identifiers that were marked.
        unknown: indexes (from 0) of the words that no text contains, or whose occurrences are all marked already.
    """

    added: int
    unknown: tuple[int, ...]


def read_verdict(text: "ReviewedText") -> ReviewVerdict:
    """Return the marks in a text as they are stored. The text must not be purged."""
    content = _require_content(text)
    return ReviewVerdict(
        found=read_spans(content["found"]),
        wrong=frozenset(content["wrong"]),
        missed=read_spans(content["missed"]),
    )


def read_spans(stored: Sequence[Sequence[Any]]) -> tuple[MarkedSpan, ...]:
    """Return spans from their stored form."""
    return tuple(MarkedSpan(start, end, entity) for start, end, entity in stored)


def keep_verdict(
    store: "Store", name: str, text: "ReviewedText", verdict: ReviewVerdict, *, done: bool = True
) -> None:
    """Store the marks in one text of a sample, in its sealed content.

    Args:
        store: the store.
        name: the sample.
        text: the text; it must not be purged.
        verdict: all marks in it.
        done: whether the text counts as reviewed; without it, a text that was not reviewed remains so.
    """
    content = {
        **_require_content(text),
        "wrong": sorted(verdict.wrong),
        "missed": [[span.start, span.end, span.entity] for span in verdict.missed],
    }
    counts = done or text.figures is not None
    figures = verdict.count_figures() if counts else None
    store.reviews.keep_text(name, text.item, content, figures)


def mark_record(
    store: "Store", name: str, record: int, marks: RecordMarks, *, done: bool, by: str = ""
) -> MarkedRecord:
    """Change the marks of one record, and say whether it is reviewed.

    Words that are not found are named in the outcome; the record then does not count as reviewed yet.

    Args:
        store: the store.
        name: the sample.
        record: number of the record.
        marks: the changes.
        done: whether the reviewer is done with the record.
        by: id of the account that reviews, for the audit log; empty on the command line.

    Raises:
        ConfigError: the sample has no such record, its texts were purged, or a kind of identifier is unknown.
    """
    with store.transaction():
        texts = read_record(store, name, record)
        _check_entities(marks.missed)
        verdicts = {text.item: _apply_choices(text, marks) for text in texts}
        added = 0
        unknown: list[int] = []
        for index, missed in enumerate(marks.missed):
            spans = _add_missed(texts, verdicts, missed)
            added += spans
            if not spans:
                unknown.append(index)
        is_done = done and not unknown
        for text in texts:
            keep_verdict(store, name, text, verdicts[text.item], done=is_done)
        if is_done:
            wrong = sum(len(verdict.wrong) for verdict in verdicts.values())
            missed_spans = sum(len(verdict.missed) for verdict in verdicts.values())
            counts = f"record={record} wrong={wrong} missed={missed_spans}"
            store.audit.record("review marks", f"name={name} {counts}", by)
    return MarkedRecord(added, tuple(unknown))


def read_record(store: "Store", name: str, record: int) -> "list[ReviewedText]":
    """Return the texts of one record of a sample that were not purged.

    Raises:
        ConfigError: there is none.
    """
    texts = [text for text in store.reviews.read_texts(name, record) if text.content is not None]
    if not texts:
        raise ConfigError(
            f"review {name} has no such record, or its texts were purged",
            "Choose another one from the review's page.",
        )
    return texts


def show_text(text: "ReviewedText") -> str:
    """Return a text as it is shown: of the same length, so that spans keep their places."""
    shown: str = _require_content(text)["text"]
    return replace_controls(shown)


def _apply_choices(text: "ReviewedText", marks: RecordMarks) -> ReviewVerdict:
    """Return the marks in a text with the reviewer's choices among those that are there."""
    verdict = read_verdict(text)
    chosen = marks.wrong.get(text.item, frozenset())
    dropped = marks.dropped.get(text.item, frozenset())
    kept = [span for span in verdict.missed if (span.start, span.end) not in dropped]
    wrong = frozenset(index for index in chosen if 0 <= index < len(verdict.found))
    return ReviewVerdict(verdict.found, wrong, tuple(kept))


def _add_missed(
    texts: "Sequence[ReviewedText]", verdicts: dict[int, ReviewVerdict], missed: MissedWords
) -> int:
    """Mark words in each text that contains them; return the number of new marks."""
    added = 0
    for text in texts:
        verdict = verdicts[text.item]
        marked = (*verdict.found, *verdict.missed)
        spans = _find_words(show_text(text), marked, missed)
        in_order = sorted((*verdict.missed, *spans), key=lambda span: (span.start, span.end))
        verdicts[text.item] = ReviewVerdict(verdict.found, verdict.wrong, tuple(in_order))
        added += len(spans)
    return added


def _find_words(
    text: str, marked: Sequence[MarkedSpan], missed: MissedWords
) -> Sequence[MarkedSpan]:
    if len(missed.words) > MOST_WORDS:
        return ()
    try:
        return find_missed_spans(text, marked, replace_controls(missed.words), missed.entity)
    except TimeoutError:
        return ()


def _check_entities(missed: Sequence[MissedWords]) -> None:
    from typing import get_args

    from agent.redaction.entities import Entity

    if not {words.entity for words in missed} <= set(get_args(Entity)):
        raise ConfigError("this kind of identifier does not exist", "Choose one from the list.")


def _require_content(text: "ReviewedText") -> Mapping[str, Any]:
    if text.content is None:
        raise RuntimeError("a purged text cannot be marked")
    return text.content
