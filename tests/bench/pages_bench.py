"""How long pages of a board of 100 models and 37 benchmarks take, live and as a published folder.

    python tests/bench/pages_bench.py [--models 100] [--repeats 15]

The board is made up, so that only pages are measured. The goal is 100 ms at the median for a live page.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from aggregator.board.pages import BoardPages, render
from tests.aggregator.boards import large_board, make_registry, publish_made_up

GOAL_MS = 100
QUERIES: list[dict[str, str]] = [
    {},
    {"access": "gated"},
    {"category": "clinical-note-generation", "family": "oak"},
    {"sites": "3"},
    {"sort": "name"},
]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        registry = make_registry(Path(folder))
    board = large_board(options.models)
    publication = publish_made_up(board, registry)
    pages = BoardPages(board, publication, live=True)
    card = pages.cards[0]
    leaderboards = [("index.html", query) for query in QUERIES]
    others = [
        card.columns[0].path,
        card.models[0].path,
        card.models[0].provenance,
        "sites.html",
        "methods.html",
    ]
    for path, query in [*leaderboards, *((path, {}) for path in others)]:
        median = measure(pages, path, query, options.repeats)
        verdict = "" if median <= GOAL_MS else f"  above the goal of {GOAL_MS} ms"
        print(f"{median:7.1f} ms  {path} {query or ''}{verdict}")
    began = time.perf_counter()
    files = render(board, publication)
    size = sum(len(content) for content in files.values())
    print(
        f"published: {len(files)} files, {size / 1e6:.1f} MB, {time.perf_counter() - began:.1f} s"
    )


def measure(pages: BoardPages, path: str, query: dict[str, str], repeats: int) -> float:
    """Return the median time of making one page, in milliseconds."""
    took = []
    for _ in range(repeats):
        began = time.perf_counter()
        pages.page(path, query)
        took.append(1000 * (time.perf_counter() - began))
    return statistics.median(took)


if __name__ == "__main__":
    main()
