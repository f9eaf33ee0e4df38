"""Whom an outgoing TLS connection trusts: the settings' authorities, else the system's, and never the environment's."""

import ssl
from pathlib import Path

from agent.errors import ConfigError


def trusted(ca_bundle: Path | None) -> ssl.SSLContext:
    """Return the context of a client.

    Args:
        ca_bundle: PEM file; None means the system's certificate authorities.

    Raises:
        ConfigError: the file cannot be read or holds no certificate.
    """
    if ca_bundle is None:
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return ssl.create_default_context(cafile=ca_bundle)
    except (OSError, ssl.SSLError):
        raise ConfigError("ca_bundle is not a readable PEM file of certificate authorities") from None
