"""The command `compare`: two models on the instances that both answered."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.options import ManyValues, format_option
from agent.cli.output import fitting, show_rows
from agent.cli.plot_option import check_plot, draw, plot_option
from agent.cli.summarize_tables import bounds_facts
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.results.compare_models import BenchmarkComparison, ModelComparison
    from agent.statistics.paired import MeanDifference

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
SPARE = ("units", "p")  # left out where the table is wider than the terminal; beside p stands Holm's
ALL = "all together"


@click.command(cls=ManyValues)
@click.argument("model_a")
@click.argument("model_b")
@click.option("--suite", help="Name of the collection of runs.  [default: default]")
@click.option("--suites", multiple=True, help="Look in these suites together.")
@click.option("--metric", help="Metric to compare (default: each benchmark's main one).")
@plot_option
@format_option("csv")
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
) -> None:
    """Compare two models on the instances that both answered.

    For every benchmark: the difference of their means with its 95 % interval, p without and with Holm's correction
    for all benchmarks shown, and the smallest difference that could well have been seen (MDD). Models are named as in
    `intramural summarize`, or by their deployment.
    """
    from agent.results.compare_models import compare_models
    from agent.results.paired_models import pair_models

    if suite is not None and suites:
        raise ConfigError("--suite and --suites both say where to look", "Leave out one of the two.")
    check_plot(plot, form)
    names = list(dict.fromkeys(suites or (suite or "default",)))
    with site.store() as store:
        for name in names:
            store.runs.require_suite(name)
        pairing = pair_models(store, names, model_a, model_b, metric)
        left_out = "; ".join(f"{benchmark}: {why}" for benchmark, why in pairing.left_out.items())
        if not pairing.benchmarks:
            raise ConfigError(
                f"{model_a} and {model_b} have nothing to compare ({left_out})",
                "Run both models on the same data and score them alike; both need scores.",
            )
        found = compare_models(pairing)
    rows = comparison_rows(found)
    if form == "table":
        _show_table(rows, found, model_a, model_b, f"Suite {names[0]}" if len(names) == 1 else ", ".join(names))
        if left_out:
            click.echo(f"Left out: {printable(left_out)}")
    elif form == "json":
        show_rows(rows, {}, form)
    else:
        flat = [_flat(row) for row in rows]
        show_rows(flat, dict.fromkeys(flat[0], ""), form)
    if form != "table" and left_out:
        click.echo(f"left out: {printable(left_out)}", err=True)
    if plot is not None:
        from agent.plots.differences import build_differences_chart
        from agent.plots.dots import render_dots_svg

        draw(plot, build_differences_chart(found, model_a, model_b), render_dots_svg)


def comparison_rows(found: "ModelComparison") -> list[dict[str, Any]]:
    """Return a row a benchmark, as JSON shows it, and one for all together where there are several."""
    from agent.results.compare_models import shows_difference

    rows = [_row(duel) for duel in found.benchmarks]
    overall = found.overall
    if overall is not None and len(overall.counted) > 1:
        nothing = dict.fromkeys(rows[0])
        said = {"benchmark": ALL, "difference": overall.value, "low": overall.low, "high": overall.high}
        better = f"{'A' if overall.value > 0 else 'B'} better"
        words = better if shows_difference(overall, overall.p) else "no difference seen"
        rows.append(nothing | said | {"p": overall.p, "benchmarks": len(overall.counted), "words": words})
    return rows


def _row(duel: "BenchmarkComparison") -> dict[str, Any]:
    paired, found = duel.paired, duel.difference
    return {
        "benchmark": paired.benchmark,
        "benchmarks": 1,
        "metric": paired.metric.name,
        "scale": [paired.metric.low, paired.metric.high],
        **_figures(found),
        "holm_p": duel.holm_p,
        "better_a": found.better_a,
        "better_b": found.better_b,
        "units_needed": found.needed,
        "unscored_a": dict(paired.side_a.unscored),
        "unscored_b": dict(paired.side_b.unscored),
        "inapplicable_a": paired.side_a.inapplicable,
        "inapplicable_b": paired.side_b.inapplicable,
        "only_a": paired.side_a.only,
        "only_b": paired.side_b.only,
        "seats_empty_a": paired.side_a.seats_empty,
        "seats_empty_b": paired.side_b.seats_empty,
        "floor": None if duel.at_floor is None else _figures(duel.at_floor),
        "without_family": None if duel.without_family is None else _figures(duel.without_family),
        "bounds": bounds_facts(duel.bounds),
        "stands_in": paired.stands_in,
        "family_a": list(paired.side_a.family),
        "family_b": list(paired.side_b.family),
        "runs_a": list(paired.side_a.runs),
        "runs_b": list(paired.side_b.runs),
        "words": duel.describe(),
    }


def _figures(found: "MeanDifference") -> dict[str, Any]:
    return {
        "n": found.n,
        "units": found.units,
        "mean_a": found.mean_a,
        "mean_b": found.mean_b,
        "difference": found.value,
        "low": found.low,
        "high": found.high,
        "interval": found.method,
        "p": found.p,
        "test": found.test,
        "exact_p": found.exact_p,
        "detectable": found.detectable,
    }


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with its maps as single values, for a spreadsheet."""
    bounds, scale = row["bounds"] or {}, row["scale"] or (None, None)
    maps = ("floor", "without_family", "bounds", "scale", "words")
    flat = {key: value for key, value in row.items() if key not in maps}
    return {
        **flat,
        **{key: _counts(row[key]) for key in ("unscored_a", "unscored_b")},
        **{key: " ".join(row[key] or ()) for key in ("family_a", "family_b", "runs_a", "runs_b")},
        "scale_low": scale[0],
        "scale_high": scale[1],
        **{
            f"{name}_{key}": (row[name] or {}).get(key)
            for name in ("floor", "without_family")
            for key in ("n", "difference", "low", "high", "p")
        },
        "least": bounds.get("low"),
        "most": bounds.get("high"),
        "words": row["words"],
    }


def _counts(reasons: Mapping[str, int] | None) -> str:
    return " ".join(f"{reason}={count}" for reason, count in (reasons or {}).items())


def _show_table(rows: Sequence[Mapping[str, Any]], found: "ModelComparison", a: str, b: str, title: str) -> None:
    shown = [{**row, "p": _p(row["p"]), "holm_p": _p(row["holm_p"])} for row in rows]
    columns = dict(COLUMNS)
    if all(row["units"] == row["n"] for row in rows):
        del columns["units"]
    if len(found.benchmarks) == 1:
        del columns["holm_p"]
    fitted = fitting(shown, columns, SPARE if len(found.benchmarks) > 1 else SPARE[:1], folds=True)
    show_rows(shown, fitted, "table", title=f"{title}: A is {a}, B is {b}", folds=True)
    if left_out := [words for key, words in columns.items() if key not in fitted]:
        click.echo(f"Shown in a wider terminal, and with --format csv or json: {', '.join(left_out)}.")
    click.echo("Over the instances that both have a score for. Low and High bound the 95 % interval of A - B.")
    several = " among the benchmarks shown" if len(found.benchmarks) > 1 else ""
    click.echo(
        f"MDD: four of five such comparisons see a true difference of this size{several}; smaller ones may stay "
        "unseen. Without one, no difference could be seen."
    )
    if len(found.benchmarks) > 1:
        click.echo(
            "Holm p: corrected for all benchmarks shown. Words go by it and the interval: up to 0.05 is a difference."
        )
    if rows[-1]["benchmark"] == ALL:
        click.echo(
            f"{ALL.capitalize()}: the mean of {len(found.in_overall)} benchmarks' differences as shares of their "
            f"metrics' ranges, what a model left without a score itself as the lowest ({', '.join(found.in_overall)})."
        )
    metrics: dict[str, list[str]] = {}
    for duel in found.benchmarks:
        metric = duel.paired.metric
        scale = "" if (metric.low, metric.high) == (0, 1) else f" from {metric.low:g} to {metric.high:g}"
        metrics.setdefault(f"{metric.name}{scale}", []).append(duel.paired.benchmark)
    click.echo("Metrics: " + "; ".join(f"{name} ({', '.join(benchmarks)})" for name, benchmarks in metrics.items()))
    for duel in found.benchmarks:
        if lines := _about(duel):
            click.echo(f"{duel.paired.benchmark}: {'; '.join(lines)}")
    if stands_in := [duel.paired.benchmark for duel in found.benchmarks if duel.paired.stands_in]:
        click.echo(f"Main metric yet to be judged or measured, another stands here: {', '.join(stands_in)}")


def _p(value: float | None) -> str | None:
    if value is None:
        return None
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _about(duel: "BenchmarkComparison") -> list[str]:
    """Say what a reader should know of one benchmark's row."""
    paired, lines = duel.paired, []
    lacking = [
        f"{sum(reasons.values())} of {model} ({', '.join(f'{n} {why}' for why, n in Counter(reasons).most_common())})"
        for model, reasons in (("A", paired.side_a.unscored), ("B", paired.side_b.unscored))
        if reasons
    ]
    if lacking:
        lines.append(f"unscored {' and '.join(lacking)}")
    if paired.side_a.inapplicable or paired.side_b.inapplicable:
        lines.append(
            f"left out as not applicable: {paired.side_a.inapplicable} of A, {paired.side_b.inapplicable} of B"
        )
    if paired.side_a.seats_empty or paired.side_b.seats_empty:
        lines.append(
            f"without a verdict of some judge: {paired.side_a.seats_empty} of A, {paired.side_b.seats_empty} of B, of "
            f"{paired.scored} answers; each pair of answers is by the judges of both"
        )
    if duel.at_floor is not None and duel.at_floor.value is not None:
        lines.append(f"A - B is {_between(duel.at_floor)} if what a model left without a score itself is the lowest")
    if duel.bounds is not None and duel.bounds.matters:
        lines.append(f"whatever is unscored is worth, A - B is {duel.bounds.low:.3f} to {duel.bounds.high:.3f}")
    if paired.side_a.only or paired.side_b.only:
        lines.append(f"asked of one alone: {paired.side_a.only} of A, {paired.side_b.only} of B")
    for model, judges in (("A", paired.side_a.family), ("B", paired.side_b.family)):
        if judges:
            lines.append(f"of {model}'s own family are the judges {', '.join(judges)}")
    if duel.without_family is not None and duel.without_family.value is not None:
        lines.append(
            f"without judges of either family A - B is {_between(duel.without_family)}, n {duel.without_family.n}"
        )
    if paired.passed_over:
        lines.append(f"the last run of each counts, {paired.passed_over} earlier passed over")
    return lines


def _between(found: "MeanDifference") -> str:
    between = "" if found.low is None else f" ({found.low:.3f} to {found.high:.3f})"
    return f"{found.value:.3f}{between}"
