"""Files on their way between browsers and the site: in a folder that only the site's account can read, then gone."""

import asyncio
import os
import shutil
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from agent.errors import BusyError, ConfigError
from agent.io.wording import format_size
from agent.service.web.call import Upload, collect_fields
from agent.service.web.forms import ReceivedForm

LARGEST_UPLOAD: Final = 4 * 10**9  # bytes
_LARGEST_FIELD: Final = (
    64 * 1024
)  # bytes of all fields beside the file, and of the headers of a part
_FREE_BYTES: Final = 2**30  # disk space that is left free for other programs
_NOTHING_ADDED: Final = "Nothing was added. Ask whoever runs this machine to make room."

_NEARER: Final = (
    "Send it from a computer with a faster connection, or add it on the site's own machine: "
    "`intramural datasets add`."
)

Fields = Mapping[str, tuple[str, ...]]
CheckFields = Callable[[Fields], None]


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """How large an upload may be, and how slow. Since one goes on at a time, a slow one keeps others out.

    Attributes:
        largest: the most bytes.
        idle_s: the seconds without a byte after which it is given up.
        total_s: the seconds that it may last in all.
        least_rate: the fewest bytes a second, on average over a stretch of `rate_s` seconds of waiting for its sender.
        rate_s: length of the stretch.
    """

    largest: int = LARGEST_UPLOAD
    idle_s: float = 60.0
    total_s: float = 2 * 3600.0
    least_rate: float = 32_000.0
    rate_s: float = 60.0


class _Pace:
    """How fast a file arrives. Time that this machine takes to store it is not counted against its sender.

    Args:
        limits: the limits of the upload.
        clock: the time, in seconds.
    """

    def __init__(self, limits: UploadLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._ends_at = clock() + limits.total_s
        self._clock = clock
        self._waited_s = 0.0
        self._arrived = 0

    def note(self, size: int, waited_s: float) -> None:
        """Count what arrived after a wait. Raises ConfigError if the file is too slow."""
        limits = self._limits
        if self._clock() > self._ends_at:
            minutes = limits.total_s / 60
            raise ConfigError(f"the file did not arrive within {minutes:.0f} minutes", _NEARER)
        self._waited_s += waited_s
        self._arrived += size
        if self._waited_s < limits.rate_s:
            return
        if self._arrived < limits.least_rate * self._waited_s:
            rate = format_size(round(limits.least_rate))
            raise ConfigError(f"the file arrived too slowly: less than {rate} a second", _NEARER)
        self._waited_s, self._arrived = 0.0, 0


class Transfers:
    """The folder for files in transit. One upload goes on at a time.

    Args:
        folder: the folder, which is made when it is first needed.
        limits: how large an upload may be, and how slow.
    """

    def __init__(self, folder: Path, limits: UploadLimits | None = None) -> None:
        self._folder = folder
        self._limits = limits or UploadLimits()
        self._uploading = threading.Lock()

    def clear(self) -> None:
        """Delete what a service that was killed left behind."""
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def open_folder(self) -> Iterator[Path]:
        """Yield a new empty folder, and delete it with all its files at the end."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = Path(tempfile.mkdtemp(dir=self._folder))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    @asynccontextmanager
    async def receive(
        self, chunks: AsyncIterator[bytes], content_type: str, check: CheckFields
    ) -> AsyncIterator[ReceivedForm]:
        """Receive a form with a file, and yield it; the file is deleted at the end of the `with` block.

        Args:
            chunks: the body of the request, as it arrives.
            content_type: the request's content type, with the boundary of its parts.
            check: is called with the fields before the file is written; raises what speaks against it.

        Raises:
            ConfigError: the form is not well-formed, the file is too large or too slow, or it stopped arriving.
            BusyError: another file is being uploaded, or the disk is too full.
        """
        with self.open_folder() as folder, ExitStack() as place:

            def begin_file(fields: Fields) -> None:
                check(fields)
                self._take_place(place)

            boundary = _read_boundary(content_type)
            upload = _Upload(folder, boundary, self._limits.largest, begin_file)
            try:
                await self._feed(upload, chunks)
            finally:
                upload.close()
            yield upload.finish()

    def _take_place(self, place: ExitStack) -> None:
        """Take the one place for a file until `place` is closed. Raises BusyError."""
        if not self._uploading.acquire(blocking=False):
            raise BusyError(
                "another file is being uploaded", "Send this one when the other has arrived."
            )
        place.callback(self._uploading.release)

    async def _feed(self, upload: "_Upload", chunks: AsyncIterator[bytes]) -> None:
        pace = _Pace(self._limits)
        try:
            while True:
                began_at = time.monotonic()
                async with asyncio.timeout(self._limits.idle_s):
                    chunk = await anext(chunks)
                pace.note(len(chunk), time.monotonic() - began_at)
                await run_in_threadpool(upload.write, chunk)
        except StopAsyncIteration:
            return
        except (TimeoutError, ClientDisconnect):
            raise ConfigError("the file stopped arriving", "Send it again.") from None


@dataclass(slots=True)
class _Part:
    """The part of a form that is being read."""

    name: str = ""
    is_file: bool = False
    headers: dict[str, bytes] = field(default_factory=dict)
    header: bytes = b""
    value: bytes = b""
    content: bytearray = field(default_factory=bytearray)


class _Upload:
    """Reads a form while it arrives: its fields into memory, its file to the disk."""

    def __init__(self, folder: Path, boundary: bytes, largest: int, check: CheckFields) -> None:
        self._folder = folder
        self._largest = largest
        self._check = check
        self._pairs: list[tuple[str, str]] = []
        self._part = _Part()
        self._small = 0  # bytes of fields and headers
        self._size = 0
        self._room = 0
        self._file: IO[bytes] | None = None
        self._file_field = ""
        self._file_name = ""
        self._has_ended = False
        callbacks = {
            "on_part_begin": self._begin_part,
            "on_header_field": self._add_header,
            "on_header_value": self._add_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._end_headers,
            "on_part_data": self._add_data,
            "on_part_end": self._end_part,
            "on_end": self._end,
        }
        self._parser = MultipartParser(boundary, callbacks)  # type: ignore[arg-type]

    @property
    def _path(self) -> Path:
        return self._folder / "upload"

    def write(self, chunk: bytes) -> None:
        """Read the next bytes. Raises ConfigError, BusyError, or what `check` raises."""
        try:
            self._parser.write(chunk)
        except (MultipartParseError, UnicodeDecodeError):
            raise ConfigError("the form cannot be read", "Send the form of the page.") from None
        except OSError as error:
            raise BusyError(
                f"the file cannot be stored ({error.strerror})", _NOTHING_ADDED
            ) from None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def finish(self) -> ReceivedForm:
        """Return the form. Raises ConfigError if it is not complete."""
        if not self._has_ended:
            raise ConfigError("the file arrived only in part", "Send it again.")
        fields = collect_fields(self._pairs)
        if not self._file_field or not self._file_name:
            self._check(fields)
            return ReceivedForm(fields)
        return ReceivedForm(fields, uploads={self._file_field: Upload(self._path, self._file_name)})

    def _begin_part(self) -> None:
        self._part = _Part()

    def _add_header(self, data: bytes, start: int, end: int) -> None:
        self._count_small(end - start)
        self._part.header += data[start:end]

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._count_small(end - start)
        self._part.value += data[start:end]

    def _end_header(self) -> None:
        part = self._part
        part.headers[part.header.decode("latin-1").lower()] = part.value
        part.header = part.value = b""

    def _end_headers(self) -> None:
        part = self._part
        _, options = parse_options_header(part.headers.get("content-disposition", b""))
        part.name = options.get(b"name", b"").decode("utf-8")
        part.is_file = b"filename" in options
        if part.is_file:
            self._begin_file(options[b"filename"].decode("utf-8", "replace"))

    def _begin_file(self, name: str) -> None:
        if self._file is not None:
            raise ConfigError("the form has more than one file", "Send one file at a time.")
        self._check(collect_fields(self._pairs))
        self._file_field, self._file_name = self._part.name, name
        usage = shutil.disk_usage(self._folder)
        self._room = usage.free - min(_FREE_BYTES, usage.total // 20)
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._file = os.fdopen(handle, "wb")

    def _add_data(self, data: bytes, start: int, end: int) -> None:
        if not self._part.is_file:
            self._count_small(end - start)
            self._part.content += data[start:end]
            return
        assert self._file is not None
        self._size += end - start
        if self._size > self._largest:
            raise ConfigError(
                f"the file is larger than {format_size(self._largest)}",
                "Add it on the site's own machine: `intramural datasets add`.",
            )
        if self._size > self._room:
            raise BusyError("there is not enough space on the disk", _NOTHING_ADDED)
        self._file.write(data[start:end])

    def _end_part(self) -> None:
        if not self._part.is_file:
            self._pairs.append((self._part.name, self._part.content.decode("utf-8")))

    def _end(self) -> None:
        self._has_ended = True

    def _count_small(self, size: int) -> None:
        self._small += size
        if self._small > _LARGEST_FIELD:
            raise ConfigError("the form cannot be read", "Send the form of the page.")


def _read_boundary(content_type: str) -> bytes:
    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if not boundary:
        raise ConfigError("the form cannot be read", "Send the form of the page.")
    return boundary
