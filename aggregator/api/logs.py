"""The service's log on standard error: as lines of text, or as JSON for collectors. It never holds payloads."""

import json
import logging
from datetime import UTC, datetime
from types import TracebackType

ExceptionInfo = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)


class TextFormatter(logging.Formatter):
    """One line of text for each event."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line. Of an exception it names the kind alone: a message may quote what was sent."""
        line = f"{self.formatTime(record)} level={record.levelname} logger={record.name} {record.getMessage()}"
        return f"{line} exception={name_exception(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object on a line for each event: time (UTC), level, logger, message, exception."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
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
    """Return the exception's kind, or nothing."""
    return info[0].__name__ if info[0] is not None else ""


def start_logging(level: str, form: str = "text") -> None:
    """Write to standard error: identifiers, counts and codes, never what was sent.

    The level is that of our own loggers; other libraries', which may quote statements and addresses, stay at warnings.

    Args:
        level: `info` or `warning`.
        form: `text` or `json`.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    logging.getLogger("aggregator").setLevel(level.upper())
