"""Joining a federation: trust begins with the invite, and the registry only ever moves forward."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.cli.federation import open_federation
from agent.cli.submission_context import open_outbox
from agent.delivery.membership import (
    Federation,
    Membership,
    check_request,
    is_enrolled,
    make_request,
    post_request,
    read_invite,
    read_request_keys,
    sign_request,
)
from agent.delivery.transport import Aggregator
from agent.errors import ConfigError, DeliveryError, DisclosureError
from agent.site.directory import Site
from protocol import envelope
from protocol.enrolment import open_enrolment, token_verifier
from protocol.envelope import REGISTRY_TYPE
from protocol.errors import ProtocolError
from protocol.keys import Signer
from protocol.registry import build_registry
from tests.agent.delivery.desk import Desk, Reply
from tests.agent.delivery.whole_site import Wire, join
from tests.aggregator.conftest import Served
from tests.protocol import world

TOKEN = "7e" * 32
AGENT_KEYID = world.AGENT.public.keyid
INVITE: dict[str, Any] = {
    "schema": 1,
    "name": "A board",
    "url": "http://127.0.0.1:8750",
    "deployment": world.ORIGIN,
    "site": world.SITE,
    "site_name": "General Hospital",
    "publication": "pooled",
    "token": TOKEN,
    "root_keys": [world.ROOT.public.keyid],
    "root_threshold": 1,
    "expires_day": world.TODAY + 30,
}
MEMBERSHIP = Membership(world.ORIGIN, world.SITE, "", (world.ROOT.public.keyid,), 1)


def registry_file(version: int, *signers: Signer, **changes: Any) -> bytes:
    payload = build_registry(world.registry(version=version, **changes))
    return envelope.sign(payload, signers or (world.ROOT,), REGISTRY_TYPE)


@pytest.fixture
def membership(tmp_path: Path) -> Federation:
    made = Federation(tmp_path)
    made.join(MEMBERSHIP, AGENT_KEYID)
    return made


def write_invite(path: Path, **changes: Any) -> Path:
    path.write_text(json.dumps({**INVITE, **changes}))
    return path


def test_a_request_that_is_not_what_was_signed_here_does_not_leave(tmp_path: Path) -> None:
    invite = read_invite(write_invite(tmp_path / "invite.json"))
    half = make_request(invite, world.AGENT, world.STEWARD.public, 1)
    signed = sign_request(half, world.STEWARD)
    check_request(signed, invite, world.AGENT.public, 1)
    with pytest.raises(ConfigError, match="unknown_key"):
        check_request(half, invite, world.AGENT.public, 1)
    other = read_invite(write_invite(tmp_path / "other.json", token="5a" * 32))
    with pytest.raises(ConfigError, match="wrong_token"):
        check_request(signed, other, world.AGENT.public, 1)
    with pytest.raises(ConfigError, match="wrong_registry"):
        check_request(
            sign_request(make_request(invite, world.AGENT, world.STEWARD.public, 2), world.STEWARD),
            invite, world.AGENT.public, 1,
        )  # fmt: skip
    with pytest.raises(ConfigError, match="another site's key"):
        check_request(signed, invite, world.STEWARD.public, 1)


def test_a_request_made_from_an_invite_is_what_the_aggregator_expects(tmp_path: Path) -> None:
    invite = read_invite(write_invite(tmp_path / "invite.json"))
    half = make_request(invite, world.AGENT, world.STEWARD.public, 3)
    request = sign_request(half, world.STEWARD)
    assert sign_request(request, world.STEWARD) == request
    opened = open_enrolment(
        request,
        deployment=world.ORIGIN,
        site=world.SITE,
        verifier=token_verifier(bytes.fromhex(TOKEN)),
        registry_version=3,
    )
    assert (opened.agent, opened.steward) == (world.AGENT.public, world.STEWARD.public)
    assert read_request_keys(request) == (world.AGENT.public, world.STEWARD.public)
    assert TOKEN.encode() not in request


def test_the_request_is_not_accepted_without_the_stewards_signature(tmp_path: Path) -> None:
    invite = read_invite(write_invite(tmp_path / "invite.json"))
    half = make_request(invite, world.AGENT, world.STEWARD.public, 1)
    with pytest.raises(ProtocolError):
        open_enrolment(
            half,
            deployment=world.ORIGIN,
            site=world.SITE,
            verifier=token_verifier(bytes.fromhex(TOKEN)),
            registry_version=1,
        )
    with pytest.raises(ConfigError, match="another steward's key"):
        sign_request(half, world.OTHER_STEWARD)
    with pytest.raises(ConfigError, match="steward's key is the agent's key"):
        make_request(invite, world.AGENT, world.AGENT.public, 1)


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b"nonsense"])
def test_something_else_is_not_signed_as_a_request(data: bytes) -> None:
    with pytest.raises(ConfigError, match="not an enrolment request"):
        sign_request(data, world.STEWARD)


def test_a_submission_is_not_signed_as_a_request() -> None:
    with pytest.raises(ConfigError, match="not an enrolment request"):
        sign_request(world.signed(b'{"a":1}', world.AGENT), world.STEWARD)
    with pytest.raises(ConfigError, match="not an enrolment request"):
        sign_request(
            envelope.sign(envelope.decode(world.submission()).payload, [world.AGENT]), world.STEWARD
        )


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"token": "CANARY"}, "token"),
        ({"token": 7}, "token"),
        ({"site": "../../etc"}, "site"),
        ({"root_keys": []}, "root_keys"),
        ({"root_keys": ["x"]}, "root_keys"),
        ({"root_threshold": 0}, "root_threshold"),
        ({"schema": 2}, "schema"),
        ({"extra": 1}, "extra"),
        ({"publication": "secret"}, "publication"),
    ],
)
def test_an_invite_in_doubt_is_refused_unquoted(
    tmp_path: Path, changes: dict[str, Any], what: str
) -> None:
    with pytest.raises(ConfigError, match=what) as caught:
        read_invite(write_invite(tmp_path / "invite.json", **changes))
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"{" * 5000, b"x" * 70_000])
def test_a_file_that_is_no_invite_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "invite.json").write_bytes(content)
    with pytest.raises(ConfigError, match="invite"):
        read_invite(tmp_path / "invite.json")


def test_the_token_is_kept_in_no_file_of_the_site(
    tmp_path: Path, desk: Desk, aggregator: Aggregator
) -> None:
    invite = read_invite(write_invite(tmp_path / "invite.json"))
    membership = Federation(tmp_path / "submissions")
    (tmp_path / "submissions").mkdir()
    membership.join(replace(MEMBERSHIP, url=invite.url), AGENT_KEYID)
    request = sign_request(
        make_request(invite, world.AGENT, world.STEWARD.public, 1), world.STEWARD
    )
    membership.keep_request(request)
    post_request(aggregator, request)
    for path in (tmp_path / "submissions").rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes()
    assert all(TOKEN.encode() not in sent.body for sent in desk.seen)


def test_a_site_does_not_change_sides_unnoticed(membership: Federation) -> None:
    membership.join(
        replace(MEMBERSHIP, url="https://board.example"), AGENT_KEYID
    )  # the same again, with an address
    with pytest.raises(ConfigError, match=r"belongs to board\.example"):
        membership.join(replace(MEMBERSHIP, deployment="evil.example"), AGENT_KEYID)
    membership.take(registry_file(4), world.TODAY)
    with pytest.raises(ConfigError, match=r"belongs to board\.example"):
        membership.join(replace(MEMBERSHIP, site=world.OTHER_SITE), AGENT_KEYID)


def test_a_new_invite_takes_the_place_of_one_that_led_nowhere(
    membership: Federation, tmp_path: Path
) -> None:
    """Its id stands in the registry, with the keys of whoever was faster."""
    membership.take(registry_file(4), world.TODAY)
    membership.keep_request(b"old")
    new = replace(MEMBERSHIP, site="s-00000009")
    membership.join(new, world.STRANGER.public.keyid)
    assert membership.read_membership() == new
    assert membership.read_request() is None
    assert not list((tmp_path / "registry").iterdir())


@pytest.mark.parametrize(
    ("site", "keyid", "enrolled"),
    [
        (world.SITE, world.AGENT.public.keyid, True),
        (world.SITE, world.OTHER_AGENT.public.keyid, False),  # another site's agent
        (world.SITE, world.STEWARD.public.keyid, False),
        (world.SITE, world.STRANGER.public.keyid, False),
        (world.OTHER_SITE, world.AGENT.public.keyid, False),
    ],
)
def test_a_site_is_enrolled_by_its_own_key_alone(site: str, keyid: str, enrolled: bool) -> None:
    assert is_enrolled(world.registry(version=1), site, keyid) is enrolled


def test_without_an_invite_there_is_no_federation(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has not been enrolled"):
        Federation(tmp_path).read_registry(world.TODAY)
    Federation(tmp_path).join(MEMBERSHIP, AGENT_KEYID)
    with pytest.raises(DisclosureError, match="this site has no registry yet"):
        Federation(tmp_path).read_registry(world.TODAY)


def test_the_first_registry_needs_the_roots_of_the_invite(membership: Federation) -> None:
    with pytest.raises(DeliveryError, match="not signed by the roots"):
        membership.take(
            registry_file(1, world.STRANGER, roots=(world.STRANGER.public,)), world.TODAY
        )
    assert membership.take(registry_file(4), world.TODAY).version == 4
    assert membership.read_registry(world.TODAY).version == 4


def test_the_registry_never_goes_back_and_never_changes(membership: Federation) -> None:
    membership.take(registry_file(4), world.TODAY)
    membership.take(registry_file(5), world.TODAY)
    assert membership.take(registry_file(5), world.TODAY).version == 5
    for data, what in (
        (registry_file(4), "older than the one"),
        (registry_file(5, expires_day=world.TODAY + 7), "its content differs"),
        (registry_file(6, expires_day=world.TODAY), "expired"),
        (registry_file(6, deployment="evil.example"), "another aggregator"),
        (
            registry_file(6, world.NEW_ROOT, roots=(world.NEW_ROOT.public,)),
            "not signed by the roots|not verify",
        ),
        (b"{}", "does not verify"),
    ):
        with pytest.raises(DeliveryError, match=what):
            membership.take(data, world.TODAY)
        assert membership.read_registry(world.TODAY).version == 5


def test_an_expired_registry_is_not_used(membership: Federation) -> None:
    membership.take(registry_file(4), world.TODAY)
    with pytest.raises(DisclosureError, match="registry 4 has expired"):
        membership.read_registry(world.TODAY + 100)


def test_a_site_that_slept_walks_through_a_change_of_roots(
    membership: Federation, desk: Desk, aggregator: Aggregator
) -> None:
    new = (world.NEW_ROOT.public,)
    desk.registries = [
        registry_file(1),
        registry_file(2),
        registry_file(3, world.ROOT, world.NEW_ROOT, roots=new),
        registry_file(4, world.NEW_ROOT, roots=new),
    ]
    membership.take(desk.registries[0], world.TODAY)
    assert membership.update(aggregator, world.TODAY).version == 4
    assert membership.update(aggregator, world.TODAY).version == 4
    assert membership.read_registry(world.TODAY).roots == new


def test_a_site_that_slept_fetches_no_version_that_changed_other_things(
    membership: Federation, desk: Desk, aggregator: Aggregator
) -> None:
    desk.registries = [registry_file(version) for version in range(1, 41)]
    membership.take(desk.registries[0], world.TODAY)
    assert membership.update(aggregator, world.TODAY).version == 40
    assert [request.path for request in desk.seen] == ["/v1/registry"]


def test_a_site_that_slept_finds_each_of_several_changes_of_roots(
    membership: Federation, desk: Desk, aggregator: Aggregator
) -> None:
    roots = [world.ROOT, world.NEW_ROOT, world.STRANGER]
    for version in range(1, 61):
        number = version // 20 if version < 60 else 2
        signers = [roots[number]]
        if version in {20, 40}:
            signers = [roots[number - 1], roots[number]]
        desk.registries.append(registry_file(version, *signers, roots=(roots[number].public,)))
    membership.take(desk.registries[0], world.TODAY)
    assert membership.update(aggregator, world.TODAY).version == 60
    assert membership.read_registry(world.TODAY).roots == (world.STRANGER.public,)
    assert len(desk.seen) < 20


def test_a_change_of_roots_that_the_old_ones_did_not_sign_is_refused(
    membership: Federation, desk: Desk, aggregator: Aggregator
) -> None:
    new = (world.NEW_ROOT.public,)
    desk.registries = [registry_file(1), registry_file(2, world.NEW_ROOT, roots=new)]
    membership.take(desk.registries[0], world.TODAY)
    with pytest.raises(DeliveryError, match="not accepted"):
        membership.update(aggregator, world.TODAY)
    assert membership.read_registry(world.TODAY).version == 1


def test_a_registry_that_claims_a_version_far_away_does_not_keep_the_site_busy(
    membership: Federation, desk: Desk, aggregator: Aggregator
) -> None:
    membership.take(registry_file(1), world.TODAY)
    desk.instead = lambda _: Reply(
        registry_file(2**31 - 1, world.NEW_ROOT, roots=(world.NEW_ROOT.public,))
    )
    with pytest.raises(DeliveryError, match="not accepted"):
        membership.update(aggregator, world.TODAY)
    assert len(desk.seen) < 40
    assert membership.read_registry(world.TODAY).version == 1


@pytest.mark.parametrize("body", [b"", b"{}", b"nonsense", b"null"])
def test_an_answer_that_is_no_registry_is_not_taken(
    membership: Federation, desk: Desk, aggregator: Aggregator, body: bytes
) -> None:
    membership.take(registry_file(1), world.TODAY)
    desk.instead = lambda _: Reply(body)
    with pytest.raises(DeliveryError, match="not accepted"):
        membership.update(aggregator, world.TODAY)


def test_a_changed_registry_file_stops_everything(membership: Federation, tmp_path: Path) -> None:
    membership.take(registry_file(1), world.TODAY)
    path = tmp_path / "registry" / "00000001.dsse.json"
    path.write_bytes(registry_file(1, world.STRANGER, roots=(world.STRANGER.public,)))
    with pytest.raises(DisclosureError, match="does not verify"):
        membership.read_registry(world.TODAY)


def test_the_registry_under_which_a_link_was_made_is_found_again(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    join(site, served, wire, tmp_path)
    federation = open_federation(site)
    newest = federation.read_trusted()
    for link in open_outbox(site).list_submissions():
        assert federation.read_version(link.header.registry) == newest
    assert federation.read_version(99) is None
