"""Identification of clients for limits: by address, or by the network assigned to one customer."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.types import Scope

IPV6_CUSTOMER_BITS = 64  # a customer is assigned such a network and can use every address in it
UNKNOWN_CLIENT = "unknown"

Network = IPv4Network | IPv6Network


class ClientNamer:
    """Identifies the client of a request, using the header of trusted proxies if there are any."""

    def __init__(self, trusted_proxies: Sequence[str], header: str) -> None:
        """Trust `header` only in requests from the given networks.

        Args:
            trusted_proxies: Addresses or networks of our own reverse proxies.
            header: Header to which they append the client's address, such as X-Forwarded-For.
        """
        self._trusted: list[Network] = [ip_network(text) for text in trusted_proxies]
        self._header = header.lower().encode("ascii")

    def name(self, scope: Scope) -> str:
        """Return an address, the /64 network of an IPv6 address, or UNKNOWN_CLIENT."""
        peer = scope.get("client")
        nearest = peer[0] if peer else ""
        if not self._is_trusted(nearest):
            return _name_customer(nearest)
        # Each proxy appends the address of its peer. The last address that is not one of our
        # proxies is the client. Earlier addresses are claimed by the client, so they are
        # not trusted.
        for address in reversed(self._read_header(scope)):
            if not self._is_trusted(address):
                return _name_customer(address)
        return _name_customer(nearest)

    def _read_header(self, scope: Scope) -> list[str]:
        values = [value for name, value in scope["headers"] if name == self._header]
        text = b",".join(values).decode("latin-1")
        return [part.strip() for part in text.split(",") if part.strip()]

    def _is_trusted(self, text: str) -> bool:
        try:
            address = ip_address(text)
        except ValueError:
            return False
        return any(address in network for network in self._trusted)


def _name_customer(text: str) -> str:
    try:
        address = ip_address(text)
    except ValueError:
        return UNKNOWN_CLIENT
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((address, IPV6_CUSTOMER_BITS), strict=False))
