"""Changes to accounts, by an administrator or on the command line. Each one is recorded in the audit log.

The audit log names accounts by their ids: it is not encrypted, and names of people are.
"""

import unicodedata
from collections.abc import Collection
from typing import Final

from agent.access.passwords import check_password_strength, hash_password
from agent.errors import ConfigError
from agent.store import Account, Origin, Role, Store
from agent.store.accounts import fold_name

COMMAND_LINE: Final = "command line"
"""Who makes a change that no account makes: whoever owns the site's directory."""
_LONGEST_NAME: Final = 100  # characters
_SIGNS: Final = frozenset("._-@")
_LIST: Final = "`intramural accounts list` shows the names of all accounts."


def add_account(
    store: Store,
    name: str,
    roles: Collection[Role],
    now: float,
    *,
    by: str = COMMAND_LINE,
    password: str | None = None,
    own_password: bool = False,
    origin: Origin = Origin.LOCAL,
    subject: str | None = None,
) -> Account:
    """Add an account.

    Args:
        store: the site's store.
        name: the name to sign in with.
        roles: at least one role.
        now: the time, in seconds since 1970.
        by: id of the account that makes the change, or `COMMAND_LINE`.
        password: the password of a local account.
        own_password: whether the person chose it. Otherwise, they have to choose another one at their first sign-in.
        origin: who checks the person.
        subject: the person's identifier at the OpenID provider (`sub`), or the name that the trusted proxy sends.

    Raises:
        ConfigError: the name is taken or not usable, there is no role, or the password is too easy to guess.
    """
    check_name(name, origin)
    _require_roles(roles)
    if password is not None:
        check_password_strength(password, name)
    password_hash = None if password is None else hash_password(password)
    with store.transaction():
        if store.accounts.find(name) is not None:
            raise ConfigError(f"there is an account named {name} already", _LIST)
        if subject is not None and store.accounts.find_subject(origin, subject) is not None:
            raise ConfigError("this person has an account under another name already", _LIST)
        account = store.accounts.add(
            name,
            roles,
            now,
            origin=origin,
            subject=subject,
            password_hash=password_hash,
            must_change_password=password is not None and not own_password,
        )
        store.audit.record(
            "account added",
            f"account={account.account_id} roles={_join(roles)} origin={origin} by={by}",
        )
    return account


def check_name(name: str, origin: Origin = Origin.LOCAL) -> None:
    """Check a name for a new account.

    A provider or proxy chooses the names of its people itself; these must only be visible.

    Raises:
        ConfigError: it is empty, too long, or has characters that are not allowed.
    """
    if not fold_name(name) or len(name) > _LONGEST_NAME or not name.isprintable():
        raise ConfigError(
            f"a name must have 1 to {_LONGEST_NAME} visible characters", "Choose another name."
        )
    if origin is Origin.LOCAL and not all(map(_is_of_names, name)):
        raise ConfigError(
            "a name consists of letters, digits and the signs . _ - @ only, without blanks",
            "Choose another name, such as anna.schmidt.",
        )


def _is_of_names(character: str) -> bool:
    """Return whether the name of a local account may have a character: letters of all scripts, with their marks."""
    category = unicodedata.category(character)
    return category[0] in "LM" or category == "Nd" or character in _SIGNS


def require_account(store: Store, name: str) -> Account:
    """Return the account with a name. Raises ConfigError if there is none."""
    account = store.accounts.find(name)
    if account is None:
        raise ConfigError(f"there is no account named {name}", _LIST)
    return account


def change_roles(
    store: Store, account: Account, roles: Collection[Role], *, by: str = COMMAND_LINE
) -> None:
    """Replace the roles of an account; they apply from its next request on.

    Raises:
        ConfigError: there is no role, or no administrator would be left and an account makes the change.
    """
    _require_roles(roles)
    with store.transaction():
        if Role.ADMINISTRATOR not in roles:
            _require_another_administrator(store, account, by)
        store.accounts.set_roles(account.account_id, roles)
        store.audit.record(
            "account's roles changed",
            f"account={account.account_id} from={_join(account.roles)} to={_join(roles)} by={by}",
        )


def change_reveal(
    store: Store, account: Account, may_reveal: bool, *, by: str = COMMAND_LINE
) -> None:
    """Allow an account to see original texts, or withdraw that.

    Raises:
        ConfigError: an account would allow itself.
    """
    if may_reveal and by == account.account_id:
        raise ConfigError(
            "an account cannot allow itself to see original texts",
            "Ask another administrator, or use `intramural accounts reveal`.",
        )
    with store.transaction():
        store.accounts.set_reveal(account.account_id, may_reveal)
        event = "reveal granted" if may_reveal else "reveal withdrawn"
        store.audit.record(event, f"account={account.account_id} by={by}")


def lock_account(store: Store, account: Account, now: float, *, by: str = COMMAND_LINE) -> None:
    """Lock an account and end its sessions and API tokens at once.

    Raises:
        ConfigError: no administrator would be left, and an account makes the change.
    """
    with store.transaction():
        _require_another_administrator(store, account, by)
        store.accounts.set_locked(account.account_id, locked=True)
        sessions, tokens = _end_access(store, account, now)
        store.audit.record(
            "account locked",
            f"account={account.account_id} sessions={sessions} tokens={tokens} by={by}",
        )


def unlock_account(store: Store, account: Account, *, by: str = COMMAND_LINE) -> None:
    """Unlock an account, and forget the sign-ins that failed under its name. Ended API tokens stay ended."""
    with store.transaction():
        store.accounts.set_locked(account.account_id, locked=False)
        store.sign_ins.forget_attempts(store.accounts.key_name(account.name))
        store.audit.record("account unlocked", f"account={account.account_id} by={by}")


def change_password(
    store: Store,
    account: Account,
    password: str,
    *,
    by: str = COMMAND_LINE,
    own_password: bool = False,
    except_session: str = "",
) -> int:
    """Replace the password of a local account and end its other sessions. Return the number of sessions ended.

    Args:
        store: the site's store.
        account: the account.
        password: the new password.
        by: id of the account that makes the change, or `COMMAND_LINE`.
        own_password: whether the person chose it. Otherwise, they have to choose another one when they sign in next.
        except_session: id of the session in which a person changes their own password, which goes on.

    Raises:
        ConfigError: the account is not local, or the password is too easy to guess.
    """
    if account.origin is not Origin.LOCAL:
        raise ConfigError(
            f"the account {account.name} has no password here: its person signs in elsewhere",
            "Change the password where the person signs in.",
        )
    check_password_strength(password, account.name)
    password_hash = hash_password(password)
    with store.transaction():
        store.accounts.set_password_hash(account.account_id, password_hash)
        store.accounts.set_must_change_password(account.account_id, not own_password)
        store.sign_ins.forget_attempts(store.accounts.key_name(account.name))
        ended = store.sessions.end_all(account.account_id, except_id=except_session)
        store.audit.record(
            "password changed", f"account={account.account_id} sessions={ended} by={by}"
        )
    return ended


def end_sessions(store: Store, account: Account, *, by: str = COMMAND_LINE) -> int:
    """End all sessions of an account. Return their number."""
    with store.transaction():
        ended = store.sessions.end_all(account.account_id)
        store.audit.record("sessions ended", f"account={account.account_id} count={ended} by={by}")
    return ended


def has_administrator(store: Store) -> bool:
    """Return whether an account that is not locked is an administrator."""
    return any(
        Role.ADMINISTRATOR in account.roles and not account.locked
        for account in store.accounts.read_all()
    )


def _require_another_administrator(store: Store, account: Account, by: str) -> None:
    """Refuse to take the last administrator away from the pages; on the command line one can always be added."""
    if by == COMMAND_LINE or Role.ADMINISTRATOR not in account.roles:
        return
    for other in store.accounts.read_all():
        is_other = other.account_id != account.account_id
        if is_other and Role.ADMINISTRATOR in other.roles and not other.locked:
            return
    raise ConfigError(
        "this is the only administrator", "Make another account an administrator first."
    )


def _require_roles(roles: Collection[Role]) -> None:
    if not roles:
        raise ConfigError("an account needs a role", f"Give one of: {', '.join(Role)}.")


def _end_access(store: Store, account: Account, now: float) -> tuple[int, int]:
    sessions = store.sessions.end_all(account.account_id)
    tokens = store.api_tokens.end_all(account.account_id, int(now))
    return sessions, tokens


def _join(roles: Collection[Role]) -> str:
    return "+".join(role for role in Role if role in roles) or "none"
