"""Addresses in the settings: the outgoing proxy's, the trusted proxy's and the OpenID provider's."""

import ipaddress
from urllib.parse import urlsplit


def check_outgoing_proxy(url: str) -> str:
    """Return the URL of the proxy for outgoing requests, which may contain a user and a password.

    Raises:
        ValueError: it is not `http://[USER:PASSWORD@]HOST[:PORT]`, or the same with https. It is never quoted.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    else:
        extras = parts.path.strip("/") or parts.query or parts.fragment
        if parts.scheme not in ("http", "https") or extras or parts.netloc.count("@") > 1:
            host = None
    if not host:
        raise ValueError(
            "expected http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, with special characters of user and "
            "password as in a URL (%40 for @, %3A for :, %2F for /)"
        )
    return url


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
