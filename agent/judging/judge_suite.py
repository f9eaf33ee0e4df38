"""Judging the stored answers of a suite: the models that gave them need not be there any more."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from agent import __version__
from agent.catalog.benchmark import survey_benchmarks
from agent.catalog.deployments import read_deployments
from agent.catalog.judges import read_jury
from agent.errors import ConfigError, InferenceError
from agent.io.progress import Progress
from agent.io.wording import counted, nearest
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
    describe_own_judge,
    is_on_own_jury,
    seat_judges,
)
from agent.judging.probe_judges import describe_judges, probe_judges
from agent.jury.rubric import read_rubric
from agent.metrics import JUDGED, MetricUse
from agent.results.purged import describe_purged
from agent.results.summarize import RunSummary, summarise_run
from agent.scoring.measures import Rules
from agent.site.directory import Site
from agent.site.http_limits import http_limits
from agent.store import Run, Store
from agent.vocabulary import Reason

_OTHER_JURY = "Give --replace to let them go, or leave out --judges to go on with the jury that there is."
_RUN_AGAIN = "Give their `run` commands again, while the models' servers answer."
_IMPORTED = "it was imported, with scores made elsewhere"


@dataclass(frozen=True, slots=True)
class Defined:
    """What a definition here says of a jury: the metric that it gives, and the definition's digest."""

    use: MetricUse
    digest: str


_Definitions = Mapping[str, Defined]  # by benchmark


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """What the command line says.

    Attributes:
        suite: whose answers.
        judges: file of the jury; None: the one that each run has, else the site's.
        benchmarks: those only; none: all.
        max_in_flight: requests at once to each server.
        replace: lets judgements of another jury go.
        only: judges that are asked now, by name or deployment; none: all. The others' seats stay as they are.
    """

    suite: str
    judges: Path | None = None
    benchmarks: Sequence[str] = ()
    max_in_flight: int | None = None
    replace: bool = False
    only: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """What became of one run.

    Attributes:
        left: why it was left as it was; empty if its jury was asked or had no need.
        asked: the deployments of the judges that were asked now.
    """

    summary: RunSummary
    judged: JudgingOutcome = NOTHING_JUDGED
    left: str = ""
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One run whose jury has something to do. `asked` are the seats of `jury` that are asked now."""

    run: Run
    rules: Rules
    use: MetricUse
    changed: bool
    jury: tuple[SeatedJudge, ...]
    asked: tuple[SeatedJudge, ...]


@dataclass(frozen=True, slots=True)
class CaseSurvey:
    """What there is to judge in a suite.

    Attributes:
        heard: every run that a jury grades, by id, as it is now.
        cases: those of them whose jury has something to do.
        notes: for people, each a sentence.
    """

    heard: dict[str, JudgedRun]
    cases: list[Case]
    notes: list[str]


def judge_suite(site: Site, options: JudgeOptions, progress: Progress) -> tuple[list[JudgedRun], list[str]]:
    """Ask juries about every stored answer of a suite that they have not graded; return runs, and notes for people.

    Raises:
        ConfigError: see `survey_cases`; nothing was asked.
        InferenceError: a judge cannot be asked; nothing was.
    """
    limits = http_limits(site)
    with site.store() as store:
        found = survey_cases(site, store, options)
        juries = [case.asked for case in found.cases]
        with _naming_the_others(juries):
            judges = asyncio.run(probe_judges(juries, limits))
        ways = RunContext(limits, progress, judges, open_redactor_for(site, juries), site.means)
        heard = found.heard | {case.run.run_id: _judge(site, store, case, options, ways) for case in found.cases}
    notes = [note for jury in juries for note in describe_judges(jury, judges)]
    return list(heard.values()), list(dict.fromkeys((*notes, *found.notes)))


def survey_cases(site: Site, store: Store, options: JudgeOptions) -> CaseSurvey:
    """Find what there is to judge, and everything that may be wrong about it; nothing is asked or changed.

    Raises:
        ConfigError: there is no such suite, benchmark, judge or jury, or judgements of another jury would be lost.
    """
    if options.replace and options.judges is None:
        raise ConfigError(
            "--replace lets a jury go, and no other is named",
            "Name it with --judges FILE; without both, each run goes on with the jury that it has.",
        )
    store.runs.require_suite(options.suite)
    defined = _defined(site)
    heard: dict[str, JudgedRun] = {}
    cases: list[Case] = []
    forgotten: list[Run] = []
    runs = _runs(store, options)
    for run in runs:
        if not run.details.is_judged:
            continue
        rules = _rules(run, defined)
        if rules is None and not run.imported:
            forgotten.append(run)
            continue
        summary = summarise_run(store, run)
        case = _case(site, store, run, rules, options, defined) if rules else _IMPORTED
        if isinstance(case, Case):
            if case.changed or find_open_positions(store, run.run_id, case.rules):
                cases.append(case)
            elif any(metric.unscored.get(Reason.NOT_JUDGED) for metric in summary.metrics):
                case = describe_purged(store, run.run_id)
        heard[run.run_id] = JudgedRun(summary, left=case if isinstance(case, str) else "")
    if forgotten and not cases:
        raise ConfigError(_forgotten_words(forgotten), _RUN_AGAIN)
    if not heard:
        raise ConfigError(f"suite {options.suite} holds no run with a metric that a jury gives")
    notes = [
        describe_own_judge(case.run.deployment) for case in cases if is_on_own_jury(case.run.deployment, case.jury)
    ]
    notes += [f"{_forgotten_words(forgotten)}. {_RUN_AGAIN}"] if forgotten else []
    notes += [] if options.judges else _passed_over(site, runs, defined)
    return CaseSurvey(heard, cases, notes)


@contextmanager
def _naming_the_others(juries: Sequence[Sequence[SeatedJudge]]) -> Iterator[None]:
    """Where a judge cannot be asked, say how to ask the others."""
    try:
        yield
    except InferenceError as error:
        seats = [judge for jury in juries for judge in jury]
        others = [one for one in seats if not str(error).startswith(f"judge {one.deployment.name}: ")]
        names = dict.fromkeys(one.judge.name or one.deployment.name for one in others)
        only = " ".join(f"--only {name}" for name in names)
        raise InferenceError(
            str(error), f"{error.advice} Or ask the others now, with {only}." if only else error.advice
        ) from None


def _runs(store: Store, options: JudgeOptions) -> list[Run]:
    """Return the suite's runs, of the benchmarks that were named."""
    runs = store.runs.select(options.suite)
    there = {run.benchmark for run in runs}
    if unknown := [name for name in options.benchmarks if name not in there]:
        raise ConfigError(
            f"suite {options.suite} holds no run of benchmark {unknown[0]!r}{nearest(unknown[0], there)}",
            f"It has runs of: {', '.join(sorted(there))}.",
        )
    return [run for run in runs if not options.benchmarks or run.benchmark in options.benchmarks]


def _defined(site: Site) -> _Definitions:
    benchmarks, _ = survey_benchmarks(site.own_benchmarks)
    return {
        one.id: Defined(use, one.digest) for one in benchmarks.values() for use in one.metrics if use.name in JUDGED
    }


def _passed_over(site: Site, runs: Sequence[Run], defined: _Definitions) -> list[str]:
    """Say which runs go on with a jury that is not the one of the site's file, though no benchmark names theirs."""
    if not site.judges.is_file():
        return []
    kept: Counter[str] = Counter()
    with suppress(ConfigError):  # a file with faults is none that anybody asked for
        jury = read_jury(site.judges)
        for run in runs:
            measures = select_jury_measures(Rules.of_run(run.details))
            definition = defined.get(run.benchmark)
            if run.imported or not measures or definition is None or definition.use.judges:
                continue
            use = measures[0].use
            if use.judges and (use.judges, use.quorum) != (jury.judges, choose_quorum(definition.use, jury)):
                kept[", ".join(judge.name or judge.model_name for judge in use.judges)] += 1
    return [
        f"{counted(many, 'run')} {'keeps its' if many == 1 else 'keep their'} jury ({names}), and {site.judges.name} "
        "of the site is another: give that as --judges FILE, with --replace"
        for names, many in kept.items()
    ]


def _asked_now(run: Run, jury: Sequence[SeatedJudge], only: Sequence[str]) -> tuple[SeatedJudge, ...]:
    """Return the seats that are asked now."""
    names = {name for seat in jury for name in _names(seat)}
    if unknown := [name for name in only if name not in names]:
        there = "; ".join(" or ".join(_names(seat)) for seat in jury)
        raise ConfigError(
            f"the jury of {run.name} has no judge {unknown[0]!r}{nearest(unknown[0], names)}",
            f"Give --only a judge's name, or that of its deployment: {there}.",
        )
    return tuple(seat for seat in jury if not only or set(only) & set(_names(seat)))


def _names(seat: SeatedJudge) -> tuple[str, ...]:
    return tuple(name for name in (seat.judge.name, seat.deployment.name) if name)


def _rules(run: Run, defined: _Definitions) -> Rules | None:
    """Return how a run is scored, with all that its jury is asked; None if nothing here says that.

    Earlier versions kept nothing of it with the run; then it is the definition's, if that is still the one that was
    run.
    """
    if run.imported:
        return None
    rules = Rules.of_run(run.details)
    try:
        read_rubric(select_jury_measures(rules)[0].use)
    except ValueError:
        definition = defined.get(run.benchmark)
        if definition is None or definition.digest != run.details.benchmark_digest:
            return None
        return _with_jury(rules, definition.use)
    return rules


def _with_jury(rules: Rules, use: MetricUse) -> Rules:
    return replace(rules, measures=tuple(replace(one, use=use) if one.of_jury else one for one in rules.measures))


def _forgotten_words(runs: Sequence[Run]) -> str:
    """Say of which runs nobody knows any more what their jury is asked."""
    benchmarks = ", ".join(dict.fromkeys(run.benchmark for run in runs))
    return (
        f"{counted(len(runs), 'run')} of an earlier version cannot be judged ({benchmarks}): it kept nothing of what a "
        "jury is asked, and the definition that was run is not here any more"
    )


def _case(
    site: Site, store: Store, run: Run, before: Rules, options: JudgeOptions, defined: _Definitions
) -> Case | str:
    """Return what is to be done about one run, or why it is left as it is."""
    had = select_jury_measures(before)[0].use
    kept = select_jury_measures(Rules.of_run(run.details))[0].use  # an earlier version's run holds less
    use = had
    if options.judges or not had.judges:
        # A run keeps one quorum, which may be its jury's: what the benchmark asks for is in its definition.
        definition = defined.get(run.benchmark)
        asked_for = definition.use.quorum if definition else None
        use = choose_jury(replace(had, judges=(), quorum=asked_for), site, run.benchmark, override=options.judges)
    if not use.judges:
        raise ConfigError(
            f"{run.name} has no jury, and neither has the site",
            f"Write {site.judges.name} into the site directory, or name a file with --judges.",
        )
    changed = (use.judges, use.quorum) != (kept.judges, kept.quorum)
    if changed and store.juries.has_seats(run.run_id, use.name):
        if purged := describe_purged(store, run.run_id):
            return purged  # nobody could grade those answers again
        if not options.replace:
            raise ConfigError(f"{run.name} holds judgements of another jury, and they would go", _OTHER_JURY)
    if changed and run.details.agent_version != __version__:
        raise ConfigError(
            f"{run.name} was scored by another version, and its jury would change",
            f"Give `intramural rescore --suite {run.suite}` first.",
        )
    rules = _with_jury(before, use)
    jury = seat_judges(use.judges, site, read_deployments(site.deployments), options.max_in_flight)
    return Case(run, rules, use, changed, jury, _asked_now(run, jury, options.only))


def _judge(site: Site, store: Store, case: Case, options: JudgeOptions, ways: RunContext) -> JudgedRun:
    run_id = case.run.run_id
    with store.runs.lock(run_id):
        run = store.runs.find(run_id)
        assert run is not None
        # Another command may have given it a jury since it was looked at.
        if run.details != case.run.details or (case.changed and store.juries.has_seats(run_id, case.use.name)):
            defined = _defined(site)
            again = _case(site, store, run, _rules(run, defined) or case.rules, options, defined)
            if isinstance(again, str):
                return JudgedRun(summarise_run(store, run), left=again)
            case = again
        if case.changed:
            store.juries.change(
                run_id,
                replace(case.run.details, metrics=case.rules.list_stored_metrics()),
                store.identities.plan_digest(
                    (
                        (one.instance, one.request_key)
                        for one in store.answers.read_each_instance(run_id)
                        if one.instance
                    ),
                    case.rules.identity(),
                ),
                case.use.name,
                [measure.name for measure in select_jury_measures(case.rules)],
            )
        judged = judge_run(store, run_id, case.rules, case.jury, case.run.model, ways)
        now = store.runs.find(run_id)
        assert now is not None
        return JudgedRun(summarise_run(store, now), judged, asked=tuple(one.deployment.name for one in case.asked))
