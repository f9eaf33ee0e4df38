"""Drafts of a ward, and the pages that a person reads before signing."""

from collections.abc import Mapping, Sequence
from typing import Any

from agent.delivery.outbox import Submission
from agent.disclosure.findings import Finding
from agent.disclosure.prepare import Gate, prepare
from agent.disclosure.preview import Page, make_page
from tests.agent.disclosure.ward import CARD, MODEL, register


def draft_of(gate: Gate, findings: Sequence[Finding]) -> Submission:
    register(gate, {MODEL: findings})
    (draft,) = prepare(gate, CARD, {MODEL: findings}).submissions
    return draft


def build_page(
    gate: Gate, submission: Submission, verdicts: Mapping[str, Any] | None = None
) -> Page:
    kept = gate.outbox.read_verdicts(submission.digest) if verdicts is None else verdicts
    return make_page(submission, gate.registry, gate.policy, kept, gate.outbox.list_submissions())
