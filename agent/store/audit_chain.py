"""The chain of the audit log: how events are sealed, and where a log differs from what was sealed. Pure.

An event is kept as its record (canonical JSON of its number, time, name, detail and the link of the event before it)
and its link (HMAC-SHA-256 of the record under the audit key). The log's head names number and link of the last event
and has a seal of its own. Each event so proves its own number and its predecessor, which is what locates a change:
whoever lacks the audit key can delete, move, copy and overwrite events, and can make neither a new one nor a new head.

What cannot be seen here is a log that was put back whole, with its head, from an older copy: for that, heads are kept
elsewhere and compared (`compare_head`).
"""

import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

GENESIS_LINK: Final = "0" * 64
"""Link that the first event follows."""


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One event of the audit log.

    Attributes:
        number: from 1, without gaps.
        at: seconds since 1970.
        event: what was done, in a few words.
        detail: on what and how much; never text of a case.
        previous: link of the event before it.
        link: 64 hex digits, which only the holder of the audit key can compute.
    """

    number: int
    at: int
    event: str
    detail: str
    previous: str
    link: str


class AuditHead(NamedTuple):
    """Where the log ends: number and link of its last event, (0, GENESIS_LINK) where there is none.

    It tells nothing about the events, and may be kept by anybody.
    """

    number: int
    link: str


class StoredRow(NamedTuple):
    """One row of the table of events as it was found. `place` is its key there, where event `place` belongs."""

    place: int
    record: str
    link: str


class _Change(NamedTuple):
    """One difference between a log and what was sealed; `place` orders the sentences."""

    place: int
    sentence: str


def encode_event(event: AuditEvent) -> str:
    """Return the record of an event: canonical JSON in ASCII of everything but its link."""
    fields = {
        "number": event.number,
        "at": event.at,
        "event": event.event,
        "detail": event.detail,
        "previous": event.previous,
    }
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


def seal_event(record: str, audit_key: bytes) -> str:
    """Return the link of an event, from its record."""
    return hmac.digest(audit_key, b"event\0" + record.encode(), "sha256").hex()


def seal_head(head: AuditHead, audit_key: bytes) -> str:
    """Return the seal of a head, 64 hex digits."""
    return hmac.digest(audit_key, f"head\0{head.number}\0{head.link}".encode(), "sha256").hex()


def seal_key_check(audit_key: bytes) -> str:
    """Return a mark by which the audit key is known again, 64 hex digits."""
    return hmac.digest(audit_key, b"key check\0", "sha256").hex()


def open_event(row: StoredRow, audit_key: bytes) -> AuditEvent | None:
    """Return the event of a row; None if its link is not that of its record."""
    if not hmac.compare_digest(seal_event(row.record, audit_key).encode(), row.link.encode()):
        return None
    fields = json.loads(row.record)
    return AuditEvent(
        fields["number"],
        fields["at"],
        fields["event"],
        fields["detail"],
        fields["previous"],
        row.link,
    )


def find_changes(rows: Sequence[StoredRow], head: AuditHead, audit_key: bytes) -> list[str]:
    """Return a sentence for each difference between the rows and the log that was sealed, in the order of the log.

    Args:
        rows: in the order of their places, each place once.
        head: of the log, its own seal already checked.
        audit_key: the key that the log was sealed under.
    """
    events: dict[int, AuditEvent] = {}
    numbers_by_place: dict[int, int] = {}
    false_places: list[int] = []
    for row in rows:
        event = open_event(row, audit_key)
        if event is None:
            false_places.append(row.place)
            continue
        numbers_by_place[row.place] = event.number
        # Of two rows with one number, the row in the event's own place counts as the event.
        if event.number not in events or row.place == event.number:
            events[event.number] = event
    changes = [
        *_describe_false(false_places, head),
        *_find_missing(events, false_places, head),
        *_find_moved(numbers_by_place),
        *_find_breaks(events, head),
    ]
    return [change.sentence for change in sorted(changes, key=lambda change: change.place)]


def compare_head(kept: AuditHead, events: Sequence[AuditEvent]) -> str:
    """Say how a head that somebody kept elsewhere fits a log, whose events were checked; nothing where it fits."""
    if kept.number > len(events):
        lost = kept.number - len(events)
        counted = "1 event" if lost == 1 else f"{lost} events"
        return f"{counted} after event {len(events)} {_is(lost)} missing: the store was put back"
    if events[kept.number - 1].link != kept.link:
        return f"event {kept.number} is not the one of that time: the store was put back to before it and went on since"
    return ""


def _describe_false(places: Sequence[int], head: AuditHead) -> Iterator[_Change]:
    """Describe rows that nobody with the audit key wrote as they are."""
    for place in places:
        if 1 <= place <= head.number:
            yield _Change(place, f"event {place} was changed")
        else:
            yield _Change(place, f"event {place} was added without the seal key")


def _find_missing(
    events: Mapping[int, AuditEvent], false_places: Sequence[int], head: AuditHead
) -> Iterator[_Change]:
    """Find numbers up to the head that no event has, and events beyond the head."""
    present = {*events, *false_places}
    missing = [number for number in range(1, head.number + 1) if number not in present]
    for first, last in _group(missing):
        yield _Change(first, f"{_name(first, last)} {_is(last - first + 1)} missing")
    for first, last in _group([number for number in sorted(events) if number > head.number]):
        are_newer = f"{_name(first, last)} {_is(last - first + 1)} newer than the log's head"
        yield _Change(first, f"{are_newer}: the head was put back")


def _find_moved(numbers_by_place: Mapping[int, int]) -> Iterator[_Change]:
    """Find events that stand in the place of others: pairs that changed places, and rows moved by the same distance."""
    moved = {place: number for place, number in numbers_by_place.items() if place != number}
    pairs = [place for place, number in moved.items() if moved.get(number) == place]
    for place in pairs:
        if place < moved[place]:
            yield _Change(place, f"events {place} and {moved[place]} changed places")
    alone = sorted(set(moved) - set(pairs))
    start = 0
    for end in range(1, len(alone) + 1):
        first, last = alone[start], alone[end - 1]
        if end < len(alone) and alone[end] == last + 1 and moved[alone[end]] == moved[last] + 1:
            continue
        stand = f"{_name(moved[first], moved[last])} {'stands' if first == last else 'stand'}"
        places = (
            f"place of {_name(first, last)}" if first == last else f"places of {_name(first, last)}"
        )
        yield _Change(moved[first], f"{stand} in the {places}")
        start = end


def _find_breaks(events: Mapping[int, AuditEvent], head: AuditHead) -> Iterator[_Change]:
    """Find genuine events that were not written one after the other: they are of two copies of the log."""
    for number, event in events.items():
        before = events.get(number - 1)
        if before is not None and event.previous != before.link:
            yield _Change(
                number,
                f"event {number} does not follow event {number - 1}: it is of another copy of the log",
            )
    last = events.get(head.number)
    if last is not None and last.link != head.link:
        yield _Change(
            head.number,
            f"event {head.number} is not the last that the log's head names: it is of another copy of the log",
        )


def _group(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each stretch of consecutive numbers. `numbers` rise."""
    start = 0
    for end in range(1, len(numbers) + 1):
        if end == len(numbers) or numbers[end] != numbers[end - 1] + 1:
            yield numbers[start], numbers[end - 1]
            start = end


def _name(first: int, last: int) -> str:
    return f"event {first}" if first == last else f"events {first} to {last}"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
