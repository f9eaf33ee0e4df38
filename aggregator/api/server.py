"""Running the HTTP face in one process; `workers.py` runs several of them."""

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
BACKLOG = 1024  # connections that the system keeps until they are taken


def bind(host: str, port: int) -> socket.socket:
    """Open the listening socket; port 0 takes a free one.

    Raises:
        SettingsError: the address cannot be listened on.
    """
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=BACKLOG
        )
    except OSError as error:
        raise SettingsError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    # An answer is written in two parts. Without this, the second waits 40 ms for the client to confirm the first, since
    # the event loop sets it itself only on sockets that say their protocol. Accepted connections inherit it.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def check_ready(home: Home) -> None:
    """Refuse to start where a submission could not be handled.

    Raises:
        StoreError: the database is missing or of another version, or was restored and not compared.
        RegistryError: of the registry versions that a statement may name, one does not follow from the one before. All
            others were verified when they were signed, and `verify` walks them.
        KeyFileError: the log's key is missing or readable by others, or is not the registry's.
    """
    home.database.check_version()
    with home.database.reading() as connection:
        refuse_restored(connection)
        recent = recent_envelopes(connection)
    try:
        newest = walk([envelope for _, envelope in recent], first=recent[0][0] if recent else 1)[-1]
    except (ProtocolError, IndexError) as error:
        raise RegistryError(f"the registry in the database does not hold: {error}") from None
    home.log_signer(newest)
    home.receipt_signer(newest)


def make_server(home: Home) -> uvicorn.Server:
    """Make the server. Running it ends at SIGINT or SIGTERM, after the requests under way."""
    limits = ConnectionLimits(
        arrival_s=home.settings.arrival_timeout_s,
        keep_alive_s=home.settings.keep_alive_s,
        exchange_s=home.settings.exchange_timeout_s,
        max_connections=home.settings.max_connections,
    )
    config = uvicorn.Config(
        make_app(home),
        access_log=False,  # it would write addresses and paths, and anybody can put anything into a path
        log_config=None,
        log_level="error",  # a line for each malformed request would fill the disk for an attacker
        server_header=False,
        proxy_headers=False,  # `clients.py` decides which proxy is believed
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
    """Serve one aggregator's directory in this process until it is asked to end."""
    make_server(Home(directory)).run(sockets=[listening])
