"""Results of several runs with the names that exports show: labels in place of free text and of odd names."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from agent.exchange.shown_names import ShownNames
from agent.jury.seats import name_seats
from agent.results.judge_agreement import Agreement, Bias
from agent.results.paired_instances import ModelSide, PairedBenchmark
from agent.results.paired_models import Pairing
from agent.store import Run

NameMap = Mapping[str, str]


def map_names(runs: Iterable[Run], names: ShownNames) -> NameMap:
    """Return the shown name of each run, benchmark, model, deployment and judge of these runs."""
    shown_names: dict[str, str] = {}
    for run in runs:
        shown = names.show_run(run)
        shown_names[run.name] = shown.name
        shown_names[run.benchmark] = shown.benchmark
        shown_names[run.model] = shown.model
        shown_names[run.deployment] = shown.deployment
        for metric, shown_metric in zip(run.details.metrics, shown.details.metrics, strict=True):
            judges = zip(name_seats(metric.judges), name_seats(shown_metric.judges), strict=True)
            shown_names.update(judges)
    return shown_names


def show_pairing(pairing: Pairing, shown_names: NameMap) -> Pairing:
    """Return a pairing with its names as they are shown."""
    left_out = {shown_names.get(name, name): why for name, why in pairing.left_out.items()}
    benchmarks = tuple(_show_benchmark(paired, shown_names) for paired in pairing.benchmarks)
    return replace(pairing, benchmarks=benchmarks, left_out=left_out)


def _show_benchmark(paired: PairedBenchmark, shown_names: NameMap) -> PairedBenchmark:
    return replace(
        paired,
        benchmark=shown_names[paired.benchmark],
        side_a=_show_side(paired.side_a, shown_names),
        side_b=_show_side(paired.side_b, shown_names),
    )


def _show_side(side: ModelSide, shown_names: NameMap) -> ModelSide:
    runs = tuple(shown_names[name] for name in side.runs)
    return replace(side, runs=runs, family=_show_judges(side.family, shown_names))


def show_agreement(agreement: Agreement, shown_names: NameMap) -> Agreement:
    """Return the agreement of a jury with its names as they are shown."""
    return replace(
        agreement,
        benchmark=shown_names[agreement.benchmark],
        judges=_show_judges(agreement.judges, shown_names),
        silent=_show_judges(agreement.silent, shown_names),
    )


def show_bias(bias: Bias, shown_names: NameMap) -> Bias:
    """Return a check for bias with its names as they are shown."""
    return replace(
        bias,
        benchmark=shown_names[bias.benchmark],
        judge=bias.judge and shown_names[bias.judge],
        model=bias.model and shown_names[bias.model],
    )


def _show_judges(judges: Iterable[str], shown_names: NameMap) -> tuple[str, ...]:
    return tuple(shown_names[judge] for judge in judges)
