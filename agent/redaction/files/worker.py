"""A process that redacts rows for its parent, exchanging frames. It ends when its input ends, even if the parent dies.

A frame is a line of JSON that gives the number of bytes of the rows after it. An error frame carries a
`RedactionError`, which never quotes a text. Any other error ends the process without output.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from agent.errors import RedactionError
from agent.redaction.files.rows import RecordRedactor, RowTask, redact_rows

_CACHED_DETECTIONS = 5_000  # about 2 MB; the rows of a file rarely repeat


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The engine to open for redaction.

    Attributes:
        policy: see `open_engine`.
        directory: the directory to which the name of a policy file is relative.
        language: the language of the texts, instead of the policy's languages.
        models: models to measure instead of the policy's, written as in a policy; None for those of the policy, which
            must be admitted.
        key: 32 bytes in hexadecimal that determine surrogates and how far dates are moved; None to generate them.
    """

    policy: str
    directory: str | None = None
    language: str | None = None
    models: tuple[Any, ...] | None = None
    key: str | None = field(default=None, repr=False)

    def open(self) -> RecordRedactor:
        """Open the engine, which takes about a second.

        Raises:
            RedactionError: the engine cannot be opened.
        """
        # One thread per process: several processes redact at once, and their matrices are small.
        for library in ("OPENBLAS", "OMP", "MKL"):
            os.environ.setdefault(f"{library}_NUM_THREADS", "1")
        from agent.redaction.engine import build_engine, open_engine
        from agent.redaction.policy.policy import load_policy, replace_models

        directory = Path(self.directory) if self.directory is not None else None
        key = bytes.fromhex(self.key) if self.key is not None else None
        if self.models is None:
            engine = open_engine(self.policy, directory, language=self.language, key=key)
        else:
            engine = build_engine(
                replace_models(load_policy(self.policy, directory, self.language), self.models), key
            )
        engine.limit_cache(_CACHED_DETECTIONS)
        return engine

    def compute_digest(self) -> str:
        """Return a digest of all that decides how texts are redacted, except the key: rules, models, libraries, policy.

        Raises:
            RedactionError: the policy cannot be read.
        """
        from agent.redaction.policy.policy import load_policy
        from agent.redaction.rules_digest import rules_digest

        directory = Path(self.directory) if self.directory is not None else None
        return rules_digest(load_policy(self.policy, directory, self.language)).hex()


def write_frame(stream: IO[bytes], head: Mapping[str, Any], rows: Sequence[bytes] = ()) -> None:
    """Write one frame."""
    body = b"\n".join(rows)
    stream.write(
        json.dumps({**head, "bytes": len(body), "rows": len(rows)}).encode() + b"\n" + body
    )
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], list[bytes]] | None:
    """Read one frame; return None if the other side has closed its end."""
    try:
        line = stream.readline()
        head = json.loads(line)
        body = stream.read(head["bytes"])
    except (OSError, ValueError):
        return None
    if not line.endswith(b"\n") or len(body) != head["bytes"]:
        return None
    return head, body.split(b"\n") if head["rows"] else []


def peak_mb() -> float | None:
    """Return the peak memory of this process in MB, or None if the system does not report it."""
    with suppress(OSError), Path("/proc/self/status").open("rb") as status:
        for line in status:
            if line.startswith(b"VmHWM"):
                return int(line.split()[1]) / 1024
    return None


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Open the engine that the first frame specifies, then redact the rows of the later frames."""
    opening = read_frame(requests)
    if opening is None:
        return
    head, _ = opening
    try:
        engine = EngineChoice(**head["engine"]).open()
        task = RowTask(**{**head["task"], "fields": tuple(head["task"]["fields"])})
        write_frame(replies, {"cpu_s": time.process_time()})
        while (request := read_frame(requests)) is not None:
            head, lines = request
            started = time.process_time()
            written, tally = redact_rows(lines, head["first"], task, engine)
            cpu_s = time.process_time() - started
            counts = {"tally": tally.dump(), "cpu_s": cpu_s, "peak_mb": peak_mb()}
            write_frame(replies, counts, written)
    except RedactionError as error:
        write_frame(replies, {"error": [str(error), error.advice]})


def main() -> None:
    """Serve requests from standard input; write only frames to standard output."""
    # Only the parent handles Ctrl-C, and then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # A library that prints must not write into a frame.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with suppress(BrokenPipeError, KeyboardInterrupt):
        try:
            serve(requests, replies)
        except Exception:  # noqa: BLE001 - a traceback could quote a text; the exit status is enough
            sys.exit(1)


if __name__ == "__main__":
    main()
