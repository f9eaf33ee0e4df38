"""An attacker watches the public log, and hands in resets of pooled sites to hear from each whether it still fits."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from aggregator.api import submission_routes
from aggregator.home import Home
from aggregator.registry import rekeyings
from tests.aggregator.conftest import Served, home, served
from tests.aggregator.federation import TestSite, new_key, ready, registry_of
from tests.attacks.test_polling_heads import SITES, attribute

__all__ = ["home", "served"]  # fixtures


def known_of(home: Home, site: TestSite) -> TestSite:
    """Return a site as far as everybody knows it: its id, epoch and start stand in the registry."""
    entry = registry_of(home).sites[site.id]
    return TestSite(site.id, epoch=entry.epoch, prev=entry.start)


@pytest.fixture
def sites(served: Served) -> list[TestSite]:
    """Sites with a dataset each in the log, as hidden entries."""
    return [ready(served.home, f"Pooled {number}", "pooled") for number in range(SITES)]


@pytest.fixture
def requests(served: Served, sites: list[TestSite]) -> dict[str, Callable[[TestSite], bytes]]:
    """What a stranger can hand in for a site, each time another request."""
    heads = {site.id: site.copy() for site in sites}  # what a guest of the site may have seen once
    home = served.home

    def of_keys(known: TestSite) -> bytes:
        return known.reset(registry_of(home), agent=new_key(), steward=new_key())

    return {
        "at the public start": lambda site: of_keys(known_of(home, site)),
        "at an old head": lambda site: of_keys(heads[site.id]),
        "with a shorter ledger": lambda site: of_keys(
            replace(heads[site.id], ledger=known_of(home, site).ledger),
        ),
        "at another place": lambda site: of_keys(replace(known_of(home, site), prev="a" * 64)),
    }


@pytest.mark.full
@pytest.mark.parametrize(
    "name", ["at the public start", "at an old head", "with a shorter ledger", "at another place"]
)
def test_a_strangers_request_is_answered_alike_however_far_the_site_has_come(
    served: Served,
    sites: list[TestSite],
    requests: dict[str, Callable[[TestSite], bytes]],
    name: str,
) -> None:
    def poll(site: TestSite) -> str:
        answer = served.post(requests[name](site), "/v1/requests")
        return f"{answer.status_code} {sorted(answer.json())}"

    assert attribute(served, sites, poll) == [[], [], []]
    assert {poll(site) for site in sites} == {"200 ['digest']"}


def test_a_request_that_waits_already_is_answered_alike_when_the_site_has_gone_on(
    served: Served, sites: list[TestSite], requests: dict[str, Callable[[TestSite], bytes]]
) -> None:
    kept = {site.id: requests["at an old head"](site) for site in sites}
    assert attribute(
        served, sites, lambda site: served.post(kept[site.id], "/v1/requests").text
    ) == [[], [], []]


@pytest.mark.full
def test_a_full_queue_gets_no_room_from_an_entry_of_the_site(
    served: Served, sites: list[TestSite], requests: dict[str, Callable[[TestSite], bytes]]
) -> None:
    for site in sites:
        for _ in range(rekeyings.MAX_WAITING):
            assert served.post(requests["at an old head"](site), "/v1/requests").status_code == 200

    def poll(site: TestSite) -> str:
        return served.post(requests["at an old head"](site), "/v1/requests").text

    assert attribute(served, sites, poll) == [[], [], []]
    assert {poll(site) for site in sites} == {'{"code":"too_many_requests"}'}


def test_with_every_request_checked_against_the_log_polling_names_the_sender_of_each_hidden_entry(
    served: Served,
    sites: list[TestSite],
    requests: dict[str, Callable[[TestSite], bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(submission_routes.rekeyings, "receive_request", rekeyings.open_request)
    kept = {site.id: requests["at an old head"](site) for site in sites}
    assert attribute(
        served, sites, lambda site: served.post(kept[site.id], "/v1/requests").text
    ) == [[0], [1], [2]]
