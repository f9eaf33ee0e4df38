"""The command `run`. Options that HELM has are named as there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.judging_report import JudgingTook, judged_words, seats_words, self_judged, unjudged_words, unseated_words
from agent.errors import AgentError, ConfigError, DisclosureError, InferenceError
from agent.io.wording import counted
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.catalog.deployments import Deployment
    from agent.results.summarize import RunSummary
    from agent.runs.forecast.trial import ServerTrial
    from agent.runs.plan import Plan
    from agent.runs.run import RunOutcome
    from agent.store import Run

EXIT_FAILED_INSTANCES = 9


class ManyValues(click.Command):
    """Takes several values after one option, as HELM's commands do: `--run-entries A B` is `-r A -r B`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each further value."""
        repeatable: set[str] = set()
        for option in self.params:
            if isinstance(option, click.Option) and option.multiple:
                repeatable.update(option.opts)
        spelled: list[str] = []
        current = ""
        for arg in args:
            if arg.startswith("-"):
                current = arg if arg in repeatable else ""
            elif current and spelled[-1] != current:
                spelled.append(current)
            spelled.append(arg)
        return super().parse_args(ctx, spelled)


@click.command(cls=ManyValues)
@click.option("-r", "--run-entries", "descriptions", multiple=True, help='Run entries: "benchmark:model=...,...".')
@click.option(
    "-c",
    "--conf-paths",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Files of run entries (HELM's HOCON form).",
)
@click.option("--models-to-run", multiple=True, help="Models for entries that name none.")
@click.option("--groups-to-run", multiple=True, help="Run only entries of these groups.")
@click.option(
    "--priority", type=int, help="Run only entries of this priority or a more important one (a lower number)."
)
@click.option("--suite", default="default", show_default=True, help="Name of the collection of runs.")
@click.option(
    "-m", "--max-eval-instances", type=click.IntRange(1), help="Maximum instances per run, chosen as HELM does."
)
@click.option("--sample-seed", type=int, default=0, show_default=True, help="Seed that chooses the instances.")
@click.option(
    "--deployment-map",
    type=click.Path(dir_okay=False, path_type=Path),
    help="YAML file that maps deployments or models named in entries to deployments here.",
)
@click.option(
    "--ignore-data-paths", is_flag=True, help="Use the site's own data instead of the files that entries name."
)
@click.option("--max-train-instances", type=click.IntRange(0), help="Maximum solved examples per prompt.")
@click.option("--server", help="Ask this server (ending in /v1) instead of model_deployments.yaml.")
@click.option(
    "-n",
    "--max-in-flight",
    "--num-threads",
    "max_in_flight",
    type=click.IntRange(1, 4096),
    help="Maximum requests at a time.",
)
@click.option(
    "--scoring",
    type=click.Choice(["intramural", "helm", "both"]),
    help="intramural: corrected rules; helm: upstream's rules with their faults, for comparison; both: side by side.",
)
@click.option(
    "--judges",
    type=click.Path(dir_okay=False, path_type=Path),
    help="YAML file of the jury (MedHELM's judges.yaml); overrides entries, benchmarks and the site.",
)
@click.option(
    "--no-judging",
    is_flag=True,
    help="Do not ask juries now; `intramural judge` asks them later about the stored answers.",
)
@click.option(
    "--unregistered",
    is_flag=True,
    help="Read gated and private data as it is now, not its registered version; such runs cannot be submitted.",
)
@click.option(
    "--plan",
    "plan_digest",
    metavar="DIGEST",
    help="Sample by the challenge in this plan's receipt, which the site cannot choose (`submission plan`).",
)
@click.option("--replace", is_flag=True, help="Replace an existing run that used other instances or rules.")
@click.option(
    "-d", "--dry-run", is_flag=True, help="Check everything and show the expected cost and time; ask the model nothing."
)
@click.option("--quiet", is_flag=True, help="Hide progress.")
@click.pass_obj
def run(
    site: Site,
    /,
    descriptions: Sequence[str],
    conf_paths: Sequence[Path],
    models_to_run: Sequence[str],
    groups_to_run: Sequence[str],
    priority: int | None,
    plan_digest: str | None,
    dry_run: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Ask models the questions of benchmarks, and score the answers.

    Run it again after an interruption: it resumes where it stopped, and never asks for a stored answer again. Options
    that may be repeated also take several values.
    """
    from agent.catalog.deployments import read_deployments
    from agent.catalog.run_entries import fill_models, parse_run_entry, read_run_entries
    from agent.io.progress import Progress
    from agent.judging.jury_selection import describe_own_judge
    from agent.runs.plan import RunOptions, plan_runs
    from agent.runs.run import run_entries

    entries = [parse_run_entry(description) for description in descriptions]
    entries += read_run_entries(conf_paths, priority=priority, groups=groups_to_run)
    if not entries:
        raise ConfigError("no run entries given", "Give --run-entries or --conf-paths.")
    entries = fill_models(entries, models_to_run)
    if plan_digest is not None:
        options |= _options_of_plan(site, plan_digest, {entry.model for entry in entries} - {""})
    if dry_run:
        plans = plan_runs(site, entries, RunOptions(**options))
        _print_forecasts(site, plans, no_judging=options["no_judging"])
        return
    outcomes = run_entries(site, entries, RunOptions(**options), Progress(quiet=quiet))
    runs = [outcome.summary.run for outcome in outcomes]
    notes = [f"{run.deployment}: {note}" for run in runs for note in run.details.workarounds]
    notes += [describe_own_judge(run.deployment) for run in runs if self_judged(run)]
    for note in dict.fromkeys(notes):
        click.echo(f"note: {note}", err=True)
    _print_outcomes(site, outcomes, {} if options["server"] else read_deployments(site.deployments))
    failed = sum(outcome.failed for outcome in outcomes)
    too_long = sum(outcome.too_long for outcome in outcomes)
    asked = sum(outcome.asked for outcome in outcomes)
    asked_for = sum(outcome.asked_for for outcome in outcomes)
    kept = sum(outcome.kept for outcome in outcomes)
    unseated = sum(outcome.judged.open for outcome in outcomes)
    lacking = f", without a reply of some judge {unseated:,}" if unseated else ""
    click.echo(
        f"{counted(len(outcomes), 'run')} in suite {options['suite']}: {_asked(asked, asked_for)}, kept {kept}, "
        f"failed {failed}{lacking}"
    )
    summaries = [outcome.summary for outcome in outcomes]
    for line in unjudged_words(summaries, options["suite"], no_judging=options["no_judging"]):
        click.echo(line, err=True)
    for line in left_out_words(runs):
        click.echo(line, err=True)
    if too_long:
        fit = "prompt does not fit its" if too_long == 1 else "prompts do not fit their"
        click.echo(f"{too_long} {fit} model; running again cannot help.", err=True)
    if failed:
        click.echo(
            f"{counted(failed, 'instance')} without an answer; run the same command again to ask only those.", err=True
        )
    if unseated:
        click.echo(unseated_words(unseated), err=True)
    if failed or unseated:
        raise click.exceptions.Exit(EXIT_FAILED_INSTANCES)


def _options_of_plan(site: Site, digest: str, models: set[str]) -> dict[str, object]:
    """Return digest and seed of a plan. Raises ConfigError or DisclosureError: it does not fit, or is not open."""
    from agent.cli.enroll import federation_of, today_day
    from agent.cli.submission_context import outbox_of
    from agent.disclosure.plans import derive_sampling_seed, list_open_plans, read_challenge
    from protocol.identity import model_digest

    source = click.get_current_context().get_parameter_source("sample_seed")
    if source is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("--plan gives the seed, so --sample-seed cannot be given")
    registry, outbox = federation_of(site).registry(today_day()), outbox_of(site)
    plan = outbox.find(digest)
    if plan.plan is None or plan.digest not in {known.digest for known in list_open_plans(outbox)}:
        raise DisclosureError(
            "the plan is not open: it has no receipt yet, has a result, or was abandoned",
            "Approve and send it first; `intramural submission status` lists plans with their states.",
        )
    others = sorted(model for model in models if model_digest(model) != plan.plan.model)
    if others:
        raise ConfigError(
            f"the plan is about another model than {', '.join(others)}", "Run the model that the plan names."
        )
    return {"plan": plan.digest, "sample_seed": derive_sampling_seed(read_challenge(outbox, registry, plan))}


def left_out_words(runs: "Sequence[Run]") -> list[str]:
    """Say which optional metrics were not measured, and what they want; nothing where all were."""
    where: dict[str, dict[str, None]] = {}
    for run in runs:
        if left_out := run.details.left_out:
            where.setdefault(", ".join(left_out), {})[run.benchmark] = None
    return [
        f"not measured: {metrics} of {', '.join(benchmarks)}; they need an encoder, see bertscore_model in site.yaml"
        for metrics, benchmarks in where.items()
    ]


def _print_forecasts(site: Site, plans: "Sequence[Plan]", *, no_judging: bool) -> None:
    """Print the data, cost and time of each plan. Raises at the end if any would be refused."""
    import asyncio

    from agent.judging.judge_run import select_jury_measures
    from agent.judging.jury_selection import describe_own_judge, is_on_own_jury
    from agent.runs.forecast.cost import describe_forecast, describe_total
    from agent.runs.forecast.judging import describe_judging, describe_judging_total, forecast_judging, try_judges
    from agent.runs.forecast.remaining import find_remaining
    from agent.runs.forecast.trial import forecast_plan, identify_server, try_servers
    from agent.site.http_limits import http_limits

    limits = http_limits(site)
    servers = asyncio.run(try_servers(plans, limits))
    judges = asyncio.run(try_judges([plan.jury for plan in plans], limits))
    refused: list[AgentError] = []
    forecasts, judgings, paces = [], [], []
    for plan in plans:
        if plan.data_note:
            click.echo(f"note: {plan.data_note}", err=True)
        met = servers[identify_server(plan)]
        click.echo(
            f"{plan.name}  {len(plan.instances)} of {plan.available} instances ({plan.dataset.known} data), "
            f"at most {plan.max_tokens} tokens an answer"
        )
        with site.store() as store:
            left = find_remaining(store, plan, met.capabilities)
        forecast = asyncio.run(forecast_plan(plan, left.ask, met.capabilities, limits))
        judging = forecast_judging(plan, left, judges)
        forecasts.append(forecast)
        judgings.append(judging)
        paces.append(met.pace)
        lines = describe_forecast(forecast, met.pace, plan.deployment.prices)
        if len(left.ask) < len(plan.instances):
            done = counted(len(plan.instances) - len(left.ask), "instance")
            lines.append(f"{done} of {len(plan.instances):,} not asked: stored, or equal to another")
        lines += _notes(plan, met, refused)
        lines += describe_judging(judging, other_jury=left.other_jury)
        if select_jury_measures(plan.rules) and not plan.jury:
            lines.append("judging is postponed" if no_judging else "no jury: answers are stored without being judged")
        if is_on_own_jury(plan.deployment.name, plan.jury):
            lines.append(f"note: {describe_own_judge(plan.deployment.name)}")
        for line in lines:
            click.echo(f"  {line}")
    if len(plans) > 1:
        click.echo(f"{len(plans)} runs together")
        prices = [plan.deployment.prices for plan in plans]
        for line in (*describe_total(forecasts, paces, prices), *describe_judging_total(judgings)):
            click.echo(f"  {line}")
    if refused:
        raise InferenceError("a run would be refused: its server lacks a required feature", refused[0].advice)


def _notes(plan: "Plan", met: "ServerTrial", refused: list[AgentError]) -> list[str]:
    """Say why there is no duration, and what the server lacks; add to `refused` if the run cannot do without it."""
    from agent.runs.run import list_workarounds

    notes = [f"no duration, and no prompt was counted: {met.problem}"] if met.problem else []
    if met.capabilities is None:
        return notes
    try:
        return [*notes, *(f"note: {note}" for note in list_workarounds(plan, met.capabilities))]
    except InferenceError as error:
        refused.append(error)
        return [*notes, f"would be refused: {error}"]


def _print_outcomes(site: Site, outcomes: "Sequence[RunOutcome]", deployments: "Mapping[str, Deployment]") -> None:
    from agent.runs.forecast.usage import Cost, compute_usage_cost, describe_usage, format_total_cost

    took = JudgingTook(site)
    priced: list[Cost | None] = []
    with site.store() as store:
        for outcome in outcomes:
            run = outcome.summary.run
            usage = store.answers.sum_usage(run.run_id)
            deployment = deployments.get(run.deployment)
            prices = deployment.prices if deployment else None
            click.echo(_outcome_line(outcome))
            lines = describe_usage(usage, prices, all_asked_now=not outcome.kept)
            for line in (*seats_words(outcome.summary), *lines, *took.of_run(store, run, outcome.judged)):
                click.echo(f"  {line}")
            priced.append(compute_usage_cost(usage, prices))
    total = format_total_cost(priced) if len(priced) > 1 else None
    together = took.together()
    if total:
        click.echo(f"{len(priced)} runs together cost {total}{', without judging' if together else ''}")
    if together:
        click.echo(f"{len(priced)} runs together:")
        for line in together:
            click.echo(f"  {line}")


def score_words(summary: "RunSummary") -> str:
    """Say what a run's main metric came to."""
    main, mean = summary.main, summary.main.mean
    unscored = ", ".join(f"{count} {reason}" for reason, count in sorted(main.unscored.items())) or "none"
    value = "no score" if mean.value is None else f"{mean.value:.3f}"
    interval = "" if mean.low is None else f" ({mean.low:.3f} to {mean.high:.3f})"
    return f"{main.metric} {value}{interval}  n={mean.n}  unscored: {unscored}"


def _outcome_line(outcome: "RunOutcome") -> str:
    return (
        f"{outcome.summary.run.name}  {score_words(outcome.summary)}  "
        f"{_asked(outcome.asked, outcome.asked_for)}, kept {outcome.kept}{judged_words(outcome.judged)}"
    )


def _asked(asked: int, asked_for: int) -> str:
    shared = f" for {asked_for} instances (equal prompts are asked once)" if asked != asked_for else ""
    return f"asked {asked}{shared}"
