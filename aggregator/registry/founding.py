"""Founding a deployment: keys, database, the first registry."""

from pathlib import Path

from aggregator.errors import SettingsError
from aggregator.home import LOG_KEY, ROOT_KEY, SETTINGS_FILE, Home
from aggregator.key_files import create_key
from aggregator.registry.changes import Additions, apply
from aggregator.registry.policies import DEFAULT_FLOOR, shipped_policies
from aggregator.registry.versions import sign_next
from aggregator.settings import Settings, write_settings
from protocol.registry import Registry


def found(
    directory: Path,
    settings: Settings,
    *,
    origin: str,
    additions: Additions,
    today_day: int,
    floor: str = DEFAULT_FLOOR,
) -> Home:
    """Make an aggregator's directory with its keys, database and registry version 1.

    Args:
        directory: made if missing; must not hold an aggregator yet.
        settings: written to `aggregator.yaml`.
        origin: name of the deployment and of its log, for example `board.example`; never changes.
        additions: models and scorecards of the first registry.
        today_day: days since 1970-01-01 UTC.
        floor: name of the shipped policy that every result must obey.

    Raises:
        SettingsError, KeyFileError, RegistryError, StoreError: by what is wrong; keys written so far stay.
    """
    if (directory / SETTINGS_FILE).exists():
        raise SettingsError(f"{directory} holds an aggregator already", "Use it, or choose another directory.")
    policies = shipped_policies()
    if floor not in policies:
        raise SettingsError(f"there is no shipped policy {floor!r} (there are: {', '.join(sorted(policies))})")
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    root = create_key(directory / "keys" / ROOT_KEY)
    log = create_key(directory / "keys" / LOG_KEY)
    first = Registry(
        version=1,
        expires_day=today_day + settings.registry_days,
        deployment=origin,
        roots=(root.public,),
        threshold=1,
        log_name=origin,
        log_key=log.public,
        policy_floor=policies[floor].digest,
        sites={},
        scorecards={},
        policies={policy.digest: policy for policy in policies.values()},
        agents={},
        models={},
    )
    write_settings(directory / SETTINGS_FILE, settings)
    home = Home(directory)
    home.database.migrate()
    with home.database.writing() as connection:
        sign_next(connection, apply(first, additions), [root])
    return home
