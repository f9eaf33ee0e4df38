"""Change single settings in `site.yaml` and leave everything else in it as it is, its comments among it.

Only settings of how fast and how long are changed here. Others decide who is let in, what people see, where texts and
figures are sent, or name files of the machine: whoever changes these must have access to the machine itself.
"""

import re
import stat
from pathlib import Path
from typing import Final

from agent.errors import ConfigError, StoreError
from agent.io.atomic_files import write_atomically
from agent.io.strict_yaml import parse_yaml
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
    if text and not _NUMBER.fullmatch(text):
        raise ConfigError(f"{name}: expected a number", "Leave the field empty for the default.")
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
