"""Values read from the store about people and programs that use the service: accounts, sessions, API tokens."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """A role that an account may hold. `agent/access/roles.py` lists the actions that each role allows."""

    VIEWER = "viewer"
    DATA_SCIENTIST = "data_scientist"
    STEWARD = "steward"
    ADMINISTRATOR = "administrator"


class Origin(StrEnum):
    """Who checks that an account's person is who they say: this site, an OpenID provider, or a trusted proxy."""

    LOCAL = "local"
    OIDC = "oidc"
    PROXY = "proxy"


@dataclass(frozen=True, slots=True)
class Account:
    """A person who may use the service.

    Attributes:
        account_id: 16 random hex digits, which name the account in the audit log and in other tables.
        name: the name with which the person signs in, or that the provider gave.
        roles: the roles; an account without any role may do nothing.
        may_reveal: whether an administrator allowed this account to see original texts.
        locked: whether the account may not be used.
        origin: who checks the person.
        created_at: seconds since 1970.
        signed_in_at: seconds since 1970 of the last sign-in; None if there was none.
        must_change_password: whether somebody else chose the password, so that the person has to choose another one
            before anything else.
    """

    account_id: str
    name: str
    roles: frozenset[Role]
    may_reveal: bool
    locked: bool
    origin: Origin
    created_at: int
    signed_in_at: int | None
    must_change_password: bool = False


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One open session, without its secret.

    Attributes:
        session_id: 16 random hex digits, shown in lists.
        account_id: the account that signed in.
        opened_at, seen_at: seconds since 1970 of the sign-in and of the last request.
    """

    session_id: str
    account_id: str
    opened_at: int
    seen_at: int


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One API token, without its secret.

    Attributes:
        token_id: 16 random hex digits, shown in lists.
        account_id: the account in whose name the token acts.
        label: the purpose of the token, in its owner's words.
        scopes: names of the actions that the token allows, if its account may take them.
        created_at, expires_at: seconds since 1970.
        used_at: seconds since 1970 of the last use; None if there was none.
        ended: whether the token was revoked or has expired.
    """

    token_id: str
    account_id: str
    label: str
    scopes: frozenset[str]
    created_at: int
    expires_at: int
    used_at: int | None
    ended: bool
