"""The command `summarize`: what runs came to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import click

from agent.catalog.wording import counted
from agent.errors import ConfigError
from agent.listing import fitting, format_option, show_rows
from agent.plot_option import check_plot, draw, plot_option
from agent.run_commands import ManyValues
from agent.site import Site
from agent.summary_tables import (
    bounds_facts,
    counts,
    jury_facts,
    rank_words,
    show_juries,
    show_standings,
    standing_facts,
)

if TYPE_CHECKING:
    from agent.evaluation.summarise import MetricSummary, RunSummary
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
@click.option("--runs", "each_run", is_flag=True, help="A row for each run, also of parts of one benchmark.")
@click.option("--all-metrics", is_flag=True, help="Every metric, not only each benchmark's main one.")
@click.option("--subgroups", is_flag=True, help="By sex, age group or whatever a benchmark names of its patients.")
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
    subsets) are one row, over all their instances. Options that may be given several times also take several
    values.
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
    from agent.evaluation.standings import with_standings

    with site.store() as store:
        summaries = with_standings(store, summaries)
    show_summaries(summaries, all_metrics, form, title)
    if plot is not None:
        from agent.plots.charts import chart_of
        from agent.plots.page import svg_file

        draw(plot, chart_of(summaries, title), svg_file)


def suite_summaries(site: Site, suite: str, each_run: bool = True) -> "list[RunSummary]":
    """Summarise a suite: every run, or every benchmark and model.

    Raises:
        ConfigError: there is no such suite; names those that are there.
    """
    from agent.evaluation.summarise import summarise_benchmarks, summarise_suite

    with site.store() as store:
        store.require_suite(suite)
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
    known = _columns(rows, all_metrics)
    columns = fitting(shown, known, SPARE)
    show_rows(shown, columns, form, title=title)
    units = "of so many units" if "units" in known else "each of a unit of its own"
    click.echo(f"Low and High bound the 95 % interval. Means are over n scored instances, {units}.")
    if left_out := [heading for key, heading in known.items() if key not in columns]:
        click.echo(f"In a wider terminal, and with --format csv or json: {', '.join(left_out)}.")
    if "rank_range" in columns:
        click.echo(f"Rank: {RANK}.")
    if "bound_range" in columns:
        click.echo(f"Bounds: {BOUNDS}.")
    if "floor" in columns:
        click.echo(f"Floor: {FLOOR}.")
    if not all_metrics:
        mains: dict[str, dict[str, None]] = {}
        for row in rows:
            mains.setdefault(row["metric"], {})[row["benchmark"]] = None
        click.echo("Metrics: " + "; ".join(f"{metric} ({', '.join(names)})" for metric, names in mains.items()))
    for note, letter in letters.items():
        click.echo(f"  {letter}  {note}")
    for about in dict.fromkeys(f"{row['benchmark']}: {problem}" for row in rows for problem in row["data_problems"]):
        click.echo(f"Data of {about}")
    reasons = sum((Counter(row["unscored_reasons"]) for row in rows), Counter[str]())
    if reasons:
        over = ", over all metrics" if all_metrics else ""
        click.echo(f"Unscored{over}: {counts(reasons)}")
    show_juries(rows, all_metrics)
    _print_win_rates(summaries)


def _columns(rows: Sequence[Mapping[str, Any]], all_metrics: bool) -> dict[str, str]:
    """Return the columns that these rows need."""
    several = len({(row["model"], row["deployment"]) for row in rows}) > len({row["model"] for row in rows})
    columns = {"benchmark": "Benchmark", "model": "Model"}
    columns |= {"deployment": "Deployment"} if several else {}
    columns |= {"parts": "Runs"} if any(len(row["runs"]) > 1 for row in rows) else {}
    alike = Counter((row["benchmark"], row["model"], row["deployment"], row["metric"]) for row in rows)
    columns |= {"arguments": "Arguments"} if any(count > 1 for count in alike.values()) else {}
    columns |= {"metric": "Metric"} if all_metrics else {}
    columns |= COLUMNS
    if all(row["floor"] == row["mean"] for row in rows):
        del columns["floor"]
    if any(row["n"] for row in rows) and all(row["units"] == row["n"] for row in rows):
        del columns["units"]
    if all_metrics or all(row["rank"] is None for row in rows):  # beside names of metrics there is no room
        del columns["rank_range"]
    if all_metrics or not any(row["bounds"] and row["bounds"]["matters"] for row in rows):
        del columns["bound_range"]
    return columns | (BY_HELM if any(row["helm"] for row in rows) else {}) | {"notes": "Notes"}


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with its lists and maps as single values, for a table or a spreadsheet."""
    flat = {key: value for key, value in row.items() if key not in ("runs", "helm", "standing", *_NESTED)}
    helm = row["helm"] or {}
    return {
        **flat,
        **_flat_figures(row),
        "rank_range": rank_words(row["rank"]),
        **{f"model_{key}": value for key, value in (row["standing"] or {}).items() if key != "rank"},
        "model_rank_range": rank_words((row["standing"] or {}).get("rank")),
        "parts": len(row["runs"]),
        "unscored_reasons": " ".join(f"{reason}={count}" for reason, count in row["unscored_reasons"].items()),
        **{f"helm_{key}": helm.get(key) for key in ("mean", "low", "high", "n", "unscored")},
        "data_problems": "; ".join(row["data_problems"]),
        "notes": "; ".join(row["notes"]),
    }


_NESTED = ("bounds", "jury", "rank")


def _flat_figures(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return bounds and jury of a row as single values."""
    bounds, jury = row["bounds"] or {}, row["jury"] or {}
    within = f"{_short(bounds['low'])}-{_short(bounds['high'])}" if bounds.get("matters") else None
    without = jury.get("without_family") or {}
    return {
        "bound_low": bounds.get("low"),
        "bound_high": bounds.get("high"),
        "bound_range": within,
        "jury_metric": jury.get("metric"),
        "jury_scale_low": (jury.get("scale") or {}).get("low"),
        "jury_scale_high": (jury.get("scale") or {}).get("high"),
        "quorum": jury.get("quorum"),
        "judges": "; ".join(jury.get("judges", ())),
        **{
            f"judges_{key}": "; ".join("" if one[key] is None else str(one[key]) for one in jury.get("each", ()))
            for key in ("mean", "filled", "repaired")
        },
        "judges_faults": "; ".join(
            " ".join(f"{reason}={count}" for reason, count in one["faults"].items()) for one in jury.get("each", ())
        ),
        "seats": jury.get("seats"),
        "seats_filled": jury.get("filled"),
        "seats_repaired": jury.get("repaired"),
        "seat_faults": " ".join(f"{reason}={count}" for reason, count in jury.get("faults", {}).items()),
        "criteria": " ".join(
            f"{name}={one['mean']}" for name, one in jury.get("criteria", {}).items() if one["mean"] is not None
        ),
        "family_judges": "; ".join(jury.get("family", ())),
        **{f"without_family_{key}": without.get(key) for key in ("mean", "low", "high", "n")},
    }


def _short(value: float) -> str:
    return f"{value:.2f}"


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
            "scoring": summary.run.details["scoring"],
            "data": summary.run.details["data"]["known"],
            "data_problems": _data_problems(summary),
            "language_model": summary.run.details["language_model"],
            "notes": summary.notes(metric),
        }
        for summary in summaries
        for metric in (summary.metrics if all_metrics else (summary.shown,))
    ]


def _data_problems(summary: "RunSummary") -> list[str]:
    """What is known of the data of the runs; that samples are samples stands among the notes."""
    found = [run.details["data"] for run in summary.runs or (summary.run,)]
    told = (data.get("problems", ()) for data in found if data["known"] not in ("sample", "invented"))
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
    from agent.evaluation.summarise import comparison

    found = comparison(summaries)
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
    from agent.evaluation.subgroups import subgroup_summaries

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
                    for found in subgroup_summaries(store, summary, metric)
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
    flat = [
        {
            **{key: value for key, value in row.items() if key not in _NESTED},
            **_flat_figures(row),
            "unscored_reasons": " ".join(f"{key}={count}" for key, count in row["unscored_reasons"].items()),
        }
        for row in rows
    ]
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
