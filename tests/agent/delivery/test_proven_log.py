"""The aggregator's log as this site has seen it: it only grows, and a receipt is proven to be a part of it."""

import json
from dataclasses import replace

import pytest

from agent.delivery import send as delivery
from agent.delivery.outbox import State, Submission
from agent.delivery.proven_log import follow_newest_checkpoint
from agent.delivery.receipts import LogError, read_head
from agent.delivery.transport import Aggregator
from agent.disclosure.prepare import Gate
from agent.errors import DeliveryError
from protocol.checkpoint import LogKey
from tests.agent.delivery.answers import head_size, send_all, states
from tests.agent.delivery.desk import Desk, Reply, Request
from tests.agent.disclosure.ward import REGISTRY
from tests.protocol import world

pytestmark = pytest.mark.usefixtures("others_were_here_first")


def test_a_log_that_forgets_is_caught(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission]
) -> None:
    """The aggregator shows this site a log without the entries it showed before."""
    send_all(gate, aggregator, approved[:1])
    kept = (gate.outbox.directory / "head.json").read_bytes()
    desk.log.leaves[:] = [b"another history"]
    with pytest.raises(DeliveryError, match="cannot be proven"):
        send_all(gate, aggregator)
    assert states(gate) == [State.RECEIPTED, State.SENT]
    assert (gate.outbox.directory / "head.json").read_bytes() == kept


def test_two_histories_of_one_size_are_caught(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission]
) -> None:
    send_all(gate, aggregator, approved[:1])
    desk.log.leaves[:] = [b"x", b"y"]
    with pytest.raises(DeliveryError, match="two different histories"):
        send_all(gate, aggregator)


@pytest.mark.full
@pytest.mark.parametrize("proof", [[], ["00" * 32], ["zz"], ["00" * 33], [7], "x", None])
def test_growth_without_its_proof_is_not_believed(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission], proof: object
) -> None:
    send_all(gate, aggregator, approved[:1])
    kept = (gate.outbox.directory / "head.json").read_bytes()

    def lie(request: Request) -> Reply:
        if request.path.startswith("/v1/log/consistency"):
            return Reply(json.dumps({"proof": proof}).encode())
        return desk.honest(request)

    desk.instead = lie
    with pytest.raises(DeliveryError, match=r"cannot be proven|not a consistency proof"):
        send_all(gate, aggregator)
    assert states(gate)[1] is State.SENT
    assert (gate.outbox.directory / "head.json").read_bytes() == kept


def test_an_old_receipt_is_proven_to_be_a_part_of_the_log_seen_since(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission]
) -> None:
    """A receipt made early and handed out late is for a smaller log than the one this site knows by now."""
    desk.log.leaves.append(approved[0].envelope.pae)
    desk.log.leaves.append(approved[1].envelope.pae)
    old = desk.log.receipt(approved[1].envelope.pae)
    desk.log.leaves.append(b"and another's")
    send_all(gate, aggregator, approved[:1])
    assert head_size(gate) == 5

    def old_receipt(request: Request) -> Reply:
        if request.method == "POST":
            return Reply(json.dumps({"digest": approved[1].digest, "receipt": old}).encode())
        return desk.honest(request)

    desk.instead = old_receipt
    send_all(gate, aggregator)
    assert states(gate) == [State.RECEIPTED] * 2
    assert head_size(gate) == 5


def test_a_receipt_under_a_log_key_that_the_registry_replaced_does_not_count(
    gate: Gate, aggregator: Aggregator, approved: list[Submission]
) -> None:
    rotated = replace(REGISTRY, log_keys=(LogKey(world.SECOND_AGENT.public),))
    with pytest.raises(DeliveryError, match="does not verify"):
        delivery.send(
            gate.outbox,
            rotated,
            aggregator,
            approved,
            today_day=world.TODAY,
            audit=lambda event, detail: None,
        )


def test_a_log_that_was_rewritten_is_noticed_without_sending_anything(
    gate: Gate, aggregator: Aggregator, desk: Desk, approved: list[Submission]
) -> None:
    delivery.send(
        gate.outbox,
        REGISTRY,
        aggregator,
        approved,
        today_day=world.TODAY,
        audit=lambda event, detail: None,
    )
    size = len(desk.log.leaves)
    assert follow_newest_checkpoint(gate.outbox, REGISTRY, aggregator) == size
    desk.log.leaves.append(b"of another site")
    assert follow_newest_checkpoint(gate.outbox, REGISTRY, aggregator) == size + 1
    seen = read_head(gate.outbox.directory / "head.json", world.ORIGIN)
    assert seen.size == size + 1
    desk.log.leaves[0] = b"another history"
    desk.log.leaves.append(b"and more")
    with pytest.raises(LogError):
        follow_newest_checkpoint(gate.outbox, REGISTRY, aggregator)
    desk.log.signer = world.STRANGER
    with pytest.raises(DeliveryError, match="does not verify"):
        follow_newest_checkpoint(gate.outbox, REGISTRY, aggregator)
    assert read_head(gate.outbox.directory / "head.json", world.ORIGIN) == seen
