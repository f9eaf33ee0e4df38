"""A request for a site's head: its own agent's, for this site and now, or the same answer for all others."""

from dataclasses import replace

import pytest

from protocol import envelope
from protocol.canonical import canonical
from protocol.errors import Code
from protocol.head_request import TOLERANCE_S, HeadRequest, check_head_request, sign_head_request
from protocol.keys import Signer
from protocol.registry import Registry
from protocol.statements import parse_statement
from tests.protocol import world
from tests.protocol.world import ORIGIN, OTHER_SITE, SITE, refused

NOW = 1_800_000_000
REQUEST = HeadRequest(ORIGIN, SITE, NOW)
LOG_SIZE = 50


def check(
    data: bytes, *, site: str = SITE, registry: Registry = world.REGISTRY, now_s: int = NOW
) -> None:
    check_head_request(data, site, registry, log_size=LOG_SIZE, now_s=now_s)


def signed(value: object, signer: Signer = world.AGENT) -> bytes:
    return envelope.sign(canonical(value), [signer], envelope.HEAD_REQUEST_TYPE)


def with_agent(**change: int) -> Registry:
    """The registry with other limits for the agent's key."""
    site = world.REGISTRY.sites[SITE]
    keys = tuple(replace(key, **change) if key.role == "agent" else key for key in site.keys)
    return replace(world.REGISTRY, sites={**world.REGISTRY.sites, SITE: replace(site, keys=keys)})


@pytest.mark.parametrize("difference", [-TOLERANCE_S, 0, TOLERANCE_S])
def test_a_sites_own_agent_may_ask_for_some_minutes(difference: int) -> None:
    check(sign_head_request(REQUEST, world.AGENT), now_s=NOW + difference)


@pytest.mark.parametrize("difference", [-TOLERANCE_S - 1, TOLERANCE_S + 1])
def test_a_request_that_somebody_kept_is_of_no_use_later(difference: int) -> None:
    with refused(Code.UNKNOWN_KEY):
        check(sign_head_request(REQUEST, world.AGENT), now_s=NOW + difference)


@pytest.mark.parametrize(
    "signer", [world.STEWARD, world.OTHER_AGENT, world.STRANGER, world.ROOT, world.LOG]
)
def test_nobody_else_may_ask(signer: Signer) -> None:
    with refused(Code.UNKNOWN_KEY):
        check(sign_head_request(REQUEST, signer))


@pytest.mark.parametrize(
    "change", [{"revoked_from": LOG_SIZE}, {"until_index": LOG_SIZE}, {"from_index": LOG_SIZE + 1}]
)
def test_a_key_that_may_not_sign_now_may_not_ask(change: dict[str, int]) -> None:
    with refused(Code.UNKNOWN_KEY):
        check(sign_head_request(REQUEST, world.AGENT), registry=with_agent(**change))


def test_a_key_that_ends_later_may_ask() -> None:
    check(sign_head_request(REQUEST, world.AGENT), registry=with_agent(until_index=LOG_SIZE + 1))


@pytest.mark.parametrize(
    "request_", [replace(REQUEST, site=OTHER_SITE), replace(REQUEST, deployment="other.example")]
)
def test_a_request_of_another_site_or_for_another_aggregator_is_refused(
    request_: HeadRequest,
) -> None:
    with refused(Code.UNKNOWN_KEY):
        check(sign_head_request(request_, world.AGENT))


def test_a_site_that_nobody_enrolled_is_refused_like_all_others() -> None:
    with refused(Code.UNKNOWN_KEY):
        check(
            sign_head_request(replace(REQUEST, site="s-zzzzzzzz"), world.STRANGER),
            site="s-zzzzzzzz",
        )


GOOD = {"schema": 1, "deployment": ORIGIN, "site": SITE, "time_s": NOW}


@pytest.mark.parametrize(
    "value",
    [
        {**GOOD, "schema": 2},
        {**GOOD, "time_s": str(NOW)},
        {**GOOD, "time_s": True},
        {**GOOD, "time_s": -1},
        {**GOOD, "note": ""},
        {name: value for name, value in GOOD.items() if name != "time_s"},
        {**GOOD, "site": "St. Example"},
        [],
        "request",
    ],
)
def test_another_form_is_refused_like_a_strangers_request(value: object) -> None:
    check(signed(GOOD))
    with refused(Code.UNKNOWN_KEY):
        check(signed(value))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        envelope.sign(b"{}", [world.AGENT]),
        envelope.sign(b"{}", [world.AGENT], envelope.REGISTRY_TYPE),
        b"x" * 4097,
    ],
)
def test_what_is_no_request_is_malformed_whatever_the_site(data: bytes) -> None:
    for site in (SITE, "s-zzzzzzzz"):
        with refused(Code.MALFORMED):
            check(data, site=site)


def test_a_request_has_one_signature() -> None:
    with refused(Code.MALFORMED):
        envelope.add_signature(
            sign_head_request(REQUEST, world.AGENT), world.STEWARD, envelope.HEAD_REQUEST_TYPE
        )


def test_a_request_is_no_statement_and_its_signature_is_none_of_a_statement() -> None:
    opened = envelope.decode(sign_head_request(REQUEST, world.AGENT), envelope.HEAD_REQUEST_TYPE)
    with refused(Code.SCHEMA):
        parse_statement(opened.payload)
    as_statement = envelope.encode(replace(opened, payload_type=envelope.STATEMENT_TYPE))
    with refused(Code.BAD_SIGNATURE):
        envelope.decode(as_statement).verify({world.AGENT.public.keyid: world.AGENT.public})


def test_a_signature_of_other_bytes_is_refused() -> None:
    opened = envelope.decode(
        signed({**GOOD, "time_s": NOW - 7 * TOLERANCE_S}), envelope.HEAD_REQUEST_TYPE
    )
    moved = envelope.encode(replace(opened, payload=canonical(GOOD)))
    with refused(Code.UNKNOWN_KEY):
        check(moved)
