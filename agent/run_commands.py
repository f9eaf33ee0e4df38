"""Commands around runs: `run`, `summarize`, `export`. Option names are HELM's own."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import click

from agent.errors import ConfigError
from agent.listing import format_option, show_rows
from agent.site import Site

if TYPE_CHECKING:
    from agent.evaluation.run import RunOutcome
    from agent.evaluation.summarise import RunSummary

EXIT_FAILED_INSTANCES = 9

COLUMNS = {
    "mean": "Mean",
    "low": "Low",
    "high": "High",
    "n": "n",
    "units": "Units",
    "unscored": "Unscored",
    "notes": "Notes",
}


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
@click.option("--server", help="Ask this server (ending in /v1) instead of model_deployments.yaml.")
@click.option(
    "-n", "--max-in-flight", "--num-threads", "max_in_flight", type=click.IntRange(1, 4096), help="Requests at once."
)
@click.option(
    "--scoring",
    type=click.Choice(["intramural", "helm"]),
    help="intramural: the right rules; helm: upstream's, faults included, for comparison.",
)
@click.option("--replace", is_flag=True, help="Let go of a run that the suite holds with other instances or rules.")
@click.option("-d", "--dry-run", is_flag=True, help="Read and check everything, ask nothing.")
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
    dry_run: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Ask models the questions of benchmarks, and score the answers.

    Give the same command again to continue a run: stored answers are never asked for twice. Options that may be given
    several times also take several values.
    """
    from agent.catalog.run_entries import fill_models, parse_run_entry, read_run_entries
    from agent.evaluation.plan import RunOptions, plan_runs
    from agent.evaluation.progress import Progress
    from agent.evaluation.run import run_entries

    entries = [parse_run_entry(description) for description in descriptions]
    entries += read_run_entries(conf_paths, priority=priority, groups=groups_to_run)
    if not entries:
        raise ConfigError("there is nothing to run", "Give --run-entries or --conf-paths.")
    entries = fill_models(entries, models_to_run)
    if dry_run:
        for plan in plan_runs(site, entries, RunOptions(**options)):
            click.echo(
                f"{plan.name}  {len(plan.instances)} of {plan.available} instances ({plan.dataset.known} data), "
                f"at most {plan.max_tokens} tokens an answer"
            )
        return
    outcomes = run_entries(site, entries, RunOptions(**options), Progress(quiet=quiet))
    runs = [outcome.summary.run for outcome in outcomes]
    for note in dict.fromkeys(f"{run.deployment}: {note}" for run in runs for note in run.details["workarounds"]):
        click.echo(f"note: {note}", err=True)
    for outcome in outcomes:
        click.echo(_outcome_line(outcome))
    asked, kept, failed = (sum(getattr(outcome, what) for outcome in outcomes) for what in ("asked", "kept", "failed"))
    click.echo(f"{len(outcomes)} runs in suite {options['suite']}: asked {asked}, kept {kept}, failed {failed}")
    if failed:
        click.echo(f"{failed} instances have no answer; run the same command again to ask only those.", err=True)
        raise click.exceptions.Exit(EXIT_FAILED_INSTANCES)


def _outcome_line(outcome: "RunOutcome") -> str:
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
    from agent.evaluation.summarise import Note

    summaries = _summaries(site, suite)
    rows = _summary_rows(summaries, all_metrics)
    if form == "json":
        show_rows(rows, {}, form)
        return
    if form == "csv":
        show_rows([_flat(row) for row in rows], dict.fromkeys(rows[0], ""), form)
        return
    noted = [note for note in Note if any(note in row["notes"] for row in rows)]
    letters = dict(zip(noted, ascii_lowercase, strict=False))
    for row in rows:
        row["notes"] = " ".join(letters[note] for note in row["notes"])
    several = len({(row["model"], row["deployment"]) for row in rows}) > len({row["model"] for row in rows})
    columns = {"benchmark": "Benchmark", "model": "Model"}
    columns |= {"deployment": "Deployment"} if several else {}
    columns |= {"metric": "Metric"} if all_metrics else {}
    show_rows(rows, columns | COLUMNS, form, title=f"Suite {suite}")
    click.echo("Low and High bound the 95 % interval. Means are over n scored instances of so many units.")
    if not all_metrics:
        mains: dict[str, dict[str, None]] = {}
        for row in rows:
            mains.setdefault(row["metric"], {})[row["benchmark"]] = None
        click.echo("Metrics: " + "; ".join(f"{metric} ({', '.join(names)})" for metric, names in mains.items()))
    for note, letter in letters.items():
        click.echo(f"  {letter}  {note}")
    reasons = sum((Counter(row["unscored_reasons"]) for row in rows), Counter[str]())
    if reasons:
        click.echo("Unscored: " + ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items())))
    _print_win_rates(summaries)


def _summaries(site: Site, suite: str) -> "list[RunSummary]":
    from agent.evaluation.summarise import summarise_suite

    with site.store() as store:
        if suite not in store.suites():
            known = ", ".join(store.suites()) or "none yet"
            raise ConfigError(f"there is no suite {suite} (suites here: {known})", "Name a suite with --suite.")
        return summarise_suite(store, suite)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with its lists and maps as text, for a spreadsheet."""
    reasons = " ".join(f"{reason}={count}" for reason, count in row["unscored_reasons"].items())
    return {**row, "unscored_reasons": reasons, "notes": "; ".join(row["notes"])}


def _summary_rows(summaries: "Sequence[RunSummary]", all_metrics: bool) -> list[dict[str, Any]]:
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
            "scoring": summary.run.details["scoring"],
            "data": summary.run.details["data"]["known"],
            "language_model": summary.run.details["language_model"],
            "notes": summary.notes(metric),
        }
        for summary in summaries
        for metric in (summary.metrics if all_metrics else summary.metrics[:1])
    ]


def _print_win_rates(summaries: "Sequence[RunSummary]") -> None:
    from agent.evaluation.summarise import win_rates

    rates = win_rates(summaries)
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
    from agent.new_folder import new_folder

    rows = _summary_rows(_summaries(site, suite), all_metrics=True)
    with new_folder(out) as folder:
        (folder / "summary.json").write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", "utf-8")
        count = export_suite(site, suite, folder / "instances.jsonl", reveal=reveal)
    click.echo(f"{count} instances written, {'as they are' if reveal else 'redacted'}")
