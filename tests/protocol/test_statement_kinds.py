"""Every kind of statement: what is built is read back, nothing else is read, and no digest field takes a text."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol import envelope
from protocol.enrolment import open_enrolment, sign_with_token, token_verifier
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE
from protocol.keys import load_public
from protocol.predicates import (
    ABANDON_REASONS,
    MODEL_ASSURANCES,
    ORIGINS,
    RESET_REASONS,
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
from protocol.rekeying import open_rekeying
from protocol.statements import build_statement, kind_name, parse_statement
from protocol.verification import History, KnownPlan, plan_challenge
from tests.protocol.world import (
    AGENT,
    DATASETS,
    ORIGIN,
    REGISTRY,
    RESULT,
    SECOND_AGENT,
    SITE,
    STEWARD,
    TODAY,
    WARD,
    digest_of,
    refused,
    submit,
)

# Strategies for every kind, over everything its closed schema allows.

HIGHEST = 2**31 - 1
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
token_signatures = st.binary(min_size=64, max_size=64).map(bytes.hex)
digests_or_none = digests | st.just(NONE)
names = st.text("abcxyz_/.-019", min_size=1, max_size=12)
ders = st.binary(min_size=1, max_size=100)
buckets = st.integers(0, 63)
data_maps = st.dictionaries(names, digests_or_none, max_size=3)


def headers(
    seq: st.SearchStrategy[int], epoch: st.SearchStrategy[int], prev: st.SearchStrategy[str]
) -> Any:
    return st.builds(
        Header,
        deployment=st.sampled_from(["board.example", "127.0.0.1:8080", "b"]),
        site=st.text("0123456789abcxyz", min_size=8, max_size=8).map(lambda tail: f"s-{tail}"),
        epoch=epoch,
        seq=seq,
        prev=prev,
        registry=st.integers(1, HIGHEST),
        ledger=st.builds(LedgerHead, st.integers(0, HIGHEST), digests),
    )


links = headers(st.integers(1, HIGHEST), st.integers(1, HIGHEST), digests)
named = {
    "scorecard": digests,
    "model": digests,
    "agent": digests,
    "policy": digests,
    "data": data_maps,
}
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "enroll": st.builds(
        EnrollPredicate,
        headers(st.just(0), st.just(1), st.just(NONE)),
        ders,
        ders,
        token_signatures,
    ),
    "reset": st.builds(
        ResetPredicate,
        headers(st.just(0), st.integers(2, HIGHEST), digests),
        ders,
        ders,
        st.sampled_from(RESET_REASONS),
    ),
    "rotate": st.builds(RotatePredicate, links, st.sampled_from(["agent", "steward"]), ders),
    "dataset": st.builds(
        DatasetPredicate,
        links,
        digests,
        digests,
        digests,
        st.sampled_from(ORIGINS),
        digests_or_none,
        buckets,
        buckets,
        buckets,
        buckets,
    ),
    "plan": st.builds(
        PlanPredicate,
        header=links,
        **named,
        model_assurance=st.sampled_from(MODEL_ASSURANCES),
        expires_day=st.integers(0, HIGHEST),
    ),
    "abandon": st.builds(AbandonPredicate, links, digests, st.sampled_from(ABANDON_REASONS)),
    "withdraw": st.builds(WithdrawPredicate, links, digests, st.sampled_from(WITHDRAW_REASONS)),
    "result": st.builds(
        ResultPredicate,
        header=links,
        **named,
        plan=digests_or_none,
        challenge=digests_or_none,
        scores_root=digests,
        day=st.integers(0, HIGHEST),
        outcome=st.sampled_from(["complete", "partial"]),
        approval=st.sampled_from(["two_person", "exception"]),
        groups=st.dictionaries(names, buckets, max_size=3),
        cells=st.dictionaries(names, st.integers(-4, 1000), max_size=3),
        spreads=st.dictionaries(names, st.integers(-1, 25), max_size=3),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_statement_comes_out_as_it_went_in(kind: str, data: st.DataObject):
    statement = data.draw(KINDS[kind])
    payload = build_statement(statement)
    assert kind_name(statement) == kind
    assert parse_statement(payload) == statement
    assert build_statement(parse_statement(payload)) == payload


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_statement_of_one_kind_is_read_as_no_other(kind: str, data: st.DataObject):
    value = json.loads(build_statement(data.draw(KINDS[kind])))
    other = data.draw(st.sampled_from(sorted(KINDS.keys() - {kind})))
    value["predicateType"] = f"urn:intramural:{other}/v1"
    payload = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    with pytest.raises(ProtocolError) as caught:
        parse_statement(payload)
    assert caught.value.code in {Code.SCHEMA, Code.WRONG_SUBJECT}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_bent_statement_is_refused_or_is_another_statement(kind: str, data: st.DataObject):
    payload = build_statement(data.draw(KINDS[kind]))
    place = data.draw(st.integers(0, len(payload) - 1))
    bent = (
        payload[:place]
        + data.draw(st.binary(max_size=2))
        + payload[place + data.draw(st.integers(0, 2)) :]
    )
    try:
        found = parse_statement(bent)
    except ProtocolError:
        return
    assert build_statement(found) == bent  # the one form of whatever it now says


# One good statement of each kind in the small world, and ways to hand each in.

START = RESULT.header
TOKEN = b"single-use token of 32 bytes ..."
PROOF = sign_with_token(TOKEN, ORIGIN, SITE, AGENT.public, STEWARD.public)
PLAN = PlanPredicate(
    START,
    RESULT.scorecard,
    RESULT.model,
    RESULT.data,
    RESULT.agent,
    RESULT.policy,
    "weights_hashed",
    TODAY,
)
PLAN_DIGEST = digest_of(PLAN)
CHALLENGE = plan_challenge(ORIGIN, 5, bytes(32), PLAN_DIGEST)
EVERYTHING = History(
    head=None,
    datasets=DATASETS,
    plans={PLAN_DIGEST: KnownPlan(PLAN, CHALLENGE, is_open=True)},
    results={"aa" * 32},
)
SECOND_VERSION = replace(
    WARD, commitment="dd" * 32, previous=digest_of(WARD), lineage=WARD.lineage, added=WARD.units
)
SAMPLES: dict[str, Any] = {
    "enroll": EnrollPredicate(
        replace(START, seq=0, prev=NONE), AGENT.public.der, STEWARD.public.der, PROOF
    ),
    "reset": ResetPredicate(
        replace(START, seq=0, epoch=2), AGENT.public.der, STEWARD.public.der, "restored"
    ),
    "rotate": RotatePredicate(START, "agent", SECOND_AGENT.public.der),
    "dataset": SECOND_VERSION,
    "plan": PLAN,
    "abandon": AbandonPredicate(START, PLAN_DIGEST, "failed"),
    "withdraw": WithdrawPredicate(START, "aa" * 32, "consent"),
    "result": replace(RESULT, plan=PLAN_DIGEST, challenge=CHALLENGE, day=TODAY),
}


def sign(kind: str, payload: bytes) -> bytes:
    signers = (AGENT, STEWARD, SECOND_AGENT) if kind == "rotate" else (AGENT, STEWARD)
    return envelope.sign(payload, signers)


def hand_in(kind: str, data: bytes) -> object:
    """Give an envelope to whoever takes statements of its kind."""
    if kind == "enroll":
        return open_enrolment(
            data, deployment=ORIGIN, site=SITE, verifier=token_verifier(TOKEN), registry_version=9
        )
    if kind in {"reset", "rotate"}:
        return open_rekeying(data, REGISTRY, EVERYTHING, log_index=5)
    return submit(data, history=EVERYTHING)


def test_there_is_a_sample_of_every_kind():
    assert SAMPLES.keys() == KINDS.keys()
    assert {kind_name(sample) for sample in SAMPLES.values()} == set(KINDS)


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_sample_is_accepted(kind: str):
    assert hand_in(kind, sign(kind, build_statement(SAMPLES[kind])))


# D71: a text of 32 bytes in hexadecimal, in the place of each digest. Where nothing outside the site can tell, the
# gate determines the value, and the site's own audit recomputes it.

TEXT = b"Erika Mustermann, 12.08.1957 HIV".hex()
BY_THE_GATE = None

DIGEST_FIELDS: dict[str, dict[str, Code | None]] = {
    "header": {"prev": Code.WRONG_PREV, "ledger": BY_THE_GATE},
    "enroll": {
        "token_signature": Code.WRONG_TOKEN,
        "agent_key": Code.WEAK_KEY,
        "steward_key": Code.WEAK_KEY,
    },
    "reset": {"agent_key": Code.WEAK_KEY, "steward_key": Code.WEAK_KEY},
    "rotate": {"new_key": Code.WEAK_KEY},
    "dataset": {
        "definition": Code.UNKNOWN_BENCHMARK,
        "commitment": BY_THE_GATE,
        "lineage": Code.WRONG_DATASET,
        "previous": Code.WRONG_DATASET,
    },
    "plan": {
        "scorecard": Code.UNKNOWN_SCORECARD,
        "model": Code.UNKNOWN_MODEL,
        "agent": Code.UNKNOWN_AGENT,
        "policy": Code.UNKNOWN_POLICY,
        "data": Code.UNKNOWN_DATASET,
    },
    "abandon": {"plan": Code.UNKNOWN_PLAN},
    "withdraw": {"result": Code.UNKNOWN_RESULT},
    "result": {
        "scorecard": Code.UNKNOWN_SCORECARD,
        "model": Code.UNKNOWN_MODEL,
        "agent": Code.UNKNOWN_AGENT,
        "policy": Code.UNKNOWN_POLICY,
        "data": Code.UNKNOWN_DATASET,
        "plan": Code.UNKNOWN_PLAN,
        "challenge": Code.WRONG_PLAN,
        "scores_root": BY_THE_GATE,
    },
}


def digest_fields(value: object, name: str = "") -> Iterator[str]:
    """Yield the predicate's fields that hold 32 or 64 bytes of hexadecimal, or a key."""
    if isinstance(value, dict):
        for field, inner in value.items():
            yield from (name or found for found in digest_fields(inner, name or field))
    elif isinstance(value, str) and (len(value) in {64, 128} or name.endswith("_key")):
        yield name


def with_text(statement: Any, field: str) -> Any:
    """Return the statement with TEXT in the place of one digest."""
    if field == "ledger":
        return replace(statement, header=replace(statement.header, ledger=LedgerHead(1, TEXT)))
    if field == "prev":
        return replace(statement, header=replace(statement.header, prev=TEXT))
    if field == "data":
        return replace(statement, data={**statement.data, "ward": TEXT})
    if field == "token_signature":
        return replace(statement, token_signature=TEXT * 2)
    return replace(statement, **{field: bytes.fromhex(TEXT) if field.endswith("_key") else TEXT})


CASES = [
    pytest.param(kind, field, code, id=f"D71-{kind}-{field}")
    for kind, sample in SAMPLES.items()
    for field, code in {**DIGEST_FIELDS["header"], **DIGEST_FIELDS[kind]}.items()
    if not (kind == "enroll" and field == "prev")  # it is "none", by schema
]


@pytest.mark.parametrize("kind", SAMPLES)
def test_D71_no_digest_field_is_forgotten(kind: str):
    found = set(digest_fields(json.loads(build_statement(SAMPLES[kind]))["predicate"]))
    expected = DIGEST_FIELDS[kind].keys() | DIGEST_FIELDS["header"].keys()
    assert found == expected - ({"prev"} if kind == "enroll" else set())


@pytest.mark.parametrize(("kind", "field", "code"), CASES)
def test_a_text_in_hexadecimal_is_refused_where_anybody_can_tell(
    kind: str, field: str, code: Code | None
):
    data = sign(kind, build_statement(with_text(SAMPLES[kind], field)))
    if code is BY_THE_GATE:
        assert hand_in(kind, data)
    else:
        with refused(code):
            hand_in(kind, data)


def test_a_text_that_is_a_point_of_the_curve_cannot_sign():
    # Half of all texts are the x or y of some point; nobody knows its secret key.
    prefix = bytes.fromhex("302a300506032b6570032100")
    taken = 0
    for number in range(100, 1000):
        der = prefix + b"Erika Mustermann, 12.08.1957 " + str(number).encode()
        try:
            load_public(der)
        except ProtocolError:
            continue
        taken += 1
        forged = replace(SAMPLES["rotate"], new_key=der)
        with refused(Code.WRONG_KEYS):
            hand_in("rotate", sign("rotate", build_statement(forged)))
    assert taken


# Envelopes: a few thousand mutants of each kind, none accepted.


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, inner in items:
        yield (*path, step)
        yield from leaves(inner, (*path, step))


def put(value: Any, path: tuple[Any, ...], new: object) -> bytes:
    place = value
    for step in path[:-1]:
        place = place[step]
    if new is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = new
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


INSTEAD: tuple[object, ...] = (
    ...,
    None,
    True,
    -1,
    0,
    1,
    2**53,
    0.5,
    "",
    "none",
    "x",
    "ab" * 32,
    [],
    {},
    ["x"],
    {"x": 1},
)


@pytest.mark.parametrize("kind", SAMPLES)
def test_no_bit_of_an_envelope_can_flip(kind: str):
    good = sign(kind, build_statement(SAMPLES[kind]))
    hand_in(kind, good)
    # Every byte once, another bit each; base64 of the payload and of both signatures is among them.
    for place in range(len(good)):
        bent = bytearray(good)
        bent[place] ^= 1 << place % 8
        with pytest.raises(ProtocolError):
            hand_in(kind, bytes(bent))


@pytest.mark.parametrize("kind", SAMPLES)
def test_no_field_of_an_envelope_can_be_edited(kind: str):
    good = sign(kind, build_statement(SAMPLES[kind]))
    for path in leaves(json.loads(good)):
        for new in INSTEAD:
            bent = put(json.loads(good), path, new)
            with pytest.raises(ProtocolError):
                hand_in(kind, bent)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_payload_edited_after_it_was_signed_is_refused(kind: str):
    payload = build_statement(SAMPLES[kind])
    good = json.loads(sign(kind, payload))
    edited = 0
    for path in leaves(json.loads(payload)):
        for new in INSTEAD:
            bent = put(json.loads(payload), path, new)
            if bent != payload:
                data = put(good, ("payload",), envelope.encode_base64(bent))
                with pytest.raises(ProtocolError):
                    hand_in(kind, data)
                edited += 1
    assert edited > 200


@pytest.mark.full
@pytest.mark.parametrize("kind", SAMPLES)
@given(data=st.data())
@settings(max_examples=150)
def test_an_edited_payload_signed_by_both_is_refused_or_is_in_its_one_form(
    kind: str, data: st.DataObject
):
    payload = build_statement(SAMPLES[kind])
    path = data.draw(st.sampled_from(list(leaves(json.loads(payload)))))
    bent = put(json.loads(payload), path, data.draw(st.sampled_from(INSTEAD)))
    try:
        hand_in(kind, sign(kind, bent))
    except ProtocolError:
        return
    found: Statement = parse_statement(bent)
    assert build_statement(found) == bent
