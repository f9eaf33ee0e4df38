"""The command `judge`: juries grade stored answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.catalog.wording import counted
from agent.judging_words import JudgingTook, judged_words, seats_words, unseated_words
from agent.listing import printable
from agent.run_commands import EXIT_FAILED_INSTANCES, ManyValues, score_words
from agent.site import Site

if TYPE_CHECKING:
    from agent.evaluation.judge_suite import JudgeOptions


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
@click.option("--replace", is_flag=True, help="Let go of judgements of another jury than that of --judges.")
@click.option("-d", "--dry-run", is_flag=True, help="Say what each judge would take; ask nothing of a case.")
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
    dry_run: bool,
    quiet: bool,
) -> None:
    """Ask juries about stored answers.

    No model is asked again, so its server may be gone and its GPU may serve a judge. Stored judgements are never asked
    for twice: give the same command again to go on where it stopped.
    """
    from agent.evaluation.judge_suite import JudgeOptions, judge_suite
    from agent.evaluation.progress import Progress

    options = JudgeOptions(suite, judges, benchmarks, max_in_flight, replace, only)
    if dry_run:
        _say_what_it_would_take(site, options)
        return
    heard, notes = judge_suite(site, options, Progress(quiet=quiet))
    for note in notes:
        click.echo(f"note: {printable(note)}", err=True)
    took = JudgingTook(site)
    with site.store() as store:
        for one in heard:
            run = one.summary.run
            if one.left:
                click.echo(f"{run.name}: left as it was: {one.left}", err=True)
                continue
            told = judged_words(one.judged).removeprefix("; ") or "nothing left to judge"
            click.echo(f"{run.name}  {score_words(one.summary)}  {told}")
            lines = took.of_run(store, run, one.judged, one.asked) if one.judged.answers else ()
            for line in (*seats_words(one.summary), *lines):
                click.echo(f"  {printable(line)}")
    if together := took.together():
        click.echo("runs judged now, together:")
        for line in together:
            click.echo(f"  {line}")
    asked, unseated = (sum(getattr(one.judged, what) for one in heard) for what in ("asked", "open"))
    done = sum(one.judged.answers for one in heard)
    told = f"{counted(done, 'answer')} judged, {counted(asked, 'request')} to judges"
    click.echo(f"{counted(len(heard), 'run')} in suite {suite}: {told}")
    if unseated:
        click.echo(unseated_words(unseated), err=True)
        raise click.exceptions.Exit(EXIT_FAILED_INSTANCES)


def _say_what_it_would_take(site: Site, options: "JudgeOptions") -> None:
    """Print what each judge would take, run by run and together; nothing is asked of a case, or changed."""
    import asyncio

    from agent.evaluation.judge_suite import docket
    from agent.evaluation.judging_forecast import forecast_case, judging_lines, judging_together, meet_all_judges
    from agent.evaluation.plan import http_limits

    with site.store() as store:
        found = docket(site, store, options)
        judges = asyncio.run(meet_all_judges([case.asked for case in found.cases], http_limits(site)))
        forecasts = {case.run.run_id: forecast_case(store, case, judges) for case in found.cases}
    for note in found.notes:
        click.echo(f"note: {printable(note)}", err=True)
    other_jury = {case.run.run_id for case in found.cases if case.changed}
    for run_id, one in found.heard.items():
        left = f"would be left as it was: {one.left}" if one.left else ""
        lines = judging_lines(forecasts.get(run_id, ()), other_jury=run_id in other_jury)
        click.echo(one.summary.run.name)
        for line in lines or [left or "nothing is left to judge"]:
            click.echo(f"  {line}")
    if len(forecasts) > 1:
        click.echo(f"{len(forecasts)} runs together")
        for line in judging_together(list(forecasts.values())):
            click.echo(f"  {line}")
