"""The pages of one run: its figures and settings, and its instances.

Texts of cases come by way of a `Clearer`: no text of a case is in a view but as `Redacted`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agent.catalog.deployments import Prices
from agent.exchange.shown_names import ShownNames
from agent.jury.seats import count_needed_verdicts, name_seats
from agent.redaction.gateway.cases import ClearedCase, Clearer
from agent.redaction.gateway.judgements import read_seat_judgements
from agent.results.subgroups import SubgroupSummary
from agent.results.summarize import RunSummary
from agent.runs.forecast.usage import describe_usage
from agent.service.heads import MetricHead, RunHead, RunLine, data_words, run_figure, run_head, run_line
from agent.store import RETRIED, Run, RunDetails, Store, Usage
from agent.vocabulary import Unscored

INSTANCES_A_PAGE = 20


@dataclass(frozen=True, slots=True)
class CapabilityLine:
    """One thing the probe found out about the server, in plain words."""

    feature: str
    state: str
    finding: str


@dataclass(frozen=True, slots=True)
class SubgroupLine:
    """The main metric over the patients of whom the data says `value` of `attribute`; empty where it does not say."""

    attribute: str
    value: str
    main: MetricHead


@dataclass(frozen=True, slots=True)
class RunPage:
    """One run without its instances. Settings are label and value, in order; the first metric is the main one.

    `cost_lines` say in words what `usage` came to, with what it cost where the deployment names prices.
    """

    line: RunLine
    metrics: tuple[MetricHead, ...]
    twins: bool  # whether metrics have figures by HELM's rules too
    subgroups: tuple[SubgroupLine, ...]  # of the main metric
    settings: tuple[tuple[str, str], ...]
    usage: Usage | None  # None for a run that was not made here
    cost_lines: tuple[str, ...]
    capabilities: tuple[CapabilityLine, ...]


@dataclass(frozen=True, slots=True)
class CaseView:
    """One instance. `status` says why there is no answer to read; empty when there is one."""

    case: ClearedCase
    status: str


@dataclass(frozen=True, slots=True)
class InstancesPage:
    """One page of a run's instances. Pages count from 1."""

    run: RunHead
    page: int
    pages: int
    cases: tuple[CaseView, ...]
    withheld: int  # texts of this page that could not be cleared and are not shown


def run_page(
    summary: RunSummary, usage: Usage, prices: Prices | None, subgroups: Iterable[SubgroupSummary] = ()
) -> RunPage:
    """Show one run without its instances. `prices` are its deployment's, as they are now."""
    imported = summary.run.imported
    features: Mapping[str, Mapping[str, str]] = summary.run.details.capabilities.get("features", {})
    capabilities: list[CapabilityLine] = []
    for name, feature in features.items():
        capabilities.append(CapabilityLine(name.replace("_", " "), feature["state"], feature["finding"]))
    subgroup_lines: list[SubgroupLine] = []
    for subgroup in subgroups:
        figure = run_figure(summary, subgroup.metric)
        subgroup_lines.append(SubgroupLine(subgroup.attribute, subgroup.value or "", figure))
    return RunPage(
        run_line(summary),
        tuple(run_figure(summary, metric) for metric in summary.metrics),
        any(metric.twin is not None for metric in summary.metrics),
        tuple(subgroup_lines),
        tuple(_settings(summary.run)),
        None if imported else usage,
        () if imported else tuple(describe_usage(usage, prices, all_asked_now=False)),
        tuple(capabilities),
    )


def instances_page(store: Store, run: Run, page: int, clearer: Clearer, names: ShownNames) -> InstancesPage | None:
    """Show one page of instances, every text of them cleared, or nothing where the run has no such page."""
    pages = page_count(store, run)
    if not 1 <= page <= pages:
        return None
    before = clearer.withheld
    instances = store.answers.read_instances(run.run_id, (page - 1) * INSTANCES_A_PAGE, INSTANCES_A_PAGE)
    shown = names.run(run)
    cases = clearer.clear(run.run_id, instances, read_seat_judgements(store, shown, instances))
    views = tuple(CaseView(case, _status(case)) for case in cases)
    return InstancesPage(run_head(shown), page, pages, views, clearer.withheld - before)


def page_count(store: Store, run: Run) -> int:
    """How many pages a run's instances take; at least one."""
    return max(1, -(-store.answers.count_instances(run.run_id) // INSTANCES_A_PAGE))


def _settings(run: Run) -> Iterator[tuple[str, str]]:
    details, data = run.details, run.details.data
    yield "Run", run.name
    yield "Deployment", run.deployment
    yield "Scoring", details.scoring
    yield from _jury(details)
    if details.origin is not None:
        yield "Imported", f"from a HELM run folder, SHA-256 {details.origin.digest[:16]}"
        yield "Instances", str(data.instances)
        if details.max_tokens is not None:
            yield "Longest answer", f"{details.max_tokens} tokens"
        if details.temperature is not None:
            yield "Temperature", f"{details.temperature:g}"
        return
    yield "Changed by the run entry", ", ".join(details.overrides) or "nothing"
    if details.left_out:
        yield "Not measured, for want of an encoder", ", ".join(details.left_out)
    sampled, available = details.sampled, data.instances
    if sampled is None or sampled >= available:
        yield "Instances", f"all {available} of the data"
    else:
        yield "Instances", f"{sampled} of {available} of the data, chosen with seed {details.sample_seed}"
    yield "Unit", details.unit + (", as the data names it" if details.unit_named else "")
    yield "Longest answer", f"{details.max_tokens} tokens"
    yield "Temperature", f"{details.temperature:g}"
    if details.stop:
        yield "Stop sequences", str(len(details.stop))
    yield "Data", f"{data_words(data)}, SHA-256 {data.digest[:16]}"
    yield "Benchmark definition", f"SHA-256 {details.benchmark_digest[:16]}"
    yield "Agent", details.agent_version
    for workaround in details.workarounds:
        yield "Worked around", workaround


def _jury(details: RunDetails) -> Iterator[tuple[str, str]]:
    """Say who judged, and when an answer has a score; nothing where no jury was named."""
    jury = next((metric.jury for metric in details.metrics if metric.judges), None)
    if jury is None:
        return
    yield "Jury", ", ".join(name_seats(jury.judges))
    rule = ""
    if details.origin is None:  # HELM has no quorum
        seats = len(jury.judges)
        rule = f"at least {count_needed_verdicts(seats, jury.quorum)} of {seats} valid verdicts, "
    yield "Jury's rule", f"{rule}grades from {jury.scale.low:g} to {jury.scale.high:g}"


def _status(case: ClearedCase) -> str:
    if case.answer is not None:
        return ""
    reasons = (score.reason for score in case.scores.values() if isinstance(score, Unscored))
    failure = next((reason for reason in reasons if reason in RETRIED), None)
    if failure is not None:
        return f"No answer: {failure.replace('_', ' ')}."
    if case.prompt is None:
        return "The texts were purged; scores are kept."
    return "No answer is stored: not asked yet, or purged."
