"""The command `judge`: juries grade stored answers."""

from collections.abc import Sequence
from pathlib import Path

import click

from agent.catalog.wording import counted
from agent.listing import printable
from agent.run_commands import EXIT_FAILED_INSTANCES, ManyValues, judged_words, score_words, unseated_words
from agent.site import Site


@click.command(cls=ManyValues)
@click.option("--suite", default="default", show_default=True, help="Name of the collection of runs.")
@click.option(
    "--judges",
    type=click.Path(dir_okay=False, path_type=Path),
    help="YAML file of the jury (MedHELM's judges.yaml); else each run's own, else the site's judges.yaml.",
)
@click.option("--only", multiple=True, help="Ask these judges only (name or deployment); the others another time.")
@click.option("-b", "--benchmarks", multiple=True, help="Runs of these benchmarks only.")
@click.option(
    "-n", "--max-in-flight", "--num-threads", "max_in_flight", type=click.IntRange(1, 4096), help="Requests at once."
)
@click.option("--replace", is_flag=True, help="Let go of judgements of another jury.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.pass_obj
def judge(
    site: Site,
    suite: str,
    judges: Path | None,
    only: Sequence[str],
    benchmarks: Sequence[str],
    max_in_flight: int | None,
    replace: bool,
    quiet: bool,
) -> None:
    """Ask juries about stored answers.

    No model is asked again, so its server may be gone and its GPU may serve a judge. Stored judgements are never asked
    for twice: give the same command again to go on where it stopped.
    """
    from agent.evaluation.judge_suite import JudgeOptions, judge_suite
    from agent.evaluation.progress import Progress

    options = JudgeOptions(suite, judges, benchmarks, max_in_flight, replace, only)
    heard, notes = judge_suite(site, options, Progress(quiet=quiet))
    for note in notes:
        click.echo(f"note: {printable(note)}", err=True)
    for one in heard:
        if one.left:
            click.echo(f"{one.summary.run.name}: left as it was: {one.left}", err=True)
        else:
            told = judged_words(one.judged).removeprefix("; ") or "nothing left to judge"
            click.echo(f"{one.summary.run.name}  {score_words(one.summary)}  {told}")
    asked, unseated = (sum(getattr(one.judged, what) for one in heard) for what in ("asked", "open"))
    done = sum(one.judged.answers for one in heard)
    click.echo(f"{counted(len(heard), 'run')} in suite {suite}: {done:,} answers judged, {asked:,} requests to judges")
    if unseated:
        click.echo(unseated_words(unseated), err=True)
        raise click.exceptions.Exit(EXIT_FAILED_INSTANCES)
