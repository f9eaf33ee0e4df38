"""Commands that show what runs came to: `summarize`, `rescore`, `score`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import click

from agent.errors import ConfigError
from agent.listing import format_option, show_rows
from agent.run_commands import ManyValues
from agent.site import Site

if TYPE_CHECKING:
    from agent.evaluation.measures import ScoringChoice
    from agent.evaluation.summarise import MetricSummary, RunSummary

COLUMNS = {
    "mean": "Mean",
    "low": "Low",
    "high": "High",
    "n": "n",
    "units": "Units",
    "unscored": "Unscored",
}
BY_HELM = {"helm_mean": "HELM's mean", "helm_n": "HELM's n"}
SCORING = click.Choice(["intramural", "helm", "both"])


@click.command(cls=ManyValues)
@click.option("--suite", help="Name of the collection of runs.  [default: default]")
@click.option("--suites", multiple=True, help="Join these suites (and imported leaderboards) into --release.")
@click.option("--release", help="Show this local release, made of --suites.")
@click.option("--runs", "each_run", is_flag=True, help="A row for each run, also of parts of one benchmark.")
@click.option("--all-metrics", is_flag=True, help="Every metric, not only each benchmark's main one.")
@format_option("csv")
@click.pass_obj
def summarize(
    site: Site,
    suite: str | None,
    suites: Sequence[str],
    release: str | None,
    each_run: bool,
    all_metrics: bool,
    form: str,
) -> None:
    """Print a suite's leaderboard: n, unscored, mean and 95 % interval of every benchmark and model.

    Runs of parts of one benchmark (conditions, subsets) are one row, over all their instances. Options that may be
    given several times also take several values.
    """
    if release is None and suites:
        raise ConfigError("--suites joins suites under a name", "Give the name with --release.")
    if release is not None and suite is not None:
        raise ConfigError("--suite and --release name two things to show", "Leave out one of the two.")
    if release is None:
        suite = suite or "default"
        show_summaries(suite_summaries(site, suite, each_run), all_metrics, form, f"Suite {suite}")
        return
    from agent.exchange.releases import make_release, release_summaries

    if suites:
        for note in make_release(site, suites, release):
            click.echo(f"note: {note}", err=True)
    show_summaries(release_summaries(site, release), all_metrics, form, f"Release {release}")


def suite_summaries(site: Site, suite: str, each_run: bool = True) -> "list[RunSummary]":
    """Summarise a suite: every run, or every benchmark and model.

    Raises:
        ConfigError: there is no such suite; names those that are there.
    """
    from agent.evaluation.summarise import summarise_benchmarks, summarise_suite

    with site.store() as store:
        if suite not in store.suites():
            known = ", ".join(store.suites()) or "none yet"
            raise ConfigError(f"there is no suite {suite} (suites here: {known})", "Name a suite with --suite.")
        return summarise_suite(store, suite) if each_run else summarise_benchmarks(store, suite)


def show_summaries(summaries: "Sequence[RunSummary]", all_metrics: bool, form: str, title: str) -> None:
    """Print a leaderboard, with what its reader should know below it."""
    from agent.evaluation.summarise import Note

    rows = summary_rows(summaries, all_metrics)
    if form == "json":
        show_rows(rows, {}, form)
        return
    if form == "csv":
        show_rows([_flat(row) for row in rows], dict.fromkeys(_flat(rows[0]), "") if rows else {}, form)
        return
    noted = [note for note in Note if any(note in row["notes"] for row in rows)]
    letters = dict(zip(noted, ascii_lowercase, strict=False))
    shown = [{**_flat(row), "notes": " ".join(letters[note] for note in row["notes"])} for row in rows]
    show_rows(shown, _columns(rows, all_metrics), form, title=title)
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


def _columns(rows: Sequence[Mapping[str, Any]], all_metrics: bool) -> dict[str, str]:
    """Return the columns that these rows need."""
    several = len({(row["model"], row["deployment"]) for row in rows}) > len({row["model"] for row in rows})
    columns = {"benchmark": "Benchmark", "model": "Model"}
    columns |= {"deployment": "Deployment"} if several else {}
    columns |= {"parts": "Runs"} if any(len(row["runs"]) > 1 for row in rows) else {}
    columns |= {"metric": "Metric"} if all_metrics else {}
    return columns | COLUMNS | (BY_HELM if any(row["helm"] for row in rows) else {}) | {"notes": "Notes"}


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with its lists and maps as single values, for a table or a spreadsheet."""
    flat = {key: value for key, value in row.items() if key not in ("runs", "helm")}
    helm = row["helm"] or {}
    return {
        **flat,
        "parts": len(row["runs"]),
        "unscored_reasons": " ".join(f"{reason}={count}" for reason, count in row["unscored_reasons"].items()),
        **{f"helm_{key}": helm.get(key) for key in ("mean", "low", "high", "n", "unscored")},
        "notes": "; ".join(row["notes"]),
    }


def summary_rows(summaries: "Sequence[RunSummary]", all_metrics: bool) -> list[dict[str, Any]]:
    """Return a row a summary and metric, as JSON shows it."""
    return [
        {
            "benchmark": summary.run.benchmark,
            "model": summary.run.model,
            "deployment": summary.run.deployment,
            "run": summary.run.name,
            "runs": [run.name for run in summary.runs or (summary.run,)],
            "metric": metric.metric,
            **figures(metric),
            "helm": figures(metric.twin) if metric.twin else None,
            "scoring": summary.run.details["scoring"],
            "data": summary.run.details["data"]["known"],
            "language_model": summary.run.details["language_model"],
            "notes": summary.notes(metric),
        }
        for summary in summaries
        for metric in (summary.metrics if all_metrics else (summary.shown,))
    ]


def figures(metric: "MetricSummary") -> dict[str, Any]:
    """Return one metric's figures, as JSON shows them."""
    return {
        "n": metric.mean.n,
        "units": metric.mean.units,
        "unscored": sum(metric.unscored.values()),
        "unscored_reasons": metric.unscored,
        "mean": metric.mean.value,
        "low": metric.mean.low,
        "high": metric.mean.high,
        "interval": metric.mean.method,
    }


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
@click.option("--scoring", type=SCORING, help="Whose rules from now on (default: as each run was scored).")
@click.option("--all-metrics", is_flag=True, help="Also metrics of which nothing changed.")
@format_option("csv")
@click.pass_obj
def rescore(site: Site, suite: str, scoring: "ScoringChoice | None", all_metrics: bool, form: str) -> None:
    """Score a suite's stored answers again by this version's rules, asking no model, and say what changed.

    Runs whose texts were purged, and runs imported from HELM, stay as they are.
    """
    from agent.evaluation.rescore import rescore_suite

    with site.store() as store:
        if suite not in store.suites():
            known = ", ".join(store.suites()) or "none yet"
            raise ConfigError(f"there is no suite {suite} (suites here: {known})", "Name a suite with --suite.")
        outcomes = rescore_suite(store, suite, scoring)
    rows = [
        {
            "run": outcome.run.name,
            "metric": change.metric,
            "before": change.before,
            "after": change.after,
            "changed": change.changed,
            "instances": change.instances,
        }
        for outcome in outcomes
        for change in outcome.changes
        if all_metrics or form != "table" or change.changed
    ]
    columns = {"run": "Run", "metric": "Metric", "before": "Before", "after": "After", "changed": "Changed"}
    if rows or form != "table":
        show_rows(rows, columns | {"instances": "Instances"}, form, title=f"Suite {suite}")
    for outcome in outcomes:
        if outcome.left:
            click.echo(f"{outcome.run.name}: left as it was: {outcome.left}", err=True)
    done = sum(not outcome.left for outcome in outcomes)
    said = sum(any(change.changed for change in outcome.changes) for outcome in outcomes)
    click.echo(f"{done} of {len(outcomes)} runs scored again, {said} with a change; no model was asked", err=True)


@click.command()
@click.argument("benchmark")
@click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help="The dataset that was asked: a file, or a folder of official files.",
)
@click.option(
    "--answers",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='One {"instance_id": ..., "answer": ...} a line.',
)
@click.option("--scoring", type=SCORING, help="Whose rules (default: the benchmark's).")
@format_option("csv")
@click.pass_obj
def score(site: Site, benchmark: str, data: Path, answers: Path, scoring: "ScoringChoice | None", form: str) -> None:
    """Score answers that were produced elsewhere, and print the summary of every metric. Nothing is stored.

    BENCHMARK is an id, with arguments where it takes some: `clear:condition=homelessness`. An instance without an
    answer is unscored (not_asked) and listed; an id that the data does not have is an error.
    """
    from agent.evaluation.score_answers import score_answers

    scored = score_answers(site.own_benchmarks, benchmark, data, answers, scoring)
    summary = scored.summary
    if form == "json":
        rows = summary_rows([summary], all_metrics=True)
        show_rows([{**row, "missing": list(scored.missing)} for row in rows], {}, form)
    else:
        show_summaries([summary], True, form, f"Benchmark {summary.run.benchmark}")
    if scored.missing:
        shown = ", ".join(scored.missing[:MISSING_SHOWN])
        more = len(scored.missing) - MISSING_SHOWN
        click.echo(
            f"without an answer: {shown}{f' and {more} more (all with --format json)' if more > 0 else ''}", err=True
        )


MISSING_SHOWN = 20
