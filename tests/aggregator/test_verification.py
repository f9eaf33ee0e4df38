"""A published board that somebody altered: every change is seen, and the sentence says what differs."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from aggregator.board import publish as publishing
from aggregator.board.publish import publish
from aggregator.board.verification import verify
from aggregator.cli import cli
from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.home import Home, today_day
from aggregator.merge.board_model import AuditedFigures, AuditedRow, AuditedTable, RowCounts
from protocol.identity import model_digest
from tests.aggregator.federation import (
    CARD,
    MODELS,
    new_home,
    new_key,
    ready,
    registry_of,
    scores,
    submit,
)

BUNDLE = "log/entries/000.p/16"


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Two named sites, each with two datasets and results of three models but one."""
    home = new_home(tmp_path_factory.mktemp("federation") / "aggregator")
    for number, name in enumerate(("St. Elsewhere", "County")):
        site = ready(home, name)
        for seed, model in enumerate(MODELS):
            submit(
                home,
                site,
                site.result(registry_of(home), scores(10 * number + seed), model=model.name),
            )
            if (number, seed) == (0, 0):
                submit(home, site, site.result(registry_of(home), scores(50), model=model.name))
    second = ready(home, "Third")
    assert second.id in registry_of(home).sites
    return home


@pytest.fixture(scope="module")
def published(federation: Home, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("published") / "board"
    publish(federation, out)
    return out


@pytest.fixture
def board(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "copy"))


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_an_untouched_board_is_identical(board: Path, federation: Home) -> None:
    assert verify(board, today_day=today_day()).log.checkpoint.size == 16
    fingerprint = registry_of(federation).roots[0].fingerprint
    done = CliRunner().invoke(cli, ["verify", "--board", str(board), "--root-key", fingerprint])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Identical: board.example, 16 log entries")
    assert "0 cells rely on auditors" in done.output


def test_counts_without_a_cell_need_auditors_too(
    federation: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operator invents 400 sites beside the named ones and leaves a named result out: no cell rests on auditors."""
    row = AuditedRow({}, RowCounts(sites=400), 0, (2,))
    table = AuditedTable({model_digest(MODELS[0].name): row}, {}, 900)
    monkeypatch.setattr(
        publishing,
        "merge_audited",
        lambda log: AuditedFigures(log.checkpoint.size, 500, {CARD.digest: table}),
    )
    publish(federation, tmp_path / "forged")
    with pytest.raises(BoardMismatchError, match="hides no entry"):
        verify(tmp_path / "forged", today_day=today_day())


def change_value(board: Path) -> None:
    text = (board / "board.json").read_text()
    (board / "board.json").write_text(re.sub(r'"value": (\d)', r'"value": 9\1', text, count=1))


def change_page(board: Path) -> None:
    path = board / "index.html"
    path.write_bytes(path.read_bytes().replace(b"0.", b"0.9", 1))


def change_csv(board: Path) -> None:
    (board / "board.csv").write_bytes(
        (board / "board.csv").read_bytes().replace(b'"value"', b'"Value"', 1)
    )


def lines_of(board: Path) -> list[bytes]:
    return (board / BUNDLE).read_bytes().splitlines(keepends=True)


def write_lines(board: Path, lines: list[bytes]) -> None:
    (board / BUNDLE).write_bytes(b"".join(lines))


def remove_last_entry(board: Path) -> None:
    write_lines(board, lines_of(board)[:-1])


def remove_middle_entry(board: Path) -> None:
    lines = lines_of(board)
    write_lines(board, lines[:9] + lines[10:])


def repeat_entry(board: Path) -> None:
    lines = lines_of(board)
    write_lines(board, [*lines, lines[-1]])


def swap_entries(board: Path) -> None:
    lines = lines_of(board)
    lines[5], lines[4] = lines[4], lines[5]
    write_lines(board, lines)


def replace_entry_by_another(board: Path) -> None:
    lines = lines_of(board)
    write_lines(board, [*lines[:-1], lines[0]])


def change_entry(board: Path) -> None:
    lines = lines_of(board)
    entry = json.loads(lines[-1])
    payload = entry["envelope"]["payload"]
    entry["envelope"]["payload"] = (
        payload[:-8] + ("A" if payload[-8] != "A" else "B") + payload[-7:]
    )
    lines[-1] = json.dumps(entry, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    write_lines(board, lines)


def hide_entry(board: Path) -> None:
    """A named site's result, as a hash that is not its own."""
    lines = lines_of(board)
    lines[5] = b'{"leaf_hash":"%b","registry":2}\n' % (b"0" * 64)
    write_lines(board, lines)


def change_entry_registry(board: Path) -> None:
    path = board / BUNDLE
    path.write_bytes(path.read_bytes().replace(b'"registry":2', b'"registry":99', 1))


def reformat_entry(board: Path) -> None:
    path = board / BUNDLE
    path.write_bytes(path.read_bytes().replace(b'{"envelope":', b'{ "envelope":', 1))


def say_true_for_one(board: Path) -> None:
    path = board / BUNDLE
    path.write_bytes(path.read_bytes().replace(b'"registry":1', b'"registry":true', 1))


def change_registry(board: Path) -> None:
    path = board / "log/registry/3.dsse.json"
    path.write_text(path.read_text().replace('"payload":"ey', '"payload":"eY', 1))


def remove_last_registry(board: Path) -> None:
    (board / "log/registry/4.dsse.json").unlink()


def remove_middle_registry(board: Path) -> None:
    (board / "log/registry/3.dsse.json").unlink()


def repeat_registry(board: Path) -> None:
    shutil.copy(board / "log/registry/4.dsse.json", board / "log/registry/5.dsse.json")


def change_checkpoint(board: Path) -> None:
    """A larger log is claimed than the key signed."""
    path = board / "log/checkpoint"
    path.write_text(path.read_text().replace("\n16\n", "\n15\n", 1))
    (board / "log/entries/000.p/16").rename(board / "log/entries/000.p/16")


def remove_checkpoint(board: Path) -> None:
    (board / "log/checkpoint").unlink()


def add_bundle(board: Path) -> None:
    shutil.copy(board / BUNDLE, board / "log/entries/001")


def remove_page(board: Path) -> None:
    (board / "index.html").unlink()


def add_page(board: Path) -> None:
    (board / "news.html").write_text("<p>We are the best.</p>")


def link_page(board: Path) -> None:
    (board / "index.html").rename(board.parent / "elsewhere.html")
    (board / "index.html").symlink_to(board.parent / "elsewhere.html")


def audit_by_nobody(board: Path) -> None:
    (board / "audits").mkdir()
    (board / "audits" / f"{'0' * 64}.dsse.json").write_bytes(b"{}")


def remove_audited(board: Path) -> None:
    (board / "audited.json").unlink()


def change_audited_size(board: Path) -> None:
    path = board / "audited.json"
    path.write_bytes(path.read_bytes().replace(b'"log_size":16', b'"log_size":15'))


def reformat_audited(board: Path) -> None:
    (board / "audited.json").write_bytes(b" " + (board / "audited.json").read_bytes())


@pytest.mark.full
@pytest.mark.parametrize(
    ("tamper", "sentence"),
    [
        (change_value, "board.json differs from the recomputed file"),
        (change_page, "index.html differs"),
        (change_csv, "board.csv differs"),
        (remove_last_entry, "does not contain 16 lines"),
        (remove_middle_entry, "does not contain 16 lines"),
        (repeat_entry, "does not contain 16 lines"),
        (swap_entries, "log entry 4 is not valid"),
        (replace_entry_by_another, "log entry 15"),
        (change_entry, "log entry 15"),
        (
            hide_entry,
            "log entry 5 is hidden, but no site had chosen pooled publication at that point",
        ),
        (change_entry_registry, "registry version 99"),
        (reformat_entry, "line 1, is not a log entry"),
        (say_true_for_one, "line 1, is not a log entry"),
        (change_registry, "registry"),
        (remove_last_registry, "log entry 13 is an enrolment that the registry does not contain"),
        (remove_middle_registry, "log entry 7 is an enrolment that the registry does not contain"),
        (repeat_registry, "registry"),
        (change_checkpoint, "checkpoint is not valid"),
        (remove_checkpoint, "log/checkpoint is missing"),
        (add_bundle, "log/entries/001 does not belong"),
        (remove_page, "index.html is missing"),
        (add_page, "news.html does not belong"),
        (link_page, "index.html is not a plain file"),
        (audit_by_nobody, "is not an audit"),
        (remove_audited, "audited.json is missing"),
        (change_audited_size, "audited.json was computed from 15 log entries, but the log has 16"),
        (reformat_audited, "audited.json is malformed"),
    ],
)
def test_tampering_is_seen_and_named(
    board: Path, tamper: Callable[[Path], None], sentence: str
) -> None:
    before = bytes_of(board)
    tamper(board)
    assert bytes_of(board) != before or (board / "index.html").is_symlink(), (
        "the test must change something"
    )
    done = CliRunner().invoke(cli, ["verify", "--board", str(board)])
    assert isinstance(done.exception, BoardMismatchError)
    assert done.exception.exit_code == 1
    assert sentence in str(done.exception)


def test_a_board_of_another_root_is_refused_by_the_pin(board: Path, federation: Home) -> None:
    with pytest.raises(BoardMismatchError, match="registry"):
        verify(board, [new_key().public.keyid], today_day=today_day())
    with pytest.raises(BoardMismatchError, match="registry"):
        verify(
            board,
            [registry_of(federation).roots[0].keyid, new_key().public.keyid],
            today_day=today_day(),
        )
    with pytest.raises(SettingsError, match="64"):
        verify(board, ["abc"], today_day=today_day())


def test_a_whole_invented_board_is_seen_with_the_pin_only(federation: Home, tmp_path: Path) -> None:
    """Without a pin a board proves that it agrees with itself; who signed it is for the reader to check."""
    forged = new_home(tmp_path / "forger")
    publish(forged, tmp_path / "forged")
    verify(tmp_path / "forged", today_day=today_day())
    with pytest.raises(BoardMismatchError):
        verify(tmp_path / "forged", [registry_of(federation).roots[0].keyid], today_day=today_day())


@pytest.mark.parametrize(
    "part", ["log/checkpoint", "log/registry", "log/entries", "board.json", "index.html"]
)
def test_two_deployments_cannot_be_mixed(board: Path, tmp_path: Path, part: str) -> None:
    """H116: each part is right by itself, signed by the keys of its own deployment."""
    other = new_home(tmp_path / "other")
    ready(other, "Elsewhere")
    publish(other, tmp_path / "other-board")
    theirs = tmp_path / "other-board" / part
    if theirs.is_dir():
        shutil.rmtree(board / part)
        shutil.copytree(theirs, board / part)
    else:
        shutil.copy(theirs, board / part)
    with pytest.raises(BoardMismatchError):
        verify(board, today_day=today_day())


def test_a_board_whose_registry_has_expired_is_refused(board: Path, federation: Home) -> None:
    expires = registry_of(federation).expires_day
    verify(board, today_day=expires - 1)
    with pytest.raises(BoardMismatchError, match="version 4, expired on 20"):
        verify(board, today_day=expires)
    done = CliRunner().invoke(cli, ["verify", "--board", str(board), "--as-of", "2100-01-01"])
    assert isinstance(done.exception, BoardMismatchError)


@pytest.mark.full
def test_pages_made_by_two_processes_are_the_same_bytes(federation: Home) -> None:
    """Done where a board has thousands of results; here it is asked for, in a program without other threads."""
    program = (
        "import sys; from pathlib import Path; from aggregator.home import Home; "
        "from aggregator.board.own_log import read_own_log; from aggregator.board import merging, pages; "
        "from aggregator.board.releases import BoardOrigin; home = Home(Path(sys.argv[1]));\n"
        "with home.database.reading() as connection: log = read_own_log(connection, home)\n"
        "board = merging.merge_board(log.shown, merging.merge_audited(log.whole)); "
        "head = BoardOrigin(log.whole.checkpoint.size, log.whole.checkpoint.root.hex(), log.whole.registry.version); "
        "made = pages.BoardPages(board, pages.Publication(log.whole.registry, head), live=False); "
        "assert pages.render_in_processes(made) == {path: made.page(path) for path in made.paths()}"
    )
    subprocess.run(
        [sys.executable, "-c", program, str(federation.directory)], check=True, timeout=120
    )
