"""Judge the stored answers of a suite. The models' servers need not be running."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from agent import __version__
from agent.catalog.benchmark import survey_benchmarks
from agent.catalog.deployments import Deployment, read_deployments
from agent.catalog.judges import read_jury
from agent.errors import ConfigError, InferenceError
from agent.inference.endpoint import identify_server
from agent.inference.outage import LostServer, ServerWatch
from agent.inference.replica_probe import describe_problems
from agent.io.progress import Progress
from agent.io.wording import format_count, nearest
from agent.judging.judge_run import (
    NOTHING_JUDGED,
    JudgingOutcome,
    RunContext,
    find_open_positions,
    judge_run,
    open_redactor_for,
    select_jury_measures,
)
from agent.judging.jury_selection import (
    SeatedJudge,
    choose_jury,
    choose_quorum,
    describe_equal_judges,
    describe_own_judge,
    find_judge_deployment,
    is_on_own_jury,
    seat_judges,
)
from agent.judging.probe_judges import describe_judges, probe_judges
from agent.jury.rubric import read_rubric
from agent.metrics import JUDGED, Judge, MetricUse
from agent.results.purged import describe_purged
from agent.results.summarize import RunSummary, summarise_run
from agent.scoring.measures import Rules
from agent.site.directory import Site
from agent.site.http_limits import http_limits
from agent.store import Run, Store
from agent.vocabulary import Reason

_OTHER_JURY = (
    "Use --replace to discard them, or leave out --judges to continue with the existing jury."
)
_RUN_AGAIN = "Run their `run` commands again while the models' servers are available."
_IMPORTED = "it was imported, with scores computed elsewhere"


@dataclass(frozen=True, slots=True)
class JuryDefinition:
    """A jury metric as defined by its benchmark, and the definition's digest."""

    use: MetricUse
    digest: str


_Definitions = Mapping[str, JuryDefinition]  # by benchmark


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """The options of the command.

    Attributes:
        suite: the suite with the answers.
        judges: the jury's file; None for each run's own jury, or else the site's.
        benchmarks: restricts judging to these; empty for all.
        max_in_flight: maximum concurrent requests per server.
        replace: replace judgements by another jury.
        only: judges to ask now, by name or deployment; empty for all. The seats of others are unchanged.
        run_ids: restricts judging to these runs; None for all.
    """

    suite: str
    judges: Path | None = None
    benchmarks: Sequence[str] = ()
    max_in_flight: int | None = None
    replace: bool = False
    only: Sequence[str] = ()
    run_ids: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One run after its jury was asked.

    Attributes:
        left: why the run was left unchanged; empty if its jury was asked or had nothing to judge.
        asked: the deployments of the judges that were asked now.
        lost: the judges' servers that the command had given up by the end of this run.
    """

    summary: RunSummary
    judged: JudgingOutcome = NOTHING_JUDGED
    left: str = ""
    asked: tuple[str, ...] = ()
    lost: tuple[LostServer, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgingTask:
    """One run whose jury has answers to judge. `asked` are the seats of `jury` to ask now."""

    run: Run
    rules: Rules
    use: MetricUse
    changed: bool
    jury: tuple[SeatedJudge, ...]
    asked: tuple[SeatedJudge, ...]


@dataclass(frozen=True, slots=True)
class JudgingSurvey:
    """The answers to judge in a suite.

    Attributes:
        runs: every run graded by a jury, by id, in its current state.
        tasks: the runs whose jury has answers to judge.
        notes: notes for the user, one sentence each.
    """

    runs: dict[str, JudgedRun]
    tasks: list[JudgingTask]
    notes: list[str]


def judge_suite(
    site: Site, options: JudgeOptions, progress: Progress
) -> tuple[list[JudgedRun], list[str]]:
    """Ask juries about every answer of a suite that they have not graded; return the runs, and notes for the user.

    Raises:
        ConfigError: see `survey_judging`; no judge was asked.
        InferenceError: a judge cannot be reached; no judge was asked.
        ClockError: the machine's clock disagrees with what the site has seen; no judge was asked.
    """
    limits = http_limits(site)
    with site.store() as store:
        store.clock.check()
        survey = survey_judging(site, store, options)
        juries = [task.asked for task in survey.tasks]
        with _advise_asking_others(juries):
            judges = asyncio.run(probe_judges(juries, limits))
        watch = ServerWatch(limits, progress.note)
        context = RunContext(
            limits, progress, judges, open_redactor_for(site, juries), site.means, watch
        )
        judged_runs = dict(survey.runs)
        for task in survey.tasks:
            judged = _judge(site, store, task, options, context)
            judged_runs[task.run.run_id] = replace(judged, lost=watch.list_lost())
    notes = []
    for jury in juries:
        notes += describe_judges(jury, judges)
    for jury in juries:
        for seat in jury:
            key = identify_server(seat.deployment)
            if key in judges:
                notes += describe_problems(seat.deployment, judges[key])
    notes += survey.notes
    return list(judged_runs.values()), list(dict.fromkeys(notes))


def survey_judging(site: Site, store: Store, options: JudgeOptions) -> JudgingSurvey:
    """Find the answers to judge, and report every fault of their juries. No judge is asked, and no run is changed.

    Raises:
        ConfigError: the suite, benchmark, judge or jury does not exist, or judgements by another jury would be lost.
    """
    if options.replace and options.judges is None:
        raise ConfigError(
            "--replace discards a jury, but no other jury is given",
            "Give it with --judges FILE; without both options, each run continues with its own jury.",
        )
    store.runs.require_suite(options.suite)
    definitions = _read_definitions(site)
    judged_runs: dict[str, JudgedRun] = {}
    tasks: list[JudgingTask] = []
    undefined: list[Run] = []
    runs = _select_runs(store, options)
    for run in runs:
        if not run.details.is_judged:
            continue
        rules = _read_rules(run, definitions)
        if run.imported:
            judged_runs[run.run_id] = JudgedRun(summarise_run(store, run), left=_IMPORTED)
        elif rules is None:
            undefined.append(run)
        else:
            summary = summarise_run(store, run)
            task = _open_task(site, store, run, rules, options, definitions)
            left = ""
            if isinstance(task, str):
                left = task
            elif task.changed or find_open_positions(store, run.run_id, task.rules):
                tasks.append(task)
            elif any(metric.unscored.get(Reason.NOT_JUDGED) for metric in summary.metrics):
                left = describe_purged(store, run.run_id)
            judged_runs[run.run_id] = JudgedRun(summary, left=left)
    if undefined and not tasks:
        raise ConfigError(_describe_undefined(undefined), _RUN_AGAIN)
    if not judged_runs:
        raise ConfigError(f"suite {options.suite} contains no run with a jury metric")
    notes = []
    for task in tasks:
        if is_on_own_jury(task.run.deployment, task.jury):
            notes.append(describe_own_judge(task.run.deployment))
        notes += describe_equal_judges(
            task.use.judges, {seat.deployment.name: seat.deployment for seat in task.jury}
        )
    if undefined:
        notes.append(f"{_describe_undefined(undefined)}. {_RUN_AGAIN}")
    if not options.judges:
        notes += _describe_other_juries(site, runs, definitions)
    return JudgingSurvey(judged_runs, tasks, list(dict.fromkeys(notes)))


@contextmanager
def _advise_asking_others(juries: Sequence[Sequence[SeatedJudge]]) -> Iterator[None]:
    """Add advice on how to ask the other judges if a judge cannot be asked."""
    try:
        yield
    except InferenceError as error:
        names: list[str] = []
        for jury in juries:
            for seat in jury:
                has_failed = str(error).startswith(f"judge {seat.deployment.name}: ")
                if not has_failed:
                    names.append(seat.judge.name or seat.deployment.name)
        advice = error.advice
        if names:
            only = " ".join(f"--only {name}" for name in dict.fromkeys(names))
            advice += f" Or ask the others now, with {only}."
        raise InferenceError(str(error), advice) from None


def _select_runs(store: Store, options: JudgeOptions) -> list[Run]:
    """Return the chosen runs of the suite."""
    runs = store.runs.select(options.suite)
    if options.run_ids is not None:
        runs = [run for run in runs if run.run_id in options.run_ids]
    benchmarks = {run.benchmark for run in runs}
    for name in options.benchmarks:
        if name not in benchmarks:
            raise ConfigError(
                f"suite {options.suite} contains no run of benchmark {name!r}{nearest(name, benchmarks)}",
                f"It has runs of: {', '.join(sorted(benchmarks))}.",
            )
    return [run for run in runs if not options.benchmarks or run.benchmark in options.benchmarks]


def _read_definitions(site: Site) -> _Definitions:
    benchmarks, _ = survey_benchmarks(site.own_benchmarks)
    definitions = {}
    for benchmark in benchmarks.values():
        for use in benchmark.metrics:
            if use.name in JUDGED:
                definitions[benchmark.id] = JuryDefinition(use, benchmark.digest)
    return definitions


def _describe_other_juries(site: Site, runs: Sequence[Run], definitions: _Definitions) -> list[str]:
    """Describe runs whose jury differs from the one in the site's file, although their benchmark names no judges."""
    if not site.judges.is_file():
        return []
    runs_by_jury: Counter[str] = Counter()
    with suppress(
        ConfigError
    ):  # the command did not ask for this file, so its faults do not matter
        site_jury = read_jury(site.judges)
        for run in runs:
            measures = select_jury_measures(Rules.of_run(run.details))
            definition = definitions.get(run.benchmark)
            if run.imported or not measures or definition is None or definition.use.judges:
                continue
            use = measures[0].use
            site_quorum = choose_quorum(definition.use, site_jury)
            if use.judges and (use.judges, use.quorum) != (site_jury.judges, site_quorum):
                names = ", ".join(judge.name or judge.model_name for judge in use.judges)
                runs_by_jury[names] += 1
    notes = []
    for names, count in runs_by_jury.items():
        verb = "keeps its" if count == 1 else "keep their"
        notes.append(
            f"{format_count(count, 'run')} {verb} jury ({names}), which differs from the "
            f"site's {site.judges.name}: to use that file, give it with --judges FILE --replace"
        )
    return notes


def _select_asked(
    run: Run, jury: Sequence[SeatedJudge], only: Sequence[str]
) -> tuple[SeatedJudge, ...]:
    """Return the seats to ask now."""
    names: set[str] = set()
    for seat in jury:
        names.update(_list_names(seat))
    for name in only:
        if name not in names:
            seats = "; ".join(" or ".join(_list_names(seat)) for seat in jury)
            raise ConfigError(
                f"the jury of {run.name} has no judge {name!r}{nearest(name, names)}",
                f"Use --only with the name of a judge or of its deployment: {seats}.",
            )
    return tuple(seat for seat in jury if not only or set(only) & set(_list_names(seat)))


def _list_resting(
    judges: Sequence[Judge], deployments: Mapping[str, Deployment], only: Sequence[str]
) -> set[str]:
    """Return the judges' deployments of which no judge is asked now."""
    asked: set[str] = set()
    resting: set[str] = set()
    for judge in judges:
        name = find_judge_deployment(judge, deployments).name
        is_asked = not only or judge.name in only or name in only
        (asked if is_asked else resting).add(name)
    return resting - asked


def _list_names(seat: SeatedJudge) -> tuple[str, ...]:
    return tuple(name for name in (seat.judge.name, seat.deployment.name) if name)


def _read_rules(run: Run, definitions: _Definitions) -> Rules | None:
    """Return the rules that score a run, with the questions to its jury; None if they are unknown.

    Earlier versions did not store the questions with the run. They are then read from the definition, provided that it
    has not changed since the run.
    """
    if run.imported:
        return None
    rules = Rules.of_run(run.details)
    try:
        read_rubric(select_jury_measures(rules)[0].use)
    except ValueError:
        definition = definitions.get(run.benchmark)
        if definition is None or definition.digest != run.details.benchmark_digest:
            return None
        return _replace_jury(rules, definition.use)
    return rules


def _replace_jury(rules: Rules, use: MetricUse) -> Rules:
    return replace(
        rules,
        measures=tuple(
            replace(measure, use=use) if measure.of_jury else measure for measure in rules.measures
        ),
    )


def _describe_undefined(runs: Sequence[Run]) -> str:
    """Describe the runs whose questions to the jury are no longer known."""
    benchmarks = ", ".join(dict.fromkeys(run.benchmark for run in runs))
    return (
        f"{format_count(len(runs), 'run')} by an earlier version cannot be judged ({benchmarks}): that version did not "
        "store the questions to the jury, and the benchmark's definition has changed since"
    )


def _open_task(
    site: Site,
    store: Store,
    run: Run,
    rules: Rules,
    options: JudgeOptions,
    definitions: _Definitions,
) -> JudgingTask | str:
    """Return the judging task for a run, or the reason to leave the run unchanged."""
    use = _choose_run_jury(site, run, rules, options, definitions)
    stored_use = select_jury_measures(Rules.of_run(run.details))[
        0
    ].use  # incomplete for a run of an earlier version
    changed = (use.judges, use.quorum) != (stored_use.judges, stored_use.quorum)
    if changed and store.juries.has_seats(run.run_id, use.name):
        purged = describe_purged(store, run.run_id)
        if purged:
            return purged  # a new jury could not grade the purged answers
        if not options.replace:
            raise ConfigError(
                f"{run.name} has judgements by another jury, which would be lost", _OTHER_JURY
            )
    if changed and run.details.agent_version != __version__:
        raise ConfigError(
            f"{run.name} was scored by another version of the agent, so its jury cannot be changed",
            f"Run `intramural rescore --suite {run.suite}` first.",
        )
    deployments = read_deployments(site.deployments)
    jury = seat_judges(
        use.judges,
        site,
        deployments,
        options.max_in_flight,
        resting=_list_resting(use.judges, deployments, options.only),
    )
    return JudgingTask(
        run=run,
        rules=_replace_jury(rules, use),
        use=use,
        changed=changed,
        jury=jury,
        asked=_select_asked(run, jury, options.only),
    )


def _choose_run_jury(
    site: Site, run: Run, rules: Rules, options: JudgeOptions, definitions: _Definitions
) -> MetricUse:
    """Return the jury's metric with the judges that grade the run from now on."""
    use = select_jury_measures(rules)[0].use
    if options.judges or not use.judges:
        # The run's quorum may come from its old jury; the benchmark's own quorum is in the definition.
        definition = definitions.get(run.benchmark)
        quorum = definition.use.quorum if definition else None
        use = choose_jury(
            replace(use, judges=(), quorum=quorum), site, run.benchmark, override=options.judges
        )
    if not use.judges:
        raise ConfigError(
            f"{run.name} has no jury, and neither does the site",
            f"Create {site.judges.name} in the site directory, or give a file with --judges.",
        )
    return use


def _judge(
    site: Site, store: Store, task: JudgingTask, options: JudgeOptions, context: RunContext
) -> JudgedRun:
    run_id = task.run.run_id
    with store.runs.lock(run_id):
        run = store.runs.find(run_id)
        assert run is not None
        # Another command may have given the run a jury since the survey, which did not hold the lock.
        has_new_judgements = task.changed and store.juries.has_seats(run_id, task.use.name)
        if run.details != task.run.details or has_new_judgements:
            definitions = _read_definitions(site)
            rules = _read_rules(run, definitions) or task.rules
            reopened = _open_task(site, store, run, rules, options, definitions)
            if isinstance(reopened, str):
                return JudgedRun(summarise_run(store, run), left=reopened)
            task = reopened
        if task.changed:
            _change_jury(store, task)
        judged = asyncio.run(
            judge_run(store, run_id, task.rules, task.jury, task.run.model, context)
        )
        run = store.runs.find(run_id)
        assert run is not None
        asked = tuple(seat.deployment.name for seat in task.asked)
        return JudgedRun(summarise_run(store, run), judged, asked=asked)


def _change_jury(store: Store, task: JudgingTask) -> None:
    """Give a run its new jury and remove the seats and scores of the old one."""
    run_id = task.run.run_id
    requests = (
        (stored.instance, stored.request_key)
        for stored in store.answers.read_each_instance(run_id)
        if stored.instance
    )
    store.juries.change(
        run_id,
        replace(task.run.details, metrics=task.rules.list_stored_metrics()),
        store.identities.plan_digest(requests, task.rules.identity()),
        task.use.name,
        [measure.name for measure in select_jury_measures(task.rules)],
    )
