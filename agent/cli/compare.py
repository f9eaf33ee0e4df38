"""The command `compare`: compare two models on the instances that both answered."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.options import ManyValues, format_option
from agent.cli.output import fitting, show_rows
from agent.cli.plot_option import check_plot, draw, plot_option
from agent.cli.table_file import FILE_FORMS, check_output, table_output_option, write_table
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.results.comparison_rows import ALL, build_comparison_rows, flatten_comparison_row
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.results.compare_models import ModelComparison

COLUMNS = {
    "benchmark": "Benchmark",
    "n": "n",
    "units": "Units",
    "mean_a": "A",
    "mean_b": "B",
    "difference": "A - B",
    "low": "Low",
    "high": "High",
    "p": "p",
    "holm_p": "Holm p",
    "detectable": "MDD",
    "words": "In words",
}
SPARE = (
    "units",
    "p",
)  # dropped if the table is wider than the terminal; "p" is next to Holm's p


@click.command(cls=ManyValues)
@click.argument("model_a")
@click.argument("model_b")
@click.option("--suite", help="Name of the collection of runs.  [default: default]")
@click.option("--suites", multiple=True, help="Combine the runs of these suites.")
@click.option("--metric", help="Metric to compare (default: each benchmark's main one).")
@plot_option
@format_option("csv", *FILE_FORMS)
@table_output_option
@click.pass_obj
def compare(
    site: Site,
    model_a: str,
    model_b: str,
    suite: str | None,
    suites: Sequence[str],
    metric: str | None,
    plot: Path | None,
    form: str,
    output: Path | None,
) -> None:
    """Compare two models on the instances that both answered.

    For every benchmark: the difference of the means with its 95 % interval, p without and with Holm's correction
    for the number of benchmarks shown, and the minimum detectable difference (MDD). Models are named as in
    `intramural summarize`, or by their deployment.
    """
    from agent.results.compare_models import compare_models
    from agent.results.paired_models import pair_comparable_models

    if suite is not None and suites:
        raise ConfigError("--suite and --suites cannot be combined", "Give only one of them.")
    check_output(form, output)
    check_plot(plot, form)
    names = list(dict.fromkeys(suites or (suite or "default",)))
    with site.store() as store:
        for name in names:
            store.runs.require_suite(name)
        pairing = pair_comparable_models(store, names, model_a, model_b, metric)
        comparison = compare_models(pairing)
        if output is not None:
            from agent.notebook.result_frames import frame_pairing

            write_table(frame_pairing(store, names, pairing), output, form)
    rows = build_comparison_rows(comparison)
    left_out = pairing.describe_left_out()
    if form == "table":
        suites_title = f"Suite {names[0]}" if len(names) == 1 else ", ".join(names)
        _show_table(rows, comparison, f"{suites_title}: A is {model_a}, B is {model_b}")
        if left_out:
            click.echo(f"Left out: {printable(left_out)}")
    elif form == "json":
        show_rows(rows, {}, form)
    elif form == "csv":
        flat_rows = [flatten_comparison_row(row) for row in rows]
        show_rows(flat_rows, dict.fromkeys(flat_rows[0], ""), form)
    if form != "table" and left_out:
        click.echo(f"left out: {printable(left_out)}", err=True)
    if plot is not None:
        from agent.plots.differences import build_differences_chart
        from agent.plots.dots import render_dots_svg

        draw(plot, build_differences_chart(comparison, model_a, model_b), render_dots_svg)


def _show_table(
    rows: Sequence[Mapping[str, Any]], comparison: "ModelComparison", title: str
) -> None:
    from agent.results.comparison_remarks import format_p, list_remarks

    is_several = len(comparison.benchmarks) > 1
    table = []
    for row in rows:
        table.append({**row, "p": format_p(row["p"]), "holm_p": format_p(row["holm_p"])})
    needed_columns = dict(COLUMNS)
    if all(row["units"] == row["n"] for row in rows):
        del needed_columns["units"]
    if not is_several:
        del needed_columns["holm_p"]
    columns = fitting(table, needed_columns, SPARE if is_several else SPARE[:1], folds=True)
    show_rows(table, columns, "table", title=title, folds=True)
    hidden = [heading for key, heading in needed_columns.items() if key not in columns]
    if hidden:
        click.echo(
            f"Shown in a wider terminal, and with --format csv or json: {', '.join(hidden)}."
        )
    _explain_columns(is_several)
    if rows[-1]["benchmark"] == ALL:
        _explain_overall(comparison)
    _print_metrics(comparison)
    for benchmark in comparison.benchmarks:
        remarks = list_remarks(benchmark)
        if remarks:
            click.echo(f"{benchmark.paired.benchmark}: {'; '.join(remarks)}")
    provisional = [
        benchmark.paired.benchmark
        for benchmark in comparison.benchmarks
        if benchmark.paired.stands_in
    ]
    if provisional:
        click.echo(
            f"The main metric has not been judged or measured yet, so another metric is shown: {', '.join(provisional)}"
        )


def _explain_columns(is_several: bool) -> None:
    click.echo(
        "Figures are over the instances for which both models have a score. Low and High are the limits of the 95 % "
        "interval of A - B."
    )
    among = " among the benchmarks shown" if is_several else ""
    click.echo(
        f"MDD: four in five such comparisons would detect a true difference of this size{among}; smaller ones "
        "may be missed. Without an MDD, no difference could be detected."
    )
    if is_several:
        click.echo(
            "Holm p: corrected for all benchmarks shown. In words: a difference is stated if Holm p is at most 0.05 "
            "and the interval excludes 0."
        )


def _explain_overall(comparison: "ModelComparison") -> None:
    click.echo(
        f"{ALL.capitalize()}: the mean difference over {len(comparison.in_overall)} benchmarks, as a share of each "
        "metric's range; answers that the model itself left unscored count as the lowest score "
        f"({', '.join(comparison.in_overall)})."
    )


def _print_metrics(comparison: "ModelComparison") -> None:
    """Print each metric with its benchmarks, and with its scale unless that is 0 to 1."""
    benchmarks_by_metric: dict[str, list[str]] = {}
    for benchmark in comparison.benchmarks:
        metric = benchmark.paired.metric
        name = metric.name
        if (metric.low, metric.high) != (0, 1):
            name += f" from {metric.low:g} to {metric.high:g}"
        benchmarks_by_metric.setdefault(name, []).append(benchmark.paired.benchmark)
    groups = [
        f"{name} ({', '.join(benchmarks)})" for name, benchmarks in benchmarks_by_metric.items()
    ]
    click.echo(f"Metrics: {'; '.join(groups)}")
