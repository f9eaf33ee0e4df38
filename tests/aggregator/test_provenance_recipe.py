"""The page behind a model says how to find a submission in the log by hand; what it says is done here, word by word."""

import html
import json
import re
import subprocess
from pathlib import Path

import pytest

from aggregator.board.log_folder import bundle_file
from aggregator.board.publish import publish
from aggregator.home import Home, today_day
from aggregator.intake import accept
from tests.aggregator.federation import ready, registry_of, scores


@pytest.fixture
def board(home: Home, tmp_path: Path) -> Path:
    for number in range(4):
        site = ready(home, f"Hospital {number}", "named" if number == 0 else "pooled")
        envelope = site.sign(site.result(registry_of(home), scores(number)))
        accept(home, envelope, today_day=today_day())
        (tmp_path / f"sent-{number}.json").write_bytes(envelope)
    publish(home, tmp_path / "board")
    return tmp_path / "board"


def read_page(board: Path) -> str:
    (page,) = board.glob("cards/*/provenance/*.html")
    return html.unescape(page.read_text())


def compute(page: str, file: Path, line: int) -> tuple[str, str]:
    """Run the command on the page; return digest and leaf hash."""
    recipe = re.findall(r"<pre[^>]*><code>(sed .*?)</code></pre>", page)[0]
    command = recipe.replace("LINEp", f"{line}p").replace("FILE", str(file))
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    digest, leaf = done.stdout.split()
    return digest, leaf


def test_the_digest_of_a_named_submission_comes_out_of_its_log_entry(board: Path) -> None:
    page = read_page(board)
    (position,) = re.findall(r'<td class="number">([0-9]+)</td><td><code class="long">', page)
    (digest,) = re.findall(r'</td><td><code class="long">([0-9a-f]{64})</code></td>', page)
    size = int((board / "log/checkpoint").read_text().splitlines()[1])
    file = board / bundle_file(int(position) // 256, size % 256)
    assert compute(page, file, int(position) % 256 + 1)[0] == digest


def test_a_pooled_site_finds_the_leaf_of_what_it_sent(board: Path) -> None:
    (bundle,) = (board / "log/entries").glob("000.p/*")
    hidden = {entry.get("leaf_hash") for entry in map(json.loads, bundle.read_text().splitlines())}
    _, leaf = compute(read_page(board), board.parent / "sent-2.json", 1)
    assert leaf in hidden


def test_a_page_with_pooled_figures_says_that_nobody_vouches_where_no_auditor_is_named(
    board: Path,
) -> None:
    assert (
        "The registry names no auditors, so these cells have not been checked independently"
        in read_page(board)
    )
    assert "from the submissions of 4 sites" in read_page(board)
