"""A process that redacts rows for another: frames in, frames out. It ends with its input, however its parent ends.

A frame is a line of JSON, which gives the number of bytes of the rows that follow it. An error frame repeats a
`RedactionError`, which never quotes a text; any other error ends the process without output.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from agent.errors import RedactionError
from agent.redaction.files.rows import RecordRedactor, RowTask, redact_rows

_CACHED_DETECTIONS = 5_000  # some 2 MB; the rows of a file seldom repeat


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The engine that redacts.

    Attributes:
        policy: as `open_engine` takes it.
        directory: from which the name of a policy file is read.
        language: of the texts, in place of the policy's.
        models: in place of the policy's, to be measured, as a policy names them; None: the policy's, if admitted.
        key: 32 bytes in hexadecimal that decide surrogates and how far dates are moved; None: fresh ones.
    """

    policy: str
    directory: str | None = None
    language: str | None = None
    models: tuple[Any, ...] | None = None
    key: str | None = field(default=None, repr=False)

    def open(self) -> RecordRedactor:
        """Open the engine, which takes about a second.

        Raises:
            RedactionError: it cannot be opened.
        """
        for library in (
            "OPENBLAS",
            "OMP",
            "MKL",
        ):  # one thread each: several processes redact at once, on small matrices
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


def write_frame(stream: IO[bytes], head: Mapping[str, Any], rows: Sequence[bytes] = ()) -> None:
    """Write one frame."""
    body = b"\n".join(rows)
    stream.write(
        json.dumps({**head, "bytes": len(body), "rows": len(rows)}).encode() + b"\n" + body
    )
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], list[bytes]] | None:
    """Read one frame; None when the other side has ended."""
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
    """Return the most memory that this process has held, in MB; None where the system does not say."""
    with suppress(OSError), Path("/proc/self/status").open("rb") as status:
        for line in status:
            if line.startswith(b"VmHWM"):
                return int(line.split()[1]) / 1024
    return None


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Open the engine that the first frame names, then clear the rows of the others."""
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
            counts = {
                **asdict(tally),
                "withheld": dict(tally.withheld),
            }  # asdict cannot copy a Counter
            write_frame(replies, {"tally": counts, "cpu_s": cpu_s, "peak_mb": peak_mb()}, written)
    except RedactionError as error:
        write_frame(replies, {"error": [str(error), error.advice]})


def main() -> None:
    """Serve standard input; write frames only."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is for the parent, which then ends this process
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(
        os.open(os.devnull, os.O_WRONLY), 1
    )  # a library that prints must not write into a frame
    with suppress(BrokenPipeError, KeyboardInterrupt):
        try:
            serve(requests, replies)
        except Exception:  # noqa: BLE001 - a traceback could quote a text; the exit status is enough
            sys.exit(1)


if __name__ == "__main__":
    main()
