"""Files that arrive in pieces: too large, too slow, cut off, malformed, and two at the same time."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from agent.errors import BusyError, ConfigError
from agent.service.web.forms import Form
from agent.service.web.transfers import Fields, Transfers

BOUNDARY = "sixty-four-hyphens"
KIND = f"multipart/form-data; boundary={BOUNDARY}"


def encode_form(content: bytes, *, csrf: str = "secret", name: str = "notes.csv") -> bytes:
    """Return a form with a field and a file, as a browser sends it."""
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{csrf}\r\n'
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: text/csv\r\n\r\n"
    )
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


async def send(parts: Sequence[bytes], pause_s: float = 0) -> AsyncIterator[bytes]:
    for part in parts:
        if pause_s:
            await asyncio.sleep(pause_s)
        yield part


def accept(fields: Fields) -> None:
    del fields


async def receive(transfers: Transfers, parts: Sequence[bytes], pause_s: float = 0) -> bytes:
    """Return the file that arrives with a form."""
    async with transfers.receive(send(parts, pause_s), KIND, accept) as form:
        assert form.fields == {"csrf": ("secret",)}
        return form.uploads["file"].path.read_bytes()


def list_left(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_file_arrives_in_pieces_of_any_size_and_is_gone_afterwards(tmp_path: Path, size: int):
    content = bytes(range(256)) * 20 + f"\r\n--{BOUNDARY[:-1]}".encode()
    body = encode_form(content)
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    transfers = Transfers(tmp_path / "transfers")
    assert asyncio.run(receive(transfers, parts)) == content
    assert list_left(tmp_path) == []
    assert (tmp_path / "transfers").stat().st_mode & 0o077 == 0


def test_a_file_that_is_too_large_is_given_up_at_the_limit(tmp_path: Path):
    transfers = Transfers(tmp_path / "transfers", largest=10_000)
    sent: list[int] = []

    async def send_without_end() -> AsyncIterator[bytes]:
        yield encode_form(b"")[: -len(f"\r\n--{BOUNDARY}--\r\n")]
        while True:
            sent.append(1000)
            yield b"x" * 1000

    async def try_it() -> None:
        async with transfers.receive(send_without_end(), KIND, accept):
            raise AssertionError("it was accepted")

    with pytest.raises(ConfigError, match="larger than 10 kB"):
        asyncio.run(try_it())
    assert sum(sent) <= 12_000
    assert list_left(tmp_path) == []


def test_a_sender_who_stops_is_not_waited_for(tmp_path: Path):
    transfers = Transfers(tmp_path / "transfers", idle_s=0.1)
    body = encode_form(b"x" * 1000)
    with pytest.raises(ConfigError, match="stopped arriving"):
        asyncio.run(receive(transfers, [body[:500], body[500:]], pause_s=5))
    assert list_left(tmp_path) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        encode_form(b"x" * 1000)[:600],
        b"--" + BOUNDARY.encode() + b"\r\n" + b"A" * 5000 + b": x\r\n\r\n",
        encode_form(b"x", csrf="y" * 100_000),
        encode_form(b"x").replace(b'name="csrf"', b'name="csrf"; filename="a"'),
    ],
    ids=["empty", "nonsense", "cut off", "long header", "long field", "two files"],
)
def test_a_malformed_form_is_refused_and_leaves_nothing(tmp_path: Path, body: bytes):
    with pytest.raises(ConfigError):
        asyncio.run(receive(Transfers(tmp_path / "transfers"), [body]))
    assert list_left(tmp_path) == []


def test_the_fields_are_checked_before_the_file_is_stored(tmp_path: Path):
    class RefusedError(Exception):
        pass

    def refuse(fields: Fields) -> None:
        assert fields == {"csrf": ("secret",)}
        assert list_left(tmp_path) == []
        raise RefusedError

    async def try_it() -> None:
        transfers = Transfers(tmp_path / "transfers")
        async with transfers.receive(send([encode_form(b"x")]), KIND, refuse):
            raise AssertionError("it was accepted")

    with pytest.raises(RefusedError):
        asyncio.run(try_it())


def test_two_files_at_the_same_time_are_one_too_many(tmp_path: Path):
    async def try_it() -> Form:
        transfers = Transfers(tmp_path / "transfers")
        body = encode_form(b"x" * 10)
        async with transfers.receive(send([body]), KIND, accept):
            with pytest.raises(BusyError, match="another file"):
                await receive(transfers, [body])
        async with transfers.receive(send([body]), KIND, accept) as form:
            return form

    assert asyncio.run(try_it()).uploads["file"].sent_name == "notes.csv"


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    usage = type("Usage", (), {"total": 10**9, "free": 5 * 10**7 + 100})
    monkeypatch.setattr("agent.service.web.transfers.shutil.disk_usage", lambda _: usage)
    with pytest.raises(BusyError, match=re.escape("not enough space")):
        asyncio.run(receive(Transfers(tmp_path / "transfers"), [encode_form(b"x" * 200)]))
    assert list_left(tmp_path) == []


def test_what_a_killed_service_left_behind_is_deleted(tmp_path: Path):
    transfers = Transfers(tmp_path / "transfers")
    with transfers.open_folder() as folder:
        (folder / "upload").write_bytes(b"x")
        transfers.clear()
        assert list_left(tmp_path) == []
