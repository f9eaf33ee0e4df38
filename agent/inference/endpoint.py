"""The connection settings of a deployment's server: address, proxy, bearer token and certificate authorities."""

import os
import re
import ssl
from pathlib import Path
from typing import Protocol
from urllib.parse import SplitResult, urlsplit

from agent.errors import ConfigError
from agent.io.private_modes import is_open_to_others
from agent.io.tls import load_trust

_MAX_TOKEN_LENGTH = 16_384  # characters
_VISIBLE = re.compile(r"[!-~]+")
_NAMED_BY_ADDRESS = re.compile(r"server-[0-9a-f]{8}")

# A deployment's name, and the name under which its server serves the model.
ServerKey = tuple[str, str]


class Endpoint(Protocol):
    """The interface of an OpenAI-compatible server, which every deployment implements."""

    @property
    def name(self) -> str:
        """The deployment's name, for messages."""

    @property
    def base_url(self) -> str:
        """The server's address, which usually ends with `/v1`."""

    @property
    def replicas(self) -> tuple[str, ...]:
        """The addresses of all servers of the model, `base_url` first; empty if `base_url` is the only one."""

    @property
    def served_model(self) -> str:
        """The name under which the server serves the model."""

    @property
    def served_model_key(self) -> str:
        """The key of the deployment's `args` that states this name, or would state it."""

    @property
    def token_file(self) -> Path | None:
        """The file (mode 0600) with the bearer token, or None for no token."""

    @property
    def ca_bundle(self) -> Path | None:
        """The PEM file of certificate authorities for an https server, or None for the system's trust store."""

    @property
    def proxy(self) -> str | None:
        """The proxy URL, or None for a direct connection. Proxies in the environment are never used."""

    @property
    def reasoning(self) -> bool:
        """Whether the model is known to reason before it answers."""

    @property
    def max_sequence_length(self) -> int | None:
        """The maximum number of tokens in prompt and answer, or None if the deployment does not set it."""

    @property
    def tokenizer_file(self) -> Path | None:
        """The model's `tokenizer.json` for counting tokens, or None if the deployment does not set it."""


def identify_server(endpoint: Endpoint) -> ServerKey:
    """Return a key that is equal for plans and judges that use the same model on the same server."""
    return endpoint.name, endpoint.served_model


def list_addresses(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the addresses of the deployment's servers, at least one."""
    return endpoint.replicas or (endpoint.base_url,)


def describe_address(url: str) -> str:
    """Return host and port of an address, for messages on the terminal only: stored labels contain no address."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return "at an invalid address"  # refused when it is read
    host = "".join(filter(str.isprintable, parts.hostname or ""))
    if ":" in host:
        host = f"[{host}]"  # an IPv6 address
    return f"{host}:{port}"


def is_named_by_address(endpoint: Endpoint) -> bool:
    """Return whether the deployment comes from `--server`, so that its name is a digest of the address."""
    return _NAMED_BY_ADDRESS.fullmatch(endpoint.name) is not None


def describe_deployment(endpoint: Endpoint) -> str:
    """Return the name of a deployment at the beginning of messages; that of `--server` is its address."""
    if is_named_by_address(endpoint):
        return f"server {describe_address(endpoint.base_url)}"
    return f"deployment {endpoint.name}"


def describe_server(endpoint: Endpoint, url: str = "") -> str:
    """Return the name of a server in messages: its deployment, if it has a name, and its address.

    Args:
        endpoint: the deployment.
        url: the address of one of its replicas; if empty, the first.
    """
    address = describe_address(url or endpoint.base_url)
    if is_named_by_address(endpoint):
        return f"the server {address}"
    return f"deployment {endpoint.name}: the server {address}"


def read_address(endpoint: Endpoint, url: str = "") -> SplitResult:
    """Check the server's base address, and return it without a trailing slash.

    Args:
        endpoint: the deployment.
        url: the address of one of its replicas; if empty, `base_url`.

    Raises:
        ConfigError: the address is not an http(s) URL with a host, or has a user, password, query or fragment.
    """
    setting = "base_urls" if endpoint.replicas else "base_url"
    return _check_url(
        url or endpoint.base_url, f"deployment {endpoint.name}: {setting}", with_path=True
    )


def read_proxy(endpoint: Endpoint) -> SplitResult | None:
    """Check the proxy's address, which may contain a user and password, and return it; None if there is no proxy.

    Raises:
        ConfigError: the address is not an http(s) URL with a host.
    """
    if endpoint.proxy is None:
        return None
    return _check_url(endpoint.proxy, f"deployment {endpoint.name}: proxy", with_user=True)


def _check_url(
    url: str, setting: str, *, with_user: bool = False, with_path: bool = False
) -> SplitResult:
    """Return the parts of `url`. Errors name the setting but never quote the URL, which may contain a password."""
    try:
        if not _VISIBLE.fullmatch(url):
            raise ValueError
        parts = urlsplit(url.rstrip("/"))
        host = (parts.hostname or "").encode("idna").decode("ascii")
        _ = parts.port  # raises ValueError for an invalid port
    except (ValueError, UnicodeError):
        raise ConfigError(
            f"{setting} is not a URL; expected, for example, http://127.0.0.1:8000/v1"
        ) from None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(
            f"{setting} needs http:// or https:// and a host, for example http://127.0.0.1:8000/v1"
        )
    if not with_user and (parts.username is not None or parts.password is not None):
        raise ConfigError(
            f"{setting} contains a user or password",
            "Put a bearer token into a file, and set token_file to that file.",
        )
    if parts.query or parts.fragment or (parts.path and not with_path):
        raise ConfigError(f"{setting} must not have a query, fragment or path")
    return parts


def read_token(endpoint: Endpoint) -> str | None:
    """Read the bearer token. It is never logged or shown.

    Raises:
        ConfigError: the file is missing, empty, not plain ASCII, or accessible to users other than its owner.
    """
    if endpoint.token_file is None:
        return None
    setting = f"deployment {endpoint.name}: token_file"
    try:
        with endpoint.token_file.open("rb") as file:
            if is_open_to_others(endpoint.token_file, os.fstat(file.fileno()).st_mode):
                raise ConfigError(
                    f"{setting} is accessible to other users", "Run `chmod 600` on it."
                )
            raw = file.read(_MAX_TOKEN_LENGTH + 1)
    except OSError as error:
        raise ConfigError(f"{setting} cannot be read ({error.strerror})") from None
    token = raw.decode("ascii", "replace").strip()
    if len(raw) > _MAX_TOKEN_LENGTH or not _VISIBLE.fullmatch(token):
        raise ConfigError(
            f"{setting} must contain one bearer token: visible ASCII characters on one line"
        )
    return token


def open_trust(endpoint: Endpoint, url: str = "") -> ssl.SSLContext | None:
    """Return the TLS context for all connections of a run, or None for a plain http server.

    Args:
        endpoint: the deployment.
        url: the address of one of its replicas; if empty, `base_url`.

    Raises:
        ConfigError: the CA bundle cannot be read or contains no certificate.
    """
    if read_address(endpoint, url).scheme == "http":
        return None
    try:
        return load_trust(endpoint.ca_bundle)
    except ConfigError as error:
        raise ConfigError(f"{describe_deployment(endpoint)}: {error}") from None
