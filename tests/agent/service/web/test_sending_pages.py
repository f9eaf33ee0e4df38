"""What is approved is sent from the page; an aggregator that is down, or hangs up, leaves a clear state."""

from agent.site.directory import Site
from tests.agent.delivery.whole_site import PROTECTED, Wire, states
from tests.agent.service.web.running_service import RunningService
from tests.agent.service.web.test_outbox_pages import read


def test_approved_statements_are_sent_and_their_receipts_kept(
    joined: RunningService, site: Site
) -> None:
    dana = joined.sign_in("dana")
    assert states(site) == ["approved"] * len(PROTECTED)
    assert dana.submit("/outbox/send").status_code == 303
    assert states(site) == ["receipted"] * len(PROTECTED)
    assert dana.submit("/outbox/send").status_code == 303  # nothing is left, and nothing happens
    with site.store() as store:
        account = store.accounts.find("dana")
        events = store.audit.read_events()
    assert account is not None
    sent = [event.detail for event in events if event.event == "submission sent"]
    assert len(sent) == len(PROTECTED)
    assert all(detail.endswith(f"account={account.account_id}") for detail in sent)


def test_an_aggregator_that_is_down_is_named_and_everything_stays_ready_to_send(
    joined: RunningService, site: Site, wire: Wire
) -> None:
    wire.refusals = 1_000
    stella = joined.sign_in("stella")
    answer = stella.submit("/outbox/send")
    assert answer.status_code == 502
    page = read(answer.text)
    assert "Not everything was sent:" in page
    assert "It has left the site, and the aggregator has not answered yet." in page
    assert states(site) == ["sent", *["approved"] * (len(PROTECTED) - 1)]
    assert "Send what is approved" in page
    wire.refusals = 0
    assert stella.submit("/outbox/send").status_code == 303
    assert states(site) == ["receipted"] * len(PROTECTED)


def test_a_viewer_and_an_administrator_send_nothing(joined: RunningService, site: Site) -> None:
    for name in ("vera", "ada"):
        assert joined.sign_in(name).submit("/outbox/send").status_code == 403
    assert states(site) == ["approved"] * len(PROTECTED)
