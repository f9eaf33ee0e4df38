"""Accounts for tests, as values."""

from pathlib import Path

from agent.store import Store
from agent.store.stored_accounts import Account, Origin, Role

PASSWORD = "seven lamps above the quay"
NOW = 1_800_000_000


def events(store: Store, event: str) -> list[str]:
    """Return the details of all events of a name."""
    return [entry.detail for entry in store.audit.read_events() if entry.event == event]


def read_again(store: Store, account: Account) -> Account:
    """Return an account as it is stored now."""
    found = store.accounts.find_id(account.account_id)
    assert found is not None
    return found


def everything_kept(store: Store, path: Path) -> bytes:
    """Return all bytes of the store's files, and the audit log as people read it."""
    log = repr(store.audit.read_events()).encode()
    return log + b"".join(file.read_bytes() for file in path.parent.iterdir())


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
