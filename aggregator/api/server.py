"""Running the HTTP face: one process, bounded, quiet."""

import asyncio
import logging
import socket

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from aggregator.api.app import make_app
from aggregator.errors import RegistryError, SettingsError
from aggregator.home import Home
from aggregator.registry.versions import all_envelopes, walk
from aggregator.settings import Settings
from protocol.errors import ProtocolError

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
    home.log_signer(newest)
    home.receipt_signer(newest)


def start_logging(level: str) -> None:
    """Write to standard error: identifiers, counts and codes, never what was sent.

    The level is that of our own loggers; other libraries', which may quote statements and addresses, stay at warnings.
    """
    logging.basicConfig(format=LOG_FORMAT, level=logging.WARNING)
    logging.getLogger("aggregator").setLevel(level.upper())


def make_server(home: Home) -> uvicorn.Server:
    """Make the server. Running it ends at SIGINT or SIGTERM, after the requests under way."""
    config = uvicorn.Config(
        make_app(home),
        access_log=False,  # it would write addresses and whatever was put into a path
        log_config=None,
        log_level="warning",
        server_header=False,
        headers=[("Connection", "close")],  # one request a connection, so that the limits below cover each
        limit_concurrency=home.settings.max_in_flight,
        timeout_graceful_shutdown=10,
        h11_max_incomplete_event_size=LONGEST_HEADERS,
        lifespan="off",
        http=_impatient(home.settings),
        ws="none",
    )
    config.load()
    return uvicorn.Server(config)


def _impatient(settings: Settings) -> type[H11Protocol]:
    """Make a protocol that ends a connection whose request does not come, or whose answer is not taken, in time.

    Without it a few hundred silent connections would keep everyone else out.
    """

    class Impatient(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.loop.call_later(settings.arrival_timeout_s, self.give_up_without_request)
            self.loop.call_later(settings.connection_timeout_s, transport.abort)

        def give_up_without_request(self) -> None:
            if self.cycle is None:
                self.transport.abort()

    return Impatient
