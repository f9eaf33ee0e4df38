"""A board is replaced as a whole: nothing else is deleted, no half stays, and no reader sees two histories."""

import fcntl
import os
from pathlib import Path

import pytest

from aggregator.board.log_folder import bundle_file, bundle_files
from aggregator.board.publish import publish
from aggregator.board.verification import verify
from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.home import Home, today_day
from tests.aggregator.copies import copy_home
from tests.aggregator.federation import TestSite, new_home, ready, registry_of, scores, submit


def report(home: Home, site: TestSite, seed: int) -> None:
    submit(home, site, site.result(registry_of(home), scores(seed)))


def test_only_a_board_is_replaced(home: Home, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years of work")
    with pytest.raises(SettingsError, match="not a board"):
        publish(home, tmp_path / "mine")
    assert (tmp_path / "mine/thesis.txt").read_text() == "years of work"
    publish(home, tmp_path / "board")
    stale = tmp_path / "board/stale.html"
    stale.write_bytes((tmp_path / "board/index.html").read_bytes())
    publish(home, tmp_path / "board")
    assert not stale.exists(), "a page that an earlier version made"
    verify(tmp_path / "board", today_day=today_day())


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    [
        "CNAME",
        ".well-known/security.txt",
        "mine.html",
        "log/notes",
        "releases/1.txt",
        "audits/mail.txt",
        ".git/HEAD",
    ],
)
def test_files_of_the_user_in_the_board_are_named_and_never_lost(
    home: Home, tmp_path: Path, name: str
) -> None:
    publish(home, tmp_path / "board")
    report(home, ready(home), 1)
    path = tmp_path / "board" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("years of work")
    before = (tmp_path / "board/board.json").read_bytes()
    with pytest.raises(SettingsError, match=f"do not belong to the board: {name}"):
        publish(home, tmp_path / "board")
    assert path.read_text() == "years of work"
    assert (tmp_path / "board/board.json").read_bytes() == before, "the board is as it was"
    path.unlink()
    publish(home, tmp_path / "board")
    verify(tmp_path / "board", today_day=today_day())


def test_a_link_of_the_user_in_the_board_is_not_lost(home: Home, tmp_path: Path) -> None:
    publish(home, tmp_path / "board")
    (tmp_path / "thesis.txt").write_text("years of work")
    (tmp_path / "board/thesis.html").symlink_to(tmp_path / "thesis.txt")
    with pytest.raises(SettingsError, match=r"thesis\.html"):
        publish(home, tmp_path / "board")
    assert (tmp_path / "board/thesis.html").is_symlink()


@pytest.mark.parametrize(
    "name", ["board.old", ".board.old", ".board.new", "board.new", ".board.publishing"]
)
def test_folders_of_other_people_beside_the_board_are_left_alone(
    home: Home, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.txt").write_text("years of work")
    for _ in range(2):
        if name == ".board.publishing":
            with pytest.raises(SettingsError, match="was not created by this command"):
                publish(home, tmp_path / "board")
        else:
            publish(home, tmp_path / "board")
    assert (tmp_path / name / "thesis.txt").read_text() == "years of work"


def test_a_killed_publication_is_taken_up_by_the_next(home: Home, tmp_path: Path) -> None:
    """Killed between the two renames: the old board is aside, the new one is not yet there."""
    publish(home, tmp_path / "board")
    work = tmp_path / ".board.publishing"
    work.mkdir()
    (work / "made-by-intramural-aggregator-publish").touch()
    (tmp_path / "board").rename(work / "old")
    (work / "new").mkdir()
    (work / "new/index.html").write_text("half")
    report(home, ready(home), 1)
    publish(home, tmp_path / "board")
    assert verify(tmp_path / "board", today_day=today_day()).log.checkpoint.size == 4
    assert not work.exists()


def test_a_publication_that_fails_leaves_the_board_as_it_was(home: Home, tmp_path: Path) -> None:
    """The log is spoilt: the new board stays unmade, the old one in its place."""
    site = ready(home)
    report(home, site, 1)
    publish(home, tmp_path / "board")
    before = {path: path.read_bytes() for path in (tmp_path / "board").rglob("*") if path.is_file()}
    older = copy_home(home, tmp_path / "older")
    report(home, site, 2)
    publish(home, tmp_path / "board")
    newer = {path: path.read_bytes() for path in (tmp_path / "board").rglob("*") if path.is_file()}
    assert newer != before
    with pytest.raises(
        BoardMismatchError, match="published from 5 log entries, but the database has 4"
    ) as error:
        publish(older, tmp_path / "board")
    assert "restored from a backup" in error.value.advice
    assert {
        path: path.read_bytes() for path in (tmp_path / "board").rglob("*") if path.is_file()
    } == newer
    assert sorted(path.name for path in tmp_path.iterdir()) == ["aggregator", "board", "older"]
    older.database.close()


def test_two_publications_at_once_do_not_mix(home: Home, tmp_path: Path) -> None:
    work = tmp_path / ".board.publishing"
    work.mkdir()
    handle = os.open(work / "made-by-intramural-aggregator-publish", os.O_CREAT | os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(SettingsError, match="another command is publishing"):
        publish(home, tmp_path / "board")
    os.close(handle)
    publish(home, tmp_path / "board")


def test_a_restored_log_that_went_another_way_is_not_published_over_the_first(
    home: Home, tmp_path: Path
) -> None:
    """As many entries and more, all signed by the log's own key: readers of the old board would see a forgery."""
    site = ready(home)
    restored = copy_home(home, tmp_path / "restored")
    twin = site.copy()
    report(home, site, 1)
    publish(home, tmp_path / "board")
    report(restored, twin, 2)
    report(restored, twin, 3)
    with pytest.raises(
        BoardMismatchError, match="the first 4 entries of the log differ from those"
    ):
        publish(restored, tmp_path / "board")
    restored.database.close()


def test_the_board_of_another_deployment_is_not_replaced(home: Home, tmp_path: Path) -> None:
    other = new_home(tmp_path / "other")
    publish(other, tmp_path / "board")
    with pytest.raises(BoardMismatchError, match="contains the board of another log"):
        publish(home, tmp_path / "board")
    other.database.close()


@pytest.mark.full
def test_files_that_did_not_change_are_shared_with_the_board_before(
    home: Home, tmp_path: Path
) -> None:
    site = ready(home)
    for seed in range(260):
        report(home, site, seed)
    publish(home, tmp_path / "board")
    first = (tmp_path / "board" / bundle_file(0)).stat().st_ino
    held = (tmp_path / "board" / bundle_file(1, 7)).read_bytes()
    report(home, site, 999)
    publish(home, tmp_path / "board")
    assert (tmp_path / "board" / bundle_file(0)).stat().st_ino == first, (
        "an immutable bundle is written once"
    )
    assert (tmp_path / "board" / bundle_file(1, 8)).read_bytes().startswith(held)
    assert not (tmp_path / "board" / bundle_file(1, 7)).exists()
    verify(tmp_path / "board", today_day=today_day())


def test_a_bundle_that_was_changed_on_the_disk_is_written_anew(home: Home, tmp_path: Path) -> None:
    report(home, ready(home), 1)
    publish(home, tmp_path / "board")
    bundle = tmp_path / "board" / bundle_file(0, 4)
    bundle.write_bytes(bundle.read_bytes().replace(b"a", b"b"))
    publish(home, tmp_path / "board")
    verify(tmp_path / "board", today_day=today_day())


def test_bundles_are_named_as_tiles_are() -> None:
    assert bundle_files(0) == []
    assert bundle_files(256) == ["log/entries/000"]
    assert bundle_files(300) == ["log/entries/000", "log/entries/001.p/44"]
    assert bundle_file(1_234_067) == "log/entries/x001/x234/067"
    assert bundle_file(1000, 3) == "log/entries/x001/000.p/3"
