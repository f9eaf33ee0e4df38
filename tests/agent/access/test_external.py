"""People for whom a provider or a proxy vouches: by their identifier, never by a name that they may choose."""

import pytest

from agent.access.accounts import add_account, lock_account
from agent.access.external import ExternalIdentity, is_same_person, sign_in_external
from agent.access.refusals import UnknownPersonError
from agent.access.sessions import SessionLimits, open_session, read_session
from agent.store import Account, Origin, Role, Store
from tests.agent.access.people import NOW, events, read_again

ROLES = {"wards": Role.VIEWER, "science": Role.DATA_SCIENTIST}


def dora(*groups: str, subject: str = "sub-1", name: str = "dora") -> ExternalIdentity:
    return ExternalIdentity(Origin.OIDC, subject, name, frozenset(groups))


def refuse(store: Store, identity: ExternalIdentity, roles: dict[str, Role]) -> UnknownPersonError:
    with pytest.raises(UnknownPersonError) as refused:
        sign_in_external(store, identity, roles, NOW)
    return refused.value


def test_someone_new_gets_the_roles_of_their_groups(store: Store):
    account = sign_in_external(store, dora("wards", "science", "choir"), ROLES, NOW)
    assert (account.name, account.roles, account.origin) == (
        "dora",
        {Role.VIEWER, Role.DATA_SCIENTIST},
        Origin.OIDC,
    )
    assert is_same_person(store, account, dora())
    assert not is_same_person(store, account, dora(subject="sub-2"))


def test_a_group_that_is_left_takes_its_role_and_the_last_one_ends_the_sessions(
    store: Store, session_limits: SessionLimits
):
    account = sign_in_external(store, dora("wards", "science"), ROLES, NOW)
    cookie = open_session(store, account, NOW)
    assert sign_in_external(store, dora("wards"), ROLES, NOW).roles == {Role.VIEWER}
    session = read_session(store, cookie, NOW, session_limits)
    assert session is not None
    assert session.account.roles == {Role.VIEWER}
    assert "none of your groups" in str(refuse(store, dora("choir"), ROLES))
    assert read_session(store, cookie, NOW, session_limits) is None
    assert read_again(store, account).roles == frozenset()


def test_someone_without_a_role_gets_no_account(store: Store):
    assert "none of your groups" in str(refuse(store, dora("choir"), ROLES))
    assert store.accounts.read_all() == []


def test_without_a_map_of_groups_an_administrator_adds_people_by_their_identifier(store: Store):
    refused = refuse(store, dora("wards"), {})
    assert "sub-1" in refused.advice
    add_account(store, "Dr. Dora", [Role.STEWARD], NOW, origin=Origin.OIDC, subject="sub-1")
    account = sign_in_external(store, dora("wards", name="changed"), {}, NOW)
    assert (account.name, account.roles) == ("Dr. Dora", {Role.STEWARD})
    refuse(store, dora(subject="sub-2", name="Dr. Dora"), {})


def test_whoever_takes_the_name_of_another_at_the_provider_does_not_get_their_account(
    store: Store, clara: Account
):
    sign_in_external(store, dora("wards"), ROLES, NOW)
    for name in ("clara", "CLARA", "dora"):
        refused = refuse(store, dora("wards", subject="attacker", name=name), ROLES)
        assert "someone else has an account" in str(refused)
    assert len(store.accounts.read_all()) == 2


def test_the_same_identifier_at_the_proxy_is_another_person(store: Store):
    sign_in_external(store, dora("wards"), ROLES, NOW)
    proxied = ExternalIdentity(Origin.PROXY, "sub-1", "somebody", frozenset())
    refuse(store, proxied, {})


def test_a_locked_account_is_refused_whatever_the_groups_say(store: Store):
    account = sign_in_external(store, dora("wards"), ROLES, NOW)
    lock_account(store, account, NOW)
    assert "locked" in str(refuse(store, dora("wards", "science"), ROLES))
    assert read_again(store, account).roles == {Role.VIEWER}


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\u202eclara", "x" * 101])
def test_a_name_that_cannot_be_shown_gets_no_account(store: Store, name: str):
    assert "cannot be used" in str(refuse(store, dora("wards", name=name), ROLES))


def test_sign_ins_and_refusals_are_logged_without_names_or_identifiers(store: Store):
    account = sign_in_external(store, dora("wards"), ROLES, NOW)
    refuse(store, dora("choir"), ROLES)
    refuse(store, dora("wards", subject="sub-2"), ROLES)
    assert events(store, "signed in") == [f"account={account.account_id} by=oidc"]
    assert events(store, "sign-in refused") == [
        f"account={account.account_id} by=oidc reason=no_role",
        "account=unknown by=oidc reason=name_taken",
    ]
