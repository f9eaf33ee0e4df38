"""The site's settings as a page shows them: with meaning, value, source, and why some cannot be changed there."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from agent.site.change_settings import CHANGEABLE, describe_number
from agent.site.environment import find_variable
from agent.site.settings import Settings

_SENDS: Final = "they decide what is sent where"
_SHOWS: Final = "they decide what people see, and what may leave the site"
_LETS_IN: Final = "they decide who is let in"
_REACHED: Final = "a wrong value would lock everyone out of these pages"
_CODE: Final = "they name files and code of this machine"
_LOGS: Final = "they name files of this machine, and decide what is written there"
_GROUPS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "Asking models": (
        "",
        (
            "max_in_flight",
            "connect_timeout_s",
            "first_attempt_timeout_s",
            "attempt_timeout_s",
            "total_timeout_s",
            "max_attempts",
            "outage_grace_s",
        ),
    ),
    "Queue and keeping": (
        "",
        ("jobs_at_once", "runs_per_server", "keep_jobs_days", "keep_texts_days"),
    ),
    "Where texts and figures are sent": (
        _SENDS,
        ("allowed_hosts", "outside_judge_hosts", "proxy", "ca_bundle", "aggregator_url"),
    ),
    "Privacy and release": (
        _SHOWS,
        ("redaction_policy", "disclosure_policy", "unsafe_one_account_approval"),
    ),
    "Log": (_LOGS, ("log_level", "log_format", "log_file")),
    "Scoring": (_CODE, ("bertscore_model", "bertscore_layer", "plugins")),
    "This service": (
        _REACHED,
        (
            "site_name",
            "service_host",
            "service_port",
            "service_origin",
            "service_tls_certificate",
            "service_tls_key",
        ),
    ),
}
_SIGN_IN: Final = "Sign-in"
_ALERTS: Final = "Alerts"
# A webhook's address often holds a secret itself.
_SECRET: Final = re.compile(r"\w+_(?:secret|password)_file|service_tls_key|alert_webhook_url")
# The service reads these once, when it starts.
_AT_START: Final = frozenset({"jobs_at_once", "runs_per_server", "keep_jobs_days"})


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One setting.

    Attributes:
        name: its key in site.yaml.
        meaning: what it does.
        value: its value in words; of one that names a secret, only whether it is set.
        source: where the value is from: a variable of the environment, a line of site.yaml, or the default.
        field: the value as it is entered into a form; empty for the default.
        used_from: when a change takes effect.
        expected: which numbers can be entered; empty for what cannot be changed.
    """

    name: str
    meaning: str
    value: str
    source: str
    field: str
    used_from: str
    expected: str


@dataclass(frozen=True, slots=True)
class SettingGroup:
    """Settings that belong together.

    Attributes:
        title: what they are about.
        reason: why they cannot be changed from a page; empty if they can.
        lines: the settings.
    """

    title: str
    reason: str
    lines: tuple[SettingLine, ...]

    @property
    def can_change(self) -> bool:
        """Whether these settings can be changed from a page."""
        return not self.reason


def group_settings(settings: Settings, given: Mapping[str, int]) -> Iterator[SettingGroup]:
    """Yield all settings in groups.

    Args:
        settings: the settings in force.
        given: the settings that site.yaml gives, with the number of their line.
    """
    listed: set[str] = set()
    for title, (reason, names) in _GROUPS.items():
        listed.update(names)
        lines = tuple(_build_line(settings, given, name) for name in names)
        yield SettingGroup(title, reason, lines)
    others = [name for name in Settings.model_fields if name not in listed]
    alerts = [name for name in others if name.startswith("alert_")]
    lines = tuple(_build_line(settings, given, name) for name in alerts)
    yield SettingGroup(_ALERTS, _SENDS, lines)
    lines = tuple(_build_line(settings, given, name) for name in others if name not in alerts)
    yield SettingGroup(_SIGN_IN, _LETS_IN, lines)


def _build_line(settings: Settings, given: Mapping[str, int], name: str) -> SettingLine:
    value = getattr(settings, name)
    place = given.get(name)
    variable = find_variable(name)
    return SettingLine(
        name=name,
        meaning=(Settings.model_fields[name].description or "").replace("`", ""),
        value=_describe_value(name, value),
        source=variable or _describe_place(place),
        field=_format_number(value) if name in CHANGEABLE and place is not None else "",
        used_from="the next start of the service"
        if name in _AT_START
        else "the next command or job",
        expected=describe_number(name) if name in CHANGEABLE else "",
    )


def _describe_place(line: int | None) -> str:
    """Return where in site.yaml a setting is given; 0 if its line is not known, None if it is not given."""
    if line is None:
        return "default"
    return f"site.yaml, line {line}" if line else "site.yaml"


def _describe_value(name: str, value: Any) -> str:
    if _SECRET.fullmatch(name):
        return "not set" if value is None else "set"
    match value:
        case None | () | "":
            return "none"
        case dict() if not value:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float():
            return _format_number(value)
        case tuple():
            return ", ".join(_describe_item(item) for item in value)
        case dict():
            return ", ".join(f"{key}: {item}" for key, item in value.items())
        case Path():
            return value.name
    return _hide_password(str(value)) if name in ("proxy", "aggregator_url") else str(value)


def _describe_item(item: Any) -> str:
    return str(getattr(item, "metric_name", item))


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _hide_password(url: str) -> str:
    """Return an address without the name and password that it may carry."""
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url
    return parts._replace(netloc="…@" + parts.netloc.rpartition("@")[2]).geturl()
