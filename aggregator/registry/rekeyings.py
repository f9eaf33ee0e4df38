"""Requests by enrolled sites to replace a key or to start a new epoch: checking, storing and granting them.

Anyone can sign a reset with keys of their own, and so can a thief of a site's keys. So a person must ask the site, and
the root key must sign. Answers to strangers depend only on the registry; if they depended on the log, they would
reveal which site sent a hidden entry (rule 8.1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sqlalchemy import Connection, delete, insert, select

from aggregator.errors import EnrolmentError
from aggregator.log import journal
from aggregator.log.history import read_history
from aggregator.registry.versions import newest_registry
from aggregator.store.schema import rekeying_requests
from protocol.envelope import decode
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey
from protocol.predicates import ResetPredicate
from protocol.registry import Registry, Role, Site
from protocol.rekeying import Rekeying, open_proposed_rekeying, open_rekeying
from protocol.statements import parse_statement

MAX_WAITING = 20
"""The maximum number of waiting requests for one site by one kind of signers. If other people's requests fill the
queue, the site hands over its own as a file."""


class TooManyRequestsError(Exception):
    """The maximum number of requests for this site, by signers of the same kind, is already waiting."""


class Signers(Enum):
    """The kind of a request's signers, according to the site's keys in the registry. Each kind has its own queue.

    So neither a stranger nor the thief of one key can block a request signed by both people of a site.
    """

    SITE = "both of the site's keys"
    ONE_OF_SITE = "one of the site's keys, and a new one"
    STRANGERS = "new keys only"


@dataclass(frozen=True, slots=True)
class PendingRekeying:
    """A reset or rotation that waits for a person.

    Attributes:
        rekeying: the request, already verified.
        site: the site's current entry in the registry.
        envelope: the file as received.
    """

    rekeying: Rekeying
    site: Site
    envelope: bytes

    @property
    def site_id(self) -> str:
        """The id of the site that the request is for."""
        return self.rekeying.header.site

    @property
    def kind(self) -> str:
        """`reset` or `rotate`."""
        return "reset" if isinstance(self.rekeying.predicate, ResetPredicate) else "rotate"

    @property
    def reason(self) -> str:
        """The reason for a new epoch; empty for a rotation, which needs no reason."""
        predicate = self.rekeying.predicate
        return predicate.reason if isinstance(predicate, ResetPredicate) else ""

    @property
    def signers(self) -> Signers:
        """The kind of signers of the request."""
        return _name_signers(self.envelope, self.site)

    def key_now(self, role: Role, log_index: int) -> PublicKey | None:
        """Return the key of this role that may sign the log entry `log_index`; None if there is none."""
        return next(
            (
                entry.key
                for entry in self.site.keys
                if entry.role == role and entry.valid_at(log_index)
            ),
            None,
        )

    def describe_last(self, role: Role) -> str:
        """Return the reason why the site currently has no key of this role, and the last key of this role."""
        held = [entry for entry in self.site.keys if entry.role == role]
        if not held:
            return "none"
        last = held[-1]
        if last.revoked_from is not None:
            return f"none: {last.key.fingerprint} is revoked from log entry {last.revoked_from} on"
        return f"none: {last.key.fingerprint} may not sign from log entry {last.until_index} on"


@dataclass(frozen=True, slots=True)
class StaleRekeying:
    """A stored request that no longer fits the log, and the code of the check that fails."""

    site_id: str
    digest: str
    code: Code


def open_request(connection: Connection, data: bytes) -> PendingRekeying:
    """Check a reset or rotation against the newest registry and the log; nothing is stored.

    Raises:
        ProtocolError: as `open_rekeying`.
    """
    registry = newest_registry(connection)
    site_id = parse_statement(decode(data).payload).header.site
    history = read_history(connection, site_id, registry)
    rekeying = open_rekeying(data, registry, history, log_index=journal.size(connection))
    return PendingRekeying(rekeying, registry.sites[site_id], data)


def receive_request(connection: Connection, data: bytes) -> PendingRekeying:
    """Check a reset or rotation received over the network; nothing is stored.

    A stranger's request is checked only against public data. The person who decides on it learns whether it fits the
    log.

    Raises:
        ProtocolError: as `open_rekeying`; for a stranger's request, only errors that do not depend on the log.
    """
    registry = newest_registry(connection)
    received = _open_without_log(data, registry, journal.size(connection))
    return received if received.signers is Signers.STRANGERS else open_request(connection, data)


def _open_without_log(data: bytes, registry: Registry, log_size: int) -> PendingRekeying:
    rekeying = open_proposed_rekeying(data, registry, log_index=log_size)
    site = registry.sites[rekeying.header.site]
    received = PendingRekeying(rekeying, site, data)
    if received.kind == "reset" and rekeying.header.epoch != site.epoch + 1:
        raise ProtocolError(
            Code.WRONG_EPOCH, f"epoch {rekeying.header.epoch}; expected {site.epoch + 1}"
        )
    return received


def is_kept(connection: Connection, digest: str) -> bool:
    """Return whether a request is already waiting."""
    table = rekeying_requests.c
    return (
        connection.execute(select(table.digest).where(table.digest == digest)).first() is not None
    )


def check_room(connection: Connection, request: PendingRekeying) -> None:
    """Check that there is room for a stranger's request. Other requests may replace outdated ones instead.

    Raises:
        TooManyRequestsError: the maximum number of requests is waiting for its site.
    """
    if request.signers is Signers.STRANGERS:
        _require_room(connection, request)


def keep_request(connection: Connection, request: PendingRekeying) -> None:
    """Store a checked request for a person to approve. Repeating this changes nothing.

    In the meantime, a submission may take the position in the chain that a rotation names. The rotation then no longer
    fits, but this is not a fork.

    Raises:
        TooManyRequestsError: the maximum number of requests is waiting for its site.
    """
    if is_kept(connection, request.rekeying.digest):
        return
    if (
        request.signers is not Signers.STRANGERS
        and len(_read_queue(connection, request)) >= MAX_WAITING
    ):
        # A stranger's request replaces no outdated ones, because this would reveal whether other requests still fit the
        # log.
        _drop_stale(connection, request)
    _require_room(connection, request)
    connection.execute(
        insert(rekeying_requests).values(
            digest=request.rekeying.digest,
            site=request.site_id,
            signed_by_known_keys=request.signers is Signers.SITE,
            envelope=request.envelope,
        )
    )


def _require_room(connection: Connection, request: PendingRekeying) -> None:
    if len(_read_queue(connection, request)) >= MAX_WAITING:
        raise TooManyRequestsError


def _read_queue(connection: Connection, request: PendingRekeying) -> dict[str, bytes]:
    """Return the waiting requests for the same site by signers of the same kind, by digest."""
    table = rekeying_requests.c
    query = select(table.digest, table.envelope).where(table.site == request.site_id)
    queue = {}
    for row in connection.execute(query):
        if _name_signers(row.envelope, request.site) is request.signers:
            queue[row.digest] = row.envelope
    return queue


def _drop_stale(connection: Connection, request: PendingRekeying) -> None:
    """Delete the requests in the same queue that no longer fit the log."""
    stale = []
    for digest, envelope in _read_queue(connection, request).items():
        try:
            open_request(connection, envelope)
        except ProtocolError:
            stale.append(digest)
    drop_requests(connection, stale)


def _name_signers(envelope: bytes, site: Site) -> Signers:
    """Return the kind of signers of a request whose signatures have been verified."""
    held = {entry.key.keyid for entry in site.keys}
    known = [signature for signature in decode(envelope).signatures if signature.keyid in held]
    if len(known) >= 2:  # a rotation has a third signature, by the new key
        return Signers.SITE
    return Signers.ONE_OF_SITE if known else Signers.STRANGERS


def pending_rekeyings(
    connection: Connection, site: str | None = None
) -> tuple[list[PendingRekeying], list[StaleRekeying]]:
    """Return the stored requests from one site or all sites, those by known keys first, and the outdated ones."""
    table = rekeying_requests.c
    query = select(rekeying_requests).order_by(
        table.site, table.signed_by_known_keys.desc(), table.digest
    )
    if site is not None:
        query = query.where(table.site == site)
    waiting, stale = [], []
    for row in connection.execute(query).all():
        try:
            waiting.append(open_request(connection, row.envelope))
        except ProtocolError as error:
            stale.append(StaleRekeying(row.site, row.digest, error.code))
    return waiting, stale


def reopen_request(connection: Connection, data: bytes) -> PendingRekeying:
    """Check a request again before it is granted.

    Raises:
        EnrolmentError: the site's chain or keys have changed since the request was made.
    """
    try:
        return open_request(connection, data)
    except ProtocolError as error:
        raise EnrolmentError(
            f"the request no longer fits its site's state in the log: {error.detail} ({error.code})",
            "Nothing was changed. The site must make a new request.",
        ) from None


def drop_requests(connection: Connection, digests: Sequence[str]) -> int:
    """Delete stored requests; return the number of requests deleted."""
    done = connection.execute(
        delete(rekeying_requests).where(rekeying_requests.c.digest.in_(digests))
    )
    return done.rowcount
