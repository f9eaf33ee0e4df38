"""Change single settings in `site.yaml` and leave everything else in it as it is, its comments among it.

Only settings of how fast and how long are changed here. Others decide who is let in, what people see, where texts and
figures are sent, or name files of the machine: whoever changes these must have access to the machine itself.
"""

import re
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, get_args

from agent.errors import ConfigError, StoreError
from agent.io.atomic_files import write_atomically
from agent.io.strict_yaml import parse_yaml
from agent.site.environment import find_variable
from agent.site.settings import Settings, parse_settings

CHANGEABLE: Final = frozenset(
    {
        "max_in_flight",
        "connect_timeout_s",
        "first_attempt_timeout_s",
        "attempt_timeout_s",
        "total_timeout_s",
        "max_attempts",
        "outage_grace_s",
        "keep_texts_days",
        "jobs_at_once",
        "runs_per_server",
        "keep_jobs_days",
    }
)
"""Settings that can be changed from outside the machine. All are numbers."""

_NUMBER: Final = re.compile(r"\d{1,9}(\.\d{1,6})?", re.ASCII)
_VALUE: Final = re.compile(r"(?P<head>\s*:)(?P<value>[^#]*?)(?P<tail>\s*(?:\s#.*)?)")


def read_given(path: Path) -> dict[str, int]:
    """Return the settings that `site.yaml` gives, each with the number of its line.

    Raises:
        ConfigError, StoreError: the file cannot be read.
    """
    content = _read(path)
    values = parse_yaml(content.encode(), Path("site.yaml"), ConfigError)
    lines = content.splitlines()
    given: dict[str, int] = {}
    for name in values if isinstance(values, dict) else ():
        numbers = [n for n, line in enumerate(lines, 1) if _find_key(line) == str(name)]
        given[str(name)] = numbers[0] if numbers else 0
    return given


def change_setting(path: Path, name: str, text: str) -> Settings:
    """Give a setting another value, or take its line out if `text` is empty, and return the settings.

    Raises:
        ConfigError: the setting may not be changed here, the value is wrong, or the file is written in a way that
            cannot be changed line by line.
        StoreError: the file cannot be read or written.
    """
    if name not in CHANGEABLE:
        raise ConfigError(
            f"{name} cannot be changed from here",
            "Change it in site.yaml on the site's own machine.",
        )
    text = text.strip()
    if text and not _is_within(name, text):
        raise ConfigError(
            f"{name}: expected {describe_number(name)}", "Leave the field empty for the default."
        )
    variable = find_variable(name)
    if variable:
        raise ConfigError(
            f"{name} is given by the environment, so site.yaml has no say in it",
            f"Change or remove the variable {variable} where the service is started.",
        )
    if path.is_symlink():
        raise ConfigError(
            "site.yaml is a link, so something else manages it", "Change the setting there."
        )
    content = _read(path)
    before = parse_settings(content.encode(), path.parent)
    changed = _change_line(content, name, text)
    after = parse_settings(changed.encode(), path.parent)
    expected = before.model_copy(update={name: getattr(after, name)})
    if after != expected or _read_given_text(changed, name) != (text or None):
        raise ConfigError(
            f"{name} is written in a way that cannot be changed here", _by_hand(name, text)
        )
    write_atomically(path, changed.encode(), mode=stat.S_IMODE(path.stat().st_mode))
    return after


def describe_number(name: str) -> str:
    """Return which numbers a setting accepts: "a whole number from 1 to 64", "a number above 0, at most 86,400"."""
    bounds = _read_bounds(name)
    kind = "whole number" if bounds.is_whole else "number"
    if bounds.above is not None:
        end = "" if bounds.most is None else f", at most {bounds.most:,.10g}"
        return f"a {kind} above {bounds.above:,.10g}{end}"
    least = 0 if bounds.least is None else bounds.least
    if bounds.most is None:
        return f"a {kind} of at least {least:,.10g}"
    return f"a {kind} from {least:,.10g} to {bounds.most:,.10g}"


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Which numbers a setting accepts: at least `least`, above `above`, at most `most`; None for no such bound."""

    is_whole: bool
    least: float | None = None
    above: float | None = None
    most: float | None = None


def _read_bounds(name: str) -> _Bounds:
    field = Settings.model_fields[name]
    is_whole = float not in (field.annotation, *get_args(field.annotation))
    bounds = _Bounds(is_whole)
    for rule in field.metadata:
        for key, attribute in (("least", "ge"), ("above", "gt"), ("most", "le")):
            if hasattr(rule, attribute):
                bounds = replace(bounds, **{key: getattr(rule, attribute)})
    return bounds


def _is_within(name: str, text: str) -> bool:
    bounds = _read_bounds(name)
    if not _NUMBER.fullmatch(text) or (bounds.is_whole and "." in text):
        return False
    number = float(text)
    return not (
        (bounds.least is not None and number < bounds.least)
        or (bounds.above is not None and number <= bounds.above)
        or (bounds.most is not None and number > bounds.most)
    )


def _change_line(content: str, name: str, text: str) -> str:
    lines = content.splitlines(keepends=True)
    places = [place for place, line in enumerate(lines) if _find_key(line) == name]
    if len(places) > 1:
        raise ConfigError(f"{name} stands in site.yaml more than once", _by_hand(name, text))
    if not places:
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        return "".join([*lines, f"{name}: {text}\n"] if text else lines)
    (place,) = places
    if not text:
        del lines[place]
        return "".join(lines)
    line = lines[place].rstrip("\r\n")
    match = _VALUE.fullmatch(line, len(name))
    if match is None:
        raise ConfigError(
            f"{name} is written in a way that cannot be changed here", _by_hand(name, text)
        )
    end = lines[place][len(line) :]
    lines[place] = f"{name}{match['head']} {text}{match['tail']}{end}"
    return "".join(lines)


def _find_key(line: str) -> str:
    """Return the key with which a line of the file's outermost level begins; empty if it begins with none."""
    match = re.match(r"([A-Za-z_]\w*)\s*:", line, re.ASCII)
    return match[1] if match else ""


def _by_hand(name: str, text: str) -> str:
    return (
        f"Write it on the site's own machine: {name}: {text}" if text else f"Remove {name} there."
    )


def _read_given_text(content: str, name: str) -> object:
    """Return what the text of a `site.yaml` gives to a setting; None if it gives nothing."""
    values = parse_yaml(content.encode(), Path("site.yaml"), ConfigError)
    return values.get(name) if isinstance(values, dict) else None


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()  # line ends stay as they are
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise StoreError(f"site.yaml cannot be read ({reason})") from None
