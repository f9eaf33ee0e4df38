"""Invites and enrolment requests: a single-use token, two proofs of possession, and a person's approval."""

import json
import secrets
import string
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, delete, exists, insert, select

from aggregator.errors import EnrolmentError
from aggregator.home import Home
from aggregator.registry.versions import newest_registry, own_pins
from aggregator.store.schema import enrolment_requests, entries, invites
from protocol import schema
from protocol.enrolment import Enrolment, enrolment_site, open_enrolment, token_verifier
from protocol.errors import Code, ProtocolError
from protocol.registry import Publication, Registry

TOKEN_BYTES = 32
_SITE_ALPHABET = string.digits + string.ascii_lowercase


@dataclass(frozen=True, slots=True)
class Invite:
    """An invite, given to a site over a channel that both sides trust. It is valid for one enrolment request."""

    name: str  # display name of the deployment
    url: str
    deployment: str
    site: str
    site_name: str
    publication: Publication
    token: str  # hex; only the invited site keeps it
    root_keys: tuple[str, ...]  # key ids of the roots to trust
    root_threshold: int
    expires_day: int

    def to_json(self) -> bytes:
        """Return the invite file."""
        fields = {name: getattr(self, name) for name in self.__slots__} | {
            "root_keys": list(self.root_keys),
            "schema": 1,
        }
        return json.dumps(fields, indent=2, sort_keys=True).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """An enrolment request that waits for a person."""

    display_name: str
    publication: Publication
    enrolment: Enrolment
    envelope: bytes

    @property
    def site(self) -> str:
        """The invited site's id."""
        return self.enrolment.predicate.header.site


def invite(
    connection: Connection, home: Home, *, site_name: str, publication: Publication, today_day: int
) -> Invite:
    """Create a site id and a token, and store only the token's verifier.

    Raises:
        EnrolmentError: the site's name is not valid in a registry.
    """
    try:
        schema.title(site_name, "the site's name")
    except ProtocolError as error:
        raise EnrolmentError(error.detail, "Choose another name.") from None
    registry = newest_registry(connection)
    pins = own_pins(registry)
    token = secrets.token_bytes(TOKEN_BYTES)
    made = Invite(
        name=home.settings.name or registry.deployment,
        url=home.settings.public_url,
        deployment=registry.deployment,
        site=_new_site_id(connection, registry),
        site_name=site_name,
        publication=publication,
        token=token.hex(),
        root_keys=tuple(sorted(pins.keyids)),
        root_threshold=pins.threshold,
        expires_day=today_day + home.settings.invite_days,
    )
    connection.execute(
        insert(invites).values(
            site=made.site,
            display_name=site_name,
            publication=publication,
            token_verifier=token_verifier(token),
            expires_day=made.expires_day,
        )
    )
    return made


InviteState = Literal["open", "waiting", "used", "expired"]
"""`waiting`: the site has sent its request, and a person still has to compare fingerprints."""


@dataclass(frozen=True, slots=True)
class KnownInvite:
    """An issued invite and its state."""

    site: str
    site_name: str
    publication: Publication
    state: InviteState
    expires_day: int


def list_invites(connection: Connection, *, today_day: int) -> list[KnownInvite]:
    """Return every issued invite that was not cancelled, ordered by last day and site."""
    waiting = set(connection.execute(select(enrolment_requests.c.site)).scalars())
    used = set(connection.execute(select(entries.c.site).distinct()).scalars())
    listed = []
    for row in connection.execute(select(invites).order_by(invites.c.expires_day, invites.c.site)):
        state: InviteState = "open"
        if row.site in used:
            state = "used"
        elif today_day >= row.expires_day:
            state = "expired"
        elif row.site in waiting:
            state = "waiting"
        listed.append(
            KnownInvite(row.site, row.display_name, row.publication, state, row.expires_day)
        )
    return listed


def cancel_invite(connection: Connection, site: str) -> bool:
    """Delete an invite and its request, if any; return whether there was a request.

    Raises:
        EnrolmentError: there is no invite for this site, or the site is already enrolled.
    """
    if connection.execute(select(exists().where(invites.c.site == site))).scalar() is not True:
        raise EnrolmentError(
            f"there is no invite for site {site!r}", "`invites` lists every invite."
        )
    if _is_enrolled(connection, site):
        raise EnrolmentError(
            f"site {site} is already enrolled, so its invite is used",
            "Nothing was changed. `registry propose --leave SITE` ends its keys.",
        )
    dropped = connection.execute(
        delete(enrolment_requests).where(enrolment_requests.c.site == site)
    )
    connection.execute(delete(invites).where(invites.c.site == site))
    return dropped.rowcount > 0


def _new_site_id(connection: Connection, registry: Registry) -> str:
    while True:
        site = "s-" + "".join(secrets.choice(_SITE_ALPHABET) for _ in range(8))
        taken = connection.execute(select(exists().where(invites.c.site == site))).scalar()
        if not taken and site not in registry.sites:
            return site


def open_request(connection: Connection, data: bytes, *, today_day: int) -> PendingRequest:
    """Check an enrolment request against its invite; nothing is stored.

    Raises:
        ProtocolError: as `open_enrolment`; WRONG_TOKEN also for an invite that is unknown, used or expired, so that
            no one can probe for site ids.
    """
    registry = newest_registry(connection)
    row = connection.execute(
        select(invites).where(invites.c.site == enrolment_site(data))
    ).one_or_none()
    if row is None or today_day >= row.expires_day or _is_enrolled(connection, row.site):
        raise ProtocolError(Code.WRONG_TOKEN, "the invite is unknown, used or expired")
    enrolment = open_enrolment(
        data,
        deployment=registry.deployment,
        site=row.site,
        verifier=row.token_verifier,
        registry_version=registry.version,
    )
    return PendingRequest(row.display_name, row.publication, enrolment, data)


def keep_request(connection: Connection, request: PendingRequest) -> None:
    """Store a checked request for a person to approve. Repeating this changes nothing.

    Raises:
        ProtocolError: WRONG_TOKEN if the invite was used for another request, as its token is for a single use.
    """
    query = select(enrolment_requests.c.digest).where(enrolment_requests.c.site == request.site)
    kept = connection.execute(query).scalar_one_or_none()
    if kept is None:
        connection.execute(
            insert(enrolment_requests).values(
                site=request.site, digest=request.enrolment.digest, envelope=request.envelope
            )
        )
    elif kept != request.enrolment.digest:
        raise ProtocolError(Code.WRONG_TOKEN, "the invite has been used for another request")


def pending_requests(connection: Connection, *, today_day: int) -> list[PendingRequest]:
    """Return the stored requests that still wait for a person, ordered by site id. Raises EnrolmentError."""
    query = select(enrolment_requests.c.envelope).order_by(enrolment_requests.c.site)
    waiting = []
    for envelope in connection.execute(query).scalars():
        try:
            waiting.append(open_request(connection, envelope, today_day=today_day))
        except ProtocolError as error:
            if error.code is not Code.WRONG_TOKEN:  # not just an invite that has expired since
                raise EnrolmentError(
                    f"a stored request is refused: {error.detail} ({error.code})",
                    "Nothing was changed. `invites` lists the sites with waiting requests; --cancel deletes one.",
                ) from None
    return waiting


def check_enrolment(connection: Connection, registry: Registry, request: PendingRequest) -> None:
    """Check that a request may be granted under the newest registry.

    Raises:
        EnrolmentError: the site is already enrolled, or one of the keys is already in use.
    """
    if request.site in registry.sites or _is_enrolled(connection, request.site):
        raise EnrolmentError(f"site {request.site} is already enrolled")
    _refuse_known_keys(registry, request)


def _refuse_known_keys(registry: Registry, request: PendingRequest) -> None:
    for key in (request.enrolment.agent, request.enrolment.steward):
        owner = registry.site_of(key.keyid)
        if owner is not None:
            raise EnrolmentError(
                f"key {key.fingerprint} of the request already belongs to site {owner[0]}"
            )
        if registry.holds(key.keyid):
            raise EnrolmentError(
                f"key {key.fingerprint} of the request already has another role (duplicate_key)"
            )


def _is_enrolled(connection: Connection, site: str) -> bool:
    return bool(connection.execute(select(exists().where(entries.c.site == site))).scalar())
