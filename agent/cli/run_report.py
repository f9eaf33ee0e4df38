"""The report of `run`: the score, cost and unscored instances of each run."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from agent.cli.judging_report import (
    JudgingUsage,
    describe_judged,
    describe_seats,
    describe_silent_juries,
    describe_unjudged,
    describe_unseated,
    find_judges,
    is_judged_by_itself,
)
from agent.cli.unread import report_unread_runs
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.io.wording import format_count
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.catalog.deployments import Deployment, Prices
    from agent.inference.live_forecast import WorkTaken
    from agent.inference.outage import LostServer
    from agent.results.summarize import RunSummary
    from agent.runs.outcomes import RunOutcome, RunsDone
    from agent.runs.plan import RunOptions
    from agent.store import Run

EXIT_FAILED_INSTANCES = 9


def report_outcomes(
    site: Site,
    done: "RunsDone",
    options: "RunOptions",
    noted: "Collection[str]" = (),
) -> None:
    """Print the report of each run and of all runs; exit with code 9 if running again would ask something.

    It is also the exit code if no seat of a run's jury gave a verdict: the run has no score, and needs another jury.

    Args:
        site: the site.
        done: what the command did.
        options: its options.
        noted: notes that the command has written already.
    """
    outcomes = done.outcomes
    deployments = _read_usable_deployments(site)
    prices_by_name = {} if options.server else find_prices(deployments)
    runs = [outcome.summary.run for outcome in outcomes]
    for note in _list_notes(runs, options.server, deployments):
        if note not in noted:
            click.echo(f"note: {note}", err=True)
    _print_outcomes(site, outcomes, prices_by_name)
    _print_total(outcomes, options.suite)
    _print_taken(outcomes, prices_by_name)
    summaries = [outcome.summary for outcome in outcomes]
    for line in describe_unjudged(summaries, options.suite, no_judging=options.no_judging):
        click.echo(line, err=True)
    for line in describe_unmeasured(runs):
        click.echo(line, err=True)
    _print_unscored(outcomes)
    report_unread_runs(site, summaries)
    silent_juries = [] if options.no_judging else describe_silent_juries(summaries, options.suite)
    for line in silent_juries:
        click.echo(printable(line), err=True)
    print_lost_servers(server for outcome in outcomes for server in outcome.lost)
    for left_out in done.not_started:
        click.echo(f"{printable(left_out.describe())}. Run the same command again.", err=True)
    is_incomplete = any(outcome.failed or outcome.judged.open for outcome in outcomes)
    if silent_juries or is_incomplete or done.not_started:
        raise click.exceptions.Exit(EXIT_FAILED_INSTANCES)


def _read_usable_deployments(site: Site) -> "Mapping[str, Deployment]":
    """Return the site's deployments; {} if their file cannot be read, so that the run did not need it."""
    from agent.catalog.deployments import read_deployments

    try:
        return read_deployments(site.deployments)
    except ConfigError:
        return {}


def print_lost_servers(servers: "Iterable[LostServer]") -> None:
    """Print which servers stopped answering, and since when. These are the last lines of a command."""
    for server in dict.fromkeys(servers):
        loss = server.describe()
        click.echo(
            f"{loss[0].upper()}{loss[1:]}. Start it again, then run the same command: stored answers are kept.",
            err=True,
        )


def _list_notes(
    runs: "Sequence[Run]", server_url: str | None, deployments: "Mapping[str, Deployment]"
) -> list[str]:
    """Return the workarounds for servers, and what is wrong with juries, each once.

    The server of `--server` is named by its address, because its stored name is a digest.
    """
    from agent.inference.endpoint import describe_address
    from agent.judging.jury_selection import describe_equal_judges, describe_own_judge

    notes: list[str] = []
    for run in runs:
        server = describe_address(server_url) if server_url else run.deployment
        notes += [f"{server}: {workaround}" for workaround in run.details.workarounds]
    for run in runs:
        if is_judged_by_itself(run):
            notes.append(describe_own_judge(run.deployment))
        notes += describe_equal_judges(find_judges(run), deployments)
    return list(dict.fromkeys(notes))


def read_prices(site: Site) -> "dict[str, Prices | None]":
    """Return the prices of the site's deployments by name."""
    from agent.catalog.deployments import read_deployments

    return find_prices(read_deployments(site.deployments))


def find_prices(deployments: "Mapping[str, Deployment]") -> "dict[str, Prices | None]":
    """Return the prices of these deployments by name."""
    return {name: deployment.prices for name, deployment in deployments.items()}


def _print_outcomes(
    site: Site, outcomes: "Sequence[RunOutcome]", prices_by_name: "dict[str, Prices | None]"
) -> None:
    """Print the score, usage and cost of each run, then of all runs."""
    from agent.results.usage import (
        Cost,
        compute_usage_cost,
        describe_usage,
        format_total_cost,
    )

    judging = JudgingUsage(site)
    costs: list[Cost | None] = []
    with site.store() as store:
        for outcome in outcomes:
            run = outcome.summary.run
            usage = store.answers.sum_usage(run.run_id)
            prices = prices_by_name.get(run.deployment)
            costs.append(compute_usage_cost(usage, prices))
            lines = describe_seats(outcome.summary)
            lines += describe_usage(
                usage,
                prices,
                all_asked_now=not outcome.kept,
                answer_mode=run.details.answer_mode,
            )
            lines += _describe_figures(outcome)
            lines += judging.add_run(store, run, outcome.judged)
            click.echo(_describe_outcome(outcome))
            for line in lines:
                click.echo(f"  {line}")
    total_cost = format_total_cost(costs) if len(costs) > 1 else ""
    judging_lines = judging.describe_total()
    if total_cost:
        click.echo(
            f"all {len(costs)} runs cost {total_cost}{', without judging' if judging_lines else ''}"
        )
    if judging_lines:
        click.echo(f"all {len(costs)} runs:")
        for line in judging_lines:
            click.echo(f"  {line}")


def _describe_figures(outcome: "RunOutcome") -> list[str]:
    """Return a line with the server's own figures about the asking; [] if it has none."""
    from agent.inference.server_figures import describe_work

    taken = outcome.taken
    if taken is None or taken.figures is None:
        return []
    line = describe_work(taken.figures, taken.seconds)
    return [line] if line else []


def _describe_outcome(outcome: "RunOutcome") -> str:
    score = describe_main_score(outcome.summary)
    asked = _describe_asked(outcome.asked, outcome.asked_for)
    return f"{outcome.summary.run.name}  {score}  {asked}, kept {outcome.kept}{describe_judged(outcome.judged)}"


def describe_main_score(summary: "RunSummary") -> str:
    """Return a run's main metric with its interval, n and unscored instances."""
    main = summary.main
    mean = main.mean
    value = "no score" if mean.value is None else f"{mean.value:.3f}"
    interval = "" if mean.low is None else f" ({mean.low:.3f} to {mean.high:.3f})"
    unscored = (
        ", ".join(f"{count} {reason}" for reason, count in sorted(main.unscored.items())) or "none"
    )
    return f"{main.metric} {value}{interval}  n={mean.n}  unscored: {unscored}"


def _describe_asked(asked: int, asked_for: int) -> str:
    shared = (
        f" for {asked_for} instances (equal prompts are asked once)" if asked != asked_for else ""
    )
    return f"asked {asked}{shared}"


def _print_total(outcomes: "Sequence[RunOutcome]", suite: str) -> None:
    asked = _describe_asked(
        asked=sum(outcome.asked for outcome in outcomes),
        asked_for=sum(outcome.asked_for for outcome in outcomes),
    )
    reused = sum(outcome.kept for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    unseated = sum(outcome.judged.open for outcome in outcomes)
    lacking = f", lacking a judge's reply {unseated:,}" if unseated else ""
    click.echo(
        f"{format_count(len(outcomes), 'run')} in suite {suite}: {asked}, kept {reused}, failed {failed}{lacking}"
    )


def _print_taken(
    outcomes: "Sequence[RunOutcome]", prices_by_name: "dict[str, Prices | None]"
) -> None:
    """Print the forecast after the first answers beside what the runs took."""
    from agent.runs.forecast.taken import describe_costs_taken, describe_taken

    asking_by_lane: dict[int, list[WorkTaken]] = {}
    judging: list[WorkTaken] = []
    for outcome in outcomes:
        if outcome.taken is not None:
            asking_by_lane.setdefault(outcome.lane, []).append(outcome.taken)
        if outcome.judged.taken is not None:
            judging.append(outcome.judged.taken)
    asking = [work for works in asking_by_lane.values() for work in works]
    lines = describe_taken("asking", asking_by_lane.values(), prices_by_name)
    lines += describe_taken("judging", [judging], prices_by_name)
    if asking and judging and len(asking_by_lane) == 1:
        lines += describe_taken("both", [[*asking, *judging]], prices_by_name)
    elif asking and judging:
        lines += describe_costs_taken("both", [*asking, *judging], prices_by_name)
    for line in lines:
        click.echo(line)


def describe_unmeasured(runs: "Sequence[Run]") -> list[str]:
    """Return a line for each group of optional metrics that were not computed without an encoder."""
    benchmarks_by_metrics: dict[str, dict[str, None]] = {}
    for run in runs:
        metrics = ", ".join(run.details.left_out)
        if metrics:
            benchmarks_by_metrics.setdefault(metrics, {})[run.benchmark] = None
    return [
        f"not measured: {metrics} of {', '.join(benchmarks)}; they need an encoder, see bertscore_model in site.yaml"
        for metrics, benchmarks in benchmarks_by_metrics.items()
    ]


def _print_unscored(outcomes: "Sequence[RunOutcome]") -> None:
    """Print the numbers of instances that lack an answer or a judge's reply, and whether running again helps."""
    too_long = sum(outcome.too_long for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    unseated = sum(outcome.judged.open for outcome in outcomes)
    if too_long:
        fit = "prompt does not fit its" if too_long == 1 else "prompts do not fit their"
        click.echo(f"{too_long} {fit} model; running again cannot help.", err=True)
    if failed:
        click.echo(
            f"{format_count(failed, 'instance')} without an answer; run the same command again to ask only those.",
            err=True,
        )
    if unseated:
        summaries = [outcome.summary for outcome in outcomes]
        click.echo(printable(describe_unseated(unseated, summaries)), err=True)
