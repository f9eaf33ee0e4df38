"""Several threads that write at once: each is answered for itself, and one that fails takes nobody along."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Connection, insert, select

from aggregator.errors import StoreError
from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.log import journal
from aggregator.store.schema import refusals
from tests.aggregator.federation import ready, registry_of, scores


def remember(connection: Connection, numbers: Sequence[int]) -> Sequence[int]:
    for number in numbers:
        row = {
            "digest": f"{number:064}",
            "site": "s-aaaaaaaa",
            "code": "fork",
            "log_size": 0,
            "note": "",
        }
        connection.execute(insert(refusals).values(row))
    return numbers


def remember_twice(connection: Connection, numbers: Sequence[int]) -> Sequence[int]:
    return remember(connection, [*numbers, *numbers])


def remembered(home: Home) -> list[str]:
    with home.database.reading() as connection:
        return list(
            connection.execute(select(refusals.c.digest).order_by(refusals.c.digest)).scalars()
        )


def hold_writer(home: Home, release: threading.Event) -> threading.Thread:
    """Keep the writer busy until `release` is set, so that all that comes meanwhile is queued."""
    is_writing = threading.Event()

    def wait(_connection: Connection, items: Sequence[None]) -> Sequence[None]:
        is_writing.set()
        release.wait(timeout=20)
        return items

    thread = threading.Thread(target=home.writer.run, args=(wait, None))
    thread.start()
    is_writing.wait(timeout=20)
    return thread


def test_writers_that_wait_together_are_committed_together_and_each_gets_its_answer(
    home: Home,
) -> None:
    release = threading.Event()
    holder = hold_writer(home, release)
    with ThreadPoolExecutor(40) as pool:
        asked = [pool.submit(home.writer.run, remember, number) for number in range(40)]
        release.set()
        assert [answer.result(timeout=20) for answer in asked] == list(range(40))
    holder.join(timeout=20)
    assert len(remembered(home)) == 40


def test_one_that_fails_is_told_and_takes_no_other_along(home: Home) -> None:
    release = threading.Event()
    holder = hold_writer(home, release)
    with ThreadPoolExecutor(9) as pool:
        asked = [pool.submit(home.writer.run, remember, number) for number in range(8)]
        twice = pool.submit(home.writer.run, remember_twice, 3)
        release.set()
        outcomes = [answer.exception(timeout=20) for answer in asked]
        assert isinstance(twice.exception(timeout=20), StoreError)
    holder.join(timeout=20)
    # Whoever of number 3 and the failing piece came first, number 3 is there once and all others are.
    assert outcomes == [None] * 8
    assert remembered(home) == [f"{number:064}" for number in range(8)]


def test_of_sites_that_submit_at_once_each_gets_its_own_receipt(home: Home) -> None:
    sites = [ready(home, f"Hospital {number}") for number in range(6)]
    before = registry_of(home)
    envelopes = [
        site.sign(site.result(before, scores(number))) for number, site in enumerate(sites)
    ]
    release = threading.Event()
    holder = hold_writer(home, release)
    with ThreadPoolExecutor(6) as pool:
        asked = [
            pool.submit(accept, home, envelope, today_day=today_day()) for envelope in envelopes
        ]
        release.set()
        done = [answer.result(timeout=20) for answer in asked]
    holder.join(timeout=20)
    with home.database.reading() as connection:
        for receipted in done:
            assert journal.receipt(connection, receipted.digest) == receipted.receipt
    assert len({receipted.receipt for receipted in done}) == 6


def test_an_interruption_while_pieces_are_tried_one_by_one_leaves_nobody_waiting(
    home: Home,
) -> None:
    """The first piece fails, so that each is tried alone; the second brings the end of the process."""
    release = threading.Event()
    holder = hold_writer(home, release)
    fails_at_first = iter([True])

    def fail(_connection: Connection, items: Sequence[int]) -> Sequence[int]:
        if next(fails_at_first, False):
            raise ValueError("tried alone after this")
        return items

    def end(_connection: Connection, _items: Sequence[int]) -> Sequence[int]:
        if next(fails_at_first, True):
            raise SystemExit
        return []

    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(home.writer.run, write, 1) for write in (fail, end, remember)]
        release.set()
        outcomes = [answer.exception(timeout=20) for answer in asked]
    holder.join(timeout=20)
    assert any(isinstance(outcome, SystemExit) for outcome in outcomes)
