"""Attack 5: the whole store is put back, and a head of the log that somebody else kept shows it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.site.directory import Site, create_site
from tests.agent.store.reveals import reveal


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "St. Elsewhere")


def copy_of_store(site: Site, tmp_path: Path) -> Callable[[], None]:
    """Copy the store's folder; return what puts it back."""
    kept = tmp_path / "kept"
    shutil.copytree(site.directory / "store", kept)

    def put_back() -> None:
        shutil.rmtree(site.directory / "store")
        shutil.copytree(kept, site.directory / "store")

    return put_back


def test_store_put_back_loses_reveals_and_a_head_kept_elsewhere_shows_it(
    site: Site, tmp_path: Path
) -> None:
    reveal(site, 2)
    put_back = copy_of_store(site, tmp_path)
    reveal(site, 20)
    with site.store() as store:
        kept_by_the_steward = store.audit.read_head()
        events = store.audit.read_events()
        assert [event.event for event in events].count("reveal") == 22
        assert store.audit.compare_head(*kept_by_the_steward) == ""
    put_back()
    with site.store() as store:
        # The rule removed: without a head that somebody else kept, the store that was put back looks whole.
        assert [event.event for event in store.audit.read_events()].count("reveal") == 2
        assert store.audit.compare_head(*kept_by_the_steward) == (
            f"20 events after event {kept_by_the_steward.number - 20} are missing: the store was restored from a backup"
        )


def test_store_put_back_is_noticed_though_the_log_went_on_since(site: Site, tmp_path: Path) -> None:
    put_back = copy_of_store(site, tmp_path)
    with site.store() as store:
        first = store.audit.read_head()
    reveal(site, 3)
    with site.store() as store:
        second = store.audit.read_head()
    put_back()
    with site.store() as store:
        for _ in range(9):
            store.audit.record("purge", "texts=0")
        assert store.audit.compare_head(*first) == ""
        assert store.audit.compare_head(*second) == (
            f"event {second.number} differs from the kept one: the store was restored from a backup and then used"
        )
