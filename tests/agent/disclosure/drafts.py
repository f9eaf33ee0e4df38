"""Drafts prepared of a ward, refused by the aggregator, or stopped by a crash."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from agent.delivery.outbox import Submission
from agent.disclosure import prepare as preparing
from agent.disclosure.findings import Finding
from agent.disclosure.ledger import ReleaseEntry, read_ledger
from agent.disclosure.prepare import Gate, Prepared
from protocol.scorecard import Scorecard
from tests.agent.disclosure.ward import (
    CARD,
    LEDGER_KEY,
    MODEL,
    register,
    whole_ward,
)
from tests.protocol import world


def prepare(gate: Gate, card: Scorecard, findings: Mapping[str, Sequence[Finding]]) -> Prepared:
    """Register what the findings are of, and prepare."""
    if gate.signer is world.AGENT:
        register(gate, findings)
    return preparing.prepare(gate, card, findings)


def prepare_one(gate: Gate, count: int = 140, model: str = MODEL) -> Submission:
    (submission,) = prepare(gate, CARD, {model: whole_ward(count)}).submissions
    return submission


def results(gate: Gate) -> list[Submission]:
    return [submission for submission in gate.outbox.list_submissions() if submission.is_result]


def released(gate: Gate) -> tuple[ReleaseEntry, ...]:
    return tuple(
        release for _, release in read_ledger(gate.outbox.ledger, LEDGER_KEY).iterate_releases()
    )


class Crash(BaseException):
    """The power went out."""


def crash_at(step: int) -> Callable[..., None]:
    """Return a `write_atomically` that dies before its `step`-th write."""
    from agent.io.atomic_files import write_atomically

    seen = 0

    def write(path: Path, content: bytes) -> None:
        nonlocal seen
        seen += 1
        if seen == step:
            raise Crash
        write_atomically(path, content)

    return write


def patch_writes(monkeypatch: pytest.MonkeyPatch, write: Callable[..., None]) -> None:
    for module in ("agent.delivery.outbox", "agent.disclosure.ledger"):
        monkeypatch.setattr(f"{module}.write_atomically", write)
