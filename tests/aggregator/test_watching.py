"""Mirrors and witnesses on another computer: a log that shrinks, splits or is another one is refused, with evidence."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from aggregator.board.publish import publish
from aggregator.cli import cli
from aggregator.errors import AggregatorError, BoardMismatchError, SettingsError
from aggregator.home import Home
from protocol.checkpoint import Checkpoint, sign_checkpoint, verify_checkpoint
from protocol.cosignature import cosign, cosignature_key_id, note_body, read_cosignatures
from protocol.errors import Code, ProtocolError
from protocol.keys import Ed25519Signer
from protocol.registry import KeyGroup, NamedKey
from tests.aggregator.audited import change_registry, draw_auditor
from tests.aggregator.conftest import Served
from tests.aggregator.federation import (
    TestSite,
    new_home,
    new_key,
    ready,
    registry_of,
    scores,
    submit,
)


@pytest.fixture
def key(tmp_path: Path, home: Home) -> tuple[Path, Ed25519Signer]:
    """The key of a witness that the registry names."""
    path, signer = draw_auditor(tmp_path, "witness")
    change_registry(home, witnesses=KeyGroup(1, (NamedKey("witness.example", signer.public),)))
    return path, signer


def run_witness(served: Served, key: Path, state: Path, *, pinned: bool = True) -> Result:
    root = registry_of(served.home).roots[0].keyid
    arguments = ["witness", "--log", served.url, "--key", str(key), "--state", str(state)]
    return CliRunner().invoke(cli, [*arguments, *(("--root-key", root) if pinned else ())])


def check_log(source: str, *options: str) -> Result:
    return CliRunner().invoke(cli, ["verify", "--log", source, *options])


def report(home: Home, site: TestSite, seed: int) -> None:
    submit(home, site, site.result(registry_of(home), scores(seed)))


def test_a_witness_cosigns_what_continues_and_its_line_is_served_and_published(
    served: Served, site: TestSite, key: tuple[Path, Ed25519Signer], tmp_path: Path
) -> None:
    path, signer = key
    first = run_witness(served, path, tmp_path / "state")
    assert first.exit_code == 0, first.output
    assert "the first checkpoint seen" in first.output
    report(served.home, site, 1)
    report(served.home, site, 2)
    second = run_witness(served, path, tmp_path / "state", pinned=False)
    assert second.exit_code == 0, second.output
    assert "at 5 entries (3 when last seen)" in second.output
    note = served.get("/v1/log/checkpoint").text
    assert len(note.splitlines()) == 6
    registry = registry_of(served.home)
    assert verify_checkpoint(note, registry.log_keys, registry.log_name).size == 5, (
        "other readers take it as it is"
    )
    times = read_cosignatures(note, {"witness.example": signer.public})
    assert abs(times["witness.example"] - time.time()) < 600
    publish(served.home, tmp_path / "board")
    assert (tmp_path / "board/log/checkpoint").read_text() == note
    checked = check_log(str(tmp_path / "board"))
    assert "Cosigned by: witness.example (required: 1)" in checked.output
    report(served.home, site, 3)
    assert len(served.get("/v1/log/checkpoint").text.splitlines()) == 5, (
        "the next checkpoint has none yet"
    )


def test_a_witness_again_at_the_same_size_leaves_one_line(
    served: Served, site: TestSite, key: tuple[Path, Ed25519Signer], tmp_path: Path
) -> None:
    for _ in range(3):
        assert run_witness(served, key[0], tmp_path / "state").exit_code == 0
    assert served.get("/v1/log/checkpoint").text.count("witness.example") == 1


def split(home: Home, size: int, origin: str = "board.example") -> str:
    """Sign, with the log's own key, a checkpoint of another history."""
    registry = registry_of(home)
    return sign_checkpoint(Checkpoint(origin, size, b"x" * 32), home.log_signer(registry))


@pytest.mark.full
@pytest.mark.parametrize(
    ("size", "sentence"),
    [
        (3, "shows different readers different entries: two roots for 3 entries"),
        (2, "entries were changed"),
        (9, "the log has shrunk from 9 to 3 entries"),
    ],
)
def test_a_witness_and_a_mirror_refuse_another_history_and_keep_the_evidence(
    served: Served,
    site: TestSite,
    key: tuple[Path, Ed25519Signer],
    tmp_path: Path,
    size: int,
    sentence: str,
) -> None:
    assert run_witness(served, key[0], tmp_path / "state").exit_code == 0
    seen = split(served.home, size)
    (tmp_path / "state/checkpoint").write_text(seen)
    refused = run_witness(served, key[0], tmp_path / "state")
    assert isinstance(refused.exception, BoardMismatchError)
    assert sentence in str(refused.exception)
    assert "Keep both checkpoints" in refused.exception.advice
    assert (tmp_path / "state/checkpoint").read_text() == seen, "the evidence stays"
    publish(served.home, tmp_path / "board")
    for source in (served.url, str(tmp_path / "board")):
        mirrored = check_log(source, "--since", str(tmp_path / "state/checkpoint"))
        assert isinstance(mirrored.exception, BoardMismatchError)
        assert sentence in str(mirrored.exception)
        assert "Keep both checkpoints" in mirrored.exception.advice


def test_a_checkpoint_of_another_log_is_no_earlier_head_of_this_one(
    served: Served, site: TestSite, tmp_path: Path
) -> None:
    other = new_home(tmp_path / "other")
    for note, sentence in (
        (split(served.home, 2, "other.example"), "of other.example, not of board.example"),
        (split(other, 2), "no registry version of this log names the key that signed"),
    ):
        (tmp_path / "since").write_text(note)
        refused = check_log(served.url, "--since", str(tmp_path / "since"))
        assert isinstance(refused.exception, AggregatorError)
        assert sentence in str(refused.exception)
    other.database.close()


def test_a_mirror_saves_its_checkpoint_over_no_other_file(
    served: Served, site: TestSite, tmp_path: Path
) -> None:
    key = tmp_path / "root.key"
    key.write_bytes(b"a private key")
    assert check_log(served.url, "--save", str(key)).exit_code != 0
    assert key.read_bytes() == b"a private key"


def test_a_mirror_goes_on_from_the_checkpoint_that_it_saved(
    served: Served, site: TestSite, tmp_path: Path
) -> None:
    saved = str(tmp_path / "seen")
    root = registry_of(served.home).roots[0].keyid
    first = check_log(served.url, "--save", saved, "--root-key", root)
    assert first.exit_code == 0, first.output
    for seed in range(4):
        report(served.home, site, seed)
    hidden = ready(served.home, "Hidden Hospital", "pooled")
    report(served.home, hidden, 9)
    second = check_log(served.url, "--since", saved, "--format", "json")
    assert second.exit_code == 0, second.output
    said = json.loads(second.output)
    assert (said["continues"], said["log_size"], said["hidden_entries"]) == (3, 11, 3)
    publish(served.home, tmp_path / "board")
    assert check_log(str(tmp_path / "board"), "--since", saved).exit_code == 0
    wrong = check_log(served.url, "--root-key", new_key().public.keyid)
    assert isinstance(wrong.exception, BoardMismatchError)


def test_a_mirror_that_reaches_nobody_says_so(tmp_path: Path) -> None:
    for source in ("http://127.0.0.1:9", "ftp://board.example", str(tmp_path / "nothing")):
        refused = check_log(source)
        assert isinstance(refused.exception, SettingsError)


def test_a_witness_whose_key_is_no_witnesss_signs_nothing(
    served: Served, site: TestSite, tmp_path: Path
) -> None:
    path, _ = draw_auditor(tmp_path, "nobody")
    refused = run_witness(served, path, tmp_path / "state")
    assert isinstance(refused.exception, SettingsError)
    assert "does not name this key" in str(refused.exception)
    unpinned = run_witness(served, path, tmp_path / "state", pinned=False)
    assert isinstance(unpinned.exception, SettingsError)
    assert not (tmp_path / "state").exists()


def test_a_witness_refuses_a_registry_that_goes_back(
    served: Served, site: TestSite, key: tuple[Path, Ed25519Signer], tmp_path: Path
) -> None:
    assert run_witness(served, key[0], tmp_path / "state").exit_code == 0
    registry = registry_of(served.home)
    newer = change_registry(served.home, expires_day=registry.expires_day + 1)
    (tmp_path / "state/registry.dsse.json").write_bytes(served.get("/v1/registry").content)
    assert newer.version == registry.version + 1
    older = new_home(tmp_path / "older")
    with pytest.raises(AggregatorError):
        raise (
            run_witness(replace(served, home=older), key[0], tmp_path / "other").exception
            or AssertionError
        )
    older.database.close()


@pytest.mark.full
@pytest.mark.parametrize(
    "wrong", ["stranger", "other root", "larger", "changed", "text", "unsigned"]
)
def test_only_witnesses_signatures_on_this_logs_checkpoints_are_kept(
    served: Served, site: TestSite, key: tuple[Path, Ed25519Signer], wrong: str
) -> None:
    _, signer = key
    note = served.get("/v1/log/checkpoint").text
    good = cosign(note, "witness.example", signer, 1_800_000_000)
    forged = {
        "stranger": note + cosign(note, "witness.example", new_key(), 1),
        "other root": (other := split(served.home, 3))
        + cosign(other, "witness.example", signer, 1),
        "larger": (more := split(served.home, 8)) + cosign(more, "witness.example", signer, 1),
        "changed": note + cosign(note + "x\n\n", "witness.example", signer, 1),
        "text": "hello",
        "unsigned": note,
    }[wrong]
    answer = served.post(forged.encode(), "/v1/log/cosignatures")
    assert 400 <= answer.status_code < 500, answer.text
    assert served.get("/v1/log/checkpoint").text == note
    assert served.post((note + good).encode(), "/v1/log/cosignatures").json() == {
        "witnesses": ["witness.example"]
    }
    assert served.get("/v1/log/checkpoint").text == note + good


def test_a_cosignature_is_of_the_form_that_c2sp_gives() -> None:
    """Made and checked here by hand, as c2sp.org/tlog-cosignature says."""
    witness, log = new_key(), new_key()
    note = sign_checkpoint(Checkpoint("board.example", 5, b"r" * 32), log)
    line = cosign(note, "witness.example/w1", witness, 1_679_315_147)
    import base64
    import hashlib

    data = base64.b64decode(line.removesuffix("\n").split(" ")[2])
    key_id = hashlib.sha256(b"witness.example/w1\n\x04" + witness.public.raw).digest()[:4]
    assert line.startswith("— witness.example/w1 ")
    assert (data[:4], int.from_bytes(data[4:12], "big"), len(data)) == (key_id, 1_679_315_147, 76)
    assert key_id == cosignature_key_id("witness.example/w1", witness.public)
    message = f"cosignature/v1\ntime 1679315147\n{note_body(note)}".encode()
    Ed25519PublicKey.from_public_bytes(witness.public.raw).verify(data[12:], message)
    known = {"witness.example/w1": witness.public}
    assert read_cosignatures(note + line, known) == {"witness.example/w1": 1_679_315_147}
    assert read_cosignatures(note, known) == {}
    later = bytearray(data)
    later[11] ^= 1
    forged = line.replace(line.split(" ")[2].strip(), base64.b64encode(later).decode())
    with pytest.raises(ProtocolError) as caught:
        read_cosignatures(note + forged, known)
    assert caught.value.code is Code.BAD_SIGNATURE
