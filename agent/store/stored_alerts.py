"""Alerts as they are stored: codes and counts. Nothing else can be put into them."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_JOB_ID: Final = re.compile(r"[0-9a-f]{16}")


class AlertCode(StrEnum):
    """The events that lead to an alert."""

    JOB_DONE = "job_done"
    JOB_FAILED = "job_failed"
    SERVER_GONE = "server_gone"  # a job ended because its inference server failed
    DRAFT_WAITING = "draft_waiting"
    APPROVED_UNSENT = "approved_unsent"
    DISK_LOW = "disk_low"


class Channel(StrEnum):
    """How alerts are sent."""

    WEBHOOK = "webhook"
    MAIL = "mail"


class MessageState(StrEnum):
    """The state of a message."""

    OPEN = "open"
    SENT = "sent"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class AlertEvent:
    """One event. Its fields are all that an alert can say about it.

    Attributes:
        code: the kind of event.
        at: its time, in seconds since 1970.
        job_id: the job's id: 16 hex digits.
        exit_code: the exit code of the job's command; None if the command did not end.
        done, failed, unscored: counts of the job's instances.
        waiting: statements that wait for an approval, or to be sent.
    """

    code: AlertCode
    at: float
    job_id: str | None = None
    exit_code: int | None = None
    done: int | None = None
    failed: int | None = None
    unscored: int | None = None
    waiting: int | None = None

    def __post_init__(self) -> None:
        """Refuse everything but codes and numbers, wherever it was read from. Raises ValueError."""
        numbers = (self.exit_code, self.done, self.failed, self.unscored, self.waiting)
        is_plain = all(number is None or type(number) is int for number in numbers)
        names_job = self.job_id is None or _JOB_ID.fullmatch(self.job_id) is not None
        if not (is_plain and names_job and isinstance(self.code, AlertCode)):
            raise ValueError("an alert holds codes and counts only")


@dataclass(frozen=True, slots=True)
class AlertMessage:
    """A message about the events from number `first` to `last`, on one channel. Its content never changes.

    Attributes:
        message_id: 32 hex digits, by which the receiver recognises a repetition.
        channel: the channel.
        first, last: numbers of its first and its last event.
        made_at: the time it was made, in seconds since 1970.
        state: whether it is still to be delivered.
        attempts: how often it was tried.
        next_at: time of the next attempt, in seconds since 1970.
        outcome: code of what came back from the last attempt; empty if there was none.
        ended_at: the time at which it was delivered or given up; None if it is open.
    """

    message_id: str
    channel: Channel
    first: int
    last: int
    made_at: float
    state: MessageState
    attempts: int
    next_at: float
    outcome: str
    ended_at: float | None

    @property
    def is_test(self) -> bool:
        """Whether somebody tried whether alerts arrive: such a message is about no event."""
        return self.last < self.first


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that holds now, such as a draft that waits, since a time in seconds since 1970."""

    name: str
    since: float
    is_told: bool
