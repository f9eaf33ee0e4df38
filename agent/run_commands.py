"""Commands around runs: `run`, `summarize`, `export`. Option names are HELM's own."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from agent.errors import ConfigError
from agent.listing import format_option, show_rows
from agent.site import Site

EXIT_FAILED_INSTANCES = 9

COLUMNS = {
    "benchmark": "Benchmark",
    "model": "Model",
    "metric": "Metric",
    "n": "n",
    "unscored": "Unscored",
    "mean": "Mean",
    "low": "95 % low",
    "high": "95 % high",
    "notes": "Notes",
}


@click.command()
@click.option("-r", "--run-entries", "descriptions", multiple=True, help='A run entry: "benchmark:model=...,...".')
@click.option(
    "-c",
    "--conf-paths",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file of run entries (HELM's HOCON form).",
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
@click.option("--server", help="Ask this server (ending in /v1) instead of model_deployments.yaml.")
@click.option("--max-in-flight", type=click.IntRange(1, 4096), help="Requests at once.")
@click.option(
    "--scoring",
    type=click.Choice(["intramural", "helm"]),
    help="intramural: the right rules; helm: upstream's, faults included, for comparison.",
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
    quiet: bool,
    **options: Any,
) -> None:
    """Ask models the questions of benchmarks, and score the answers.

    Give the same command again to continue a run: stored answers are never asked for twice.
    """
    from agent.catalog.run_entries import fill_models, parse_run_entry, read_run_entries
    from agent.evaluation.plan import RunOptions
    from agent.evaluation.progress import Progress
    from agent.evaluation.run import run_entries

    entries = [parse_run_entry(description) for description in descriptions]
    entries += read_run_entries(conf_paths, priority=priority, groups=groups_to_run)
    if not entries:
        raise ConfigError("there is nothing to run", "Give --run-entries or --conf-paths.")
    entries = fill_models(entries, models_to_run)
    outcomes = run_entries(site, entries, RunOptions(**options), Progress(quiet=quiet))
    runs = [outcome.summary.run for outcome in outcomes]
    for note in dict.fromkeys(f"{run.deployment}: {note}" for run in runs for note in run.details["workarounds"]):
        click.echo(f"note: {note}", err=True)
    for outcome in outcomes:
        click.echo(_outcome_line(outcome))
    failed = sum(outcome.failed for outcome in outcomes)
    if failed:
        click.echo(f"{failed} instances have no answer; run the same command again to ask only those.", err=True)
        raise click.exceptions.Exit(EXIT_FAILED_INSTANCES)


def _outcome_line(outcome: Any) -> str:
    main, mean = outcome.summary.main, outcome.summary.main.mean
    unscored = ", ".join(f"{count} {reason}" for reason, count in sorted(main.unscored.items())) or "none"
    value = "no score" if mean.value is None else f"{mean.value:.3f}"
    interval = "" if mean.low is None else f" ({mean.low:.3f} to {mean.high:.3f})"
    return (
        f"{outcome.summary.run.name}  {main.metric} {value}{interval}  n={mean.n}  unscored: {unscored}  "
        f"asked {outcome.asked}, kept {outcome.kept}"
    )


@click.command()
@click.option("--suite", default="default", show_default=True, help="Name of the collection of runs.")
@click.option("--all-metrics", is_flag=True, help="Every metric, not only each benchmark's main one.")
@format_option("csv")
@click.pass_obj
def summarize(site: Site, suite: str, all_metrics: bool, form: str) -> None:
    """Print a suite's leaderboard: n, unscored, mean and 95 % interval of every run."""
    rows = _summary_rows(site, suite, all_metrics)
    show_rows(rows, COLUMNS, form, title=f"Suite {suite}")
    if form == "table":
        _print_win_rates(site, suite)


def _summary_rows(site: Site, suite: str, all_metrics: bool) -> list[dict[str, Any]]:
    from agent.evaluation.summarise import summarise_suite

    with site.store() as store:
        if suite not in store.suites():
            known = ", ".join(store.suites()) or "none yet"
            raise ConfigError(f"there is no suite {suite} (suites here: {known})", "Name a suite with --suite.")
        summaries = summarise_suite(store, suite)
    return [
        {
            "benchmark": summary.run.benchmark,
            "model": summary.run.model,
            "deployment": summary.run.deployment,
            "run": summary.run.name,
            "metric": metric.metric,
            "n": metric.mean.n,
            "units": metric.mean.units,
            "unscored": sum(metric.unscored.values()),
            "unscored_reasons": metric.unscored,
            "mean": metric.mean.value,
            "low": metric.mean.low,
            "high": metric.mean.high,
            "interval": metric.mean.method,
            "language_model": summary.run.details["language_model"],
            "notes": "; ".join(
                (summary.warnings() if metric is summary.main else [])
                + ([] if summary.run.details["language_model"] else ["not a language model"])
            ),
        }
        for summary in summaries
        for metric in (summary.metrics if all_metrics else summary.metrics[:1])
    ]


def _print_win_rates(site: Site, suite: str) -> None:
    from agent.evaluation.summarise import summarise_suite, win_rates

    with site.store() as store:
        rates = win_rates(summarise_suite(store, suite))
    rows = [
        {"model": model, "rate": rate}
        for model, rate in sorted(rates.items(), key=lambda item: (-(item[1] or 0.0), item[0]))
    ]
    if len(rows) > 1:
        show_rows(rows, {"model": "Model", "rate": "Mean win rate"}, "table")


@click.command()
@click.option("--suite", default="default", show_default=True, help="Name of the collection of runs.")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="A new folder.")
@click.option("--reveal", is_flag=True, help="Original instead of redacted text; written to the audit log.")
@click.pass_obj
def export(site: Site, suite: str, out: Path, reveal: bool) -> None:
    """Write a suite's summary and its redacted instances as files (summary.json, instances.jsonl)."""
    from agent.evaluation.export import export_suite

    rows = _summary_rows(site, suite, all_metrics=True)
    try:
        out.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise ConfigError(
            f"the folder for the export cannot be made ({error.strerror})", "Name a new folder."
        ) from None
    (out / "summary.json").write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", "utf-8")
    count = export_suite(site, suite, out / "instances.jsonl", reveal=reveal)
    click.echo(f"{count} instances written, {'as they are' if reveal else 'redacted'}")
