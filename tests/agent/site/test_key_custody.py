"""Who could read the steward's key: an account that can approve its own submissions is refused, or told off loudly."""

import os
from pathlib import Path

import pytest

from agent.access.accounts import add_account
from agent.cli.doctor import examine
from agent.cli.submission import submission
from agent.errors import ConfigError, StoreError
from agent.site.directory import Site, create_site
from agent.site.key_custody import can_read, check_custody
from agent.store import Role
from tests.agent.delivery.whole_site import run

NOBODY = 65_534


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "St. Elsewhere")


def key_at(path: Path, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a key")
    path.chmod(mode)
    return path


def test_a_key_of_the_sites_own_account_is_refused_unless_the_settings_allow_it(
    site: Site, tmp_path: Path
) -> None:
    key = key_at(tmp_path / "steward" / "steward.key")
    with pytest.raises(ConfigError, match="could approve alone"):
        check_custody(key, site.directory, one_account=False)
    assert check_custody(key, site.directory, one_account=True) is True


def test_a_key_in_the_sites_directory_is_refused_by_whatever_path_it_is_named(
    site: Site, tmp_path: Path
) -> None:
    key = key_at(site.directory / "data" / "steward.key")
    link = tmp_path / "elsewhere.key"
    link.symlink_to(key)
    roundabout = tmp_path / "steward" / ".." / "site" / "data" / "steward.key"
    (tmp_path / "steward").mkdir()
    for path in (key, link, roundabout):
        with pytest.raises(ConfigError, match="in the site's own directory"):
            check_custody(path, site.directory, one_account=False)


def test_a_key_that_is_not_there_is_missing(site: Site, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="steward's key cannot be read"):
        check_custody(tmp_path / "none", site.directory, one_account=True)


@pytest.mark.parametrize(
    ("account", "owner", "mode", "readable"),
    [
        (NOBODY, NOBODY, 0o600, True),
        (NOBODY, NOBODY, 0o000, True),  # whoever owns a file can change its mode
        (NOBODY, NOBODY - 1, 0o600, False),
        (NOBODY, NOBODY - 1, 0o604, True),
        (0, NOBODY, 0o600, True),
    ],
)
def test_what_an_account_can_read(
    tmp_path: Path, account: int, owner: int, mode: int, readable: bool
) -> None:
    state = key_at(tmp_path / "key", mode).stat()
    fields = list(state)
    fields[4], fields[5] = owner, NOBODY - 2
    assert can_read(account, os.stat_result(fields)) is readable


def test_approval_with_a_key_that_the_account_reads_ends_before_anything_is_shown(
    site: Site, tmp_path: Path
) -> None:
    key = key_at(tmp_path / "steward.key")
    result = run(site, submission, "approve", "--key", key)
    assert isinstance(result.exception, ConfigError)
    assert "intramural-steward" in result.exception.advice
    assert result.output == ""


@pytest.mark.full
def test_approval_by_one_account_says_so_in_capitals_and_doctor_warns(
    site: Site, tmp_path: Path
) -> None:
    assert {check.subject: check.verdict for check in examine(site)}["approval"] == "ok"
    with (site.directory / "site.yaml").open("a") as settings:
        settings.write("unsafe_one_account_approval: true\n")
    alone = Site(site.directory)
    result = run(alone, submission, "approve", "--key", key_at(tmp_path / "steward.key"))
    assert "ONE ACCOUNT APPROVES ITS OWN SUBMISSIONS" in result.output
    assert {check.subject: check.verdict for check in examine(alone)}["approval"] == "warning"
    with site.store() as store:
        add_account(store, "anna", {Role.STEWARD}, 1.0)
    (check,) = [check for check in examine(alone) if check.subject == "approval"]
    assert check.verdict == "failed"
    assert "one person can author and approve a submission" in check.finding
