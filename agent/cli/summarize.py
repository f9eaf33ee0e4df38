"""The command `summarize`: leaderboards of suites and releases."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import click

from agent.cli.options import ManyValues, format_option
from agent.cli.output import fitting, show_rows
from agent.cli.plot_option import check_plot, draw, plot_option
from agent.cli.summarize_tables import (
    bounds_facts,
    counts,
    jury_facts,
    rank_words,
    show_juries,
    show_standings,
    standing_facts,
)
from agent.errors import ConfigError
from agent.io.wording import counted
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.results.summarize import MetricSummary, RunSummary
    from agent.store import Run

COLUMNS = {
    "mean": "Mean",
    "low": "Low",
    "high": "High",
    "rank_range": "Rank",
    "bound_range": "Bounds",
    "floor": "Floor",
    "n": "n",
    "units": "Units",
    "unscored": "Unscored",
}
SPARE = ("units", "bound_range", "rank_range")  # left out where a table is wider than the terminal, in this order
FLOOR = "the mean, were what the model left without a score itself (empty, unparsed, length, content_filter) the lowest"
RANK = "the best and the worst place by floor that the data allow (Mean may order the models another way)"
BOUNDS = "the mean, were every unscored instance wrong, or right; shown where they are more than 0.01 apart"
BY_HELM = {"helm_mean": "HELM's mean", "helm_n": "HELM's n"}


@click.command(cls=ManyValues)
@click.option("--suite", help="Name of the collection of runs.  [default: default]")
@click.option("--suites", multiple=True, help="Join these suites (and imported leaderboards) into --release.")
@click.option("--release", help="Show this local release, made of --suites.")
@click.option("--runs", "each_run", is_flag=True, help="One row per run, even for parts of one benchmark.")
@click.option("--all-metrics", is_flag=True, help="Every metric, not only each benchmark's main one.")
@click.option(
    "--subgroups", is_flag=True, help="By sex, age group, or other groups of patients that a benchmark defines."
)
@plot_option
@format_option("csv")
@click.pass_obj
def summarize(
    site: Site,
    suite: str | None,
    suites: Sequence[str],
    release: str | None,
    each_run: bool,
    all_metrics: bool,
    subgroups: bool,
    plot: Path | None,
    form: str,
) -> None:
    """Print a suite's leaderboard.

    n, unscored, mean and 95 % interval of every benchmark and model. Runs of parts of one benchmark (conditions,
    subsets) are one row, over all their instances. Options that may be repeated also take several values.
    """
    if release is None and suites:
        raise ConfigError("--suites joins suites under a name", "Give the name with --release.")
    if release is not None and suite is not None:
        raise ConfigError("--suite and --release name two things to show", "Leave out one of the two.")
    if plot is not None and subgroups:
        raise ConfigError("--plot draws leaderboards, not subgroups", "Leave out one of the two.")
    check_plot(plot, form)
    if release is None:
        suite = suite or "default"
        _show(site, suite_summaries(site, suite, each_run), f"Suite {suite}", all_metrics, subgroups, plot, form)
        return
    from agent.exchange.releases import make_release, release_summaries

    if suites:
        for note in make_release(site, suites, release):
            click.echo(f"note: {note}", err=True)
    _show(site, release_summaries(site, release), f"Release {release}", all_metrics, subgroups, plot, form)


def _show(
    site: Site,
    summaries: "Sequence[RunSummary]",
    title: str,
    all_metrics: bool,
    subgroups: bool,
    plot: Path | None,
    form: str,
) -> None:
    if subgroups:
        show_subgroups(site, summaries, all_metrics, form, title)
        return
    from agent.results.standings import add_standings

    with site.store() as store:
        summaries = add_standings(store, summaries)
    show_summaries(summaries, all_metrics, form, title)
    if plot is not None:
        from agent.plots.charts import build_chart
        from agent.plots.page import render_svg

        draw(plot, build_chart(summaries, title), render_svg)


def suite_summaries(site: Site, suite: str, each_run: bool = True) -> "list[RunSummary]":
    """Summarise a suite: every run, or every benchmark and model.

    Raises:
        ConfigError: there is no such suite; names those that are there.
    """
    from agent.results.summarize import summarise_benchmarks, summarise_suite

    with site.store() as store:
        store.runs.require_suite(suite)
        return summarise_suite(store, suite) if each_run else summarise_benchmarks(store, suite)


def show_summaries(summaries: "Sequence[RunSummary]", all_metrics: bool, form: str, title: str) -> None:
    """Print a leaderboard; a table is followed by the notes that its reader needs."""
    from agent.results.summarize import Note

    rows = summary_rows(summaries, all_metrics)
    if form == "json":
        show_rows(rows, {}, form)
        return
    if form == "csv":
        show_rows([_flat(row) for row in rows], dict.fromkeys(_flat(rows[0]), "") if rows else {}, form)
        return
    letters: dict[Note, str] = {}
    for note in Note:
        if any(note in row["notes"] for row in rows):
            letters[note] = ascii_lowercase[len(letters)]
    table = []
    for row in rows:
        notes = " ".join(letters[note] for note in row["notes"])
        table.append({**_flat(row), "notes": notes})
    needed = _columns(rows, all_metrics)
    columns = fitting(table, needed, SPARE)
    show_rows(table, columns, form, title=title)
    _explain_columns(needed, columns)
    if not all_metrics:
        _print_main_metrics(rows)
    for note, letter in letters.items():
        click.echo(f"  {letter}  {note}")
    _print_data_problems(rows)
    reasons = Counter[str]()
    for row in rows:
        reasons.update(row["unscored_reasons"])
    if reasons:
        over = ", over all metrics" if all_metrics else ""
        click.echo(f"Unscored{over}: {counts(reasons)}")
    show_juries(rows, all_metrics)
    _print_win_rates(summaries)


def _explain_columns(needed: Mapping[str, str], columns: Mapping[str, str]) -> None:
    """Explain the columns shown, and name those that need a wider terminal."""
    units = "grouped by Units" if "units" in needed else "each of its own unit"
    click.echo(f"Low and High bound the 95 % interval. Means are over n scored instances, {units}.")
    hidden = [heading for key, heading in needed.items() if key not in columns]
    if hidden:
        click.echo(f"Shown in a wider terminal, and with --format csv or json: {', '.join(hidden)}.")
    if "rank_range" in columns:
        click.echo(f"Rank: {RANK}.")
    if "bound_range" in columns:
        click.echo(f"Bounds: {BOUNDS}.")
    if "floor" in columns:
        click.echo(f"Floor: {FLOOR}.")


def _print_main_metrics(rows: Sequence[Mapping[str, Any]]) -> None:
    benchmarks_by_metric: dict[str, dict[str, None]] = {}
    for row in rows:
        benchmarks_by_metric.setdefault(row["metric"], {})[row["benchmark"]] = None
    groups = [f"{metric} ({', '.join(benchmarks)})" for metric, benchmarks in benchmarks_by_metric.items()]
    click.echo(f"Metrics: {'; '.join(groups)}")


def _print_data_problems(rows: Sequence[Mapping[str, Any]]) -> None:
    lines: dict[str, None] = {}
    for row in rows:
        for problem in row["data_problems"]:
            lines[f"Data of {row['benchmark']}: {problem}"] = None
    for line in lines:
        click.echo(line)


def _columns(rows: Sequence[Mapping[str, Any]], all_metrics: bool) -> dict[str, str]:
    """Return the columns that these rows need."""
    models = {row["model"] for row in rows}
    deployments = {(row["model"], row["deployment"]) for row in rows}
    rows_by_name = Counter((row["benchmark"], row["model"], row["deployment"], row["metric"]) for row in rows)
    columns = {"benchmark": "Benchmark", "model": "Model"}
    if len(deployments) > len(models):
        columns["deployment"] = "Deployment"
    if any(len(row["runs"]) > 1 for row in rows):
        columns["parts"] = "Runs"
    if any(count > 1 for count in rows_by_name.values()):
        columns["arguments"] = "Arguments"
    if all_metrics:
        columns["metric"] = "Metric"
    columns |= COLUMNS
    if all(row["floor"] == row["mean"] for row in rows):
        del columns["floor"]
    if any(row["n"] for row in rows) and all(row["units"] == row["n"] for row in rows):
        del columns["units"]
    if all_metrics or all(row["rank"] is None for row in rows):  # beside names of metrics there is no room
        del columns["rank_range"]
    if all_metrics or not any(row["bounds"] and row["bounds"]["matters"] for row in rows):
        del columns["bound_range"]
    if any(row["helm"] for row in rows):
        columns |= BY_HELM
    return columns | {"notes": "Notes"}


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with its lists and maps as single values, for a table or a spreadsheet."""
    flat = {key: value for key, value in row.items() if key not in _NESTED}
    flat |= _flat_bounds(row["bounds"] or {})
    flat |= _flat_jury(row["jury"] or {})
    flat["rank_range"] = rank_words(row["rank"])
    standing = row["standing"] or {}
    for key, value in standing.items():
        if key != "rank":
            flat[f"model_{key}"] = value
    flat["model_rank_range"] = rank_words(standing.get("rank"))
    flat["parts"] = len(row["runs"])
    flat["unscored_reasons"] = _pairs(row["unscored_reasons"])
    helm = row["helm"] or {}
    for key in ("mean", "low", "high", "n", "unscored"):
        flat[f"helm_{key}"] = helm.get(key)
    flat["data_problems"] = "; ".join(row["data_problems"])
    flat["notes"] = "; ".join(row["notes"])
    return flat


_NESTED = ("runs", "helm", "standing", "bounds", "jury", "rank")


def _flat_bounds(bounds: Mapping[str, Any]) -> dict[str, Any]:
    span = f"{bounds['low']:.2f}-{bounds['high']:.2f}" if bounds.get("matters") else None
    return {"bound_low": bounds.get("low"), "bound_high": bounds.get("high"), "bound_range": span}


def _flat_jury(jury: Mapping[str, Any]) -> dict[str, Any]:
    """Return a jury as single values; the values of its judges are joined in the order of their names."""
    scale = jury.get("scale") or {}
    judges = jury.get("each", ())
    flat = {
        "jury_metric": jury.get("metric"),
        "jury_scale_low": scale.get("low"),
        "jury_scale_high": scale.get("high"),
        "quorum": jury.get("quorum"),
        "judges": "; ".join(jury.get("judges", ())),
    }
    for key in ("mean", "filled", "repaired"):
        values = ["" if judge[key] is None else str(judge[key]) for judge in judges]
        flat[f"judges_{key}"] = "; ".join(values)
    criteria = jury.get("criteria", {})
    means = {name: criterion["mean"] for name, criterion in criteria.items() if criterion["mean"] is not None}
    flat |= {
        "judges_faults": "; ".join(_pairs(judge["faults"]) for judge in judges),
        "seats": jury.get("seats"),
        "seats_filled": jury.get("filled"),
        "seats_repaired": jury.get("repaired"),
        "seat_faults": _pairs(jury.get("faults", {})),
        "criteria": _pairs(means),
        "family_judges": "; ".join(jury.get("family", ())),
    }
    without_family = jury.get("without_family") or {}
    for key in ("mean", "low", "high", "n"):
        flat[f"without_family_{key}"] = without_family.get(key)
    return flat


def _pairs(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def summary_rows(summaries: "Sequence[RunSummary]", all_metrics: bool) -> list[dict[str, Any]]:
    """Return a row a summary and metric, as JSON shows it."""
    return [
        {
            "benchmark": summary.run.benchmark,
            "model": summary.run.model,
            "deployment": summary.run.deployment,
            "run": summary.run.name,
            "arguments": _arguments(summary.run),
            "runs": [run.name for run in summary.runs or (summary.run,)],
            "metric": metric.metric,
            **figures(metric),
            "jury": jury_facts(metric if all_metrics or metric.jury else summary.judged),
            "helm": figures(metric.twin) if metric.twin else None,
            "rank": summary.rank if metric is summary.main else None,
            "standing": standing_facts(summary),
            "cut_off": summary.cut_off,
            "scoring": summary.run.details.scoring,
            "data": summary.run.details.data.known,
            "data_problems": _data_problems(summary),
            "language_model": summary.run.details.language_model,
            "notes": summary.notes(metric),
        }
        for summary in summaries
        for metric in (summary.metrics if all_metrics else (summary.shown,))
    ]


def _data_problems(summary: "RunSummary") -> list[str]:
    """What is known of the data of the runs; that samples are samples stands among the notes."""
    read = [run.details.data for run in summary.runs or (summary.run,)]
    told = (data.problems for data in read if data.known not in ("sample", "invented"))
    return list(dict.fromkeys(problem for problems in told for problem in problems))


def _arguments(run: "Run") -> str:
    """Return what a run's name says besides benchmark and model."""
    return ",".join(f"{key}={value}" for key, value in run.pairs if key not in ("model", "model_deployment"))


def figures(metric: "MetricSummary") -> dict[str, Any]:
    """Return one metric's figures, as JSON shows them."""
    return {
        "n": metric.mean.n,
        "units": metric.mean.units,
        "unscored": sum(metric.unscored.values()),
        "unscored_reasons": metric.unscored,
        "not_applicable": metric.not_applicable,
        "mean": metric.mean.value,
        "normalised": metric.normalised,
        "floor": metric.floor,
        "low": metric.mean.low,
        "high": metric.mean.high,
        "interval": metric.mean.method,
        "bounds": bounds_facts(metric.bounds),
        "jury": jury_facts(metric),
    }


def _print_win_rates(summaries: "Sequence[RunSummary]") -> None:
    from agent.results.summarize import compare_summaries

    found = compare_summaries(summaries)
    if len(found.rates) < 2:
        return
    show_standings(summaries, found.rates)
    if found.columns:
        over = counted(found.columns, "column")
        click.echo(f"Win rates and macro-averages take the floor, over {over} of results of one kind.")
    else:
        click.echo("There is no win rate: no two models have results that can be compared.")
    if found.left_out:
        why = "; ".join(f"{count}: {words}" for words, count in found.left_out.items())
        click.echo(f"In no rank or win rate are {counted(sum(found.left_out.values()), 'result')} ({why}).")


def show_subgroups(site: Site, summaries: "Sequence[RunSummary]", all_metrics: bool, form: str, title: str) -> None:
    """Print the main metric of every row of a leaderboard, by what its patients are."""
    from agent.results.subgroups import summarise_subgroups

    rows: list[dict[str, Any]] = []
    of_runs: dict[str, None] = {}
    with site.store() as store:
        for summary in summaries:
            for metric in summary.metrics if all_metrics else (summary.shown,):
                if metric.whole_run:
                    of_runs[metric.metric] = None
                rows += [
                    {
                        "benchmark": summary.run.benchmark,
                        "model": summary.run.model,
                        "deployment": summary.run.deployment,
                        "arguments": _arguments(summary.run),
                        "metric": metric.metric,
                        "attribute": found.attribute,
                        "value": found.value,
                        **figures(found.metric),
                    }
                    for found in summarise_subgroups(store, summary, metric)
                ]
    if form == "json":
        show_rows(rows, {}, form)
    else:
        _show_subgroup_rows(rows, form, title)
    if of_runs:
        click.echo(f"{', '.join(of_runs)}: a figure of whole runs, which has no subgroups", err=True)
    if not rows:
        advice = "name columns with `subgroup_columns` in a benchmark.yaml, and give the same run again"
        click.echo(f"no run here has subgroups: {advice}", err=True)


def _show_subgroup_rows(rows: Sequence[Mapping[str, Any]], form: str, title: str) -> None:
    flat = []
    for row in rows:
        flat_row = {key: value for key, value in row.items() if key not in _NESTED}
        flat_row |= _flat_bounds(row["bounds"] or {})
        flat_row |= _flat_jury(row["jury"] or {})
        flat_row["unscored_reasons"] = _pairs(row["unscored_reasons"])
        flat.append(flat_row)
    if form == "csv":
        show_rows(flat, dict.fromkeys(flat[0], "") if flat else {}, form)
        return
    columns = {"benchmark": "Benchmark", "model": "Model"}
    columns |= {"arguments": "Arguments"} if len({row["arguments"] for row in rows}) > 1 else {}
    columns |= {"metric": "Metric", "attribute": "Attribute", "value": "Value"} | COLUMNS
    del columns["rank_range"], columns["bound_range"]
    show_rows(flat, columns, form, title=title)
    click.echo("A value of - is of instances whose data does not say. Low and High bound the 95 % interval.")
    click.echo(f"Floor: {FLOOR}.")
    click.echo("These figures are for this site: with few units they may tell about single patients.")
