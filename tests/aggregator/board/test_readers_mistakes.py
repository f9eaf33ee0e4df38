"""A reader's own mistake is told as one: what was expected, and by which option. Fraud is what was signed wrongly."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aggregator.board import auditing
from aggregator.board.publish import publish
from aggregator.board.verification import verify
from aggregator.cli import cli
from aggregator.errors import BoardMismatchError, SettingsError, UnauditedBoardError
from aggregator.home import Home, today_day
from aggregator.registry.changes import Additions
from aggregator.registry.founding import found
from aggregator.settings import make_settings
from protocol.keys import Ed25519Signer
from protocol.registry import KeyGroup, NamedKey
from tests.aggregator.audited import change_registry, draw_auditor, name_auditors
from tests.aggregator.federation import (
    CARD,
    MODELS,
    make_database_url,
    new_key,
    ready,
    registry_of,
    scores,
    submit,
)


@dataclass
class Board:
    """A published board with hidden entries, its archive, and the key of its auditor."""

    home: Home
    folder: Path
    archive: Path
    key: Path
    auditor: Ed25519Signer

    def audit(self, **options: object) -> Result:
        given: dict[str, object] = {
            "board": self.folder,
            "archive": self.archive,
            "key": self.key,
            "root-key": registry_of(self.home).roots[0].keyid,
        }
        words = [
            str(word) for name, value in (given | options).items() for word in (f"--{name}", value)
        ]
        return CliRunner().invoke(cli, ["audit", *words])


def make(folder: Path, origin: str, auditor: Ed25519Signer, key: Path) -> Board:
    settings = make_settings({"database_url": make_database_url()})
    additions = Additions(models=MODELS, scorecards=(CARD,), agents=["0.1.0"])
    home = found(
        folder / "aggregator", settings, origin=origin, additions=additions, today_day=today_day()
    )
    name_auditors(home, [auditor])
    for number in range(2):
        site = ready(home, f"Hospital {number}", "pooled" if number else "named")
        submit(home, site, site.result(registry_of(home), scores(number)))
    publish(home, folder / "board")
    auditing.archive(home, folder / "log.archive")
    return Board(home, folder / "board", folder / "log.archive", key, auditor)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    folder = tmp_path_factory.mktemp("reader")
    key, auditor = draw_auditor(folder, "one")
    board = make(folder, "board.example", auditor, key)
    yield board
    board.home.database.close()


def refused_as(done: Result, kind: type[Exception], sentence: str) -> str:
    """Check how a command was refused, and return its advice."""
    assert isinstance(done.exception, kind), (done.exception, done.output)
    assert sentence in str(done.exception)
    return str(done.exception.advice)  # type: ignore[attr-defined]


@pytest.mark.parametrize("option", ["--board", "--log"])
def test_a_folder_that_is_no_board_is_no_forgery(made: Board, tmp_path: Path, option: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("notes")
    (tmp_path / "mine/link").symlink_to("notes.txt")
    for folder in (
        tmp_path / "mine",
        made.home.directory,
        made.folder / "log",
        tmp_path / "nothing",
    ):
        done = CliRunner().invoke(cli, ["verify", option, str(folder)])
        advice = refused_as(done, SettingsError, str(folder))
        assert "publish --out" in advice


def test_a_copy_that_lacks_a_file_is_fetched_again_first(made: Board, tmp_path: Path) -> None:
    for name in ("log/checkpoint", "audited.json", "index.html", "log/registry/1.dsse.json"):
        copy = Path(shutil.copytree(made.folder, tmp_path / name.replace("/", "-")))
        (copy / name).unlink()
        done = CliRunner().invoke(cli, ["verify", "--board", str(copy)])
        assert "fetch the whole folder again" in refused_as(
            done, BoardMismatchError, f"{name} is missing"
        )


def test_a_file_of_the_readers_own_in_the_board_is_named(made: Board, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(made.folder, tmp_path / "copy"))
    (copy / "my notes.txt").write_text("to do")
    done = CliRunner().invoke(cli, ["verify", "--board", str(copy)])
    assert "If you put it there yourself" in refused_as(
        done, BoardMismatchError, "my notes.txt does not belong"
    )


def test_a_root_key_of_somebody_else_says_which_there_are(made: Board) -> None:
    stranger = new_key().public.keyid
    for option in ("--board", "--log"):
        done = CliRunner().invoke(cli, ["verify", option, str(made.folder), "--root-key", stranger])
        advice = refused_as(
            done,
            BoardMismatchError,
            f"root key {stranger[:16]}... has not signed the first registry",
        )
        assert registry_of(made.home).roots[0].keyid[:16] in str(done.exception)
        assert "Compare --root-key" in advice


def test_a_root_key_that_came_later_says_so(home: Home, tmp_path: Path) -> None:
    ready(home)
    registry = registry_of(home)
    later = new_key().public
    change_registry(home, roots=(*registry.roots, later))
    publish(home, tmp_path / "board")
    with pytest.raises(
        BoardMismatchError, match="belongs to registry version 3, but not to version 1"
    ) as caught:
        verify(tmp_path / "board", [later.keyid], today_day=today_day())
    assert "root keys of version 1" in caught.value.advice


def test_an_archive_of_another_aggregator_is_the_wrong_file(made: Board, tmp_path: Path) -> None:
    other = make(tmp_path / "other", "other.example", made.auditor, made.key)
    done = made.audit(archive=other.archive)
    other.home.database.close()
    advice = refused_as(
        done,
        SettingsError,
        "is an archive from other.example, but the board belongs to board.example",
    )
    assert "--archive" in advice


def test_a_wrong_archive_is_told_before_the_board_is_read(made: Board, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = made.audit(archive=made.folder / "board.json", board=tmp_path / "empty")
    refused_as(done, SettingsError, "board.json is not an archive")


def test_where_nobody_is_an_auditor_nobody_is_asked_for_a_signature(
    home: Home, tmp_path: Path
) -> None:
    site = ready(home, "Hidden", "pooled")
    submit(home, site, site.result(registry_of(home), scores(1)))
    publish(home, tmp_path / "board")
    done = CliRunner().invoke(cli, ["verify", "--board", str(tmp_path / "board")])
    advice = refused_as(done, UnauditedBoardError, "the registry names no auditors")
    assert "--add-auditor" in advice
    assert "auditors' signatures before" not in advice


def test_the_witnesses_of_a_board_are_named(home: Home, tmp_path: Path) -> None:
    ready(home)
    change_registry(home, witnesses=KeyGroup(1, (NamedKey("witness.example", new_key().public),)))
    publish(home, tmp_path / "board")
    done = CliRunner().invoke(cli, ["verify", "--board", str(tmp_path / "board")])
    assert done.exit_code == 0, done.exception
    assert "Cosigned by: no witness (required: 1)." in done.output
