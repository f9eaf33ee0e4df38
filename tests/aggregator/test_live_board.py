"""The live board while somebody keeps the log growing and reads it all the time."""

import time
from pathlib import Path

import pytest

from aggregator.board.helm_release import import_release, keep_reference
from aggregator.board.live import LiveBoard
from aggregator.board.publish import publish
from aggregator.home import Home
from aggregator.log import journal
from tests.aggregator.federation import TestSite, ready, registry_of, scores, submit

RELEASE = Path(__file__).parents[1] / "agent/exchange/data/helm_release"


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


@pytest.mark.full
def test_a_board_that_went_on_from_the_one_before_is_the_same_as_a_new_one(home: Home) -> None:
    board = LiveBoard(home)
    for number in range(4):
        site = ready(home, f"Site {number}", "pooled")
        submit(home, site, site.result(registry_of(home), scores(number)))
        while board.pages().publication.head.size < read_log_size(home):
            time.sleep(0.05)
        fresh = LiveBoard(home)
        for name in ("board.json", "index.html", "sites.html"):
            assert board.page(name, {})[0] == fresh.page(name, {})[0]
        fresh.close()
    board.close()


def read_log_size(home: Home) -> int:
    with home.database.reading() as connection:
        return journal.size(connection)


def test_readers_of_a_growing_log_do_not_keep_the_server_making_boards(
    home: Home, site: TestSite
) -> None:
    """Else one reader and one busy site would take a worker's whole time: a large board takes many seconds."""
    board = LiveBoard(home, rest=1_000_000.0, rest_free_s=0.0)
    before = read_size(board)
    for seed in range(3):
        submit(home, site, site.result(registry_of(home), scores(seed)))
        assert read_size(board) == before
    board.close()


def test_a_release_and_public_results_appear_without_a_new_entry(
    home: Home, site: TestSite, tmp_path: Path
) -> None:
    submit(home, site, site.result(registry_of(home), scores(1)))
    board = LiveBoard(home)
    before, first_tag = board.page("releases.html", {})
    assert b"has not been published yet" in before
    publish(home, tmp_path / "board")
    keep_reference(import_release(RELEASE, "v1"), home.directory)
    after, second_tag = board.page("releases.html", {})
    assert b"has not been published yet" not in after
    assert first_tag != second_tag
    page, _ = board.page("references/v1.html", {})
    assert b"This board has not verified them" in page
    board.close()
