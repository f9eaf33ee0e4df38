"""Options of the commands that redact rows, and redaction of files in pieces: on this machine or on a cluster."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from agent.cli.options import FILE
from agent.errors import RedactionError

if TYPE_CHECKING:
    from agent.redaction.files.formats import FormatName
    from agent.redaction.files.rows import Others, RowTally, RowTask
    from agent.redaction.files.worker import EngineChoice

Command = TypeVar("Command", bound=Callable[..., Any])

EXISTING: Final = click.Path(exists=True, path_type=Path)
PATH: Final = click.Path(path_type=Path)


def row_options(command: Command) -> Command:
    """Add the options that determine how each row is redacted; see `make_task`."""
    for option in (
        click.option(
            "--others",
            type=click.Choice(["keep", "redact", "drop"]),
            default="keep",
            show_default=True,
            help="Keep the other fields unchanged, redact them too, or drop them.",
        ),
        click.option(
            "--unit",
            metavar="FIELD",
            help="Field with the patient's id: if the policy shifts dates, it shifts all dates of a patient alike.",
        ),
        click.option(
            "--identifiers",
            metavar="FIELD",
            help='Field with the known identifiers of a row\'s people: {"NAME": [...], "MRN": ...}.',
        ),
        click.option(
            "--spans",
            is_flag=True,
            help='Add "spans": positions in the original text, [[start, end, entity], ...].',
        ),
        click.option(
            "--field",
            "fields",
            required=True,
            multiple=True,
            help="A field to redact; may be repeated. The fields of a row are redacted together.",
        ),
    ):
        command = option(command)
    return command


def piece_options(command: Command) -> Command:
    """Add the options that determine where files are redacted; see `redact_in_pieces`."""
    for option in (
        click.option(
            "--dead-letters",
            type=FILE,
            help="List of the rows with a withheld field: file, number and reasons, no text.  [default with --on or a "
            "folder: OUT.dead-letters.jsonl]",
        ),
        click.option(
            "--on",
            metavar="HOST:PORT|cluster",
            help="Redact on all nodes of the Ray cluster with this head, or on a cluster started on this machine; see "
            "docs/scale.md.",
        ),
        click.option(
            "--workers",
            type=click.IntRange(1, 256),
            help="Number of worker processes on this machine.  [default: one for each processor]",
        ),
    ):
        command = option(command)
    return command


def make_task(
    fields: tuple[str, ...],
    spans: bool,
    identifiers: str | None,
    unit: str | None,
    others: "Others",
) -> "RowTask":
    """Return the task that the options of `row_options` describe.

    Raises:
        RedactionError: they contradict each other.
    """
    from agent.redaction.files.rows import RowTask

    if len(set(fields)) < len(fields) or identifiers in fields or (spans and "spans" in fields):
        raise RedactionError(
            '--field and --identifiers must all name different fields, and with --spans none may be named "spans"',
            "Rename the field in the file.",
        )
    return RowTask(tuple(fields), spans, identifiers, unit, others)


def check_output(source: Path, out: Path) -> None:
    """Check that an output does not replace its input, or something that is neither a file nor, for a folder, a folder.

    Raises:
        RedactionError: it does.
    """
    if not source.is_dir():
        if out.exists() and (not out.is_file() or out.samefile(source)):
            raise RedactionError(
                "--out is the input file, or not a regular file", "Name another file."
            )
        return
    nested = source.resolve() in (out.resolve(), *out.resolve().parents)
    if nested or (out.exists() and not out.is_dir()):
        raise RedactionError(
            "--out is the input folder, within it, or not a folder", "Name another folder."
        )


def _check_dead_letters(source: Path, dead_letters: Path, out: Path) -> None:
    """Check that the list of dead letters replaces neither input nor output, nor something that is no file.

    Raises:
        RedactionError: it does.
    """
    taken = (source.resolve(), out.resolve())
    place = dead_letters.resolve()
    within = place.parent in taken  # if they are folders
    if place in taken or within or (dead_letters.exists() and not dead_letters.is_file()):
        raise RedactionError(
            f"the list of dead letters ({dead_letters.name}) would lie in the place of the input or output, or of "
            "something that is not a file",
            "Name another file with --dead-letters.",
        )


def redact_in_pieces(
    name: "FormatName",
    source: Path,
    out: Path,
    choice: "EngineChoice",
    task: "RowTask",
    workers: int | None,
    on: str | None,
    dead_letters: Path | None,
) -> "RowTally":
    """Redact a file or a folder of files piece by piece, and return the counts.

    Raises:
        AgentError: as `redact_files` says; see also `open_cluster`.
    """
    from agent.cluster.cluster import OWN, open_cluster
    from agent.io.progress import Progress
    from agent.redaction.files.executors import ClusterExecutor, LocalExecutor
    from agent.redaction.files.job import JobDescription
    from agent.redaction.files.redact_files import Outputs, redact_files

    check_output(source, out)
    if on not in (None, OWN) and workers is not None:
        raise RedactionError(
            "--workers and --on HOST:PORT cannot be combined",
            "The nodes of a cluster say how many processors they offer.",
        )
    if choice.directory is not None and not choice.policy.endswith(".yaml"):
        # A shipped policy is the same in every folder, so a job continues in any.
        choice = replace(choice, directory=None)
    digest = choice.compute_digest()
    description = JobDescription(name, str(source.resolve()), choice, task, digest)
    outputs = Outputs(out, dead_letters or out.with_name(f"{out.name}.dead-letters.jsonl"))
    _check_dead_letters(source, outputs.dead_letters, out)
    count = workers or count_processors()
    try:
        with ExitStack() as stack:
            if on is None:
                return redact_files(description, outputs, LocalExecutor(count), Progress())
            ray = stack.enter_context(open_cluster(on, count))
            return redact_files(description, outputs, ClusterExecutor(ray), Progress())
    except OSError as error:
        raise explain_unusable_file(source, out, error) from error


def explain_unusable_file(source: Path, out: Path, error: OSError) -> RedactionError:
    """Return the error for an input that cannot be read, or an output that cannot be written."""
    return RedactionError(
        f"{source.name} cannot be read, or {out.name} not written ({error.strerror})",
        "Name regular files, and make sure that there is enough disk space.",
    )


def count_processors() -> int:
    """Return the number of processors that this process may use."""
    from agent.metrics.means import processors

    return processors()
