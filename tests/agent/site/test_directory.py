"""A site directory: what is made, and which directories are refused before anything in them is opened."""

import shutil
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.site.directory import Site, create_site

VERSION_56F8CDC = Path(__file__).parents[2] / "data" / "versions" / "56f8cdc"


def test_site_of_the_unreleased_version_is_refused_and_its_store_left_as_it_was(
    tmp_path: Path,
) -> None:
    old = tmp_path / "site"
    shutil.copytree(VERSION_56F8CDC / "site", old)
    (old / "keys").chmod(0o700)
    for path in old.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    before = (old / "store" / "site.sqlite3").read_bytes()
    with (
        pytest.raises(StoreError, match="created by an earlier, unreleased version") as caught,
        Site(old).store(),
    ):
        pass
    assert "create a new site" in caught.value.advice
    assert (old / "store" / "site.sqlite3").read_bytes() == before
    assert not (old / "store" / "site.sqlite3-wal").exists()


def test_two_new_sites_share_no_key(tmp_path: Path) -> None:
    sites = [create_site(tmp_path / name, name) for name in ("north", "south")]
    for name in ("data.key", "seal.key", "agent.key"):
        first, second = ((site.keys / name).read_bytes() for site in sites)
        assert first != second
