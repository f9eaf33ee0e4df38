"""The command `run`. Options that HELM also has use HELM's names."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from agent.cli.helm_options import (
    RUN_OPTIONS,
    accept_helm_options,
    local_path_option,
    train_trials_option,
)
from agent.cli.options import (
    FILE,
    dry_run_option,
    max_in_flight_option,
    quiet_option,
    suite_option,
)
from agent.cli.queueable import Queueable
from agent.errors import ConfigError, DisclosureError
from agent.io.wording import format_count
from agent.site.directory import Site
from agent.vocabulary import AnswerMode

if TYPE_CHECKING:
    from agent.io.progress import Progress
    from agent.runs.plan import Plan
    from agent.vocabulary import RunEntry


@click.command(cls=Queueable)
@click.option(
    "-r",
    "--run-entries",
    "--run-entry",
    "--run-specs",
    "descriptions",
    multiple=True,
    help='Run entries: "benchmark:model=...,...".',
)
@click.option(
    "-c",
    "--conf-paths",
    "--conf-file",
    "--conf",
    "conf_paths",
    multiple=True,
    type=FILE,
    help="Files of run entries in HELM's HOCON format.",
)
@click.option("--models-to-run", multiple=True, help="Models for entries that name none.")
@click.option("--groups-to-run", multiple=True, help="Run only entries of these groups.")
@click.option(
    "--priority",
    type=int,
    help="Run only entries of this or a higher priority (a lower number).",
)
@suite_option
@click.option(
    "-m",
    "--max-eval-instances",
    type=click.IntRange(1),
    help="Maximum instances per run, chosen in the same way as by HELM.",
)
@click.option(
    "--sample-seed", type=int, default=0, show_default=True, help="Seed that chooses the instances."
)
@click.option(
    "--deployment-map",
    type=FILE,
    help="YAML file that maps deployments or models named in entries to this site's deployments.",
)
@click.option(
    "--ignore-data-paths",
    is_flag=True,
    help="Use the site's own data instead of the files named in entries.",
)
@click.option(
    "--max-train-instances", type=click.IntRange(0), help="Maximum solved examples per prompt."
)
@click.option(
    "--answer-mode",
    type=click.Choice(get_args(AnswerMode)),
    help="How models answer, for entries without answer_mode=...: generate (freely, as in MedHELM); constrained (the "
    "server limits the answer to the options); logprob (the letter that the model finds likeliest is the answer); "
    "logprob_text and logprob_text_norm (the option's text, in total or per character).",
)
@click.option(
    "--server",
    help="URL of the server to ask (ending in /v1), instead of those in model_deployments.yaml.",
)
@max_in_flight_option
@click.option(
    "--scoring",
    type=click.Choice(["intramural", "helm", "both"]),
    help="intramural: corrected rules; helm: HELM's rules including their faults, for comparison; both: side by side.",
)
@click.option(
    "--judges",
    type=FILE,
    help="The jury's YAML file, like MedHELM's judges.yaml; overrides entries, benchmarks and the site.",
)
@click.option(
    "--no-judging",
    is_flag=True,
    help="Do not ask juries now; `intramural judge` can ask them later about the stored answers.",
)
@click.option(
    "--unregistered",
    is_flag=True,
    help="Read the current gated and private data, not the registered version; such runs cannot be submitted.",
)
@click.option(
    "--plan",
    "plan_digest",
    metavar="DIGEST",
    help="Sample with the seed from this plan's receipt, which the site cannot choose (see `submission plan`).",
)
@click.option(
    "--replace", is_flag=True, help="Replace an existing run that used other instances or rules."
)
@click.option(
    "--private",
    is_flag=True,
    help="Keep the runs from others on the pages of `intramural serve`. Everyone with access to the site's directory "
    "sees them.",
)
@click.option(
    "-o",
    "--output-path",
    type=click.Path(file_okay=False, path_type=Path),
    help="After the run, write the suite to HELM's output folder, redacted: DIR/runs/SUITE.",
)
@click.option(
    "--exit-on-error",
    is_flag=True,
    help="Do not start further runs after one in which an instance failed.",
)
@click.option(
    "--skip-instances",
    is_flag=True,
    help="Check entries, benchmarks and data, and list the runs, without contacting a server.",
)
@click.option(
    "--serve",
    "served",
    multiple=True,
    help="Start the server of this deployment (model_server in model_deployments.yaml), run its entries, stop it. "
    "Judges are served when all models have answered.",
)
@dry_run_option("Check everything and show the expected cost and time, without asking the model.")
@quiet_option
@local_path_option
@train_trials_option
@accept_helm_options(RUN_OPTIONS)
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
    output_path: Path | None,
    skip_instances: bool,
    served: Sequence[str],
    dry_run: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Run benchmarks on models and score the answers.

    After an interruption, run the command again: it resumes where it stopped, and never asks again for a stored
    answer. Options that may be repeated also accept several values.

    Every option of HELM's `helm-run` is accepted here, or refused with the reason: see docs/from-medhelm.md.
    """
    from agent.catalog.run_entries import collect_run_entries
    from agent.cli.run_forecast import print_forecasts
    from agent.cli.run_report import report_outcomes
    from agent.io.progress import Progress
    from agent.runs.plan import RunOptions, plan_runs
    from agent.runs.run import run_entries

    entries = collect_run_entries(
        descriptions,
        conf_paths,
        priority=priority,
        groups=groups_to_run,
        models_to_run=models_to_run,
    )
    if plan_digest is not None:
        options |= _read_sampling_options(site, plan_digest, entries)
    run_options = RunOptions(**options)
    if served and (skip_instances or dry_run):
        raise ConfigError(
            "--serve starts a server only for a run, not with --dry-run or --skip-instances",
            f"Start it first: `intramural models serve {served[0]} --background`.",
        )
    if skip_instances:
        _list_plans(plan_runs(site, entries, run_options))
        return
    if dry_run:
        print_forecasts(
            site, plan_runs(site, entries, run_options), no_judging=run_options.no_judging
        )
        return
    if output_path is not None:
        from agent.exchange.helm.output_folder import check_output_folder

        check_output_folder(output_path, run_options.suite)
    progress = Progress(quiet=quiet)
    if served:
        from agent.cli.models import WaitingNotes
        from agent.runs.serve_runs import run_while_serving

        waiting = {name: WaitingNotes(name) for name in served}
        done = run_while_serving(site, entries, run_options, waiting, progress)
    else:
        done = run_entries(site, entries, run_options, progress)
    try:
        report_outcomes(site, done, run_options, progress.noted)
    finally:  # also after failed instances, which the report ends with an exit code
        if output_path is not None:
            _write_output(site, output_path, run_options.suite, progress)


def _write_output(site: Site, output_path: Path, suite: str, progress: "Progress") -> None:
    """Write the suite to HELM's output folder, and say where."""
    from agent.exchange.helm.output_folder import write_output_folder

    count = write_output_folder(site, output_path, suite, progress)
    folder = output_path / "runs" / suite
    click.echo(f"{format_count(count, 'instance')} written to {folder}, redacted")


def _list_plans(plans: "Sequence[Plan]") -> None:
    """Print the runs that would be made."""
    for plan in plans:
        asked = len(plan.instances)
        of_all = "" if asked == plan.available else f" of {plan.available:,} in the data"
        click.echo(f"{plan.name}  {format_count(asked, 'instance')}{of_all}")
    click.echo(f"{format_count(len(plans), 'run')} ready; no server was contacted")


def _read_sampling_options(
    site: Site, digest: str, entries: "Sequence[RunEntry]"
) -> dict[str, object]:
    """Return the digest of a plan and the seed from its receipt.

    Raises:
        DisclosureError: the plan is not open.
        ConfigError: the plan is for a model other than that of the entries.
    """
    from agent.cli.federation import open_federation, today_day
    from agent.cli.submission_context import open_outbox
    from agent.disclosure.plans import derive_sampling_seed, list_open_plans, read_challenge
    from protocol.identity import model_digest

    source = click.get_current_context().get_parameter_source("sample_seed")
    if source is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError(
            "--plan and --sample-seed cannot be combined, because the plan determines the seed"
        )
    registry = open_federation(site).read_registry(today_day(site))
    outbox = open_outbox(site)
    submission = outbox.find(digest)
    open_digests = {open_plan.digest for open_plan in list_open_plans(outbox)}
    if submission.plan is None or submission.digest not in open_digests:
        raise DisclosureError(
            "the plan is not open: it has no receipt yet, has a result, or was abandoned",
            "Approve and send it first; `intramural submission status` lists plans with their states.",
        )
    models = {entry.model for entry in entries if entry.model}
    unplanned = sorted(model for model in models if model_digest(model) != submission.plan.model)
    if unplanned:
        raise ConfigError(
            f"the plan is not for {', '.join(unplanned)}",
            "Run the model that the plan names.",
        )
    challenge = read_challenge(outbox, registry, submission)
    return {"plan": submission.digest, "sample_seed": derive_sampling_seed(challenge)}
