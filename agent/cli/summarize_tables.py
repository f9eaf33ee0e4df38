"""Tables below a leaderboard: what juries did, and where the models stand over all benchmarks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from agent.cli.output import fits, show_rows
from agent.io.plain_text import printable

if TYPE_CHECKING:
    from agent.results.summarize import MetricSummary, RunSummary
    from agent.statistics.bounds import Bounds
    from agent.statistics.intervals import Mean

MOST_CRITERIA = 4  # with a column of their own
WITHOUT = "by the other judges alone, over n answers; they may be milder or stricter with every model"
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


def rank_words(rank: tuple[int | None, int | None] | None) -> str | None:
    """Write a range of ranks: `2-4`, or `1` where it is no range."""
    if rank is None or rank[0] is None:
        return None
    return str(rank[0]) if rank[0] == rank[1] else f"{rank[0]}-{rank[1]}"


def counts(of: Mapping[str, int]) -> str:
    """Write counts by reason, most first."""
    return ", ".join(f"{count} {reason}" for reason, count in sorted(of.items(), key=lambda item: (-item[1], item[0])))


def bounds_facts(bounds: "Bounds | None") -> dict[str, Any] | None:
    """Return what unscored instances could change, as JSON shows it."""
    return None if bounds is None else {"low": bounds.low, "high": bounds.high, "matters": bounds.matters}


def jury_facts(metric: "MetricSummary | None") -> dict[str, Any] | None:
    """Return what the jury did that gives the metric, as JSON shows it."""
    if metric is None or metric.jury is None:
        return None
    jury = metric.jury
    return {
        "metric": metric.metric,
        "mean": metric.mean.value,
        "scale": {"low": metric.low, "high": metric.high},
        "quorum": jury.quorum,
        "judges": list(jury.judges),
        "seats": jury.seats,
        "filled": jury.filled,
        "repaired": jury.repaired,
        "faults": dict(jury.faults),
        "each": [
            {
                "judge": name,
                "mean": one.mean,
                "seats": one.filled + sum(one.faults.values()),
                "filled": one.filled,
                "repaired": one.repaired,
                "faults": dict(one.faults),
            }
            for name, one in zip(jury.judges, jury.each, strict=True)
        ],
        "criteria": {name: _mean(mean) for name, mean in jury.criteria.items()},
        "family": jury.of_family,
        "itself": [jury.judges[seat] for seat in jury.itself],
        "without_family": None if jury.without_family is None else _mean(jury.without_family),
    }


def _mean(mean: "Mean") -> dict[str, Any]:
    return {"mean": mean.value, "low": mean.low, "high": mean.high, "n": mean.n}


def standing_facts(summary: "RunSummary") -> dict[str, Any] | None:
    """Return where the summary's model stands over all benchmarks, as JSON shows it."""
    standing = summary.standing
    if standing is None:
        return None
    return {
        "rank": None if standing.rank_low is None else [standing.rank_low, standing.rank_high],
        **{key: getattr(standing, key) for key in STANDINGS if key not in ("model", "rank")},
    }


def show_juries(rows: Sequence[Mapping[str, Any]], several: bool) -> None:
    """Print what the juries of a leaderboard's rows did; nothing where there are none.

    Args:
        rows: as `summary_rows` makes them.
        several: whether rows of several metrics stand in the leaderboard, so that each must be named.
    """
    judged = [row for row in rows if row["jury"]]
    if not judged:
        return
    table = [_jury_row(row) for row in judged]
    columns = {"benchmark": "Benchmark", "model": "Model"}
    if several:
        columns["metric"] = "Metric"
    columns |= {"mean": "Mean", "scale": "Scale"}
    if any(row["jury"]["family"] for row in judged):
        columns["without"] = "Without family"
    criteria: dict[str, str] = {}
    for row in judged:
        for name in row["jury"]["criteria"]:
            criteria[f"criterion {name}"] = name.capitalize()
    # Each criterion has a column of its own where the terminal is wide enough.
    has_column_each = len(criteria) <= MOST_CRITERIA and fits(table, columns | criteria)
    columns |= criteria if has_column_each else {"criteria": "Criteria"}
    if not has_column_each and not fits(table, columns, folds=True):
        table = [jury_row | {"without": jury_row["without_short"]} for jury_row in table]
    show_rows(table, columns, "table", title="Juries, each on its own scale", folds=not has_column_each)
    show_rows(table, SEATS, "table", title="Seats of the juries, one per judge and answer", folds=True)
    show_rows(_judge_rows(judged), JUDGES, "table", title="Judges, over all models", folds=True)
    for line in (*_juries(judged), *_families(judged), *_own_judges(judged)):
        click.echo(printable(line))
    if "without" in columns:
        click.echo(f"Without family: {WITHOUT}.")


def _judge_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
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
                "mean": _mean_of_all(figures, filled),
                "seats": f"{filled} of {seats}",
                "repaired": sum(figure["repaired"] for figure in figures),
                "faults": counts(faults) or "-",
            }
        )
    return table


def _mean_of_all(figures: Sequence[Mapping[str, Any]], filled: int) -> float | None:
    if not filled:
        return None
    total: float = sum(figure["mean"] * figure["filled"] for figure in figures if figure["filled"])
    return total / filled


def _juries(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Name the judges of each benchmark; where it has several juries, the models that each of them graded too."""
    juries: dict[tuple[tuple[str, ...], int | None], dict[str, dict[str, None]]] = {}
    for row in rows:
        jury = tuple(row["jury"]["judges"]), row["jury"]["quorum"]
        juries.setdefault(jury, {}).setdefault(row["benchmark"], {})[row["model"]] = None
    juries_of = Counter(benchmark for graded in juries.values() for benchmark in graded)
    for (judges, quorum), graded in juries.items():
        names = []
        for benchmark, models in graded.items():
            names.append(benchmark if juries_of[benchmark] == 1 else f"{benchmark} ({', '.join(models)})")
        rule = "" if quorum is None else f" A score takes valid verdicts of {quorum} of {len(judges)}."
        yield f"Judges of {', '.join(names)}: {', '.join(judges)}.{rule}"


def _families(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say which judges are of the family of each model, benchmark by benchmark where that differs."""
    families: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for row in rows:
        if kin := tuple(row["jury"]["family"]):
            families.setdefault(row["model"], {}).setdefault(kin, []).append(row["benchmark"])
    for model, found in families.items():
        for judges, benchmarks in found.items():
            where = f" in {', '.join(dict.fromkeys(benchmarks))}" if len(found) > 1 else ""
            yield f"Of the family of {model}{where}: {', '.join(judges)}."


def _own_judges(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say which models judge themselves."""
    own = {row["model"]: ", ".join(row["jury"]["itself"]) for row in rows if row["jury"]["itself"]}
    for model, judges in own.items():
        yield f"A model judges itself: {judges} is {model}."


def _jury_row(row: Mapping[str, Any]) -> dict[str, Any]:
    jury = row["jury"]
    without = jury["without_family"] or {}
    means = {name: mean["mean"] for name, mean in jury["criteria"].items()}
    return {
        **{key: row[key] for key in ("benchmark", "model")},
        **{key: jury[key] for key in ("metric", "mean")},
        "scale": f"{jury['scale']['low']:g}-{jury['scale']['high']:g}",
        "without": _over_answers(without, interval=True) if jury["family"] else None,
        "without_short": _over_answers(without, interval=False) if jury["family"] else None,
        "seats": f"{jury['filled']} of {jury['seats']}",
        "repaired": jury["repaired"],
        "faults": counts(jury["faults"]) or "-",
        "criteria": ", ".join(f"{name} {'-' if mean is None else f'{mean:.2f}'}" for name, mean in means.items()),
        **{f"criterion {name}": mean for name, mean in means.items()},
    }


def _over_answers(mean: Mapping[str, Any], *, interval: bool) -> str:
    if mean.get("mean") is None:
        return "none left"
    limits = f" ({mean['low']:.2f}-{mean['high']:.2f})" if interval and mean["low"] is not None else ""
    return f"{mean['mean']:.3f}{limits}, n {mean['n']}"


def show_standings(summaries: "Sequence[RunSummary]", rates: Mapping[str, float | None]) -> None:
    """Print where the models stand over all benchmarks, the best first."""
    standings = {summary.run.model: summary.standing for summary in summaries if summary.standing is not None}
    rows = []
    for model, rate in sorted(rates.items(), key=lambda item: (-(item[1] or 0.0), item[0])):
        standing = standings.get(model)
        row: dict[str, Any] = {}
        if standing is not None:
            row = {key: getattr(standing, key, None) for key in STANDINGS}
        ranks = None if standing is None else rank_words((standing.rank_low, standing.rank_high))
        rows.append({**row, "model": model, "rank": ranks, "win_rate": rate})
    columns = STANDINGS if standings else {"model": "Model", "win_rate": "Mean win rate"}
    show_rows(rows, columns, "table")
