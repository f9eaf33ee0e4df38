"""The aggregator's settings: one frozen page, read from `aggregator.yaml` in its directory.

Secrets are never settings: private keys are files of their own, and a PostgreSQL password belongs in the
server account's `.pgpass`.
"""

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from aggregator.errors import SettingsError


class Settings(BaseModel):
    """Every setting of an aggregator, with its unit in its name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field("", max_length=200, description="What people call this deployment; shown in invites.")
    public_url: str = Field(
        "http://127.0.0.1:8750", description="Where sites reach this aggregator; written into invites."
    )
    database_url: str | None = Field(
        None, description="SQLAlchemy URL; none means SQLite in the aggregator's directory."
    )
    invite_days: int = Field(30, ge=1, le=365, description="Days that an invite can be used.")
    registry_days: int = Field(400, ge=1, le=3660, description="Days until a registry version expires.")
    arrival_timeout_s: float = Field(10.0, gt=0, le=600, description="Seconds for a request's head, and for its body.")
    connection_timeout_s: float = Field(120.0, gt=0, le=3600, description="Seconds for a whole exchange.")
    max_in_flight: int = Field(64, ge=1, le=4096, description="Requests served at once; more are told to come back.")

    @field_validator("database_url")
    @classmethod
    def _no_password(cls, value: str | None) -> str | None:
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError

        if value is not None:
            try:
                password = make_url(value).password
            except ArgumentError:
                raise ValueError("is not a database URL") from None
            if password is not None:
                raise ValueError("must not hold a password; use the account's .pgpass")
        return value


def read_settings(path: Path) -> Settings:
    """Read and check `aggregator.yaml`.

    Raises:
        SettingsError: the file is missing, is not YAML, or a key is unknown or wrong; all faults are named at once.
    """
    try:
        values = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        raise SettingsError(
            f"{path.parent} is not an aggregator's directory: it has no {path.name}",
            "Create one with `intramural-aggregator --dir DIR init`, or name one with --dir or INTRAMURAL_AGGREGATOR.",
        ) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{path.name} cannot be read: {type(error).__name__}") from None
    if not isinstance(values or {}, dict):
        raise SettingsError(f"{path.name} must hold a map of settings")
    return make_settings(values or {}, path.name)


def make_settings(values: dict[str, object], source: str = "options") -> Settings:
    """Check settings; all faults are named at once. Raises SettingsError."""
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
            for fault in error.errors(include_input=False, include_url=False)
        )
        raise SettingsError(f"{source}: {faults}") from None


def write_settings(path: Path, settings: Settings) -> None:
    """Write the settings that differ from the defaults. The file must not exist yet."""
    values = settings.model_dump(mode="json", exclude_defaults=True)
    with path.open("x", encoding="utf-8") as file:
        file.write("# Settings of this aggregator. Keys left out have their defaults.\n")
        if values:
            yaml.safe_dump(values, file, sort_keys=False, allow_unicode=True)
