"""Signed refusals, and the memory of them: no refusal can be invented on the way, no old one becomes a fork.

Only payloads that a site's two keys have signed are refused with a signature. Whoever can alter an envelope on its way
could otherwise have the refusal of a spoilt copy signed, and show it to the site as the answer to its own.
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
    """A submission is refused, and `note` proves to its site that this log refused it."""

    def __init__(self, code: Code, detail: str, note: str) -> None:
        super().__init__(code, detail)
        self.note = note


def recall(connection: Connection, digest: str) -> SignedRefusalError | None:
    """Return the last refusal of a payload, None if it was never refused."""
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
    """Sign the refusal of a payload, and keep it in the place of an earlier one; the caller commits.

    Raises:
        RestoredLogError: the log may be behind what the site knows, so its refusals prove nothing.
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
