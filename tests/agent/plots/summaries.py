"""Results to draw, and the texts of a drawing."""

from xml.etree import ElementTree

from agent.plots.charts import Chart, build_chart
from agent.results.summarize import MetricSummary, RunSummary
from agent.statistics.intervals import Mean
from agent.store import Run, RunDetails
from agent.vocabulary import Reason

SVG = "{http://www.w3.org/2000/svg}"


def summary(
    benchmark: str,
    model: str,
    value: float | None,
    *,
    low: float = 0,
    high: float = 1,
    unscored: int = 0,
    deployment: str = "d",
    entry: str = "",
    mute: bool = False,
) -> RunSummary:
    details = RunDetails(language_model=not mute)
    run = Run(
        "r",
        "s",
        f"{benchmark}:model={model}{entry}",
        benchmark,
        model,
        deployment,
        details,
        "ended",
        0,
        0,
    )
    half = 0.05 * (high - low)
    interval = (None, None) if value is None else (max(low, value - half), min(high, value + half))
    mean = Mean(0 if value is None else 40, 40, value, *interval, "bca")
    return RunSummary(
        run, (MetricSummary("m", "Metric", low, high, mean, {Reason.UNPARSED: unscored}),)
    )


def chart(*summaries: RunSummary) -> Chart:
    return build_chart(summaries, "Suite s")


ORDINARY = chart(
    summary("pubmed_qa", "a/good", 0.9),
    summary("pubmed_qa", "b/fair", 0.5, unscored=20),
    summary("pubmed_qa", "baseline/first", 0.3, mute=True),
    summary("pubmed_qa", "c/dead", None),
    summary("mts_dialog", "a/good", 4.0, low=1, high=5),
)


def texts(drawn: str) -> list[str]:
    return [found.text or "" for found in ElementTree.fromstring(drawn).iter(f"{SVG}text")]
