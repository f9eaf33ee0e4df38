"""What is kept with a run that was not made here, in the shape of a run of our own."""

from collections.abc import Sequence

from agent import __version__
from agent.catalog.benchmark import Benchmark
from agent.store import KeptData, KeptMetric, RunDetails, RunOrigin

BASELINES = "baseline/"  # models of this name are no language models, also where HELM's pages have shown them
ELSEWHERE = "Not in this site's catalogue"


def imported_details(
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
        origin: what was imported.
        instances: how many the run holds.
    """
    return RunDetails(
        display_name=benchmark.display_name if benchmark else display_name,
        category=benchmark.category if benchmark else ELSEWHERE,
        subcategory=benchmark.subcategory if benchmark else "",
        access=benchmark.access if benchmark else "unknown",
        lineage=f"helm {display_name}",
        unit="instance",
        unit_named=False,
        data=KeptData(
            known="imported", own=True, instances=instances, lacking=frozenset({"registered", "frozen_digest"})
        ),
        metrics=tuple(metrics),
        scoring="helm",
        agent_version=__version__,
        language_model=not model.startswith(BASELINES),
        capabilities={"server": "", "features": {}},
        origin=origin,
        lacking=frozenset({"left_out", "plan"}),  # they are decided where a run is planned
    )
