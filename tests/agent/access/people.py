"""Accounts for tests, as values."""

from agent.store.stored_accounts import Account, Origin, Role


def person(
    account_id: str = "a" * 16,
    *roles: Role,
    name: str = "anna",
    may_reveal: bool = False,
    locked: bool = False,
) -> Account:
    """Return an account with these roles."""
    return Account(
        account_id=account_id,
        name=name,
        roles=frozenset(roles),
        may_reveal=may_reveal,
        locked=locked,
        origin=Origin.LOCAL,
        created_at=0,
        signed_in_at=None,
    )
