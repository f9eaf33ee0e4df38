"""The service's log on standard error, as text or JSON lines. It never contains payloads."""

import json
import logging
from datetime import UTC, datetime
from types import TracebackType

ExceptionInfo = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)


class TextFormatter(logging.Formatter):
    """A formatter that writes one line of text per event."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line. Only the type of an exception is named, since its message may quote request data."""
        line = f"{self.formatTime(record)} level={record.levelname} logger={record.name} {record.getMessage()}"
        return f"{line} exception={name_exception(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """A formatter that writes one JSON object per event: time (UTC), level, logger, message, exception."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without a line feed."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": time,
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = name_exception(record.exc_info)
        return json.dumps(line, ensure_ascii=True)


def name_exception(info: ExceptionInfo) -> str:
    """Return the exception's type; empty if there is none."""
    return info[0].__name__ if info[0] is not None else ""


def start_logging(level: str, form: str = "text") -> None:
    """Start logging to standard error. Logs contain identifiers, counts and codes, never request data.

    The level applies to our own loggers. Loggers of libraries, which may quote statements and
    addresses, stay at warning level.

    Args:
        level: Either `info` or `warning`.
        form: Either `text` or `json`.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    logging.getLogger("aggregator").setLevel(level.upper())
