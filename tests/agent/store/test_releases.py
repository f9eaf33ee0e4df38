"""Releases hold their parts in order, and a new one of the same name takes the old one's place."""

from agent.store import Store
from agent.store.releases import LeaderboardCell


def test_a_release_of_the_same_name_is_replaced_and_its_parts_keep_their_order(store: Store):
    store.releases.keep("R1", ["november", "december", "imported"])
    store.releases.keep("R2", ["november"])
    store.releases.keep("R1", ["imported", "april"])
    assert [(release.name, release.parts) for release in store.releases.read_all()] == [
        ("R1", ("imported", "april")),
        ("R2", ("november",)),
    ]


def test_a_leaderboard_imported_again_has_its_new_cells_alone(store: Store):
    for value in (0.25, 0.5):
        cells = [
            LeaderboardCell("pubmed_qa", "PubMedQA", "a/model", f"m{value}", "EM", value, None)
        ]
        store.releases.keep_leaderboard("paper", {"release": f"v{value}"}, cells)
    (board,) = store.releases.read_leaderboards()
    assert board.details == {"release": "v0.5"}
    assert store.releases.read_leaderboard_cells("paper") == cells
