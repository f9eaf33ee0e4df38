"""The command `summarize`: leaderboards of suites and releases."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import click

from agent.cli.helm_options import SUMMARIZE_OPTIONS, accept_helm_options, local_path_option
from agent.cli.options import ManyValues, format_option
from agent.cli.output import fitting, show_rows
from agent.cli.plot_option import check_plot, draw, plot_option
from agent.cli.summarize_tables import format_counts, show_juries, show_standings
from agent.cli.table_file import FILE_FORMS, check_output, table_output_option, write_table
from agent.cli.unread import report_unread_runs, show_unread
from agent.errors import ConfigError
from agent.io.wording import format_count
from agent.results.summary_rows import (
    build_figures,
    build_summary_rows,
    flatten_subgroup_row,
    flatten_summary_row,
    format_arguments,
)
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.results.efficiency import Efficiency
    from agent.results.subgroups import SubgroupSummary
    from agent.results.summarize import Note, RunSummary

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
SPARE = (
    "units",
    "bound_range",
    "rank_range",
)  # dropped in this order if a table is wider than the terminal
FLOOR = "the mean if answers that the model left unscored (empty, unparsed, length, content_filter) count as the lowest"
RANK = (
    "the best and worst rank by floor that are compatible with the data (the means may order the "
    "models differently)"
)
BOUNDS = "the mean if every unscored instance were wrong, or right; shown if they are more than 0.01 apart"
BY_HELM = {"helm_mean": "HELM's mean", "helm_n": "HELM's n"}


@click.command(cls=ManyValues)
@click.option("--suite", help="Name of the collection of runs.  [default: default]")
@click.option(
    "--suites", multiple=True, help="Join these suites (and imported leaderboards) into --release."
)
@click.option("--release", help="Show this local release; --suites creates it.")
@click.option(
    "--runs",
    "each_run",
    is_flag=True,
    help="Show one row per run, even for parts of the same benchmark.",
)
@click.option(
    "--all-metrics", is_flag=True, help="Show every metric, not only each benchmark's main one."
)
@click.option(
    "--subgroups",
    is_flag=True,
    help="Show results by sex, age group or other groups of patients that a benchmark defines.",
)
@click.option(
    "--unread",
    is_flag=True,
    help="Show the answers that were not read, by run, reason and kind, with redacted examples and the option to try.",
)
@plot_option
@format_option("csv", *FILE_FORMS)
@table_output_option
@local_path_option
@accept_helm_options(SUMMARIZE_OPTIONS)
@click.pass_obj
def summarize(
    site: Site,
    suite: str | None,
    suites: Sequence[str],
    release: str | None,
    each_run: bool,
    all_metrics: bool,
    subgroups: bool,
    unread: bool,
    plot: Path | None,
    form: str,
    output: Path | None,
) -> None:
    """Print a suite's leaderboard.

    Shows n, unscored, mean and 95 % interval of every benchmark and model. Runs of parts of the same benchmark
    (conditions, subsets) form one row over all their instances. If more than 5 % of a run's answers were not read, five
    redacted examples follow on standard error, with the option to try. Options that may be repeated also accept several
    values.

    Every option of HELM's `helm-summarize` is accepted here, or refused with the reason: see docs/from-medhelm.md.
    """
    if release is None and suites:
        raise ConfigError(
            "--suites joins suites into a release, which needs a name",
            "Give the name with --release.",
        )
    if release is not None and suite is not None:
        raise ConfigError("--suite and --release cannot be combined", "Give only one of them.")
    if plot is not None and subgroups:
        raise ConfigError("--plot cannot draw subgroups", "Leave out --plot or --subgroups.")
    if unread and (subgroups or plot is not None):
        raise ConfigError(
            "--unread cannot be combined with --subgroups or --plot",
            "Leave out --unread, or --subgroups and --plot.",
        )
    if form in FILE_FORMS and (subgroups or unread):
        raise ConfigError(
            f"--format {form} is for the leaderboard, not for --subgroups or --unread",
            "Choose --format csv or json for these.",
        )
    check_output(form, output)
    check_plot(plot, form)
    if release is None:
        suite = suite or "default"
        title = f"Suite {suite}"
        summaries: Sequence[RunSummary] = read_suite_summaries(site, suite, each_run)
    else:
        title = f"Release {release}"
        summaries = _read_release_summaries(site, release, suites)
    if subgroups:
        show_subgroups(site, summaries, all_metrics, form, title)
    elif unread:
        show_unread(site, summaries, all_metrics, form, title)
    else:
        _show_leaderboard(site, summaries, all_metrics, form, title, plot, output)
        if form == "table":
            report_unread_runs(site, summaries)


def read_suite_summaries(site: Site, suite: str, each_run: bool = True) -> "list[RunSummary]":
    """Summarise a suite: every run, or every benchmark and model.

    Raises:
        ConfigError: there is no such suite; the message lists the existing suites.
    """
    from agent.results.summarize import summarise_benchmarks, summarise_suite

    with site.store() as store:
        store.runs.require_suite(suite)
        return summarise_suite(store, suite) if each_run else summarise_benchmarks(store, suite)


def _read_release_summaries(
    site: Site, release: str, suites: Sequence[str]
) -> "Sequence[RunSummary]":
    """Summarise a release; create it first if suites are given."""
    from agent.exchange.releases import make_release, summarise_release

    if suites:
        for note in make_release(site, suites, release):
            click.echo(f"note: {note}", err=True)
    return summarise_release(site, release)


def _show_leaderboard(
    site: Site,
    summaries: "Sequence[RunSummary]",
    all_metrics: bool,
    form: str,
    title: str,
    plot: Path | None,
    output: Path | None,
) -> None:
    from agent.results.efficiency import measure_rows
    from agent.results.prices import read_prices
    from agent.results.standings import add_standings

    with site.store() as store:
        summaries = add_standings(store, summaries)
        efficiencies = measure_rows(store, summaries, read_prices(site))
        if output is not None:
            from agent.notebook.result_frames import build_summary_frame

            frame = build_summary_frame(store, summaries, efficiencies, all_metrics=all_metrics)
            write_table(frame, output, form)
    if output is None and str(plot) != "-":
        show_summaries(summaries, all_metrics, form, title, efficiencies)
    if plot is not None:
        from agent.plots.charts import build_chart
        from agent.plots.costs import build_cost_chart
        from agent.plots.page import render_svg

        costs = build_cost_chart(summaries, efficiencies, title)
        draw(plot, build_chart(summaries, title), partial(render_svg, costs=costs))


def show_summaries(
    summaries: "Sequence[RunSummary]",
    all_metrics: bool,
    form: str,
    title: str,
    efficiencies: "Sequence[Efficiency | None]" = (),
) -> None:
    """Print a leaderboard; a table is followed by explanatory notes."""
    rows = build_summary_rows(summaries, all_metrics, efficiencies)
    if form == "json":
        show_rows(rows, {}, form)
    elif form == "csv":
        _show_csv([flatten_summary_row(row) for row in rows])
    else:
        _show_table(rows, all_metrics, title)
        show_juries(rows, all_metrics)
        _print_win_rates(summaries)


def _show_csv(flat_rows: Sequence[Mapping[str, Any]]) -> None:
    columns = dict.fromkeys(flat_rows[0], "") if flat_rows else {}
    show_rows(flat_rows, columns, "csv")


def _show_table(rows: Sequence[Mapping[str, Any]], all_metrics: bool, title: str) -> None:
    letters = _assign_letters(rows)
    table = []
    for row in rows:
        notes = " ".join(letters[note] for note in row["notes"])
        table.append(flatten_summary_row(row) | {"notes": notes})
    needed_columns = _select_columns(rows, all_metrics)
    columns = fitting(table, needed_columns, SPARE)
    show_rows(table, columns, "table", title=title)
    _explain_columns(
        needed_columns, columns, units_known=all(row["units"] is not None for row in rows)
    )
    if not all_metrics:
        _print_main_metrics(rows)
    for note, letter in letters.items():
        click.echo(f"  {letter}  {note}")
    _print_data_problems(rows)
    _print_unscored_reasons(rows, all_metrics)


def _assign_letters(rows: Sequence[Mapping[str, Any]]) -> "dict[Note, str]":
    """Assign a letter to each note of the rows, in the order in which the notes are defined."""
    from agent.results.summarize import Note

    letters: dict[Note, str] = {}
    for note in Note:
        if any(note in row["notes"] for row in rows):
            letters[note] = ascii_lowercase[len(letters)]
    return letters


def _print_unscored_reasons(rows: Sequence[Mapping[str, Any]], all_metrics: bool) -> None:
    reasons = Counter[str]()
    for row in rows:
        reasons.update(row["unscored_reasons"])
    if reasons:
        scope = ", over all metrics" if all_metrics else ""
        click.echo(f"Unscored{scope}: {format_counts(reasons)}")


def _explain_columns(
    needed_columns: Mapping[str, str], columns: Mapping[str, str], *, units_known: bool
) -> None:
    """Explain the columns shown, and list those that need a wider terminal."""
    units = ""
    if "units" in needed_columns:
        units = ", grouped by Units"
    elif units_known:
        units = ", each a separate unit"
    click.echo(
        f"Low and High are the limits of the 95 % interval. Means are over n scored instances{units}."
    )
    hidden = [heading for key, heading in needed_columns.items() if key not in columns]
    if hidden:
        click.echo(
            f"Shown in a wider terminal, and with --format csv or json: {', '.join(hidden)}."
        )
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
    groups = [
        f"{metric} ({', '.join(benchmarks)})" for metric, benchmarks in benchmarks_by_metric.items()
    ]
    click.echo(f"Metrics: {'; '.join(groups)}")


def _print_data_problems(rows: Sequence[Mapping[str, Any]]) -> None:
    lines: dict[str, None] = {}
    for row in rows:
        for problem in row["data_problems"]:
            lines[f"Data of {row['benchmark']}: {problem}"] = None
    for line in lines:
        click.echo(line)


def _select_columns(rows: Sequence[Mapping[str, Any]], all_metrics: bool) -> dict[str, str]:
    """Return the columns that these rows need."""
    models = {row["model"] for row in rows}
    deployments = {(row["model"], row["deployment"]) for row in rows}
    rows_by_name = Counter(
        (row["benchmark"], row["model"], row["deployment"], row["metric"]) for row in rows
    )
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
    if any(row["n"] for row in rows) and all(row["units"] in (None, row["n"]) for row in rows):
        del columns["units"]
    if all_metrics or all(
        row["rank"] is None for row in rows
    ):  # there is no room next to the metrics' names
        del columns["rank_range"]
    if all_metrics or not any(row["bounds"] and row["bounds"]["matters"] for row in rows):
        del columns["bound_range"]
    if any(row["helm"] for row in rows):
        columns |= BY_HELM
    return columns | {"notes": "Notes"}


def _print_win_rates(summaries: "Sequence[RunSummary]") -> None:
    from agent.results.summarize import compare_summaries

    table = compare_summaries(summaries)
    if len(table.rates) < 2:
        return
    show_standings(summaries, table.rates)
    if table.columns:
        columns = format_count(table.columns, "column")
        click.echo(
            f"Win rates and macro-averages use the floor, over {columns} of comparable results."
        )
    else:
        click.echo("There is no win rate, because no two models have comparable results.")
    if table.left_out:
        results = format_count(sum(table.left_out.values()), "result")
        reasons = "; ".join(f"{count}: {reason}" for reason, count in table.left_out.items())
        click.echo(f"Not part of any rank or win rate: {results} ({reasons}).")


def show_subgroups(
    site: Site, summaries: "Sequence[RunSummary]", all_metrics: bool, form: str, title: str
) -> None:
    """Print the metrics of a leaderboard by subgroups of patients."""
    from agent.results.subgroups import summarise_subgroups

    rows: list[dict[str, Any]] = []
    whole_run_metrics: dict[str, None] = {}
    with site.store() as store:
        for summary in summaries:
            for metric in summary.metrics if all_metrics else (summary.shown,):
                if metric.whole_run:
                    whole_run_metrics[metric.metric] = None
                for subgroup in summarise_subgroups(store, summary, metric):
                    rows.append(_build_subgroup_row(summary, subgroup))
    if form == "json":
        show_rows(rows, {}, form)
    elif form == "csv":
        _show_csv([flatten_subgroup_row(row) for row in rows])
    else:
        _show_subgroup_table(rows, title)
    if whole_run_metrics:
        click.echo(
            f"{', '.join(whole_run_metrics)}: computed over whole runs only, so there are no subgroups",
            err=True,
        )
    if not rows:
        advice = (
            "name columns with `subgroup_columns` in a benchmark.yaml, and run the benchmark again"
        )
        click.echo(f"no run here has subgroups: {advice}", err=True)


def _build_subgroup_row(summary: "RunSummary", subgroup: "SubgroupSummary") -> dict[str, Any]:
    row = {
        "benchmark": summary.run.benchmark,
        "model": summary.run.model,
        "deployment": summary.run.deployment,
        "arguments": format_arguments(summary.run),
        "metric": subgroup.metric.metric,
        "attribute": subgroup.attribute,
        "value": subgroup.value,
    }
    return row | build_figures(subgroup.metric)


def _show_subgroup_table(rows: Sequence[Mapping[str, Any]], title: str) -> None:
    columns = {"benchmark": "Benchmark", "model": "Model"}
    if len({row["arguments"] for row in rows}) > 1:
        columns["arguments"] = "Arguments"
    columns |= {"metric": "Metric", "attribute": "Attribute", "value": "Value"}
    columns |= COLUMNS
    # Subgroups are not ranked, and only the other formats show their bounds.
    del columns["rank_range"], columns["bound_range"]
    show_rows([flatten_subgroup_row(row) for row in rows], columns, "table", title=title)
    click.echo(
        "The value - means that the data has no value. Low and High are the limits of the 95 % interval."
    )
    click.echo(f"Floor: {FLOOR}.")
    click.echo(
        "These figures are for use at this site only: with few units they may reveal individual patients."
    )
