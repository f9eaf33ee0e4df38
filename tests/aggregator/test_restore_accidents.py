"""Somebody names the wrong file or the wrong place, or the disk is full: nothing is left behind, nothing is lost."""

import gzip
from pathlib import Path

import pytest

from aggregator.backup import restore as restore_module
from aggregator.errors import KeyFileError, SettingsError
from aggregator.home import Home
from aggregator.log.restored import RestoredLogError
from tests.aggregator.federation import TestSite, registry_of, scores, submit
from tests.aggregator.log_checks import check_log
from tests.aggregator.test_backup import checkpoint_file, done, restore_into, run


@pytest.fixture
def backup(home: Home, site: TestSite, tmp_path: Path) -> Path:
    submit(home, site, site.result(registry_of(home), scores(1)))
    done(home.directory, "backup", "--out", tmp_path / "backup.gz", "--with-keys")
    return tmp_path / "backup.gz"


WRONG = {
    "text": (b"# a letter", "is not a backup of an aggregator"),
    "empty": (b"", "is not a backup of an aggregator"),
    "compressed text": (gzip.compress(b"a letter"), "is not a backup of an aggregator"),
    "another JSON": (gzip.compress(b"[]"), "is not a backup of an aggregator"),
    "another format": (gzip.compress(b'{"format": 1}'), "is not a backup of an aggregator"),
    "a later format": (
        gzip.compress(b'{"format": "intramural-backup/9"}'),
        "was written by another version",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_file_is_named_and_leaves_nothing(tmp_path: Path, kind: str) -> None:
    content, said = WRONG[kind]
    (tmp_path / "letter.gz").write_bytes(content)
    refused = run(tmp_path / "deep/board", "restore", tmp_path / "letter.gz").exception
    assert isinstance(refused, SettingsError)
    assert f"letter.gz {said}" in str(refused)
    assert not (tmp_path / "deep").exists()


def test_a_damaged_back_up_leaves_other_files_of_the_folder_alone(
    backup: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine/keys").mkdir(parents=True)
    for name in ("thesis.txt", "keys/ssh.key"):
        (tmp_path / "mine" / name).write_text("years of work")
    backup.write_bytes(backup.read_bytes()[:-40])
    refused = run(tmp_path / "mine", "restore", backup)
    assert "it is truncated" in str(refused.exception)
    files = {
        path.relative_to(tmp_path / "mine").as_posix() for path in (tmp_path / "mine").rglob("*")
    }
    assert files == {"thesis.txt", "keys", "keys/ssh.key"}


def test_a_key_that_cannot_be_written_leaves_neither_files_nor_rows(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In PostgreSQL rows that stayed would make a second try impossible."""

    def refuse(path: Path, _content: bytes) -> None:
        raise KeyFileError(f"{path.name} cannot be written: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(restore_module, "write_private", refuse)
        assert isinstance(run(tmp_path / "restored", "restore", backup).exception, KeyFileError)
    assert not (tmp_path / "restored").exists()
    assert check_log(restore_into(tmp_path / "restored", backup)) == 4


def test_resume_of_a_log_that_was_never_restored_changes_nothing_and_says_so(
    home: Home, tmp_path: Path
) -> None:
    assert "Nothing to resume" in done(home.directory, "resume")


def test_resume_sees_a_log_that_was_set_back_without_a_mark(
    home: Home, site: TestSite, backup: Path, tmp_path: Path
) -> None:
    """A snapshot of a virtual machine bears no mark; a checkpoint of before shows it all the same."""
    behind = restore_into(tmp_path / "behind", backup)
    done(behind.directory, "resume", "--checkpoint", checkpoint_file(home, tmp_path / "head"))
    submit(home, site, site.result(registry_of(home), scores(2)))
    head = checkpoint_file(home, tmp_path / "newer")
    refused = run(behind.directory, "resume", "--checkpoint", head)
    assert isinstance(refused.exception, RestoredLogError)
    assert "it lacks 1 of them" in str(refused.exception)
    assert "matches the given checkpoint" in done(home.directory, "resume", "--checkpoint", head)
