"""The command group `redact` and its commands `jsonl` and `text`, for texts that are not part of a run."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.redact_bench import bench
from agent.cli.redact_helm import helm
from agent.cli.redact_options import chosen, engine_options
from agent.cli.redact_pieces import (
    EXISTING,
    PATH,
    check_output,
    count_processors,
    explain_unusable_file,
    make_task,
    piece_options,
    redact_in_pieces,
    row_options,
)
from agent.cli.redact_review import review
from agent.cli.redact_train import train
from agent.errors import RedactionError
from agent.io.wording import format_count

if TYPE_CHECKING:
    from agent.redaction.files.rows import RowTally, RowTask
    from agent.redaction.files.worker import EngineChoice
    from agent.redaction.policy.policy import Level

WITHHELD_BECAUSE = {
    "too long": "it is too long",
    "time limit": "redaction took longer than the policy's time limit",
    "undecodable": "it is not UTF-8, or contains control characters",
    "language": "it is in a language or script that redaction does not read",
    "no model": "the model that finds names is missing or damaged",
    "engine error": "the redaction engine failed",
}
_MENDED = {
    "undecodable": "Convert it to UTF-8 without control characters.",
    "too long": "Split it into parts.",
    "language": 'Redaction reads English and Spanish; see docs/redaction.md, "Languages".',
    "no model": "The model that comes with the package is missing or damaged: reinstall the package.",
}
_NO_OBJECTS = (
    " A line that is no JSON object, or not UTF-8, is undecodable; `redact text` reads CSV and HL7."
)
# Maximum bytes of standard input. A policy's limit for a field is much lower.
_MAX_TYPED = 64 * 2**20


@click.group()
def redact() -> None:
    """Redact your own texts and folders, and measure redaction."""


for command in (helm, bench, review, train):
    redact.add_command(command)


@redact.command()
@click.argument("source", metavar="IN.jsonl", type=EXISTING)
@row_options
@click.option("--out", required=True, type=PATH, help="The file or folder to write.")
@engine_options
@piece_options
def jsonl(
    source: Path,
    out: Path,
    level: "Level | None",
    language: str | None,
    policy: str | None,
    workers: int | None,
    on: str | None,
    dead_letters: Path | None,
    **rows: Any,
) -> None:
    """Redact fields of every object of a JSON-lines file, in order.

    OUT is written atomically, and replaces any existing file. A field that cannot be redacted safely becomes
    [WITHHELD: reason] and is counted. If every row has such a field, the exit code is 5.

    If IN is a folder, each of its files that end in .jsonl is redacted to a file of the same name in the folder OUT. A
    folder, and any work on a cluster (--on), continues where it stopped when the command is run again.
    """
    task = make_task(**rows)
    choice = chosen(level, language, policy)
    if on is None and dead_letters is None and not source.is_dir():
        _redact_alone(source, out, choice, task, workers or count_processors())
        return
    _report(redact_in_pieces("jsonl", source, out, choice, task, workers, on, dead_letters))


@redact.command()
@click.argument("source", metavar="IN.parquet", type=EXISTING)
@row_options
@click.option("--out", required=True, type=PATH, help="The file or folder to write.")
@engine_options
@piece_options
def parquet(
    source: Path,
    out: Path,
    level: "Level | None",
    language: str | None,
    policy: str | None,
    workers: int | None,
    on: str | None,
    dead_letters: Path | None,
    **rows: Any,
) -> None:
    """Redact columns of texts of a Parquet file, in order.

    Other columns keep their types, and what the file says about itself beyond its columns is left out. The extra
    `parquet` is needed. OUT, folders, clusters and exit codes are those of `redact jsonl`.
    """
    task = make_task(**rows)
    choice = chosen(level, language, policy)
    _report(redact_in_pieces("parquet", source, out, choice, task, workers, on, dead_letters))


def _redact_alone(
    source: Path, out: Path, choice: "EngineChoice", task: "RowTask", workers: int
) -> None:
    """Redact one file on this machine, without parts."""
    from agent.io.atomic_files import open_atomically, open_plain
    from agent.io.progress import Progress
    from agent.redaction.files.rows import RowTally
    from agent.redaction.files.streaming import LocalWorker, WorkerPool, lines_of, redact_stream

    check_output(source, out)
    progress, tally = Progress(), RowTally()
    try:
        with open_plain(source) as file:
            rows = sum(1 for line in lines_of(file) if line.strip())
            file.seek(0)
            with (
                WorkerPool(choice, task, workers)
                if workers > 1
                else LocalWorker(choice, task) as clearing,
                open_atomically(out) as written,
            ):
                progress.begin("redact", rows)
                for part in redact_stream(lines_of(file), written.write, clearing):
                    tally.add(part.tally)
                    progress.advance(part.tally.rows)
                progress.end()
                if task.identifiers is not None and tally.rows and not tally.rows_with_people:
                    raise RedactionError(
                        f"{source.name}: no row has the field {task.identifiers}, which --identifiers names",
                        "Nothing was written. Name the field with the identifiers of a row's people.",
                    )
    except OSError as error:
        raise explain_unusable_file(source, out, error) from error
    _report(tally)


def _report(tally: "RowTally") -> None:
    """Print how many identifiers and rows were redacted or withheld.

    Raises:
        RedactionError: every row has a withheld field.
    """
    rows, identifiers = (
        format_count(tally.rows, "row"),
        format_count(tally.identifiers, "identifier"),
    )
    click.echo(f"{rows}: {identifiers} in {tally.redacted_rows} of them", err=True)
    if tally.unchecked_rows:
        has = "has" if tally.unchecked_rows == 1 else "have"
        click.echo(
            f"{format_count(tally.unchecked_rows, 'row')} {has} other fields, written unchanged and not checked "
            "(see --others redact and --others drop)",
            err=True,
        )
    if tally.rows_with_spans:
        had = "row had a field" if tally.rows_with_spans == 1 else "rows had fields"
        click.echo(
            f"{tally.rows_with_spans} {had} named spans, which the output of --spans replaced",
            err=True,
        )
    if tally.withheld:
        reasons = ", ".join(f"{count} {reason}" for reason, count in tally.withheld.most_common())
        named = ", ".join(map(str, tally.first_withheld))
        fields, were = (
            format_count(tally.withheld.total(), "field"),
            "was" if tally.withheld.total() == 1 else "were",
        )
        said = f"{fields} {were} withheld ({reasons}); the first rows with one: {named}"
        if tally.withheld_rows == tally.rows:
            raise RedactionError(
                said,
                "Every row has a withheld field. Check the reasons: the policy's limits, a model or a file."
                + (_NO_OBJECTS if "undecodable" in tally.withheld else ""),
            )
        click.echo(f"{said}. Each of these fields reads [WITHHELD: reason] in the file.", err=True)


@redact.command()
@engine_options
def text(level: "Level | None", language: str | None, policy: str | None) -> None:
    """Redact standard input as one text.

    A text that cannot be redacted safely becomes [WITHHELD: reason], and the exit code is 5.
    """
    from agent.redaction.redacted import Withheld

    choice = chosen(level, language, policy)
    typed = sys.stdin.buffer.read(_MAX_TYPED + 1)
    try:
        ((shown, found),) = choice.open().redact_and_find([typed.decode()])
    except UnicodeDecodeError:
        shown, found = f"[WITHHELD: {Withheld.UNDECODABLE}]", Withheld.UNDECODABLE
    click.echo(shown, nl=False)
    if isinstance(found, Withheld):
        click.echo()
        raise RedactionError(
            f"the text was withheld because {WITHHELD_BECAUSE[found]}",
            _MENDED.get(found, "Check the policy's limits."),
        )
