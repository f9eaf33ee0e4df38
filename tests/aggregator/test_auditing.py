"""Auditors recompute what the public cannot, and sign; any lie about hidden statements is theirs to find."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aggregator.board import auditing
from aggregator.board.archive import read_archive
from aggregator.board.evidence import replay
from aggregator.board.kept import read_kept
from aggregator.board.publish import derived_files, publish
from aggregator.board.verification import read_evidence, verify
from aggregator.cli import cli
from aggregator.errors import BoardMismatchError, SettingsError, UnauditedBoardError
from aggregator.home import Home, today_day
from aggregator.key_files import draw_key, keep_key
from aggregator.log import journal
from aggregator.merge.board_model import parse_audited
from protocol.audit import AUDIT_FILE, Audit, build_audit, open_audit, sign_audit
from protocol.checkpoint import LogKey
from protocol.envelope import add_signature, sign
from protocol.errors import Code, ProtocolError
from protocol.keys import Ed25519Signer
from tests.aggregator.audited import change_registry, draw_auditor, name_auditors
from tests.aggregator.copies import copy_home
from tests.aggregator.federation import (
    MODELS,
    new_home,
    new_key,
    ready,
    registry_of,
    scores,
    submit,
)


@dataclass
class Audited:
    """An aggregator with three pooled sites, its board, the sealed log, and two auditors of whom one is enough."""

    home: Home
    board: Path
    archive: Path
    keys: tuple[Path, Path]
    auditors: tuple[Ed25519Signer, Ed25519Signer]

    def audit(
        self, board: Path | None = None, *, auditor: int = 0, archive: Path | None = None
    ) -> auditing.Audited:
        root = registry_of(self.home).roots[0].keyid
        return auditing.audit(
            board or self.board,
            archive or self.archive,
            self.keys[auditor],
            [root],
            today_day=today_day(),
        )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    folder = tmp_path_factory.mktemp("audited")
    home = new_home(folder / "aggregator")
    (first, one), (second, two) = draw_auditor(folder, "one"), draw_auditor(folder, "two")
    name_auditors(home, [one, two])
    for number in range(4):
        site = ready(home, f"Hospital {number}", "named" if number == 0 else "pooled")
        for seed, model in enumerate(MODELS[:2]):
            submit(
                home,
                site,
                site.result(registry_of(home), scores(10 * number + seed), model=model.name),
            )
    publish(home, folder / "board")
    auditing.archive(home, folder / "log.archive")
    return Audited(home, folder / "board", folder / "log.archive", (first, second), (one, two))


@pytest.fixture
def board(made: Audited, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made.board, tmp_path / "copy"))


def check(board: Path) -> Result:
    return CliRunner().invoke(cli, ["verify", "--board", str(board)])


def test_a_board_verifies_with_one_auditors_signature_and_not_without(
    made: Audited, board: Path
) -> None:
    cells = verify(board, today_day=today_day()).audited_cells
    assert cells == 2 * 3
    before = check(board)
    assert isinstance(before.exception, UnauditedBoardError)
    assert "6 cells rely on auditors' signatures, and 0 of 1" in str(before.exception)
    made.audit(board)
    after = check(board)
    assert after.exit_code == 0, after.output
    assert "6 cells rely on auditors; signed by: auditor-1 (needed: 1)" in after.output


def test_the_auditors_commands_do_the_same(made: Audited, board: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke
    sealed = run(
        cli, ["--dir", str(made.home.directory), "archive", "--out", str(tmp_path / "log")]
    )
    assert sealed.exit_code == 0, sealed.output
    root = registry_of(made.home).roots[0].fingerprint
    arguments = [
        "--board",
        str(board),
        "--archive",
        str(tmp_path / "log"),
        "--key",
        str(made.keys[1]),
    ]
    done = run(cli, ["audit", *arguments, "--root-key", root])
    assert done.exit_code == 0, done.output
    assert "6 cells recomputed" in done.output
    assert check(board).exit_code == 0
    again = run(cli, ["--dir", str(made.home.directory), "archive", "--out", str(tmp_path / "log")])
    assert isinstance(again.exception, SettingsError), "an archive is never overwritten"


def test_a_threshold_of_two_wants_two(made: Audited, tmp_path: Path) -> None:
    folder = tmp_path / "two"
    home = copy_home(made.home, folder / "aggregator")
    name_auditors(home, made.auditors, threshold=2)
    publish(home, folder / "board")
    auditing.archive(home, folder / "log")
    made.audit(folder / "board", archive=folder / "log")
    one = check(folder / "board")
    assert isinstance(one.exception, UnauditedBoardError)
    assert "1 of 2" in str(one.exception)
    made.audit(folder / "board", archive=folder / "log", auditor=1)
    assert check(folder / "board").exit_code == 0
    publish(home, folder / "board")
    assert check(folder / "board").exit_code == 0, "the same board keeps its signatures"
    site = ready(home, "Late")
    submit(home, site, site.result(registry_of(home), scores(99)))
    publish(home, folder / "board")
    late = check(folder / "board")
    assert isinstance(late.exception, UnauditedBoardError), "another board has none"
    assert "0 of 2" in str(late.exception)


def audit_of(made: Audited, board: Path) -> Audit:
    verified = verify(board, today_day=today_day())
    head = verified.log.checkpoint
    return Audit(
        "board.example", verified.log.registry.version, verified.digest, head.size, head.root.hex()
    )


def write_audit(made: Audited, board: Path, content: bytes, keyid: str | None = None) -> None:
    path = board / AUDIT_FILE.format(keyid=keyid or made.auditors[0].public.keyid)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


def of_another_board(made: Audited, board: Path) -> None:
    audit = audit_of(made, board)
    other = Audit(audit.deployment, audit.registry, "0" * 64, audit.log_size, audit.log_root)
    write_audit(made, board, sign_audit(other, made.auditors[0]))


def of_another_deployment(made: Audited, board: Path) -> None:
    audit = audit_of(made, board)
    other = Audit("other.example", audit.registry, audit.board, audit.log_size, audit.log_root)
    write_audit(made, board, sign_audit(other, made.auditors[0]))


def of_a_smaller_log(made: Audited, board: Path) -> None:
    audit = audit_of(made, board)
    other = Audit(audit.deployment, audit.registry, audit.board, audit.log_size - 1, audit.log_root)
    write_audit(made, board, sign_audit(other, made.auditors[0]))


def by_a_stranger(made: Audited, board: Path) -> None:
    stranger = new_key()
    write_audit(made, board, sign_audit(audit_of(made, board), stranger), stranger.public.keyid)


def by_one_auditor_twice(made: Audited, board: Path) -> None:
    audit = audit_of(made, board)
    write_audit(made, board, sign_audit(audit, made.auditors[0]))
    write_audit(made, board, sign_audit(audit, made.auditors[0]), made.auditors[1].public.keyid)


def by_two_in_one_file(made: Audited, board: Path) -> None:
    signed = sign_audit(audit_of(made, board), made.auditors[0])
    write_audit(made, board, add_signature(signed, made.auditors[1]))


def with_a_changed_signature(made: Audited, board: Path) -> None:
    signed = sign_audit(audit_of(made, board), made.auditors[0])
    marker = b'"sig":"'
    start = signed.index(marker) + len(marker)
    write_audit(
        made,
        board,
        signed[:start]
        + (b"B" if signed[start : start + 1] == b"A" else b"A")
        + signed[start + 1 :],
    )


@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        (of_another_board, "is the audit of another board: its board is 0000"),
        (of_another_deployment, "is the audit of another board: its deployment is other.example"),
        (of_a_smaller_log, "is the audit of another board: its log size is"),
        (by_a_stranger, "is signed with a key that is not an auditor's"),
        (by_one_auditor_twice, "is not named after the key that signed it"),
        (by_two_in_one_file, "expected one signature"),
        (with_a_changed_signature, "bad_signature"),
    ],
)
def test_a_signature_that_vouches_for_something_else_is_refused(
    made: Audited, board: Path, forge: Callable[[Audited, Path], None], sentence: str
) -> None:
    forge(made, board)
    done = check(board)
    assert isinstance(done.exception, BoardMismatchError)
    assert sentence in str(done.exception)


def test_a_figure_that_was_changed_in_audited_json_no_longer_fits_the_pages(
    made: Audited, board: Path
) -> None:
    made.audit(board)
    path = board / "audited.json"
    changed = path.read_bytes().replace(b'"value":', b'"value":1', 1)
    assert changed != path.read_bytes()
    path.write_bytes(changed)
    assert isinstance(check(board).exception, BoardMismatchError)


def test_a_board_made_from_lies_about_hidden_figures_is_never_signed(
    made: Audited, board: Path
) -> None:
    """The aggregator itself lies: pages and audited.json agree with each other, and not with the sealed log."""
    lie = parse_audited((board / "audited.json").read_bytes().replace(b'"units":', b'"units":1', 1))
    files = derived_files(
        replay(read_evidence(board)), lie, read_kept(board), published_day=today_day()
    )
    for name, content in files.items():
        (board / name).parent.mkdir(parents=True, exist_ok=True)
        (board / name).write_bytes(content)
    verify(board, today_day=today_day())
    with pytest.raises(BoardMismatchError, match=r"audited.json does not match the whole log"):
        made.audit(board)
    assert not (board / "audits").exists()


def test_an_archive_opens_for_the_auditors_alone(
    made: Audited, board: Path, tmp_path: Path
) -> None:
    stranger, _ = draw_auditor(tmp_path, "stranger")
    root = registry_of(made.home).roots[0].keyid
    with pytest.raises(SettingsError, match="not sealed to this key"):
        auditing.audit(board, made.archive, stranger, [root], today_day=today_day())
    other = new_key()
    with pytest.raises(SettingsError, match="not sealed to this key"):
        list(read_archive(made.archive, other.public.keyid, other.seed))
    with pytest.raises(BoardMismatchError, match="damaged"):
        list(read_archive(made.archive, made.auditors[0].public.keyid, other.seed))
    assert b"board.example" not in made.archive.read_bytes()
    with made.home.database.reading() as connection:
        entries = list(journal.read_entries(connection))
    assert (
        list(read_archive(made.archive, made.auditors[0].public.keyid, made.auditors[0].seed))
        == entries
    )


@pytest.mark.parametrize("damage", ["cut", "cut everything", "changed", "lengthened", "other file"])
def test_a_damaged_archive_is_refused_in_words(
    made: Audited, board: Path, tmp_path: Path, damage: str
) -> None:
    content = made.archive.read_bytes()
    head = content.index(b"\n", content.index(b"\n") + 1) + 1
    damaged = {
        "cut": content[:-1],
        "cut everything": content[:head],
        "changed": content[:-100] + bytes([content[-100] ^ 1]) + content[-99:],
        "lengthened": content + b"x",
        "other file": b"PK" + content,
    }[damage]
    (tmp_path / "log").write_bytes(damaged)
    with pytest.raises((BoardMismatchError, SettingsError), match="archive"):
        made.audit(board, archive=tmp_path / "log")
    assert not (board / "audits").exists()


def test_an_archive_of_an_earlier_log_is_refused(made: Audited, tmp_path: Path) -> None:
    folder = tmp_path / "later"
    home = copy_home(made.home, folder / "aggregator")
    site = ready(home, "Late", "pooled")
    submit(home, site, site.result(registry_of(home), scores(77)))
    publish(home, folder / "board")
    with pytest.raises(SettingsError, match="the archive ends before log entry"):
        made.audit(folder / "board")
    auditing.archive(home, folder / "log")
    made.audit(folder / "board", archive=folder / "log")
    made.audit(Path(shutil.copytree(made.board, folder / "old")), archive=folder / "log")


def test_an_audit_that_says_more_than_an_audit_is_refused(made: Audited) -> None:
    auditor = made.auditors[0]
    audit = Audit("board.example", 3, "0" * 64, 5, "1" * 64)
    payload = build_audit(audit)
    known = {auditor.public.keyid: auditor.public}
    for changed, code in (
        (payload.replace(b'"schema":1}', b'"schema":1,"zeal":"much"}'), Code.SCHEMA),
        (payload.replace(b'"name":"board"', b'"name":"broad"'), Code.WRONG_SUBJECT),
        (payload.replace(b"audit/v1", b"audit/v2"), Code.WRONG_TYPE),
        (payload.replace(b'"log_size":5', b'"log_size":-5'), Code.SCHEMA),
        (b" " + payload, Code.NOT_CANONICAL),
    ):
        with pytest.raises(ProtocolError) as caught:
            open_audit(sign(changed, [auditor]), known)
        assert caught.value.code is code
    assert open_audit(sign(payload, [auditor]), known) == (auditor.public.keyid, audit)


# Lives of pooled sites: their results go, their keys are revoked, they leave; the log's key is replaced.


@pytest.fixture
def lives(tmp_path: Path) -> Iterator[Audited]:
    """Seven pooled sites with a result each."""
    home = new_home(tmp_path / "aggregator")
    (first, one), (second, two) = draw_auditor(tmp_path, "one"), draw_auditor(tmp_path, "two")
    name_auditors(home, [one, two])
    for number in range(7):
        site = ready(home, f"Hospital {number}", "pooled")
        submit(home, site, site.result(registry_of(home), scores(number)))
    yield Audited(home, tmp_path / "board", tmp_path / "log.archive", (first, second), (one, two))
    home.database.close()


def publish_and_audit(lives: Audited) -> int:
    """Publish, seal, audit and verify; return how many cells rest on the auditors."""
    lives.archive.unlink(missing_ok=True)
    publish(lives.home, lives.board)
    auditing.archive(lives.home, lives.archive)
    lives.audit()
    done = check(lives.board)
    assert done.exit_code == 0, (done.output, done.exception)
    return verify(lives.board, today_day=today_day()).audited_cells


def values_of(board: Path) -> list[int | None]:
    """Return the figures of gated and private benchmarks; that of a public one moves with every site."""
    (card,) = json.loads((board / "board.json").read_bytes())["scorecards"]
    cells = [item for model in card["models"] for item in model["cells"].items()]
    return [cell.get("value") for key, cell in cells if not key.startswith("pubmed_qa/")]


def first_enrolled(home: Home) -> str:
    """Return a site whose figures were published. Those of the last of the seven wait for two more sites."""
    sites = registry_of(home).sites
    return min(sites, key=lambda site: sites[site].keys[0].from_index)


@pytest.mark.full
def test_a_pooled_site_that_withdraws_is_gone_from_what_auditors_sign(lives: Audited) -> None:
    assert publish_and_audit(lives) == 3
    before = values_of(lives.board)
    site = ready(lives.home, "Late", "pooled")
    digest = submit(lives.home, site, site.result(registry_of(lives.home), scores(70, right=0.2)))
    assert publish_and_audit(lives) == 3
    assert values_of(lives.board) == before, "one site more moves nothing"
    submit(lives.home, site, site.withdraw(registry_of(lives.home), digest))
    assert publish_and_audit(lives) == 3
    assert values_of(lives.board) == before


@pytest.mark.full
def test_a_pooled_site_whose_keys_are_revoked_is_withheld_with_the_others(lives: Audited) -> None:
    publish_and_audit(lives)
    assert None not in values_of(lives.board)
    registry = registry_of(lives.home)
    name = first_enrolled(lives.home)
    site = registry.sites[name]
    revoked = replace(site, keys=tuple(replace(key, revoked_from=0) for key in site.keys))
    change_registry(lives.home, sites={**registry.sites, name: revoked})
    publish_and_audit(lives)
    assert set(values_of(lives.board)) == {None}, "its figure would follow from a difference"
    for number in range(2):
        site_again = ready(lives.home, f"More {number}", "pooled")
        submit(
            lives.home, site_again, site_again.result(registry_of(lives.home), scores(80 + number))
        )
    publish_and_audit(lives)


@pytest.mark.full
def test_a_site_that_leaves_takes_no_other_sites_figure_with_it(lives: Audited) -> None:
    publish_and_audit(lives)
    left = dict(registry_of(lives.home).sites)
    del left[first_enrolled(lives.home)]
    change_registry(lives.home, sites=left)
    publish_and_audit(lives)
    assert set(values_of(lives.board)) == {None}


@pytest.mark.full
def test_a_board_is_published_audited_and_verified_after_the_logs_key_was_replaced(
    lives: Audited,
) -> None:
    publish_and_audit(lives)
    registry = registry_of(lives.home)
    key = draw_key()
    keep_key(lives.home.directory / "keys/log-new.key", key)
    size = verify(lives.board, today_day=today_day()).log.checkpoint.size
    old = replace(registry.log_keys[-1], until_size=size + 1)
    new = LogKey(Ed25519Signer(key).public, from_size=size + 1)
    change_registry(lives.home, log_keys=(*registry.log_keys[:-1], old, new))
    seen = (lives.board / "log/checkpoint").read_bytes()
    site = ready(lives.home, "Late")
    submit(lives.home, site, site.result(registry_of(lives.home), scores(5)))
    assert publish_and_audit(lives) == 3
    (lives.board.parent / "seen").write_bytes(seen)
    done = CliRunner().invoke(
        cli, ["verify", "--log", str(lives.board), "--since", str(lives.board.parent / "seen")]
    )
    assert done.exit_code == 0, done.exception
    assert f"continues the checkpoint of {size} entries" in done.output
