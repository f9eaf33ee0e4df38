"""Attacks 6 and 7: one account that approves alone; refusals that were forged, or kept and posted again."""

import json
from pathlib import Path

import pytest

from agent.cli import approve as approval_commands
from agent.cli.submission import submission
from agent.delivery import send as sending
from agent.delivery.outbox import State, Submission
from agent.delivery.send import list_waiting
from agent.delivery.transport import Aggregator
from agent.disclosure.prepare import Gate
from agent.errors import DeliveryError
from agent.site.directory import create_site
from aggregator import intake
from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.log.history import is_frozen
from aggregator.refusals import SignedRefusalError
from protocol.errors import Code
from protocol.refusal import Refusal
from protocol.registry import Model
from tests.agent.delivery.conftest import aggregator, approved, desk, gate
from tests.agent.delivery.desk import Desk, Reply
from tests.agent.delivery.whole_site import run
from tests.agent.disclosure.ward import REGISTRY
from tests.aggregator.conftest import home, site
from tests.aggregator.federation import TestSite, registry_of, scores, submit
from tests.aggregator.test_intake import register_model
from tests.protocol import world

__all__ = ["aggregator", "approved", "desk", "gate", "home", "site"]  # fixtures


def send_all(gate: Gate, aggregator: Aggregator) -> None:
    sending.send(
        gate.outbox,
        REGISTRY,
        aggregator,
        list_waiting(gate.outbox),
        today_day=world.TODAY,
        audit=lambda event, detail: None,
    )


def first_state(gate: Gate) -> State:
    return next(
        submission.state for submission in gate.outbox.list_submissions() if submission.is_result
    )


def believe_anybody(note: str | None, digest: str, key: object, origin: str) -> Refusal:
    """Commit 56f8cdc took every 409 from the network for the aggregator's word."""
    return Refusal(digest, Code.WRONG_ROOT, 0)


def test_a_forged_409_does_not_take_a_sent_submission_back(
    gate: Gate,
    desk: Desk,
    aggregator: Aggregator,
    approved: list[Submission],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A site that believes it puts another payload in the same place: two signed files, and a fork."""
    desk.instead = lambda request: Reply(json.dumps({"code": "wrong_root"}).encode(), 409)
    with pytest.raises(DeliveryError, match="without the aggregator's signature"):
        send_all(gate, aggregator)
    assert first_state(gate) is State.SENT
    monkeypatch.setattr(sending, "verify_refusal", believe_anybody)
    with pytest.raises(DeliveryError):
        send_all(gate, aggregator)
    assert first_state(gate) is State.REFUSED


def refused_for(home: Home, envelope: bytes) -> Code:
    with pytest.raises(SignedRefusalError) as caught:
        accept(home, envelope, today_day=today_day())
    return caught.value.code


def is_site_frozen(home: Home, site: TestSite) -> bool:
    with home.database.reading() as connection:
        return is_frozen(connection, site.id, registry_of(home).sites[site.id].epoch)


def test_an_old_refusal_posted_again_does_not_freeze_a_healthy_site(
    home: Home, site: TestSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its place is taken by now, and what it was refused for is gone: only the memory of it tells it from a fork."""
    late = Model("late/model", "Late", "", True)
    old = site.sign(site.result(registry_of(home), scores(1), model=late.name))
    assert refused_for(home, old) is Code.UNKNOWN_MODEL
    submit(home, site, site.result(registry_of(home), scores(2)))
    register_model(home, late)
    assert refused_for(home, old) is Code.UNKNOWN_MODEL
    assert not is_site_frozen(home, site)
    monkeypatch.setattr(intake, "recall", lambda connection, digest: None)
    refused_for(home, old)
    assert is_site_frozen(home, site)


def test_one_account_with_both_keys_does_not_approve_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steward's key file is readable to the account that runs the site."""
    hospital = create_site(tmp_path / "site", "St. Elsewhere")
    key = tmp_path / "steward.key"
    key.write_text("a key")
    key.chmod(0o600)
    refused = run(hospital, submission, "approve", "--key", key)
    assert "could approve alone" in str(refused.exception)
    monkeypatch.setattr(
        approval_commands, "check_custody", lambda path, directory, one_account: False
    )
    taken = run(hospital, submission, "approve", "--key", key)
    assert "could approve alone" not in str(taken.exception)  # it goes on to open the key
