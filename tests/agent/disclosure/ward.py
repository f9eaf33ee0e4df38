"""A ward for tests: findings made of hidden units, and a site that is enrolled in the protocol tests' small world."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agent.delivery.outbox import Outbox, Submission
from agent.disclosure.approval import approve, countersign
from agent.disclosure.findings import Finding
from agent.disclosure.gate import Release, decide
from agent.disclosure.ledger import Entry, Fingerprints, Ledger, ledger_key
from agent.disclosure.prepare import Gate
from agent.store import UnitScore
from agent.vocabulary import AccessLevel
from protocol.identity import model_digest
from protocol.keys import Signer
from protocol.policy import DisclosurePolicy
from protocol.registry import Model, Registry
from protocol.scorecard import Scorecard
from tests.protocol import world

MODEL, OTHER_MODEL = world.MODEL.name, "example/other"
CARD = world.SCORECARD
FINGERPRINTS = Fingerprints(b"f" * 32)
DATA_KEY = b"d" * 32
LEDGER_KEY = ledger_key(DATA_KEY)

REGISTRY: Registry = world.registry(
    models={
        model_digest(name): Model(name, f"The model {name}", "Example", is_language_model=True)
        for name in (MODEL, OTHER_MODEL)
    }
)


def unit(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def finding(
    benchmark: str,
    metric: str,
    values: Sequence[float | None],
    *,
    first: int = 0,
    per_unit: int = 1,
    subgroup: str | None = None,
    access: AccessLevel | None = None,
    reason: str = "unparsed",
    lineage: str | None = None,
) -> Finding:
    """Scores of instances numbered from `first`, `per_unit` of them to a unit; None is unscored for `reason`."""
    entry = next(entry for entry in CARD.benchmarks if entry.id == benchmark)
    return Finding(
        benchmark=benchmark,
        metric=metric,
        definition=entry.definition,
        access=access or ("public" if benchmark == "exam" else "private"),
        binary=metric == "exact_match",
        low=0,
        high=1,
        scores=[
            UnitScore(
                unit(f"unit {i // per_unit}"), unit(f"instance {i}"), value, None if value is not None else reason
            )
            for i, value in enumerate(values, first)
        ],
        subgroup=subgroup,
        lineage=lineage or benchmark,
        known="official" if benchmark == "exam" else "unknown",
        available=len(values),
    )


def right(count: int, of: int) -> list[float]:
    """`count` right answers, then wrong ones."""
    return [1.0] * count + [0.0] * (of - count)


def whole_ward(count: int = 140, of: int = 200, *, first: int = 0) -> list[Finding]:
    """Findings of every cell but those of subgroups: a public exam of 40 and a private ward."""
    return [
        finding("exam", "exact_match", right(30, 40)),
        finding("ward", "exact_match", right(count, of), first=first),
        finding("ward", "rouge_l", [0.2 + 0.6 * (i % 7) / 7 for i in range(of)], first=first),
    ]


def gate_says(
    findings: Sequence[Finding],
    *,
    ledger: Ledger | None = None,
    policy: DisclosurePolicy = world.STRICT,
    card: Scorecard = CARD,
    day: int = world.TODAY,
    model: str = MODEL,
    scores_root: str = "5c" * 32,
) -> Release:
    return decide(
        card,
        policy,
        findings,
        model=model_digest(model),
        scores_root=scores_root,
        day=day,
        ledger=ledger or Ledger(),
        fingerprints=FINGERPRINTS,
    )


def after(
    ledger: Ledger,
    release: Release,
    *,
    day: int = world.TODAY,
    model: str = MODEL,
    scores_root: str | None = None,
) -> Ledger:
    """The ledger once the release was approved; each is of other scores unless told otherwise."""
    number = f"{len(ledger.entries) + 1:064x}"
    root = scores_root or number
    entry = Entry(ledger.head, number, model_digest(model), CARD.digest, root, day, release.footprint)
    return ledger.followed_by(entry)


def site_gate(directory: Path, *, registry: Registry = REGISTRY, today_day: int = world.TODAY) -> Gate:
    return Gate(
        outbox=Outbox(directory / "submissions"),
        registry=registry,
        policy=world.STRICT,
        signer=world.AGENT,
        data_key=DATA_KEY,
        today_day=today_day,
        agent_version="0.1.0",
    )


def sign(gate: Gate, submission: Submission, steward: Signer = world.STEWARD) -> Submission:
    """What the steward does, into an audit log that nobody reads."""
    signed = countersign(gate.outbox.get(submission.digest), gate.registry, gate.policy, steward)
    return take(gate, signed)


def take(gate: Gate, signed: bytes) -> Submission:
    """What the site does with what the steward signed."""
    return approve(
        gate.outbox, gate.registry, gate.policy, signed, data_key=gate.data_key, audit=lambda event, detail: None
    )


def tomorrow(gate: Gate, days: int = 1) -> Gate:
    return replace(gate, today_day=gate.today_day + days)
