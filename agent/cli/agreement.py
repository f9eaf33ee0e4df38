"""The command `agreement`: how far judges agree, and what their grades go with besides the answer."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from agent.cli.options import format_option, suite_option
from agent.cli.output import show_rows
from agent.errors import ConfigError
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.results.judge_agreement import Agreement, Bias

ALPHAS = {"alpha_interval": "Alpha", "alpha_ordinal": "Ordinal alpha"}
# Those of the first kind are in JSON and CSV: they are as if every answer had judges of its own.
ONE = {"icc2": "ICC(2,1)", "icc3": "ICC(3,1)"}
MEAN = {"icc2k": "ICC(2,k)", "icc3k": "ICC(3,k)"}
CHECKS = {
    "length": "Length of the answer and grades",
    "judge": "Judges beside the others",
    "family": "Judges of the model's family beside those of others",
    "favour": "Favour of a judge for models of its family",
}
EXPLAINED = {
    "length": "Rank correlation with the answer's characters, within each model's answers.",
    "judge": "How far the judge stands above the mean of the others, on the jury's scale.",
    "family": "How far judges of the model's own family stand above the others, for the same answers:\n"
    "favour, severity, or grades that lie less far apart.",
    "favour": "How much further the judge stands above judges of other families for models of its own than\n"
    "for the rest: favour, or grades that lie less far apart; a dash where the answers are too unlike,\n"
    "which the others grade more than a standard deviation apart.",
}
LIMITS = {
    "F": "F, where each answer is of a unit of its own; of ICC(2): for judges like these",
    "percentile": "units, resampled where answers share them; for exactly these judges:\n"
    "    others like them may agree less",
}


@click.command()
@suite_option
@click.option("--benchmark", help="Only this benchmark.")
@format_option("csv")
@click.pass_obj
def agreement(site: Site, suite: str, benchmark: str | None, form: str) -> None:
    """Show how far a suite's judges agree.

    By benchmark and criterion, and over a judge's mean of all criteria: Krippendorff's alpha and the intraclass
    correlations of one judge and of the mean of all, with 95 % intervals. Then how grades go with the length of the
    answer, with the judge, and with the family of judge and model. Agreement among judges is not yet agreement with
    people: see `calibrate`.
    """
    from agent.results.judge_agreement import measure_agreement

    with site.store() as store:
        store.runs.require_suite(suite)
        runs = [run for run in store.runs.select(suite) if benchmark in (None, run.benchmark)]
        if not runs:
            found = {run.benchmark for run in store.runs.select(suite)}
            raise ConfigError(
                f"suite {suite} holds no run of {benchmark} (benchmarks there: {', '.join(sorted(found))})",
                "Name one of them with --benchmark.",
            )
        agreements, biases = measure_agreement(store, suite, benchmark)
    if form != "table":
        rows = [*map(agreement_row, agreements), *map(bias_row, biases)]
        columns = dict.fromkeys(key for row in rows for key in row if key not in ("judges", "silent"))
        show_rows(rows, dict.fromkeys(columns, ""), form)
    else:
        _show(agreements, biases, suite)
    for note in _notes(agreements):
        click.echo(f"note: {note}", err=True)
    if not any(run.details.is_judged for run in runs):
        click.echo(f"no benchmark of suite {suite} has a metric that a jury gives", err=True)
    elif not agreements:
        click.echo(f"no jury has graded answers of suite {suite}: ask one with `intramural judge`", err=True)


def agreement_row(found: "Agreement") -> dict[str, Any]:
    """Return one criterion's agreement, as JSON shows it."""
    return {
        "kind": "agreement",
        "benchmark": found.benchmark,
        "jury": found.jury,
        "criterion": found.criterion,
        "judges": list(found.judges),
        "silent": list(found.silent),
        "seats": len(found.judges),
        "answers": found.answers,
        "complete": found.complete,
        "units": found.units,
        "complete_units": found.complete_units,
        **_limits("alpha_interval", found.interval),
        **_limits("alpha_ordinal", found.ordinal),
        **{key: value for form, one in found.icc.items() for key, value in _limits(form.lower(), one).items()},
        "icc_limits": found.method,
    }


def bias_row(found: "Bias") -> dict[str, Any]:
    """Return one check, as JSON shows it."""
    figure = found.figure
    return {
        "kind": found.kind,
        "benchmark": found.benchmark,
        "jury": found.jury,
        "judge": found.judge,
        "model": found.model,
        "n": figure.n,
        "units": figure.units,
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
    }


def _limits(name: str, figure: Any) -> dict[str, float | None]:
    return {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}


def _show(agreements: "Sequence[Agreement]", biases: "Sequence[Bias]", suite: str) -> None:
    several = {"jury": "Jury"} if any(one.jury > 1 for one in agreements) else {}
    _show_agreements([agreement_row(one) for one in agreements if len(_heard(one)) > 1], several, suite)
    for benchmark, jury, names in dict.fromkeys((one.benchmark, one.jury, one.judges) for one in agreements):
        click.echo(f"Judges of {benchmark}{f', jury {jury}' if several else ''}: {', '.join(names)}")
    for kind in dict.fromkeys(one.kind for one in biases):
        whose = {"model": "Model"} if kind == "family" else {"judge": "Judge"}
        rows = [{**bias_row(one), "judge": one.judge or "(the jury)"} for one in biases if one.kind == kind]
        columns = {"benchmark": "Benchmark", **several, **whose, "n": "n", "units": "Units", "value": "Value"}
        shown = [{**row, "value": _with_limits(row, "value", "")} for row in rows]
        show_rows(shown, columns, "table", title=CHECKS[kind])
        click.echo(EXPLAINED[kind])


def _show_agreements(rows: Sequence[Mapping[str, Any]], several: Mapping[str, str], suite: str) -> None:
    if not rows:
        return
    shown = [
        {**row, **{name: _with_limits(row, name) for name in (*ALPHAS, *ONE, *MEAN)}, "by": _by(row)} for row in rows
    ]
    head = {"benchmark": "Benchmark", **several, "criterion": "Criterion"}
    columns = head | {"answers": "n", "units": "Units"} | ALPHAS
    show_rows(shown, columns, "table", title=f"Suite {suite}: how far the judges agree")
    click.echo("Alpha is over answers that two judges or more graded.")
    click.echo("In brackets: 95 % intervals, by resampled units; of fewer than 10 units there is none.")
    whole = [row for row in shown if row["complete"]]
    if not whole:
        return
    methods = list(dict.fromkeys(row["icc_limits"] for row in whole))
    by = {"by": "By"} if len(methods) > 1 else {}
    head |= {"complete": "n", "complete_units": "Units"}
    show_rows(whole, head | ONE | by, "table", title="One judge")
    show_rows(whole, head | MEAN | by, "table", title="The mean of all judges")
    click.echo("ICC is over answers that every judge graded.")
    click.echo("ICC(2): absolute agreement; ICC(3): judges may differ in severity. Limits by")
    for method in methods:
        click.echo(f"  {LIMITS[method]}")


def _heard(found: "Agreement") -> list[str]:
    """Return the judges with a verdict."""
    return [judge for judge in found.judges if judge not in found.silent]


def _notes(agreements: "Sequence[Agreement]") -> list[str]:
    """Say where judges without a verdict leave less to tell."""
    notes: dict[str, None] = {}
    several = any(one.jury > 1 for one in agreements)
    for one in agreements:
        heard, silent = _heard(one), ", ".join(one.silent)
        whose = f"{one.benchmark} (jury {one.jury})" if several else one.benchmark
        if len(heard) == 1:
            notes[f"{heard[0]} alone graded answers of {whose}: there is nobody to agree with"] = None
        elif not one.complete:
            why = f" ({silent} gave none at all)" if silent else ""
            notes[f"no answer of {whose} has a verdict of every judge{why}, so there is no ICC"] = None
    return list(notes)


def _by(row: Mapping[str, Any]) -> str | None:
    """Return how the limits of a row's correlations were made, in a word; None where it has none."""
    if all(row[f"{form}_low"] is None for form in ONE):
        return None
    return {"F": "F", "percentile": "units"}[row["icc_limits"]]


def _with_limits(row: Mapping[str, Any], name: str, of: str | None = None) -> str | None:
    prefix = f"{name}_" if of is None else of
    value, low, high = (row[key] for key in (name, f"{prefix}low", f"{prefix}high"))
    if value is None:
        return None
    numbers = [round(one, 2) + 0.0 for one in (value, low, high) if one is not None]  # no minus before a 0
    return "{:.2f} ({:.2f} to {:.2f})".format(*numbers) if len(numbers) == 3 else f"{numbers[0]:.2f}"
