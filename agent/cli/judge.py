"""The command `judge`: ask juries to grade stored answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.judging_report import (
    JudgingUsage,
    describe_judged,
    describe_seats,
    describe_silent_juries,
    describe_unseated,
)
from agent.cli.options import (
    FILE,
    dry_run_option,
    max_in_flight_option,
    quiet_option,
    suite_option,
)
from agent.cli.queueable import Queueable
from agent.cli.run_report import (
    EXIT_FAILED_INSTANCES,
    describe_main_score,
    print_lost_servers,
    read_prices,
)
from agent.io.plain_text import printable
from agent.io.wording import format_count
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.judging.judge_suite import JudgedRun, JudgeOptions


@click.command(cls=Queueable)
@suite_option
@click.option(
    "--judges",
    type=FILE,
    help="The jury's YAML file (MedHELM's judges.yaml); default: each run's own, else the site's judges.yaml.",
)
@click.option("--only", multiple=True, help="Ask only these judges (name or deployment) now.")
@click.option("-b", "--benchmarks", multiple=True, help="Judge only runs of these benchmarks.")
@max_in_flight_option
@click.option(
    "--replace", is_flag=True, help="With --judges: replace stored judgements by a different jury."
)
@dry_run_option("Show the expected cost and time of each judge; send no question to a judge.")
@quiet_option
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
    """Ask juries to grade stored answers.

    The models are not asked again, so their GPU can serve a judge instead. Stored judgements are never requested
    again. After an interruption, run the command again: it resumes where it stopped.
    """
    from agent.io.progress import Progress
    from agent.judging.judge_suite import JudgeOptions, judge_suite

    options = JudgeOptions(
        suite=suite,
        judges=judges,
        benchmarks=benchmarks,
        max_in_flight=max_in_flight,
        replace=replace,
        only=only,
    )
    if dry_run:
        _print_forecasts(site, options)
        return
    outcomes, notes = judge_suite(site, options, Progress(quiet=quiet))
    for note in notes:
        click.echo(f"note: {printable(note)}", err=True)
    _print_outcomes(site, outcomes)
    answers = sum(outcome.judged.answers for outcome in outcomes)
    requests = sum(outcome.judged.asked for outcome in outcomes)
    unseated = sum(outcome.judged.open for outcome in outcomes)
    click.echo(
        f"{format_count(len(outcomes), 'run')} in suite {suite}: {format_count(answers, 'answer')} judged, "
        f"{format_count(requests, 'request')} to judges"
    )
    _print_taken(site, outcomes)
    summaries = [outcome.summary for outcome in outcomes if not outcome.left]
    if unseated:
        click.echo(printable(describe_unseated(unseated, summaries)), err=True)
    silent_juries = describe_silent_juries(summaries, suite)
    for line in silent_juries:
        click.echo(printable(line), err=True)
    print_lost_servers(server for outcome in outcomes for server in outcome.lost)
    if unseated or silent_juries:
        raise click.exceptions.Exit(EXIT_FAILED_INSTANCES)


def _print_outcomes(site: Site, outcomes: "Sequence[JudgedRun]") -> None:
    """Print the score and the judges' usage of each run, then of all runs together."""
    judging = JudgingUsage(site)
    with site.store() as store:
        for outcome in outcomes:
            run = outcome.summary.run
            if outcome.left:
                click.echo(f"{run.name}: unchanged: {outcome.left}", err=True)
                continue
            judged = describe_judged(outcome.judged).removeprefix("; ") or "nothing left to judge"
            click.echo(f"{run.name}  {describe_main_score(outcome.summary)}  {judged}")
            lines = describe_seats(outcome.summary)
            if outcome.judged.answers:
                lines += judging.add_run(store, run, outcome.judged, outcome.asked)
            for line in lines:
                click.echo(f"  {printable(line)}")
    total_lines = judging.describe_total()
    if total_lines:
        click.echo("all runs judged by this command:")
        for line in total_lines:
            click.echo(f"  {line}")


def _print_taken(site: Site, outcomes: "Sequence[JudgedRun]") -> None:
    """Print the forecast after the first answers beside what the judging took."""
    from agent.runs.forecast.taken import describe_taken

    works = [outcome.judged.taken for outcome in outcomes if outcome.judged.taken is not None]
    for line in describe_taken("judging", [works], read_prices(site)):
        click.echo(line)


def _print_forecasts(site: Site, options: "JudgeOptions") -> None:
    """Print the expected time and cost of each judge, by run and in total, without asking any judge."""
    import asyncio

    from agent.inference.endpoint import identify_server
    from agent.inference.replica_probe import describe_problems
    from agent.judging.judge_suite import survey_judging
    from agent.runs.forecast.judging import (
        describe_judging,
        describe_judging_total,
        forecast_run_judging,
        try_judges,
    )
    from agent.site.http_limits import http_limits

    with site.store() as store:
        survey = survey_judging(site, store, options)
        limits = http_limits(site)
        judges = asyncio.run(try_judges([task.asked for task in survey.tasks], limits))
        forecasts = {
            task.run.run_id: asyncio.run(forecast_run_judging(store, task, judges, limits))
            for task in survey.tasks
        }
    notes = [*survey.notes]
    for task in survey.tasks:
        for seat in task.asked:
            capabilities = judges[identify_server(seat.deployment)].capabilities
            if capabilities is not None:
                notes += describe_problems(seat.deployment, capabilities)
    for note in dict.fromkeys(notes):
        click.echo(f"note: {printable(note)}", err=True)
    other_jury = {task.run.run_id for task in survey.tasks if task.changed}
    for run_id, outcome in survey.runs.items():
        lines = describe_judging(forecasts.get(run_id, ()), other_jury=run_id in other_jury)
        if outcome.left and not lines:
            lines = [f"would stay unchanged: {outcome.left}"]
        elif not lines:
            lines = ["nothing is left to judge"]
        click.echo(outcome.summary.run.name)
        for line in lines:
            click.echo(f"  {line}")
    if len(forecasts) > 1:
        click.echo(f"all {len(forecasts)} runs")
        for line in describe_judging_total(list(forecasts.values())):
            click.echo(f"  {line}")
