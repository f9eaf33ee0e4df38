"""A disk dies: what a backup holds, what restores from it, and that a copy which is behind forks nothing."""

import gzip
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aggregator.cli import cli
from aggregator.errors import KeyFileError, SettingsError, StoreError
from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.log import journal
from aggregator.log.restored import RestoredLogError
from aggregator.registry.versions import newest_registry
from tests.aggregator.conftest import ServedByProcess
from tests.aggregator.federation import TestSite, enrolled, registry_of, scores, submit
from tests.aggregator.log_checks import check_log
from tests.aggregator.postgres_cluster import create_database, start_cluster


def run(directory: Path, *words: object) -> Result:
    return CliRunner().invoke(cli, ["--dir", str(directory), *map(str, words)])


def done(directory: Path, *words: object) -> str:
    result = run(directory, *words)
    assert result.exit_code == 0, result.exception
    return result.output


def restore_into(directory: Path, backup: Path, *words: object) -> Home:
    done(directory, "restore", backup, *words)
    return Home(directory)


def checkpoint_file(home: Home, path: Path, size: int | None = None) -> Path:
    """Write the log's signed head, or an earlier one, as a witness would keep it."""
    from sqlalchemy import select

    from aggregator.store.schema import entries

    with home.database.reading() as connection:
        wanted = journal.size(connection) if size is None else size
        query = select(entries.c.checkpoint).where(entries.c.position == wanted - 1)
        path.write_text(connection.execute(query).scalar_one())
    return path


@pytest.fixture
def backup(home: Home, site: TestSite, tmp_path: Path) -> Path:
    submit(home, site, site.result(registry_of(home), scores(1)))
    out = tmp_path / "backup.gz"
    done(home.directory, "backup", "--out", out, "--with-keys")
    return out


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with start_cluster() as url:
        yield url


def test_a_backup_of_sqlite_restores_into_postgresql_and_back(
    home: Home, site: TestSite, backup: Path, cluster: str, tmp_path: Path
) -> None:
    in_postgres = restore_into(
        tmp_path / "second", backup, "--database-url", create_database(cluster)
    )
    assert check_log(in_postgres) == check_log(home) == 4
    done(tmp_path / "second", "backup", "--out", tmp_path / "again.gz", "--with-keys")
    back = restore_into(tmp_path / "third", tmp_path / "again.gz")
    assert check_log(back) == 4
    for table_lines in zip(lines_of(backup), lines_of(tmp_path / "again.gz"), strict=True):
        assert (
            table_lines[0] == table_lines[1]
            or b"aggregator.yaml" in table_lines[0]
            or b"sha256" in table_lines[0]
        )
    for restored in (in_postgres, back):
        done(restored.directory, "resume", "--checkpoint", checkpoint_file(home, tmp_path / "head"))
        submit(restored, site.copy(), site.result(registry_of(restored), scores(2)))
        assert check_log(restored) == 5
        restored.database.close()


def lines_of(backup: Path) -> list[bytes]:
    return gzip.decompress(backup.read_bytes()).splitlines()


def test_a_backup_is_made_while_submissions_come_in(
    process: ServedByProcess, site: TestSite, tmp_path: Path
) -> None:
    home = process.home
    registry = registry_of(home)
    posted = threading.Event()

    def post_many() -> None:
        for seed in range(12):
            envelope = site.sign(site.result(registry, scores(seed)))
            assert process.post(envelope).status_code == 200
            site.accepted(envelope)
            posted.set()

    thread = threading.Thread(target=post_many)
    thread.start()
    posted.wait(20)
    for number in range(3):
        done(home.directory, "backup", "--out", tmp_path / f"{number}.gz")
    thread.join()
    sizes = []
    for number in range(3):
        restored = restore_into(tmp_path / f"restored-{number}", tmp_path / f"{number}.gz")
        sizes.append(check_log(restored))
        restored.database.close()
    assert sizes == sorted(sizes)
    assert check_log(home) == 3 + 12


def test_keys_are_in_a_backup_on_request_only(
    home: Home, site: TestSite, backup: Path, tmp_path: Path
) -> None:
    done(home.directory, "backup", "--out", tmp_path / "without.gz")
    names = ("root.key", "log.key", "receipt.key")
    assert [
        name
        for name in names
        if f"keys/{name}".encode() not in gzip.decompress(backup.read_bytes())
    ] == []
    assert b".key" not in gzip.decompress((tmp_path / "without.gz").read_bytes())
    for file in (backup, tmp_path / "without.gz"):
        assert file.stat().st_mode & 0o777 == 0o600
    restored = restore_into(tmp_path / "restored", tmp_path / "without.gz")
    assert "key files back" in done(tmp_path / "another", "restore", tmp_path / "without.gz")
    with pytest.raises(KeyFileError):
        restored.log_signer(registry_of(restored))


def test_a_restored_log_appends_nothing_and_serves_nothing_before_it_was_compared(
    home: Home, site: TestSite, backup: Path, tmp_path: Path
) -> None:
    restored = restore_into(tmp_path / "restored", backup)
    envelope = site.sign(site.result(registry_of(restored), scores(2)))
    with pytest.raises(RestoredLogError):
        accept(restored, envelope, today_day=today_day())
    with pytest.raises(RestoredLogError):
        enrolled(restored, "Another")
    result = run(restored.directory, "serve")
    assert isinstance(result.exception, RestoredLogError)
    assert "resume --checkpoint" in result.exception.advice
    assert check_log(restored) == 4


def test_a_restored_log_signs_no_registry_before_it_was_compared(
    home: Home, backup: Path, tmp_path: Path
) -> None:
    """An outdated copy would sign a second version of a number that sites have already taken."""
    copy = restore_into(tmp_path / "copy", backup)
    with copy.database.reading() as connection:
        before = newest_registry(connection)
    refused = run(tmp_path / "copy", "register", "--model", "a/b", "--display-name", "A B")
    assert isinstance(refused.exception, RestoredLogError)
    with copy.database.reading() as connection:
        assert newest_registry(connection) == before
    assert run(home.directory, "register", "--model", "a/b", "--display-name", "A B").exit_code == 0


def test_a_copy_that_is_behind_what_a_witness_saw_never_goes_on(
    home: Home, site: TestSite, backup: Path, tmp_path: Path
) -> None:
    submit(home, site, site.result(registry_of(home), scores(2)))
    restored = restore_into(tmp_path / "restored", backup)
    head = checkpoint_file(home, tmp_path / "head")
    for words in (["--checkpoint", head], ["--checkpoint", head, "--asked-everybody"]):
        result = run(restored.directory, "resume", *words)
        assert isinstance(result.exception, RestoredLogError)
        assert "it lacks 1 of them" in str(result.exception)
    with pytest.raises(RestoredLogError):
        accept(
            restored,
            site.sign(site.result(registry_of(restored), scores(3))),
            today_day=today_day(),
        )


def test_an_old_checkpoint_shows_nothing_about_later_entries(
    home: Home, backup: Path, tmp_path: Path
) -> None:
    restored = restore_into(tmp_path / "restored", backup)
    old = checkpoint_file(home, tmp_path / "old", size=2)
    result = run(restored.directory, "resume", "--checkpoint", old)
    assert isinstance(result.exception, RestoredLogError)
    assert "covers 2 entries, and this copy has 4" in str(result.exception)
    assert isinstance(run(restored.directory, "resume").exception, RestoredLogError)
    done(restored.directory, "resume", "--checkpoint", old, "--asked-everybody")
    assert "Nothing to resume" in done(restored.directory, "resume")


def test_a_log_that_was_forked_meanwhile_is_told(
    home: Home, site: TestSite, backup: Path, tmp_path: Path
) -> None:
    first = restore_into(tmp_path / "first", backup)
    done(first.directory, "resume", "--checkpoint", checkpoint_file(home, tmp_path / "head"))
    submit(first, site.copy(), site.result(registry_of(first), scores(5)))
    submit(home, site.copy(), site.result(registry_of(home), scores(6)))
    done(first.directory, "backup", "--out", tmp_path / "fork.gz")
    fork = restore_into(tmp_path / "fork", tmp_path / "fork.gz")
    result = run(fork.directory, "resume", "--checkpoint", checkpoint_file(home, tmp_path / "head"))
    assert isinstance(result.exception, RestoredLogError)
    assert "different trees of 5 entries" in str(result.exception)


def test_a_checkpoint_of_another_log_is_refused(home: Home, backup: Path, tmp_path: Path) -> None:
    restored = restore_into(tmp_path / "restored", backup)
    head = checkpoint_file(home, tmp_path / "head").read_text()
    for text in (
        head.replace("\n4\n", "\n5\n"),
        head.replace("board.example", "other.example"),
        "",
        "canary",
    ):
        (tmp_path / "wrong").write_text(text)
        result = run(restored.directory, "resume", "--checkpoint", tmp_path / "wrong")
        assert isinstance(result.exception, StoreError)
        assert "canary" not in str(result.exception)


@pytest.mark.sample(2)
@pytest.mark.parametrize("damage", ["cut", "row lost", "row changed", "not gzip", "other schema"])
def test_a_damaged_backup_restores_nothing(
    home: Home, backup: Path, tmp_path: Path, damage: str
) -> None:
    data = backup.read_bytes()
    lines = gzip.decompress(data).split(b"\n")
    row = next(
        number for number, line in enumerate(lines) if line.startswith(b"[") and b"A" in line
    )
    match damage:
        case "cut":
            data = data[:-40]
        case "row lost":
            data = gzip.compress(b"\n".join(lines[:row] + lines[row + 1 :]))
        case "row changed":
            data = gzip.compress(
                b"\n".join([*lines[:row], lines[row].replace(b"A", b"B", 1), *lines[row + 1 :]])
            )
        case "not gzip":
            data = gzip.decompress(data)
        case "other schema":
            data = gzip.compress(
                b"\n".join([lines[0].replace(b'"schema":"', b'"schema":"9'), *lines[1:]])
            )
    (tmp_path / "damaged.gz").write_bytes(data)
    result = run(tmp_path / "restored", "restore", tmp_path / "damaged.gz")
    assert isinstance(result.exception, SettingsError if damage == "not gzip" else StoreError), (
        result.exception
    )
    assert not (tmp_path / "restored").exists(), "nothing is left behind"
    # The same place takes a whole one.
    assert check_log(restore_into(tmp_path / "restored", backup)) == 4


@pytest.mark.sample(2)
@pytest.mark.parametrize("share", [0.003, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
def test_a_backup_with_one_changed_byte_is_called_damaged_wherever_the_byte_stands(
    home: Home, backup: Path, tmp_path: Path, share: float
) -> None:
    data = bytearray(backup.read_bytes())
    for bit in range(8):
        changed = data.copy()
        changed[int(len(data) * share)] ^= 1 << bit
        (tmp_path / "damaged.gz").write_bytes(changed)
        result = run(tmp_path / "restored", "restore", tmp_path / "damaged.gz")
        assert isinstance(result.exception, StoreError), result.exception
        assert "the backup is damaged" in str(result.exception)
        assert not (tmp_path / "restored").exists(), "nothing is left behind"


def test_a_compressed_file_of_another_program_is_not_called_a_damaged_backup(
    tmp_path: Path,
) -> None:
    for content in [b"", b"a diary", b"[1]", b'{"format": 1}', b'{"format": "other/1"}']:
        (tmp_path / "foreign.gz").write_bytes(gzip.compress(content))
        result = run(tmp_path / "restored", "restore", tmp_path / "foreign.gz")
        assert isinstance(result.exception, SettingsError), result.exception
        assert "not a backup of an aggregator" in str(result.exception)


def test_nothing_is_overwritten(home: Home, backup: Path) -> None:
    before = backup.read_bytes()
    assert isinstance(run(home.directory, "backup", "--out", backup).exception, SettingsError)
    assert backup.read_bytes() == before
    assert isinstance(run(home.directory, "restore", backup).exception, SettingsError)


def test_a_database_with_a_log_in_it_is_not_restored_into(
    home: Home, backup: Path, tmp_path: Path
) -> None:
    url = home.settings.database_url or f"sqlite:///{home.directory / 'aggregator.sqlite3'}"
    result = run(tmp_path / "restored", "restore", backup, "--database-url", url)
    assert isinstance(result.exception, StoreError)
    assert "not empty" in str(result.exception)
    with home.database.reading() as connection:
        assert newest_registry(connection).version >= 1
    assert check_log(home) == 4
