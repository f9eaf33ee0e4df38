"""Who gets into the registry, and what its versions may hold."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from aggregator.errors import EnrolmentError, RegistryError, SettingsError
from aggregator.home import Home, today_day
from aggregator.registry import invites
from aggregator.registry.changes import Additions, apply, read_scorecard
from aggregator.registry.founding import found
from aggregator.registry.invites import Invite
from aggregator.registry.policies import shipped_policies
from aggregator.registry.proposals import Changes, change_now
from aggregator.registry.versions import all_envelopes, envelope_of, put_in_force, sign_next, walk
from aggregator.settings import make_settings
from aggregator.store.schema import invites as invite_table
from aggregator.store.schema import registry_versions
from protocol.enrolment import sign_with_token
from protocol.envelope import REGISTRY_TYPE, decode, sign
from protocol.errors import Code, ProtocolError
from protocol.predicates import EnrollPredicate
from protocol.registry import MAX_SITES, Model, Publication, RootPins, Site, build_registry
from protocol.statements import build_statement, parse_statement
from tests.aggregator.federation import (
    CARD,
    ORIGIN,
    TestSite,
    enrolled,
    new_home,
    new_key,
    registry_of,
)


def invited(home: Home, *, publication: Publication = "named", today: int | None = None) -> Invite:
    with home.database.writing() as connection:
        return invites.invite(
            connection,
            home,
            site_name="St. Example",
            publication=publication,
            today_day=today or today_day(),
        )


def refused(home: Home, request: bytes, *, today: int | None = None) -> Code:
    with pytest.raises(ProtocolError) as error, home.database.writing() as connection:
        invites.keep_request(
            connection, invites.open_request(connection, request, today_day=today or today_day())
        )
    return error.value.code


def test_a_new_deployment_trusts_its_own_root_alone(home: Home) -> None:
    registry = registry_of(home)
    assert registry.version == 1
    assert [key.keyid for key in registry.roots] == [
        home.root_signer(registry_of(home)).public.keyid
    ]
    assert registry.log_key.keyid == home.log_signer(registry).public.keyid
    assert registry.receipt_key.keyid == home.receipt_signer(registry).public.keyid
    assert registry.policy_floor == shipped_policies()["strict"].digest
    assert len({key.keyid for key in registry.central_keys()}) == 3


def test_an_aggregator_is_not_founded_twice_in_one_place(home: Home) -> None:
    before = registry_of(home)
    with pytest.raises(SettingsError, match="already"):
        new_home(home.directory)
    assert registry_of(home) == before


def test_a_deployment_that_cannot_be_founded_leaves_nothing(tmp_path: Path) -> None:
    for origin in ("NOT AN ORIGIN", "", "x" * 200):
        with pytest.raises(RegistryError):
            found(
                tmp_path / "new",
                make_settings({}),
                origin=origin,
                additions=Additions(),
                today_day=today_day(),
            )
    assert not (tmp_path / "new").exists()


def test_enrolment_makes_the_first_link_and_the_next_registry(home: Home) -> None:
    site = enrolled(home)
    registry = registry_of(home)
    assert registry.version == 2
    assert (registry.sites[site.id].start, registry.sites[site.id].epoch) == (site.prev, 1)
    assert {entry.key.keyid for entry in registry.sites[site.id].keys} == {
        site.agent.public.keyid,
        site.steward.public.keyid,
    }
    with home.database.reading() as connection:
        versions = all_envelopes(connection)
    pins = RootPins(
        "board.example", frozenset({home.root_signer(registry_of(home)).public.keyid}), 1
    )
    assert [step.version for step in walk(versions, pins)] == [1, 2]


def test_registries_that_stand_still_or_begin_late_are_no_history(home: Home) -> None:
    enrolled(home)
    enrolled(home, "Other")
    with home.database.reading() as connection:
        first, second, third = all_envelopes(connection)
    pins = RootPins(
        "board.example", frozenset({home.root_signer(registry_of(home)).public.keyid}), 1
    )
    for versions in (
        [first, first],
        [first, second, second, third],
        [second, third],
        [first, third],
    ):
        for trusted in (pins, None):
            with pytest.raises(ProtocolError) as error:
                walk(versions, trusted)
            assert error.value.code is Code.REGISTRY_SKIPPED


def test_a_site_that_wants_to_be_pooled_is_not_named_in_the_registry(home: Home) -> None:
    site = enrolled(home, "Secret Hospital", "pooled")
    assert registry_of(home).sites[site.id].display_name == site.id


def test_a_request_without_the_token_is_refused(home: Home) -> None:
    invite = invited(home)
    assert (
        refused(home, TestSite(invite.site).ask_to_enrol(invite, token=b"guessed"))
        is Code.WRONG_TOKEN
    )


@pytest.mark.full
def test_a_request_for_a_site_nobody_invited_says_no_more_than_a_wrong_token(home: Home) -> None:
    invite = invited(home)
    assert refused(home, TestSite("s-zzzzzzzz").ask_to_enrol(invite)) is Code.WRONG_TOKEN


def test_the_database_alone_does_not_prove_a_token(home: Home) -> None:
    """A thief of a backup has all that the aggregator keeps of the invite."""
    invite = invited(home)
    with home.database.reading() as connection:
        kept: str = connection.execute(select(invite_table.c.token_verifier)).scalar_one()
    for guess in (kept.encode(), bytes.fromhex(kept)):
        assert (
            refused(home, TestSite(invite.site).ask_to_enrol(invite, token=guess))
            is Code.WRONG_TOKEN
        )


def test_a_registry_of_more_sites_than_the_limit_is_refused_and_says_the_limit(home: Home) -> None:
    registry = registry_of(home)
    crowd = {
        f"s-{number:08d}": Site("Clinic", "pooled", "ab" * 32, ())
        for number in range(MAX_SITES + 1)
    }
    with (
        pytest.raises(RegistryError, match="at most 10000 sites"),
        home.database.writing() as connection,
    ):
        sign_next(
            connection, replace(registry, version=2, sites=crowd), [home.root_signer(registry)]
        )
    assert registry_of(home) == registry


@pytest.mark.full
def test_versions_are_stored_as_differences_and_come_out_as_they_were_signed(home: Home) -> None:
    signed = []
    registry = registry_of(home)
    root = home.root_signer(registry)
    sites = {}
    for number in range(130):
        sites[f"s-{number * 7919 % 1000:08d}"] = Site(
            f"Clinic {number}", "named", f"{number:064x}", ()
        )
        registry = replace(registry, version=registry.version + 1, sites=dict(sites))
        signed.append(sign(build_registry(registry), [root], REGISTRY_TYPE))
        with home.database.writing() as connection:
            put_in_force(connection, registry.version, signed[-1])
    with home.database.reading() as connection:
        assert all_envelopes(connection)[1:] == signed
        assert [envelope_of(connection, version) for version in (2, 64, 65, 66, 131)] == [
            signed[version - 2] for version in (2, 64, 65, 66, 131)
        ]
        stored = connection.execute(
            select(func.sum(func.length(registry_versions.c.envelope)))
        ).scalar_one()
    assert stored < sum(map(len, signed)) / 10


def test_the_token_of_another_invite_is_refused(home: Home) -> None:
    mine, theirs = invited(home), invited(home)
    request = TestSite(theirs.site).ask_to_enrol(replace(theirs, token=mine.token))
    assert refused(home, request) is Code.WRONG_TOKEN


def test_an_expired_invite_is_refused(home: Home) -> None:
    invite = invited(home)
    request = TestSite(invite.site).ask_to_enrol(invite)
    assert refused(home, request, today=invite.expires_day) is Code.WRONG_TOKEN


def test_an_invite_is_used_once(home: Home) -> None:
    invite = invited(home)
    site = TestSite(invite.site)
    request = site.ask_to_enrol(invite)
    with home.database.writing() as connection:
        asked = invites.open_request(connection, request, today_day=today_day())
        invites.keep_request(connection, asked)
        invites.keep_request(connection, asked)
    assert refused(home, TestSite(invite.site).ask_to_enrol(invite)) is Code.WRONG_TOKEN
    with home.database.writing() as connection:
        change_now(connection, home, Changes(enrolments=[asked]), today_day=today_day())
    assert refused(home, request) is Code.WRONG_TOKEN
    with (
        pytest.raises(EnrolmentError, match="is already enrolled"),
        home.database.writing() as connection,
    ):
        change_now(connection, home, Changes(enrolments=[asked]), today_day=today_day())
    assert registry_of(home).version == 2


@pytest.mark.parametrize("whose", ["root", "log", "other site's"])
def test_a_key_with_another_office_cannot_enrol(home: Home, whose: str) -> None:
    other = enrolled(home, "Other")
    registry = registry_of(home)
    keys = {
        "root": home.root_signer(registry),
        "log": home.log_signer(registry),
        "other site's": other.steward,
    }
    key = keys[whose]
    invite = invited(home)
    request = TestSite(invite.site, agent=key).ask_to_enrol(invite)
    with home.database.reading() as connection:
        asked = invites.open_request(connection, request, today_day=today_day())
    said = f"belongs to site {other.id}" if whose == "other site's" else "duplicate_key"
    with (
        pytest.raises((EnrolmentError, RegistryError), match=said),
        home.database.writing() as connection,
    ):
        change_now(connection, home, Changes(enrolments=[asked]), today_day=today_day())
    assert registry_of(home).version == 2
    assert invite.site not in registry_of(home).sites


def test_one_key_for_both_roles_cannot_enrol(home: Home) -> None:
    invite = invited(home)
    site = TestSite(invite.site)
    both = replace(site, steward=site.agent)
    payload = decode(replace(site, steward=new_key()).ask_to_enrol(invite)).payload
    statement = parse_statement(payload)
    assert isinstance(statement, EnrollPredicate)
    proof = sign_with_token(
        bytes.fromhex(invite.token), ORIGIN, site.id, site.agent.public, site.agent.public
    )
    same = replace(statement, steward_key=statement.agent_key, token_signature=proof)
    assert refused(home, sign(build_statement(same), [both.agent])) in {
        Code.DUPLICATE_KEY,
        Code.WRONG_SUBJECT,
    }


@pytest.mark.parametrize(
    "name", ["", "x" * 121, "line\nbreak", "esc\x1b[31m", "right\u202eto left"]
)
def test_a_name_that_no_registry_may_hold_gets_no_invite(home: Home, name: str) -> None:
    with pytest.raises(EnrolmentError), home.database.writing() as connection:
        invites.invite(connection, home, site_name=name, publication="named", today_day=today_day())


def test_several_additions_make_one_version(home: Home) -> None:
    before = registry_of(home)
    added = Additions(
        models=[Model("new/model", "New", "", True)],
        scorecards=[replace(CARD, version=2)],
        retired=["pilot@1"],
        agents=["0.2.0"],
    )
    with home.database.writing() as connection:
        sign_next(connection, replace(apply(before, added), version=2), [home.root_signer(before)])
    after = registry_of(home)
    assert (after.version, len(after.models), len(after.agents)) == (2, len(before.models) + 1, 2)
    assert {(known.scorecard.version, known.retired) for known in after.scorecards.values()} == {
        (1, True),
        (2, False),
    }


def test_the_same_again_is_no_change(home: Home) -> None:
    before = registry_of(home)
    assert (
        apply(before, Additions(models=list(before.models.values()), scorecards=[CARD])) is before
    )


def test_a_scorecard_never_changes_under_its_version(home: Home) -> None:
    with pytest.raises(RegistryError, match="different content"):
        apply(
            registry_of(home),
            Additions(
                scorecards=[replace(CARD, cells=CARD.cells[:1], benchmarks=CARD.benchmarks[:1])]
            ),
        )


def test_a_version_that_no_site_would_accept_is_not_signed(home: Home) -> None:
    before = registry_of(home)
    for wrong in (
        replace(before, version=3),
        replace(before, version=2, deployment="other.example"),
        replace(before, version=2, models={"0" * 64: Model("bad name", "x", "", True)}),
    ):
        with pytest.raises(RegistryError), home.database.writing() as connection:
            sign_next(connection, wrong, [home.root_signer(before)])
    with pytest.raises(RegistryError), home.database.writing() as connection:
        sign_next(connection, replace(before, version=2), [new_key()])
    assert registry_of(home) == before


def test_a_scorecard_file_with_faults_is_named(tmp_path: Path) -> None:
    card = tmp_path / "card.json"
    twice = json.dumps(CARD.to_json()).replace(
        '{"name": "pilot"', '{"name": "other", "name": "pilot"', 1
    )
    assert twice.count('"pilot"') == json.dumps(CARD.to_json()).count('"pilot"')
    assert "other" in twice
    for text in ("", "{}", "[1,", twice, json.dumps(CARD.to_json() | {"extra": 1})):
        card.write_text(text)
        with pytest.raises(SettingsError, match=r"card\.json"):
            read_scorecard(card)
    card.write_text(json.dumps(CARD.to_json()))
    assert read_scorecard(card) == CARD
