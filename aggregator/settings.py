"""The aggregator's settings: an immutable model, read from `aggregator.yaml` in its directory.

Settings never contain secrets: private keys are separate files, and a PostgreSQL password belongs
in the `.pgpass` file of the server's account.
"""

import re
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from aggregator.errors import SettingsError
from aggregator.strict_yaml import faults, read_yaml
from protocol import schema
from protocol.errors import ProtocolError

_HOST = re.compile(
    r"[a-z0-9._:-]+"
)  # `urlsplit` returns host names in lower case and IPv6 addresses without brackets


class Settings(BaseModel):
    """The settings of an aggregator."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(
        "", description="Human-readable name of this aggregator, used only in invites."
    )
    public_url: str = Field(
        "http://127.0.0.1:8750",
        description="Address at which sites reach this aggregator, https://HOST[:PORT], written into invites.",
    )
    database_url: str | None = Field(
        None, description="SQLAlchemy URL; null means SQLite in the aggregator's directory."
    )
    invite_days: int = Field(30, ge=1, le=365, description="Days for which an invite is valid.")
    registry_days: int = Field(
        400, ge=1, le=3660, description="Days until a registry version expires."
    )
    arrival_timeout_s: float = Field(
        10.0,
        gt=0,
        le=600,
        description="Maximum seconds to receive a request's head, and again for its body.",
    )
    exchange_timeout_s: float = Field(
        60.0,
        gt=0,
        le=3600,
        description="Maximum seconds from a request's head until the client has received the answer.",
    )
    keep_alive_s: float = Field(
        75.0,
        gt=0,
        le=3600,
        description="Maximum seconds that a connection may be idle between two requests.",
    )
    max_connections: int = Field(
        2048, ge=16, le=100_000, description="Maximum open connections per worker."
    )
    max_in_flight: int = Field(
        6,
        ge=1,
        le=16,
        description="Maximum statements that a worker processes concurrently; read requests have the same limit.",
    )
    max_waiting: int = Field(
        512, ge=1, le=10_000, description="Maximum waiting requests per worker."
    )
    max_waiting_per_client: int = Field(
        128, ge=1, le=10_000, description="Maximum waiting requests per client."
    )
    waiting_timeout_s: float = Field(
        30.0, gt=0, le=600, description="Maximum seconds that a request may wait."
    )
    requests_per_minute: int = Field(
        1200,
        ge=0,
        le=1_000_000,
        description="Maximum requests per client, worker and minute; "
        "up to a quarter may arrive in one burst. 0 means no limit.",
    )
    payloads_per_site_day: int = Field(
        2000,
        ge=1,
        le=1_000_000,
        description="Maximum payloads, including refused ones, that a worker stores per site and day.",
    )
    megabytes_per_site_day: int = Field(
        32, ge=1, le=100_000, description="Maximum megabytes that a worker stores per site and day."
    )
    trusted_proxies: tuple[str, ...] = Field(
        (),
        description="Addresses or networks of your own reverse proxies, whose `client_header` is trusted.",
    )
    client_header: str = Field(
        "X-Forwarded-For",
        pattern="^[A-Za-z0-9-]{1,64}$",
        description="Header to which your proxies append the client's address.",
    )

    @field_validator("name")
    @classmethod
    def _for_people(cls, value: str) -> str:
        try:
            return schema.title(value, "name", empty=True)
        except ProtocolError:
            raise ValueError(
                f"expected printable text of at most {schema.MAX_TITLE} characters, without leading or trailing space"
            ) from None

    @field_validator("public_url")
    @classmethod
    def _as_sites_take_it(cls, value: str) -> str:
        """Refuse an address that the agents of invited sites would refuse."""
        try:
            parts = urlsplit(value)
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise ValueError("expected https://HOST or https://HOST:PORT") from None
        extras = (
            parts.path.strip("/")
            or parts.query
            or parts.fragment
            or parts.username
            or parts.password
        )
        if parts.scheme not in ("https", "http") or not host or extras or not _HOST.fullmatch(host):
            raise ValueError("expected https://HOST or https://HOST:PORT and nothing more")
        if parts.scheme == "http" and not _is_loopback(host):
            raise ValueError("expected https: sites accept plain http only for loopback")
        return value

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def _take_networks(cls, value: object) -> object:
        if not isinstance(value, (list, tuple)):
            return value
        for text in value:
            try:
                ip_network(text)
            except (TypeError, ValueError):
                raise ValueError(
                    "expected a list of addresses or networks, such as 10.0.0.0/8"
                ) from None
        return tuple(value)

    @field_validator("database_url")
    @classmethod
    def _no_password(cls, value: str | None) -> str | None:
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError

        if value is not None:
            try:
                password = make_url(value).password
            except ArgumentError:
                raise ValueError("is not a valid database URL") from None
            if password is not None:
                raise ValueError("must not contain a password; use the .pgpass file of the account")
        return value


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_settings(path: Path) -> Settings:
    """Read and check `aggregator.yaml`.

    Raises:
        SettingsError: the file is missing or is not YAML, or a key is unknown or wrong. All
            problems are reported together.
    """
    try:
        file = read_yaml(path)
    except SettingsError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise SettingsError(
                f"{path.parent} is not an aggregator's directory: it lacks {path.name}",
                "Create one with `intramural-aggregator --dir DIR init`, or name one with --dir or "
                "INTRAMURAL_AGGREGATOR.",
            ) from None
        raise
    try:
        return Settings.model_validate({} if file.value is None else file.value)
    except ValidationError as error:
        raise file.refusal(error) from None


def make_settings(values: Mapping[str, object]) -> Settings:
    """Validate settings given as options. Raises SettingsError, which reports all problems together."""
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError("; ".join(fault for _, fault in faults(error))) from None


def write_settings(path: Path, settings: Settings) -> None:
    """Write the settings that differ from the defaults to a new file. Raises SettingsError."""
    values = settings.model_dump(mode="json", exclude_defaults=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write("# Settings of this aggregator. Omitted keys have their defaults.\n")
            if values:
                yaml.safe_dump(values, file, sort_keys=False, allow_unicode=True)
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be written: {error.strerror}") from None
