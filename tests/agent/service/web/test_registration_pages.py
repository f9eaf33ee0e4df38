"""A version of protected data is registered from its page, after it showed what would be frozen."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.delivery.membership import Federation, Membership
from agent.delivery.outbox import Outbox
from agent.io.days import today_day
from agent.keys import KeyRole, load_signer
from agent.site.directory import Site
from protocol import envelope
from protocol import registry as registered
from tests.agent.disclosure.patients import (
    benchmark_of,
    make_site,
    patients,
    registry_with,
    write_patients,
)
from tests.agent.service.web.running_service import RunningService, add_people
from tests.agent.service.web.test_outbox_pages import read
from tests.protocol import world


@pytest.fixture
def ward(tmp_path: Path) -> Site:
    """A site that is enrolled, with 200 patients and a benchmark of its own."""
    site = make_site(tmp_path / "ward-site")
    write_patients(site, patients(200))
    signer = load_signer(site.keys / "agent.key", KeyRole.AGENT)
    keys = (
        registered.SiteKey(signer.public, "agent"),
        registered.SiteKey(world.STEWARD.public, "steward"),
    )
    cards = registry_with(benchmark_of(site)).scorecards
    registry = world.registry(
        expires_day=today_day() + 100,
        sites={world.SITE: registered.Site("Test Hospital", "named", world.ENROLMENT, keys)},
        scorecards={digest: one for digest, one in cards.items() if one.scorecard.name == "own"},
    )
    federation = Federation(site.submissions)
    roots = (world.ROOT.public.keyid,)
    federation.join(Membership(world.ORIGIN, world.SITE, "", roots, 1), signer.public.keyid)
    data = envelope.sign(registered.build_registry(registry), (world.ROOT,), envelope.REGISTRY_TYPE)
    federation.take(data, today_day())
    return site


@pytest.fixture
def service(ward: Site) -> Iterator[RunningService]:
    add_people(ward)
    running = RunningService(ward)
    yield running
    running.stop()


def test_the_page_shows_what_would_be_frozen_and_writes_nothing(
    service: RunningService, ward: Site
) -> None:
    dana = service.sign_in("dana")
    assert "/outbox/datasets/ward" in dana.get("/outbox/datasets").text
    page = read(dana.get("/outbox/datasets/ward").text)
    assert "200 units in 200 rows" in page
    assert "units never seen before: 200" in page
    assert Outbox(ward.submissions).list_submissions() == []
    assert not (ward.data / ".frozen").exists()


def test_registering_drafts_the_statement_in_the_name_of_who_asked(
    service: RunningService, ward: Site
) -> None:
    dana = service.sign_in("dana")
    answer = dana.submit("/outbox/datasets/ward")
    (draft,) = Outbox(ward.submissions).list_submissions()
    assert answer.headers["location"] == f"/outbox/{draft.digest}"
    page = read(dana.get(f"/outbox/{draft.digest}").text)
    assert "The site's own counts, which do not leave it" in page.replace("’", "'")
    with ward.store() as store:
        account = store.accounts.find("dana")
        events = {event.event: event.detail for event in store.audit.read_events()}
    assert account is not None
    assert f"statement={draft.digest} account={account.account_id}" in events["dataset registered"]
    assert dana.submit("/outbox/datasets/ward").headers["location"] == f"/outbox/{draft.digest}"
    assert "version 1" in read(dana.get("/outbox/datasets").text)


def test_a_version_that_the_rules_forbid_is_refused_with_the_reason(
    service: RunningService, ward: Site
) -> None:
    write_patients(ward, patients(5))
    dana = service.sign_in("dana")
    asked, sent = dana.get("/outbox/datasets/ward"), dana.submit("/outbox/datasets/ward")
    assert (asked.status_code, sent.status_code) == (200, 409)
    assert "Register this version" not in asked.text
    for refused in (asked, sent):
        assert 'role="alert"' in refused.text
        assert str(ward.directory) not in refused.text
    assert Outbox(ward.submissions).list_submissions() == []


@pytest.mark.parametrize("benchmark", ["pubmed_qa", "no_such_thing", "..%2f..%2fkeys"])
def test_public_unknown_and_invented_names_register_nothing(
    service: RunningService, ward: Site, benchmark: str
) -> None:
    refused = service.sign_in("dana").submit(f"/outbox/datasets/{benchmark}")
    assert refused.status_code in (400, 404, 409)
    assert Outbox(ward.submissions).list_submissions() == []
