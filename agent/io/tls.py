"""Load certificate authorities for outgoing TLS from the settings or the system, never from the environment."""

import os
import ssl
from pathlib import Path
from typing import Final

from agent.errors import ConfigError

_OBEYED_BY_OPENSSL: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Environment variables that would replace the system's certificate authorities."""


def load_trust(ca_bundle: Path | None) -> ssl.SSLContext:
    """Return the TLS context of a client: TLS 1.2 or newer, with checks of host names.

    Environment variables are ignored. OpenSSL reads its variables when the connection opens, so they are removed from
    this process's environment. `ssl.create_default_context()` is not used, because it writes the secrets of every
    connection to the file named by SSLKEYLOGFILE.

    Args:
        ca_bundle: PEM file; None for the system's certificate authorities.

    Raises:
        ConfigError: the file cannot be read or contains no certificate.
    """
    context = _system_context() if ca_bundle is None else _bundle_context(ca_bundle)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _system_context() -> ssl.SSLContext:
    import truststore

    for name in _OBEYED_BY_OPENSSL:
        os.environ.pop(name, None)
    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _bundle_context(ca_bundle: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cafile=ca_bundle)
    except (OSError, ssl.SSLError):
        raise ConfigError(
            "ca_bundle is not a readable PEM file of certificate authorities"
        ) from None
    return context
