"""The chain of a site's submissions: refused and void links are replaced, and the ledger stands beside it whole."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.delivery.outbox import State, Submission
from agent.disclosure import prepare as preparing
from agent.disclosure.ledger import ReleaseEntry, append_entry
from agent.disclosure.prepare import Gate
from agent.errors import DisclosureError
from protocol.errors import Code
from protocol.refusal import Refusal, sign_refusal
from tests.agent.disclosure.drafts import Crash, prepare, prepare_one, released, results
from tests.agent.disclosure.ward import (
    CARD,
    LEDGER_KEY,
    MODEL,
    OTHER_MODEL,
    sign,
    tomorrow,
    whole_ward,
)
from tests.protocol import world


def refuse(gate: Gate, digest: str, code: Code) -> None:
    """Keep a refusal that the log's key has signed."""
    gate.outbox.put_refusal(
        digest, sign_refusal(Refusal(digest, code, 5), world.ORIGIN, world.RECEIPT)
    )


def test_a_ledger_without_its_tail_stops_the_next_release_and_the_next_approval(gate: Gate) -> None:
    for count in (40, 100):
        sign(gate, prepare_one(gate, count))
    waiting = prepare_one(gate, 150)
    sorted(gate.outbox.ledger.iterdir())[-1].unlink()
    with pytest.raises(DisclosureError, match="lacks entry"):
        sign(gate, waiting)
    with pytest.raises(DisclosureError, match="lacks entry"):
        prepare_one(gate, 60)


def test_an_entry_that_says_other_figures_stops_the_next_release(gate: Gate) -> None:
    """Its seal is real and it follows from the same entry; but submissions name another."""
    first = prepare_one(gate, 140)
    ledger = gate.ledger()
    before = replace(ledger, entries=ledger.entries[:-1])
    sorted(gate.outbox.ledger.iterdir())[-1].unlink()
    (release,) = released(gate) or (ledger.entries[-1].content,)
    assert isinstance(release, ReleaseEntry)
    empty = before.followed_by(replace(release, cells={}), world.TODAY)
    append_entry(gate.outbox.ledger, empty, LEDGER_KEY)
    with pytest.raises(DisclosureError, match="lacks entry"):
        sign(gate, first)


def test_a_ledger_of_another_site_is_not_ours(gate: Gate) -> None:
    sign(gate, prepare_one(gate))
    with pytest.raises(DisclosureError, match="made with another seal key"):
        preparing.prepare(replace(gate, seal_key=b"e" * 32), CARD, {MODEL: whole_ward(60)})


def test_a_refused_link_is_replaced_and_what_followed_it_becomes_void(gate: Gate) -> None:
    work: dict[str, int] = {MODEL: 140, OTHER_MODEL: 60}
    prepared = prepare(gate, CARD, {name: whole_ward(count) for name, count in work.items()})
    first, second = (
        sign(gate, s) for s in sorted(prepared.submissions, key=lambda s: s.result.header.seq)
    )
    gate.outbox.mark_sent(first.digest, world.TODAY)
    refuse(gate, first.digest, Code.WRONG_ROOT)
    again = prepare(tomorrow(gate), CARD, {name: whole_ward(count) for name, count in work.items()})
    states = {s.digest: s.state for s in results(gate)}
    assert states[first.digest] is states[second.digest] is State.VOID
    assert [
        s.result.header.seq for s in sorted(again.submissions, key=lambda s: s.result.header.seq)
    ] == [2, 3]
    assert len(released(gate)) == 2  # the same scores again are the same release


def approved_pair(gate: Gate) -> list[Submission]:
    prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    return [sign(gate, draft) for draft in results(gate)]


def test_a_refused_release_prepared_again_the_same_day_takes_its_place_again(gate: Gate) -> None:
    """The aggregator lacked the model, say; by now it is registered. The bytes are the same, and so are they."""
    pair = approved_pair(gate)
    gate.outbox.mark_sent(pair[0].digest, world.TODAY)
    refuse(gate, pair[0].digest, Code.UNKNOWN_MODEL)
    again = prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    assert again.new == frozenset()
    assert {s.digest: s.data for s in again.submissions} == {s.digest: s.data for s in pair}
    assert [(s.digest, s.state) for s in results(gate)] == [
        (pair[0].digest, State.SENT),
        (pair[1].digest, State.APPROVED),
    ]
    assert gate.outbox.read_verdicts(pair[0].digest)["cells"]
    assert len(released(gate)) == 2  # not debited again
    assert sign(gate, pair[0]).state is State.SENT


def test_a_draft_that_was_stuck_beside_its_void_twin_comes_free(gate: Gate) -> None:
    first, _ = approved_pair(gate)
    refuse(gate, first.digest, Code.WRONG_SEQ)
    gate.outbox.make_void(first.digest)
    gate.outbox.put_draft(first.digest, first.data, gate.outbox.read_verdicts(first.digest))
    prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    assert [s.state for s in results(gate)] == [State.APPROVED] * 2
    assert not list(gate.outbox.directory.glob("*.draft.dsse.json"))


def test_a_crash_while_a_void_release_takes_its_place_again_is_mended_by_preparing_again(
    gate: Gate,
) -> None:
    pair = approved_pair(gate)
    gate.outbox.mark_sent(pair[0].digest, world.TODAY)
    refuse(gate, pair[0].digest, Code.UNKNOWN_MODEL)

    def crash(self: Path, target: Path) -> Path:
        if self.name.endswith(".void.dsse.json"):
            raise Crash
        return replace_file(self, target)

    replace_file = Path.replace
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", crash)
        with pytest.raises(Crash):
            prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    prepare(gate, CARD, {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)})
    assert [s.digest for s in results(gate)] == [s.digest for s in pair]
    assert State.VOID not in {s.state for s in gate.outbox.list_submissions()}


@pytest.mark.full
def test_a_refusal_on_the_last_submission_of_the_month_can_still_be_mended(gate: Gate) -> None:
    for count in (40, 70, 100):
        sign(gate, prepare_one(gate, count))
    last = sign(gate, prepare_one(gate, 130))
    refuse(gate, last.digest, Code.UNKNOWN_MODEL)
    assert prepare_one(gate, 130) == last
    refuse(gate, last.digest, Code.WRONG_DAY)
    another = prepare_one(
        tomorrow(gate), 130
    )  # of another day, so of other bytes; of the same scores
    assert (another.state, another.result.cells) == (State.PREPARED, last.result.cells)
    sign(gate, another)
    with pytest.raises(DisclosureError, match="are used up"):
        prepare_one(tomorrow(gate), 160)
