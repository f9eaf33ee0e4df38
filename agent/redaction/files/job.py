"""A redaction job in a folder of its own: the plan of its pieces, and the parts that are finished.

    WORK/job.json            what is done to the files, and with which rules
    WORK/SHARD/plan          the pieces of one file, and which file it was when it was divided
    WORK/SHARD/1-1024        the redacted rows of the piece of rows 1 to 1024, with its counts in 1-1024.json beside it
    WORK/SHARD/joined        the counts of a file whose output is complete

A stopped job continues: whoever runs it again finds the parts. The folder can be read by its owner alone. It contains
redacted texts, positions and the key of surrogates, no original text, and is removed at the end.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final, Self

from agent.errors import RedactionError
from agent.io.atomic_files import open_atomically, write_atomically
from agent.redaction.files.division import RowPiece, explain_changed_file
from agent.redaction.files.formats import (
    FileFormat,
    FormatName,
    load_task,
    open_format,
)
from agent.redaction.files.rows import RowTally, RowTask
from agent.redaction.files.worker import EngineChoice

_JOB: Final = "job.json"
_PLAN: Final = "plan"
_JOINED: Final = "joined"
_FORM: Final = 1  # of the files in the folder
_PART_NAME: Final = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
_LOOK_S: Final = 0.5  # between looks for parts that are missing


@dataclass(frozen=True, slots=True)
class JobDescription:
    """What is done to the rows of which files.

    Attributes:
        format: of the files, both those read and those written.
        source: absolute path of a file, or of a folder of files.
        engine: the engine, with a key.
        task: how each row is redacted.
        digest: of the rules; every node must have the same.
    """

    format: FormatName
    source: str
    engine: EngineChoice
    task: RowTask
    digest: str

    def dump(self) -> dict[str, Any]:
        """Return the description as JSON can represent it."""
        return {**asdict(self), "form": _FORM}

    @classmethod
    def load(cls, folder: Path) -> Self | None:
        """Return the description in a job's folder; None if there is none that this version can read."""
        try:
            fields = json.loads((folder / _JOB).read_bytes())
            if fields.pop("form") != _FORM:
                return None
            engine = EngineChoice(**fields.pop("engine"))
            task = load_task(fields.pop("task"))
            return cls(**fields, engine=engine, task=task)
        except (OSError, ValueError, TypeError, KeyError):
            return None


@dataclass(frozen=True, slots=True)
class PieceReport:
    """The counts of one finished piece. It contains no text.

    Attributes:
        rows: number of rows.
        tally: counts, as `RowTally.dump` writes them.
        cpu_s: processor seconds that the redaction took.
    """

    rows: int
    tally: dict[str, Any]
    cpu_s: float


class RedactionJob:
    """The files of one job and their pieces. The folder must be locked by the caller."""

    def __init__(self, folder: Path, description: JobDescription) -> None:
        """Continue the job of the folder if it is the same, else begin anew.

        Raises:
            RedactionError: the source is a folder without files of the format, or cannot be read.
            StoreError: the folder cannot be written.
        """
        self.folder = folder
        earlier = JobDescription.load(folder)
        self.discards_earlier = earlier is not None and not _is_same_job(earlier, description)
        if earlier is not None and not self.discards_earlier:
            self.description = earlier
        else:
            clear_folder(folder)
            key = description.engine.key or secrets.token_hex(32)
            self.description = replace(description, engine=replace(description.engine, key=key))
            content = json.dumps(self.description.dump()).encode()
            write_atomically(folder / _JOB, content)

    @cached_property
    def format(self) -> FileFormat:
        """The format of the files."""
        return open_format(self.description.format, self.description.task)

    @cached_property
    def shards(self) -> list[Path]:
        """The files, in the order of their names.

        Raises:
            RedactionError: there is none.
        """
        source = Path(self.description.source)
        if not source.is_dir():
            return [source]
        ending = self.format.ending
        shards = sorted(
            path
            for path in source.iterdir()
            if path.name.endswith(ending) and not path.name.startswith(".") and path.is_file()
        )
        if not shards:
            raise RedactionError(
                f"the folder {source.name} contains no file whose name ends in {ending}",
                "Name a folder of such files, or a single file.",
            )
        return shards

    def plan(self) -> int:
        """Divide every file that is not divided yet, and return the number of rows in all files.

        Raises:
            OSError: a file cannot be read.
        """
        return sum(self._plan_shard(shard) for shard in range(len(self.shards)))

    def list_pieces(self) -> Iterator[RowPiece]:
        """Yield the pieces of all files whose output is not complete, in order."""
        for shard in range(len(self.shards)):
            if not self.is_joined(shard):
                yield from self.list_pieces_of(shard)

    def list_pieces_of(self, shard: int) -> Iterator[RowPiece]:
        """Yield the planned pieces of one file."""
        with (self._shard_folder(shard) / _PLAN).open("rb") as plan:
            next(plan)
            for line in plan:
                yield RowPiece(shard, *json.loads(line))

    def halve(self, piece: RowPiece) -> list[RowPiece]:
        """Return the two halves of a piece of several rows."""
        return self.format.halve(self.shards[piece.shard], piece)

    def is_finished(self, piece: RowPiece) -> bool:
        """Return whether the part of a piece is complete."""
        return read_report(locate_part(self.folder, self.shards[piece.shard], piece)) is not None

    def is_joined(self, shard: int) -> bool:
        """Return whether the output of a file is complete."""
        return (self._shard_folder(shard) / _JOINED).exists()

    def read_joined(self, shard: int) -> RowTally:
        """Return the counts of a file whose output is complete."""
        return RowTally.load(json.loads((self._shard_folder(shard) / _JOINED).read_bytes()))

    def count_parts(self, shard: int) -> RowTally:
        """Return the counts of the finished parts of a file."""
        tally = RowTally()
        for part in _choose_parts(_list_finished(self._shard_folder(shard))):
            tally.add(RowTally.load(part.report.tally))
        return tally

    def join(self, shard: int, out: Path, patience_s: float = 0.0) -> None:
        """Write the output of a file from its parts, in order.

        Args:
            shard: number of the file.
            out: the file to write.
            patience_s: how long to wait for parts of other machines, which a shared path may show late.

        Raises:
            RedactionError: the file was changed since it was divided, or a part is missing.
            StoreError: the output cannot be written.
        """
        path, folder = self.shards[shard], self._shard_folder(shard)
        identity, rows = _read_plan_head(folder / _PLAN)
        if identity != _identify(path):
            raise explain_changed_file(path)
        tally = RowTally()
        parts = _await_parts(folder, rows, patience_s)
        for part in parts:
            later = RowTally.load(part.report.tally)
            tally.add(later)
            tally.dead_letters += later.dead_letters
        if tally.rows != rows:
            raise _explain_lost_part(path, tally.rows + 1)
        with open_atomically(out) as file:
            self.format.join(path, [part.path for part in parts], file)
        write_atomically(folder / _JOINED, json.dumps(tally.dump()).encode())
        for part in _list_finished(folder):
            part.path.unlink()
            _name_report(part.path).unlink()

    def sum_counts(self) -> tuple[RowTally, list[tuple[str, int, list[str]]]]:
        """Return the counts of all files, and file, number and reasons of each row with a withheld field."""
        total = RowTally()
        dead_letters = []
        for shard, path in enumerate(self.shards):
            tally = self.read_joined(shard)
            total.add(tally)
            for number, reasons in tally.dead_letters:
                dead_letters.append((path.name, number, reasons))
        return total, dead_letters

    def remove(self) -> None:
        """Remove all that the job kept."""
        clear_folder(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _shard_folder(self, shard: int) -> Path:
        return locate_shard(self.folder, self.shards[shard])

    def _plan_shard(self, shard: int) -> int:
        """Divide one file if that was not done, or the file was changed since; return the number of its rows."""
        path, folder = self.shards[shard], self._shard_folder(shard)
        identity = _identify(path)
        with suppress(OSError, ValueError):
            planned, rows = _read_plan_head(folder / _PLAN)
            if planned == identity:
                return rows
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        rows = 0
        pieces = folder / "pieces"
        with pieces.open("wb") as listed:
            for piece in self.format.divide(path, shard):
                rows += piece.rows
                listed.write(json.dumps(astuple(piece)[1:]).encode() + b"\n")
        with open_atomically(folder / _PLAN) as plan, pieces.open("rb") as listed:
            plan.write(json.dumps({"file": identity, "rows": rows}).encode() + b"\n")
            shutil.copyfileobj(listed, plan)
        pieces.unlink()
        return rows


def locate_shard(folder: Path, path: Path) -> Path:
    """Return the folder of one file within that of its job; it is named by a digest, since names may be long."""
    return folder / hashlib.sha256(path.name.encode(errors="surrogateescape")).hexdigest()[:32]


def locate_part(folder: Path, path: Path, piece: RowPiece) -> Path:
    """Return the path of the part of a piece. No two pieces share one: a node thought lost may still write its part."""
    return locate_shard(folder, path) / f"{piece.first}-{piece.first + piece.rows - 1}"


def save_part(part: Path, write: Callable[[IO[bytes]], object], report: PieceReport) -> None:
    """Write a part and then its report, which says that it is finished.

    Raises:
        OSError: it cannot be written.
    """
    _write_whole(part, write)
    _write_whole(_name_report(part), lambda file: file.write(json.dumps(asdict(report)).encode()))


def _write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file that nobody sees before it is whole.

    It does not tidy up as `open_atomically` does: on a shared path, the locks that this relies on may not reach from
    one machine to the next.
    """
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        write(file)
        file.flush()
        os.fsync(handle)
    temporary.replace(path)


def read_report(part: Path) -> PieceReport | None:
    """Return the report of a part; None if it is not finished."""
    try:
        return PieceReport(**json.loads(_name_report(part).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def clear_folder(folder: Path) -> None:
    """Remove all that an earlier job kept, except the lock."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != ".lock":
            path.unlink()


def _name_report(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of a finished piece: its first and last row, its counts, and where it is."""

    first: int
    last: int
    report: PieceReport
    path: Path


def _list_finished(folder: Path) -> list[_Part]:
    """Return all finished parts of a file."""
    parts = []
    for path in folder.iterdir():
        if (rows := _PART_NAME.fullmatch(path.name)) and (report := read_report(path)) is not None:
            parts.append(_Part(int(rows[1]), int(rows[2]), report, path))
    return parts


def _choose_parts(parts: list[_Part]) -> list[_Part]:
    """Return parts that hold every row once, in order, up to the first row that no part begins with.

    A piece that was divided may have been finished as a whole later: then its halves are left out.
    """
    chosen: list[_Part] = []
    last = 0
    for part in sorted(parts, key=lambda part: (part.first, -part.last)):
        if part.first == last + 1:
            chosen.append(part)
            last = part.last
        elif part.first > last:
            break
    return chosen


def _await_parts(folder: Path, rows: int, patience_s: float) -> list[_Part]:
    deadline = time.monotonic() + patience_s
    while True:
        chosen = _choose_parts(_list_finished(folder))
        complete = (chosen[-1].last if chosen else 0) == rows
        if complete or time.monotonic() >= deadline:
            return chosen
        time.sleep(_LOOK_S)


def _is_same_job(earlier: JobDescription, description: JobDescription) -> bool:
    """Return whether two descriptions lead to the same output. The key matters only if it is a site's."""
    key = description.engine.key or earlier.engine.key
    return earlier == replace(description, engine=replace(description.engine, key=key))


def _identify(path: Path) -> list[Any]:
    status = path.stat()
    return [path.name, status.st_size, status.st_mtime_ns]


def _read_plan_head(plan: Path) -> tuple[list[Any], int]:
    with plan.open("rb") as lines:
        head: Mapping[str, Any] = json.loads(lines.readline())
    return head["file"], head["rows"]


def _explain_lost_part(path: Path, row: int) -> RedactionError:
    return RedactionError(
        f"{path.name}: the redacted rows from row {row} on are missing",
        "Another program removed files from the folder of parts. Run the command again.",
    )


def format_dead_letters(dead_letters: Sequence[tuple[str, int, list[str]]]) -> bytes:
    """Return one line of JSON for each row with a withheld field: file, row and reasons, and no text."""
    lines = []
    for name, number, reasons in dead_letters:
        lines.append(json.dumps({"file": name, "row": number, "reasons": reasons}) + "\n")
    return "".join(lines).encode()
