"""Requests of enrolled sites to replace a key or to start a new epoch: checked, kept for a person, put in force.

Anybody can sign a reset with keys of their own, and so can whoever has stolen a site's keys. What decides is a person
who asks the site, and the root key.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select

from aggregator.errors import EnrolmentError
from aggregator.log import journal
from aggregator.log.history import read_history
from aggregator.registry.versions import newest_registry
from aggregator.store.schema import rekeying_requests
from protocol.envelope import decode
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey
from protocol.predicates import ResetPredicate
from protocol.registry import Role, Site
from protocol.rekeying import Rekeying, open_rekeying
from protocol.statements import parse_statement

MAX_UNKNOWN = 20
"""Requests of one site that wait although not all their keys are in the registry. A site that is kept out by others'
hands its own over as a file."""


class TooManyRequestsError(Exception):
    """So many requests of keys that the registry does not know wait for this site that no more are kept."""


@dataclass(frozen=True, slots=True)
class PendingRekeying:
    """A reset or rotation that waits for a person.

    Attributes:
        rekeying: the request, with every proof it must carry.
        site: the registry's entry of its site now.
        envelope: the file as received.
    """

    rekeying: Rekeying
    site: Site
    envelope: bytes

    @property
    def site_id(self) -> str:
        """The id of its site."""
        return self.rekeying.header.site

    @property
    def kind(self) -> str:
        """`reset` or `rotate`."""
        return "reset" if isinstance(self.rekeying.predicate, ResetPredicate) else "rotate"

    @property
    def reason(self) -> str:
        """Why a site starts a new epoch; empty for a rotation, which needs no reason."""
        predicate = self.rekeying.predicate
        return predicate.reason if isinstance(predicate, ResetPredicate) else ""

    @property
    def signed_by_known_keys(self) -> bool:
        """Whether it could only be signed with a key that the registry has for its site."""
        known = {entry.key.keyid for entry in self.site.keys}
        return self.kind == "rotate" or all(key.keyid in known for key in self.rekeying.keys.values())

    def key_now(self, role: Role, log_index: int) -> PublicKey | None:
        """Return the key of this role that may sign the log entry `log_index`, None if there is none."""
        return next((entry.key for entry in self.site.keys if entry.role == role and entry.valid_at(log_index)), None)


@dataclass(frozen=True, slots=True)
class StaleRekeying:
    """A kept request that no longer fits what the log knows, and the code of the check that it fails."""

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


def keep_request(connection: Connection, request: PendingRekeying) -> None:
    """Keep a checked request for a person to approve. Repeating it changes nothing.

    A place that its rotation names may be taken by a submission meanwhile: it then no longer fits, and is no fork.

    Raises:
        TooManyRequestsError: too many of unknown keys wait for this site.
    """
    table = rekeying_requests.c
    digest = request.rekeying.digest
    if connection.execute(select(table.digest).where(table.digest == digest)).first() is not None:
        return
    if not request.signed_by_known_keys and _count_unknown(connection, request.site_id) >= MAX_UNKNOWN:
        # Of this site alone: anybody can fill the queues of all others, and the one writer would look through them.
        _, stale = pending_rekeyings(connection, request.site_id)
        drop_requests(connection, [old.digest for old in stale])
        if _count_unknown(connection, request.site_id) >= MAX_UNKNOWN:
            raise TooManyRequestsError
    connection.execute(
        insert(rekeying_requests).values(
            digest=digest,
            site=request.site_id,
            signed_by_known_keys=request.signed_by_known_keys,
            envelope=request.envelope,
        )
    )


def _count_unknown(connection: Connection, site_id: str) -> int:
    table = rekeying_requests.c
    unknown = (table.site == site_id) & ~table.signed_by_known_keys
    return connection.execute(select(func.count()).select_from(rekeying_requests).where(unknown)).scalar_one()


def pending_rekeyings(
    connection: Connection, site: str | None = None
) -> tuple[list[PendingRekeying], list[StaleRekeying]]:
    """Return the kept requests of one site or of all, those of known keys first; and those that fit no more."""
    table = rekeying_requests.c
    query = select(rekeying_requests).order_by(table.site, table.signed_by_known_keys.desc(), table.digest)
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
            f"the request no longer fits what the log knows of its site: {error.detail} ({error.code})",
            "Nothing was changed. The site makes a new request.",
        ) from None


def drop_requests(connection: Connection, digests: Sequence[str]) -> int:
    """Forget kept requests; return how many there were."""
    done = connection.execute(delete(rekeying_requests).where(rekeying_requests.c.digest.in_(digests)))
    return done.rowcount
