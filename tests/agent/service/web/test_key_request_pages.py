"""Keys are replaced by two people: an administrator asks; a steward who did not ask signs elsewhere."""

from pathlib import Path

import pytest

from agent.access.accounts import change_roles
from agent.cli.enroll import steward_key
from agent.site.directory import Site
from agent.store import Role
from tests.agent.cli.rekeyings import decide
from tests.agent.delivery.whole_site import SUITE, Wire, ok, states
from tests.agent.service.web.running_service import Browser, RunningService
from tests.agent.service.web.steward_tool import StewardTool, find_steward_keyid
from tests.agent.service.web.test_outbox_pages import read
from tests.aggregator.conftest import Served
from tests.aggregator.federation import MODELS


@pytest.fixture
def settled(joined: RunningService) -> RunningService:
    """A site whose statements all have receipts, so that a key can be replaced."""
    assert joined.sign_in("stella").submit("/outbox/send").status_code == 303
    return joined


def hand_in(browser: Browser, kind: str, signed: bytes) -> tuple[int, str]:
    """Hand a signed request in; return the status and the words of the answer."""
    answer = browser.upload(f"/outbox/requests/{kind}", signed)
    return answer.status_code, read(answer.text)


def test_the_agents_key_is_replaced(
    settled: RunningService, site: Site, served: Served, steward: StewardTool, tmp_path: Path
) -> None:
    ada, stella = settled.sign_in("ada"), settled.sign_in("stella")
    assert "What will happen" in ada.get("/federation/rotate").text
    asked = ada.submit("/federation/rotate", role="agent")
    assert asked.headers["location"] == "/federation/requests/rotate"
    assert "asks to replace its agent's key" in read(ada.get("/federation/requests/rotate").text)
    assert "waits for a steward" in read(stella.get("/outbox").text)
    assert "The replacement of a key waits for a steward" in read(stella.get("/").text)
    request = stella.get("/outbox/requests/rotate/file").content
    assert hand_in(stella, "rotate", request)[0] == 409  # the steward's signature is missing
    signed = steward.sign_request(request, tmp_path / "steward.key")
    assert hand_in(stella, "rotate", signed)[0] == 303
    assert states(site, "rotate") == ["sent"]
    waiting = ada.submit("/federation/rotate", role="agent")
    assert waiting.status_code == 409  # one is pending
    assert "waits for a steward" not in read(stella.get("/").text)
    assert "Take the replacement back" in ada.get("/federation").text
    before = (site.keys / "agent.key").read_bytes()
    decide(served)
    done = read(ada.submit("/federation/registry").text)
    assert "The new agent key is in force" in done
    assert "waits for the central team" not in done
    assert "Take the replacement back" not in done
    assert (site.keys / "agent.key").read_bytes() != before
    assert stella.submit("/outbox/send").status_code == 303
    assert states(site, "rotate") == ["receipted"]
    assert ada.get("/federation/requests/rotate").status_code == 400  # nothing waits any more
    drafted = settled.sign_in("dana").submit("/outbox/prepare", suite=SUITE, model=MODELS[0].name)
    assert drafted.status_code == 303


@pytest.mark.full
def test_the_stewards_key_is_replaced_with_both_of_their_signatures(
    settled: RunningService, site: Site, served: Served, steward: StewardTool, tmp_path: Path
) -> None:
    new, old = tmp_path / "new.key", tmp_path / "steward.key"
    ok(site, steward_key, "--out", new)
    ada, stella = settled.sign_in("ada"), settled.sign_in("stella")
    public = new.with_name("new.key.pub").read_bytes()
    assert ada.upload("/federation/rotate", public, role="steward").status_code == 303
    request = stella.get("/outbox/requests/rotate/file").content
    once = steward.sign_request(request, old)
    assert hand_in(stella, "rotate", once)[0] == 409
    twice = steward.sign_request(once, new)
    assert hand_in(stella, "rotate", twice)[0] == 303
    decide(served)
    assert ada.submit("/federation/registry").status_code == 200
    assert stella.submit("/outbox/send").status_code == 303
    assert states(site, "rotate") == ["receipted"]


def test_a_private_key_of_a_steward_is_refused_and_kept_nowhere(
    settled: RunningService, site: Site, tmp_path: Path
) -> None:
    private = (tmp_path / "steward.key").read_bytes()
    secret = private.splitlines()[1]
    ada = settled.sign_in("ada")
    for path, fields in (
        ("/federation/rotate", {"role": "steward"}),
        ("/federation/reset", {"step": "request", "reason": "lost_steward_key"}),
    ):
        refused = ada.upload(path, private, **fields)
        assert refused.status_code == 409
        assert "This is a private key; it was not kept" in read(refused.text)
        assert secret not in refused.content
    stella = settled.sign_in("stella")
    assert stella.upload("/outbox/decision", private, decision="signed").status_code == 409
    for file in site.directory.rglob("*"):
        assert not file.is_file() or secret not in file.read_bytes()


@pytest.mark.full
def test_who_asked_cannot_hand_it_in_whatever_their_roles(
    settled: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    with site.store() as store:
        account = store.accounts.find("ada")
        assert account is not None
        change_roles(store, account, {Role.ADMINISTRATOR, Role.STEWARD})
    ada = settled.sign_in("ada")
    assert ada.submit("/federation/rotate", role="agent").status_code == 303
    assert "You asked for this, so you cannot hand it in" in read(
        ada.get("/outbox/requests/rotate").text
    )
    request = ada.get("/outbox/requests/rotate/file").content
    signed = steward.sign_request(request, tmp_path / "steward.key")
    status, words = hand_in(ada, "rotate", signed)
    assert status == 409
    assert "had a part in a submission" in words
    assert states(site, "rotate") == []
    assert hand_in(settled.sign_in("stella"), "rotate", signed)[0] == 303


@pytest.mark.full
def test_a_key_of_who_asked_signs_nothing_through_another_account(
    settled: RunningService, site: Site, steward: StewardTool, tmp_path: Path
) -> None:
    """Ada once signed with this key; her request is handed in by Stella, signed with the same key."""
    with site.store() as store:
        account = store.accounts.find("ada")
        assert account is not None
        store.accounts.add_key(account.account_id, find_steward_keyid(site))
    ada, stella = settled.sign_in("ada"), settled.sign_in("stella")
    assert ada.submit("/federation/rotate", role="agent").status_code == 303
    request = stella.get("/outbox/requests/rotate/file").content
    signed = steward.sign_request(request, tmp_path / "steward.key")
    status, words = hand_in(stella, "rotate", signed)
    assert status == 409
    assert "the key of the approval belongs to someone" in words


def test_an_aggregator_that_is_down_leaves_a_request_that_can_be_sent_again(
    settled: RunningService, site: Site, wire: Wire, steward: StewardTool, tmp_path: Path
) -> None:
    ada, stella = settled.sign_in("ada"), settled.sign_in("stella")
    assert ada.submit("/federation/rotate", role="agent").status_code == 303
    request = stella.get("/outbox/requests/rotate/file").content
    signed = steward.sign_request(request, tmp_path / "steward.key")
    wire.refusals = 1_000
    status, words = hand_in(stella, "rotate", signed)
    assert status == 502
    assert "Hand the same file in again later." in words
    wire.refusals = 0
    assert hand_in(stella, "rotate", signed)[0] == 303
    assert ada.submit("/federation/rotate/cancel").status_code == 303
    assert states(site, "rotate") == ["void"]
    assert ada.submit("/federation/rotate/cancel").status_code == 409
