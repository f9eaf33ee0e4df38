"""Statements: the in-toto payloads of a site's chain (section 2). Closed schema, no free text, no float.

Every kind has an entry in `_KINDS`: its name, its fields, how they are read and written, and its subject.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from protocol import schema
from protocol.canonical import canonical, parse_canonical
from protocol.envelope import decode_base64, encode_base64
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE
from protocol.policy import BUCKETS
from protocol.predicates import (
    ABANDON_REASONS,
    FIRST_EPOCH,
    MODEL_ASSURANCES,
    ORIGINS,
    RESET_REASONS,
    START_SEQ,
    WITHDRAW_REASONS,
    AbandonPredicate,
    DatasetPredicate,
    EnrollPredicate,
    Header,
    LedgerHead,
    PlanPredicate,
    ResetPredicate,
    ResultPredicate,
    RotatePredicate,
    Statement,
    WithdrawPredicate,
)

STATEMENT_TYPE_URI: Final = "https://in-toto.io/Statement/v1"
SCHEMA_VERSION: Final = 2
_UNRELEASED_SCHEMA: Final = 1

_MAX_INTEGER = 2**31 - 1
_STATEMENT = frozenset({"_type", "subject", "predicateType", "predicate"})
_HEADER = frozenset({"schema", "deployment", "site", "epoch", "seq", "prev", "registry", "ledger"})
_HEADER_NAMES = tuple(sorted(_HEADER - {"schema", "ledger"}))
_LEDGER = frozenset({"length", "head"})

_Fields = dict[str, object]


@dataclass(frozen=True, slots=True)
class _Kind:
    """The serialisation of one kind of statement.

    Attributes:
        uri: its predicateType.
        fields: names of the predicate's fields, apart from the header's.
        starts: whether it is link 0 of an epoch.
        write: function that returns these fields of a predicate.
        read: function that returns the predicate for a header and these fields.
        subject: function that returns name -> digest for everything a predicate is about.
    """

    uri: str
    fields: frozenset[str]
    starts: bool
    write: Callable[[Any], Mapping[str, object]]
    read: Callable[[Header, _Fields], Statement]
    subject: Callable[[Any], Mapping[str, str]]


def build_statement(predicate: Statement) -> bytes:
    """Return the canonical payload of a statement. Its subject is derived from the predicate."""
    kind = _KINDS[type(predicate)]
    header = predicate.header
    fields: _Fields = {
        "schema": SCHEMA_VERSION,
        "deployment": header.deployment,
        "site": header.site,
        "epoch": header.epoch,
        "seq": header.seq,
        "prev": header.prev,
        "registry": header.registry,
        "ledger": {"length": header.ledger.length, "head": header.ledger.head},
    }
    return canonical(
        {
            "_type": STATEMENT_TYPE_URI,
            "subject": _subject(kind, predicate),
            "predicateType": kind.uri,
            "predicate": fields | dict(kind.write(predicate)),
        }
    )


def parse_statement(payload: bytes) -> Statement:
    """Parse a payload: strict canonical JSON with a closed schema.

    Raises:
        ProtocolError: TOO_DEEP, BAD_JSON, DUPLICATE_NAME, BAD_NUMBER, BAD_TEXT, NOT_CANONICAL, SCHEMA, OLD_SCHEMA,
            WRONG_TYPE or WRONG_SUBJECT.
    """
    found = schema.record(parse_canonical(payload), _STATEMENT, "statement")
    kind = next((kind for kind in _KINDS.values() if kind.uri == found["predicateType"]), None)
    if kind is None:
        raise ProtocolError(Code.WRONG_TYPE, "this version does not know the predicateType")
    _refuse_old_schema(found["predicate"])
    fields = schema.record(found["predicate"], _HEADER | kind.fields, kind.uri.rpartition(":")[2])
    statement = kind.read(_read_header(fields, kind), fields)
    if found["_type"] != STATEMENT_TYPE_URI:
        raise ProtocolError(Code.WRONG_TYPE, f"_type is not {STATEMENT_TYPE_URI}")
    if found["subject"] != _subject(kind, statement):
        raise ProtocolError(Code.WRONG_SUBJECT, "the subject does not match the predicate")
    return statement


def reread_statement(payload: bytes) -> Statement:
    """Parse a payload that `parse_statement` accepted before and that is known to be unchanged.

    Results are not checked again, as a log may contain 50,000 of them.
    """
    fields = json.loads(payload)["predicate"]
    if "scores_root" not in fields:
        return parse_statement(payload)
    ledger = fields.pop("ledger")
    header = {name: fields.pop(name) for name in _HEADER_NAMES}
    del fields["schema"]
    return ResultPredicate(Header(**header, ledger=LedgerHead(**ledger)), **fields)


def kind_name(predicate: Statement) -> str:
    """Return the short name of a statement's kind, for example `result`."""
    return _KINDS[type(predicate)].uri.rpartition(":")[2].removesuffix("/v1")


def _subject(kind: _Kind, predicate: Statement) -> list[_Fields]:
    return [
        {"name": name, "digest": {"sha256": value}}
        for name, value in kind.subject(predicate).items()
    ]


def _refuse_old_schema(predicate: object) -> None:
    if isinstance(predicate, dict) and schema.is_number(
        predicate.get("schema"), _UNRELEASED_SCHEMA
    ):
        raise ProtocolError(
            Code.OLD_SCHEMA,
            "the statement was written by an unreleased version (schema 1), which released versions "
            "cannot read; create a new one",
        )


def _read_header(found: _Fields, kind: _Kind) -> Header:
    schema.integer(found["schema"], "schema", SCHEMA_VERSION, SCHEMA_VERSION)
    is_enrolment = kind.uri == ENROLL
    lowest_seq, highest_seq = (
        (START_SEQ, START_SEQ) if kind.starts else (START_SEQ + 1, _MAX_INTEGER)
    )
    lowest_epoch = FIRST_EPOCH + 1 if kind.uri == RESET else FIRST_EPOCH
    ledger = schema.record(found["ledger"], _LEDGER, "ledger")
    return Header(
        deployment=schema.text(found["deployment"], "deployment", schema.ORIGIN),
        site=schema.text(found["site"], "site", schema.SITE),
        epoch=schema.integer(
            found["epoch"], "epoch", lowest_epoch, FIRST_EPOCH if is_enrolment else _MAX_INTEGER
        ),
        seq=schema.integer(found["seq"], "seq", lowest_seq, highest_seq),
        prev=schema.choice(found["prev"], "prev", (NONE,))
        if is_enrolment
        else _digest(found, "prev"),
        registry=schema.integer(found["registry"], "registry", 1, _MAX_INTEGER),
        ledger=LedgerHead(
            schema.integer(ledger["length"], "ledger.length", 0, _MAX_INTEGER),
            _digest(ledger, "head"),
        ),
    )


def _digest(found: _Fields, name: str) -> str:
    return schema.text(found[name], name, schema.HEX64)


def _digest_or_none(found: _Fields, name: str) -> str:
    return schema.text(found[name], name, schema.HEX64_OR_NONE)


def _data(found: _Fields) -> dict[str, str]:
    data = schema.mapping(found["data"], "data")
    return {name: _digest_or_none(data, name) for name in data}


def _integers(found: _Fields, name: str, low: int, high: int) -> dict[str, int]:
    # The valid keys depend on the scorecard. An invalid key may be free text, so errors do not quote it.
    return {
        key: schema.integer(value, f"a value of {name}", low, high)
        for key, value in schema.mapping(found[name], name).items()
    }


def _bucket(found: _Fields, name: str) -> int:
    return schema.integer(found[name], name, 0, len(BUCKETS) - 1)


_HEX128: Final = re.compile(r"[0-9a-f]{128}")  # an Ed25519 signature


def _key_digest(der: bytes) -> str:
    return hashlib.sha256(der).hexdigest()


def _read_enroll(header: Header, found: _Fields) -> EnrollPredicate:
    return EnrollPredicate(
        header=header,
        agent_key=decode_base64(found["agent_key"], "agent_key"),
        steward_key=decode_base64(found["steward_key"], "steward_key"),
        token_signature=schema.text(found["token_signature"], "token_signature", _HEX128),
    )


def _write_enroll(predicate: EnrollPredicate) -> _Fields:
    return {
        "agent_key": encode_base64(predicate.agent_key),
        "steward_key": encode_base64(predicate.steward_key),
        "token_signature": predicate.token_signature,
    }


def _read_reset(header: Header, found: _Fields) -> ResetPredicate:
    return ResetPredicate(
        header=header,
        agent_key=decode_base64(found["agent_key"], "agent_key"),
        steward_key=decode_base64(found["steward_key"], "steward_key"),
        reason=schema.choice(found["reason"], "reason", RESET_REASONS),
    )


def _write_reset(predicate: ResetPredicate) -> _Fields:
    return {
        "agent_key": encode_base64(predicate.agent_key),
        "steward_key": encode_base64(predicate.steward_key),
        "reason": predicate.reason,
    }


def _both_keys(predicate: EnrollPredicate | ResetPredicate) -> dict[str, str]:
    return {
        "agent_key": _key_digest(predicate.agent_key),
        "steward_key": _key_digest(predicate.steward_key),
    }


def _read_rotate(header: Header, found: _Fields) -> RotatePredicate:
    return RotatePredicate(
        header=header,
        role=schema.choice(found["role"], "role", ("agent", "steward")),
        new_key=decode_base64(found["new_key"], "new_key"),
    )


def _read_dataset(header: Header, found: _Fields) -> DatasetPredicate:
    return DatasetPredicate(
        header=header,
        definition=_digest(found, "definition"),
        commitment=_digest(found, "commitment"),
        lineage=_digest(found, "lineage"),
        origin=schema.choice(found["origin"], "origin", ORIGINS),
        previous=_digest_or_none(found, "previous"),
        units=_bucket(found, "units"),
        added=_bucket(found, "added"),
        removed=_bucket(found, "removed"),
        changed=_bucket(found, "changed"),
    )


def _write_dataset(predicate: DatasetPredicate) -> _Fields:
    return {
        "definition": predicate.definition,
        "commitment": predicate.commitment,
        "lineage": predicate.lineage,
        "origin": predicate.origin,
        "previous": predicate.previous,
        "units": predicate.units,
        "added": predicate.added,
        "removed": predicate.removed,
        "changed": predicate.changed,
    }


def _read_plan(header: Header, found: _Fields) -> PlanPredicate:
    return PlanPredicate(
        header=header,
        scorecard=_digest(found, "scorecard"),
        model=_digest(found, "model"),
        data=_data(found),
        agent=_digest(found, "agent"),
        policy=_digest(found, "policy"),
        model_assurance=schema.choice(
            found["model_assurance"], "model_assurance", MODEL_ASSURANCES
        ),
        expires_day=schema.integer(found["expires_day"], "expires_day", 0, _MAX_INTEGER),
    )


def _write_plan(predicate: PlanPredicate) -> _Fields:
    return {
        "scorecard": predicate.scorecard,
        "model": predicate.model,
        "data": dict(predicate.data),
        "agent": predicate.agent,
        "policy": predicate.policy,
        "model_assurance": predicate.model_assurance,
        "expires_day": predicate.expires_day,
    }


def _read_abandon(header: Header, found: _Fields) -> AbandonPredicate:
    return AbandonPredicate(
        header, _digest(found, "plan"), schema.choice(found["reason"], "reason", ABANDON_REASONS)
    )


def _read_withdraw(header: Header, found: _Fields) -> WithdrawPredicate:
    return WithdrawPredicate(
        header, _digest(found, "result"), schema.choice(found["reason"], "reason", WITHDRAW_REASONS)
    )


def _read_result(header: Header, found: _Fields) -> ResultPredicate:
    return ResultPredicate(
        header=header,
        scorecard=_digest(found, "scorecard"),
        model=_digest(found, "model"),
        agent=_digest(found, "agent"),
        policy=_digest(found, "policy"),
        data=_data(found),
        plan=_digest_or_none(found, "plan"),
        challenge=_digest_or_none(found, "challenge"),
        scores_root=_digest(found, "scores_root"),
        day=schema.integer(found["day"], "day", 0, _MAX_INTEGER),
        outcome=schema.choice(found["outcome"], "outcome", ("complete", "partial")),
        approval=schema.choice(found["approval"], "approval", ("two_person", "exception")),
        groups=_integers(found, "groups", 0, len(BUCKETS) - 1),
        cells=_integers(found, "cells", -4, 1000),
        spreads=_integers(found, "spreads", -1, 25),
    )


def _write_result(predicate: ResultPredicate) -> _Fields:
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


def _model_and_scorecard(predicate: PlanPredicate | ResultPredicate) -> dict[str, str]:
    return {"model": predicate.model, "scorecard": predicate.scorecard}


ENROLL: Final = "urn:intramural:enroll/v1"
RESET: Final = "urn:intramural:reset/v1"
ROTATE: Final = "urn:intramural:rotate/v1"
DATASET: Final = "urn:intramural:dataset/v1"
PLAN: Final = "urn:intramural:plan/v1"
ABANDON: Final = "urn:intramural:abandon/v1"
WITHDRAW: Final = "urn:intramural:withdraw/v1"
RESULT: Final = "urn:intramural:result/v1"

_KINDS: Final[Mapping[type[Statement], _Kind]] = {
    EnrollPredicate: _Kind(
        uri=ENROLL,
        fields=frozenset({"agent_key", "steward_key", "token_signature"}),
        starts=True,
        write=_write_enroll,
        read=_read_enroll,
        subject=_both_keys,
    ),
    ResetPredicate: _Kind(
        uri=RESET,
        fields=frozenset({"agent_key", "steward_key", "reason"}),
        starts=True,
        write=_write_reset,
        read=_read_reset,
        subject=_both_keys,
    ),
    RotatePredicate: _Kind(
        uri=ROTATE,
        fields=frozenset({"role", "new_key"}),
        starts=False,
        write=lambda predicate: {
            "role": predicate.role,
            "new_key": encode_base64(predicate.new_key),
        },
        read=_read_rotate,
        subject=lambda predicate: {"new_key": _key_digest(predicate.new_key)},
    ),
    DatasetPredicate: _Kind(
        uri=DATASET,
        fields=frozenset(
            {
                *("definition", "commitment", "lineage", "origin", "previous"),
                *("units", "added", "removed", "changed"),
            }
        ),
        starts=False,
        write=_write_dataset,
        read=_read_dataset,
        subject=lambda predicate: {"dataset": predicate.commitment},
    ),
    PlanPredicate: _Kind(
        uri=PLAN,
        fields=frozenset(
            {"scorecard", "model", "data", "agent", "policy", "model_assurance", "expires_day"}
        ),
        starts=False,
        write=_write_plan,
        read=_read_plan,
        subject=_model_and_scorecard,
    ),
    AbandonPredicate: _Kind(
        uri=ABANDON,
        fields=frozenset({"plan", "reason"}),
        starts=False,
        write=lambda predicate: {"plan": predicate.plan, "reason": predicate.reason},
        read=_read_abandon,
        subject=lambda predicate: {"plan": predicate.plan},
    ),
    WithdrawPredicate: _Kind(
        uri=WITHDRAW,
        fields=frozenset({"result", "reason"}),
        starts=False,
        write=lambda predicate: {"result": predicate.result, "reason": predicate.reason},
        read=_read_withdraw,
        subject=lambda predicate: {"result": predicate.result},
    ),
    ResultPredicate: _Kind(
        uri=RESULT,
        fields=frozenset(
            {
                *(
                    "scorecard",
                    "model",
                    "agent",
                    "policy",
                    "data",
                    "plan",
                    "challenge",
                    "scores_root",
                    "day",
                ),
                *("outcome", "approval", "groups", "cells", "spreads"),
            }
        ),
        starts=False,
        write=_write_result,
        read=_read_result,
        subject=_model_and_scorecard,
    ),
}
