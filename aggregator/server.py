"""Running the HTTP face: one process, bounded, quiet."""

import logging
import socket

import uvicorn

from aggregator.app import make_app
from aggregator.errors import RegistryError, SettingsError
from aggregator.home import Home
from aggregator.registry.versions import all_envelopes, walk
from protocol.errors import ProtocolError

KEEP_ALIVE_S = 5
LONGEST_HEADERS = 16 * 1024  # bytes
LOG_FORMAT = "%(asctime)s level=%(levelname)s logger=%(name)s %(message)s"


def bind(host: str, port: int) -> socket.socket:
    """Open the listening socket; port 0 takes a free one.

    Raises:
        SettingsError: the address cannot be listened on.
    """
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=256
        )
    except OSError as error:
        raise SettingsError(f"cannot listen on {host} port {port}: {error.strerror}") from None


def check_ready(home: Home) -> None:
    """Refuse to start where a submission could not be handled.

    Raises:
        StoreError: the database is missing or of another version.
        RegistryError: a registry version does not follow from the one before.
        KeyFileError: the log's key is missing or readable by others, or is not the registry's.
    """
    home.database.check_version()
    with home.database.reading() as connection:
        versions = all_envelopes(connection)
    try:
        newest = walk(versions)[-1]
    except (ProtocolError, IndexError) as error:
        raise RegistryError(f"the registry in the database does not hold: {error}") from None
    if home.log_key.public.keyid != newest.log_key.keyid:
        raise RegistryError("keys/log.key is not the log key that the registry names")


def start_logging() -> None:
    """Write to standard error: identifiers, counts and codes, never what was sent."""
    logging.basicConfig(level=logging.INFO, format=LOG_FORMAT)


def make_server(home: Home) -> uvicorn.Server:
    """Make the server. Running it ends at SIGINT or SIGTERM, after the requests under way."""
    config = uvicorn.Config(
        make_app(home),
        access_log=False,  # it would write addresses and whatever was put into a path
        log_config=None,
        log_level="warning",
        server_header=False,
        limit_concurrency=home.settings.max_in_flight,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=10,
        h11_max_incomplete_event_size=LONGEST_HEADERS,
        lifespan="off",
        http="h11",
        ws="none",
    )
    config.load()
    return uvicorn.Server(config)
