"""The HTTP server in a single process. `workers.py` runs several of them."""

import math
import socket
from pathlib import Path

import uvicorn

from aggregator.api.app import make_app
from aggregator.api.connections import ConnectionLimits, limit
from aggregator.errors import RegistryError, SettingsError
from aggregator.home import Home
from aggregator.log.restored import refuse_restored
from aggregator.registry.versions import recent_envelopes, walk
from protocol.errors import ProtocolError

MAX_HEADERS = 16 * 1024  # bytes
BACKLOG = 1024  # connections that the system queues until they are accepted


def bind(host: str, port: int) -> socket.socket:
    """Open the listening socket. Port 0 chooses a free port.

    Raises:
        SettingsError: the address is not available.
    """
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=BACKLOG
        )
    except OSError as error:
        raise SettingsError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    # A response is written in two parts. Without TCP_NODELAY, the second waits 40 ms for the client
    # to acknowledge the first. The event loop sets the option only on sockets created with an
    # explicit protocol. Accepted connections inherit it.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def check_ready(home: Home) -> None:
    """Check that submissions can be handled, before starting.

    Raises:
        StoreError: the database is missing or of another version, or was restored and not yet
            resumed.
        RegistryError: a registry version that statements may name does not follow from the previous
            one. Older versions were verified when they were signed, and `verify` checks them.
        KeyFileError: the log key is missing, is readable by others, or is not the one in the
            registry.
    """
    home.database.check_version()
    with home.database.reading() as connection:
        refuse_restored(connection)
        recent = recent_envelopes(connection)
    try:
        newest = walk([envelope for _, envelope in recent], first=recent[0][0] if recent else 1)[-1]
    except (ProtocolError, IndexError) as error:
        raise RegistryError(f"the registry in the database is not valid: {error}") from None
    home.log_signer(newest)
    home.receipt_signer(newest)


def make_server(home: Home) -> uvicorn.Server:
    """Create the server. It stops at SIGINT or SIGTERM, after finishing the requests in progress."""
    limits = ConnectionLimits(
        arrival_s=home.settings.arrival_timeout_s,
        keep_alive_s=home.settings.keep_alive_s,
        exchange_s=home.settings.exchange_timeout_s,
        max_connections=home.settings.max_connections,
    )
    config = uvicorn.Config(
        make_app(home),
        access_log=False,  # it would log addresses and paths, which may contain any client data
        log_config=None,
        log_level="error",  # with a line per malformed request, an attacker could fill the disk
        server_header=False,
        proxy_headers=False,  # `clients.py` decides which proxies are trusted
        backlog=BACKLOG,
        timeout_keep_alive=math.ceil(home.settings.keep_alive_s),
        timeout_graceful_shutdown=10,
        h11_max_incomplete_event_size=MAX_HEADERS,
        lifespan="off",
        http=limit(limits),
        ws="none",
    )
    config.load()
    return uvicorn.Server(config)


def serve_directory(directory: Path, listening: socket.socket) -> None:
    """Serve an aggregator's directory in this process until it is told to stop."""
    make_server(Home(directory)).run(sockets=[listening])
