"""Run entries while the agent serves their models, one server after the other, and then their judges."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

from agent.catalog.deployments import Deployment, find_deployment, read_deployments
from agent.errors import ConfigError, InferenceError
from agent.io.progress import Progress
from agent.io.wording import nearest
from agent.judging.judge_run import (
    NOTHING_JUDGED,
    JudgingOutcome,
    find_open_positions,
    select_jury_measures,
)
from agent.judging.judge_suite import JudgeOptions, judge_suite
from agent.judging.jury_selection import find_judge_deployment
from agent.model_servers.chat_templates import TEMPLATE_ADVICE, describe_missing_template
from agent.model_servers.start import Waiting, serve
from agent.runs.outcomes import NotStarted, RunOutcome, RunsDone
from agent.runs.plan import RunOptions
from agent.runs.run import run_entries
from agent.scoring.measures import Rules
from agent.site.directory import Site
from agent.store import Run, Store
from agent.vocabulary import RunEntry

_Deployments = Mapping[str, Deployment]


def run_while_serving(
    site: Site,
    entries: Sequence[RunEntry],
    options: RunOptions,
    served: Mapping[str, Waiting],
    progress: Progress,
) -> RunsDone:
    """Run every entry.

    Entries of other deployments are run first. Then each of the servers is started, asked and stopped, so that one GPU
    suffices for several models. Juries with a judge on one of these servers are asked after all answers are stored: its
    server is started for that, once more if it also served a model.

    Args:
        site: the site.
        entries: the run entries.
        options: the command's options.
        served: the deployments whose servers are started, in order, each with what shows the waiting.
        progress: the progress display.

    Raises:
        ConfigError, BenchmarkError: see `agent.runs.run.run_entries` and `agent.model_servers.start.serve`.
        InferenceError: no server can be used, or `exit_on_error` is set and one cannot; or a judge's cannot.
    """
    deployments = read_deployments(site.deployments)
    _check_names(served, deployments)
    _note_missing_templates(served, deployments, progress)
    options = replace(options, judged_later=frozenset(served))
    by_server: dict[str, list[int]] = {name: [] for name in ("", *served)}
    for number, entry in enumerate(entries):
        name = "" if options.server else find_deployment(entry, deployments).name
        by_server[name if name in served else ""].append(number)
    by_entry: dict[int, RunOutcome] = {}
    not_started: list[NotStarted] = []
    for name, numbers in by_server.items():
        if not numbers:
            continue
        chosen = [entries[number] for number in numbers]
        try:
            with serve(site, deployments[name], served[name]) if name else nullcontext():
                done = run_entries(site, chosen, options, progress)
        except InferenceError as error:  # of this server; the others can still be run
            left_out = NotStarted(tuple(entry.description for entry in chosen), error)
            progress.note(left_out.describe())
            not_started.append(left_out)
            if options.exit_on_error:
                raise
            continue
        for position, outcome in done.by_entry.items():
            by_entry[numbers[position]] = outcome
        not_started += done.not_started
        if done.is_stopped:
            return RunsDone(by_entry, tuple(not_started), is_stopped=True)
    if not_started and not by_entry:
        raise not_started[0].error
    if not options.no_judging:
        _LateJudging(site, options, deployments, served, progress).judge(by_entry)
    return RunsDone(by_entry, tuple(not_started))


def _check_names(served: Mapping[str, Waiting], deployments: _Deployments) -> None:
    for name in served:
        if name not in deployments:
            raise ConfigError(
                f"--serve: there is no model deployment {name!r}{nearest(name, deployments)}",
                "Name a deployment with model_server in model_deployments.yaml.",
            )


def _note_missing_templates(
    served: Mapping[str, Waiting], deployments: _Deployments, progress: Progress
) -> None:
    """Note which of the models will be asked in a form that they may not know."""
    for name in served:
        managed = deployments[name].managed
        missing = describe_missing_template(managed) if managed is not None else ""
        if missing:
            progress.note(f"{name}: {missing} {TEMPLATE_ADVICE}")


class _LateJudging:
    """The judging of runs whose jury has a judge on one of the servers that the agent starts.

    Args:
        site: the site.
        options: the options of the runs.
        deployments: the site's deployments.
        served: the deployments whose servers are started, in order, each with what shows the waiting.
        progress: the progress display.
    """

    def __init__(
        self,
        site: Site,
        options: RunOptions,
        deployments: _Deployments,
        served: Mapping[str, Waiting],
        progress: Progress,
    ) -> None:
        self._site = site
        self._options = options
        self._deployments = deployments
        self._served = served
        self._progress = progress

    def judge(self, by_entry: dict[int, RunOutcome]) -> None:
        """Ask the juries, one server after the other, and put the judging into the outcomes.

        Judges whose servers are not started here are asked first.
        """
        by_id = {outcome.summary.run.run_id: outcome for outcome in by_entry.values()}
        judges_by_run = self._find_judges(by_id)
        runs_by_others: dict[tuple[str, ...], list[str]] = {}
        for run_id, judges in judges_by_run.items():
            others = tuple(name for name in judges if name not in self._served)
            runs_by_others.setdefault(others, []).append(run_id)
        for others, run_ids in runs_by_others.items():
            if others:
                self._ask(by_id, others, run_ids)
        for name, waiting in self._served.items():
            run_ids = [run_id for run_id, judges in judges_by_run.items() if name in judges]
            if run_ids:
                with serve(self._site, self._deployments[name], waiting):
                    self._ask(by_id, (name,), run_ids)
        for number, outcome in by_entry.items():
            by_entry[number] = by_id[outcome.summary.run.run_id]

    def _find_judges(self, by_id: Mapping[str, RunOutcome]) -> dict[str, tuple[str, ...]]:
        """Return the deployments of the judges of each run that waits for a judge on a server started here."""
        judges_by_run: dict[str, tuple[str, ...]] = {}
        with self._site.store() as store:
            for run_id, outcome in by_id.items():
                judges = self._list_open_judges(store, outcome.summary.run)
                if any(name in self._served for name in judges):
                    judges_by_run[run_id] = judges
        return judges_by_run

    def _list_open_judges(self, store: Store, run: Run) -> tuple[str, ...]:
        """Return the deployments of a run's judges; none if the jury has graded every answer."""
        rules = Rules.of_run(run.details)
        if not find_open_positions(store, run.run_id, rules):
            return ()
        names: list[str] = []
        for judge in select_jury_measures(rules)[0].use.judges:
            names.append(find_judge_deployment(judge, self._deployments).name)
        return tuple(dict.fromkeys(names))

    def _ask(
        self, by_id: dict[str, RunOutcome], only: tuple[str, ...], run_ids: Sequence[str]
    ) -> None:
        """Ask some of the judges of some runs, and put the judging into the runs' outcomes."""
        options = JudgeOptions(
            suite=self._options.suite,
            max_in_flight=self._options.max_in_flight,
            only=only,
            run_ids=frozenset(run_ids),
        )
        judged_runs, notes = judge_suite(self._site, options, self._progress)
        for note in notes:
            if note not in self._progress.noted:
                self._progress.note(note)
        for judged_run in judged_runs:
            run_id = judged_run.summary.run.run_id
            outcome = by_id[run_id]
            by_id[run_id] = replace(
                outcome,
                summary=judged_run.summary,
                judged=_add_judging(outcome.judged, judged_run.judged),
                lost=(*outcome.lost, *judged_run.lost),
            )


def _add_judging(first: JudgingOutcome, second: JudgingOutcome) -> JudgingOutcome:
    """Return the counts of two parts of a jury, each of which was asked about the same answers."""
    return replace(
        first,
        asked=first.asked + second.asked,
        answers=max(first.answers, second.answers),
        open=max(first.open, second.open),
        seconds=first.seconds + second.seconds,
        # The forecasts of two parts do not add up to one.
        taken=second.taken if first is NOTHING_JUDGED else None,
    )
