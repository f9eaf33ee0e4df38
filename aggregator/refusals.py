"""Signed refusals and their storage, so that refusals cannot be forged and refused payloads do not count as forks.

A refusal is only signed if both of the site's keys have signed the payload. Otherwise an attacker
who can alter envelopes in transit could obtain a signed refusal of an altered copy and present it
to the site as the answer to its submission.
"""

from sqlalchemy import Connection, delete, insert, select

from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.restored import refuse_restored
from aggregator.store.schema import refusals
from protocol.errors import Code, ProtocolError
from protocol.refusal import Refusal, sign_refusal
from protocol.registry import Registry


class SignedRefusalError(ProtocolError):
    """A submission is refused. `note` proves to the site that this log refused it."""

    def __init__(self, code: Code, detail: str, note: str) -> None:
        super().__init__(code, detail)
        self.note = note


def recall(connection: Connection, digest: str) -> SignedRefusalError | None:
    """Return the last refusal of a payload; None if it was never refused."""
    row = connection.execute(select(refusals).where(refusals.c.digest == digest)).one_or_none()
    if row is None:
        return None
    return SignedRefusalError(
        Code(row.code), f"refused when the log had {row.log_size} entries", row.note
    )


def sign_and_remember(
    connection: Connection,
    home: Home,
    registry: Registry,
    digest: str,
    site: str,
    error: ProtocolError,
) -> SignedRefusalError:
    """Sign the refusal of a payload and store it, replacing an earlier one. The caller commits.

    Raises:
        RestoredLogError: the restored log may be behind what the site knows, so its refusals prove
            nothing.
    """
    refuse_restored(connection)
    refusal = Refusal(digest, error.code, journal.size(connection))
    note = sign_refusal(refusal, registry.log_name, home.receipt_signer(registry))
    connection.execute(delete(refusals).where(refusals.c.digest == digest))
    connection.execute(
        insert(refusals).values(
            digest=digest, site=site, code=error.code.value, log_size=refusal.log_size, note=note
        )
    )
    return SignedRefusalError(error.code, error.detail, note)
