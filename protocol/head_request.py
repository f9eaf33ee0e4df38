"""Requests for a site's head: the site's agent signs for which site it asks, and when (rule 8.1).

How far a pooled site's chain has come is told to nobody else, nor are the receipts of its links: who watches the
public log could learn from it which site sent which hidden entry. An envelope of a type of its own, so that no
request is ever a statement, and none is a request. The service takes it for some minutes around its time.
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
"""Seconds by which the clocks of a site and of the service may differ."""

_SCHEMA_VERSION: Final = 1
_REQUEST = frozenset({"schema", "deployment", "site", "time_s"})


@dataclass(frozen=True, slots=True)
class HeadRequest:
    """One site's request for its own head.

    Attributes:
        deployment: the aggregator's origin.
        site: id of the site that asks.
        time_s: seconds since 1970-01-01 UTC by the site's clock.
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
    """Return if an agent of `site` asks for its head now.

    Args:
        data: the envelope file.
        site: the one whose head would be told.
        registry: the newest.
        log_size: number of entries of the log; the key must be one that may sign the next.
        now_s: seconds since 1970-01-01 UTC.

    Raises:
        ProtocolError: MALFORMED if it is no envelope of a request. Else UNKNOWN_KEY, whatever is wrong: a stranger
            learns nothing of the site.
    """
    opened = decode(data, HEAD_REQUEST_TYPE)
    if not _is_asked_by(site, opened, registry, log_size=log_size, now_s=now_s):
        raise ProtocolError(Code.UNKNOWN_KEY, "no agent of the site has signed this, or not now")


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
