"""Tables below a leaderboard: the work of juries, and the standings of models over all benchmarks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from agent.cli.output import fits, show_rows
from agent.io.plain_text import printable
from agent.results.summary_rows import build_standing, format_rank

if TYPE_CHECKING:
    from agent.results.summarize import RunSummary

MAX_CRITERIA = 4  # maximum number of criteria with separate columns
WITHOUT = "by the other judges only, over n answers; those judges may be more lenient or stricter with every model"
SEATS = {
    "benchmark": "Benchmark",
    "model": "Model",
    "seats": "Seats filled",
    "repaired": "Repaired",
    "faults": "Without a verdict",
}
JUDGES = {
    "benchmark": "Benchmark",
    "judge": "Judge",
    "mean": "Mean",
    "seats": "Seats filled",
    "repaired": "Repaired",
    "faults": "Without a verdict",
}
STANDINGS = {
    "model": "Model",
    "rank": "Rank",
    "win_rate": "Mean win rate",
    "win_low": "Low",
    "win_high": "High",
    "macro": "Macro-average",
    "macro_low": "Low",
    "macro_high": "High",
}


def format_counts(counts: Mapping[str, int]) -> str:
    """Return counts by reason, the most frequent first."""
    most_first = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {reason}" for reason, count in most_first)


def show_juries(rows: Sequence[Mapping[str, Any]], several: bool) -> None:
    """Print the work of the juries of a leaderboard's rows, if there are any.

    Args:
        rows: rows made by `build_summary_rows`.
        several: whether the leaderboard has several metrics, so that each must be named.
    """
    judged = [row for row in rows if row["jury"]]
    if not judged:
        return
    table = [_build_jury_row(row) for row in judged]
    columns = {"benchmark": "Benchmark", "model": "Model"}
    if several:
        columns["metric"] = "Metric"
    columns |= {"mean": "Mean", "scale": "Scale"}
    has_family = any(row["jury"]["family"] for row in judged)
    if has_family:
        columns["without"] = "Without family"
    criteria: dict[str, str] = {}
    for row in judged:
        for name in row["jury"]["criteria"]:
            criteria[f"criterion {name}"] = name.capitalize()
    # Each criterion gets its own column if the terminal is wide enough.
    has_column_each = len(criteria) <= MAX_CRITERIA and fits(table, columns | criteria)
    columns |= criteria if has_column_each else {"criteria": "Criteria"}
    if not has_column_each and not fits(table, columns, folds=True):
        table = [jury_row | {"without": jury_row["without_short"]} for jury_row in table]
    show_rows(
        table, columns, "table", title="Juries, each on its own scale", folds=not has_column_each
    )
    show_rows(
        table, SEATS, "table", title="Seats of the juries, one per judge and answer", folds=True
    )
    show_rows(
        _build_judge_rows(judged), JUDGES, "table", title="Judges, over all models", folds=True
    )
    lines = _describe_juries(judged)
    lines += _describe_families(judged)
    lines += _describe_own_judges(judged)
    for line in lines:
        click.echo(printable(line))
    if has_family:
        click.echo(f"Without family: {WITHOUT}.")


def _build_jury_row(row: Mapping[str, Any]) -> dict[str, Any]:
    jury = row["jury"]
    jury_row = {
        "benchmark": row["benchmark"],
        "model": row["model"],
        "metric": jury["metric"],
        "mean": jury["mean"],
        "scale": f"{jury['scale']['low']:g}-{jury['scale']['high']:g}",
        "without": None,
        "without_short": None,
        "seats": f"{jury['filled']} of {jury['seats']}",
        "repaired": jury["repaired"],
        "faults": format_counts(jury["faults"]) or "-",
    }
    if jury["family"]:
        without_family = jury["without_family"] or {}
        jury_row["without"] = _format_mean(without_family, interval=True)
        jury_row["without_short"] = _format_mean(without_family, interval=False)
    criteria: list[str] = []
    for name, criterion in jury["criteria"].items():
        mean = criterion["mean"]
        criteria.append(f"{name} -" if mean is None else f"{name} {mean:.2f}")
        jury_row[f"criterion {name}"] = mean
    jury_row["criteria"] = ", ".join(criteria)
    return jury_row


def _format_mean(mean: Mapping[str, Any], *, interval: bool) -> str:
    if mean.get("mean") is None:
        return "none left"
    limits = (
        f" ({mean['low']:.2f}-{mean['high']:.2f})" if interval and mean["low"] is not None else ""
    )
    return f"{mean['mean']:.3f}{limits}, n {mean['n']}"


def _build_judge_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each benchmark and judge, over the answers of all models."""
    by_judge: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        for judge in row["jury"]["each"]:
            by_judge.setdefault((row["benchmark"], judge["judge"]), []).append(judge)
    table = []
    for (benchmark, name), figures in by_judge.items():
        filled = sum(figure["filled"] for figure in figures)
        seats = sum(figure["seats"] for figure in figures)
        faults = Counter[str]()
        for figure in figures:
            faults.update(figure["faults"])
        table.append(
            {
                "benchmark": benchmark,
                "judge": name,
                "mean": _average_grades(figures, filled),
                "seats": f"{filled} of {seats}",
                "repaired": sum(figure["repaired"] for figure in figures),
                "faults": format_counts(faults) or "-",
            }
        )
    return table


def _average_grades(figures: Sequence[Mapping[str, Any]], filled: int) -> float | None:
    if not filled:
        return None
    total: float = sum(figure["mean"] * figure["filled"] for figure in figures if figure["filled"])
    return total / filled


def _describe_juries(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return lines with each benchmark's judges and, if it has several juries, the models that each graded."""
    juries: dict[tuple[tuple[str, ...], int | None], dict[str, dict[str, None]]] = {}
    for row in rows:
        jury = tuple(row["jury"]["judges"]), row["jury"]["quorum"]
        models_by_benchmark = juries.setdefault(jury, {})
        models_by_benchmark.setdefault(row["benchmark"], {})[row["model"]] = None
    number_of_juries = Counter[str]()
    for models_by_benchmark in juries.values():
        number_of_juries.update(models_by_benchmark.keys())
    lines: list[str] = []
    for (judges, quorum), models_by_benchmark in juries.items():
        names: list[str] = []
        for benchmark, models in models_by_benchmark.items():
            is_only_jury = number_of_juries[benchmark] == 1
            names.append(benchmark if is_only_jury else f"{benchmark} ({', '.join(models)})")
        rule = (
            ""
            if quorum is None
            else f" A score needs valid verdicts from {quorum} of {len(judges)}."
        )
        lines.append(f"Judges of {', '.join(names)}: {', '.join(judges)}.{rule}")
    return lines


def _describe_families(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return lines with the judges of each model's family, separately by benchmark if they differ."""
    families: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for row in rows:
        judges = tuple(row["jury"]["family"])
        if judges:
            families.setdefault(row["model"], {}).setdefault(judges, []).append(row["benchmark"])
    lines: list[str] = []
    for model, benchmarks_by_judges in families.items():
        for judges, benchmarks in benchmarks_by_judges.items():
            scope = (
                f" in {', '.join(dict.fromkeys(benchmarks))}"
                if len(benchmarks_by_judges) > 1
                else ""
            )
            lines.append(f"Judges of the same family as {model}{scope}: {', '.join(judges)}.")
    return lines


def _describe_own_judges(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return lines with the models that judge themselves."""
    judges_by_model: dict[str, Sequence[str]] = {}
    for row in rows:
        if row["jury"]["itself"]:
            judges_by_model[row["model"]] = row["jury"]["itself"]
    lines: list[str] = []
    for model, judges in judges_by_model.items():
        verb = "is" if len(judges) == 1 else "are"
        lines.append(f"A model judges itself: {', '.join(judges)} {verb} {model}.")
    return lines


def show_standings(summaries: "Sequence[RunSummary]", rates: Mapping[str, float | None]) -> None:
    """Print the standing of each model over all benchmarks, best first."""
    standings = {
        summary.run.model: summary.standing for summary in summaries if summary.standing is not None
    }
    best_first = sorted(rates.items(), key=lambda item: (-(item[1] or 0.0), item[0]))
    rows = []
    for model, rate in best_first:
        row: dict[str, Any] = build_standing(standings.get(model)) or {}
        row |= {"model": model, "rank": format_rank(row.get("rank")), "win_rate": rate}
        rows.append(row)
    columns = STANDINGS if standings else {"model": "Model", "win_rate": "Mean win rate"}
    show_rows(rows, columns, "table")
