"""The founding of a deployment: its keys, its database and its first registry."""

from pathlib import Path

from aggregator.errors import SettingsError
from aggregator.home import LOG_KEY, RECEIPT_KEY, ROOT_KEY, SETTINGS_FILE, Home
from aggregator.key_files import draw_key, keep_key
from aggregator.registry.changes import Additions, apply
from aggregator.registry.policies import DEFAULT_FLOOR, shipped_policies
from aggregator.registry.versions import put_in_force, sign_version
from aggregator.settings import Settings, write_settings
from aggregator.store.database import Database
from protocol.checkpoint import LogKey
from protocol.keys import Ed25519Signer
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
    """Create an aggregator's directory with its keys, database and registry version 1.

    Args:
        directory: created if missing; must not contain an aggregator yet.
        settings: the settings to write to `aggregator.yaml`.
        origin: name of the deployment and of its log, for example `board.example`; never changes.
        additions: models and scorecards of the first registry.
        today_day: days since 1970-01-01 UTC.
        floor: name of the shipped policy that every result must obey.

    Raises:
        SettingsError: the directory already contains an aggregator or cannot be created, or the settings or the
            policy are wrong.
        KeyFileError, RegistryError, StoreError: a key, the registry or the database cannot be created.
    """
    if (directory / SETTINGS_FILE).exists():
        raise SettingsError(
            f"{directory} already contains an aggregator", "Use it, or choose another directory."
        )
    policies = shipped_policies()
    if floor not in policies:
        raise SettingsError(
            f"there is no shipped policy {floor!r} (there are: {', '.join(sorted(policies))})"
        )
    root, log, receipt = draw_key(), draw_key(), draw_key()
    first = Registry(
        version=1,
        expires_day=today_day + settings.registry_days,
        deployment=origin,
        roots=(Ed25519Signer(root).public,),
        threshold=1,
        log_name=origin,
        log_keys=(LogKey(Ed25519Signer(log).public),),
        receipt_key=Ed25519Signer(receipt).public,
        policy_floor=policies[floor].digest,
        sites={},
        scorecards={},
        policies={policy.digest: policy for policy in policies.values()},
        agents={},
        models={},
    )
    envelope = sign_version(
        apply(first, additions), None, [Ed25519Signer(root)]
    )  # before anything is written
    if (
        settings.database_url is not None
    ):  # if it does not answer, no incomplete aggregator must be left behind
        database = Database(settings.database_url)
        database.migrate()
        database.close()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"{directory} cannot be created: {error.strerror}", "Choose another directory."
        ) from None
    keep_key(directory / "keys" / ROOT_KEY, root)
    keep_key(directory / "keys" / LOG_KEY, log)
    keep_key(directory / "keys" / RECEIPT_KEY, receipt)
    write_settings(directory / SETTINGS_FILE, settings)
    home = Home(directory)
    home.database.migrate()
    with home.database.writing() as connection:
        put_in_force(connection, first.version, envelope)
    return home
