"""Build the page of one run: its metrics and settings."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agent.catalog.deployments import Prices
from agent.jury.seats import count_needed_verdicts, label_seats
from agent.results.subgroups import SubgroupSummary
from agent.results.summarize import RunSummary
from agent.results.usage import describe_usage
from agent.scoring.readings import describe_other_version
from agent.service.capability_words import name_feature
from agent.service.heads import (
    MetricHead,
    RunLine,
    build_metric_head,
    build_run_line,
    describe_data,
)
from agent.service.words import find_word
from agent.store import Run, RunDetails, Usage
from agent.vocabulary import AnswerParser


@dataclass(frozen=True, slots=True)
class CapabilityLine:
    """One finding of the capability probe, in words."""

    feature: str
    state: str
    finding: str


@dataclass(frozen=True, slots=True)
class SubgroupLine:
    """The main metric over the patients whose `attribute` has this `value`; the value is empty if unknown."""

    attribute: str
    value: str
    main: MetricHead


@dataclass(frozen=True, slots=True)
class RunPage:
    """One run without its instances.

    Attributes:
        line: head and progress of the run.
        metrics: all metrics; the first is the main one.
        twins: whether any metric also has a value by HELM's rules.
        subgroups: the main metric by subgroup.
        settings: (label, value) of each setting, in order.
        usage: usage of the run's answers; None for an imported run.
        cost_lines: description of `usage`, with its cost if the deployment has prices.
        capabilities: findings of the capability probe.
    """

    line: RunLine
    metrics: tuple[MetricHead, ...]
    twins: bool
    subgroups: tuple[SubgroupLine, ...]
    settings: tuple[tuple[str, str], ...]
    usage: Usage | None
    cost_lines: tuple[str, ...]
    capabilities: tuple[CapabilityLine, ...]


def build_run_page(
    summary: RunSummary,
    usage: Usage,
    prices: Prices | None,
    subgroups: Iterable[SubgroupSummary] = (),
) -> RunPage:
    """Build the page of a run without its instances. `prices` are the current prices of its deployment."""
    run = summary.run
    subgroup_lines: list[SubgroupLine] = []
    for subgroup in subgroups:
        head = build_metric_head(summary, subgroup.metric)
        subgroup_lines.append(SubgroupLine(subgroup.attribute, subgroup.value or "", head))
    cost_lines: Iterable[str] = ()
    if not run.imported:
        cost_lines = describe_usage(
            usage, prices, all_asked_now=False, answer_mode=run.details.answer_mode
        )
    return RunPage(
        line=build_run_line(summary),
        metrics=tuple(build_metric_head(summary, metric) for metric in summary.metrics),
        twins=any(metric.twin is not None for metric in summary.metrics),
        subgroups=tuple(subgroup_lines),
        settings=tuple(list_settings(run)),
        usage=None if run.imported else usage,
        cost_lines=tuple(cost_lines),
        capabilities=_list_capabilities(run),
    )


def _list_capabilities(run: Run) -> tuple[CapabilityLine, ...]:
    features: Mapping[str, Mapping[str, str]] = run.details.capabilities.get("features", {})
    lines: list[CapabilityLine] = []
    for name, feature in features.items():
        title = name_feature(name)
        lines.append(CapabilityLine(title, feature["state"], feature["finding"]))
    return tuple(lines)


def list_settings(run: Run) -> Iterator[tuple[str, str]]:
    """Yield (label, value) of each setting, in display order."""
    details = run.details
    data = details.data
    yield "Run", run.name
    yield "Deployment", run.deployment
    yield "Scoring", find_word(details.scoring, "scoring")
    yield from _list_jury_settings(details)
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
        yield "Not measured, because there is no encoder", ", ".join(details.left_out)
    sampled = details.sampled
    if sampled is None or sampled >= data.instances:
        yield "Instances", f"all {data.instances} in the data"
    else:
        yield (
            "Instances",
            f"{sampled} of {data.instances} in the data, sampled with seed {details.sample_seed}",
        )
    yield "Unit", details.unit + (", as named in the data" if details.unit_named else "")
    yield "Way of asking", find_word(details.answer_mode, "asking")
    if details.parser is not None:
        yield "Parser of answers", _describe_parser(details.parser)
    yield "Reading rules", _describe_reading_rules(run)
    yield "Longest answer", f"{details.max_tokens} tokens"
    yield "Temperature", f"{details.temperature:g}"
    if details.stop:
        yield "Stop sequences", str(len(details.stop))
    yield "Data", f"{describe_data(details)}, SHA-256 {data.digest[:16]}"
    yield "Benchmark definition", f"SHA-256 {details.benchmark_digest[:16]}"
    yield "Agent", details.agent_version
    for workaround in details.workarounds:
        yield "Workaround", workaround


def _describe_reading_rules(run: Run) -> str:
    version = f"version {run.details.reading_version}"
    other = describe_other_version(run)
    return f"{version}. {other}" if other else version


def _describe_parser(parser: AnswerParser) -> str:
    labels = ", ".join(label for label, *_ in parser.labels)
    words = (find_word(parser.kind, "parser"), parser.field, parser.pattern, labels)
    return " ".join(word for word in words if word)


def _list_jury_settings(details: RunDetails) -> Iterator[tuple[str, str]]:
    """Yield the judges and the quorum and scale of the jury; nothing if the run has no jury."""
    judged_metrics = [metric for metric in details.metrics if metric.judges]
    if not judged_metrics:
        return
    jury = judged_metrics[0].jury
    if jury is None:
        return
    yield "Jury", ", ".join(label_seats(jury.judges))
    rule = ""
    if details.origin is None:  # HELM has no quorum
        seats = len(jury.judges)
        rule = f"at least {count_needed_verdicts(seats, jury.quorum)} of {seats} valid verdicts, "
    yield "Jury's rules", f"{rule}grades from {jury.scale.low:g} to {jury.scale.high:g}"
