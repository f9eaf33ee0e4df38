"""A small world with fixed keys: one registry, two sites, one scorecard, and ways to bend a submission."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from protocol import envelope
from protocol.cell_codes import SUPPRESSED
from protocol.checkpoint import LogKey
from protocol.disclosure import NO_SPREAD
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE, agent_digest, model_digest
from protocol.keys import Ed25519Signer, P256Signer, Signer
from protocol.policy import DisclosurePolicy, bucket_of
from protocol.predicates import DatasetPredicate, Header, ResultPredicate, Statement
from protocol.registry import Model, RegisteredScorecard, Registry, Site, SiteKey
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from protocol.statements import build_statement
from protocol.verification import Accepted, History, authenticate, verify_link

TODAY = 20_700
ORIGIN = "board.example"
SITE, OTHER_SITE = "s-aaaaaaa1", "s-bbbbbbb2"
ENROLMENT, OTHER_ENROLMENT = "e1" * 32, "e2" * 32


def ed25519_signer(seed: int) -> Ed25519Signer:
    return Ed25519Signer(ed25519.Ed25519PrivateKey.from_private_bytes(seed.to_bytes(32, "big")))


def p256_signer(secret: int) -> P256Signer:
    return P256Signer(ec.derive_private_key(secret, ec.SECP256R1()))


AGENT, STEWARD = ed25519_signer(1), p256_signer(2)
OTHER_AGENT, OTHER_STEWARD = ed25519_signer(3), ed25519_signer(4)
ROOT, NEW_ROOT, LOG, STRANGER, SECOND_AGENT, RECEIPT = (
    ed25519_signer(seed) for seed in (5, 6, 7, 8, 9, 10)
)

LOG_KEYS = (LogKey(LOG.public),)

STRICT = DisclosurePolicy(
    name="strict",
    version=1,
    min_units=11,
    min_events=11,
    grid_units=5,
    perturbation_units=2,
    metrics_per_group=1,
    variables_per_benchmark=2,
    margin_hidden=2,
    dominance_n=2,
    dominance_percent=90,
    p_percent=10,
    max_share_percent=10,
    changed_units=11,
    monthly_submissions=4,
    pooled_sites=3,
    pooled_share_percent=85,
)
STRICTER = replace(STRICT, name="stricter", min_units=200)


def cell(benchmark: str, metric: str, subgroup: str | None = None, *, binary: bool = True) -> Cell:
    return Cell(
        benchmark, metric, subgroup, "public" if benchmark == "exam" else "private", binary, 0, 1
    )


SCORECARD = Scorecard(
    name="small",
    version=1,
    benchmarks=(
        BenchmarkEntry("exam", "An exam", "Knowledge", "ab" * 32),
        BenchmarkEntry("ward", "A ward's letters", "Documentation", "cd" * 32),
        BenchmarkEntry("notes", "A ward's notes", "Documentation", "ef" * 32),
    ),
    cells=(
        cell("exam", "exact_match"),
        cell("ward", "exact_match"),
        cell("ward", "exact_match", "sex.female"),
        cell("ward", "exact_match", "sex.male"),
        cell("ward", "rouge_l", binary=False),
        cell("notes", "rouge_l", binary=False),
    ),
)
RETIRED = replace(SCORECARD, version=2)
MODEL = Model("qwen/qwen2.5-7b-instruct", "Qwen 2.5 7B", "Qwen", is_language_model=True)


def registry(**changes: Any) -> Registry:
    base = Registry(
        version=9,
        expires_day=TODAY + 100,
        deployment=ORIGIN,
        roots=(ROOT.public,),
        threshold=1,
        log_name=ORIGIN,
        log_keys=LOG_KEYS,
        receipt_key=RECEIPT.public,
        policy_floor=STRICT.digest,
        sites={
            SITE: Site(
                "General Hospital",
                "named",
                ENROLMENT,
                (SiteKey(AGENT.public, "agent"), SiteKey(STEWARD.public, "steward")),
            ),
            OTHER_SITE: Site(
                "Städtisches Klinikum",
                "pooled",
                OTHER_ENROLMENT,
                (SiteKey(OTHER_AGENT.public, "agent"), SiteKey(OTHER_STEWARD.public, "steward")),
            ),
        },
        scorecards={
            SCORECARD.digest: RegisteredScorecard(SCORECARD),
            RETIRED.digest: RegisteredScorecard(RETIRED, retired=True),
        },
        policies={policy.digest: policy for policy in (STRICT, STRICTER)},
        agents={agent_digest("0.1.0"): "0.1.0"},
        models={model_digest(MODEL.name): MODEL},
    )
    return replace(base, **changes)


REGISTRY = registry()


def dataset(seq: int = 1, prev: str = ENROLMENT, **changes: Any) -> DatasetPredicate:
    """Return the statement of a first version of the ward's dataset, with some fields replaced."""
    base = DatasetPredicate(
        header=Header(ORIGIN, SITE, epoch=1, seq=seq, prev=prev, registry=9),
        definition="cd" * 32,
        commitment="da" * 32,
        lineage="da" * 32,
        origin="own",
        previous=NONE,
        units=bucket_of(10_000),
        added=0,
        removed=0,
        changed=0,
    )
    return replace(base, **changes)


def digest_of(statement: Statement) -> str:
    """Return the digest by which later statements name this one."""
    return envelope.digest(build_statement(statement))


WARD = dataset()
NOTES = dataset(seq=2, definition="ef" * 32, commitment="db" * 32, lineage="db" * 32)
DATASETS = {digest_of(WARD): WARD, digest_of(NOTES): NOTES}
HISTORY = History(head=None, datasets=DATASETS)
"""Both datasets are known, although no link is: so that RESULT can be the first one."""

RESULT = ResultPredicate(
    header=Header(ORIGIN, SITE, epoch=1, seq=1, prev=ENROLMENT, registry=9),
    scorecard=SCORECARD.digest,
    model=model_digest(MODEL.name),
    agent=agent_digest("0.1.0"),
    policy=STRICT.digest,
    data={"exam": NONE, "ward": digest_of(WARD), "notes": digest_of(NOTES)},
    plan=NONE,
    challenge=NONE,
    scores_root="5c" * 32,
    day=TODAY - 1,
    outcome="complete",
    approval="two_person",
    groups={
        "exam": bucket_of(8),
        "ward": bucket_of(200),
        "ward/sex.female": bucket_of(90),
        "ward/sex.male": bucket_of(110),
        "notes": bucket_of(200),
    },
    cells={
        "exam/exact_match": 875,
        "ward/exact_match": 720,
        "ward/exact_match/sex.female": 700,
        "ward/exact_match/sex.male": 750,
        "ward/rouge_l": SUPPRESSED,  # the second figure of its group, which the policy keeps in
        "notes/rouge_l": 640,
    },
    spreads={"ward/rouge_l": NO_SPREAD, "notes/rouge_l": 12},
)


def result(header: dict[str, Any] | None = None, **changes: Any) -> ResultPredicate:
    """RESULT with some fields replaced; for the maps, with some entries replaced."""
    for name in ("groups", "cells", "spreads", "data"):
        if name in changes:
            changes[name] = {**getattr(RESULT, name), **changes[name]}
    return replace(RESULT, header=replace(RESULT.header, **(header or {})), **changes)


def signed(payload: bytes, *signers: Signer) -> bytes:
    return envelope.sign(payload, signers or (AGENT, STEWARD))


def submission(header: dict[str, Any] | None = None, **changes: Any) -> bytes:
    return signed(build_statement(result(header, **changes)))


def edited_payload(edit: Callable[[dict[str, Any]], object]) -> bytes:
    """The valid payload after `edit` changed its JSON value, in canonical form as far as Python's own encoder goes."""
    value = json.loads(build_statement(RESULT))
    edit(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def submit(
    data: bytes,
    known: Registry = REGISTRY,
    history: History = HISTORY,
    today: int = TODAY,
    index: int = 5,
) -> Accepted:
    authentic = authenticate(data, known, log_index=index)
    return verify_link(authentic, known, history, today_day=today)


@contextmanager
def refused(code: Code) -> Iterator[None]:
    """The block must raise a ProtocolError with exactly this code."""
    with pytest.raises(ProtocolError) as caught:
        yield
    assert caught.value.code is code, caught.value
