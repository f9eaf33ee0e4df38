"""A receipt counts only if it proves what it says."""

import json

import pytest

from agent.delivery.outbox import State, Submission
from agent.delivery.transport import Aggregator
from agent.disclosure.prepare import Gate
from agent.errors import DeliveryError
from tests.agent.delivery.answers import head_size, send_all, states
from tests.agent.delivery.desk import Desk, Log, Reply
from tests.protocol import world

pytestmark = pytest.mark.usefixtures("others_were_here_first")


def answer_with(desk: Desk, digest: str, receipt: str) -> None:
    desk.instead = lambda _: Reply(json.dumps({"digest": digest, "receipt": receipt}).encode())


def wrong_receipts(desk: Desk, submission: Submission, other: Submission) -> dict[str, str]:
    leaf = submission.envelope.pae
    log = Log(leaves=[b"a", b"b", leaf, other.envelope.pae, b"c"])
    good = log.receipt(leaf)
    lines = good.split("\n")
    return {
        "of another submission": log.receipt(other.envelope.pae),
        "of another log's key": Log(signer=world.STRANGER, leaves=log.leaves).receipt(leaf),
        "of another log's name": Log(origin="evil.example", leaves=log.leaves).receipt(leaf),
        "of a site's own key": Log(signer=world.AGENT, leaves=log.leaves).receipt(leaf),
        "cut short": good[: len(good) // 2],
        "without its end": good.rstrip("\n"),
        "with another index": good.replace("index 2", "index 3"),
        "with a node less": "\n".join([*lines[:2], *lines[3:]]),
        "empty": "",
        "a web page": "<html>",
    }


@pytest.mark.full
@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "kind",
    [
        "of another submission",
        "of another log's key",
        "of another log's name",
        "of a site's own key",
        "cut short",
        "without its end",
        "with another index",
        "with a node less",
        "empty",
        "a web page",
    ],
)
def test_a_receipt_that_proves_nothing_is_not_kept(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission], kind: str
) -> None:
    answer_with(desk, approved[0].digest, wrong_receipts(desk, approved[0], approved[1])[kind])
    with pytest.raises(DeliveryError, match="receipt does not verify"):
        send_all(gate, aggregator)
    assert states(gate) == [State.SENT, State.APPROVED]
    assert head_size(gate) == 0


@pytest.mark.full
@pytest.mark.parametrize(
    "answer", [b"", b"[]", b"{}", b"nonsense", b'{"digest": 1, "receipt": 2}', b"[" * 5000]
)
def test_an_answer_that_is_no_receipt_is_not_kept(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission], answer: bytes
) -> None:
    desk.instead = lambda _: Reply(answer)
    with pytest.raises(DeliveryError, match="not a receipt"):
        send_all(gate, aggregator)
    assert states(gate)[0] is State.SENT


def test_an_answer_about_another_submission_is_not_kept(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission]
) -> None:
    answer_with(desk, approved[1].digest, "")
    with pytest.raises(DeliveryError, match="another submission"):
        send_all(gate, aggregator)
