"""People whom a trusted reverse proxy has signed in, by the headers of their requests.

The headers are believed only in requests that come from the proxy's address, and, if a secret is set, that carry it.
The address must be that of the connection itself: a server that replaces it by `X-Forwarded-For` (uvicorn's
`proxy_headers`) lets anyone claim to be the proxy.
"""

import hmac
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent.access.external import ExternalIdentity
from agent.access.refusals import SignInRefusedError
from agent.access.secret_file import read_secret_file
from agent.store import Origin

if TYPE_CHECKING:
    from agent.site.settings import Settings

SECRET_HEADER: Final = "X-Intramural-Proxy-Secret"  # noqa: S105 (a name)


class ProxyHeaderRefusedError(SignInRefusedError):
    """A request carries the proxy's headers, but does not come from the proxy, or not in a form that it sends."""

    advice = "Open the service at the proxy's address. An administrator checks `trusted_proxy` in site.yaml."


@dataclass(frozen=True, slots=True)
class TrustedProxy:
    """The reverse proxy whose headers are believed.

    Attributes:
        address: its IP address.
        user_header, groups_header: names of its headers.
        secret: what it sends in `SECRET_HEADER`; "" if its address is enough.
    """

    address: str
    user_header: str
    groups_header: str
    secret: str = ""


def read_trusted_proxy(settings: "Settings") -> TrustedProxy | None:
    """Return the site's trusted proxy, or None if it has none. Raises ConfigError if its secret cannot be read."""
    if settings.trusted_proxy is None:
        return None
    secret = ""
    if settings.trusted_proxy_secret_file is not None:
        secret = read_secret_file(settings.trusted_proxy_secret_file, "trusted_proxy_secret_file")
    return TrustedProxy(
        address=settings.trusted_proxy,
        user_header=settings.trusted_proxy_user_header,
        groups_header=settings.trusted_proxy_groups_header,
        secret=secret,
    )


def read_proxy_account(
    headers: Iterable[tuple[str, str]], peer: str, proxy: TrustedProxy
) -> ExternalIdentity | None:
    """Return the person whom the proxy names, or None for a request that names nobody.

    Args:
        headers: all headers of the request with repetitions, decoded as Latin-1.
        peer: the IP address from which the connection comes.
        proxy: the trusted proxy.

    Raises:
        ProxyHeaderRefusedError: the headers name someone, but the request is not the proxy's, or they are repeated,
            damaged, or a variant that another server could take for the same header.
    """
    users, groups, secrets = _collect(headers, proxy)
    if not users and not groups:
        return None
    if not _is_proxy(peer, proxy.address):
        raise ProxyHeaderRefusedError(
            "this request names a person in a header, but does not come from the trusted proxy"
        )
    if proxy.secret and not _is_secret(secrets, proxy.secret):
        raise ProxyHeaderRefusedError("the trusted proxy did not send its secret")
    if len(users) != 1:
        raise ProxyHeaderRefusedError(
            "the trusted proxy's header with the person is not there once"
        )
    name = _decode(users[0])
    if not name or not name.isprintable():
        raise ProxyHeaderRefusedError("the trusted proxy's header with the person is damaged")
    return ExternalIdentity(Origin.PROXY, name, name, _split_groups(groups))


def _collect(
    headers: Iterable[tuple[str, str]], proxy: TrustedProxy
) -> tuple[list[str], list[str], list[str]]:
    """Return the values of the headers with the person, the groups and the secret.

    Underscores count as hyphens: an attacker could send the variant that the proxy does not remove.
    """
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(_fold(name), []).append(value)
    wanted = (proxy.user_header, proxy.groups_header, SECRET_HEADER)
    users, groups, secrets = (values.get(_fold(name), []) for name in wanted)
    return users, groups, secrets


def _fold(name: str) -> str:
    return name.lower().replace("_", "-")


def _is_proxy(peer: str, address: str) -> bool:
    try:
        return _unmap(peer) == _unmap(address)
    except ValueError:
        return False


def _unmap(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address; one of IPv4 in the notation of IPv6 is the same address."""
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped
    return parsed


def _is_secret(sent: list[str], secret: str) -> bool:
    return len(sent) == 1 and hmac.compare_digest(
        sent[0].encode("latin-1", "replace"), secret.encode()
    )


def _decode(value: str) -> str:
    """Return the text of a header's value, which servers decode as Latin-1; "" if it is not UTF-8."""
    try:
        return value.encode("latin-1").decode("utf-8").strip()
    except UnicodeError:
        return ""


def _split_groups(values: list[str]) -> frozenset[str]:
    groups = [group.strip() for value in values for group in _decode(value).split(",")]
    return frozenset(group for group in groups if group)
