"""The main path of redacting files in pieces: plan, redact what is not finished, join the parts of each file."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.errors import AgentError, RedactionError
from agent.io.atomic_files import lock_folder, write_atomically
from agent.io.progress import Progress
from agent.redaction.files.division import RowPiece
from agent.redaction.files.executors import Executor
from agent.redaction.files.job import JobDescription, RedactionJob, format_dead_letters
from agent.redaction.files.rows import RowTally


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a job writes.

    Attributes:
        out: the file, or the folder of files, that receives the redacted rows.
        dead_letters: the file that lists the rows with a withheld field; it is written only if there are such rows.
    """

    out: Path
    dead_letters: Path

    @property
    def parts(self) -> Path:
        """The folder of the job; on a cluster, every node must see it."""
        return self.out.with_name(f".{self.out.name}.parts").absolute()


def redact_files(
    description: JobDescription, outputs: Outputs, executor: Executor, progress: Progress
) -> RowTally:
    """Redact a file or a folder of files, and return the counts of all rows.

    If it is stopped, the same call continues. Two calls for the same output exclude each other.

    Raises:
        RedactionError: a row or file cannot be read, or no row has the field of known values.
        ConfigError: a node of the cluster is not fit for the work.
        StoreError: a file cannot be written, or another command writes the same output.
        OSError: an input file cannot be read.
    """
    with lock_folder(outputs.parts):
        job = RedactionJob(outputs.parts, description)
        if job.discards_earlier:
            progress.note(
                "the parts of an earlier command with other options or rules are discarded"
            )
        try:
            tally = _run(job, outputs, executor, progress)
        except AgentError:
            progress.note(
                f"what is finished is kept in {outputs.parts.name}: run the command again to continue, or delete it"
            )
            raise
        job.remove()
    return tally


def _run(job: RedactionJob, outputs: Outputs, executor: Executor, progress: Progress) -> RowTally:
    total = job.plan()
    if _is_folder(job):
        outputs.out.mkdir(mode=0o700, exist_ok=True)
    progress.begin("redact", total)
    progress.show_left(executor.describe)
    unfinished = _UnfinishedFiles(job, outputs, executor.patience_s, progress)
    for piece in executor.run(job, unfinished.list_pieces()):
        if piece is None:
            progress.tick()
            continue
        progress.advance(piece.rows)
        unfinished.finish(piece)
    progress.end()
    if not _is_folder(job):
        # A file is joined only when all is known to be well, so that an error leaves the file that was there.
        _check_known_values(job)
    return _finish(job, outputs, executor.patience_s)


class _UnfinishedFiles:
    """Lists the pieces that are to be done, and joins each file of a folder when its last piece is finished."""

    def __init__(
        self, job: RedactionJob, outputs: Outputs, patience_s: float, progress: Progress
    ) -> None:
        self._job = job
        self._outputs = outputs
        self._patience_s = patience_s
        self._progress = progress
        self._rows_left: Counter[int] = (
            Counter()
        )  # by file; of those whose pieces are all listed, or being listed
        self._listed: set[int] = set()

    def list_pieces(self) -> Iterator[RowPiece]:
        """Yield the pieces that no earlier command finished."""
        for shard in range(len(self._job.shards)):
            if self._job.is_joined(shard):
                self._progress.advance_stored(self._job.read_joined(shard).rows)
                continue
            for piece in self._job.list_pieces_of(shard):
                if self._job.is_finished(piece):
                    self._progress.advance_stored(piece.rows)
                    continue
                self._rows_left[shard] += piece.rows
                yield piece
            self._listed.add(shard)
            self._join_if_complete(shard)

    def finish(self, piece: RowPiece) -> None:
        """Count a finished piece, which may be a half of a listed one."""
        self._rows_left[piece.shard] -= piece.rows
        self._join_if_complete(piece.shard)

    def _join_if_complete(self, shard: int) -> None:
        if shard not in self._listed or self._rows_left[shard]:
            return
        del self._rows_left[shard]
        self._listed.discard(shard)
        if _is_folder(self._job):
            out = self._outputs.out / self._job.shards[shard].name
            self._job.join(shard, out, self._patience_s)


def _finish(job: RedactionJob, outputs: Outputs, patience_s: float) -> RowTally:
    if not _is_folder(job) and not job.is_joined(0):
        job.join(0, outputs.out, patience_s)
    tally, dead_letters = job.sum_counts()
    if dead_letters:
        write_atomically(outputs.dead_letters, format_dead_letters(dead_letters))
    elif outputs.dead_letters.is_file():
        outputs.dead_letters.unlink()  # of an earlier command: its rows are not those of this output
    return tally


def _check_known_values(job: RedactionJob) -> None:
    """Check that the field of known values occurs.

    Raises:
        RedactionError: no row has it.
    """
    field = job.description.task.identifiers
    if field is None:
        return
    tally = job.count_parts(0)
    if tally.rows and not tally.rows_with_people:
        raise RedactionError(
            f"{job.shards[0].name}: no row has the field {field}, which --identifiers names",
            "Nothing was written. Name the field with the identifiers of a row's people.",
        )


def _is_folder(job: RedactionJob) -> bool:
    return Path(job.description.source).is_dir()
