"""The site's settings, read from `site.yaml` in the site directory and from the environment, and validated at start.

Secrets are never settings. They are stored in separate files, and the settings contain their paths.
"""

import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, Self, get_args, get_origin

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from agent.errors import ConfigError
from agent.io.private_modes import write_private_text
from agent.io.strict_yaml import parse_yaml
from agent.io.wording import nearest
from agent.own_metrics.declaration import NAME, NAME_RULE
from agent.site.alert_addresses import check_mail_settings, check_mailbox, check_webhook
from agent.site.environment import Given, ValueShape, read_environment
from agent.site.service_addresses import (
    check_issuer,
    check_outgoing_proxy,
    check_proxy_address,
    is_loopback,
)
from agent.store.stored_accounts import Role
from agent.store.stored_alerts import AlertCode

PositiveSeconds = Annotated[float, Field(gt=0, le=86_400)]


PLUGINS = "plugins"
_PLUGIN_FILE = re.compile(rf"{PLUGINS}/[A-Za-z0-9_][A-Za-z0-9._-]*\.py")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PATHS_FROM_SITE = (
    "ca_bundle",
    "oidc_client_secret_file",
    "trusted_proxy_secret_file",
    "alert_webhook_secret_file",
    "alert_smtp_password_file",
    "log_file",
)
_HEADER = r"^[A-Za-z][A-Za-z0-9-]{0,99}$"


class Plugin(BaseModel):
    """One of the site's own metrics: where its code is, and the digest under which it was reviewed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    file: str = ""
    entry_point: str = ""
    sha256: str

    @field_validator("sha256")
    @classmethod
    def _check_digest(cls, value: str) -> str:
        if not _SHA256.fullmatch(value):
            raise ValueError("expected 64 hex digits; `intramural doctor` prints those of the code")
        return value

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        if bool(self.file) == bool(self.entry_point):
            raise ValueError(
                "expected either `file` or `entry_point`, and `sha256` with 64 hex digits"
            )
        if self.file and not _PLUGIN_FILE.fullmatch(self.file):
            raise ValueError(f"file: expected the path of a Python file such as {PLUGINS}/dose.py")
        if not NAME.fullmatch(self.metric_name):
            raise ValueError(f"name: expected {NAME_RULE}")
        return self

    @property
    def metric_name(self) -> str:
        """The metric's name, without the prefix `own/`; that of the entry point if none is given."""
        return self.name or self.entry_point


class Settings(BaseModel):
    """All settings of a site. Names of settings include the unit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    site_name: str = Field(
        min_length=1, max_length=200, description="Shown on local pages only; never sent."
    )
    redaction_policy: str = Field(
        "hipaa_safe_harbor",
        description="A policy in policies/redaction, or the site's own file ending in .yaml.",
    )
    disclosure_policy: str = Field(
        "strict",
        description="A policy in policies/disclosure, or the site's own file ending in .yaml; "
        "the stricter of this policy and the federation's (in the registry) applies.",
    )
    unsafe_one_account_approval: bool = Field(
        False,
        description="Whether `submission approve --key` accepts a steward's key that the account of this site can "
        "read, so that one person alone can release results.",
    )
    allowed_hosts: tuple[str, ...] = Field(
        ("127.0.0.1", "localhost", "::1"),
        description="Hosts of inference servers; prompts are sent to no other host.",
    )
    outside_judge_hosts: tuple[str, ...] = Field(
        (),
        description="Hosts of judges outside the hospital, if the redaction policy also allows them; they are sent "
        "redacted text only.",
    )
    bertscore_model: Path | None = Field(
        None,
        description="Folder of the encoder for BERTScore; a relative path starts at the site directory.",
    )
    bertscore_layer: int | None = Field(
        None,
        ge=1,
        le=200,
        description="Layer of that encoder; none means the layer chosen for it by BERTScore's authors.",
    )
    max_in_flight: int = Field(
        8, ge=1, le=4096, description="Maximum concurrent requests per inference server."
    )
    connect_timeout_s: PositiveSeconds = Field(10.0, description="Seconds to open a connection.")
    first_attempt_timeout_s: PositiveSeconds = Field(
        300.0,
        description="Seconds for a server's first reply, for which it may have to load a model.",
    )
    attempt_timeout_s: PositiveSeconds = Field(120.0, description="Seconds for one attempt.")
    total_timeout_s: PositiveSeconds = Field(
        600.0, description="Seconds for one request with all its retries."
    )
    max_attempts: int = Field(5, ge=1, le=20, description="Attempts of one request.")
    outage_grace_s: PositiveSeconds = Field(
        60.0, description="Seconds without any answer before the rest of a run is postponed."
    )
    proxy: str | None = Field(
        None,
        description="URL of the proxy for outgoing requests (aggregator, `datasets fetch`, webhook of alerts), with "
        "user and password if it demands them; never used for prompts.",
    )
    ca_bundle: Path | None = Field(
        None,
        description="PEM file of certificate authorities; none means the system's. A relative path starts at the site "
        "directory.",
    )
    aggregator_url: str | None = Field(
        None, description="URL of the aggregator; none means the one in the invite."
    )
    keep_texts_days: int | None = Field(
        None, ge=1, description="Days for which `intramural purge` keeps texts by default."
    )
    service_host: str = Field(
        "127.0.0.1",
        description="IP address on which `intramural serve` listens; others than this machine's loopback need TLS "
        "files or `trusted_proxy`.",
    )
    service_port: int = Field(
        8766,
        ge=0,
        le=65_535,
        description="Port on which `intramural serve` listens; 0 chooses one.",
    )
    service_origin: str | None = Field(
        None,
        pattern=r"^https?://[A-Za-z0-9.-]+(:\d{1,5})?/?$",
        description="Address at which people open the service, such as https://eval.hospital.example; none means that "
        "of `service_host` and `service_port`.",
    )
    service_tls_certificate: Path | None = Field(
        None, description="PEM file of the service's certificate with its chain."
    )
    service_tls_key: Path | None = Field(None, description="PEM file of that certificate's key.")
    jobs_at_once: int = Field(
        4, ge=1, le=64, description="Maximum jobs of the queue that run at the same time."
    )
    runs_per_server: int = Field(
        1,
        ge=1,
        le=64,
        description="Maximum jobs of the queue that ask the same inference server at the same time.",
    )
    keep_jobs_days: int = Field(
        90, ge=1, le=36_500, description="Days for which ended jobs and their logs are kept."
    )
    session_idle_minutes: int = Field(
        30,
        ge=1,
        le=1440,
        description="Minutes without a request after which a session of the service ends.",
    )
    session_hours: int = Field(
        12, ge=1, le=168, description="Hours after which a session ends in any case."
    )
    sign_in_window_minutes: int = Field(
        15, ge=1, le=1440, description="Minutes for which a failed sign-in counts."
    )
    sign_in_failures_per_name: int = Field(
        10,
        ge=3,
        le=1000,
        description="Failed sign-ins under one name, within those minutes, after which further ones are refused.",
    )
    sign_in_failures_overall: int = Field(
        200,
        ge=10,
        le=100_000,
        description="Failed sign-ins under all names together after which further ones are refused.",
    )
    api_token_days: int = Field(
        90, ge=1, le=366, description="Maximum days for which an API token lasts."
    )
    trusted_proxy: str | None = Field(
        None,
        description="IP address of a reverse proxy that signs people in; its headers are believed, and no others.",
    )
    trusted_proxy_secret_file: Path | None = Field(
        None,
        description="File (mode 0600) with a secret that the proxy sends as X-Intramural-Proxy-Secret; required if it "
        "runs on this machine.",
    )
    trusted_proxy_user_header: str = Field(
        "X-Forwarded-User",
        pattern=_HEADER,
        description="Header with the name of the person who is signed in at the proxy.",
    )
    trusted_proxy_groups_header: str = Field(
        "X-Forwarded-Groups",
        pattern=_HEADER,
        description="Header with that person's groups, separated by commas.",
    )
    trusted_proxy_roles: dict[str, Role] = Field(
        {},
        description="Role by group; if it is empty, an administrator adds each account.",
    )
    oidc_issuer: str | None = Field(
        None, description="URL of the OpenID provider at which people sign in."
    )
    oidc_client_id: str = Field(
        "intramural", min_length=1, description="Id under which the provider knows this service."
    )
    oidc_client_secret_file: Path | None = Field(
        None,
        description="File (mode 0600) with the client secret; none for a public client, which proves itself by PKCE.",
    )
    oidc_scopes: tuple[str, ...] = Field(
        ("openid", "profile"), description="Scopes to request; `openid` is required."
    )
    oidc_name_claim: str = Field(
        "preferred_username", min_length=1, description="Claim with the person's name."
    )
    oidc_groups_claim: str = Field(
        "groups", min_length=1, description="Claim with the person's groups."
    )
    oidc_roles: dict[str, Role] = Field(
        {},
        description="Role by group; if it is empty, an administrator adds each account.",
    )
    oidc_uses_proxy: bool = Field(
        True, description="Whether the provider is reached through `proxy`, if that is set."
    )
    alert_on: tuple[AlertCode, ...] = Field(
        tuple(AlertCode), description="Events that lead to an alert."
    )
    alert_site_label: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}$",
        description="Name of this site in alerts, as everyone may know it; none means that alerts name no site.",
    )
    alert_every_minutes: int = Field(
        5,
        ge=1,
        le=1440,
        description="Minimum minutes between two alerts; what happens in between is summed up in one.",
    )
    alert_give_up_hours: int = Field(
        24,
        ge=1,
        le=168,
        description="Hours after which an alert that cannot be delivered is given up.",
    )
    alert_webhook_url: str | None = Field(
        None, description="URL to which alerts are posted; none means no webhook."
    )
    alert_webhook_secret_file: Path | None = Field(
        None,
        description="File (mode 0600) with the secret by which the receiver verifies alerts; required for a webhook.",
    )
    alert_webhook_uses_proxy: bool = Field(
        True, description="Whether the webhook is reached through `proxy`, if that is set."
    )
    alert_smtp_host: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9.:-]{1,255}$",
        description="Mail server that takes alerts; none means no e-mail.",
    )
    alert_smtp_port: int | None = Field(
        None,
        ge=1,
        le=65_535,
        description="Its port; none means 587 with starttls, 465 with tls, 25 with none.",
    )
    alert_smtp_security: Literal["starttls", "tls", "none"] = Field(
        "starttls",
        description="How the way to the mail server is encrypted; none only for one on this machine.",
    )
    alert_smtp_user: str | None = Field(
        None,
        pattern=r"^[!-~]{1,255}$",
        description="Account at the mail server; none means no login.",
    )
    alert_smtp_password_file: Path | None = Field(
        None, description="File (mode 0600) with that account's password."
    )
    alert_from: str | None = Field(None, description="E-mail address from which alerts come.")
    alert_to: tuple[str, ...] = Field(
        (), max_length=20, description="E-mail addresses to which alerts go."
    )
    log_level: Literal["warning", "info", "debug"] = Field(
        "warning",
        description="Least important level that is logged; `info` tells of every command, run and job.",
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="Format of the log: lines of text, or one JSON object per line."
    )
    log_file: Path | None = Field(
        None,
        description="File to which the log is appended; none means standard error. A relative path starts at the site "
        "directory.",
    )
    plugins: tuple[Plugin, ...] = Field(
        (),
        description="The site's own metrics in Python, each with its name, file or entry point, and sha256.",
    )

    @field_validator("unsafe_one_account_approval", mode="before")
    @classmethod
    def _require_plain_word(cls, value: object) -> object:
        # A setting that undoes a rule is not set by "yes", "on" or 1, which other settings also take.
        if not isinstance(value, bool) and value not in ("true", "false"):
            raise ValueError("expected true or false")
        return value

    @field_validator("proxy")
    @classmethod
    def _check_outgoing_proxy(cls, value: str | None) -> str | None:
        return value and check_outgoing_proxy(value)

    @field_validator("trusted_proxy")
    @classmethod
    def _check_proxy_address(cls, value: str | None) -> str | None:
        return value and check_proxy_address(value)

    @field_validator("oidc_issuer")
    @classmethod
    def _check_issuer(cls, value: str | None) -> str | None:
        return value and check_issuer(value)

    @field_validator("alert_webhook_url")
    @classmethod
    def _check_webhook(cls, value: str | None) -> str | None:
        return value and check_webhook(value)

    @field_validator("alert_from")
    @classmethod
    def _check_sender(cls, value: str | None) -> str | None:
        return value and check_mailbox(value)

    @field_validator("alert_to")
    @classmethod
    def _check_recipients(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(check_mailbox(value) for value in values)

    @model_validator(mode="after")
    def _check_alerts(self) -> Self:
        if (self.alert_webhook_url is None) != (self.alert_webhook_secret_file is None):
            raise ValueError(
                "alert_webhook_url, alert_webhook_secret_file: expected both, or neither"
            )
        check_mail_settings(
            self.alert_smtp_host,
            self.alert_smtp_security,
            self.alert_from,
            self.alert_to,
            self.alert_smtp_user is not None,
            self.alert_smtp_password_file is not None,
        )
        return self

    @field_validator("oidc_scopes")
    @classmethod
    def _require_openid(cls, scopes: tuple[str, ...]) -> tuple[str, ...]:
        if "openid" not in scopes:
            raise ValueError("expected a list that contains openid")
        return scopes

    @model_validator(mode="after")
    def _require_proxy_secret(self) -> Self:
        # Every account of this machine can connect from a loopback address and send the same headers.
        is_local = self.trusted_proxy is not None and is_loopback(self.trusted_proxy)
        if is_local and self.trusted_proxy_secret_file is None:
            raise ValueError(
                "trusted_proxy: a proxy on this machine also needs trusted_proxy_secret_file"
            )
        return self

    @field_validator("plugins")
    @classmethod
    def _refuse_equal_names(cls, plugins: tuple[Plugin, ...]) -> tuple[Plugin, ...]:
        counts = Counter(plugin.metric_name for plugin in plugins)
        for name, count in counts.items():
            if count > 1:
                raise ValueError(f"the name {name} is given twice")
        return plugins


def read_settings(path: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Read and check `site.yaml` and the settings of the environment, which override it.

    Raises:
        ConfigError: the file is missing or not YAML, or a key or variable is unknown or wrong; lists all faults.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(
            f"{path.parent} is not a site directory: it has no site.yaml",
            "Create a site with `intramural init DIR --site-name NAME`, or name an existing one with --site or "
            "INTRAMURAL_SITE.",
        ) from None
    except OSError as error:
        raise ConfigError(f"site.yaml cannot be read ({error.strerror})") from None
    return parse_settings(data, path.parent, read_environment(list_shapes(), environment))


def list_shapes() -> dict[str, ValueShape]:
    """Return how each setting is written in a variable of the environment."""
    return {name: _choose_shape(field.annotation) for name, field in Settings.model_fields.items()}


def _choose_shape(annotation: object) -> ValueShape:
    kind, parts = get_origin(annotation), get_args(annotation)
    if kind is dict or (kind is tuple and parts[0] is Plugin):
        return ValueShape.JSON
    return ValueShape.LIST if kind is tuple else ValueShape.TEXT


def parse_settings(
    data: bytes, folder: Path, given: Mapping[str, Given] = MappingProxyType({})
) -> Settings:
    """Check the contents of a `site.yaml` that is in `folder`.

    Args:
        data: the contents.
        folder: the site directory.
        given: the settings that the environment gives; they override those of the file.

    Raises:
        ConfigError: it is not YAML, or a key or a variable is unknown or wrong; lists all faults.
    """
    values = parse_yaml(data, Path("site.yaml"), ConfigError)
    if not isinstance(values, dict):
        raise ConfigError("site.yaml must contain a mapping of settings")
    values = {key: None if value in ("", "null", "~") else value for key, value in values.items()}
    values |= {name: each.value for name, each in given.items()}
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise _describe_faults(error, given) from None
    # Commands run in any directory, so a relative path must not depend on the current one.
    paths = {}
    for name in _PATHS_FROM_SITE:
        value: Path | None = getattr(settings, name)
        if value is not None:
            paths[name] = folder / value.expanduser()
    return settings.model_copy(update=paths)


def _describe_faults(error: ValidationError, given: Mapping[str, Given]) -> ConfigError:
    """Return an error that lists all faults; only an unknown setting needs the list of the known ones.

    A fault of a value from the environment is named by its variable.
    """
    faults = error.errors(include_input=False, include_url=False)
    in_file: list[str] = []
    in_environment: list[str] = []
    for fault in faults:
        words = _describe_fault(fault["type"], fault["loc"], fault["msg"])
        source = given.get(str(fault["loc"][0])) if fault["loc"] else None
        if source is None:
            in_file.append(_name_fault(fault["loc"], words))
        else:
            in_environment.append(_name_fault((source.variable, *fault["loc"][1:]), words))
    places = [f"site.yaml: {'; '.join(in_file)}"] if in_file else []
    places += [f"environment: {'; '.join(in_environment)}"] if in_environment else []
    if any(fault["type"] == "extra_forbidden" for fault in faults):
        advice = f"Known settings: {', '.join(sorted(Settings.model_fields))}."
    else:
        advice = ConfigError.advice
    return ConfigError("; ".join(places), advice)


def _name_fault(location: tuple[int | str, ...], fault: str) -> str:
    """Return the fault after its key; a rule about several settings names them itself."""
    key = ".".join(str(part) for part in location)
    return f"{key}: {fault}" if key else fault


def _describe_fault(kind: str, location: tuple[int | str, ...], message: str) -> str:
    """Return the fault in this program's own words."""
    if kind == "extra_forbidden":
        known = Settings.model_fields if len(location) == 1 else Plugin.model_fields
        guess = nearest(str(location[-1]), known)
        return _RENAMED.get(str(location[0]), f"unknown setting{guess}")
    if kind == "missing":
        return "is required"
    if kind == "model_type":
        return "expected a mapping of keys"
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(str(location[0]), "has characters that are not allowed here")
    message = message.removeprefix("Value error, ")
    message = message.replace("Input should be ", "expected ")
    for pydantic_words, words in _TYPES.items():
        message = message.replace(pydantic_words, words)
    return message


_RENAMED = {
    "one_account_approval": "was renamed to unsafe_one_account_approval, since it lets one person alone release "
    "results; docs/submissions.md says more"
}

_PATTERNS = {
    "service_origin": "expected an address without a path, such as https://eval.hospital.example:8766",
    "trusted_proxy_user_header": "expected the name of a header",
    "trusted_proxy_groups_header": "expected the name of a header",
    "alert_site_label": "expected at most 40 letters, digits, spaces, dots, underscores and hyphens",
    "alert_smtp_host": "expected the name or the IP address of a mail server, without a port",
}
_TYPES = {
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid boolean": "true or false",
    "a valid string": "text",
    "a valid tuple": "a list",
    "a valid path": "a path",
    "Input is not a path for <class 'pathlib.Path'>": "expected a path",
    ", unable to parse string as an integer": "",
    ", unable to parse string as a number": "",
    ", unable to interpret input": "",
}


def write_settings(path: Path, settings: Settings) -> None:
    """Write the settings that differ from the defaults, with site_name first, to a new file."""
    lines = [
        "# Settings of this site. `intramural doctor` checks them, and docs/settings.md explains them."
    ]
    values = settings.model_dump(mode="json", exclude_defaults=True)
    lines.append(yaml.safe_dump(values, sort_keys=False, allow_unicode=True).rstrip())
    write_private_text(path, "\n".join(lines) + "\n")
