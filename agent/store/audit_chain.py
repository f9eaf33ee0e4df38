"""The chain of the audit log: sealing of events, and detection of changes. Pure functions.

An event is stored as its record (canonical JSON of its number, time, name, detail and the previous event's link) and
its link (HMAC-SHA-256 of the record under the audit key). The log's head contains the number and link of the last
event, and has its own seal. Each event therefore proves its number and its predecessor, so that changes can be
located. Without the audit key it is possible to delete, move, copy and overwrite events, but not to make a new event
or head.

If the whole log was restored from an older copy, together with its head, this cannot be detected from the log alone.
To detect it, heads are kept elsewhere and compared (`compare_head`).
"""

import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

GENESIS_LINK: Final = "0" * 64
"""The predecessor's link in the first event."""


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One event of the audit log.

    Attributes:
        number: from 1, without gaps.
        at: seconds since 1970.
        event: what was done, in a few words.
        detail: the subject and extent; never patient text.
        previous: link of the previous event.
        link: 64 hex digits that only a holder of the audit key can compute.
    """

    number: int
    at: int
    event: str
    detail: str
    previous: str
    link: str


class AuditHead(NamedTuple):
    """The end of the log: number and link of its last event, or (0, GENESIS_LINK) if it is empty.

    A head reveals nothing about the events, so anyone may keep it.
    """

    number: int
    link: str


class StoredRow(NamedTuple):
    """One row of the table of events, as read. `place` is its key; event number `place` belongs there."""

    place: int
    record: str
    link: str


class _Change(NamedTuple):
    """One difference between the rows and the sealed log; `place` is the sort key."""

    place: int
    sentence: str


def encode_event(event: AuditEvent) -> str:
    """Return the record of an event: all fields except its link, as canonical JSON in ASCII."""
    fields = {
        "number": event.number,
        "at": event.at,
        "event": event.event,
        "detail": event.detail,
        "previous": event.previous,
    }
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


def seal_event(record: str, audit_key: bytes) -> str:
    """Return the link of an event with this record."""
    return hmac.digest(audit_key, b"event\0" + record.encode(), "sha256").hex()


def seal_head(head: AuditHead, audit_key: bytes) -> str:
    """Return the seal of a head, 64 hex digits."""
    return hmac.digest(audit_key, f"head\0{head.number}\0{head.link}".encode(), "sha256").hex()


def seal_key_check(audit_key: bytes) -> str:
    """Return a check value that identifies the audit key, 64 hex digits."""
    return hmac.digest(audit_key, b"key check\0", "sha256").hex()


def open_event(row: StoredRow, audit_key: bytes) -> AuditEvent | None:
    """Return the event of a row; None if its link does not match its record."""
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
        rows: sorted by place, without duplicates.
        head: the log's head, whose seal was already checked.
        audit_key: the key under which the log was sealed.
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
        # If two rows have the same number, the row in the right place counts as the event.
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
    """Describe how a kept head differs from a log whose events were checked; return "" if it matches."""
    if kept.number > len(events):
        lost = kept.number - len(events)
        counted = "1 event" if lost == 1 else f"{lost} events"
        return f"{counted} after event {len(events)} {_is(lost)} missing: the store was restored from a backup"
    if events[kept.number - 1].link != kept.link:
        return f"event {kept.number} differs from the kept one: the store was restored from a backup and then used"
    return ""


def _describe_false(places: Sequence[int], head: AuditHead) -> Iterator[_Change]:
    """Describe rows that were not written with the audit key."""
    for place in places:
        if 1 <= place <= head.number:
            yield _Change(place, f"event {place} was changed")
        else:
            yield _Change(place, f"event {place} was added without the seal key")


def _find_missing(
    events: Mapping[int, AuditEvent], false_places: Sequence[int], head: AuditHead
) -> Iterator[_Change]:
    """Find missing events up to the head, and events after the head."""
    present = {*events, *false_places}
    missing = [number for number in range(1, head.number + 1) if number not in present]
    for first, last in _group(missing):
        yield _Change(first, f"{_name(first, last)} {_is(last - first + 1)} missing")
    for first, last in _group([number for number in sorted(events) if number > head.number]):
        are_newer = f"{_name(first, last)} {_is(last - first + 1)} newer than the log's head"
        yield _Change(first, f"{are_newer}: an older head was restored")


def _find_moved(numbers_by_place: Mapping[int, int]) -> Iterator[_Change]:
    """Find events stored under other events' numbers: swapped pairs, and ranges moved by the same distance."""
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
    """Find genuine events that do not follow each other, because they come from two copies of the log."""
    for number, event in events.items():
        before = events.get(number - 1)
        if before is not None and event.previous != before.link:
            yield _Change(
                number,
                f"event {number} does not follow event {number - 1}: it comes from another copy of the log",
            )
    last = events.get(head.number)
    if last is not None and last.link != head.link:
        yield _Change(
            head.number,
            f"event {head.number} is not the one named by the log's head: it comes from another copy of the log",
        )


def _group(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last number of each range of consecutive numbers. `numbers` are ascending."""
    start = 0
    for end in range(1, len(numbers) + 1):
        if end == len(numbers) or numbers[end] != numbers[end - 1] + 1:
            yield numbers[start], numbers[end - 1]
            start = end


def _name(first: int, last: int) -> str:
    return f"event {first}" if first == last else f"events {first} to {last}"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
