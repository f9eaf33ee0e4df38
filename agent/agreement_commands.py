"""The command `agreement`: how far judges agree, and what their grades go with besides the answer."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from agent.errors import ConfigError
from agent.listing import format_option, show_rows
from agent.site import Site

if TYPE_CHECKING:
    from agent.evaluation.agreement import Agreement, Bias

COLUMNS = {
    "benchmark": "Benchmark",
    "criterion": "Criterion",
    "answers": "n",
    "units": "Units",
    "seats": "Seats",
    "alpha_interval": "Alpha",
    "alpha_ordinal": "Ordinal alpha",
}
ONE = {"icc1": "ICC(1)", "icc2": "ICC(2,1)", "icc3": "ICC(3,1)"}
MEAN = {"icc1k": "ICC(1,k)", "icc2k": "ICC(2,k)", "icc3k": "ICC(3,k)"}
BIAS = {
    "about": "Grades and",
    "benchmark": "Benchmark",
    "judge": "Judge",
    "model": "Model",
    "n": "n",
    "units": "Units",
    "value": "Value",
    "low": "Low",
    "high": "High",
}
ABOUT = {
    "length": "length of the answer",
    "judge": "the other judges",
    "family": "judges of other families",
    "favour": "others, family less rest",
}
EXPLAINED = {
    "length": "rank correlation with the answer's characters, within each model's answers",
    "judge": "how far the judge stands above the mean of the others, on the jury's scale",
    "family": "how far judges of the model's own family stand above the others, for the same answers:\n"
    "    favour, severity, or grades that lie less far apart",
    "favour": "how much further the judge stands above judges of other families for models of its own\n"
    "    than for the rest: favour, or grades that lie less far apart; a dash where the answers are too unlike,\n"
    "    which the others grade more than a standard deviation apart",
}
LIMITS = {
    "F": "F, where each answer is of a unit of its own; of ICC(1) and (2): for judges like these",
    "bootstrap": "units, resampled where answers share them; for exactly these judges, others like them may agree less",
}


@click.command()
@click.option("--suite", default="default", show_default=True, help="Name of the collection of runs.")
@click.option("--benchmark", help="Only this benchmark.")
@format_option("csv")
@click.pass_obj
def agreement(site: Site, suite: str, benchmark: str | None, form: str) -> None:
    """Say how far a suite's judges agree.

    By benchmark and criterion, and over a judge's mean of all criteria: Krippendorff's alpha and the intraclass
    correlations of one judge and of the mean of all, with 95 % intervals. Then how grades go with the length of the
    answer, with the judge, and with the family of judge and model. Agreement among judges is not yet agreement with
    people: see `calibrate`.
    """
    from agent.evaluation.agreement import suite_agreement

    with site.store() as store:
        if suite not in store.suites():
            known = ", ".join(store.suites()) or "none yet"
            raise ConfigError(f"there is no suite {suite} (suites here: {known})", "Name a suite with --suite.")
        found = {run.benchmark for run in store.runs(suite)}
        if benchmark is not None and benchmark not in found:
            raise ConfigError(
                f"suite {suite} holds no run of {benchmark} (benchmarks there: {', '.join(sorted(found))})",
                "Name one of them with --benchmark.",
            )
        agreements, biases = suite_agreement(store, suite, benchmark)
    if form != "table":
        rows = [*map(agreement_row, agreements), *map(bias_row, biases)]
        columns = dict.fromkeys(key for row in rows for key in row if key != "judges")
        show_rows(rows, dict.fromkeys(columns, ""), form)
    elif agreements:
        _show(agreements, biases, suite)
    if not agreements:
        click.echo(f"no jury has graded answers of suite {suite}: ask one with `intramural judge`", err=True)


def agreement_row(found: "Agreement") -> dict[str, Any]:
    """Return one criterion's agreement, as JSON shows it."""
    return {
        "kind": "agreement",
        "benchmark": found.benchmark,
        "jury": found.jury,
        "criterion": found.criterion,
        "judges": list(found.judges),
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
    rows = [agreement_row(one) for one in agreements]
    figures = ("alpha_interval", "alpha_ordinal", *ONE, *MEAN)
    shown = [{**row, **{name: _with_limits(row, name) for name in figures}, "by": _by(row)} for row in rows]
    several = {"jury": "Jury"} if any(row["jury"] > 1 for row in rows) else {}
    show_rows(shown, _with(COLUMNS, several), "table", title=f"Suite {suite}: how far the judges agree")
    head = _with(
        {"benchmark": "Benchmark", "criterion": "Criterion", "complete": "n", "complete_units": "Units"}, several
    )
    limits = {"by": "Limits by"}
    show_rows(shown, head | ONE | limits, "table", title="One judge")
    show_rows(shown, head | MEAN | limits, "table", title="The mean of all judges")
    click.echo("Alpha is over answers that two judges or more graded, ICC over those that all of them did.")
    click.echo("ICC(1) and (2,1): absolute agreement; ICC(3,1): judges may differ in severity.")
    click.echo(
        "In brackets: 95 % intervals, of fewer than 10 resampled units none. Of alpha by resampled units, of ICC by"
    )
    for method in dict.fromkeys(row["icc_limits"] for row in rows):
        click.echo(f"  {LIMITS[method]}")
    for benchmark, jury, names in dict.fromkeys((one.benchmark, one.jury, one.judges) for one in agreements):
        click.echo(f"Judges of {benchmark}{f', jury {jury}' if several else ''}: {', '.join(names)}")
    if not biases:
        return
    checks = [{**bias_row(one), "about": ABOUT[one.kind], "judge": one.judge or "-"} for one in biases]
    columns = _with(BIAS, several)
    if not any(one.model for one in biases):
        del columns["model"]
    show_rows([{**row, "model": row["model"] or "-"} for row in checks], columns, "table", title="What grades go with")
    for kind in dict.fromkeys(one.kind for one in biases):
        click.echo(f"  {ABOUT[kind]}: {EXPLAINED[kind]}")


def _by(row: Mapping[str, Any]) -> str | None:
    """Return how the limits of a row's correlations were made, in a word; None where it has none."""
    if all(row[f"{form}_low"] is None for form in ONE):
        return None
    return {"F": "F", "bootstrap": "units"}[row["icc_limits"]]


def _with(columns: Mapping[str, str], jury: Mapping[str, str]) -> dict[str, str]:
    """Return columns with the jury's behind the benchmark's."""
    return {
        place: heading
        for key, word in columns.items()
        for place, heading in ((key, word), *(jury.items() if key == "benchmark" else ()))
    }


def _with_limits(row: Mapping[str, Any], name: str) -> str | None:
    value, low, high = (row[key] for key in (name, f"{name}_low", f"{name}_high"))
    if value is None:
        return None
    numbers = [round(one, 2) + 0.0 for one in (value, low, high) if one is not None]  # no minus before a 0
    return "{:.2f} ({:.2f} to {:.2f})".format(*numbers) if len(numbers) == 3 else f"{numbers[0]:.2f}"
