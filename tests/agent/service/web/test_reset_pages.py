"""A machine that lost something compares itself with the aggregator's log on a page, and asks for a new epoch."""

import shutil
from pathlib import Path

import pytest

from agent.cli.enroll import steward_key
from agent.disclosure.site_gate import read_newest_registry
from agent.site.directory import Site
from tests.agent.cli.rekeyings import carry_head, decide
from tests.agent.delivery.whole_site import PROTECTED, Wire, ok
from tests.agent.service.web.running_service import RunningService
from tests.agent.service.web.steward_tool import StewardTool
from tests.agent.service.web.test_outbox_pages import read
from tests.aggregator.conftest import Served


def restore_backup(joined: RunningService, site: Site, tmp_path: Path) -> None:
    """Send everything, and put the folder of submissions back as it was before."""
    shutil.copytree(site.submissions, tmp_path / "backup")
    assert joined.sign_in("stella").submit("/outbox/send").status_code == 303
    for digest in [path.name[:64] for path in site.submissions.glob("*.receipt")]:
        for path in site.submissions.glob(f"{digest}*"):
            path.unlink()
    ledger = sorted((site.submissions / "ledger").glob("*.json"))
    ledger[-1].unlink()


def test_a_whole_machine_is_told_that_there_is_nothing_to_do(
    joined: RunningService, site: Site
) -> None:
    ada = joined.sign_in("ada")
    assert "Compare first" in ada.get("/federation/reset").text
    assert joined.sign_in("stella").submit("/outbox/send").status_code == 303
    page = read(ada.submit("/federation/reset", step="compare").text)
    assert f"this site's last link is {len(PROTECTED)} of epoch 1" in page
    assert "Nothing is lost" in page
    refused = ada.submit("/federation/reset", step="request", reason="restored")
    assert refused.status_code == 409
    assert "there is nothing to reset" in read(refused.text)


@pytest.mark.full
def test_a_restored_machine_begins_a_new_epoch(
    joined: RunningService, site: Site, served: Served, steward: StewardTool, tmp_path: Path
) -> None:
    restore_backup(joined, site, tmp_path)
    ada, stella = joined.sign_in("ada"), joined.sign_in("stella")
    page = ada.submit("/federation/reset", step="compare").text
    assert "This machine lacks something" in page
    assert '<option value="restored" selected>' in page
    asked = ada.submit("/federation/reset", step="request", reason="restored")
    assert asked.headers["location"] == "/federation/requests/reset"
    request = stella.get("/outbox/requests/reset/file").content
    signed = steward.sign_request(request, tmp_path / "steward.key")
    assert stella.upload("/outbox/requests/reset", signed).status_code == 303
    assert "was sent and waits for the central team" in read(stella.get("/outbox").text)
    decide(served)
    ada.submit("/federation/registry")
    registry = read_newest_registry(site)
    assert registry is not None
    assert [entry.epoch for entry in registry.sites.values()] == [2]
    assert ada.get("/federation/requests/reset").status_code == 400


@pytest.mark.full
def test_a_lost_key_of_the_steward_is_replaced_with_a_head_that_was_carried(
    joined: RunningService,
    site: Site,
    served: Served,
    wire: Wire,
    steward: StewardTool,
    tmp_path: Path,
) -> None:
    assert joined.sign_in("stella").submit("/outbox/send").status_code == 303
    head = carry_head(site, served).read_text().replace("\n", "\r\n")
    wire.refusals = 1_000
    ada, new = joined.sign_in("ada"), tmp_path / "new.key"
    down = ada.submit("/federation/reset", step="compare")
    assert down.status_code == 409
    ok(site, steward_key, "--out", new)
    public = new.with_name("new.key.pub").read_bytes()
    fields = {"step": "request", "reason": "lost_steward_key", "head": head}
    assert ada.submit("/federation/reset", **fields).status_code == 409  # the new key is missing
    asked = ada.upload("/federation/reset", public, **fields)
    assert asked.status_code == 303, read(asked.text)
    wire.refusals = 0
    stella = joined.sign_in("stella")
    request = stella.get("/outbox/requests/reset/file").content
    signed = steward.sign_request(request, new)
    assert stella.upload("/outbox/requests/reset", signed).status_code == 303


@pytest.mark.parametrize("reason", ["", "bored", "stolen_key"])
def test_a_reset_without_its_reason_or_its_new_key_is_refused(
    joined: RunningService, reason: str
) -> None:
    refused = joined.sign_in("ada").submit("/federation/reset", step="request", reason=reason)
    assert refused.status_code == 409
    assert 'role="alert"' in refused.text


def test_a_restored_site_shows_its_results_and_submits_nothing_until_it_was_compared(
    joined: RunningService, site: Site
) -> None:
    with site.store() as store:
        store.copies.mark_restored("0123456789abcdef", 1_790_000_000, "")
    ada, stella = joined.sign_in("ada"), joined.sign_in("stella")
    assert "This site was restored from a copy of 2026-09-21" in read(ada.get("/").text)
    refused = stella.submit("/outbox/send")
    assert refused.status_code in {400, 409}
    assert "was restored from a copy" in read(refused.text)
    assert stella.get("/results/index.html").status_code == 200
    page = ada.get("/federation/reset").text
    assert "nothing is drafted, approved or sent" in read(page)
    assert "Submit again from here" not in page
    page = ada.submit("/federation/reset", step="compare").text
    assert "Submit again from here" in page
    unsure = ada.submit("/federation/reset", step="continue")
    assert unsure.status_code == 409
    carried = ada.submit("/federation/reset", step="continue", alone="yes", head="a head")
    assert carried.status_code == 409
    assert stella.submit("/outbox/send").status_code in {400, 409}
    assert ada.submit("/federation/reset", step="continue", alone="yes").status_code == 303
    assert stella.submit("/outbox/send").status_code == 303
    assert "was restored" not in read(ada.get("/").text)


def test_a_restored_site_that_lost_something_cannot_simply_continue_on_the_page(
    joined: RunningService, site: Site, tmp_path: Path
) -> None:
    restore_backup(joined, site, tmp_path)
    with site.store() as store:
        store.copies.mark_restored("0123456789abcdef", 1_790_000_000, "")
    ada = joined.sign_in("ada")
    assert "Submit again from here" not in ada.submit("/federation/reset", step="compare").text
    refused = ada.submit("/federation/reset", step="continue", alone="yes")
    assert refused.status_code == 409
    assert "cannot simply continue" in read(refused.text)
