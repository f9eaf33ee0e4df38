"""Tables below a leaderboard: what juries did, and where the models stand over all benchmarks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from agent.listing import fits, printable, show_rows

if TYPE_CHECKING:
    from agent.evaluation.summarise import MetricSummary, RunSummary
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
    shown = [_jury_row(row) for row in judged]
    names = list(dict.fromkeys(name for row in judged for name in row["jury"]["criteria"]))
    columns = {"benchmark": "Benchmark", "model": "Model"}
    columns |= {"metric": "Metric"} if several else {}
    columns |= {"mean": "Mean", "scale": "Scale"}
    columns |= {"without": "Without family"} if any(row["jury"]["family"] for row in judged) else {}
    each = columns | {f"criterion {name}": name.capitalize() for name in names}
    apart = len(names) <= MOST_CRITERIA and fits(shown, each)
    columns = each if apart else columns | {"criteria": "Criteria"}
    if not apart and not fits(shown, columns, folds=True):
        shown = [one | {"without": one["without_short"]} for one in shown]
    show_rows(shown, columns, "table", title="Juries, each on its own scale", folds=not apart)
    show_rows(shown, SEATS, "table", title="Seats of the juries, one a judge and answer", folds=True)
    show_rows(_judge_rows(judged), JUDGES, "table", title="Judges, over all models", folds=True)
    for line in (*_juries(judged), *_families(judged), *_own_judges(judged)):
        click.echo(printable(line))
    if "without" in columns:
        click.echo(f"Without family: {WITHOUT}.")


def _judge_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row a benchmark and judge, over the answers of all models."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        for one in row["jury"]["each"]:
            found.setdefault((row["benchmark"], one["judge"]), []).append(one)
    return [
        {
            "benchmark": benchmark,
            "judge": judge,
            "mean": _mean_of_all(of),
            "seats": f"{sum(one['filled'] for one in of)} of {sum(one['seats'] for one in of)}",
            "repaired": sum(one["repaired"] for one in of),
            "faults": counts(sum((Counter(one["faults"]) for one in of), Counter())) or "-",
        }
        for (benchmark, judge), of in found.items()
    ]


def _mean_of_all(judged: Sequence[Mapping[str, Any]]) -> float | None:
    verdicts = sum(one["filled"] for one in judged)
    return sum(one["mean"] * one["filled"] for one in judged if one["filled"]) / verdicts if verdicts else None


def _juries(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say who judged what; of a benchmark that several juries graded, whose answers too."""
    juries: dict[tuple[tuple[str, ...], int | None], dict[str, list[str]]] = {}
    for row in rows:
        jury = tuple(row["jury"]["judges"]), row["jury"]["quorum"]
        juries.setdefault(jury, {}).setdefault(row["benchmark"], []).append(row["model"])
    times = Counter(benchmark for graded in juries.values() for benchmark in graded)
    for (judges, quorum), graded in juries.items():
        of = (name if times[name] == 1 else f"{name} ({', '.join(dict.fromkeys(m))})" for name, m in graded.items())
        rule = "" if quorum is None else f" A score takes valid verdicts of {quorum} of {len(judges)}."
        yield f"Judges of {', '.join(of)}: {', '.join(judges)}.{rule}"


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
    found = {one.run.model: one.standing for one in summaries if one.standing is not None}
    rows = []
    for model, rate in sorted(rates.items(), key=lambda item: (-(item[1] or 0.0), item[0])):
        standing = found.get(model)
        told = {} if standing is None else {key: getattr(standing, key, None) for key in STANDINGS}
        ranks = None if standing is None else rank_words((standing.rank_low, standing.rank_high))
        rows.append({**told, "model": model, "rank": ranks, "win_rate": rate})
    columns = STANDINGS if found else {"model": "Model", "win_rate": "Mean win rate"}
    show_rows(rows, columns, "table")
