"""A thief holds a key that signed for the log in the past, and hands a site without a network forged receipts.

A site that believes one takes its submission for delivered, and a challenge that the thief chose for its plan's.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent.delivery import proven_log, receipts
from agent.delivery import send as delivery
from agent.delivery.outbox import State, Submission
from agent.delivery.proven_log import follow_newest_checkpoint
from agent.delivery.receipts import LogError
from agent.delivery.send import import_receipt, list_waiting
from agent.delivery.site_heads import collect_receipts
from agent.delivery.transport import Aggregator
from agent.disclosure.prepare import Gate
from agent.errors import DeliveryError
from protocol.checkpoint import LogKey
from protocol.registry import Registry
from tests.agent.delivery.conftest import aggregator, approved, desk, gate
from tests.agent.delivery.desk import Desk, Log, Reply
from tests.agent.disclosure.ward import REGISTRY
from tests.protocol import world

__all__ = ["aggregator", "approved", "desk", "gate"]  # fixtures

OLD_KEY = world.ed25519_signer(77)
END = 20
"""First size of the log that the old key no longer signs for."""
BEFORE = replace(REGISTRY, version=REGISTRY.version - 1, log_keys=(LogKey(OLD_KEY.public),))
AFTER = replace(REGISTRY, log_keys=(LogKey(OLD_KEY.public, 0, END), LogKey(world.LOG.public, END)))


@pytest.fixture(autouse=True)
def _others_were_here_first(desk: Desk) -> None:
    desk.log.leaves += [b"another site's %d" % number for number in range(2)]
    desk.log.signer = OLD_KEY


def forge(submission: Submission, index: int, size: int) -> str:
    """Return a receipt from a tree that never was the log's."""
    leaves = [b"invented %d" % number for number in range(size)]
    leaves[index] = submission.envelope.pae
    return Log(signer=OLD_KEY, leaves=leaves).receipt(submission.envelope.pae)


def carry(
    gate: Gate,
    text: str,
    path: Path,
    *,
    registry: Registry = AFTER,
    made_under: Registry | None = BEFORE,
) -> Submission:
    path.write_text(text)
    return import_receipt(
        gate.outbox,
        registry,
        path,
        made_under=lambda _version: made_under,
        today_day=world.TODAY,
        audit=lambda event, detail: None,
    )


def send_all(gate: Gate, aggregator: Aggregator) -> None:
    delivery.send(
        gate.outbox,
        AFTER,
        aggregator,
        list_waiting(gate.outbox),
        today_day=world.TODAY,
        audit=lambda event, detail: None,
    )


def refused(gate: Gate, submission: Submission) -> bool:
    return gate.outbox.get(submission.digest).state is not State.RECEIPTED


def grow(desk: Desk) -> None:
    """Let the log outgrow the old key: the new one signs from then on."""
    desk.log.leaves += [b"later %d" % number for number in range(END)]
    desk.log.signer = world.LOG


def test_a_tree_that_is_older_than_the_link_before_is_none(
    gate: Gate, approved: list[Submission], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dataset before it is entry 2 of the log, and the forged tree has the result as entry 1."""
    forged = forge(approved[0], 1, 7)
    with pytest.raises(LogError, match="link 2 of epoch 1 is entry 1"):
        carry(gate, forged, tmp_path / "receipt")
    assert refused(gate, approved[0])
    monkeypatch.setattr(proven_log, "check_order", lambda *_arguments: None)
    assert carry(gate, forged, tmp_path / "receipt").state is State.RECEIPTED


def test_a_tree_of_a_size_that_was_seen_has_the_same_root(
    gate: Gate, approved: list[Submission], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carry(
        gate, forge(approved[0], 4, 7), tmp_path / "receipt"
    )  # forged as well: nothing shows that yet
    with pytest.raises(LogError, match="the first 7 entries of its log differ"):
        carry(gate, forge(approved[1], 6, 7), tmp_path / "receipt")
    monkeypatch.setattr(receipts, "check_same_size", lambda *_arguments: None)
    assert carry(gate, forge(approved[1], 6, 7), tmp_path / "receipt").state is State.RECEIPTED


def test_a_tree_from_before_the_sites_keys_is_none(
    gate: Gate, approved: list[Submission], tmp_path: Path
) -> None:
    site = AFTER.sites[world.SITE]
    keys = tuple(replace(key, from_index=12) for key in site.keys)
    late = replace(AFTER, sites={**AFTER.sites, world.SITE: replace(site, keys=keys)})
    with pytest.raises(LogError, match="valid only from entry 11 on"):
        carry(gate, forge(approved[0], 10, 14), tmp_path / "receipt", registry=late)
    carry(gate, forge(approved[0], 11, 14), tmp_path / "receipt", registry=late)


def test_a_key_that_had_ended_when_the_link_was_made_signs_no_receipt_of_it(
    gate: Gate, approved: list[Submission], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = replace(AFTER, version=AFTER.version + 1)
    for registry in (AFTER, newer):
        with pytest.raises(LogError, match="before the submission was made"):
            carry(
                gate,
                forge(approved[0], 10, 14),
                tmp_path / "receipt",
                registry=registry,
                made_under=AFTER,
            )
    assert refused(gate, approved[0])
    monkeypatch.setattr(proven_log, "_check_key_had_not_ended", lambda *_arguments: None)
    assert (
        carry(gate, forge(approved[0], 10, 14), tmp_path / "receipt", made_under=AFTER).state
        is State.RECEIPTED
    )


def test_where_the_larger_log_was_seen_an_old_keys_receipt_needs_the_network(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission], tmp_path: Path
) -> None:
    desk.log.leaves.append(approved[0].envelope.pae)
    true = desk.log.receipt(approved[0].envelope.pae)
    grow(desk)
    follow_newest_checkpoint(gate.outbox, AFTER, aggregator)
    for text in (forge(approved[0], 10, 14), true):
        with pytest.raises(DeliveryError, match="a file cannot prove"):
            carry(gate, text, tmp_path / "receipt")
    assert refused(gate, approved[0])

    def give_true_receipt(request: object) -> Reply:
        desk.instead = None
        return Reply(json.dumps({"digest": approved[0].digest, "receipt": true}).encode())

    desk.instead = give_true_receipt
    send_all(gate, aggregator)
    assert not refused(gate, approved[0])


def test_a_forgery_that_nothing_here_contradicts_is_found_out_by_the_next_command_with_a_network(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission], tmp_path: Path
) -> None:
    taken = carry(gate, forge(approved[0], 10, 14), tmp_path / "receipt")
    assert (taken.state, taken.receipt_is_carried) == (State.RECEIPTED, True)
    assert not (
        gate.outbox.directory / "head.json"
    ).exists()  # so that the true log is not the one that is refused
    grow(desk)
    with pytest.raises(LogError, match=f"{approved[0].digest}.receipt came as a file"):
        follow_newest_checkpoint(gate.outbox, AFTER, aggregator)
    with pytest.raises(LogError, match=f"{approved[0].digest}.receipt came as a file"):
        collect_receipts(gate.outbox, AFTER, aggregator, world.SITE, world.AGENT)
    with pytest.raises(LogError):
        send_all(gate, aggregator)
    assert [
        request.path for request in desk.seen if request.method == "POST"
    ] == []  # before anything leaves
    # What its advice says is enough: the false file is moved away, and the true receipt fetched.
    (gate.outbox.directory / f"{approved[0].digest}.receipt").rename(tmp_path / "evidence")
    send_all(gate, aggregator)
    assert [gate.outbox.get(found.digest).state for found in approved] == [State.RECEIPTED] * 2
    assert [gate.outbox.get(found.digest).receipt_is_carried for found in approved] == [False] * 2


def test_a_forged_log_that_is_longer_than_the_true_one_is_found_out_too(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission], tmp_path: Path
) -> None:
    carry(gate, forge(approved[0], 10, 14), tmp_path / "receipt", registry=BEFORE)
    with pytest.raises(LogError, match="the log has 3 entries, but 14 according to the receipt"):
        follow_newest_checkpoint(gate.outbox, BEFORE, aggregator)


def test_a_carried_receipt_whose_key_counts_no_more_is_fetched_anew(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission], tmp_path: Path
) -> None:
    """The thief's key signed it, and the log is handed over from a size before it."""
    carry(gate, forge(approved[0], 10, 14), tmp_path / "receipt", registry=BEFORE)
    cut = replace(REGISTRY, log_keys=(LogKey(OLD_KEY.public, 0, 14), LogKey(world.LOG.public, 14)))
    grow(desk)
    with pytest.raises(LogError, match="does not verify") as caught:
        follow_newest_checkpoint(gate.outbox, cut, aggregator)
    assert "move it elsewhere" in caught.value.advice


def test_true_receipts_that_came_as_files_are_proven_and_forgotten_as_such(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission], tmp_path: Path
) -> None:
    for submission in approved:
        desk.log.leaves.append(submission.envelope.pae)
        assert carry(
            gate, desk.log.receipt(submission.envelope.pae), tmp_path / "receipt"
        ).receipt_is_carried
    grow(desk)
    follow_newest_checkpoint(gate.outbox, AFTER, aggregator)
    assert [found.receipt_is_carried for found in gate.outbox.list_submissions()] == [False] * 3
    assert list(gate.outbox.directory.glob("*.carried")) == []
