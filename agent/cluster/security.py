"""The conditions under which patients' texts may be worked on by a cluster. Pure, except for reading modes of folders.

Ray's daemons listen on every interface, and run what anybody tells them who may connect. So each connection needs a
token, and beyond this machine encryption.
"""

import ipaddress
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agent.errors import ConfigError

GUIDE: Final = "docs/scale.md tells how to start a cluster."
_TLS_FILES: Final = ("RAY_TLS_SERVER_CERT", "RAY_TLS_SERVER_KEY", "RAY_TLS_CA_CERT")
_TRUE: Final = ("1", "true", "True")


def parse_address(address: str) -> tuple[str, int]:
    """Return the host and port of a cluster's head.

    Raises:
        ConfigError: it is not HOST:PORT.
    """
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isascii() or not port.isdigit() or "/" in address:
        raise ConfigError(
            f"--on {address}: expected `cluster` or HOST:PORT",
            "Name the head of the cluster as `ray start --head` prints it, such as 10.0.0.5:6379.",
        )
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine by its name or address alone. No name is looked up."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_token(environment: Mapping[str, str], home: Path) -> None:
    """Check that there is a token for the cluster.

    Raises:
        ConfigError: there is none, or token authentication is off.
    """
    if environment.get("RAY_AUTH_MODE") != "token":
        raise ConfigError(
            "a cluster is joined only with a token, and RAY_AUTH_MODE is not `token`",
            f"Set RAY_AUTH_MODE=token on every node and here. {GUIDE}",
        )
    if environment.get("RAY_AUTH_TOKEN"):
        return
    named = environment.get("RAY_AUTH_TOKEN_PATH")
    path = Path(named) if named else home / ".ray/auth_token"
    try:
        status = path.stat()
    except OSError:
        status = None
    if status is None or not status.st_size:
        raise ConfigError(
            "a cluster is joined only with a token, and there is none",
            f"Set RAY_AUTH_TOKEN_PATH to the file with the cluster's token, which its administrator has. {GUIDE}",
        )
    if stat.S_IMODE(status.st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(
            f"the file {path.name} with the cluster's token is open to other accounts",
            f"Run: chmod 600 {path}",
        )


def check_encryption(host: str, environment: Mapping[str, str]) -> None:
    """Check that connections beyond this machine are encrypted.

    Raises:
        ConfigError: they are not.
    """
    if is_loopback(host):
        return
    if environment.get("RAY_USE_TLS") not in _TRUE:
        raise ConfigError(
            f"{host} is another machine, and RAY_USE_TLS is not 1",
            f"Start the cluster with TLS, and set RAY_USE_TLS=1 and the files of its certificate here too. {GUIDE}",
        )
    for name in _TLS_FILES:
        if not environment.get(name) or not Path(environment[name]).is_file():
            raise ConfigError(
                f"with RAY_USE_TLS=1, {name} must name a file",
                f"Set {', '.join(_TLS_FILES)}. {GUIDE}",
            )


def is_private(folder: Path) -> bool:
    """Return whether other accounts cannot reach the contents of a folder, because of its mode or one above it."""
    for path in (folder, *folder.parents):
        mode = stat.S_IMODE(path.stat().st_mode)
        if not mode & (stat.S_IRWXG | stat.S_IRWXO):
            return True
    return False
