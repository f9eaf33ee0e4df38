"""Read conf files of run entries in HELM's format: HOCON with `entries: [{description, priority, groups}, ...]`."""

import re
from dataclasses import dataclass
from pathlib import Path

from agent.errors import ConfigError
from agent.io.small_file import decode_text, read_bytes
from agent.io.wording import nearest

_INCLUDE = re.compile(
    r"\binclude\s*(?:required\s*\(|url\s*\(|file\s*\(|package\s*\(|classpath\s*\(|\")",
    re.IGNORECASE,
)
_KEYS = ("description", "priority", "groups")


@dataclass(frozen=True, slots=True)
class ConfEntry:
    """One item of the list, with an unparsed description. `where` is the file and entry number, for messages."""

    where: str
    description: str
    priority: int | None  # 1 is the highest priority
    groups: tuple[str, ...]


def read_conf_file(path: Path) -> list[ConfEntry]:
    """Read a conf file.

    Raises:
        ConfigError: the file is missing or invalid; the message names the file and the entry number.
    """
    text = decode_text(read_bytes(path, ConfigError), path, ConfigError)
    # HOCON can substitute environment variables in any value, and values become run names and keys in the store.
    if "${" in text:
        line = text.count("\n", 0, text.index("${")) + 1
        raise ConfigError(
            f"{path}: line {line}: substitution (a dollar sign and a brace) is not supported"
        )
    # HOCON can include other files and even URLs, but a run only reads the files named on its command line.
    if _INCLUDE.search(text):
        raise ConfigError(f"{path}: `include` is not supported; give each file with --conf-paths")
    from pyhocon import ConfigFactory
    from pyhocon.exceptions import ConfigException
    from pyparsing import ParseBaseException

    try:
        tree = ConfigFactory.parse_string(text).as_plain_ordered_dict()
    except ParseBaseException as why:
        raise ConfigError(f"{path}: line {why.lineno}: HOCON syntax error") from None
    except (ConfigException, RecursionError, AttributeError, TypeError):
        raise ConfigError(f"{path}: expected HOCON with a map of keys") from None
    entries = tree.get("entries")
    if not isinstance(entries, list) or set(tree) != {"entries"}:
        raise ConfigError(f"{path}: expected a list under the single key `entries`")
    return [_read_entry(item, f"{path}: entry {number}") for number, item in enumerate(entries, 1)]


def _read_entry(item: object, where: str) -> ConfEntry:
    if not isinstance(item, dict) or not isinstance(item.get("description"), str):
        raise ConfigError(f"{where}: expected a map with a string `description`")
    for key in item:
        if key not in _KEYS:
            raise ConfigError(f"{where}: unknown key {key!r}{nearest(key, _KEYS)}")
    priority = item.get("priority")
    groups = item.get("groups") or []
    if priority is not None and (isinstance(priority, bool) or not isinstance(priority, int)):
        raise ConfigError(f"{where}: priority must be a whole number")
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise ConfigError(f"{where}: groups must be a list of strings")
    return ConfEntry(where, item["description"], priority, tuple(groups))
