"""The only connections that this room opens: to a server that the agent itself started, on this machine."""

import http.client
import socket
from typing import Final

ADDRESS: Final = "127.0.0.1"

_REPLY_S = 5.0


def choose_port() -> int:
    """Return a port of this machine that nobody uses now."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port: int = probe.getsockname()[1]
        return port


def is_ready(port: int, token: str) -> bool:
    """Return whether a server lists its models to a holder of the token, and refuses everybody else.

    A stranger's server that took the port in between would not know the token.
    """
    return _ask_for_models(port, token) == 200 and _ask_for_models(port, "x") in (401, 403)


def _ask_for_models(port: int, token: str) -> int | None:
    """Return the status of the reply; None if there is none yet."""
    connection = http.client.HTTPConnection(ADDRESS, port, timeout=_REPLY_S)
    try:
        connection.request("GET", "/v1/models", headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
