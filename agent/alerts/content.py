"""The content of an alert: codes, counts, ids of jobs and times, and the site's label if the settings name one. Pure.

Both channels write the same content, and nothing else reaches them. It depends only on the message and its events, so
that a repetition is the same to the byte.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from agent.store import AlertCode, AlertEvent

VERSION: Final = 1
MOST_LISTED: Final = 20
"""Events that an alert lists one by one; it only counts the others."""

_PHRASES: Final[Mapping[AlertCode, tuple[str, str]]] = {
    AlertCode.JOB_FAILED: ("1 job failed", "{count} jobs failed"),
    AlertCode.SERVER_GONE: ("an inference server failed", "inference servers failed {count} times"),
    AlertCode.DRAFT_WAITING: ("a draft waits for approval", "drafts wait for approval"),
    AlertCode.APPROVED_UNSENT: (
        "an approved statement was not sent",
        "approved statements were not sent",
    ),
    AlertCode.DISK_LOW: ("the disk is nearly full", "the disk is nearly full"),
    AlertCode.JOB_DONE: ("1 job is done", "{count} jobs are done"),
}
_COUNTED: Final = ("exit_code", "done", "failed", "unscored", "waiting")


@dataclass(frozen=True, slots=True)
class AlertContent:
    """An alert as it is sent.

    Attributes:
        message_id: the id by which the receiver recognises a repetition.
        made_at: the time it was made, in seconds since 1970.
        site: the site's public label, or None.
        counts: number of events by kind.
        events: the first of them.
        is_test: whether somebody tries whether alerts arrive.
    """

    message_id: str
    made_at: float
    site: str | None
    counts: Mapping[AlertCode, int]
    events: Sequence[AlertEvent] = ()
    is_test: bool = False

    @property
    def unlisted(self) -> int:
        """Return the number of events that are counted but not listed."""
        return sum(self.counts.values()) - len(self.events)


def write_json(content: AlertContent) -> bytes:
    """Return an alert as the JSON that a webhook gets."""
    fields: dict[str, Any] = {
        "version": VERSION,
        "id": content.message_id,
        "time": format_time(content.made_at),
        "test": content.is_test,
        "counts": {code.value: count for code, count in content.counts.items()},
        "events": [_describe_event(event) for event in content.events],
        "unlisted": content.unlisted,
    }
    if content.site is not None:
        fields["site"] = content.site
    return json.dumps(fields, separators=(",", ":")).encode()


def write_subject(content: AlertContent) -> str:
    """Return the subject of an e-mail."""
    name = "Intramural" if content.site is None else f"Intramural ({content.site})"
    return f"{name}: {_summarise(content)}"


def write_text(content: AlertContent) -> str:
    """Return the text of an e-mail."""
    lines = [f"{_summarise(content)}.", ""]
    for event in content.events:
        fields = _describe_event(event)
        words = [
            f"{name}={value}" for name, value in fields.items() if name not in ("event", "time")
        ]
        lines.append("  ".join([fields["time"], fields["event"], *words]))
    if content.unlisted:
        lines.append(f"and {content.unlisted} more")
    lines += [
        "",
        "Times are UTC. `intramural jobs show ID` on the site's machine says more about a job.",
    ]
    lines.append(f"Alert {content.message_id}")
    return "\n".join(lines) + "\n"


def format_time(seconds: float) -> str:
    """Return a time as ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _summarise(content: AlertContent) -> str:
    if content.is_test:
        return "this is a test alert"
    phrases = []
    for code, (one, many) in _PHRASES.items():
        count = content.counts.get(code, 0)
        if count:
            phrases.append(one if count == 1 else many.format(count=count))
    return ", ".join(phrases)


def _describe_event(event: AlertEvent) -> dict[str, Any]:
    """Return the fields of an event that are known."""
    fields: dict[str, Any] = {"event": event.code.value, "time": format_time(event.at)}
    if event.job_id is not None:
        fields["job"] = event.job_id
    for name in _COUNTED:
        value = getattr(event, name)
        if value is not None:
            fields[name] = value
    return fields
