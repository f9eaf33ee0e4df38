"""People for whom someone else vouches: an OpenID provider or a trusted proxy."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NoReturn

from agent.access.accounts import check_name
from agent.access.refusals import UnknownPersonError
from agent.errors import ConfigError
from agent.store import Account, Origin, Role, Store

_FINDINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "account_locked": "your account here is locked",
        "no_account": "you have no account here",
        "no_role": "none of your groups gives you a role here",
        "name_taken": "someone else has an account here under your name",
        "name_not_usable": "your name cannot be used for an account here",
    }
)
"""What a person is told who is known elsewhere. Nothing here helps an attacker: someone vouches for the person."""


@dataclass(frozen=True, slots=True)
class ExternalIdentity:
    """A person as a provider or a trusted proxy describes them.

    Attributes:
        origin: who vouches for the person.
        subject: who the person is there; unlike the name, it never passes to someone else.
        name: the name for people.
        groups: the groups to which the person belongs there.
        issuer: URL of the OpenID provider; "" for a proxy.
    """

    origin: Origin
    subject: str
    name: str
    groups: frozenset[str] = frozenset()
    issuer: str = ""

    @property
    def key(self) -> str:
        """What identifies the person among those of all providers."""
        return join_subject(self.issuer, self.subject)


def join_subject(issuer: str, subject: str) -> str:
    """Return what identifies a person among those of all providers."""
    return f"{issuer} {subject}" if issuer else subject


def sign_in_external(
    store: Store, identity: ExternalIdentity, roles_by_group: Mapping[str, Role], now: float
) -> Account:
    """Return the account of a person for whom someone else vouches. Open a session for it with `open_session`.

    If the settings map groups to roles, the groups decide at every sign-in: an account is made for someone new, and
    roles that the groups no longer give are lost. Otherwise an administrator must have added the account.

    A person never gets the account of another origin or of another person of the same name.

    Raises:
        UnknownPersonError: the person has no account or no role here, or the account is locked.
    """
    account = store.accounts.find_subject(identity.origin, identity.key)
    if account is not None and account.locked:
        _refuse(store, identity, "account_locked", account.account_id)
    if roles_by_group:
        roles = _read_roles(identity, roles_by_group)
        account = _follow_groups(store, identity, account, roles, now)
    if account is None:
        _refuse(store, identity, "no_account")
    with store.transaction():
        store.accounts.note_sign_in(account.account_id, now)
        store.audit.record("signed in", f"account={account.account_id} by={identity.origin}")
    return account


def is_same_person(store: Store, account: Account, identity: ExternalIdentity) -> bool:
    """Return whether an account is that of the person whom a proxy names in this request."""
    found = store.accounts.find_subject(identity.origin, identity.key)
    return found is not None and found.account_id == account.account_id


def _read_roles(identity: ExternalIdentity, roles_by_group: Mapping[str, Role]) -> frozenset[Role]:
    return frozenset(role for group, role in roles_by_group.items() if group in identity.groups)


def _follow_groups(
    store: Store,
    identity: ExternalIdentity,
    account: Account | None,
    roles: frozenset[Role],
    now: float,
) -> Account:
    """Give an account the roles of its person's groups; make it if there is none."""
    if account is None:
        if not roles:
            _refuse(store, identity, "no_role")
        return _add(store, identity, roles, now)
    if roles != account.roles:
        with store.transaction():
            store.accounts.set_roles(account.account_id, roles)
            store.audit.record(
                "account's roles changed",
                f"account={account.account_id} to={'+'.join(sorted(roles)) or 'none'} by={identity.origin}",
            )
    if not roles:
        store.sessions.end_all(account.account_id)
        _refuse(store, identity, "no_role", account.account_id)
    return store.accounts.find_id(account.account_id) or account


def _add(store: Store, identity: ExternalIdentity, roles: frozenset[Role], now: float) -> Account:
    try:
        check_name(identity.name, identity.origin)
    except ConfigError:
        _refuse(store, identity, "name_not_usable")
    if store.accounts.find(identity.name) is not None:
        # Taking the name over would let whoever chooses their name at the provider become someone else here.
        _refuse(store, identity, "name_taken")
    with store.transaction():
        account = store.accounts.add(
            identity.name, roles, now, origin=identity.origin, subject=identity.key
        )
        store.audit.record(
            "account added",
            f"account={account.account_id} roles={'+'.join(sorted(roles))} origin={identity.origin} "
            f"by={identity.origin}",
        )
    return account


def _refuse(
    store: Store, identity: ExternalIdentity, reason: str, account_id: str = "unknown"
) -> NoReturn:
    store.audit.record(
        "sign-in refused", f"account={account_id} by={identity.origin} reason={reason}"
    )
    advice = UnknownPersonError.advice
    if reason == "no_account":
        advice = f"Ask an administrator to add you, with this identifier: {identity.subject}"
    raise UnknownPersonError(_FINDINGS[reason], advice)
