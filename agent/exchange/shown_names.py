"""Names of runs as shown in exported files.

Free text from a run entry is never shown, and names from elsewhere are shown only if they are plain (letters, digits
and `_-.@:/`, at most 80). Otherwise a label replaces the name. Labels are keyed with a key of the site, so that nobody
outside the site can guess the name. Equal names get equal labels, so that different runs stay distinguishable.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from agent.catalog.run_entries import EXPANDERS
from agent.errors import ConfigError
from agent.exchange.helm.names import metric_title, read_scenario_name, split_run_name
from agent.exchange.imported_run import ELSEWHERE
from agent.exchange.json_path import PLAIN_NAME, is_class_name
from agent.exchange.releases import JoinedRelease
from agent.jury.seats import name_seats
from agent.reading.json_answers import names_answer
from agent.results.comparability import PARSER_KEYS
from agent.results.summarize import MetricSummary, RunSummary
from agent.site.directory import Site
from agent.store import KeptMetric, Run, RunDetails, RunOrigin, Store
from agent.vocabulary import AnswerParser, Judge

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_SETTING = re.compile(r"[A-Za-z0-9_.+-]{1,20}")  # values of settings in a run entry
_DIGEST = re.compile(r"[0-9a-f]{1,64}")
_TEXT = re.compile(r"[^\W_]")


class ShownNames:
    """Names of runs as an export shows them.

    Args:
        store: the store whose key makes the labels.
        reveal: show every name unchanged.
    """

    def __init__(self, store: Store, *, reveal: bool = False) -> None:
        self._store = store
        self._reveal = reveal

    def label(self, kind: str, name: str) -> str:
        """Return the label of a name. Equal names have equal labels, which are meaningless without the site's key."""
        key = self._store.identities.request_key(name, f"{kind} label".encode())
        return f"{kind}_{key.hex()[:8]}"

    def show_summary(self, summary: RunSummary) -> RunSummary:
        """Return the summary with the names of its runs as they are shown."""
        if self._reveal:
            return summary
        run = self.show_run(summary.run)
        metrics = []
        has_own_titles = not (summary.run.imported and summary.run.run_id)
        for metric in summary.metrics:
            shown_metric = metric if has_own_titles else _give_own_title(metric)
            metrics.append(_name_judges_as_shown(shown_metric, run))
        runs = [self.show_run(pooled_run) for pooled_run in summary.runs]
        return replace(summary, run=run, metrics=tuple(metrics), runs=tuple(runs))

    def show_release(self, joined: JoinedRelease) -> JoinedRelease:
        """Return the release with the names of its runs as they are shown."""
        shown_names = {}
        for summary in joined.summaries:
            for run in summary.runs or (summary.run,):
                shown_names[run.name] = self.show_run(run).name
        replaced = [(shown_names[name], suite) for name, suite in joined.replaced]
        summaries = [self.show_summary(summary) for summary in joined.summaries]
        return replace(joined, summaries=tuple(summaries), replaced=tuple(replaced))

    def show_run(self, run: Run) -> Run:
        """Return the run with labels in place of free values in its run entry and of imported names that are not plain.

        Raises:
            ConfigError: an earlier version imported the run with a metric whose name is not plain.
        """
        if self._reveal or not run.run_id:  # values from a leaderboard belong to no run
            return run
        benchmark = self._show_plain("benchmark", run.benchmark)
        return replace(
            run,
            name=self._show_run_name(run),
            benchmark=benchmark,
            model=self._show_plain("model", run.model),
            deployment=self._show_plain("deployment", run.deployment),
            details=self._show_details(run, benchmark),
        )

    def _show_plain(self, kind: str, name: str) -> str:
        return name if PLAIN_NAME.fullmatch(name) else self.label(kind, name)

    def _show_run_name(self, run: Run) -> str:
        head = self._show_plain("benchmark", read_scenario_name(run.name))
        words = [self._show_word(run, word) for word in split_run_name(run.name)]
        return f"{head}:{','.join(words)}" if words else head

    def _show_word(self, run: Run, word: str) -> str:
        key, equals, value = word.partition("=")
        if not equals or not _KEY.fullmatch(key):
            return self.label("word", word)
        if key in ("model", "model_deployment"):
            kind = key.removeprefix("model_")
            return f"{key}={self._show_plain(kind, value)}"
        return f"{key}={self._show_value(run, key, value)}"

    def _show_value(self, run: Run, key: str, value: str) -> str:
        return value if _is_listed(run, key, value) else self.label(key, value)

    def _show_details(self, run: Run, benchmark: str) -> RunDetails:
        arguments = {
            key: self._show_value(run, key, value) for key, value in run.details.arguments.items()
        }
        metrics = tuple(map(self._show_metric, run.details.metrics))
        parser = self._show_parser(run.details)
        details = replace(run.details, arguments=arguments, metrics=metrics, parser=parser)
        if details.origin is None:
            return details
        _refuse_free_metric_names(run)
        metrics = tuple(
            replace(metric, display_name=metric_title(metric.name)) for metric in metrics
        )
        return replace(
            details,
            # The title of a benchmark that is not in the catalogue is free text from the imported folder.
            display_name=benchmark if details.category == ELSEWHERE else details.display_name,
            stop=tuple(map(self._show_stop, details.stop)),
            unit=self._show_plain("unit", details.unit),
            origin=self._show_origin(details.origin),
            metrics=metrics,
        )

    def _show_parser(self, details: RunDetails) -> AnswerParser | None:
        """Return the parser, with labels for the texts that a run entry may have set."""
        parser = details.parser
        if parser is None or PARSER_KEYS.isdisjoint(details.overrides):
            return parser
        field, pattern = parser.field, parser.pattern
        if field and not names_answer(field):
            field = self.label("answer_field", field)
        if pattern:
            pattern = self.label("answer_pattern", pattern)
        return replace(parser, field=field, pattern=pattern)

    def _show_stop(self, stop: str) -> str:
        """Return a stop sequence, labelled if it contains letters or digits and may thus be free text."""
        return self.label("stop", stop) if _TEXT.search(stop) else stop

    def _show_origin(self, origin: RunOrigin) -> RunOrigin:
        scenario = origin.scenario
        if not is_class_name(scenario):
            scenario = self.label("scenario", scenario)
        groups = tuple(self._show_plain("group", group) for group in origin.groups)
        return replace(origin, scenario=scenario, groups=groups)

    def _show_metric(self, metric: KeptMetric) -> KeptMetric:
        """Return a metric with its judges' names as they are shown."""
        if metric.jury is None:
            return metric
        judges = tuple(map(self._show_judge, metric.jury.judges))
        return replace(metric, jury=replace(metric.jury, judges=judges))

    def _show_judge(self, judge: Judge) -> Judge:
        return replace(
            judge,
            model_deployment=self._show_plain("deployment", judge.model_deployment),
            model_name=self._show_plain("judge", judge.model_name),
            name=judge.name and self._show_plain("judge", judge.name),
        )


def show_summaries(
    site: Site, summaries: Iterable[RunSummary], *, reveal: bool
) -> list[RunSummary]:
    """Return the summaries as the site's exports show them."""
    with site.store() as store:
        names = ShownNames(store, reveal=reveal)
        return [names.show_summary(summary) for summary in summaries]


def _refuse_free_metric_names(run: Run) -> None:
    """Raise ConfigError for an imported run with a metric whose name is not plain."""
    for metric in run.details.metrics:
        if not PLAIN_NAME.fullmatch(metric.name) or not PLAIN_NAME.fullmatch(metric.helm_name):
            raise ConfigError(
                f"suite {run.suite}: an imported run names a metric in free text, which redacted exports must not"
                " contain",
                "Leave out the suite, or use --reveal.",
            )


def _is_listed(run: Run, key: str, value: str) -> bool:
    """Return whether an argument's value is listed in a definition, or is a setting with a short plain value."""
    details = run.details
    if key in details.arguments:
        if details.free_arguments is None:  # stored before free arguments were recorded
            return details.access == "public" and not run.imported
        is_chosen_or_none = value in (
            details.arguments[key],
            "None",
        )  # "None" is HELM's word for no choice
        return key not in details.free_arguments and is_chosen_or_none
    if key == "data":
        return _DIGEST.fullmatch(value) is not None
    if key == "answer_pattern" or (key == "answer_field" and not names_answer(value)):
        return False
    return key in EXPANDERS and _SETTING.fullmatch(value) is not None


def _name_judges_as_shown(metric: MetricSummary, run: Run) -> MetricSummary:
    """Return a metric whose judges have the same names as in the shown run."""
    shown = run.details.find_metric(metric.metric)
    if metric.jury is None or shown is None:
        return metric
    return replace(metric, jury=replace(metric.jury, judges=name_seats(shown.judges)))


def _give_own_title(metric: MetricSummary) -> MetricSummary:
    twin = None if metric.twin is None else _give_own_title(metric.twin)
    return replace(metric, display_name=metric_title(metric.metric), twin=twin)
