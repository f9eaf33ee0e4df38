"""Start the service: its address, TLS, the queue's dispatcher, and the server until it is interrupted."""

import ipaddress
import socket
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from agent.errors import ConfigError
from agent.jobs.dispatcher import Dispatcher
from agent.service.web.application import build_application
from agent.service.web.service import Service
from agent.site.directory import Site

_WAITING_CONNECTIONS = 256
_GRACE_S = 3
# Longer than programs and pages usually wait between two looks at a job: uvicorn's own 5 s would close the connection
# in the moment in which one that looks every 5 s sends its next request.
_KEEP_ALIVE_S = 30


@dataclass(frozen=True, slots=True)
class Address:
    """Where the service listens, and the address at which people open it.

    Attributes:
        host: an IP address of this machine.
        port: the port; 0 chooses a free one.
        origin: scheme, host and port as browsers see them; empty if it is that of `host` and `port`.
        certificate, key: PEM files for HTTPS, or None.
    """

    host: str
    port: int
    origin: str = ""
    certificate: Path | None = None
    key: Path | None = None


def read_address(site: Site, port: int | None) -> Address:
    """Return the address in the site's settings.

    Raises:
        ConfigError: other machines could reach the service without encryption, or half of the TLS files is named.
    """
    settings = site.settings
    certificate, key = settings.service_tls_certificate, settings.service_tls_key
    if (certificate is None) != (key is None):
        raise ConfigError(
            "service_tls_certificate and service_tls_key must be set together",
            "Name both PEM files in site.yaml, or none.",
        )
    address = Address(
        host=settings.service_host,
        port=settings.service_port if port is None else port,
        origin=(settings.service_origin or "").rstrip("/"),
        certificate=certificate and site.directory / certificate,
        key=key and site.directory / key,
    )
    is_protected = certificate is not None or settings.trusted_proxy is not None
    if not _is_loopback(address.host) and not is_protected:
        raise ConfigError(
            f"service_host {address.host} can be reached by other machines, and nothing encrypts the way there",
            "Set service_tls_certificate and service_tls_key, or trusted_proxy if a reverse proxy does that.",
        )
    if not _is_loopback(address.host) and not address.origin:
        raise ConfigError(
            "service_origin is missing: the address that people enter in their browser",
            "Set it in site.yaml, for example https://eval.hospital.example.",
        )
    return address


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise ConfigError(
            "service_host must be an IP address of this machine",
            "Write 127.0.0.1 for this machine only, or 0.0.0.0 for all its addresses.",
        ) from None


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


def serve(site: Site, address: Address, listener: socket.socket) -> None:
    """Serve and work off the queue until interrupted.

    Nothing is logged, because addresses could identify runs and readers.

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
    service.texts.begin_warming()
    try:
        with Dispatcher(site) as dispatcher:
            service.find_queue_problem = lambda: dispatcher.problem
            # Only now is it certain that no other service of this site has files in transit.
            service.transfers.clear()
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        service.close()
