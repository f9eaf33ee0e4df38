"""Who did what with a statement, and when, as the audit log tells. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from agent.delivery.outbox import State, Submission
from agent.service.words import ABANDONED, WITHDRAWN
from agent.store import COMMAND_LINE, AuditEvent
from protocol.predicates import AbandonPredicate, WithdrawPredicate

_ACCEPTED: Final = "submission receipted"
_STEPS: Final[Mapping[str, str]] = {
    "submission prepared": "drafted",
    "plan drafted": "drafted",
    "plan given up": "drafted",
    "withdrawal drafted": "drafted",
    "dataset registered": "drafted",
    "rotation requested": "asked for",
    "reset requested": "asked for",
    "submission approved": "approved with the steward’s signature",
    "submission exported": "written to a file",
    "submission sent": "sent",
    "rotation sent": "sent",
    "reset sent": "sent",
    _ACCEPTED: "accepted by the aggregator",
}
_DETAIL: Final = re.compile(
    r"(?:.* )?(?:digest|statement)=(?P<digest>[0-9a-f]{64})(?: (?P<rest>.*))?"
)
_ACCOUNT: Final = re.compile(r"(?:.* )?account=(?P<account>\w+)")


@dataclass(frozen=True, slots=True)
class Step:
    """Something that was done with a statement.

    Attributes:
        words: what was done.
        person: who did it: an account's name, or that it was done on the command line; empty for the aggregator.
        at: when, in seconds since 1970.
    """

    words: str
    person: str
    at: int


@dataclass(frozen=True, slots=True)
class Ending:
    """The statement that withdraws a result, or gives a plan up.

    Attributes:
        digest: its digest.
        words: what it does, and why.
        state: its state.
        steps: who did what with it.
    """

    digest: str
    words: str
    state: State
    steps: tuple[Step, ...]


def list_steps(
    events: Iterable[AuditEvent], digest: str, names: Mapping[str, str]
) -> tuple[Step, ...]:
    """Return who did what with a statement, in order.

    Args:
        events: the audit log.
        digest: the statement's digest.
        names: names of accounts by id.
    """
    steps: list[Step] = []
    for event in events:
        words = _STEPS.get(event.event)
        found = _DETAIL.fullmatch(event.detail) if words else None
        if words is None or found is None or found["digest"] != digest:
            continue
        person = "" if event.event == _ACCEPTED else _name_person(event, names)
        steps.append(Step(words, person, event.at))
    return tuple(steps)


def _name_person(event: AuditEvent, names: Mapping[str, str]) -> str:
    account = _ACCOUNT.fullmatch(event.detail)
    return names.get(account["account"], account["account"]) if account else COMMAND_LINE


def list_endings(
    submission: Submission,
    others: Iterable[Submission],
    events: Iterable[AuditEvent],
    names: Mapping[str, str],
) -> list[Ending]:
    """Return the statements that withdraw a result or give a plan up, oldest first."""
    known = list(events)
    endings: list[Ending] = []
    for other in others:
        match other.statement:
            case WithdrawPredicate(result=submission.digest, reason=reason):
                words = f"Withdrawal: {WITHDRAWN.get(reason, reason)}"
            case AbandonPredicate(plan=submission.digest, reason=reason):
                words = f"End of the plan: {ABANDONED.get(reason, reason)}"
            case _:
                continue
        steps = list_steps(known, other.digest, names)
        endings.append(Ending(other.digest, words, other.state, steps))
    return endings
