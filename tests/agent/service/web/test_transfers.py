"""Files that arrive in pieces: too large, too slow, cut off, malformed, and two at the same time."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from agent.errors import BusyError, ConfigError
from agent.service.web import transfers as transfers_module
from agent.service.web.forms import ReceivedForm
from agent.service.web.transfers import Fields, Transfers, UploadLimits

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
    transfers = Transfers(tmp_path / "transfers", UploadLimits(largest=10_000))
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
    transfers = Transfers(tmp_path / "transfers", UploadLimits(idle_s=0.1))
    body = encode_form(b"x" * 1000)
    with pytest.raises(ConfigError, match="stopped arriving"):
        asyncio.run(receive(transfers, [body[:500], body[500:]], pause_s=5))
    assert list_left(tmp_path) == []


async def drip(body: bytes, pause_s: float) -> AsyncIterator[bytes]:
    """Send a form a byte at a time."""
    for start in range(len(body)):
        await asyncio.sleep(pause_s)
        yield body[start : start + 1]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (UploadLimits(least_rate=10_000, rate_s=0.3), "too slowly: less than 10 kB a second"),
        (UploadLimits(total_s=0.5, rate_s=60), "did not arrive within"),
    ],
    ids=["rate", "total"],
)
def test_a_file_in_drips_does_not_keep_its_place(
    tmp_path: Path, limits: UploadLimits, message: str
):
    """A byte every fifty seconds kept everybody else's files out for as long as its sender liked."""
    transfers = Transfers(tmp_path / "transfers", limits)
    body = encode_form(b"x" * 1000)

    async def try_it() -> bytes:
        with pytest.raises(ConfigError, match=message):
            async with transfers.receive(drip(body, 0.01), KIND, accept):
                raise AssertionError("it was accepted")
        return await receive(transfers, [body])

    assert asyncio.run(asyncio.wait_for(try_it(), 5)) == b"x" * 1000


def test_fields_in_drips_keep_nobody_out(tmp_path: Path):
    transfers = Transfers(tmp_path / "transfers")
    body = encode_form(b"x" * 1000)

    async def try_it() -> bytes:
        slow = asyncio.create_task(anext(drip_form(transfers, body)))
        await asyncio.sleep(0.1)
        received = await receive(transfers, [body])
        slow.cancel()
        return received

    async def drip_form(transfers: Transfers, body: bytes) -> AsyncIterator[None]:
        async with transfers.receive(drip(body, 0.05), KIND, accept):
            yield

    assert asyncio.run(try_it()) == b"x" * 1000


def test_a_slow_disk_is_not_the_senders_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write = transfers_module._Upload.write

    def write_slowly(upload: transfers_module._Upload, chunk: bytes) -> None:
        time.sleep(0.05)
        write(upload, chunk)

    monkeypatch.setattr(transfers_module._Upload, "write", write_slowly)
    limits = UploadLimits(least_rate=50_000, rate_s=0.2)
    body = encode_form(b"x" * 10_000)
    parts = [body[start : start + 1000] for start in range(0, len(body), 1000)]
    assert asyncio.run(receive(Transfers(tmp_path / "transfers", limits), parts)) == b"x" * 10_000


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
    async def try_it() -> ReceivedForm:
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
