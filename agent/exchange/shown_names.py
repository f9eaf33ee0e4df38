"""What runs are called in files that are handed around: no free text of a run entry, no foreign name of any form.

A label is keyed with the site's vault, so that nobody outside can guess what it stands for; equal names have equal
labels, so that two runs stay two runs.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from agent.catalog.run_entries import EXPANDERS
from agent.errors import ConfigError
from agent.exchange.helm.names import metric_title, read_scenario_name, split_run_name
from agent.exchange.imported import ELSEWHERE
from agent.exchange.json_path import PLAIN_NAME, is_class_name
from agent.exchange.releases import JoinedRelease
from agent.jury.seats import name_seats
from agent.results.summarize import MetricSummary, RunSummary
from agent.site.directory import Site
from agent.store import KeptMetric, Run, RunDetails, RunOrigin, Store
from agent.vocabulary import Judge

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_SETTING = re.compile(r"[A-Za-z0-9_.+-]{1,20}")  # values of run expanders
_DIGEST = re.compile(r"[0-9a-f]{1,64}")
_TEXT = re.compile(r"[^\W_]")


class ShownNames:
    """Names of runs as an export shows them.

    Args:
        store: its key labels what is not shown.
        reveal: show every name as it is.
    """

    def __init__(self, store: Store, *, reveal: bool = False) -> None:
        self._store = store
        self._reveal = reveal

    def label(self, kind: str, name: str) -> str:
        """Return what stands for the name: equal for equal names, and nothing to anyone without the site's key."""
        return f"{kind}_{self._store.identities.request_key(name, f'{kind} label'.encode()).hex()[:8]}"

    def summary(self, summary: RunSummary) -> RunSummary:
        """Return the summary with its runs as they are shown."""
        if self._reveal:
            return summary
        metrics = summary.metrics
        if summary.run.imported and summary.run.run_id:
            metrics = tuple(map(_with_own_title, metrics))
        run = self.run(summary.run)
        metrics = tuple(_with_shown_judges(metric, run) for metric in metrics)
        return replace(summary, run=run, metrics=metrics, runs=tuple(map(self.run, summary.runs)))

    def release(self, joined: JoinedRelease) -> JoinedRelease:
        """Return the release with its runs as they are shown."""
        runs = {run.name: self.run(run).name for one in joined.summaries for run in (one.runs or (one.run,))}
        replaced = tuple((runs[name], suite) for name, suite in joined.replaced)
        return replace(joined, summaries=tuple(map(self.summary, joined.summaries)), replaced=replaced)

    def run(self, run: Run) -> Run:
        """Return the run with labels for what a run entry said freely, and for foreign names of no plain form.

        Raises:
            ConfigError: it was imported, by an earlier version, with a metric whose name is of no plain form.
        """
        if self._reveal or not run.run_id:  # figures of a leaderboard are of no run
            return run
        benchmark = self._plain("benchmark", run.benchmark)
        return replace(
            run,
            name=self._run_name(run),
            benchmark=benchmark,
            model=self._plain("model", run.model),
            deployment=self._plain("deployment", run.deployment),
            details=self._details(run, benchmark),
        )

    def _plain(self, kind: str, name: str) -> str:
        return name if PLAIN_NAME.fullmatch(name) else self.label(kind, name)

    def _run_name(self, run: Run) -> str:
        head = self._plain("benchmark", read_scenario_name(run.name))
        words = [self._word(run, word) for word in split_run_name(run.name)]
        return f"{head}:{','.join(words)}" if words else head

    def _word(self, run: Run, word: str) -> str:
        key, equals, value = word.partition("=")
        if not equals or not _KEY.fullmatch(key):
            return self.label("word", word)
        if key in ("model", "model_deployment"):
            return f"{key}={self._plain(key.removeprefix('model_'), value)}"
        return f"{key}={value if _is_listed(run, key, value) else self.label(key, value)}"

    def _details(self, run: Run, benchmark: str) -> RunDetails:
        arguments = {
            key: value if _is_listed(run, key, value) else self.label(key, value)
            for key, value in run.details.arguments.items()
        }
        details = replace(run.details, arguments=arguments, metrics=tuple(map(self._metric, run.details.metrics)))
        if details.origin is None:
            return details
        names = [name for metric in details.metrics for name in (metric.name, metric.helm_name)]
        if not all(map(PLAIN_NAME.fullmatch, names)):
            raise ConfigError(
                f"suite {run.suite}: an imported run names a metric in free text, which no redacted export may hold",
                "Leave the suite out, or give --reveal.",
            )
        return replace(
            details,
            display_name=benchmark if details.category == ELSEWHERE else details.display_name,
            stop=tuple(self.label("stop", stop) if _TEXT.search(stop) else stop for stop in details.stop),
            unit=self._plain("unit", details.unit),
            origin=self._origin(details.origin),
            metrics=tuple(replace(metric, display_name=metric_title(metric.name)) for metric in details.metrics),
        )

    def _origin(self, origin: RunOrigin) -> RunOrigin:
        scenario = origin.scenario if is_class_name(origin.scenario) else self.label("scenario", origin.scenario)
        return replace(origin, scenario=scenario, groups=tuple(self._plain("group", group) for group in origin.groups))

    def _metric(self, metric: KeptMetric) -> KeptMetric:
        """Return a metric with the judges of its jury as they are shown."""
        if metric.jury is None:
            return metric
        judges = tuple(map(self._judge, metric.jury.judges))
        return replace(metric, jury=replace(metric.jury, judges=judges))

    def _judge(self, judge: Judge) -> Judge:
        return Judge(
            self._plain("deployment", judge.model_deployment),
            self._plain("judge", judge.model_name),
            judge.name and self._plain("judge", judge.name),
        )


def shown_summaries(site: Site, summaries: Iterable[RunSummary], *, reveal: bool) -> list[RunSummary]:
    """Return the summaries as an export of the site shows them."""
    with site.store() as store:
        return list(map(ShownNames(store, reveal=reveal).summary, summaries))


def _is_listed(run: Run, key: str, value: str) -> bool:
    """Whether an argument's value is one that a definition lists, or a setting of few words."""
    details = run.details
    if key in details.arguments:
        if details.free_arguments is None:  # kept before runs said so
            return details.access == "public" and not run.imported
        is_chosen_or_none = value in (details.arguments[key], "None")  # HELM's word for no choice
        return key not in details.free_arguments and is_chosen_or_none
    if key == "data":
        return _DIGEST.fullmatch(value) is not None
    return key in EXPANDERS and _SETTING.fullmatch(value) is not None


def _with_shown_judges(metric: MetricSummary, run: Run) -> MetricSummary:
    """Call the judges of a metric's jury as the shown run does."""
    shown = run.details.find_metric(metric.metric)
    if metric.jury is None or shown is None:
        return metric
    return replace(metric, jury=replace(metric.jury, judges=name_seats(shown.judges)))


def _with_own_title(metric: MetricSummary) -> MetricSummary:
    twin = None if metric.twin is None else _with_own_title(metric.twin)
    return replace(metric, display_name=metric_title(metric.metric), twin=twin)
