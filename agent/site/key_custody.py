"""Check who can read the steward's key.

Approval by a second person protects nothing if one account can read both the site's and the steward's key.
"""

import os
import pwd
import stat
from pathlib import Path
from typing import Final

from agent.errors import ConfigError, StoreError

ONE_ACCOUNT_WARNING: Final = (
    "ONE ACCOUNT APPROVES ITS OWN SUBMISSIONS: site.yaml sets unsafe_one_account_approval: true. The operator of this "
    "site can release results without a second person."
)
_SUPERUSER: Final = 0


def check_custody(key: Path, site_directory: Path, *, one_account: bool) -> bool:
    """Check that the account of a site cannot read a steward's key.

    Args:
        key: file of the steward's key.
        site_directory: the site's directory; its owner is the account to check.
        one_account: whether the site's settings allow one account to hold both keys.

    Returns:
        Whether the account can read the key. This is true only if the settings allow it.

    Raises:
        ConfigError: the account can read the key, and the settings do not allow it.
        StoreError: the key is missing or cannot be examined.
    """
    try:
        # Follow links, because the key's real location counts.
        real_path = key.resolve(strict=True)
        key_state = real_path.stat()
        site_state = site_directory.resolve(strict=True).stat()
    except OSError as error:
        raise StoreError(
            f"the steward's key cannot be read ({error.strerror})",
            "Give the path of the steward's key as --key.",
        ) from None
    fault = ""
    if real_path.is_relative_to(site_directory.resolve()):
        fault = "the steward's key is in the site's own directory"
    elif can_read(site_state.st_uid, key_state):
        fault = (
            "the account that owns this site can read the steward's key, so it could approve alone"
        )
    if fault and not one_account:
        raise ConfigError(
            fault,
            "Nothing was approved. The steward must approve on a separate computer, or at least with a separate "
            "account: write a request with `intramural submission approve --out REQUEST` and have the steward sign it "
            "with `intramural-steward`. Only if one person has both roles, as in a trial, set "
            "`unsafe_one_account_approval: true` in site.yaml.",
        )
    return bool(fault)


def can_read(account: int, file: os.stat_result) -> bool:
    """Return whether an account, given by user id, can read a file: as owner, by its mode, or as the superuser."""
    if account in {_SUPERUSER, file.st_uid}:
        return True
    if file.st_mode & stat.S_IROTH:
        return True
    return bool(file.st_mode & stat.S_IRGRP) and file.st_gid in _list_groups(account)


def _list_groups(account: int) -> set[int]:
    try:
        entry = pwd.getpwuid(account)
    except KeyError:
        return set()
    return set(os.getgrouplist(entry.pw_name, entry.pw_gid))
