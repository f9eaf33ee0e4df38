"""An operator who holds the log's key publishes less than the log has, and lets the public verify it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregator.board.evidence import replay
from aggregator.board.kept import Kept
from aggregator.board.log_folder import bundle_files
from aggregator.board.publish import derived_files, publish
from aggregator.board.verification import read_evidence, verify
from aggregator.errors import BoardMismatchError, UnauditedBoardError
from aggregator.home import Home, today_day
from aggregator.log.journal import Entry
from aggregator.log.publication import HiddenEntry
from aggregator.merge.board_model import AuditedFigures
from protocol.envelope import decode
from protocol.merkle import leaf_hash
from tests.aggregator.federation import new_home, ready, registry_of, scores, submit


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = new_home(tmp_path / "aggregator")
    yield made
    made.database.close()


def publish_results(home: Home, folder: Path, *, pooled: int, named: int = 1) -> None:
    """Publish a board of sites with one result each, the named ones last."""
    for number in range(pooled + named):
        site = ready(home, f"Site {number}", "pooled" if number < pooled else "named")
        submit(home, site, site.result(registry_of(home), scores(number)))
    publish(home, folder)


def forge(folder: Path, audited: AuditedFigures | None = None) -> None:
    """Write every file anew from the log in the folder, and a first release, as a first publication would have."""
    log = replay(read_evidence(folder))
    audited = audited or AuditedFigures(log.checkpoint.size)
    for path in folder.iterdir():
        if path.is_dir() and path.name != "log":
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()
    for name, content in derived_files(log, audited, Kept(), published_day=today_day()).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def test_pooled_figures_that_are_left_out_need_an_auditor_too(home: Home, tmp_path: Path) -> None:
    """The public cannot see that hidden entries were results, so a board that shows nothing of them proves nothing."""
    folder = tmp_path / "board"
    publish_results(home, folder, pooled=3)
    forge(folder)
    verified = verify(folder, [registry_of(home).roots[0].fingerprint], today_day=today_day())
    assert verified.audited_cells == 0
    with pytest.raises(UnauditedBoardError, match="hidden"):
        verified.check_audited()


def hide_last_entry(folder: Path) -> None:
    """Put the leaf hash of the last entry in its place, as if its site had been pooled."""
    entries = list(read_evidence(folder).entries)
    last = entries[-1]
    assert isinstance(last, Entry)
    hidden = HiddenEntry(leaf_hash(decode(last.envelope).pae), last.registry)
    path = folder / bundle_files(len(entries))[-1]
    lines = path.read_bytes().splitlines()
    path.unlink()
    path.write_bytes(b"\n".join([*lines[:-1], hidden.line(), b""]))


def test_the_last_result_of_a_named_site_cannot_be_hidden_where_no_site_is_pooled(
    home: Home, tmp_path: Path
) -> None:
    folder = tmp_path / "board"
    publish_results(home, folder, pooled=0, named=2)
    hide_last_entry(folder)
    with pytest.raises(BoardMismatchError, match="hidden"):
        forge(folder)
    with pytest.raises(BoardMismatchError, match="hidden"):
        verify(folder, today_day=today_day())


def test_a_named_result_that_poses_as_a_pooled_one_needs_an_auditor(
    home: Home, tmp_path: Path
) -> None:
    folder = tmp_path / "board"
    publish_results(home, folder, pooled=1)
    hide_last_entry(folder)
    forge(folder)
    with pytest.raises(UnauditedBoardError, match="hidden"):
        verify(folder, today_day=today_day()).check_audited()
