"""Helpers for commands that use the site's federation and its aggregator."""

from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import ConfigError
from agent.site.directory import Site

__all__ = ["connect_aggregator", "open_federation", "today_day", "write_new_file"]

if TYPE_CHECKING:
    from agent.delivery.membership import Federation
    from agent.delivery.transport import Aggregator


def open_federation(site: Site) -> "Federation":
    """Return the site's membership of a federation. Raises ConfigError if this is not a site."""
    from agent.delivery.membership import Federation

    _ = site.settings  # reads the file, so that a folder that is not a site is refused
    return Federation(site.submissions)


def today_day(site: Site) -> int:
    """Return today's date (UTC) as the number of days since 1970-01-01.

    Raises:
        ClockError: this machine's clock disagrees with what the site has seen.
    """
    return site.today_day()


def connect_aggregator(site: Site, invited_to: str) -> "Aggregator":
    """Return the aggregator at the address in site.yaml, or else in the invite."""
    from agent.disclosure.site_gate import connect_aggregator

    return connect_aggregator(site, invited_to)


def write_new_file(path: Path, data: bytes) -> None:
    """Write a file for use elsewhere, atomically; do nothing if a file with the same contents exists.

    Raises:
        ConfigError: a different file of that name exists, or the file cannot be written.
    """
    from agent.errors import StoreError
    from agent.io.atomic_files import write_atomically

    try:
        if path.is_file() and path.read_bytes() == data:
            return
        if path.exists() or path.is_symlink():
            raise ConfigError(
                f"{path.name} exists already and is not overwritten", "Name another file."
            )
        write_atomically(
            path, data, mode=0o666
        )  # others may read it if the account's umask allows that
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be written ({error.strerror})") from None
    except StoreError as error:
        raise ConfigError(f"{path.name}: {error}") from None
