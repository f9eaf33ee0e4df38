"""Statements: the in-toto payloads of a site's chain (section 2). Closed schema, no free text, no float."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from protocol import schema
from protocol.canonical import canonical, parse_canonical
from protocol.envelope import decode_base64, encode_base64
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE
from protocol.policy import BUCKETS

STATEMENT_TYPE_URI = "https://in-toto.io/Statement/v1"
ENROLL = "urn:intramural:enroll/v1"
RESULT = "urn:intramural:result/v1"
SCHEMA_VERSION = 1

FIRST_EPOCH = 1
ENROLL_SEQ = 0  # the enrolment is link 0 of the chain; the first result is link 1


@dataclass(frozen=True, slots=True)
class Header:
    """A link of the site's chain.

    Attributes:
        deployment: the aggregator's origin, for example `board.example`.
        site: `s-` and 8 of [0-9a-z].
        epoch, seq: place in the chain; epoch starts at 1, the enrolment is seq 0.
        prev: digest of the previous accepted link, 64 hex digits; `none` for the enrolment.
        registry: registry version used.
    """

    deployment: str
    site: str
    epoch: int
    seq: int
    prev: str
    registry: int


@dataclass(frozen=True, slots=True)
class EnrollPredicate:
    """A site's two public keys (DER) and the proof that it holds the invite's token (see `protocol.enrolment`)."""

    header: Header
    agent_key: bytes
    steward_key: bytes
    token_mac: str


@dataclass(frozen=True, slots=True)
class ResultPredicate:
    """One site's figures for one model and one scorecard.

    Attributes:
        scorecard, model, agent, policy: registered digests.
        data: for each benchmark the registered commitment of the site's dataset, or `none`.
        plan, challenge: digests, or `none` for an unplanned result.
        scores_root: salted Merkle root over the score records, 64 hex digits.
        day: days since 1970-01-01 UTC.
        outcome: `complete`, or `partial`: a benchmark was not run, or not on its whole data, a run stopped early, or
            more than 5 % of a benchmark's questions have no score.
        approval: `two_person` or `exception`.
        groups: group key -> bucket, 0 to 63.
        cells: cell key -> 0 to 1000, or a negative code.
        spreads: key of a non-binary cell -> 0 to 25, or -1.
    """

    header: Header
    scorecard: str
    model: str
    agent: str
    policy: str
    data: Mapping[str, str]
    plan: str
    challenge: str
    scores_root: str
    day: int
    outcome: str
    approval: str
    groups: Mapping[str, int]
    cells: Mapping[str, int]
    spreads: Mapping[str, int]


Statement = EnrollPredicate | ResultPredicate


_STATEMENT = frozenset({"_type", "subject", "predicateType", "predicate"})
_HEADER = frozenset({"schema", "deployment", "site", "epoch", "seq", "prev", "registry"})
_ENROLL = _HEADER | {"agent_key", "steward_key", "token_mac"}
_RESULT = _HEADER | {
    *("scorecard", "model", "agent", "policy", "data", "plan", "challenge", "scores_root", "day"),
    *("outcome", "approval", "groups", "cells", "spreads"),
}


def build_statement(predicate: Statement) -> bytes:
    """Return the canonical payload. The subject (model and scorecard, or the two keys) follows from the predicate."""
    match predicate:
        case EnrollPredicate():
            kind, body = ENROLL, _enroll_body(predicate)
        case ResultPredicate():
            kind, body = RESULT, _result_body(predicate)
    header = predicate.header
    fields: dict[str, object] = {
        "schema": SCHEMA_VERSION,
        "deployment": header.deployment,
        "site": header.site,
        "epoch": header.epoch,
        "seq": header.seq,
        "prev": header.prev,
        "registry": header.registry,
    }
    return canonical(
        {
            "_type": STATEMENT_TYPE_URI,
            "subject": _subject(predicate),
            "predicateType": kind,
            "predicate": fields | body,
        }
    )


def _subject(predicate: Statement) -> list[dict[str, object]]:
    named: dict[str, str]
    match predicate:
        case EnrollPredicate():
            named = {
                "agent_key": hashlib.sha256(predicate.agent_key).hexdigest(),
                "steward_key": hashlib.sha256(predicate.steward_key).hexdigest(),
            }
        case ResultPredicate():
            named = {"model": predicate.model, "scorecard": predicate.scorecard}
    return [{"name": name, "digest": {"sha256": value}} for name, value in named.items()]


def _enroll_body(predicate: EnrollPredicate) -> dict[str, object]:
    return {
        "agent_key": encode_base64(predicate.agent_key),
        "steward_key": encode_base64(predicate.steward_key),
        "token_mac": predicate.token_mac,
    }


def _result_body(predicate: ResultPredicate) -> dict[str, object]:
    return {
        "scorecard": predicate.scorecard,
        "model": predicate.model,
        "agent": predicate.agent,
        "policy": predicate.policy,
        "data": dict(predicate.data),
        "plan": predicate.plan,
        "challenge": predicate.challenge,
        "scores_root": predicate.scores_root,
        "day": predicate.day,
        "outcome": predicate.outcome,
        "approval": predicate.approval,
        "groups": dict(predicate.groups),
        "cells": dict(predicate.cells),
        "spreads": dict(predicate.spreads),
    }


def parse_statement(payload: bytes) -> Statement:
    """Read a payload: strict canonical JSON, closed schema.

    Raises:
        ProtocolError: TOO_DEEP, BAD_JSON, DUPLICATE_NAME, BAD_NUMBER, BAD_TEXT, NOT_CANONICAL, SCHEMA, WRONG_TYPE or
            WRONG_SUBJECT.
    """
    found = schema.record(parse_canonical(payload), _STATEMENT, "statement")
    statement: Statement
    match found["predicateType"]:
        case "urn:intramural:enroll/v1":
            statement = _parse_enroll(schema.record(found["predicate"], _ENROLL, "enroll/v1"))
        case "urn:intramural:result/v1":
            statement = _parse_result(schema.record(found["predicate"], _RESULT, "result/v1"))
        case _:
            raise ProtocolError(Code.WRONG_TYPE, "predicateType is neither enroll/v1 nor result/v1")
    if found["_type"] != STATEMENT_TYPE_URI:
        raise ProtocolError(Code.WRONG_TYPE, f"_type is not {STATEMENT_TYPE_URI}")
    if found["subject"] != _subject(statement):
        raise ProtocolError(Code.WRONG_SUBJECT, "the subject is not what the predicate is about")
    return statement


def _header(found: dict[str, object], *, first: bool) -> Header:
    schema.integer(found["schema"], "schema", SCHEMA_VERSION, SCHEMA_VERSION)
    return Header(
        deployment=schema.text(found["deployment"], "deployment", schema.ORIGIN),
        site=schema.text(found["site"], "site", schema.SITE),
        epoch=schema.integer(found["epoch"], "epoch", FIRST_EPOCH, FIRST_EPOCH if first else 2**31 - 1),
        seq=schema.integer(found["seq"], "seq", *((ENROLL_SEQ, ENROLL_SEQ) if first else (1, 2**31 - 1))),
        prev=schema.choice(found["prev"], "prev", (NONE,)) if first else _digest(found, "prev"),
        registry=schema.integer(found["registry"], "registry", 1, 2**31 - 1),
    )


def _digest(found: dict[str, object], name: str) -> str:
    return schema.text(found[name], name, schema.HEX64)


def _digest_or_none(found: dict[str, object], name: str) -> str:
    return schema.text(found[name], name, schema.HEX64_OR_NONE)


def _parse_enroll(found: dict[str, object]) -> EnrollPredicate:
    return EnrollPredicate(
        header=_header(found, first=True),
        agent_key=decode_base64(found["agent_key"], "agent_key"),
        steward_key=decode_base64(found["steward_key"], "steward_key"),
        token_mac=_digest(found, "token_mac"),
    )


def _parse_result(found: dict[str, object]) -> ResultPredicate:
    data = schema.mapping(found["data"], "data")
    return ResultPredicate(
        header=_header(found, first=False),
        scorecard=_digest(found, "scorecard"),
        model=_digest(found, "model"),
        agent=_digest(found, "agent"),
        policy=_digest(found, "policy"),
        data={name: _digest_or_none(data, name) for name in data},
        plan=_digest_or_none(found, "plan"),
        challenge=_digest_or_none(found, "challenge"),
        scores_root=_digest(found, "scores_root"),
        day=schema.integer(found["day"], "day", 0, 2**31 - 1),
        outcome=schema.choice(found["outcome"], "outcome", ("complete", "partial")),
        approval=schema.choice(found["approval"], "approval", ("two_person", "exception")),
        groups=_integers(found, "groups", 0, len(BUCKETS) - 1),
        cells=_integers(found, "cells", -4, 1000),
        spreads=_integers(found, "spreads", -1, 25),
    )


def _integers(found: dict[str, object], name: str, low: int, high: int) -> dict[str, int]:
    # Which keys are right depends on the scorecard; an unknown key is reported without being quoted, as it may be text.
    return {
        key: schema.integer(value, f"a value of {name}", low, high)
        for key, value in schema.mapping(found[name], name).items()
    }
