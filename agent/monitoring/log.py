"""The log: one line an event, on standard error or in a file, as text or as JSON.

`log_event` is the only way into it. Whatever a library or anyone else gives to the logging module becomes the event
`library_warned`, without its words. Writing never fails: a log must not end the work that it describes.
"""

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agent.monitoring.events import Event

# The events are imported when the first is logged: it takes 20 ms, and most commands log none.

LEVELS: Final = ("warning", "info", "debug")
FORMATS: Final = ("text", "json")
_LOGGER: Final = "intramural"
_EVENT: Final = "intramural_event"
_FILE_MODE: Final = 0o640
_log = logging.getLogger(_LOGGER)
_context: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How and where to log.

    Attributes:
        level: the least important level that is logged.
        form: "text" or "json".
        file: the file to append to; None for standard error. It may be renamed at any time: the next line goes to a
            new file of this name.
        descriptor: an open file descriptor in place of both, for a process whose standard error is kept elsewhere.
    """

    level: str = "warning"
    form: str = "text"
    file: Path | None = None
    descriptor: int | None = None


class _Handler(logging.Handler):
    """Writes each record as one line."""

    def __init__(self, options: LogOptions) -> None:
        super().__init__()
        self.options = options
        self._descriptor: int | None = None
        self._is_told = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; never raise."""
        if not hasattr(record, _EVENT) and record.levelno < logging.WARNING:
            return
        with suppress(Exception):
            self._write(write_line(record, self.options.form))

    def reset(self, options: LogOptions) -> None:
        """Log in another way from now on."""
        self.acquire()
        try:
            self._close_file()
            self._is_told = False
            self.options = options
        finally:
            self.release()

    def _write(self, line: str) -> None:
        if self.options.descriptor is not None:
            os.write(self.options.descriptor, line.encode())
        elif self.options.file is None or not self._write_to_file(self.options.file, line):
            sys.stderr.write(line)
            sys.stderr.flush()

    def _write_to_file(self, path: Path, line: str) -> bool:
        """Append a line to the file; return False if that is impossible now."""
        try:
            self._open_again_if_renamed(path)
            assert self._descriptor is not None
            os.write(self._descriptor, line.encode())
        except OSError as error:
            self._close_file()
            self._tell_once(error)
            return False
        self._is_told = False
        return True

    def _open_again_if_renamed(self, path: Path) -> None:
        if self._descriptor is not None:
            opened = os.fstat(self._descriptor)
            with suppress(FileNotFoundError):
                there = path.stat()
                if (there.st_dev, there.st_ino) == (opened.st_dev, opened.st_ino):
                    return
            self._close_file()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, _FILE_MODE)

    def _close_file(self) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None

    def _tell_once(self, error: OSError) -> None:
        """Say on standard error, once, that the file cannot be written."""
        if self._is_told:
            return
        from agent.monitoring.events import LogFileUnusable

        self._is_told = True
        record = _make_record(LogFileUnusable(type(error).__name__))
        sys.stderr.write(write_line(record, self.options.form))


_handler = _Handler(LogOptions())


def start_log(options: LogOptions) -> None:
    """Log in this way from now on. Libraries are heard from level warning on."""
    _handler.reset(options)
    root = logging.getLogger()
    if _handler not in root.handlers:
        root.addHandler(_handler)
    _log.setLevel(options.level.upper())


def find_options() -> LogOptions:
    """Return how this process logs now."""
    return _handler.options


def list_child_options(descriptor: int) -> list[str]:
    """Return the options of the command line with which a child process logs as this one does.

    Args:
        descriptor: a descriptor that the child inherits, for a log that goes to standard error.
    """
    options = find_options()
    if options.descriptor is not None:
        descriptor = options.descriptor
    listed = ["--log-level", options.level, "--log-format", options.form]
    return listed if options.file else [*listed, "--log-descriptor", str(descriptor)]


def name_account(account: str | None) -> None:
    """Add the id of the account that this command works for to every line from now on; None for no account."""
    _context.pop("account", None)
    if account is not None:
        _context["account"] = account


@contextmanager
def name_job(job: str) -> Iterator[None]:
    """Return a context in which every line of this process has the id of a job."""
    _context["job"] = job
    try:
        yield
    finally:
        del _context["job"]


def is_logged(level: int) -> bool:
    """Return whether events of this level are written, for callers that need not make them otherwise."""
    return _log.isEnabledFor(level)


def log_event(event: "Event") -> None:
    """Write an event to the log, if its level is logged."""
    if _log.isEnabledFor(event.level):
        _log.handle(_make_record(event))


def _make_record(event: "Event") -> logging.LogRecord:
    record = logging.LogRecord(_LOGGER, event.level, "", 0, type(event).__name__, (), None)
    setattr(record, _EVENT, event)
    return record


def write_line(record: logging.LogRecord, form: str) -> str:
    """Return the line of a record, with its line feed."""
    line = _describe(record)
    if form == "json":
        return json.dumps(line, ensure_ascii=True) + "\n"
    words = [str(line.pop("time")), str(line.pop("level")), str(line.pop("event"))]
    words += [f"{name}={_write_value(value)}" for name, value in line.items()]
    return " ".join(words) + "\n"


def _describe(record: logging.LogRecord) -> dict[str, object]:
    from agent.monitoring.events import EVENTS, Event, name_event, write_context, write_fields

    event = getattr(record, _EVENT, None)
    if not isinstance(event, Event) or type(event) not in EVENTS:
        event = _describe_foreign(record)
    time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    line: dict[str, object] = {
        "time": time.replace("+00:00", "Z"),
        "level": logging.getLevelName(event.level).lower(),
        "event": name_event(type(event)),
        "process": os.getpid(),
    }
    return line | write_context(_context) | write_fields(event)


def _describe_foreign(record: logging.LogRecord) -> "Event":
    """Return the event that stands for a record of somebody else."""
    from agent.monitoring.events import LibraryWarned, name_library

    error = record.exc_info[0] if record.exc_info else None
    return LibraryWarned(name_library(str(record.name)), error.__name__ if error else None)


def _write_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return f'"{text}"' if " " in text else text
