"""Rows of the agreement of judges, and of checks for bias."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.results.judge_agreement import Agreement, Bias
    from agent.statistics.agreement import Icc
    from agent.statistics.alpha_interval import Alpha


def build_agreement_row(agreement: "Agreement") -> dict[str, Any]:
    """Return one criterion's agreement as a JSON row."""
    row: dict[str, Any] = {
        "kind": "agreement",
        "benchmark": agreement.benchmark,
        "jury": agreement.jury,
        "criterion": agreement.criterion,
        "judges": list(agreement.judges),
        "silent": list(agreement.silent),
        "seats": len(agreement.judges),
        "answers": agreement.answers,
        "complete": agreement.complete,
        "units": agreement.units,
        "complete_units": agreement.complete_units,
    }
    row |= _build_interval("alpha_interval", agreement.interval)
    row |= _build_interval("alpha_ordinal", agreement.ordinal)
    for form, icc in agreement.icc.items():
        row |= _build_interval(form.lower(), icc)
    row["icc_limits"] = agreement.method
    return row


def build_bias_row(bias: "Bias") -> dict[str, Any]:
    """Return one check for bias as a JSON row."""
    row: dict[str, Any] = {
        "kind": bias.kind,
        "benchmark": bias.benchmark,
        "jury": bias.jury,
        "judge": bias.judge,
        "model": bias.model,
        "n": bias.figure.n,
        "units": bias.figure.units,
        "value": bias.figure.value,
        "low": bias.figure.low,
        "high": bias.figure.high,
    }
    return row


def _build_interval(name: str, figure: "Alpha | Icc") -> dict[str, float | None]:
    return {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
