"""The command `run`. Option names are HELM's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.catalog.wording import counted
from agent.errors import AgentError, ConfigError, DisclosureError, InferenceError
from agent.judging_words import JudgingTook, judged_words, seats_words, self_judged, unjudged_words, unseated_words
from agent.site import Site

if TYPE_CHECKING:
    from agent.catalog.deployments import Deployment
    from agent.evaluation.plan import Plan
    from agent.evaluation.run import RunOutcome
    from agent.evaluation.summarise import RunSummary
    from agent.evaluation.trial import Met
    from agent.store import Run

EXIT_FAILED_INSTANCES = 9


class ManyValues(click.Command):
    """Takes several values after one option, as HELM's commands do: `--run-entries A B` is `-r A -r B`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each further value."""
        many = {
            name
            for option in self.params
            if isinstance(option, click.Option) and option.multiple
            for name in option.opts
        }
        spelled: list[str] = []
        current = ""
        for arg in args:
            if arg.startswith("-"):
                current = arg if arg in many else ""
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
@click.option("--groups-to-run", multiple=True, help="Keep entries of these groups.")
@click.option("--priority", type=int, help="Keep entries of this priority or a more important one.")
@click.option("--suite", default="default", show_default=True, help="Name of the collection of runs.")
@click.option(
    "-m", "--max-eval-instances", type=click.IntRange(1), help="At most so many instances a run (HELM's choice)."
)
@click.option(
    "--sample-seed", type=int, default=0, show_default=True, help="Another seed, another choice of instances."
)
@click.option(
    "--deployment-map",
    type=click.Path(dir_okay=False, path_type=Path),
    help="YAML file: for a deployment or model that entries name, the deployment here that stands for it.",
)
@click.option("--ignore-data-paths", is_flag=True, help="Use the site's own data, whatever files the entries name.")
@click.option("--max-train-instances", type=click.IntRange(0), help="At most so many solved examples in a prompt.")
@click.option("--server", help="Ask this server (ending in /v1) instead of model_deployments.yaml.")
@click.option(
    "-n", "--max-in-flight", "--num-threads", "max_in_flight", type=click.IntRange(1, 4096), help="Requests at once."
)
@click.option(
    "--scoring",
    type=click.Choice(["intramural", "helm", "both"]),
    help="intramural: the right rules; helm: upstream's, faults included, for comparison; both: side by side.",
)
@click.option(
    "--judges",
    type=click.Path(dir_okay=False, path_type=Path),
    help="YAML file of the jury (MedHELM's judges.yaml), whatever entries, benchmarks and the site name.",
)
@click.option(
    "--no-judging", is_flag=True, help="Ask no jury now; `intramural judge` asks it about the stored answers."
)
@click.option(
    "--unregistered",
    is_flag=True,
    help="Read gated and private data as it lies, not its registered version; never for a submission.",
)
@click.option(
    "--plan",
    "plan_digest",
    metavar="DIGEST",
    help="Sample by the challenge of this plan's receipt, which nobody here could choose (`submission plan`).",
)
@click.option("--replace", is_flag=True, help="Let go of a run that the suite holds with other instances or rules.")
@click.option(
    "-d", "--dry-run", is_flag=True, help="Check everything and say what the run would take; ask no question."
)
@click.option("--quiet", is_flag=True, help="No progress.")
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

    Give the same command again to continue a run: stored answers are never asked for twice. Options that may be given
    several times also take several values.
    """
    from agent.catalog.deployments import read_deployments
    from agent.catalog.run_entries import fill_models, parse_run_entry, read_run_entries
    from agent.evaluation.plan import RunOptions, plan_runs
    from agent.evaluation.progress import Progress
    from agent.evaluation.run import run_entries
    from agent.evaluation.seating import own_judge_words

    entries = [parse_run_entry(description) for description in descriptions]
    entries += read_run_entries(conf_paths, priority=priority, groups=groups_to_run)
    if not entries:
        raise ConfigError("there is nothing to run", "Give --run-entries or --conf-paths.")
    entries = fill_models(entries, models_to_run)
    if plan_digest is not None:
        options |= _options_of_plan(site, plan_digest, {entry.model for entry in entries} - {""})
    if dry_run:
        plans = plan_runs(site, entries, RunOptions(**options))
        _say_what_it_would_take(site, plans, no_judging=options["no_judging"])
        return
    outcomes = run_entries(site, entries, RunOptions(**options), Progress(quiet=quiet))
    runs = [outcome.summary.run for outcome in outcomes]
    notes = [f"{run.deployment}: {note}" for run in runs for note in run.details["workarounds"]]
    notes += [own_judge_words(run.deployment) for run in runs if self_judged(run)]
    for note in dict.fromkeys(notes):
        click.echo(f"note: {note}", err=True)
    _say_what_came_of_it(site, outcomes, {} if options["server"] else read_deployments(site.deployments))
    failed, too_long = (sum(getattr(outcome, what) for outcome in outcomes) for what in ("failed", "too_long"))
    asked, kept = sum(outcome.asked for outcome in outcomes), sum(outcome.kept for outcome in outcomes)
    asked_for = sum(outcome.asked_for for outcome in outcomes)
    unseated = sum(outcome.judged.open for outcome in outcomes)
    empty = f", with an empty seat {unseated:,}" if unseated else ""
    click.echo(
        f"{counted(len(outcomes), 'run')} in suite {options['suite']}: {_asked(asked, asked_for)}, kept {kept}, "
        f"failed {failed}{empty}"
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
    from agent.disclosure.plans import challenge_of, open_plans, sampling_seed
    from agent.enrolment_commands import federation_of, today_day
    from agent.submission_context import outbox_of
    from protocol.identity import model_digest

    source = click.get_current_context().get_parameter_source("sample_seed")
    if source is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("--plan gives the seed, so --sample-seed cannot be given")
    registry, outbox = federation_of(site).registry(today_day()), outbox_of(site)
    plan = outbox.find(digest)
    if plan.plan is None or plan.digest not in {known.digest for known in open_plans(outbox)}:
        raise DisclosureError(
            "this is no open plan: it has no receipt yet, has a result, or was abandoned",
            "Approve and send it first; `intramural submission status` lists plans with their states.",
        )
    others = sorted(model for model in models if model_digest(model) != plan.plan.model)
    if others:
        raise ConfigError(
            f"the plan is about another model than {', '.join(others)}", "Run the model that the plan names."
        )
    return {"plan": plan.digest, "sample_seed": sampling_seed(challenge_of(outbox, registry, plan))}


def left_out_words(runs: "Sequence[Run]") -> list[str]:
    """Say which optional metrics were not measured, and what they want; nothing where all were."""
    where: dict[str, dict[str, None]] = {}
    for run in runs:
        if left_out := run.details.get("left_out"):
            where.setdefault(", ".join(left_out), {})[run.benchmark] = None
    return [
        f"not measured: {metrics} of {', '.join(benchmarks)}; they need an encoder, see bertscore_model in site.yaml"
        for metrics, benchmarks in where.items()
    ]


def _say_what_it_would_take(site: Site, plans: "Sequence[Plan]", *, no_judging: bool) -> None:
    """Print, for each plan, what was read and what asking it would take. Raises at the end if any would be refused."""
    import asyncio

    from agent.evaluation.forecast import forecast_lines, together_lines
    from agent.evaluation.judging import jury_measures
    from agent.evaluation.judging_forecast import forecast_judging, judging_lines, judging_together, meet_all_judges
    from agent.evaluation.left_to_do import left_to_do
    from agent.evaluation.plan import http_limits
    from agent.evaluation.seating import judges_itself, own_judge_words
    from agent.evaluation.trial import forecast_plan, meet_servers, served

    limits = http_limits(site)
    servers = asyncio.run(meet_servers(plans, limits))
    judges = asyncio.run(meet_all_judges([plan.jury for plan in plans], limits))
    refused: list[AgentError] = []
    forecasts, judgings = [], []
    for plan in plans:
        if plan.data_note:
            click.echo(f"note: {plan.data_note}", err=True)
        met = servers[served(plan)]
        click.echo(
            f"{plan.name}  {len(plan.instances)} of {plan.available} instances ({plan.dataset.known} data), "
            f"at most {plan.max_tokens} tokens an answer"
        )
        with site.store() as store:
            left = left_to_do(store, plan, met.capabilities)
        forecasts.append(asyncio.run(forecast_plan(plan, left.ask, met.capabilities, limits)))
        judgings.append(forecast_judging(plan, left, judges))
        lines = forecast_lines(forecasts[-1], met.pace, plan.deployment.prices)
        if len(left.ask) < len(plan.instances):
            done = counted(len(plan.instances) - len(left.ask), "instance")
            lines.append(f"{done} of {len(plan.instances):,} not asked: stored, or equal to another")
        lines += [*_notes(plan, met, refused), *judging_lines(judgings[-1], other_jury=left.other_jury)]
        if jury_measures(plan.rules) and not plan.jury:
            lines.append("judging is left for later" if no_judging else "no jury: answers are kept and not judged")
        if judges_itself(plan.deployment.name, plan.jury):
            lines.append(f"note: {own_judge_words(plan.deployment.name)}")
        for line in lines:
            click.echo(f"  {line}")
    if len(plans) > 1:
        click.echo(f"{len(plans)} runs together")
        paces, prices = [servers[served(plan)].pace for plan in plans], [plan.deployment.prices for plan in plans]
        for line in (*together_lines(forecasts, paces, prices), *judging_together(judgings)):
            click.echo(f"  {line}")
    if refused:
        raise InferenceError("a run would be refused: its server lacks what it needs", refused[0].advice)


def _notes(plan: "Plan", met: "Met", refused: list[AgentError]) -> list[str]:
    """Say why there is no duration, and what the server lacks; add to `refused` if the run cannot do without it."""
    from agent.evaluation.run import workarounds_of

    notes = [f"no duration, and no prompt was counted: {met.problem}"] if met.problem else []
    if met.capabilities is None:
        return notes
    try:
        return [*notes, *(f"note: {note}" for note in workarounds_of(plan, met.capabilities))]
    except InferenceError as error:
        refused.append(error)
        return [*notes, f"would be refused: {error}"]


def _say_what_came_of_it(site: Site, outcomes: "Sequence[RunOutcome]", deployments: "Mapping[str, Deployment]") -> None:
    from agent.evaluation.usage import Cost, total_cost, usage_cost, usage_lines

    took = JudgingTook(site)
    priced: list[Cost | None] = []
    with site.store() as store:
        for outcome in outcomes:
            run = outcome.summary.run
            usage = store.usage(run.run_id)
            deployment = deployments.get(run.deployment)
            prices = deployment.prices if deployment else None
            click.echo(_outcome_line(outcome))
            lines = usage_lines(usage, prices, all_asked_now=not outcome.kept)
            for line in (*seats_words(outcome.summary), *lines, *took.of_run(store, run, outcome.judged)):
                click.echo(f"  {line}")
            priced.append(usage_cost(usage, prices))
    total = total_cost(priced) if len(priced) > 1 else None
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
