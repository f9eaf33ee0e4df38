"""The address of the service in site.yaml: where it listens, how the way there is protected, and its TLS files."""

import ipaddress
import os
import ssl
import stat
from dataclasses import dataclass
from pathlib import Path

from agent.errors import ConfigError
from agent.site.directory import Site


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


def check_tls_files(address: Address) -> None:
    """Check that the certificate and its key can be served, if there are any.

    Raises:
        ConfigError: a file cannot be read, is not PEM, or the key is another certificate's, has a password, or is open
            to other accounts.
    """
    if address.certificate is None or address.key is None:
        return
    for setting, path in (
        ("service_tls_certificate", address.certificate),
        ("service_tls_key", address.key),
    ):
        try:
            path.read_bytes()
        except OSError as error:
            raise ConfigError(
                f"{setting}: {path} cannot be read ({error.strerror})",
                f"Correct {setting} in site.yaml, or put the PEM file there, readable by the account of the service.",
            ) from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # Without a password given here, OpenSSL would ask for it on the terminal.
        context.load_cert_chain(address.certificate, address.key, password="")
    except (OSError, ValueError):  # ssl.SSLError is an OSError
        raise ConfigError(
            "service_tls_certificate and service_tls_key cannot be used together",
            "Name a PEM file with the certificate and its chain, and one with this certificate's key, without a "
            "password.",
        ) from None
    _check_key_mode(address.key)


def _check_key_mode(key: Path) -> None:
    """Check that other accounts cannot read the key. Raises ConfigError.

    A key of the system, such as one of the group ssl-cert, may be readable by its group: this account reads it so.
    """
    state = key.stat()
    is_own = state.st_uid == os.geteuid()
    if stat.S_IMODE(state.st_mode) & (0o077 if is_own else 0o007):
        raise ConfigError(
            f"service_tls_key: {key} can be read by other accounts of this machine",
            "Find out who could read it, and replace certificate and key if anyone did. Otherwise, run `chmod 600` "
            "on it.",
        )
