"""Start the service: its address, TLS, the queue's dispatcher, and the server until it is interrupted."""

import errno
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from agent.errors import ConfigError
from agent.jobs.dispatcher import Dispatcher
from agent.monitoring.events import ServiceStarted, ServiceStopped
from agent.monitoring.log import log_event
from agent.service.web.address import Address
from agent.service.web.application import build_application
from agent.service.web.service import Service
from agent.site.directory import Site
from agent.site.service_addresses import is_loopback

_WAITING_CONNECTIONS = 256
_GRACE_S = 3
# Longer than programs and pages usually wait between two looks at a job: uvicorn's own 5 s would close the connection
# in the moment in which one that looks every 5 s sends its next request.
_KEEP_ALIVE_S = 30


def listen(address: Address) -> socket.socket:
    """Bind the address.

    Raises:
        ConfigError: it is in use or not allowed.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address.host, address.port))
        listener.listen(_WAITING_CONNECTIONS)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise ConfigError(
                f"service_host {address.host} is not an address of this machine",
                "Write 127.0.0.1 for this machine only, or 0.0.0.0 for all its addresses.",
            ) from None
        raise ConfigError(
            f"port {address.port} on {address.host} cannot be used ({error.strerror})",
            "Choose another with --port, or service_port in site.yaml; 0 selects a free one.",
        ) from None
    return listener


def find_origin(address: Address, listener: socket.socket) -> str:
    """Return the address at which people open the service."""
    if address.origin:
        return address.origin
    scheme = "https" if address.certificate else "http"
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{scheme}://{host}:{listener.getsockname()[1]}"


def serve(
    site: Site, address: Address, listener: socket.socket, announce: Callable[[], object]
) -> None:
    """Serve and work off the queue until interrupted.

    Requests are logged by their routes only, because addresses could identify runs and readers.

    Args:
        site: the site.
        address: its address.
        listener: the socket that listens there.
        announce: called once nothing can keep the service from starting any more.

    Raises:
        BusyError: another service works off this site's queue.
    """
    service = Service(site, find_origin(address, listener))
    config = uvicorn.Config(
        build_application(service),
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        lifespan="off",
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
        timeout_keep_alive=_KEEP_ALIVE_S,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
    )
    server = uvicorn.Server(config)
    service.texts.begin_warming()
    try:
        with (
            _end_in_order(server),
            Dispatcher(site) as dispatcher,
            _log_service(address),
        ):
            service.find_queue_problem = lambda: dispatcher.problem
            # Only now is it certain that no other service of this site has files in transit.
            service.transfers.clear()
            announce()
            server.run(sockets=[listener])
    finally:
        service.close()


@contextmanager
def _end_in_order(server: uvicorn.Server) -> Iterator[None]:
    """Return a context in which SIGTERM, with which systemd and containers end a service, ends the server in order.

    The signal is only noted. An exception that is raised wherever it arrives can leave the lock of an import behind,
    for which the thread that loads the redactor then waits for ever. uvicorn notes it itself while it serves, and sends
    it again at its end.
    """

    def note(number: int, frame: object) -> None:
        del number, frame
        server.should_exit = True

    before = signal.signal(signal.SIGTERM, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _log_service(address: Address) -> Iterator[None]:
    """Log that the service is ready, and that it ended."""
    log_event(ServiceStarted(is_loopback(address.host), tls=address.certificate is not None))
    began = time.monotonic()
    try:
        yield
    finally:
        log_event(ServiceStopped(time.monotonic() - began))
