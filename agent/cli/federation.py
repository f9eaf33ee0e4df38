"""The site's federation and its aggregator, opened for the commands that deal with them."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import ConfigError
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.delivery.membership import Federation
    from agent.delivery.transport import Aggregator


def today_day() -> int:
    """Return the days since 1970-01-01 UTC."""
    return (datetime.now(UTC).date() - date(1970, 1, 1)).days


def open_federation(site: Site) -> "Federation":
    """Return the site's membership. Raises ConfigError: this is no site."""
    from agent.delivery.membership import Federation

    _ = site.settings  # reads the file, so that a folder which is no site is refused
    return Federation(site.submissions)


def connect_aggregator(site: Site, invited_to: str) -> "Aggregator":
    """Return the aggregator at the address in site.yaml, else at the one in the invite."""
    from agent.delivery.transport import Aggregator, AggregatorConnection

    settings = site.settings
    url = settings.aggregator_url or invited_to
    if not url:
        raise ConfigError(
            "this site has no address of the aggregator",
            "Set `aggregator_url` in site.yaml, or exchange files with --export and --import-receipt.",
        )
    return Aggregator(
        AggregatorConnection(
            url=url,
            proxy=settings.proxy,
            ca_bundle=settings.ca_bundle,
            connect_timeout_s=settings.connect_timeout_s,
            total_timeout_s=settings.attempt_timeout_s,
        )
    )


def write_new_file(path: Path, data: bytes) -> None:
    """Write a file that is to be carried elsewhere, whole or not at all; keep one with the same content.

    Raises:
        ConfigError: another file is there, which is not overwritten, or the disk refuses.
    """
    from agent.errors import StoreError
    from agent.io.atomic_files import write_atomically

    try:
        if path.is_file() and path.read_bytes() == data:
            return
        if path.exists() or path.is_symlink():
            raise ConfigError(
                f"{path.name} is there already; nothing is overwritten", "Name another file."
            )
        write_atomically(path, data, mode=0o666)  # as far as the account's umask lets others read
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be written ({error.strerror})") from None
    except StoreError as error:
        raise ConfigError(f"{path.name}: {error}") from None
