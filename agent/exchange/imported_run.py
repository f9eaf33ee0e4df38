"""The details of a run imported from elsewhere, in the same form as those of our own runs."""

from collections.abc import Sequence

from agent import __version__
from agent.catalog.benchmark import Benchmark
from agent.store import KeptData, KeptMetric, RunDetails, RunOrigin

BASELINES = "baseline/"  # prefix of reference baselines, which HELM's pages list as models
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
    """Return the details of an imported run, with defaults for details that the run's files may state.

    Args:
        benchmark: our benchmark of this name; its definition may differ from the one that was run.
        display_name: the title for a benchmark that is not in the catalogue.
        model: the model whose answers were scored.
        metrics: from `agent.exchange.helm.names.imported_metric`, the main metric first.
        origin: the imported folder or leaderboard.
        instances: the number of instances in the run.
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
        lacking=frozenset({"left_out", "plan"}),  # decided only when a run is planned
    )
