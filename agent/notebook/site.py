"""The class `Site` of notebooks. Each method opens the site's store, reads from it and closes it."""

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, get_args

from agent.errors import AgentError, ConfigError
from agent.notebook import columns as tables
from agent.notebook.columns import TABLES
from agent.notebook.figures import Figure
from agent.notebook.frames import build_frame
from agent.site.directory import Site as SiteDirectory
from agent.vocabulary import AnswerMode, ScoringChoice

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from agent.exchange.shown_names import ShownNames
    from agent.results.compare_models import ModelComparison
    from agent.results.summarize import RunSummary
    from agent.store import Run, Store

P = ParamSpec("P")
T = TypeVar("T")
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


def _add_advice(method: Callable[P, T]) -> Callable[P, T]:
    """Return the method with the advice of the agent's errors as notes, which tracebacks show.

    Options of the command line are named as the method's parameters: `suite=` in place of `--suite`.
    """
    parameters = inspect.signature(method).parameters

    def name_parameter(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        return f"{name}=" if name in parameters else option[0]

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except AgentError as error:
            if not hasattr(error, "__notes__"):  # an inner method has added it
                error.add_note(_OPTION.sub(name_parameter, error.advice))
            raise

    return call


class Site:
    """A site for notebooks. Tables are pandas DataFrames with the columns that `columns` lists.

    Texts of instances are redacted, except with `reveal=True`, which is recorded in the audit log before anything is
    shown. Names of runs are shown as in exports, with labels in place of free text.
    """

    @_add_advice
    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the site in a folder.

        Raises:
            ConfigError: the folder is not a site, or a setting is wrong.
        """
        self._path = Path(path).expanduser()
        self._site = SiteDirectory(self._path)
        _ = self._site.settings

    @staticmethod
    def columns(table: str) -> "DataFrame":
        """Return the columns, types and meanings of a method's table, such as "summary".

        Raises:
            ConfigError: no method has this name.
        """
        if table not in TABLES:
            raise ConfigError(f"there is no table {table}", f"Choose one of: {', '.join(TABLES)}.")
        rows = [
            {"column": column.name, "dtype": column.dtype, "meaning": column.meaning}
            for column in TABLES[table]
        ]
        return build_frame(tables.COLUMNS, rows)

    @_add_advice
    def suites(self) -> "DataFrame":
        """Return a row for each suite, the oldest first."""
        from agent.notebook.run_rows import list_suite_rows

        with self._site.store() as store:
            return build_frame(tables.SUITES, list_suite_rows(store))

    @_add_advice
    def runs(self, suite: str | None = None) -> "DataFrame":
        """Return a row for each run of a suite, or of all suites.

        Raises:
            ConfigError: there is no such suite.
        """
        from agent.notebook.run_rows import build_run_row

        with self._site.store() as store:
            if suite is not None:
                store.runs.require_suite(suite)
            names = _open_names(store)
            rows = [build_run_row(store, run, names) for run in store.runs.select(suite)]
            return build_frame(tables.RUNS, rows)

    @_add_advice
    def summary(
        self, suite: str = "default", *, each_run: bool = False, all_metrics: bool = False
    ) -> "DataFrame":
        """Return the suite's leaderboard, with the values of `intramural summarize`.

        Args:
            suite: the suite.
            each_run: return a row for each run, even for parts of the same benchmark.
            all_metrics: return a row for each metric, not only for each benchmark's main one.

        Raises:
            ConfigError: there is no such suite.
        """
        from agent.notebook.result_frames import build_summary_frame
        from agent.results.efficiency import measure_rows
        from agent.results.prices import read_prices

        with self._site.store() as store:
            summaries = _summarise(store, suite, each_run=each_run)
            efficiencies = measure_rows(store, summaries, read_prices(self._site))
            return build_summary_frame(store, summaries, efficiencies, all_metrics=all_metrics)

    @_add_advice
    def instances(
        self,
        run: "str | Series[Any]",
        *,
        reveal: bool = False,
        first: int = 0,
        limit: int | None = None,
    ) -> "DataFrame":
        """Return a row for each instance of a run: question, answer, reference and score.

        Args:
            run: a run_id, the name of a run, or a row of `runs`.
            reveal: show original instead of redacted text; this is recorded in the audit log.
            first: the position of the first instance.
            limit: the maximum number of instances; None for all.

        Raises:
            ConfigError: there is no such run.
            RedactionError: texts cannot be redacted here.
        """
        from agent.notebook.run_rows import iter_cleared_instances
        from agent.redaction.gateway.cases import open_clearer

        purpose = "notebook" if reveal else "export"
        with self._site.store() as store:
            names = _open_names(store, reveal=reveal)
            found = _find_run(store, run, names)
            clearer = open_clearer(self._site, store, reveal=reveal, purpose=purpose)
            end = store.answers.count_instances(found.run_id)
            if limit is not None:
                end = min(end, max(first, 0) + max(limit, 0))
            positions = range(max(first, 0), end)
            rows = iter_cleared_instances(store, found, clearer, names, positions)
            return build_frame(tables.INSTANCES, rows)

    @_add_advice
    def scores(self, run: "str | Series[Any]") -> "DataFrame":
        """Return a row for each instance and metric of a run.

        Raises:
            ConfigError: there is no such run.
        """
        from agent.notebook.run_rows import iter_scores

        with self._site.store() as store:
            found = _find_run(store, run, _open_names(store))
            return build_frame(tables.SCORES, iter_scores(store, found))

    @_add_advice
    def judgements(self, run: "str | Series[Any]", *, reveal: bool = False) -> "DataFrame":
        """Return a row for each verdict of a judge on a criterion, and for each seat without a verdict.

        Args:
            run: a run_id, the name of a run, or a row of `runs`.
            reveal: show the judges' original words; this is recorded in the audit log.

        Raises:
            ConfigError: there is no such run.
            RedactionError: texts cannot be redacted here.
        """
        from agent.notebook.run_rows import iter_judgements
        from agent.redaction.gateway.cases import open_clearer

        purpose = "notebook" if reveal else "export"
        with self._site.store() as store:
            names = _open_names(store, reveal=reveal)
            found = _find_run(store, run, names)
            clearer = open_clearer(self._site, store, reveal=reveal, purpose=purpose)
            rows = iter_judgements(store, found, clearer, names)
            return build_frame(tables.JUDGEMENTS, rows)

    @_add_advice
    def compare(
        self,
        model_a: str,
        model_b: str,
        suite: str | Sequence[str] = "default",
        *,
        metric: str | None = None,
    ) -> "DataFrame":
        """Return the differences of two models on the instances that both answered, as `intramural compare` does.

        The benchmarks that cannot be compared are in `attrs["left_out"]`, with the reasons.

        Args:
            model_a: a model or deployment.
            model_b: the other one.
            suite: a suite, or several whose runs are combined.
            metric: the metric to compare; None for each benchmark's main one.

        Raises:
            ConfigError: there is no such suite or model, or nothing to compare.
        """
        from agent.notebook.result_frames import build_comparison_frame

        return build_comparison_frame(*self._compare(model_a, model_b, suite, metric))

    def _compare(
        self, model_a: str, model_b: str, suite: str | Sequence[str], metric: str | None
    ) -> "tuple[ModelComparison, Mapping[str, str]]":
        """Return the comparison, and the reasons why benchmarks are left out of it."""
        from agent.notebook.result_frames import map_suite_names
        from agent.notebook.shown_results import show_pairing
        from agent.results.compare_models import compare_models
        from agent.results.paired_models import pair_comparable_models

        suites = [suite] if isinstance(suite, str) else list(dict.fromkeys(suite))
        with self._site.store() as store:
            for name in suites:
                store.runs.require_suite(name)
            pairing = pair_comparable_models(store, suites, model_a, model_b, metric)
            shown_names = map_suite_names(store, suites)
        shown = show_pairing(pairing, shown_names)
        return compare_models(shown), shown.left_out

    @_add_advice
    def agreement(self, suite: str = "default", *, benchmark: str | None = None) -> "DataFrame":
        """Return how far a suite's judges agree, by benchmark and criterion.

        Raises:
            ConfigError: there is no such suite.
        """
        from agent.notebook.result_frames import map_suite_names
        from agent.notebook.result_rows import flatten_agreement
        from agent.notebook.shown_results import show_agreement
        from agent.results.judge_agreement import measure_agreement

        with self._site.store() as store:
            store.runs.require_suite(suite)
            agreements, _ = measure_agreement(store, suite, benchmark)
            shown_names = map_suite_names(store, [suite])
        shown = [show_agreement(agreement, shown_names) for agreement in agreements]
        return build_frame(tables.AGREEMENT, flatten_agreement(shown))

    @_add_advice
    def biases(self, suite: str = "default", *, benchmark: str | None = None) -> "DataFrame":
        """Return what the grades of a suite's judges depend on besides the answer.

        Raises:
            ConfigError: there is no such suite.
        """
        from agent.notebook.result_frames import map_suite_names
        from agent.notebook.result_rows import flatten_biases
        from agent.notebook.shown_results import show_bias
        from agent.results.judge_agreement import measure_agreement

        with self._site.store() as store:
            store.runs.require_suite(suite)
            _, biases = measure_agreement(store, suite, benchmark)
            shown_names = map_suite_names(store, [suite])
        shown = [show_bias(bias, shown_names) for bias in biases]
        return build_frame(tables.BIASES, flatten_biases(shown))

    @_add_advice
    def benchmarks(self) -> "DataFrame":
        """Return a row for each benchmark, with whether the site has its data."""
        from agent.notebook.catalogue_rows import list_benchmark_rows

        return build_frame(tables.BENCHMARKS, list_benchmark_rows(self._site))

    @_add_advice
    def models(self) -> "DataFrame":
        """Return a row for each deployment of model_deployments.yaml, and for each further one that has runs.

        Raises:
            ConfigError: the file is wrong.
        """
        from agent.notebook.catalogue_rows import list_model_rows

        with self._site.store() as store:
            rows = list_model_rows(self._site, store, _open_names(store))
        return build_frame(tables.MODELS, rows)

    @_add_advice
    def run(
        self,
        entries: str | Iterable[str] = (),
        *,
        suite: str = "default",
        server: str | None = None,
        max_eval_instances: int | None = None,
        sample_seed: int = 0,
        answer_mode: AnswerMode | None = None,
        scoring: ScoringChoice | None = None,
        max_in_flight: int | None = None,
        conf_paths: Sequence[str | os.PathLike[str]] = (),
        deployment_map: str | os.PathLike[str] | None = None,
        judges: str | os.PathLike[str] | None = None,
        no_judging: bool = False,
        replace: bool = False,
        serve: str | Sequence[str] = (),
        quiet: bool = False,
    ) -> "DataFrame":
        """Run benchmarks on models, here and now, and return the suite's summary.

        After an interruption, call it again: it resumes where it stopped, and never asks again for a stored answer.

        Args:
            entries: run entries, such as "pubmed_qa:model=qwen/qwen2.5-7b-instruct".
            suite: the suite to store the runs in.
            server: address of the server to ask, instead of those in model_deployments.yaml.
            max_eval_instances: maximum instances per run.
            sample_seed: seed that chooses the instances.
            answer_mode: how models answer, for entries that do not state it.
            scoring: "intramural", "helm" or "both".
            max_in_flight: maximum number of concurrent requests.
            conf_paths: files of further run entries, in HELM's HOCON format.
            deployment_map: a YAML file that maps deployments or models named in entries to the site's deployments.
            judges: a file with the jury.
            no_judging: do not ask juries now.
            replace: replace an existing run that used other instances or rules.
            serve: deployments whose servers are started for the run and stopped after it.
            quiet: hide progress.

        Raises:
            ConfigError, BenchmarkError: an entry cannot be run; no server was contacted.
            InferenceError: a server cannot be reached or lacks a feature; stored answers are kept.
        """
        from agent.catalog.run_entries import collect_run_entries
        from agent.notebook.foreground import open_progress, run_in_foreground
        from agent.runs.plan import RunOptions
        from agent.runs.run import run_entries
        from agent.runs.serve_runs import run_while_serving

        _check_choice("answer_mode", answer_mode, get_args(AnswerMode))
        _check_choice("scoring", scoring, get_args(ScoringChoice))
        _check_count("max_eval_instances", max_eval_instances)
        _check_count("max_in_flight", max_in_flight)
        descriptions = [entries] if isinstance(entries, str) else list(entries)
        parsed = collect_run_entries(descriptions, [Path(path) for path in conf_paths])
        options = RunOptions(
            suite=suite,
            server=server,
            max_eval_instances=max_eval_instances,
            sample_seed=sample_seed,
            answer_mode=answer_mode,
            scoring=scoring,
            max_in_flight=max_in_flight,
            deployment_map=None if deployment_map is None else Path(deployment_map),
            judges=None if judges is None else Path(judges),
            no_judging=no_judging,
            replace=replace,
        )
        served = [serve] if isinstance(serve, str) else list(serve)
        progress = open_progress(quiet=quiet)
        if served:
            waiting = dict.fromkeys(served, _wait_silently)
            done = run_in_foreground(
                lambda: run_while_serving(self._site, parsed, options, waiting, progress)
            )
        else:
            done = run_in_foreground(lambda: run_entries(self._site, parsed, options, progress))
        failed = sum(outcome.failed for outcome in done.outcomes)
        unseated = sum(outcome.judged.open for outcome in done.outcomes)
        if failed:
            progress.note(f"{failed:,} without an answer; run it again to ask only those")
        if unseated:
            progress.note(f"{unseated:,} lack a judge's reply; run it again to ask only for those")
        return self.summary(suite)

    @_add_advice
    def plot_dots(self, suite: str = "default") -> Figure:
        """Draw each benchmark's models with their means and intervals.

        Raises:
            ConfigError: there is no such suite.
        """
        from agent.plots.charts import build_chart
        from agent.plots.dots import draw_dot_plot

        return Figure(draw_dot_plot(build_chart(self._show_summaries(suite), f"Suite {suite}")))

    @_add_advice
    def plot_heatmap(self, suite: str = "default") -> Figure:
        """Draw benchmarks by models, with the mean in each cell as a share of the metric's range.

        Raises:
            ConfigError: there is no such suite.
        """
        from agent.plots.charts import build_chart
        from agent.plots.heatmap import heatmap

        return Figure(heatmap(build_chart(self._show_summaries(suite), f"Suite {suite}")))

    @_add_advice
    def plot_differences(
        self,
        model_a: str,
        model_b: str,
        suite: str | Sequence[str] = "default",
        *,
        metric: str | None = None,
    ) -> Figure:
        """Draw the differences of two models around zero. The arguments are those of `compare`.

        Raises:
            ConfigError: there is no such suite or model, or nothing to compare.
        """
        from agent.plots.differences import build_differences_chart
        from agent.plots.dots import draw_dot_plot

        comparison, _ = self._compare(model_a, model_b, suite, metric)
        return Figure(draw_dot_plot(build_differences_chart(comparison, model_a, model_b)))

    def _show_summaries(self, suite: str) -> "list[RunSummary]":
        """Return the rows of the suite's leaderboard, with the names that people see."""
        with self._site.store() as store:
            names = _open_names(store)
            return [names.show_summary(summary) for summary in _summarise(store, suite)]

    def _repr_html_(self) -> str:
        from agent.notebook.display import describe_site
        from agent.notebook.run_rows import list_suite_rows

        with self._site.store() as store:
            return describe_site(str(self._path), list_suite_rows(store))

    def __repr__(self) -> str:
        return f"Site({str(self._path)!r})"


def _summarise(store: "Store", suite: str, *, each_run: bool = False) -> "list[RunSummary]":
    from agent.results.standings import add_standings
    from agent.results.summarize import summarise_benchmarks, summarise_suite

    store.runs.require_suite(suite)
    summarise = summarise_suite if each_run else summarise_benchmarks
    return add_standings(store, summarise(store, suite))


def _open_names(store: "Store", *, reveal: bool = False) -> "ShownNames":
    from agent.exchange.shown_names import ShownNames

    return ShownNames(store, reveal=reveal)


def _find_run(store: "Store", run: "str | Series[Any]", names: "ShownNames") -> "Run":
    """Return the run that an argument names: an id, a name or a row of `Site.runs`."""
    from agent.notebook.run_rows import find_run

    if isinstance(run, str):
        return find_run(store, run, names)
    if "run_id" not in run.index:
        raise ConfigError(
            "the row names no run", "Give a row of `site.runs()`, a run_id or a run's name."
        )
    return find_run(store, str(run["run_id"]), names)


def _check_choice(name: str, value: str | None, choices: Sequence[str]) -> None:
    if value is not None and value not in choices:
        raise ConfigError(f"{name} is {value!r}", f"Choose one of: {', '.join(choices)}.")


def _check_count(name: str, value: int | None) -> None:
    if value is not None and value < 1:
        raise ConfigError(f"{name} is {value}", "Give a number from 1.")


def _wait_silently(seconds: float) -> None:
    """Show nothing while a server is starting; the run says when it asks."""
    del seconds
