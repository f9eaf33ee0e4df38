"""A site without any connection: invite, request, registry, submission and receipt are carried on a USB stick."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.end_to_end.conftest import ROOT
from tests.end_to_end.life import Life

URL = "https://unreachable.example"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Life:
    """A site that joined by files and has one approved submission. Its inference server is all it ever spoke to."""
    folder = tmp_path_factory.mktemp("usb")
    trapped = {"REFUSED_CONNECTIONS": str(folder / "connections"), "REFUSE_LOOPBACK": "1"}
    life = Life(folder, trapped)
    stick = folder / "stick"
    stick.mkdir()
    life.found(URL)
    life.environment = {"REFUSED_CONNECTIONS": str(folder / "connections")}
    life.evaluate()
    life.environment = trapped
    life.ask_to_enrol(stick / "request.json")
    life.aggregator("enroll", stick / "request.json", "--fingerprint-checked")
    newest = max(
        (life.central / "registry").glob("*.dsse.json"),
        key=lambda path: int(path.name.split(".")[0]),
    )
    shutil.copy(newest, stick / "registry.json")
    assert "this site is enrolled" in life.agent(
        "registry", "update", "--import", stick / "registry.json"
    )
    life.prepare()
    return life


@pytest.fixture
def life(prepared: Life, tmp_path: Path) -> Life:
    """The same site and aggregator, copied."""
    shutil.copytree(prepared.folder, tmp_path / "life")
    for name in ("out", "back"):
        (tmp_path / "life" / name).mkdir()
    return replace(prepared, folder=tmp_path / "life")


def connections(life: Life) -> str:
    """Return which processes tried to open a connection."""
    note = Path(life.environment["REFUSED_CONNECTIONS"])
    return note.read_text() if note.exists() else ""


def export(life: Life) -> Path:
    life.agent("submission", "send", "--export", life.folder / "out")
    (path,) = (life.folder / "out").iterdir()
    return path


def test_the_trap_is_not_blind(tmp_path: Path) -> None:
    """A process that connects to loopback is refused and noted."""
    life = Life(
        tmp_path, {"REFUSED_CONNECTIONS": str(tmp_path / "connections"), "REFUSE_LOOPBACK": "1"}
    )
    script = "import socket; socket.create_connection(('127.0.0.1', 9))"
    environment = {**os.environ, **life.environment}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env=environment,
        text=True,
    )
    assert "ConnectionRefusedError: the tests refuse all connections here" in done.stderr
    assert "socket.getaddrinfo" in connections(life)


def test_a_whole_life_by_files_opens_no_connection(life: Life) -> None:
    exported = export(life)
    assert life.states() == ["sent"]
    said = life.aggregator("accept", exported, "--receipts", life.folder / "back")
    digest = exported.name.removesuffix(".dsse.json")
    assert said == f"accepted {digest}\n"
    receipt = life.folder / "back" / f"{digest}.receipt"
    assert "receipted" in life.agent("submission", "send", "--import-receipt", receipt)
    assert life.states() == ["receipted"]
    assert life.log_size() == 2
    assert life.aggregator("verify", "--board", life.folder / "board").startswith("Identical")
    assert connections(life) == ""


@pytest.mark.full
def test_a_stick_that_is_carried_twice_changes_nothing(life: Life) -> None:
    exported, back = export(life), life.folder / "back"
    life.aggregator("accept", exported, exported, "--receipts", back)
    (receipt,) = back.iterdir()
    before = receipt.read_bytes()
    life.aggregator("accept", exported, "--receipts", back)
    assert [path.read_bytes() for path in back.iterdir()] == [before]
    life.agent("submission", "send", "--import-receipt", receipt)
    said = life.agent("submission", "send", "--import-receipt", receipt, code=7)
    assert "none of the submissions that are waiting" in said
    assert life.states() == ["receipted"]
    assert life.log_size() == 2
    assert connections(life) == ""


@pytest.mark.full
def test_a_damaged_stick_is_refused_on_both_sides_and_the_next_one_taken(life: Life) -> None:
    exported, back = export(life), life.folder / "back"
    whole = exported.read_bytes()
    for damaged in (b"", whole[:-100], whole.replace(b'"sig":"', b'"sig":"A', 1), b"\0" * 2000):
        exported.write_bytes(damaged)
        life.aggregator("accept", exported, "--receipts", back, code=1)
        assert list(back.iterdir()) == []
    exported.write_bytes(whole)
    life.aggregator("accept", exported, "--receipts", back)
    (receipt,) = back.iterdir()
    text = receipt.read_bytes()
    for damaged in (b"", text[:-30], text.replace(b"index", b"Index", 1), b"\xff" * 200):
        receipt.write_bytes(damaged)
        life.agent("submission", "send", "--import-receipt", receipt, code=7)
    assert life.states() == ["sent"]
    receipt.write_bytes(text)
    life.agent("submission", "send", "--import-receipt", receipt)
    assert life.states() == ["receipted"]
    assert connections(life) == ""


@pytest.mark.full
def test_one_refused_file_does_not_keep_out_the_others(life: Life) -> None:
    exported, back = export(life), life.folder / "back"
    broken = exported.with_name("broken.dsse.json")
    broken.write_bytes(exported.read_bytes().replace(b'"sig":"', b'"sig":"A', 1))
    life.aggregator("accept", broken, exported, "--receipts", back, code=1)
    assert b"refused broken.dsse.json: malformed" in life.outputs[-2]
    assert [path.suffix for path in back.iterdir()] == [".receipt"]


@pytest.mark.full
def test_a_refusal_is_carried_back_too_and_a_forged_one_is_not_believed(life: Life) -> None:
    exported, back = export(life), life.folder / "back"
    life.aggregator("register", "--retire-scorecard", "card")
    life.aggregator("accept", exported, "--receipts", back, code=1)
    (refusal,) = back.iterdir()
    assert refusal.name == exported.name.replace(".dsse.json", ".refusal")
    genuine = refusal.read_text()
    assert "retired_scorecard" in genuine
    for forged in (genuine.replace("retired_scorecard", "fork"), genuine[:-20], "", "fork"):
        refusal.write_text(forged)
        life.agent("submission", "send", "--import-refusal", refusal, code=7)
    assert life.states() == ["sent"]
    refusal.write_text(genuine)
    assert "retired_scorecard" in life.agent("submission", "send", "--import-refusal", refusal)
    assert life.states() == ["refused"]
    assert life.log_size() == 1
    assert connections(life) == ""


def test_answers_need_a_folder_that_is_there(life: Life) -> None:
    exported = export(life)
    said = life.aggregator("accept", exported, "--receipts", life.folder / "nowhere", code=2)
    assert "does not exist" in said
    assert life.log_size() == 1
