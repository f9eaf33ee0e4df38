"""What runs are called in files that are handed around: no free text of a run entry, no foreign name of any form.

A label is keyed with the site's vault, so that nobody outside can guess what it stands for; equal names have equal
labels, so that two runs stay two runs.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from agent.catalog.run_entries import EXPANDERS
from agent.errors import ConfigError
from agent.evaluation.summarise import MetricSummary, RunSummary
from agent.exchange.helm_names import metric_title, name_of_run_spec, words_of_run_spec
from agent.exchange.imported import ELSEWHERE
from agent.exchange.json_place import PLAIN_NAME, is_class_name
from agent.exchange.releases import JoinedRelease
from agent.jury.seats import judges_of, seat_names
from agent.site import Site
from agent.store import Run, Store

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
        return f"{kind}_{self._store.request_key(name, f'{kind} label'.encode()).hex()[:8]}"

    def summary(self, summary: RunSummary) -> RunSummary:
        """Return the summary with its runs as they are shown."""
        if self._reveal:
            return summary
        metrics = summary.metrics
        if summary.run.imported and summary.run.run_id:
            metrics = tuple(map(_with_own_title, metrics))
        run = self.run(summary.run)
        kept = {one["name"]: one for one in run.details.get("metrics", ())}
        metrics = tuple(_with_shown_judges(metric, kept) for metric in metrics)
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
        head = self._plain("benchmark", name_of_run_spec(run.name))
        words = [self._word(run, word) for word in words_of_run_spec(run.name)]
        return f"{head}:{','.join(words)}" if words else head

    def _word(self, run: Run, word: str) -> str:
        key, equals, value = word.partition("=")
        if not equals or not _KEY.fullmatch(key):
            return self.label("word", word)
        if key in ("model", "model_deployment"):
            return f"{key}={self._plain(key.removeprefix('model_'), value)}"
        return f"{key}={value if _is_listed(run, key, value) else self.label(key, value)}"

    def _details(self, run: Run, benchmark: str) -> dict[str, Any]:
        details = dict(run.details)
        details["arguments"] = {
            key: value if _is_listed(run, key, value) else self.label(key, value)
            for key, value in (details.get("arguments") or {}).items()
        }
        details["metrics"] = list(map(self._metric, details["metrics"]))
        if not run.imported:
            return details
        if any(not PLAIN_NAME.fullmatch(metric[key]) for metric in details["metrics"] for key in ("name", "helm_name")):
            raise ConfigError(
                f"suite {run.suite}: an imported run names a metric in free text, which no redacted export may hold",
                "Leave the suite out, or give --reveal.",
            )
        origin = dict(details["origin"])
        if not is_class_name(origin.get("scenario", "")):
            origin["scenario"] = self.label("scenario", origin.get("scenario", ""))
        if origin.get("groups"):
            origin["groups"] = [self._plain("group", group) for group in origin["groups"]]
        return details | {
            "display_name": benchmark if details["category"] == ELSEWHERE else details["display_name"],
            "stop": [self.label("stop", stop) if _TEXT.search(stop) else stop for stop in details["stop"]],
            "unit": self._plain("unit", details["unit"]),
            "origin": origin,
            "metrics": [metric | {"display_name": metric_title(metric["name"])} for metric in details["metrics"]],
        }

    def _metric(self, metric: dict[str, Any]) -> dict[str, Any]:
        """Return what a run keeps of a metric with the judges of its jury as they are shown."""
        if "jury" not in metric:
            return metric
        judges = [
            [self._plain("deployment", deployment), self._plain("judge", model), name and self._plain("judge", name)]
            for deployment, model, name in metric["jury"]["judges"]
        ]
        return metric | {"jury": metric["jury"] | {"judges": judges}}


def shown_summaries(site: Site, summaries: Iterable[RunSummary], *, reveal: bool) -> list[RunSummary]:
    """Return the summaries as an export of the site shows them."""
    with site.store() as store:
        return list(map(ShownNames(store, reveal=reveal).summary, summaries))


def _is_listed(run: Run, key: str, value: str) -> bool:
    """Whether an argument's value is one that a definition lists, or a setting of few words."""
    details = run.details
    arguments = details.get("arguments") or {}
    if key in arguments:
        free = details.get("free_arguments")
        if free is None:  # kept before runs said so
            return details["access"] == "public" and not run.imported
        return key not in free and value in (arguments[key], "None")  # HELM's word for no choice
    if key == "data":
        return _DIGEST.fullmatch(value) is not None
    return key in EXPANDERS and _SETTING.fullmatch(value) is not None


def _with_shown_judges(metric: MetricSummary, kept: Mapping[str, Any]) -> MetricSummary:
    """Call the judges of a metric's jury as the shown run does."""
    if metric.jury is None:
        return metric
    names = seat_names(judges_of(kept[metric.metric]["jury"]))
    return replace(metric, jury=replace(metric.jury, judges=names))


def _with_own_title(metric: MetricSummary) -> MetricSummary:
    twin = None if metric.twin is None else _with_own_title(metric.twin)
    return replace(metric, display_name=metric_title(metric.metric), twin=twin)
