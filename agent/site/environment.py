"""Settings from the environment: `INTRAMURAL_NAME` gives the setting `name`, `INTRAMURAL_NAME_FILE` a file with it.

For containers, whose settings come from outside and whose secrets are files. A variable overrides site.yaml; an empty
one is as good as none.
"""

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Final

from agent.errors import ConfigError

PREFIX: Final = "INTRAMURAL_"
FILE_SUFFIX: Final = "_FILE"
_OTHERS: Final = frozenset({"INTRAMURAL_SITE", "INTRAMURAL_AGGREGATOR", "INTRAMURAL_STEWARD_LIST"})
"""Variables of the programs that are no settings."""
_LONGEST: Final = 64 * 1024  # bytes
# Kubernetes gives every container such variables for every Service of its namespace, unless enableServiceLinks is off.
_LINK: Final = re.compile(
    r"\w+_SERVICE_(HOST|PORT(_\w+)?)|\w+_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?"
)
_LINKED: Final = ("INTRAMURAL_SERVICE_HOST", "INTRAMURAL_SERVICE_PORT")
_LINK_MARK: Final = "INTRAMURAL_PORT"


class ValueShape(Enum):
    """How the value of a setting is written in a variable."""

    TEXT = auto()  # as it is
    LIST = auto()  # with commas between the parts
    JSON = auto()  # as JSON


@dataclass(frozen=True, slots=True)
class Given:
    """A value from the environment, and the variable that it is from."""

    variable: str
    value: object


def name_variable(setting: str) -> str:
    """Return the variable that gives a setting."""
    return PREFIX + setting.upper()


def name_file_variable(setting: str) -> str:
    """Return the variable that names a file with a setting; empty for a setting that is itself the name of a file."""
    return "" if setting.endswith("_file") else name_variable(setting) + FILE_SUFFIX


def find_variable(setting: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the variable that gives a setting now; empty if none does."""
    for variable in (name_variable(setting), name_file_variable(setting)):
        if variable and environment.get(variable):
            return variable
    return ""


def read_environment(
    shapes: Mapping[str, ValueShape], environment: Mapping[str, str]
) -> dict[str, Given]:
    """Return the settings that the environment gives.

    Args:
        shapes: how each setting is written.
        environment: the variables.

    Raises:
        ConfigError: a file cannot be read, a value is not JSON, or a setting is given twice. The message names the
            variable, and quotes neither its value nor a file.
    """
    _refuse_links(environment)
    given: dict[str, Given] = {}
    for setting, shape in shapes.items():
        plain, file = name_variable(setting), name_file_variable(setting)
        text, path = environment.get(plain, ""), environment.get(file, "") if file else ""
        if text and path:
            raise ConfigError(
                f"{plain} and {file} are both set", "Remove one of the two variables."
            )
        if path:
            given[setting] = Given(file, _read_value(file, _read_file(file, Path(path)), shape))
        elif text:
            given[setting] = Given(plain, _read_value(plain, text, shape))
    return given


def list_unknown(settings: Mapping[str, object], environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the variables that look like settings and are none; a misspelt one would have no effect."""
    known = {name_variable(setting) for setting in settings} | _OTHERS
    known |= {name_file_variable(setting) for setting in settings}
    for variable in sorted(environment):
        is_ours = variable.startswith(PREFIX) and not variable.startswith(f"{PREFIX}TEST_")
        if is_ours and variable not in known and not _LINK.fullmatch(variable):
            yield variable


def _refuse_links(environment: Mapping[str, str]) -> None:
    """Refuse two variables that Kubernetes sets for a Service called `intramural`, and nobody meant as settings."""
    if not environment.get(_LINK_MARK, "").startswith(("tcp://", "udp://")):
        return
    linked = [variable for variable in _LINKED if environment.get(variable)]
    if linked:
        raise ConfigError(
            f"{' and '.join(linked)}: Kubernetes sets these for a Service with the name intramural",
            "Set enableServiceLinks: false for the pod, or give the Service another name.",
        )


def _read_file(variable: str, path: Path) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfigError(f"{variable}: the file that it names is not a regular file")
            content = file.read(_LONGEST + 1)
    except OSError as error:
        raise ConfigError(
            f"{variable}: the file that it names cannot be read ({error.strerror})"
        ) from None
    if len(content) > _LONGEST:
        raise ConfigError(f"{variable}: the file that it names is too long")
    try:
        return content.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise ConfigError(f"{variable}: the file that it names is not UTF-8") from None


def _read_value(variable: str, text: str, shape: ValueShape) -> object:
    if shape is ValueShape.TEXT:
        return text
    if shape is ValueShape.LIST:
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigError(
            f"{variable}: expected JSON",
            "docs/settings.md shows how lists and mappings are written in a variable.",
        ) from None
