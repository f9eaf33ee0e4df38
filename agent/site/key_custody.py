"""Who holds the steward's key: approval by two people is worth nothing where one account can read both keys."""

import os
import pwd
import stat
from pathlib import Path
from typing import Final

from agent.errors import ConfigError, StoreError

ONE_ACCOUNT_WARNING: Final = (
    "ONE ACCOUNT APPROVES ITS OWN SUBMISSIONS: site.yaml says one_account_approval: true. Whoever runs this site can "
    "let figures out without a second person."
)
_SUPERUSER: Final = 0


def check_custody(key: Path, site_directory: Path, *, one_account: bool) -> bool:
    """Check that the account of a site cannot read a steward's key.

    Args:
        key: file of the steward's key.
        site_directory: the site; its owner is the account that is meant.
        one_account: whether the site's settings allow that one account holds both keys.

    Returns:
        Whether the account can read the key, which the settings allow.

    Raises:
        ConfigError: it can, and the settings do not allow it.
        StoreError: the key is missing, or cannot be looked at.
    """
    try:
        # Links are followed: what counts is where the key really lies.
        place = key.resolve(strict=True)
        key_state, site_state = place.stat(), site_directory.resolve(strict=True).stat()
    except OSError as error:
        raise StoreError(f"the steward key cannot be read ({error.strerror})") from None
    fault = ""
    if place.is_relative_to(site_directory.resolve()):
        fault = "the steward's key lies in the site's own directory"
    elif can_read(site_state.st_uid, key_state):
        fault = (
            "the account that owns this site can read the steward's key, so it could approve alone"
        )
    if fault and not one_account:
        raise ConfigError(
            fault,
            "Nothing was approved. The steward approves on a computer, or at least under an account, of their own: "
            "write a request with `intramural submission approve --out REQUEST`, which they sign with "
            "`intramural-steward`. Only where one person plays both parts, as in a trial, set "
            "`one_account_approval: true` in site.yaml.",
        )
    return bool(fault)


def can_read(account: int, file: os.stat_result) -> bool:
    """Whether an account, by its number, could read a file: as its owner, by its mode, or as the superuser."""
    if account in {_SUPERUSER, file.st_uid}:
        return True
    if file.st_mode & stat.S_IROTH:
        return True
    return bool(file.st_mode & stat.S_IRGRP) and file.st_gid in _groups_of(account)


def _groups_of(account: int) -> set[int]:
    try:
        entry = pwd.getpwuid(account)
    except KeyError:
        return set()
    return set(os.getgrouplist(entry.pw_name, entry.pw_gid))
