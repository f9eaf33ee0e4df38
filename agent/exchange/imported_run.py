"""The details of a run that was not made here, in the shape of a run of our own."""

from collections.abc import Sequence

from agent import __version__
from agent.catalog.benchmark import Benchmark
from agent.store import KeptData, KeptMetric, RunDetails, RunOrigin

BASELINES = (
    "baseline/"  # models of this name are not language models, also where HELM's pages list them
)
ELSEWHERE = "Not in this site's catalogue"


def build_imported_details(
    benchmark: Benchmark | None,
    *,
    display_name: str,
    model: str,
    metrics: Sequence[KeptMetric],
    origin: RunOrigin,
    instances: int,
) -> RunDetails:
    """Return the details of an imported run, as far as they are known before its files say more.

    Args:
        benchmark: the benchmark of this name here; its definition need not be the one that was run.
        display_name: for a benchmark that is not in the catalogue.
        model: whose answers were scored.
        metrics: from `agent.exchange.helm.names.imported_metric`, the main one first.
        origin: the imported folder or leaderboard.
        instances: how many the run holds.
    """
    category, subcategory, access = ELSEWHERE, "", "unknown"
    title = display_name
    if benchmark is not None:
        title = benchmark.display_name
        category, subcategory, access = benchmark.category, benchmark.subcategory, benchmark.access
    return RunDetails(
        display_name=title,
        category=category,
        subcategory=subcategory,
        access=access,
        lineage=f"helm {display_name}",
        unit="instance",
        unit_named=False,
        data=KeptData(
            known="imported",
            own=True,
            instances=instances,
            lacking=frozenset({"registered", "frozen_digest"}),
        ),
        metrics=tuple(metrics),
        scoring="helm",
        agent_version=__version__,
        language_model=not model.startswith(BASELINES),
        capabilities={"server": "", "features": {}},
        origin=origin,
        lacking=frozenset({"left_out", "plan"}),  # they are decided where a run is planned
    )
