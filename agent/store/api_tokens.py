"""API tokens, by keyed hashes of their secrets. Revoked and expired ones stay listed, and never work again."""

import json
import secrets
from collections.abc import Iterable

from agent.store.database import Database
from agent.store.stored_accounts import TokenRow

_COLUMNS = "token_id, account_id, sealed, created_at, expires_at, used_at, ended_at"


class ApiTokens:
    """The stored API tokens."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection
        self._vault = database.vault

    def add(
        self,
        secret: str,
        account_id: str,
        label: str,
        scopes: Iterable[str],
        *,
        now: int,
        expires_at: int,
    ) -> TokenRow:
        """Store a new token; times are in seconds since 1970."""
        row = TokenRow(
            token_id=secrets.token_hex(8),
            account_id=account_id,
            label=label,
            scopes=frozenset(scopes),
            created_at=now,
            expires_at=expires_at,
            used_at=None,
            ended=False,
        )
        content = json.dumps({"label": label, "scopes": sorted(row.scopes)}).encode()
        with self._database.transaction():
            self._connection.execute(
                "INSERT INTO api_tokens VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)",
                (
                    row.token_id,
                    self._key(secret),
                    account_id,
                    self._vault.seal(_bind(row.token_id, account_id), content),
                    now,
                    expires_at,
                ),
            )
        return row

    def find(self, secret: str) -> TokenRow | None:
        """Return the token with this secret, which may have ended, or None."""
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM api_tokens WHERE token_key = ?",  # noqa: S608 (names of this module)
            (self._key(secret),),
        ).fetchone()
        return None if row is None else self._open(*row)

    def find_id(self, token_id: str) -> TokenRow | None:
        """Return the token with this id, which may have ended, or None."""
        return next((token for token in self.read_all() if token.token_id == token_id), None)

    def read_all(self) -> list[TokenRow]:
        """Return every token, the newest first."""
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM api_tokens ORDER BY created_at DESC, token_id"  # noqa: S608
        ).fetchall()
        return [self._open(*row) for row in rows]

    def note_used(self, token_id: str, now: int) -> None:
        """Record the time of a use, in seconds since 1970."""
        with self._database.transaction():
            self._connection.execute(
                "UPDATE api_tokens SET used_at = ? WHERE token_id = ?", (now, token_id)
            )

    def end(self, token_id: str, now: int) -> None:
        """End a token for good."""
        with self._database.transaction():
            self._connection.execute(
                "UPDATE api_tokens SET ended_at = ? WHERE token_id = ? AND ended_at IS NULL",
                (now, token_id),
            )

    def end_all(self, account_id: str, now: int) -> int:
        """End the tokens of an account for good. Return the number that had not ended yet."""
        with self._database.transaction():
            return self._connection.execute(
                "UPDATE api_tokens SET ended_at = ? WHERE account_id = ? AND ended_at IS NULL",
                (now, account_id),
            ).rowcount

    def end_expired(self, now: int) -> None:
        """End the tokens that have expired, so that they stay expired if the clock is set back."""
        with self._database.transaction():
            self._connection.execute(
                "UPDATE api_tokens SET ended_at = ? WHERE expires_at <= ? AND ended_at IS NULL",
                (now, now),
            )

    def _open(
        self,
        token_id: str,
        account_id: str,
        sealed: bytes,
        created_at: int,
        expires_at: int,
        used_at: int | None,
        ended_at: int | None,
    ) -> TokenRow:
        content = json.loads(self._vault.open(_bind(token_id, account_id), sealed))
        return TokenRow(
            token_id=token_id,
            account_id=account_id,
            label=content["label"],
            scopes=frozenset(content["scopes"]),
            created_at=created_at,
            expires_at=expires_at,
            used_at=used_at,
            ended=ended_at is not None,
        )

    def _key(self, secret: str) -> bytes:
        return self._vault.keyed_hash("api token", secret.encode("utf-8", "surrogatepass"))


def _bind(token_id: str, account_id: str) -> bytes:
    """Return the context that a sealed value is bound to, so that a token cannot be moved to another account."""
    return b"api token\0" + token_id.encode() + b"\0" + account_id.encode()
