"""Results are drafted while another process deletes or hides one of their runs: one of the two waits for the other."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.delivery.outbox import Outbox
from agent.disclosure.drafting import prepare_suite
from agent.errors import ConfigError, DisclosureError, StoreError
from agent.runs.delete_run import delete_run
from agent.runs.privacy import unshare_run
from agent.site.directory import Site
from agent.store import Run, Store
from tests.agent.delivery.conftest import federation, served, site, wire
from tests.agent.delivery.whole_site import SUITE, Wire, join
from tests.aggregator.conftest import Served

__all__ = ["federation", "served", "site", "wire"]

# The processes stop where the other one used to get in between, and go on when they are told.
_PAUSE = """
import sys
from pathlib import Path
from agent.site.directory import Site

def pause(function):
    def stop(*args, **words):
        found = function(*args, **words)
        print("here", flush=True)
        sys.stdin.readline()
        return found
    return stop

site = Site(Path(sys.argv[1]))
with site.store() as store:
    run = store.runs.find(sys.argv[2])
"""
_DRAFT = """
    from agent.disclosure import drafting
    drafting.collect = pause(drafting.collect)
    day = store.clock.today_day()
    drafting.prepare_suite(site, store, run.suite, None, (), day, store.audit.record)
"""
_DELETE = """
    from agent.runs import delete_run
    delete_run.check_deletable = pause(delete_run.check_deletable)
    delete_run.delete_run(site, store, run)
"""
_HIDE = """
    from agent.runs import privacy
    privacy.list_waiting_submissions = pause(privacy.list_waiting_submissions)
    privacy.unshare_run(site, store, run)
"""

Change = Callable[[Site, Store, Run], object]


@pytest.fixture
def run(site: Site, served: Served, wire: Wire, tmp_path: Path) -> Run:
    """A run of a suite whose results can be drafted."""
    join(site, served, wire, tmp_path)
    with site.store() as store:
        return store.runs.select(SUITE)[0]


@contextmanager
def stop_midway(site: Site, run: Run, work: str) -> Iterator[None]:
    """Run work in another process, which stands still midway during the `with` block and ends well after it."""
    command = [sys.executable, "-c", _PAUSE + work, str(site.directory), run.run_id]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    try:
        yield
    finally:
        _, faults = process.communicate("on\n", timeout=120)
    assert process.returncode == 0, faults


@pytest.mark.parametrize("change", [delete_run, unshare_run])
def test_a_run_whose_results_are_being_drafted_does_not_go(
    site: Site, run: Run, change: Change
) -> None:
    with site.store() as store:
        with (
            stop_midway(site, run, _DRAFT),
            pytest.raises(StoreError, match="results are just being drafted"),
        ):
            change(site, store, run)
        kept = store.runs.find(run.run_id)
        assert kept is not None
        assert not kept.is_private
        drafts = Outbox(site.submissions).list_submissions()
        assert any(draft.is_result for draft in drafts)
        with pytest.raises(ConfigError, match="outbox"):
            change(site, store, run)


@pytest.mark.parametrize("work", [_DELETE, _HIDE], ids=["deleted", "hidden"])
def test_nothing_is_drafted_from_a_run_that_is_going(site: Site, run: Run, work: str) -> None:
    def draft(store: Store) -> None:
        day = store.clock.today_day()
        prepare_suite(site, store, SUITE, None, (run.model,), day, store.audit.record)

    with site.store() as store:
        with (
            stop_midway(site, run, work),
            pytest.raises(StoreError, match="a run is just being deleted or kept from others"),
        ):
            draft(store)
        assert not any(one.is_result for one in Outbox(site.submissions).list_submissions())
        if work == _HIDE:
            with pytest.raises(DisclosureError, match="kept from others"):
                draft(store)
        else:
            assert store.runs.find(run.run_id) is None


def test_two_drafts_at_a_time_do_not_keep_each_other_out_by_the_runs(site: Site, run: Run) -> None:
    with site.store() as store, stop_midway(site, run, _DRAFT), store.runs.hold_figures():
        pass
