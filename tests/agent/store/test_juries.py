"""A purge takes what judges replied, which speaks of the case as its answer does, and leaves what they graded."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.store import Judgement, RunDetails, Seat, Store, Vault
from agent.vocabulary import Instance, Message, Response
from tests.agent.store.set_clock import DAY, SetClock, give_clock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "site.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(path, Vault(bytes(range(32))), bytes(32))
    yield store
    store.close()


def reply(text: str) -> Response:
    return Response(text, "", "stop", 1, 1, 0.1)


def judged(store: Store) -> tuple[str, bytes, bytes]:
    """Keep an answer with its score and a judge's first reply and repair; return run and keys."""
    key = store.identities.request_key("local/m", b"request")
    run_id = store.runs.begin(
        suite="s",
        name="b:model=m",
        benchmark="b",
        lineage="l",
        model="m",
        deployment="local/m",
        details=RunDetails(),
        planned=[(Instance("1", "1", (Message("user", "a prompt"),), ()), key)],
        scored_by=("jury_score",),
    )
    store.answers.settle(run_id, [(key, reply("an answer"))], [])
    judgement_key = store.identities.judgement_key("local/a", b"question")
    store.scores.keep(
        run_id,
        [(0, "jury_score", 4.0)],
        [
            (
                judgement_key,
                Judgement(
                    (reply("first " * 50), reply("repair " * 50)), "marker0123", ("shown " * 50,)
                ),
            )
        ],
        [(0, "jury_score", Seat(0, {"accuracy": 4.0}, None, True, judgement_key))],
    )
    return run_id, key, judgement_key


def test_replies_go_with_the_texts_and_the_seat_keeps_its_grades(store: Store):
    run_id, key, judgement_key = judged(store)
    assert store.juries.find_judgement(judgement_key) is not None
    assert store.purge(0) == 3  # prompt, answer and replies
    assert (store.answers.find(key), store.juries.find_judgement(judgement_key)) == (None, None)
    (seat,) = store.juries.read_seats(run_id, "jury_score")[0]
    assert (seat.grades, seat.repaired) == ({"accuracy": 4.0}, True)
    assert [one.scores for one in store.answers.read_instances(run_id, 0, 9)] == [
        {"jury_score": 4.0}
    ]


def test_replies_younger_than_the_days_stay(store: Store):
    clock = give_clock(store, SetClock())
    _, _, judgement_key = judged(store)
    clock.pass_time(29 * DAY)
    assert store.purge(30) == 0
    assert store.juries.find_judgement(judgement_key) is not None
    clock.pass_time(2 * DAY)
    assert store.purge(30) == 3
    assert store.juries.find_judgement(judgement_key) is None


def test_not_even_sealed_replies_are_left_in_a_file(store: Store, path: Path):
    judged(store)
    other = sqlite3.connect(path)
    ((sealed,),) = other.execute("SELECT sealed FROM judgements").fetchall()
    other.close()

    def found() -> bool:
        return any(sealed[12:60] in file.read_bytes() for file in path.parent.iterdir())

    assert found()
    store.purge(0)
    assert not found()
