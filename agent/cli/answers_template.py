"""The command `benchmarks template`, for people who ask a model elsewhere."""

import shlex
from pathlib import Path

import click

from agent.cli.options import FILE
from agent.cli.output import with_site
from agent.io.wording import format_count
from agent.site.directory import Site


@click.command("template")
@click.argument("benchmark", metavar="ID")
@click.option(
    "--data",
    type=click.Path(exists=True, path_type=Path),
    help="Dataset: a file, or a folder of official files (default for your own benchmarks: their own file).",
)
@click.option("--out", type=FILE, help="New file to write (default: ID-answers.jsonl).")
@click.pass_obj
def write_answers_template(site: Site, benchmark: str, data: Path | None, out: Path | None) -> None:
    """Write the questions to a file in which to fill in answers.

    The file is for a model that is asked elsewhere. ID is a benchmark's id, with any arguments
    (`clear:condition=homelessness`), or its YAML file. Each line has an instance_id, the question as a model would be
    asked it here, the options by letter if there are any, and an empty answer. `score --answers` accepts the file once
    the answers are filled in. The questions are not redacted, so only you can read the file.
    """
    from agent.runs.score_file import write_template

    out = out or Path(f"{_choose_name(benchmark)}-answers.jsonl")
    count = write_template(site.own_benchmarks, benchmark, data, out, with_questions=True)
    words = ["intramural", "score", benchmark]
    if data is not None:
        words += ["--data", str(data)]
    words += ["--answers", str(out)]
    click.echo(
        f"{format_count(count, 'question')} written to {out.name}, not redacted; fill in each answer, then run "
        + with_site(f"`{shlex.join(words)}`")
    )


def _choose_name(benchmark: str) -> str:
    """Return a benchmark's id, without its arguments, or the name of its YAML file without the ending."""
    if benchmark.endswith((".yaml", ".yml")):
        return Path(benchmark).stem
    return benchmark.partition(":")[0]
