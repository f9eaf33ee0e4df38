"""How the registry lists this site, and its update; an aggregator that is down leaves the present one in use."""

import pytest

from agent.disclosure.site_gate import read_newest_registry
from agent.site.directory import Site
from aggregator.home import today_day
from aggregator.registry.changes import Additions
from aggregator.registry.proposals import Changes, change_now
from protocol.registry import Model
from tests.agent.delivery.whole_site import Wire
from tests.agent.service.web.running_service import RunningService
from tests.agent.service.web.test_outbox_pages import read
from tests.aggregator.conftest import Served


def test_an_administrator_reads_enrolment_registry_and_keys(
    joined: RunningService, site: Site
) -> None:
    page = read(joined.sign_in("ada").get("/federation").text)
    registry = read_newest_registry(site)
    assert registry is not None
    assert "this site is enrolled" in page
    assert f"version {registry.version}" in page
    for entry in registry.sites.values():
        for key in entry.keys:
            assert key.key.fingerprint in page
    assert "on this machine" in page
    assert "with the steward" in page


def test_the_newest_registry_is_fetched_and_a_dead_aggregator_is_named(
    joined: RunningService, site: Site, served: Served, wire: Wire
) -> None:
    additions = Additions(models=[Model("example/newest", "Newest", "", True)])
    with served.home.database.writing() as connection:
        changes = Changes(additions=additions)
        change_now(connection, served.home, changes, today_day=today_day())
    before = read_newest_registry(site)
    ada = joined.sign_in("ada")
    wire.refusals = 1_000
    down = ada.submit("/federation/registry")
    assert down.status_code == 502
    assert "The registry that this site has stays in use." in read(down.text)
    assert read_newest_registry(site) == before
    wire.refusals = 0
    assert "the newest." in read(ada.submit("/federation/registry").text)
    newest = read_newest_registry(site)
    assert newest is not None
    assert before is not None
    assert newest.version == before.version + 1


def test_a_site_that_is_not_enrolled_reads_how_to_begin(running: RunningService) -> None:
    ada = running.sign_in("ada")
    assert "intramural enroll --invite" in ada.get("/federation").text
    for path in ("/federation/rotate", "/federation/reset"):
        assert ada.get(path).status_code == 400
    assert ada.submit("/federation/registry").status_code == 409


@pytest.mark.parametrize("name", ["vera", "dana", "stella"])
def test_nobody_else_sees_the_pages_of_keys(joined: RunningService, name: str) -> None:
    browser = joined.sign_in(name)
    for path in ("/federation", "/federation/rotate", "/federation/reset"):
        assert browser.get(path).status_code == 403
