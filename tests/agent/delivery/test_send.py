"""Delivery: twice is once, a crash loses nothing, and a receipt counts only if it proves itself."""

import json
from pathlib import Path

import pytest

from agent.delivery import proven_log
from agent.delivery import send as delivery
from agent.delivery.outbox import State, Submission
from agent.delivery.send import (
    SignedRefusalError,
    export,
    import_receipt,
    list_waiting,
    take_refusal,
)
from agent.delivery.transport import Aggregator, SubmissionRefusedError
from agent.disclosure.prepare import Gate, prepare
from agent.errors import DeliveryError
from protocol.errors import Code
from protocol.keys import Signer
from protocol.refusal import Refusal, sign_refusal
from tests.agent.delivery.answers import head_size, send_all, states
from tests.agent.delivery.desk import Desk, Log, Reply, Request
from tests.agent.disclosure.ward import CARD, MODEL, OTHER_MODEL, REGISTRY, whole_ward
from tests.protocol import world

pytestmark = pytest.mark.usefixtures("others_were_here_first")


class AuditLog(list[str]):
    def __call__(self, event: str, detail: str) -> None:
        self.append(f"{event} {detail}")


def never(_version: int) -> None:
    """No registry of the past is kept."""


def refuse(
    submission: Submission, code: str, *, signer: Signer = world.RECEIPT, origin: str = world.ORIGIN
) -> str:
    """The aggregator's signed word that it refuses a submission."""
    return sign_refusal(Refusal(submission.digest, Code(code), 3), origin, signer)


def answer_refusal(desk: Desk, code: str, note: str | None = None, status: int = 409) -> None:
    body = {"code": code} if note is None else {"code": code, "refusal": note}
    desk.instead = lambda _: Reply(json.dumps(body).encode(), status)


def test_everything_approved_arrives_in_order_with_a_receipt(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission]
) -> None:
    done = send_all(gate, aggregator)
    assert [submission.state for submission in done] == [State.RECEIPTED, State.RECEIPTED]
    assert [r.body for r in desk.seen if r.method == "POST"] == [s.data for s in approved]
    assert head_size(gate) == 4
    assert list_waiting(gate.outbox) == []


def test_sending_again_sends_nothing(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission]
) -> None:
    send_all(gate, aggregator)
    before = len(desk.seen)
    assert [s.state for s in send_all(gate, aggregator, gate.outbox.list_submissions())] == [
        State.RECEIPTED
    ] * 3
    assert len(desk.seen) == before


def test_an_answer_lost_on_the_way_is_asked_for_again_and_makes_no_second_entry(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission]
) -> None:
    def swallow(request: Request) -> Reply:
        desk.honest(request)
        return Reply(b"", 502)

    desk.instead = swallow
    with pytest.raises(DeliveryError):
        send_all(gate, aggregator)
    assert states(gate) == [State.SENT, State.APPROVED]
    desk.instead = None
    send_all(gate, aggregator)
    assert len(desk.log.leaves) == 4


class Crash(BaseException):
    """The power went out."""


def test_a_crash_after_the_answer_is_mended_by_sending_again(
    gate: Gate,
    desk: Desk,
    aggregator: Aggregator,
    approved: list[Submission],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for writer in ("write_head", "put_receipt"):
        with monkeypatch.context() as patch:

            def crash(*args: object) -> None:
                raise Crash

            if writer == "write_head":
                patch.setattr(proven_log, "write_head", crash)
            else:
                patch.setattr(type(gate.outbox), "put_receipt", crash)
            with pytest.raises(Crash):
                send_all(gate, aggregator)
        assert states(gate)[0] is State.SENT
    send_all(gate, aggregator)
    assert states(gate) == [State.RECEIPTED] * 2
    assert len(desk.log.leaves) == 4


def test_it_is_noted_that_bytes_may_have_left_before_they_do(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission]
) -> None:
    audit, found = AuditLog(), []

    def look(request: Request) -> Reply:
        found.append((gate.outbox.get(approved[0].digest).state, list(audit)))
        return Reply(b"", 500)

    desk.instead = look
    with pytest.raises(DeliveryError):
        delivery.send(
            gate.outbox, REGISTRY, aggregator, approved, today_day=world.TODAY, audit=audit
        )
    assert found == [
        (State.SENT, [f"submission sent digest={approved[0].digest} day={world.TODAY}"])
    ]


def test_a_signed_refusal_for_good_is_kept_with_its_code_and_stops_the_chain(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission]
) -> None:
    answer_refusal(desk, "wrong_root", refuse(approved[0], "wrong_root"))
    with pytest.raises(SignedRefusalError, match="wrong_root"):
        send_all(gate, aggregator)
    assert states(gate) == [State.REFUSED, State.APPROVED]
    assert gate.outbox.get(approved[0].digest).refusal == "wrong_root"
    assert len(desk.seen) == 1


@pytest.mark.full
@pytest.mark.parametrize(
    "code",
    [
        "unknown_key",
        "registry_expired",
        "site_frozen",
        "wrong_seq",
        "wrong_prev",
        "ledger_rolled_back",
    ],
)
def test_a_signed_refusal_that_passes_leaves_the_submission_waiting(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission], code: str
) -> None:
    answer_refusal(desk, code, refuse(approved[0], code), 403)
    with pytest.raises(SignedRefusalError):
        send_all(gate, aggregator)
    assert states(gate) == [State.SENT, State.APPROVED]
    desk.instead = None
    send_all(gate, aggregator)
    assert states(gate) == [State.RECEIPTED] * 2


def forged_notes(first: Submission, second: Submission) -> dict[str, str | None]:
    good = refuse(first, "wrong_root")
    return {
        "without a note": None,
        "with an empty note": "",
        "with text for a note": "wrong_root",
        "with a web page for a note": "<html>",
        "about another digest": refuse(second, "wrong_root"),
        "by the site's own key": refuse(first, "wrong_root", signer=world.AGENT),
        "by a stranger's key": refuse(first, "wrong_root", signer=world.STRANGER),
        "by another log": refuse(first, "wrong_root", origin="evil.example"),
        "with another code": good.replace("wrong_root", "fork"),
        "with another size": good.replace("\n3\n", "\n4\n"),
        "cut short": good[:-10],
        "a checkpoint instead": Log(leaves=[b"x"]).head(),
        "without end": good + "x" * 100_000,
    }


@pytest.mark.full
@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "kind",
    [
        "without a note",
        "with an empty note",
        "with text for a note",
        "with a web page for a note",
        "about another digest",
        "by the site's own key",
        "by a stranger's key",
        "by another log",
        "with another code",
        "with another size",
        "cut short",
        "a checkpoint instead",
        "without end",
    ],
)
@pytest.mark.parametrize("way", ["network", "file"])
def test_a_forged_refusal_changes_nothing_that_was_sent(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission], kind: str, way: str
) -> None:
    """Somebody on the way answers 409, so that the site gives up its place and forks itself later."""
    note = forged_notes(*approved)[kind]
    answer_refusal(desk, "wrong_root", note)
    with pytest.raises(DeliveryError) as caught:
        send_all(gate, aggregator)
    assert not isinstance(caught.value, SubmissionRefusedError)
    if (
        way == "file" and kind != "about another digest"
    ):  # by file the other submission is refused, and rightly
        with pytest.raises(
            DeliveryError, match="not signed by the aggregator, or is not about a submission"
        ):
            take_refusal(gate.outbox, REGISTRY, note or "", today_day=world.TODAY, audit=AuditLog())
    assert states(gate)[0] is State.SENT
    assert list(gate.outbox.directory.glob("*.refused")) == []
    # Preparing gives nothing up either.
    prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    assert states(gate)[0] is State.SENT
    desk.instead = None
    send_all(gate, aggregator)
    assert states(gate) == [State.RECEIPTED] * 2


def test_a_signed_refusal_that_came_as_a_file_is_taken(
    gate: Gate, approved: list[Submission], tmp_path: Path
) -> None:
    export(gate.outbox, REGISTRY, approved, tmp_path, today_day=world.TODAY, audit=AuditLog())
    audit = AuditLog()
    note = refuse(approved[0], "wrong_root")
    taken = take_refusal(gate.outbox, REGISTRY, note, today_day=world.TODAY, audit=audit)
    assert (taken.digest, taken.state, taken.refusal) == (
        approved[0].digest,
        State.REFUSED,
        "wrong_root",
    )
    assert audit == [
        f"submission refused digest={approved[0].digest} code=wrong_root day={world.TODAY}"
    ]
    passing = refuse(approved[1], "unknown_key")
    assert (
        take_refusal(gate.outbox, REGISTRY, passing, today_day=world.TODAY, audit=audit).state
        is State.SENT
    )


def test_a_later_link_is_not_sent_before_an_earlier_one(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission], tmp_path: Path
) -> None:
    """Out of order the aggregator would refuse it, and its place in the chain would be lost for nothing."""
    first, second = approved
    message = f"{second.digest[:12]} comes after {first.digest[:12]}, which is approved and has no receipt"
    for wrong in ([second], [second, first]):
        with pytest.raises(DeliveryError, match=message):
            send_all(gate, aggregator, wrong)
    with pytest.raises(DeliveryError, match=message):
        export(
            gate.outbox,
            REGISTRY,
            [second],
            tmp_path / "out",
            today_day=world.TODAY,
            audit=AuditLog(),
        )
    assert desk.seen == []
    assert states(gate) == [State.APPROVED] * 2
    assert not (tmp_path / "out").exists()
    # What was carried out by hand may be followed by hand, but not by the network before its receipt is here.
    export(
        gate.outbox, REGISTRY, [first], tmp_path / "first", today_day=world.TODAY, audit=AuditLog()
    )
    export(
        gate.outbox,
        REGISTRY,
        [second],
        tmp_path / "second",
        today_day=world.TODAY,
        audit=AuditLog(),
    )
    with pytest.raises(DeliveryError, match="which is sent and has no receipt"):
        send_all(gate, aggregator, [second])
    send_all(gate, aggregator, [first])
    send_all(gate, aggregator, [second])
    assert states(gate) == [State.RECEIPTED] * 2


def test_a_link_is_not_sent_past_a_refused_one(
    gate: Gate, desk: Desk, aggregator: Aggregator, approved: list[Submission]
) -> None:
    answer_refusal(desk, "unknown_model", refuse(approved[0], "unknown_model"))
    with pytest.raises(SubmissionRefusedError):
        send_all(gate, aggregator)
    with pytest.raises(DeliveryError, match="which is refused and has no receipt"):
        send_all(gate, aggregator, approved[1:])
    desk.instead = None
    # Preparing puts the same bytes back, and then both arrive.
    prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    send_all(gate, aggregator)
    results = [s for s in gate.outbox.list_submissions() if s.is_result]
    assert [(s.digest, s.state) for s in results] == [(s.digest, State.RECEIPTED) for s in approved]


def test_files_do_what_the_network_does(
    gate: Gate, desk: Desk, approved: list[Submission], tmp_path: Path
) -> None:
    audit, out = AuditLog(), tmp_path / "stick"
    out.mkdir()
    paths = export(gate.outbox, REGISTRY, approved, out, today_day=world.TODAY, audit=audit)
    assert [path.read_bytes() for path in paths] == [s.data for s in approved]
    assert states(gate) == [State.SENT] * 2
    assert len(audit) == 2
    export(
        gate.outbox, REGISTRY, approved, out, today_day=world.TODAY, audit=audit
    )  # again is as once
    for number, submission in enumerate(approved):
        desk.log.leaves.append(submission.envelope.pae)
        (tmp_path / "receipt").write_text(desk.log.receipt(submission.envelope.pae))
        taken = import_receipt(
            gate.outbox,
            REGISTRY,
            tmp_path / "receipt",
            made_under=never,
            today_day=world.TODAY,
            audit=audit,
        )
        assert (taken.digest, taken.state) == (submission.digest, State.RECEIPTED)
        # Without a network nothing is proven of the log, so no head of it is kept.
        assert (head_size(gate), taken.receipt_is_carried) == (0, True), number


def test_one_submission_goes_to_one_file_and_overwrites_no_other(
    gate: Gate, approved: list[Submission], tmp_path: Path
) -> None:
    target = tmp_path / "out.dsse.json"
    with pytest.raises(DeliveryError, match="not a folder"):
        export(gate.outbox, REGISTRY, approved, target, today_day=world.TODAY, audit=AuditLog())
    target.write_text("something else")
    with pytest.raises(DeliveryError, match="is a different file"):
        export(gate.outbox, REGISTRY, approved[:1], target, today_day=world.TODAY, audit=AuditLog())
    assert states(gate) == [State.APPROVED] * 2
    assert target.read_text() == "something else"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"nonsense", b"x" * 100_000])
def test_a_file_that_is_no_receipt_for_anything_here_is_refused(
    gate: Gate, approved: list[Submission], tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "receipt").write_bytes(content)
    with pytest.raises(Exception, match="receipt") as caught:
        import_receipt(
            gate.outbox,
            REGISTRY,
            tmp_path / "receipt",
            made_under=never,
            today_day=world.TODAY,
            audit=AuditLog(),
        )
    assert type(caught.value).__name__ in {"DeliveryError", "StoreError"}
    assert states(gate) == [State.APPROVED] * 2
