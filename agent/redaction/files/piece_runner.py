"""Redacts pieces of a job, one after the other: in a thread of the command, or in an actor of a cluster.

Whoever gives a piece passes its position, and gets counts; texts go from file to file. The engine is a process of its
own, whose errors are read by nobody: it ends without a word about a text (`agent.redaction.files.worker`).
"""

import resource
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent.errors import AgentError, RedactionError
from agent.redaction.files.division import RowPiece
from agent.redaction.files.formats import open_format
from agent.redaction.files.job import JobDescription, PieceReport, locate_part, save_part
from agent.redaction.files.rows import RowTally, write_withheld_row
from agent.redaction.files.streaming import WorkerPool, redact_stream
from agent.redaction.redacted import Withheld


class PieceRunner:
    """Holds an engine, and redacts one piece at a time."""

    def __init__(self, folder: str) -> None:
        """Take over a job.

        Args:
            folder: absolute path of the job's folder.
        """
        self._folder = Path(folder)
        self._description: JobDescription | None = None
        self._pool: WorkerPool | None = None

    def open(self) -> dict[str, Any]:
        """Read the job and check that this machine has its rules. Return {}, or an error as a map."""
        return _tell_errors(self._open)

    def run(self, piece: tuple[int, int, int, int, int], name: str) -> dict[str, Any]:
        """Redact a piece and save its part. Return the report as a map, or an error.

        Args:
            piece: the fields of a `RowPiece`.
            name: name of its file in the folder of the job's source; empty for the source itself.
        """
        return _tell_errors(lambda: asdict(self._run(RowPiece(*piece), name)))

    def close(self) -> None:
        """End the engine's process."""
        if self._pool is not None:
            self._pool.__exit__()
            self._pool = None

    def _open(self) -> dict[str, Any]:
        # A crash must not leave the memory of a process, with texts, on a disk.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        description = JobDescription.load(self._folder)
        if description is None:
            raise RedactionError(
                f"the folder {self._folder} of the job cannot be read there",
                "Put input and output on a path that is the same on every node, for an account that may use it.",
            )
        if description.engine.compute_digest() != description.digest:
            raise RedactionError(
                "its rules, libraries or Python differ from those of this machine",
                "Install the same version of Intramural from the same lock on every node.",
            )
        self._description = description
        self._pool = WorkerPool(description.engine, description.task, 1)
        return {}

    def _run(self, piece: RowPiece, name: str) -> PieceReport:
        assert self._description is not None
        assert self._pool is not None
        description = self._description
        path = Path(description.source, name) if name else Path(description.source)
        opened = open_format(description.format, description.task).open_piece(path, piece)
        tally = RowTally()
        cpu_s = 0.0
        for portion in redact_stream(opened.read_rows(), opened.write_row, self._pool, piece.first):
            tally.add(portion.tally)
            tally.dead_letters += portion.tally.dead_letters
            cpu_s += portion.cpu_s
        report = PieceReport(piece.rows, tally.dump(), cpu_s)
        save_part(locate_part(self._folder, path, piece), opened.save, report)
        return report


def withhold_row(folder: Path, description: JobDescription, path: Path, piece: RowPiece) -> None:
    """Save the part of a piece of one row, which no process survived, as withheld."""
    opened = open_format(description.format, description.task).open_piece(path, piece)
    tally = RowTally()
    opened.write_row(
        write_withheld_row(piece.first, description.task, Withheld.ENGINE_ERROR, tally) + b"\n"
    )
    save_part(locate_part(folder, path, piece), opened.save, PieceReport(1, tally.dump(), 0.0))


def _tell_errors(work: Any) -> dict[str, Any]:
    """Do the work, and return an error as a map: an exception that a library passes on could quote a text."""
    try:
        result: dict[str, Any] = work()
    except AgentError as error:
        return {"error": [str(error), error.advice]}
    except OSError as error:
        return {"error": [f"a file cannot be read or written there ({error.strerror})", None]}
    except Exception as error:  # noqa: BLE001
        return {"error": [f"a piece could not be redacted ({type(error).__name__})", None]}
    return result
