"""The log's key was stolen and is taken back from an earlier size: heads that it signed are read all the same.

A truthful head from before the theft was known still belongs to the log, and a false one is evidence, not rubbish.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aggregator.board.publish import publish
from aggregator.board.verification import verify
from aggregator.cli import cli
from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.home import Home, today_day
from aggregator.key_files import draw_key, keep_key
from aggregator.registry.handovers import hand_over_log
from aggregator.registry.versions import newest_registry, sign_next
from protocol.checkpoint import Checkpoint, LogKey, sign_checkpoint
from protocol.envelope import REGISTRY_TYPE, sign
from protocol.keys import Ed25519Signer
from protocol.registry import KeyGroup, NamedKey, build_registry
from tests.aggregator.audited import change_registry, draw_auditor
from tests.aggregator.conftest import Served
from tests.aggregator.federation import TestSite, registry_of, scores, submit


def take_back(home: Home, from_size: int) -> None:
    """Declare the log's key stolen from a size of the log on."""
    key = draw_key()
    keep_key(home.directory / f"keys/log-{from_size}.key", key)
    with home.database.writing() as connection:
        before = newest_registry(connection)
        ended = replace(before.log_keys[-1], until_size=from_size)
        keys = (*before.log_keys[:-1], ended, LogKey(Ed25519Signer(key).public, from_size))
        after = replace(before, version=before.version + 1, log_keys=keys)
        sign_next(connection, after, [home.root_signer(before)])
        hand_over_log(connection, home, before, after)


def report(home: Home, site: TestSite, seed: int) -> None:
    submit(home, site, site.result(registry_of(home), scores(seed)))


def forge(home: Home, size: int) -> str:
    """Sign another history with the first key of the log."""
    registry = registry_of(home)
    first = home.log_signer(replace(registry, log_keys=registry.log_keys[:1]))
    return sign_checkpoint(Checkpoint("board.example", size, b"x" * 32), first)


def check_since(source: Path | str, since: Path) -> Result:
    return CliRunner().invoke(cli, ["verify", "--log", str(source), "--since", str(since)])


def test_a_board_published_before_the_theft_was_known_is_continued(
    home: Home, site: TestSite, tmp_path: Path
) -> None:
    report(home, site, 1)
    report(home, site, 2)
    publish(home, tmp_path / "board")
    take_back(home, 4)
    publish(home, tmp_path / "board")
    report(home, site, 3)
    publish(home, tmp_path / "board")
    assert verify(tmp_path / "board", today_day=today_day()).log.checkpoint.size == 6


def test_a_board_that_the_thief_put_in_place_is_not_published_over(
    home: Home, site: TestSite, tmp_path: Path
) -> None:
    report(home, site, 1)
    publish(home, tmp_path / "board")
    forged = forge(home, 4)
    take_back(home, 4)
    (tmp_path / "board/log/checkpoint").write_text(forged)
    with pytest.raises(
        BoardMismatchError, match=r"since been declared stolen: .* logs of 4 or more entries"
    ) as caught:
        publish(home, tmp_path / "board")
    assert "Keep a copy" in caught.value.advice
    assert (tmp_path / "board/log/checkpoint").read_text() == forged


def test_a_mirror_goes_on_from_a_head_that_the_stolen_key_signed_truly(
    home: Home, site: TestSite, tmp_path: Path
) -> None:
    report(home, site, 1)
    report(home, site, 2)
    publish(home, tmp_path / "board")
    (tmp_path / "seen").write_bytes((tmp_path / "board/log/checkpoint").read_bytes())
    take_back(home, 4)
    take_back(home, 5)  # and the key after it was stolen too
    report(home, site, 3)
    publish(home, tmp_path / "board")
    done = check_since(tmp_path / "board", tmp_path / "seen")
    assert done.exit_code == 0, done.exception
    assert "continues the checkpoint of 5 entries" in done.output
    assert (
        "since been declared stolen: the registry no longer accepts it for logs of 4 or more entries"
        in done.output
    )


@pytest.mark.parametrize("size", [4, 5, 9])
def test_a_mirror_keeps_a_false_head_of_the_stolen_key_as_evidence(
    home: Home, site: TestSite, tmp_path: Path, size: int
) -> None:
    report(home, site, 1)
    report(home, site, 2)
    (tmp_path / "seen").write_text(forge(home, size))
    take_back(home, 4)
    publish(home, tmp_path / "board")
    refused = check_since(tmp_path / "board", tmp_path / "seen")
    assert isinstance(refused.exception, BoardMismatchError)
    assert "since been declared stolen" in str(refused.exception)
    assert "hold the root keys" in refused.exception.advice
    (beside,) = tmp_path.glob("seen.contradicted-by-*")
    assert beside.read_bytes() == (tmp_path / "board/log/checkpoint").read_bytes()
    assert str(beside) in str(refused.exception)
    assert (tmp_path / "seen").read_text() == forge(home, size)


@pytest.fixture
def key(tmp_path: Path, home: Home) -> Path:
    path, signer = draw_auditor(tmp_path, "witness")
    change_registry(home, witnesses=KeyGroup(1, (NamedKey("witness.example", signer.public),)))
    return path


def run_witness(served: Served, key: Path, state: Path) -> Result:
    root = registry_of(served.home).roots[0].keyid
    words = [
        "witness",
        "--log",
        served.url,
        "--key",
        str(key),
        "--state",
        str(state),
        "--root-key",
        root,
    ]
    return CliRunner().invoke(cli, words)


def test_a_witness_goes_on_from_a_head_that_the_stolen_key_signed_truly(
    served: Served, site: TestSite, key: Path, tmp_path: Path
) -> None:
    report(served.home, site, 1)
    report(served.home, site, 2)
    assert run_witness(served, key, tmp_path / "state").exit_code == 0
    take_back(served.home, 4)
    for size in (5, 6):
        done = run_witness(served, key, tmp_path / "state")
        assert done.exit_code == 0, done.exception
        assert f"at {size} entries" in done.output
        assert ("since been declared stolen" in done.output) == (size == 5)
        report(served.home, site, size)


def test_a_witness_keeps_a_false_head_of_the_stolen_key_as_evidence(
    served: Served, site: TestSite, key: Path, tmp_path: Path
) -> None:
    report(served.home, site, 1)
    report(served.home, site, 2)
    assert run_witness(served, key, tmp_path / "state").exit_code == 0
    forged = forge(served.home, 5)
    (tmp_path / "state/checkpoint").write_text(forged)
    take_back(served.home, 4)
    newest = served.get("/v1/log/checkpoint").text
    for _ in range(2):
        refused = run_witness(served, key, tmp_path / "state")
        assert isinstance(refused.exception, BoardMismatchError)
        assert "since been declared stolen" in str(refused.exception)
        assert "hold the root keys" in refused.exception.advice
        (beside,) = (tmp_path / "state").glob("checkpoint.contradicted-by-*")
        assert beside.read_text() == newest
        assert (tmp_path / "state/checkpoint").read_text() == forged


def test_a_witness_that_died_between_its_two_files_goes_on(
    served: Served, site: TestSite, key: Path, tmp_path: Path
) -> None:
    """Its newest checkpoint is kept, the registry that came with it is not yet."""
    assert run_witness(served, key, tmp_path / "state").exit_code == 0
    before = (tmp_path / "state/registry.dsse.json").read_bytes()
    take_back(served.home, 3)
    report(served.home, site, 1)
    assert run_witness(served, key, tmp_path / "state").exit_code == 0
    (tmp_path / "state/registry.dsse.json").write_bytes(before)
    assert run_witness(served, key, tmp_path / "state").exit_code == 0


@pytest.mark.parametrize("name", ["checkpoint", "registry.dsse.json"])
def test_a_witness_whose_folder_was_damaged_says_so_and_signs_nothing(
    served: Served, site: TestSite, key: Path, tmp_path: Path, name: str
) -> None:
    assert run_witness(served, key, tmp_path / "state").exit_code == 0
    (tmp_path / "state" / name).write_bytes(b"{}")
    refused = run_witness(served, key, tmp_path / "state")
    assert isinstance(refused.exception, SettingsError)
    assert name in str(refused.exception)
    assert "restore it from a backup" in refused.exception.advice


def see_registry(served: Served, state: Path, **changes: object) -> None:
    """Make a witness believe that it saw another registry, signed by the same root."""
    registry = registry_of(served.home)
    payload = build_registry(replace(registry, **changes))  # type: ignore[arg-type]
    (state / "registry.dsse.json").write_bytes(
        sign(payload, [served.home.root_signer(registry)], REGISTRY_TYPE)
    )


def test_a_witness_with_the_folder_of_another_log_says_so(
    served: Served, site: TestSite, key: Path, tmp_path: Path
) -> None:
    assert run_witness(served, key, tmp_path / "state").exit_code == 0
    see_registry(served, tmp_path / "state", deployment="other.example")
    refused = run_witness(served, key, tmp_path / "state")
    assert isinstance(refused.exception, SettingsError)
    assert "folder for other.example, but the log is that of board.example" in str(
        refused.exception
    )


def test_a_witness_keeps_the_registry_that_contradicts_the_one_it_saw(
    served: Served, site: TestSite, key: Path, tmp_path: Path
) -> None:
    assert run_witness(served, key, tmp_path / "state").exit_code == 0
    see_registry(served, tmp_path / "state", expires_day=registry_of(served.home).expires_day + 5)
    refused = run_witness(served, key, tmp_path / "state")
    assert isinstance(refused.exception, BoardMismatchError)
    assert "contradicts the one seen before" in str(refused.exception)
    (beside,) = (tmp_path / "state").glob("registry.dsse.json.contradicted-by-*")
    assert beside.read_bytes() == served.get("/v1/registry").content


def test_a_file_that_is_no_checkpoint_of_this_log_is_the_readers_mistake(
    home: Home, tmp_path: Path
) -> None:
    publish(home, tmp_path / "board")
    for content, sentence in (
        (b"\xff", "seen is not a checkpoint"),
        (b"{}\n", "seen is not a checkpoint"),
        (forge_of("other.example", home).encode(), "of other.example, not of board.example"),
    ):
        (tmp_path / "seen").write_bytes(content)
        refused = check_since(tmp_path / "board", tmp_path / "seen")
        assert isinstance(refused.exception, SettingsError)
        assert sentence in str(refused.exception)
        assert "--since" in refused.exception.advice


def forge_of(origin: str, home: Home) -> str:
    return sign_checkpoint(Checkpoint(origin, 2, b"x" * 32), home.log_signer(registry_of(home)))
