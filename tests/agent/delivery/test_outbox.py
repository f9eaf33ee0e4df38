"""The outbox keeps submissions as files, and names the state of each by the files that are there."""

import pytest

from agent.delivery.outbox import State, Submission
from agent.disclosure.prepare import Gate
from agent.errors import DisclosureError
from tests.protocol import world


def test_submissions_are_listed_in_the_order_of_the_chain(
    gate: Gate, approved: list[Submission]
) -> None:
    listed = gate.outbox.list_submissions()
    assert [submission.place for submission in listed] == sorted(
        submission.place for submission in listed
    )
    assert [submission.digest for submission in listed if submission.is_result] == [
        link.digest for link in approved
    ]


def test_files_of_a_submission_show_its_state(gate: Gate, approved: list[Submission]) -> None:
    outbox = gate.outbox
    digest = approved[0].digest
    assert outbox.get(digest).state is State.APPROVED
    outbox.mark_sent(digest, world.TODAY)
    assert outbox.get(digest).state is State.SENT
    outbox.put_refusal(digest, "not a refusal")
    assert (outbox.get(digest).state, outbox.get(digest).refusal) == (State.REFUSED, "unknown")
    assert outbox.read_refusals() == {digest: b"not a refusal"}
    outbox.make_void(digest)
    assert outbox.get(digest).state is State.VOID
    assert outbox.restore(digest)
    assert (
        outbox.get(digest).state is State.SENT
    )  # its bytes may have left, whatever became of the refusal
    assert outbox.read_refusals() == {}
    assert not outbox.restore(digest)


def test_void_link_comes_after_the_one_that_took_its_place(
    gate: Gate, approved: list[Submission]
) -> None:
    last = approved[-1]
    gate.outbox.make_void(last.digest)
    states = [submission.state for submission in gate.outbox.list_submissions()]
    assert states[-1] is State.VOID


def test_carried_receipt_is_unproven_until_it_is_marked(
    gate: Gate, approved: list[Submission]
) -> None:
    digest = approved[0].digest
    gate.outbox.put_carried_receipt(digest, "a receipt")
    assert gate.outbox.get(digest).receipt_is_carried
    assert gate.outbox.read_receipt(digest) == "a receipt"
    gate.outbox.mark_proven(digest)
    assert not gate.outbox.get(digest).receipt_is_carried


@pytest.mark.parametrize(
    ("length", "message"),
    [(7, "at least the first 8 characters"), (8, "no submission with this digest")],
)
def test_unknown_or_short_prefix_raises(
    gate: Gate, approved: list[Submission], length: int, message: str
) -> None:
    with pytest.raises(DisclosureError, match=message):
        gate.outbox.find("z" * length)
    assert gate.outbox.find(approved[0].digest[:8]).digest == approved[0].digest


def test_file_under_another_digest_raises(gate: Gate, approved: list[Submission]) -> None:
    first, second = (gate.outbox.directory / f"{link.digest}.dsse.json" for link in approved)
    first.write_bytes(second.read_bytes())
    with pytest.raises(DisclosureError, match="was changed after it was prepared"):
        gate.outbox.list_submissions()
