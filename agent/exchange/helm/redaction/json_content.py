"""Read HELM's JSON files up to a size limit, and check whether a file has the form in which redaction writes it."""

import json
import os
from pathlib import Path
from typing import Any, Final

from agent.errors import BenchmarkError

MAX_BYTES: Final = 2 << 30  # per file, which is read into memory at once
_ADVICE = "Nothing was changed. Regenerate the file with HELM, or move that run out of the folder."


def read_content(path: Path, described: str) -> Any:
    """Return the content of a file; NaN and infinities become null.

    Args:
        described: the file's description in messages, which must not contain names from the folder.

    Raises:
        BenchmarkError: the file cannot be read, is too large, or is not JSON in UTF-8. The message never quotes it.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BenchmarkError(f"{described}: cannot be read ({error.strerror})", _ADVICE) from None
    if len(content) > MAX_BYTES:
        raise BenchmarkError(f"{described}: expected at most {MAX_BYTES >> 20} MiB", _ADVICE)
    try:
        return json.loads(content.decode("utf-8"), parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        raise BenchmarkError(
            f"{described}: invalid JSON at line {error.lineno}, column {error.colno}", _ADVICE
        ) from None
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{described}: invalid UTF-8 at byte {error.start}", _ADVICE) from None
    except RecursionError:
        raise BenchmarkError(
            f"{described}: lists and maps are nested too deeply", _ADVICE
        ) from None
    except ValueError:
        raise BenchmarkError(f"{described}: a number has too many digits", _ADVICE) from None


def is_written_as(path: Path, content: Any) -> bool:
    """Return whether the file is byte for byte what `write_json` writes for `content`, so that no key is repeated."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    return path.read_bytes() == text.encode("utf-8", "surrogatepass")
