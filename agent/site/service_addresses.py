"""Addresses in the settings of the service: the trusted proxy's and the OpenID provider's."""

import ipaddress
from urllib.parse import urlsplit


def check_proxy_address(address: str) -> str:
    """Return the IP address of a proxy as the system writes it.

    Raises:
        ValueError: it is not one address. A name would depend on the name server, and a network on all its machines.
    """
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        raise ValueError("expected one IP address, such as 10.1.2.3") from None


def check_issuer(url: str) -> str:
    """Return the URL of an OpenID provider.

    Raises:
        ValueError: it is not `https://HOST[:PORT][/PATH]`, or uses plain http for another machine.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("expected a URL") from None
    extras = parts.query or parts.fragment or parts.username or parts.password
    if parts.scheme not in ("https", "http") or not host or extras:
        raise ValueError("expected https://HOST, with a port and a path if the provider has them")
    if parts.scheme == "http" and not is_loopback(host):
        raise ValueError("expected https: plain http is allowed only on this machine")
    return url


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine: `localhost` or a loopback address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
