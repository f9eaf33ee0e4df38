"""What of a deployment this package needs to reach its server, and the secrets and trust it is reached with."""

import os
import ssl
import stat
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from agent.errors import ConfigError


class Endpoint(Protocol):
    """An OpenAI-compatible server. Every deployment is one."""

    @property
    def name(self) -> str:
        """The deployment's own name, for messages."""

    @property
    def base_url(self) -> str:
        """The server's address, ending in `/v1`."""

    @property
    def served_model(self) -> str:
        """The name the server knows the model by."""

    @property
    def token_file(self) -> Path | None:
        """File (0600) that holds the bearer token, or None for no token."""

    @property
    def proxy(self) -> str | None:
        """Proxy URL, or None for a direct connection. Proxies of the environment are never used."""

    @property
    def ca_bundle(self) -> Path | None:
        """PEM file of certificate authorities for an https server; None means the system's trust store."""


def chat_url(endpoint: Endpoint) -> str:
    """Return the address of the server's chat completions.

    Raises:
        ConfigError: the base URL is no http(s) URL with a host, or holds a user, password, query or fragment.
    """
    raise NotImplementedError


def bearer_token(endpoint: Endpoint) -> str | None:
    """Read the bearer token. It is never logged or shown.

    Raises:
        ConfigError: the file is missing, empty, not plain ASCII, or readable by others than its owner.
    """
    raise NotImplementedError


def trust(endpoint: Endpoint) -> ssl.SSLContext:
    """Return the one TLS context that all of a run's connections share."""
    raise NotImplementedError


_ = (os, stat, urlsplit, ConfigError)
