"""The command `agreement`: how far judges agree, and what their grades depend on besides the answer."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from agent.cli.options import format_option, suite_option
from agent.cli.output import show_rows
from agent.errors import ConfigError
from agent.results.agreement_rows import build_agreement_row, build_bias_row
from agent.results.agreement_words import (
    CHECKS,
    EXPLAINED,
    LIMITS,
    list_agreement_notes,
    list_heard,
)
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.results.judge_agreement import Agreement, Bias
    from agent.store import Run, Store

ALPHAS = {"alpha_interval": "Alpha", "alpha_ordinal": "Ordinal alpha"}
# ICC(1) appears in JSON and CSV only: it assumes that each answer has a different set of judges.
ONE = {"icc2": "ICC(2,1)", "icc3": "ICC(3,1)"}
MEAN = {"icc2k": "ICC(2,k)", "icc3k": "ICC(3,k)"}
METHODS = {"F": "F", "percentile": "units"}  # in the column "By"


@click.command()
@suite_option
@click.option("--benchmark", help="Only this benchmark.")
@format_option("csv")
@click.pass_obj
def agreement(site: Site, suite: str, benchmark: str | None, form: str) -> None:
    """Show how far a suite's judges agree.

    For each benchmark and criterion, and for the mean of all criteria: Krippendorff's alpha and the intraclass
    correlations of one judge and of the mean of all judges, with 95 % intervals. Then how grades depend on the length
    of the answer, on the judge, and on the families of the judge and of the answering model. Agreement among judges
    does not imply agreement with people: see `calibrate`.
    """
    from agent.results.judge_agreement import measure_agreement

    with site.store() as store:
        runs = _select_runs(store, suite, benchmark)
        agreements, biases = measure_agreement(store, suite, benchmark)
    if form == "table":
        _show_tables(agreements, biases, suite)
    else:
        rows = [build_agreement_row(agreement) for agreement in agreements]
        rows += [build_bias_row(bias) for bias in biases]
        show_rows(rows, _list_csv_columns(rows), form)
    for note in list_agreement_notes(agreements):
        click.echo(f"note: {note}", err=True)
    if not any(run.details.is_judged for run in runs):
        click.echo(f"no benchmark in suite {suite} has a jury-graded metric", err=True)
    elif not agreements:
        click.echo(
            f"no jury has graded answers in suite {suite}; ask a jury with `intramural judge`",
            err=True,
        )


def _select_runs(store: "Store", suite: str, benchmark: str | None) -> "list[Run]":
    """Return the suite's runs of a benchmark, or all of its runs. Raises ConfigError if there are none."""
    store.runs.require_suite(suite)
    runs = store.runs.select(suite)
    if benchmark is None:
        return runs
    runs_of_benchmark = [run for run in runs if run.benchmark == benchmark]
    if not runs_of_benchmark:
        benchmarks = sorted({run.benchmark for run in runs})
        raise ConfigError(
            f"suite {suite} has no run of {benchmark} (its benchmarks: {', '.join(benchmarks)})",
            "Name one of them with --benchmark.",
        )
    return runs_of_benchmark


def _list_csv_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the keys of all rows, without those whose values are lists, which only JSON shows."""
    columns: dict[str, str] = {}
    for row in rows:
        columns |= dict.fromkeys(row, "")
    for key in ("judges", "silent"):
        columns.pop(key, None)
    return columns


def _show_tables(agreements: "Sequence[Agreement]", biases: "Sequence[Bias]", suite: str) -> None:
    jury_column: dict[str, str] = {}
    if any(agreement.jury > 1 for agreement in agreements):
        jury_column = {"jury": "Jury"}
    comparable = [agreement for agreement in agreements if len(list_heard(agreement)) > 1]
    if comparable:
        _show_agreements(comparable, jury_column, suite)
    judges: dict[str, None] = {}
    for agreement in agreements:
        jury = f", jury {agreement.jury}" if jury_column else ""
        judges[f"Judges of {agreement.benchmark}{jury}: {', '.join(agreement.judges)}"] = None
    for line in judges:
        click.echo(line)
    biases_by_kind: dict[str, list[Bias]] = {}
    for bias in biases:
        biases_by_kind.setdefault(bias.kind, []).append(bias)
    for kind, biases_of_kind in biases_by_kind.items():
        _show_biases(kind, biases_of_kind, jury_column)


def _show_biases(kind: str, biases: "Sequence[Bias]", jury_column: Mapping[str, str]) -> None:
    columns = {"benchmark": "Benchmark", **jury_column}
    columns |= {"model": "Model"} if kind == "family" else {"judge": "Judge"}
    columns |= {"n": "n", "units": "Units", "value": "Value"}
    rows = []
    for bias in biases:
        row = build_bias_row(bias)
        row["judge"] = bias.judge or "(the jury)"
        row["value"] = _format_interval(bias.figure.value, bias.figure.low, bias.figure.high)
        rows.append(row)
    show_rows(rows, columns, "table", title=CHECKS[kind])
    click.echo(EXPLAINED[kind])


def _show_agreements(
    agreements: "Sequence[Agreement]", jury_column: Mapping[str, str], suite: str
) -> None:
    rows = [_build_table_row(agreement) for agreement in agreements]
    head = {"benchmark": "Benchmark", **jury_column, "criterion": "Criterion"}
    columns = head | {"answers": "n", "units": "Units"} | ALPHAS
    show_rows(rows, columns, "table", title=f"Suite {suite}: agreement among judges")
    click.echo("Alpha is computed over answers graded by at least two judges.")
    click.echo("In brackets: 95 % intervals from resampled units (none for fewer than 10 units).")
    complete = [row for row in rows if row["complete"]]
    if not complete:
        return
    methods = list(dict.fromkeys(row["icc_limits"] for row in complete))
    method_column = {"by": "By"} if len(methods) > 1 else {}
    head |= {"complete": "n", "complete_units": "Units"}
    show_rows(complete, head | ONE | method_column, "table", title="One judge")
    show_rows(complete, head | MEAN | method_column, "table", title="The mean of all judges")
    click.echo("ICC is computed over answers graded by every judge.")
    click.echo("ICC(2): absolute agreement; ICC(3): judges may differ in severity. Limits:")
    for method in methods:
        click.echo(f"  {LIMITS[method]}")


def _build_table_row(agreement: "Agreement") -> dict[str, Any]:
    """Return one criterion's agreement as a table row, each value with its interval in one cell."""
    row = build_agreement_row(agreement)
    has_icc_limits = any(row[f"{form}_low"] is not None for form in ONE)
    row["by"] = METHODS[agreement.method] if has_icc_limits else None
    for name in (*ALPHAS, *ONE, *MEAN):
        row[name] = _format_interval(row[name], row[f"{name}_low"], row[f"{name}_high"])
    return row


def _format_interval(value: float | None, low: float | None, high: float | None) -> str | None:
    """Return for example `0.71 (0.62 to 0.80)`; the brackets are omitted if there is no interval.

    Return None if there is no value.
    """
    if value is None:
        return None
    if low is None or high is None:
        return _format_figure(value)
    return f"{_format_figure(value)} ({_format_figure(low)} to {_format_figure(high)})"


def _format_figure(figure: float) -> str:
    rounded = round(figure, 2) + 0.0  # adding zero turns -0.0 into 0.0
    return f"{rounded:.2f}"
