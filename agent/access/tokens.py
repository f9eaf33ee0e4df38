"""API tokens: secrets of programs, limited to some actions and in time, shown once and stored as keyed hashes."""

import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from agent.access.accounts import COMMAND_LINE
from agent.access.clock import STEP_S, skip_if_not_writable
from agent.access.roles import Action, list_actions, may
from agent.errors import ConfigError
from agent.store import Account, Store, TokenRow

PREFIX: Final = "imt_"
"""Begins every token, so that scanners of source code and logs recognise one that leaked."""
_SECRET_BYTES: Final = 32
_TOKEN: Final = re.compile(rf"{PREFIX}[0-9a-f]{{{2 * _SECRET_BYTES}}}")
_LONGEST_LABEL: Final = 100  # characters
_DAY_S: Final = 86_400

PERSONAL: Final = frozenset(
    {Action.REVEAL, Action.APPROVE_SUBMISSIONS, Action.REVIEW_REDACTION, Action.MANAGE_OWN_ACCOUNT}
    | {Action.MANAGE_ACCOUNTS, Action.MANAGE_KEYS}
)
"""Actions that only a person may take. A token that leaked can neither reveal nor approve, nor make itself last."""

FOR_PROGRAMS: Final = frozenset(
    {
        Action.VIEW_BOARDS,
        Action.VIEW_RUNS,
        Action.VIEW_INSTANCES,
        Action.VIEW_DATA,
        Action.VIEW_MODELS,
        Action.VIEW_JOBS,
        Action.QUEUE_JOBS,
        Action.CHANGE_JOBS,
        Action.VIEW_METRICS,
        Action.VIEW_PRIVATE_RUNS,
    }
)
"""Actions that an address for programs needs; the last one adds the account's own private runs to lists.

A test compares them with the table of routes. Any other scope would do nothing.
"""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just created. `secret` is shown now and never again."""

    secret: str
    row: TokenRow


@dataclass(frozen=True, slots=True)
class TokenUse:
    """A valid token in a request.

    Attributes:
        token_id: names the token in lists; it is no secret.
        account: the account in whose name the token acts, as stored now.
        scopes: the actions that the token allows, as far as its account may take them.
    """

    token_id: str
    account: Account
    scopes: frozenset[Action]

    def may(self, action: Action, owner: str | None = None) -> bool:
        """Return whether the token may take an action; see `agent.access.roles.may`."""
        return action in self.scopes and may(self.account, action, owner)


def list_scopes(account: Account) -> list[Action]:
    """Return the actions that a token of this account may allow, in the order of the table."""
    actions = list_actions(account) & FOR_PROGRAMS
    return [action for action in Action if action in actions]


def create_token(
    store: Store,
    account: Account,
    label: str,
    scopes: Collection[Action],
    days: int,
    now: float,
    *,
    most_days: int,
    by: str = COMMAND_LINE,
) -> NewToken:
    """Create an API token.

    Args:
        store: the site's store.
        account: the account in whose name it acts.
        label: its purpose, in its owner's words.
        scopes: the actions that it allows.
        days: days until it expires.
        now: the time, in seconds since 1970.
        most_days: the site's limit, `api_token_days`.
        by: id of the account that creates it, or `COMMAND_LINE`.

    Raises:
        ConfigError: the account is locked or may not take one of the actions, or the label or the time is not usable.
    """
    if account.locked:
        raise ConfigError(
            f"the account {account.name} is locked", "Unlock it with `intramural accounts unlock`."
        )
    if not label.strip() or len(label) > _LONGEST_LABEL or not label.isprintable():
        raise ConfigError(
            f"a token needs a label of 1 to {_LONGEST_LABEL} visible characters",
            "Write in a few words which program uses the token.",
        )
    if not 1 <= days <= most_days:
        raise ConfigError(
            f"a token lasts 1 to {most_days} days",
            "Choose fewer days, or change `api_token_days` in site.yaml.",
        )
    _check_scopes(account, scopes)
    secret = PREFIX + secrets.token_hex(_SECRET_BYTES)
    with store.transaction():
        row = store.api_tokens.add(
            secret,
            account.account_id,
            label.strip(),
            scopes,
            now=int(now),
            expires_at=int(now) + days * _DAY_S,
        )
        store.audit.record(
            "API token created",
            f"token={row.token_id} account={account.account_id} scopes={'+'.join(sorted(scopes))} days={days} by={by}",
        )
    return NewToken(secret, row)


def read_token(store: Store, secret: str, now: float) -> TokenUse | None:
    """Return the token with this secret, or None if there is none, it has ended, or its account is locked."""
    if not _TOKEN.fullmatch(secret):
        return None
    row = store.api_tokens.find(secret)
    if row is None or row.ended:
        return None
    # A token that had expired stays so if the clock is set back.
    at = max(int(now), store.sessions.read_latest_time(), row.used_at or 0)
    if at >= row.expires_at:
        with skip_if_not_writable(store):
            store.api_tokens.end(row.token_id, at)
        return None
    account = store.accounts.find_id(row.account_id)
    if account is None or account.locked:
        return None
    if row.used_at is None or at - row.used_at >= STEP_S:
        with skip_if_not_writable(store):
            store.api_tokens.note_used(row.token_id, at)
    return TokenUse(row.token_id, account, _parse_scopes(row))


def read_bearer(authorization: str) -> str:
    """Return the token in the value of an Authorization header; "" if it holds none."""
    scheme, _, value = authorization.partition(" ")
    return value.strip() if scheme.lower() == "bearer" else ""


def revoke_token(store: Store, row: TokenRow, now: float, *, by: str = COMMAND_LINE) -> None:
    """End a token for good."""
    with store.transaction():
        store.api_tokens.end(row.token_id, int(now))
        store.audit.record(
            "API token revoked", f"token={row.token_id} account={row.account_id} by={by}"
        )


def require_token(store: Store, token_id: str) -> TokenRow:
    """Return the token with an id. Raises ConfigError if there is none."""
    row = store.api_tokens.find_id(token_id)
    if row is None:
        raise ConfigError(
            "there is no API token with this id", "`intramural tokens list` shows all."
        )
    return row


def list_tokens(store: Store, now: float, account: Account | None = None) -> list[TokenRow]:
    """Return the tokens that still work, of one account or of all, the newest first."""
    rows = []
    for row in store.api_tokens.read_all():
        is_meant = account is None or row.account_id == account.account_id
        if is_meant and not row.ended and now < row.expires_at:
            rows.append(row)
    return rows


def _check_scopes(account: Account, scopes: Collection[Action]) -> None:
    """Raise ConfigError if a token of this account may not have one of these scopes."""
    possible = list_scopes(account)
    listed = ", ".join(possible) or "none"
    if not scopes:
        raise ConfigError("a token needs a scope", f"Scopes for {account.name}: {listed}.")
    for scope in scopes:
        if scope in PERSONAL:
            raise ConfigError(
                f"the scope {scope} is not for programs",
                "Only a person who is signed in may do this.",
            )
        if scope not in list_actions(account):
            raise ConfigError(
                f"the account {account.name} may not {scope} itself",
                f"Scopes for {account.name}: {listed}.",
            )
        if scope not in FOR_PROGRAMS:
            raise ConfigError(
                f"the scope {scope} does nothing: no address for programs needs it",
                f"Scopes for {account.name}: {listed}.",
            )


def _parse_scopes(row: TokenRow) -> frozenset[Action]:
    """Return the scopes of a token; one that this version does not know allows nothing."""
    return frozenset(action for action in Action if action in row.scopes)
