"""Accounts of people. Names, roles and password hashes are sealed in one value, so that none can be moved or edited.

Accounts are never deleted: the audit log and the queue go on naming them.
"""

import json
import secrets
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from agent.errors import StoreError
from agent.store.database import Database
from agent.store.stored_accounts import Account, Origin, Role


@dataclass(frozen=True, slots=True)
class _Content:
    """The sealed values of one account."""

    account: Account
    password_hash: str | None


class Accounts:
    """The stored accounts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection
        self._vault = database.vault

    def add(
        self,
        name: str,
        roles: Iterable[Role],
        now: float,
        *,
        origin: Origin = Origin.LOCAL,
        subject: str | None = None,
        password_hash: str | None = None,
        must_change_password: bool = False,
    ) -> Account:
        """Store a new account.

        Args:
            name: the name, unlike every other account's.
            roles: the roles.
            now: the time, in seconds since 1970.
            origin: who checks the person.
            subject: who the person is at a provider; None for a local account.
            password_hash: the hash of the password; None if the person cannot sign in by password.
            must_change_password: whether somebody else chose the password.

        Raises:
            StoreError: the name or the subject belongs to another account.
        """
        account = Account(
            account_id=secrets.token_hex(8),
            name=name,
            roles=frozenset(roles),
            may_reveal=False,
            locked=False,
            origin=origin,
            created_at=int(now),
            signed_in_at=None,
            must_change_password=must_change_password,
        )
        subject_key = None if subject is None else self._key_subject(origin, subject)
        with self._database.transaction():
            if self.find(name) is not None:
                raise StoreError("an account with this name exists already", "Choose another name.")
            if subject is not None and self.find_subject(origin, subject) is not None:
                raise StoreError(
                    "this person of the provider has an account already",
                    "`intramural accounts list` shows it.",
                )
            self._connection.execute(
                "INSERT INTO accounts VALUES (?, ?, ?, ?)",
                (
                    account.account_id,
                    self.key_name(name),
                    subject_key,
                    self._seal(_Content(account, password_hash)),
                ),
            )
        return account

    def find(self, name: str) -> Account | None:
        """Return the account with this name, without regard to case, or None."""
        content = self._read_where("name_key", self.key_name(name))
        return None if content is None else content.account

    def find_id(self, account_id: str) -> Account | None:
        """Return the account with this id, or None."""
        content = self._read_where("account_id", account_id)
        return None if content is None else content.account

    def find_subject(self, origin: Origin, subject: str) -> Account | None:
        """Return the account of a person whom a provider knows as `subject`, or None."""
        content = self._read_where("subject_key", self._key_subject(origin, subject))
        return None if content is None else content.account

    def read_all(self) -> list[Account]:
        """Return every account, sorted by name."""
        rows = self._connection.execute("SELECT account_id, sealed FROM accounts").fetchall()
        accounts = [self._open(account_id, sealed).account for account_id, sealed in rows]
        return sorted(accounts, key=lambda account: fold_name(account.name))

    def read_password_hash(self, account_id: str) -> str | None:
        """Return the hash of an account's password; None if it has none."""
        content = self._read_where("account_id", account_id)
        return None if content is None else content.password_hash

    def set_password_hash(self, account_id: str, password_hash: str) -> None:
        """Replace the hash of an account's password."""
        self._change(account_id, password_hash=password_hash)

    def set_must_change_password(self, account_id: str, must_change: bool) -> None:
        """Note whether somebody else chose an account's password."""
        self._change(account_id, must_change_password=must_change)

    def set_roles(self, account_id: str, roles: Iterable[Role]) -> None:
        """Replace an account's roles."""
        self._change(account_id, roles=frozenset(roles))

    def set_reveal(self, account_id: str, may_reveal: bool) -> None:
        """Allow an account to see original texts, or withdraw that."""
        self._change(account_id, may_reveal=may_reveal)

    def set_locked(self, account_id: str, locked: bool) -> None:
        """Lock or unlock an account. Its sessions and API tokens are the caller's to end."""
        self._change(account_id, locked=locked)

    def note_sign_in(self, account_id: str, now: float) -> None:
        """Record the time of a sign-in, in seconds since 1970."""
        self._change(account_id, signed_in_at=int(now))

    def add_key(self, account_id: str, fingerprint: str) -> None:
        """Record that an account handed in an approval signed by the key with this fingerprint."""
        with self._database.transaction():
            self._connection.execute(
                "INSERT OR IGNORE INTO account_keys VALUES (?, ?)", (fingerprint, account_id)
            )

    def read_keys(self, account_ids: Iterable[str]) -> frozenset[str]:
        """Return the fingerprints of all keys with which these accounts signed approvals."""
        fingerprints: set[str] = set()
        for account_id in account_ids:
            rows = self._connection.execute(
                "SELECT fingerprint FROM account_keys WHERE account_id = ?", (account_id,)
            )
            fingerprints.update(fingerprint for (fingerprint,) in rows)
        return frozenset(fingerprints)

    def key_name(self, name: str) -> bytes:
        """Return the keyed hash by which a name is looked up."""
        return self._vault.keyed_hash("account name", _encode(fold_name(name)))

    def _key_subject(self, origin: Origin, subject: str) -> bytes:
        return self._vault.keyed_hash("account subject", _encode(f"{origin}\0{subject}"))

    def _read_where(self, column: str, value: bytes | str) -> _Content | None:
        row = self._connection.execute(
            f"SELECT account_id, sealed FROM accounts WHERE {column} = ?",  # noqa: S608 (a name of this module)
            (value,),
        ).fetchone()
        return None if row is None else self._open(*row)

    def _change(self, account_id: str, **changes: Any) -> None:
        """Replace sealed values of an account. Raises StoreError if there is no such account."""
        with self._database.transaction():
            content = self._read_where("account_id", account_id)
            if content is None:
                raise StoreError(
                    "there is no such account", "`intramural accounts list` shows all."
                )
            password_hash = changes.pop("password_hash", content.password_hash)
            changed = _Content(replace(content.account, **changes), password_hash)
            self._connection.execute(
                "UPDATE accounts SET sealed = ? WHERE account_id = ?",
                (self._seal(changed), account_id),
            )

    def _seal(self, content: _Content) -> bytes:
        account = content.account
        values = {
            "name": account.name,
            "roles": sorted(account.roles),
            "may_reveal": account.may_reveal,
            "locked": account.locked,
            "origin": account.origin,
            "created_at": account.created_at,
            "signed_in_at": account.signed_in_at,
            "password_hash": content.password_hash,
            "must_change_password": account.must_change_password,
        }
        return self._vault.seal(_bind(account.account_id), json.dumps(values).encode())

    def _open(self, account_id: str, sealed: bytes) -> _Content:
        values = json.loads(self._vault.open(_bind(account_id), sealed))
        account = Account(
            account_id=account_id,
            name=values["name"],
            roles=frozenset(Role(role) for role in values["roles"]),
            may_reveal=values["may_reveal"],
            locked=values["locked"],
            origin=Origin(values["origin"]),
            created_at=values["created_at"],
            signed_in_at=values["signed_in_at"],
            # Earlier versions did not note it.
            must_change_password=values.get("must_change_password", False),
        )
        return _Content(account, values["password_hash"])


def fold_name(name: str) -> str:
    """Return the form of a name in which it is compared: case, spaces and composed characters do not matter."""
    return " ".join(unicodedata.normalize("NFKC", name).split()).casefold()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _bind(account_id: str) -> bytes:
    """Return the context that a sealed value is bound to, so that sealed values cannot be swapped."""
    return b"account\0" + account_id.encode()
