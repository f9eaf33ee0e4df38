"""Requests for a site's head: the site's agent signs the id of the site and the time (rule 8.1).

Only the site itself may learn the head of a pooled site's chain and the receipts of its links. Otherwise, an observer
of the public log could learn which site sent which hidden entry. Requests have their own envelope type, so that a
request is never taken for a statement or a statement for a request. The service accepts a request for some minutes
around its time.
"""

from dataclasses import dataclass
from typing import Final

from protocol import schema
from protocol.canonical import canonical, parse_canonical
from protocol.envelope import HEAD_REQUEST_TYPE, Envelope, decode, sign
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey, Signer
from protocol.registry import Registry

TOLERANCE_S: Final = 600
"""The maximum difference between the clocks of a site and of the service, in seconds."""

_SCHEMA_VERSION: Final = 1
_REQUEST = frozenset({"schema", "deployment", "site", "time_s"})


@dataclass(frozen=True, slots=True)
class HeadRequest:
    """One site's request for its own head.

    Attributes:
        deployment: the aggregator's origin.
        site: id of the site that asks.
        time_s: seconds since 1970-01-01 UTC, according to the site's clock.
    """

    deployment: str
    site: str
    time_s: int


def sign_head_request(request: HeadRequest, agent: Signer) -> bytes:
    """Return the envelope file with the agent's signature."""
    payload = canonical(
        {
            "schema": _SCHEMA_VERSION,
            "deployment": request.deployment,
            "site": request.site,
            "time_s": request.time_s,
        }
    )
    _parse(payload)
    return sign(payload, [agent], HEAD_REQUEST_TYPE)


def check_head_request(
    data: bytes, site: str, registry: Registry, *, log_size: int, now_s: int
) -> None:
    """Check that an agent of `site` requests its head now.

    Args:
        data: the envelope file.
        site: id of the site whose head is requested.
        registry: the newest registry.
        log_size: number of entries of the log; the key must be allowed to sign the next entry.
        now_s: seconds since 1970-01-01 UTC.

    Raises:
        ProtocolError: MALFORMED if the file is not an envelope with a request; UNKNOWN_KEY for any other fault, so
            that a stranger learns nothing about the site.
    """
    opened = decode(data, HEAD_REQUEST_TYPE)
    if not _is_asked_by(site, opened, registry, log_size=log_size, now_s=now_s):
        raise ProtocolError(
            Code.UNKNOWN_KEY, "not signed by an agent of the site, or not at this time"
        )


def _is_asked_by(
    site: str, opened: Envelope, registry: Registry, *, log_size: int, now_s: int
) -> bool:
    try:
        opened.verify(_find_agents(site, registry, log_size))
        request = _parse(opened.payload)
    except ProtocolError:
        return False
    is_fresh = abs(request.time_s - now_s) <= TOLERANCE_S
    return is_fresh and (request.deployment, request.site) == (registry.deployment, site)


def _find_agents(site: str, registry: Registry, log_size: int) -> dict[str, PublicKey]:
    entry = registry.sites.get(site)
    keys = () if entry is None else entry.keys
    return {
        key.key.keyid: key.key for key in keys if key.role == "agent" and key.valid_at(log_size)
    }


def _parse(payload: bytes) -> HeadRequest:
    fields = schema.record(parse_canonical(payload), _REQUEST, "head request")
    schema.integer(fields["schema"], "schema", _SCHEMA_VERSION, _SCHEMA_VERSION)
    return HeadRequest(
        deployment=schema.text(fields["deployment"], "deployment", schema.ORIGIN),
        site=schema.text(fields["site"], "site", schema.SITE),
        time_s=schema.integer(fields["time_s"], "time_s"),
    )
