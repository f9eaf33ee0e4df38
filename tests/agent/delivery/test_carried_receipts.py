"""Receipts that came as files, by the commands: what the list says of them, and which command proves them."""

from pathlib import Path

from agent.cli.enroll import registry
from agent.cli.federation import open_federation
from agent.cli.submission import submission
from agent.cli.submission_context import open_outbox
from agent.delivery.send import list_waiting
from agent.site.directory import Site
from aggregator.home import today_day
from aggregator.intake import accept
from tests.agent.delivery.whole_site import Wire, join, ok, rows, states
from tests.aggregator.conftest import Served


def test_a_carried_receipt_is_listed_as_unproven_until_a_network_proves_it(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    join(site, served, wire, tmp_path)
    stick = tmp_path / "stick"
    stick.mkdir()
    ok(site, submission, "send", "--export", stick)
    for link in list_waiting(open_outbox(site)):
        receipt = accept(served.home, (stick / f"{link.digest}.dsse.json").read_bytes(), today_day=today_day()).receipt
        (stick / "receipt").write_text(receipt)
        assert "receipted" in ok(site, submission, "send", "--import-receipt", stick / "receipt")
    assert states(site) == ["receipted"] * 2
    assert [row["receipt_is_carried"] for row in rows(site)] == [True, True]
    assert "2 of the receipts came as files" in ok(site, submission, "status")
    ok(site, registry, "update")
    assert [row["receipt_is_carried"] for row in rows(site)] == [False, False]
    assert "came as files" not in ok(site, submission, "status")


def test_the_registry_under_which_a_link_was_made_is_found_again(
    site: Site, served: Served, wire: Wire, tmp_path: Path
) -> None:
    join(site, served, wire, tmp_path)
    federation = open_federation(site)
    newest = federation.read_trusted()
    for link in open_outbox(site).list_submissions():
        assert federation.read_version(link.header.registry) == newest
    assert federation.read_version(99) is None
