"""Commands that show what runs came to: `summarize`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import click

from agent.errors import ConfigError
from agent.listing import format_option, show_rows
from agent.site import Site

if TYPE_CHECKING:
    from agent.evaluation.summarise import RunSummary

COLUMNS = {
    "mean": "Mean",
    "low": "Low",
    "high": "High",
    "n": "n",
    "units": "Units",
    "unscored": "Unscored",
    "notes": "Notes",
}


@click.command()
@click.option("--suite", default="default", show_default=True, help="Name of the collection of runs.")
@click.option("--all-metrics", is_flag=True, help="Every metric, not only each benchmark's main one.")
@format_option("csv")
@click.pass_obj
def summarize(site: Site, suite: str, all_metrics: bool, form: str) -> None:
    """Print a suite's leaderboard: n, unscored, mean and 95 % interval of every run."""
    from agent.evaluation.summarise import Note

    summaries = suite_summaries(site, suite)
    rows = summary_rows(summaries, all_metrics)
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


def suite_summaries(site: Site, suite: str) -> "list[RunSummary]":
    """Summarise every run of a suite.

    Raises:
        ConfigError: there is no such suite; names those that are there.
    """
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


def summary_rows(summaries: "Sequence[RunSummary]", all_metrics: bool) -> list[dict[str, Any]]:
    """Return a row a run and metric, as JSON shows it."""
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
