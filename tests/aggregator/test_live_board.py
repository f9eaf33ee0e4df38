"""The live board while somebody keeps the log growing and reads it all the time."""

import time

from aggregator.board.live import LiveBoard
from aggregator.home import Home
from tests.aggregator.federation import TestSite, registry_of, scores, submit


def read_size(board: LiveBoard) -> int:
    return board.pages().publication.head.size


def test_a_small_board_follows_every_entry(home: Home, site: TestSite) -> None:
    board = LiveBoard(home)
    before = read_size(board)
    submit(home, site, site.result(registry_of(home), scores(1)))
    deadline = time.monotonic() + 60
    while read_size(board) == before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert read_size(board) == before + 1
    board.close()


def test_readers_of_a_growing_log_do_not_keep_the_server_making_boards(home: Home, site: TestSite) -> None:
    """Else one reader and one busy site would take a worker's whole time: a large board takes many seconds."""
    board = LiveBoard(home, rest=1_000_000.0, rest_free_s=0.0)
    before = read_size(board)
    for seed in range(3):
        submit(home, site, site.result(registry_of(home), scores(seed)))
        assert read_size(board) == before
    board.close()
