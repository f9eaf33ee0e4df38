"""Commands that redact what did not come from a run: `intramural redact jsonl|text|bench|helm`."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from agent.errors import RedactionError
from agent.listing import format_option, show_rows
from agent.redact_helm_command import helm
from agent.redact_options import chosen, engine_options
from agent.redact_train_command import train
from agent.review_commands import review

if TYPE_CHECKING:
    from agent.redaction.rows import Others, Tally

_MOST_TYPED = 64 * 2**20  # bytes of standard input; a policy's own limit for a field is far below


@click.group()
def redact() -> None:
    """Redact texts and folders that did not come from a run, and measure how well redaction works."""


redact.add_command(review)
redact.add_command(helm)
redact.add_command(train)


@redact.command()
@click.argument("source", metavar="IN.jsonl", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--field", "fields", required=True, multiple=True, help="A field to redact; several are redacted together."
)
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write.")
@click.option("--spans", is_flag=True, help='Add "spans": places in the original text, [[start, end, entity], ...].')
@engine_options
@click.option("--identifiers", metavar="FIELD", help='What is known of a row\'s people: {"NAME": [...], "MRN": ...}.')
@click.option(
    "--unit", metavar="FIELD", help="Who a row is about: where the policy moves dates, one patient's move alike."
)
@click.option(
    "--others",
    type=click.Choice(["keep", "redact", "drop"]),
    default="keep",
    show_default=True,
    help="Write the other fields as they are, redact them too, or leave them out.",
)
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes that redact.")
def jsonl(
    source: Path,
    fields: tuple[str, ...],
    out: Path,
    spans: bool,
    level: Literal["default", "strict"] | None,
    language: str | None,
    policy: str | None,
    identifiers: str | None,
    unit: str | None,
    others: "Others",
    workers: int,
) -> None:
    """Redact fields of every object of a JSON-lines file, in order.

    OUT is written whole or not at all. What cannot be judged reads [WITHHELD: reason] there; the exit code is then 5.
    """
    from agent.evaluation.progress import Progress
    from agent.files import open_plain, written_atomically
    from agent.redaction.rows import RowTask, Tally
    from agent.redaction.streaming import InThisProcess, Processes, lines_of, redact_stream

    if len(set(fields)) < len(fields) or identifiers in fields or (spans and "spans" in fields):
        raise RedactionError("--field, --identifiers and what --spans writes need different names", "Rename one.")
    if out.exists() and (not out.is_file() or out.samefile(source)):
        raise RedactionError("--out is the file to read, or no plain file", "Name another file.")
    task = RowTask(tuple(fields), spans, identifiers, unit, others)
    choice = chosen(level, language, policy)
    progress, tally = Progress(), Tally()
    try:
        with open_plain(source) as file:
            rows = sum(1 for line in lines_of(file) if line.strip())
            file.seek(0)
            with (
                Processes(choice, task, workers) if workers > 1 else InThisProcess(choice, task) as clearing,
                written_atomically(out) as written,
            ):
                progress.begin("redact", rows)
                for part in redact_stream(lines_of(file), written.write, clearing):
                    tally.add(part.tally)
                    progress.advance(part.tally.rows)
                progress.end()
    except OSError as error:
        raise RedactionError(f"{source.name} cannot be read ({error.strerror})", "Name a plain file.") from error
    _report(tally)


def _report(tally: "Tally") -> None:
    """Say what became of the rows.

    Raises:
        RedactionError: something was withheld.
    """
    click.echo(f"{tally.rows} rows: {tally.found} identifiers in {tally.touched} of them", err=True)
    if tally.unread:
        click.echo(
            f"{tally.unread} rows have other fields, written as they are: nobody looked at them "
            "(--others redact or drop)",
            err=True,
        )
    if tally.withheld:
        reasons = ", ".join(f"{count} {reason}" for reason, count in tally.withheld.most_common())
        named = ", ".join(map(str, tally.rows_withheld))
        raise RedactionError(
            f"{tally.withheld.total()} fields were withheld ({reasons}); the first rows with one: {named}",
            "All rows were written; each of these fields reads [WITHHELD: reason] there.",
        )


@redact.command()
@engine_options
def text(level: Literal["default", "strict"] | None, language: str | None, policy: str | None) -> None:
    """Redact standard input, as one text. What cannot be judged becomes [WITHHELD: reason]; the exit code is then 5."""
    from agent.redaction.redacted import Withheld

    choice = chosen(level, language, policy)
    typed = sys.stdin.buffer.read(_MOST_TYPED + 1)
    try:
        ((shown, found),) = choice.open().redact_and_find([typed.decode()])
    except UnicodeDecodeError:
        shown, found = f"[WITHHELD: {Withheld.UNDECODABLE}]", Withheld.UNDECODABLE
    click.echo(shown, nl=False)
    if isinstance(found, Withheld):
        raise RedactionError(f"the text was withheld: {found}", "Give it in UTF-8, and in parts if it is long.")


@redact.command()
@click.option(
    "--gold",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='Texts and their identifiers, one object a line: {"text": ..., "spans": [[start, end, kind], ...]}.',
)
@engine_options
@click.option("--engine", "other", metavar="KIND:PATH", help="A model of yours: spacy, transformers or gliner.")
@click.option("--label", "labels", metavar="LABEL=ENTITY", multiple=True, help="What a label of that model means here.")
@click.option("--force", is_flag=True, help="Admit a model that finds less than the engine that is here.")
@format_option()
def bench(
    gold: Path,
    level: Literal["default", "strict"] | None,
    language: str | None,
    policy: str | None,
    other: str | None,
    labels: tuple[str, ...],
    force: bool,
    form: str,
) -> None:
    """Measure how much of the identifiers in texts of yours is found, how much else is taken, and what it costs.

    With --engine, a model of yours is measured too, in place of the engine that is here and together with it. In its
    place it is refused, with exit code 1, when its core recall is lower.
    """
    from agent.redaction.bench import bench as run_bench
    from agent.redaction.bench import judge_all, read_gold, together
    from agent.redaction_tables import COLUMNS, bench_rows

    texts, choice = read_gold(gold), chosen(level, language, policy)
    found, costs = {}, {}
    if other is not None:  # first, for it may be none
        meanings = {name: meaning or None for name, _, meaning in (label.partition("=") for label in labels)}
        costs["the model"] = run_bench(texts, replace(choice, other=other, labels=meanings))
        found["the model"] = judge_all(texts, costs["the model"].found)
    costs["intramural"] = run_bench(texts, choice)
    found["intramural"] = judge_all(texts, costs["intramural"].found)
    if other is not None:
        found["both together"] = judge_all(texts, together(costs["intramural"], costs["the model"]))
    show_rows(bench_rows(found, costs), COLUMNS, form)
    lower = other is not None and found["the model"].leaks > found["intramural"].leaks
    if lower and not force:
        click.echo("Refused in place of the engine that is here: its core recall is lower (--force).", err=True)
        raise click.exceptions.Exit(1)
