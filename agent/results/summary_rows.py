"""Rows of a leaderboard: the values of one run and metric, nested for JSON and flat for tables and spreadsheets."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.results.efficiency import Efficiency
    from agent.results.summarize import MetricSummary, RunSummary
    from agent.results.usage import Cost
    from agent.statistics.bounds import Bounds
    from agent.statistics.intervals import Mean
    from agent.statistics.ranking import ModelStanding
    from agent.store import Run, RunDetails

# Keys whose values are lists or maps; flat rows have separate keys for the nested values.
_NESTED_KEYS = (
    "runs",
    "helm",
    "standing",
    "bounds",
    "jury",
    "rank",
    "usage",
    "model_usage",
    "parser",
)


def build_summary_rows(
    summaries: "Sequence[RunSummary]",
    all_metrics: bool,
    efficiencies: "Sequence[Efficiency | None]" = (),
) -> list[dict[str, Any]]:
    """Return one row for each summary and metric, as JSON shows it.

    Args:
        summaries: the results.
        all_metrics: whether there is a row for every metric, not only for the shown one.
        efficiencies: what the answers of each summary took, in the same order; empty if that is not shown.
    """
    from agent.results.efficiency import sum_by_model

    efficiencies = efficiencies or [None] * len(summaries)
    totals = sum_by_model(summaries, efficiencies)
    rows: list[dict[str, Any]] = []
    for summary, efficiency in zip(summaries, efficiencies, strict=True):
        total = totals.get((summary.run.model, summary.run.deployment))
        usage = {"usage": build_usage(efficiency), "model_usage": build_usage(total)}
        metrics = summary.metrics if all_metrics else (summary.shown,)
        rows += [_build_row(summary, metric, all_metrics) | usage for metric in metrics]
    return rows


def build_usage(efficiency: "Efficiency | None") -> dict[str, Any] | None:
    """Return the tokens, seconds and cost of answers, in total and for one answer; None without stored answers."""
    if efficiency is None:
        return None
    return {
        "answers": efficiency.answers,
        "prompt_tokens": efficiency.prompt_tokens,
        "completion_tokens": efficiency.completion_tokens,
        "tokens_per_answer": efficiency.tokens_per_answer,
        "seconds_per_answer": efficiency.seconds_per_answer,
        "cost": _build_cost(efficiency.cost),
        "cost_per_answer": _build_cost(efficiency.cost_per_answer),
    }


def _build_cost(cost: "Cost | None") -> dict[str, Any] | None:
    if cost is None:
        return None
    return {"currency": cost.currency, "by_tokens": cost.tokens, "by_gpu_hours": cost.gpu_hours}


def _build_row(summary: "RunSummary", metric: "MetricSummary", all_metrics: bool) -> dict[str, Any]:
    # If another metric replaces the jury's, the row still shows how far the jury got.
    graded = metric if all_metrics or metric.jury else summary.judged
    details = summary.run.details
    row: dict[str, Any] = {
        "benchmark": summary.run.benchmark,
        "model": summary.run.model,
        "deployment": summary.run.deployment,
        "run": summary.run.name,
        "arguments": format_arguments(summary.run),
        "runs": [run.name for run in _list_runs(summary)],
        "metric": metric.metric,
    }
    row |= build_figures(metric)
    row |= {
        "jury": build_jury_figures(graded),
        "helm": build_figures(metric.twin) if metric.twin else None,
        "rank": summary.rank if metric is summary.main else None,
        "standing": build_standing(summary.standing),
        "cut_off": summary.cut_off,
        "scoring": details.scoring,
        "parser": _build_parser(details),
        "reading_version": None if details.origin else details.reading_version,
        "data": details.data.known,
        "data_problems": _list_data_problems(summary),
        "language_model": details.language_model,
        "notes": summary.notes(metric),
    }
    return row


def _build_parser(details: "RunDetails") -> "dict[str, object] | None":
    """Return the parser that selected the scored part of the answers; None if it is not known."""
    parser = details.parser
    if parser is None:
        return None
    described: dict[str, object] = {
        "kind": parser.kind,
        "field": parser.field,
        "pattern": parser.pattern,
    }
    return described | {"labels": parser.labels} if parser.labels else described


def _list_runs(summary: "RunSummary") -> "Sequence[Run]":
    return summary.runs or (summary.run,)


def _list_data_problems(summary: "RunSummary") -> list[str]:
    """Return the distinct problems of the runs' data, except that it is a sample, which has its own note."""
    problems: dict[str, None] = {}
    for run in _list_runs(summary):
        data = run.details.data
        if data.known not in ("sample", "invented"):
            problems.update(dict.fromkeys(data.problems))
    return list(problems)


def format_arguments(run: "Run") -> str:
    """Return the arguments in a run's name, without those that name the model."""
    return ",".join(
        f"{key}={value}" for key, value in run.pairs if key not in ("model", "model_deployment")
    )


def build_figures(metric: "MetricSummary") -> dict[str, Any]:
    """Return the values of one metric."""
    # An imported leaderboard states no units, and not always the number of instances.
    is_stated = metric.mean.value is None or metric.mean.n > 0
    has_units = metric.mean.value is None or metric.mean.units > 0
    return {
        "n": metric.mean.n if is_stated else None,
        "units": metric.mean.units if has_units else None,
        "unscored": sum(metric.unscored.values()),
        "unscored_reasons": metric.unscored,
        "not_applicable": metric.not_applicable,
        "mean": metric.mean.value,
        "normalised": metric.normalised,
        "floor": metric.floor,
        "low": metric.mean.low,
        "high": metric.mean.high,
        "interval": metric.mean.method,
        "bounds": build_bounds(metric.bounds),
        "jury": build_jury_figures(metric),
    }


def build_bounds(bounds: "Bounds | None") -> dict[str, Any] | None:
    """Return the lowest and highest value that unscored instances could lead to."""
    if bounds is None:
        return None
    return {"low": bounds.low, "high": bounds.high, "matters": bounds.matters}


def build_jury_figures(metric: "MetricSummary | None") -> dict[str, Any] | None:
    """Return the values of the jury that grades a metric; None if no jury grades it."""
    if metric is None or metric.jury is None:
        return None
    jury = metric.jury
    judges = []
    for name, judge in zip(jury.judges, jury.each, strict=True):
        judges.append(
            {
                "judge": name,
                "mean": judge.mean,
                "seats": judge.filled + sum(judge.faults.values()),
                "filled": judge.filled,
                "repaired": judge.repaired,
                "faults": dict(judge.faults),
            }
        )
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
        "each": judges,
        "criteria": {name: _build_mean(mean) for name, mean in jury.criteria.items()},
        "family": jury.of_family,
        "itself": [jury.judges[seat] for seat in jury.itself],
        "without_family": None if jury.without_family is None else _build_mean(jury.without_family),
    }


def _build_mean(mean: "Mean") -> dict[str, Any]:
    return {"mean": mean.value, "low": mean.low, "high": mean.high, "n": mean.n}


def build_standing(standing: "ModelStanding | None") -> dict[str, Any] | None:
    """Return a model's rank, win rate and macro-average over all benchmarks."""
    if standing is None:
        return None
    return {
        "rank": None if standing.rank_low is None else [standing.rank_low, standing.rank_high],
        "win_rate": standing.win_rate,
        "win_low": standing.win_low,
        "win_high": standing.win_high,
        "macro": standing.macro,
        "macro_low": standing.macro_low,
        "macro_high": standing.macro_high,
    }


def flatten_summary_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with lists and maps flattened to single values."""
    flat = _flatten_figures(row)
    flat["rank_range"] = format_rank(row["rank"])
    standing = row["standing"] or {}
    for key, value in standing.items():
        if key != "rank":
            flat[f"model_{key}"] = value
    flat["model_rank_range"] = format_rank(standing.get("rank"))
    flat["parts"] = len(row["runs"])
    flat["unscored_reasons"] = _format_pairs(row["unscored_reasons"])
    for name in ("usage", "model_usage"):
        flat |= _flatten_usage(name, row[name] or {})
    helm = row["helm"] or {}
    for key in ("mean", "low", "high", "n", "unscored"):
        flat[f"helm_{key}"] = helm.get(key)
    flat["parser"] = _format_parser(row["parser"] or {})
    flat["data_problems"] = "; ".join(row["data_problems"])
    flat["notes"] = "; ".join(row["notes"])
    return flat


def _format_parser(parser: Mapping[str, Any]) -> str:
    """Return a parser's kind with its field, pattern or labels."""
    words = [parser[key] for key in ("kind", "field", "pattern") if parser.get(key)]
    labels = [label for label, *_ in parser.get("labels", ())]
    return " ".join([*words, *labels])


def flatten_subgroup_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a subgroup's row with maps flattened to single values."""
    flat = _flatten_figures(row)
    flat["unscored_reasons"] = _format_pairs(row["unscored_reasons"])
    return flat


def _flatten_figures(row: Mapping[str, Any]) -> dict[str, Any]:
    flat = {key: value for key, value in row.items() if key not in _NESTED_KEYS}
    flat |= _flatten_bounds(row["bounds"] or {})
    flat |= _flatten_jury(row["jury"] or {})
    return flat


def _flatten_usage(name: str, usage: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key in (
        "answers",
        "prompt_tokens",
        "completion_tokens",
        "tokens_per_answer",
        "seconds_per_answer",
    ):
        flat[f"{name}_{key}"] = usage.get(key)
    for part in ("cost", "cost_per_answer"):
        cost = usage.get(part) or {}
        for key in ("by_tokens", "by_gpu_hours"):
            flat[f"{name}_{part}_{key}"] = cost.get(key)
    flat[f"{name}_currency"] = (usage.get("cost") or {}).get("currency")
    return flat


def _flatten_bounds(bounds: Mapping[str, Any]) -> dict[str, Any]:
    bound_range = f"{bounds['low']:.2f}-{bounds['high']:.2f}" if bounds.get("matters") else None
    return {
        "bound_low": bounds.get("low"),
        "bound_high": bounds.get("high"),
        "bound_range": bound_range,
    }


def _flatten_jury(jury: Mapping[str, Any]) -> dict[str, Any]:
    """Return a jury's values as single values; those of its judges are joined in the order of their names."""
    scale = jury.get("scale") or {}
    judges = jury.get("each", ())
    flat = {
        "jury_metric": jury.get("metric"),
        "jury_scale_low": scale.get("low"),
        "jury_scale_high": scale.get("high"),
        "quorum": jury.get("quorum"),
        "judges": "; ".join(jury.get("judges", ())),
    }
    for key in ("mean", "filled", "repaired"):
        values = ["" if judge[key] is None else str(judge[key]) for judge in judges]
        flat[f"judges_{key}"] = "; ".join(values)
    flat["judges_faults"] = "; ".join(_format_pairs(judge["faults"]) for judge in judges)
    flat["seats"] = jury.get("seats")
    flat["seats_filled"] = jury.get("filled")
    flat["seats_repaired"] = jury.get("repaired")
    flat["seat_faults"] = _format_pairs(jury.get("faults", {}))
    means: dict[str, float] = {}
    for name, criterion in jury.get("criteria", {}).items():
        if criterion["mean"] is not None:
            means[name] = criterion["mean"]
    flat["criteria"] = _format_pairs(means)
    flat["family_judges"] = "; ".join(jury.get("family", ()))
    without_family = jury.get("without_family") or {}
    for key in ("mean", "low", "high", "n"):
        flat[f"without_family_{key}"] = without_family.get(key)
    return flat


def _format_pairs(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def format_rank(rank: Sequence[int | None] | None) -> str | None:
    """Return a range of ranks, for example `2-4`, or `1` if both ends are the same."""
    if rank is None or rank[0] is None:
        return None
    low, high = rank
    return str(low) if low == high else f"{low}-{high}"
