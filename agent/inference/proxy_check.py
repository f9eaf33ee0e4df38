"""Find out whether a proxy accepts connections. Nothing is sent."""

import socket
from urllib.parse import urlsplit

_PATIENCE_S = 5.0


def accepts_connections(url: str) -> bool:
    """Return whether a connection to the host and port of an address can be opened within five seconds."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), _PATIENCE_S).close()
    except (OSError, ValueError):  # a UnicodeError of the host is a ValueError
        return False
    return True
