"""The main path of a run: plan, ask, score, judge, summarise. A killed run resumes where it stopped.

States of a run in the store: (planned) -> asking -> ended. If the command is repeated, an ended run with failed
instances or with open seats of its jury returns to asking. Answers, judgements and scores are stored in small
transactions as they arrive.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice

from agent.catalog.deployments import Deployment
from agent.errors import ConfigError, InferenceError
from agent.inference.capabilities import Capabilities, Needs, check_needs
from agent.inference.client import ask_all
from agent.inference.closed_questions import TEXT_MODES
from agent.inference.endpoint import (
    ServerKey,
    describe_deployment,
    identify_server,
    list_addresses,
)
from agent.inference.limits import HttpLimits
from agent.inference.live_forecast import LiveForecast, WorkTaken
from agent.inference.outage import LostServer, ServerWatch
from agent.inference.read_figures import read_figures
from agent.inference.replica_probe import describe_problems, probe_deployment
from agent.inference.server_figures import subtract_figures
from agent.inference.wire import request_identity
from agent.io.progress import Progress
from agent.io.wording import format_count
from agent.judging.judge_run import (
    NOTHING_JUDGED,
    JudgingOutcome,
    RunContext,
    find_open_positions,
    judge_run,
    open_redactor_for,
    select_jury_measures,
)
from agent.judging.jury_selection import advise_judging_later
from agent.judging.probe_judges import probe_judges
from agent.metrics import Means
from agent.monitoring.events import (
    RunEnded,
    RunStarted,
    RunStopped,
    ServerProbed,
    name_benchmark,
)
from agent.monitoring.log import log_event
from agent.results.summarize import RunSummary, summarise_run
from agent.runs.plan import Plan, RunOptions, plan_runs
from agent.runs.score_writer import ScoreWriter
from agent.scoring.deferred import compute_later_scores
from agent.scoring.measures import Rules
from agent.scoring.whole_run import compute_stored_run_scores
from agent.site.directory import Site
from agent.site.http_limits import http_limits
from agent.store import Run, Store
from agent.vocabulary import ChatRequest, Failure, Instance, Reason, Response, RunEntry

SCORES_AT_ONCE = 500  # scores per transaction, for metrics that are computed later


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The summary of one run, with counts of the work done by this command.

    Attributes:
        asked: number of questions sent; instances with equal prompts share one.
        asked_for: number of instances that these questions cover.
        kept: number of instances whose answers or scores were already stored.
        failed: number of instances that still have no answer and are asked again if the command is repeated.
        judged: counts of the judging.
        lost: the servers that the command had given up by the end of this run.
        taken: what asking was forecast to take, and took; None if nothing was asked.
    """

    summary: RunSummary
    asked: int
    kept: int
    failed: int
    asked_for: int = 0
    judged: JudgingOutcome = NOTHING_JUDGED
    taken: WorkTaken | None = None
    lost: tuple[LostServer, ...] = ()

    @property
    def too_long(self) -> int:
        """Number of instances whose prompts do not fit the model, so that asking again would not help."""
        metrics = self.summary.metrics
        return max((metric.unscored.get(Reason.CONTEXT_LENGTH, 0) for metric in metrics), default=0)


@dataclass(frozen=True, slots=True)
class NotStarted:
    """Runs that were not started, because their server cannot be used.

    Attributes:
        runs: their names.
        error: why not; names the deployment.
    """

    runs: tuple[str, ...]
    error: InferenceError

    def describe(self) -> str:
        """Return a clause that says how many runs were not started, and why."""
        return f"{format_count(len(self.runs), 'run')} not started: {self.error}"


@dataclass(frozen=True, slots=True)
class RunsDone:
    """What became of a command's entries.

    Attributes:
        by_entry: the outcome of each run, by the position of its entry.
        not_started: the runs without an outcome whose servers cannot be used.
        is_stopped: whether no further run was started after one in which an instance failed, see `exit_on_error`.
    """

    by_entry: Mapping[int, RunOutcome]
    not_started: tuple[NotStarted, ...] = ()
    is_stopped: bool = False

    @property
    def outcomes(self) -> list[RunOutcome]:
        """The outcomes in the order of their entries."""
        return [self.by_entry[number] for number in sorted(self.by_entry)]


def run_entries(
    site: Site, entries: Sequence[RunEntry], options: RunOptions, progress: Progress
) -> RunsDone:
    """Run every entry, one after the other.

    Every server is probed before the first question. Entries whose server cannot be used are left out while there are
    others, except with `exit_on_error`.

    Raises:
        ConfigError, BenchmarkError: an entry cannot be planned; no server was contacted.
        InferenceError: no server can be reached and has the features that its runs need, or that of a judge cannot;
            no question was asked.
        ClockError: the machine's clock disagrees with what the site has seen; no server was contacted.
    """
    plans = plan_runs(site, entries, options)
    for note in dict.fromkeys(plan.data_note for plan in plans if plan.data_note):
        progress.note(note)
    limits = http_limits(site)
    with site.store() as store:
        store.clock.check()
        for plan in plans:
            store.runs.check_privacy(plan.suite, plan.name, private=plan.private)
        settled: dict[str, RunOutcome] = {}
        open_plans: list[Plan] = []
        for plan in plans:
            outcome = _find_settled(store, plan)
            if outcome is None:
                open_plans.append(plan)
            else:
                settled[plan.name] = outcome
        for plan in open_plans:
            if not (options.replace and _may_replace(store, plan)):
                _refuse_to_lose(store, plan)
        probed = asyncio.run(_probe_all(open_plans, limits))
        not_started = _find_unusable(open_plans, probed)
        if not_started and (options.exit_on_error or _covers_all(not_started, plans)):
            raise not_started[0].error
        for each in not_started:
            progress.note(each.describe())
        left_out = {name for each in not_started for name in each.runs}
        open_plans = [plan for plan in open_plans if plan.name not in left_out]
        capabilities = probed.capabilities
        with advise_judging_later():
            judges = asyncio.run(probe_judges([plan.jury for plan in open_plans], limits))
        for note in _describe_replicas(open_plans, {**judges, **capabilities}):
            progress.note(note)
        redactor = open_redactor_for(site, [plan.jury for plan in open_plans])
        means = replace(site.means, note=progress.note)
        watch = ServerWatch(limits, progress.note)
        context = RunContext(limits, progress, judges, redactor, means, watch)
        by_entry: dict[int, RunOutcome] = {}
        for number, plan in enumerate(plans):
            if plan.name in left_out:
                continue
            outcome = settled.get(plan.name)
            if outcome is None:
                server = capabilities[identify_server(plan.deployment)]
                outcome = _carry_out(store, plan, server, context)
                outcome = replace(outcome, lost=watch.list_lost())
            by_entry[number] = outcome
            left = len(plans) - len(by_entry)
            if options.exit_on_error and outcome.failed and left:
                runs = format_count(left, "further run")
                progress.note(f"{plan.name}: instances failed; {runs} not started")
                return RunsDone(by_entry, not_started, is_stopped=True)
        return RunsDone(by_entry, not_started)


def _describe_replicas(
    plans: Sequence[Plan], capabilities: Mapping[ServerKey, Capabilities]
) -> list[str]:
    """Return a note about each replica of a model or judge that is not asked, once each."""
    deployments: dict[ServerKey, Deployment] = {}
    for plan in plans:
        for deployment in (plan.deployment, *(judge.deployment for judge in plan.jury)):
            deployments[identify_server(deployment)] = deployment
    notes: list[str] = []
    for key, deployment in deployments.items():
        if key in capabilities:
            notes += describe_problems(deployment, capabilities[key])
    return notes


@dataclass(frozen=True, slots=True)
class _Probed:
    """What the servers of a command's plans can do, and why some of them cannot be used."""

    capabilities: Mapping[ServerKey, Capabilities]
    errors: Mapping[ServerKey, InferenceError]


async def _probe_all(plans: Sequence[Plan], limits: HttpLimits) -> _Probed:
    """Probe each model of each deployment once, for what its plans need."""
    deployments: dict[ServerKey, Deployment] = {}
    needs: dict[ServerKey, Needs] = {}
    for plan in plans:
        key = identify_server(plan.deployment)
        deployments[key] = plan.deployment
        needs[key] = needs.get(key, Needs()).join(derive_needs(plan))
    capabilities: dict[ServerKey, Capabilities] = {}
    errors: dict[ServerKey, InferenceError] = {}
    for key, deployment in deployments.items():
        try:
            capabilities[key] = await probe_deployment(deployment, limits, needs[key])
        except InferenceError as error:
            errors[key] = error
        log_event(ServerProbed(deployment.name, usable=key in capabilities))
    return _Probed(capabilities, errors)


def _find_unusable(plans: Sequence[Plan], probed: _Probed) -> tuple[NotStarted, ...]:
    """Return the plans whose servers cannot be used, grouped by problem."""
    by_problem: dict[str, NotStarted] = {}
    for plan in plans:
        error = _find_server_error(plan, probed)
        if error is not None:
            before = by_problem.get(str(error))
            names = (*before.runs, plan.name) if before else (plan.name,)
            by_problem[str(error)] = NotStarted(names, error)
    return tuple(by_problem.values())


def _covers_all(not_started: Sequence[NotStarted], plans: Sequence[Plan]) -> bool:
    return sum(len(each.runs) for each in not_started) == len(plans)


def _find_server_error(plan: Plan, probed: _Probed) -> InferenceError | None:
    """Return why the plan's server cannot be used; None if it can."""
    key = identify_server(plan.deployment)
    if key in probed.errors:
        return probed.errors[key]
    try:
        list_workarounds(plan, probed.capabilities[key])
    except InferenceError as error:
        return error
    return None


def derive_needs(plan: Plan) -> Needs:
    """Return the server features that the plan needs."""
    needs = Needs.of(ChatRequest(plan.model, (), plan.max_tokens, plan.temperature, plan.stop))
    return replace(
        needs,
        count=plan.benchmark.shorten is not None or plan.prompt_limit is not None,
        choice=plan.answer_mode == "constrained",
        option_logprobs=plan.answer_mode == "logprob",
        text_logprobs=plan.answer_mode in TEXT_MODES,
    )


def list_workarounds(plan: Plan, capabilities: Capabilities) -> tuple[str, ...]:
    """Return the workarounds for features that the plan needs and its server lacks, one sentence each.

    Raises:
        InferenceError: the server lacks a feature that the plan needs; names the deployment.
    """
    try:
        return check_needs(capabilities, derive_needs(plan))
    except InferenceError as error:
        raise InferenceError(
            f"{describe_deployment(plan.deployment)}: {error}", error.advice
        ) from None


def _find_settled(store: Store, plan: Plan) -> RunOutcome | None:
    """Return the outcome of a run that has no work left; None if work remains.

    Such a run does not need its server.
    """
    run = find_stored_run(store, plan)
    if run is None:
        return None
    try:
        capabilities = Capabilities.from_json(run.details.capabilities)
    except ValueError:
        return None  # written by another version: probe again
    if plan.details(capabilities, run.details.workarounds) != run.details:
        return None
    if len(store.answers.read_settled_positions(run.run_id)) < len(plan.instances):
        return None
    if store.scores.find_unmeasured(run.run_id):
        return None
    if plan.jury and find_open_positions(store, run.run_id, plan.rules):
        return None
    request_keys = derive_request_keys(store, plan, capabilities)
    plan_digest = store.identities.plan_digest(request_keys, plan.scored_by())
    if not store.runs.holds_plan(run.run_id, plan_digest):
        return None
    return RunOutcome(summarise_run(store, run), asked=0, kept=len(plan.instances), failed=0)


def _may_replace(store: Store, plan: Plan) -> bool:
    """Return whether the scores of a stored run may be deleted: on the service, an account may do so with its own."""
    account, run = store.runs.audience.account, find_stored_run(store, plan)
    return account is None or run is None or run.owner == account


def _refuse_to_lose(store: Store, plan: Plan) -> None:
    """Raise ConfigError if this plan would delete scores that the suite contains under the same name."""
    run = find_stored_run(store, plan)
    if run is None:
        return
    if run.imported:
        raise ConfigError(
            f"suite {plan.suite} already contains an imported {plan.name}, and this command would replace it",
            "Choose another --suite and combine both with `intramural summarize --suites`, or use --replace.",
        )
    changed = []
    if _has_other_jury(store, run, plan):
        changed.append("another jury")
    if run.details.scoring != plan.scoring:
        changed.append("other scoring rules")
    if run.details.benchmark_digest != plan.benchmark.digest:
        changed.append("another definition of the benchmark")
    registered = run.details.data.registered
    if registered and registered != plan.registered:
        changed.append("another version of the data" if plan.registered else "unregistered data")
    if run.details.data.row_numbers != plan.row_numbers:
        changed.append("instance ids from another numbering of rows")
    if run.details.weights != plan.deployment.weights_digest:
        changed.append(f"other weights of {plan.deployment.name}, and so another model")
    lost = store.runs.count_left_out(
        run.run_id, plan.benchmark.id, (instance.id for instance in plan.instances)
    )
    if lost:
        changed.append(f"{lost} of the scored instances missing")
    if changed and store.answers.read_settled_positions(run.run_id):
        raise ConfigError(
            f"suite {plan.suite} already contains {plan.name}, and this command would replace it with a different run: "
            f"{', '.join(changed)}",
            "Choose another --suite to keep both, or use --replace.",
        )


def _has_other_jury(store: Store, run: Run, plan: Plan) -> bool:
    """Return whether the run has judgements by a jury other than the plan's."""
    before, now = select_jury_measures(Rules.of_run(run.details)), select_jury_measures(plan.rules)
    if not before or not store.juries.has_seats(run.run_id, before[0].use.name):
        return False
    return not now or (before[0].use.judges, before[0].use.quorum) != (
        now[0].use.judges,
        now[0].use.quorum,
    )


def find_stored_run(store: Store, plan: Plan) -> Run | None:
    """Return the stored run with the plan's suite and name; None if there is none."""
    return store.runs.find(store.identities.run_id(plan.suite, plan.name))


def derive_request_keys(
    store: Store, plan: Plan, capabilities: Capabilities
) -> Iterator[tuple[Instance, bytes]]:
    """Yield the plan's instances, each with the key of its request."""
    for instance in plan.instances:
        identity = request_identity(plan.request(instance, capabilities), plan.prompt_limit)
        yield instance, store.identities.request_key(plan.deployment.answers_name, identity)


def _carry_out(
    store: Store, plan: Plan, capabilities: Capabilities, context: RunContext
) -> RunOutcome:
    """Ask, score and judge one plan while holding the lock of its run."""
    workarounds = list_workarounds(plan, capabilities)
    run_id = store.identities.run_id(plan.suite, plan.name)
    with store.runs.lock(run_id), _log_run(plan, run_id) as note_outcome:
        run_id = _begin_run(store, plan, capabilities, workarounds)
        asking = _ask_and_score(store, plan, run_id, capabilities, context)
        _measure(store, run_id, plan.rules, context.means)
        judged = JudgingOutcome()
        if plan.jury:
            judged = judge_run(store, run_id, plan.rules, plan.jury, plan.model, context)
        store.runs.end(run_id, compute_stored_run_scores(store, run_id, plan.rules))
        run = find_stored_run(store, plan)
        assert run is not None
        outcome = RunOutcome(
            summary=summarise_run(store, run),
            asked=asking.sent,
            kept=asking.stored,
            failed=asking.failed,
            asked_for=asking.sent_for,
            judged=judged,
            taken=asking.taken,
        )
        note_outcome(outcome)
        return outcome


@contextmanager
def _log_run(plan: Plan, run_id: str) -> Iterator[Callable[[RunOutcome], None]]:
    """Log the start and the end of a run. The function that the context returns is told of its outcome."""
    name, benchmark = plan.deployment.name, name_benchmark(plan.benchmark.id)
    log_event(RunStarted(run_id, name, benchmark, len(plan.instances)))
    began = time.monotonic()

    def note_outcome(outcome: RunOutcome) -> None:
        log_event(
            RunEnded(
                run=run_id,
                deployment=name,
                benchmark=benchmark,
                asked=outcome.asked,
                stored=outcome.kept,
                failed=outcome.failed,
                unscored=sum(outcome.summary.main.unscored.values()),
                seconds=time.monotonic() - began,
            )
        )

    try:
        yield note_outcome
    except BaseException as error:
        seconds = time.monotonic() - began
        log_event(RunStopped(run_id, name, benchmark, type(error).__name__, seconds))
        raise


def _begin_run(
    store: Store, plan: Plan, capabilities: Capabilities, workarounds: Sequence[str]
) -> str:
    return store.runs.begin(
        suite=plan.suite,
        name=plan.name,
        benchmark=plan.benchmark.id,
        lineage=plan.lineage,
        model=plan.model,
        deployment=plan.deployment.name,
        details=plan.details(capabilities, workarounds),
        planned=derive_request_keys(store, plan, capabilities),
        scored_by=plan.scored_by(),
        private=plan.private,
    )


@dataclass(frozen=True, slots=True)
class _AskingCounts:
    """Counts of the asking in one run.

    Attributes:
        sent: number of questions sent.
        sent_for: number of instances that these questions cover.
        stored: number of instances whose answers were already stored.
        failed: number of instances that still have no answer.
        taken: the time and tokens that asking took; None if nothing was asked.
    """

    sent: int
    sent_for: int
    stored: int
    failed: int
    taken: WorkTaken | None


def _ask_and_score(
    store: Store, plan: Plan, run_id: str, capabilities: Capabilities, context: RunContext
) -> _AskingCounts:
    """Score the stored answers, then ask the open questions and score each answer as it arrives."""
    instances = len(plan.instances)
    writer = ScoreWriter(store, plan.rules, run_id, context.progress)
    label = f"{plan.benchmark.display_name}: {plan.model}"
    context.progress.begin(label, instances, phase="asking")
    taken = None
    try:
        unanswered = _score_stored_answers(store, run_id, instances, writer)
        if unanswered:
            taken = asyncio.run(
                _ask(store, plan, run_id, unanswered, writer, context, capabilities)
            )
    finally:
        writer.write()  # keep the answers of an interrupted run too
    context.progress.end()
    without_answer = sum(len(positions) for positions in unanswered.values())
    return _AskingCounts(
        sent=len(unanswered) - writer.not_sent,
        sent_for=without_answer - writer.not_sent_for,
        stored=instances - without_answer,
        failed=writer.failed,
        taken=taken,
    )


def _measure(store: Store, run_id: str, rules: Rules, means: Means) -> None:
    """Compute the metrics that need stored answers, batch by batch."""
    positions = store.scores.find_unmeasured(run_id)
    if not positions:
        return
    cases = (
        (stored.position, stored.instance, stored.response)
        for stored in store.answers.read_each_instance(run_id, positions)
        if stored.instance and stored.response
    )
    scores = compute_later_scores(rules, cases, means)
    while batch := list(islice(scores, SCORES_AT_ONCE)):
        store.scores.keep(run_id, batch)


def _score_stored_answers(
    store: Store, run_id: str, instances: int, writer: ScoreWriter
) -> dict[bytes, list[int]]:
    """Score the stored answers; return the positions still to be asked, grouped by request key.

    Equal requests are sent once.
    """
    unsettled = store.answers.find_unsettled(run_id)
    writer.progress.advance_stored(instances - len(unsettled))
    answered = [position for position, _, is_answered in unsettled if is_answered]
    for stored in store.answers.read_each_instance(run_id, answered):
        assert stored.instance is not None
        assert stored.response is not None
        writer.score(stored.position, stored.instance, stored.response)
    unanswered: dict[bytes, list[int]] = {}
    for position, key, is_answered in unsettled:
        if not is_answered:
            unanswered.setdefault(key, []).append(position)
    return unanswered


async def _ask(
    store: Store,
    plan: Plan,
    run_id: str,
    unanswered: Mapping[bytes, list[int]],
    writer: ScoreWriter,
    context: RunContext,
    capabilities: Capabilities,
) -> WorkTaken:
    """Ask the questions that have no answer yet, and return what that took.

    Instances are read from the store page by page, and stay in memory while their question is in flight.
    """
    in_flight: dict[bytes, Instance] = {}
    server = plan.deployment.name

    def requests() -> Iterator[tuple[bytes, ChatRequest]]:
        first_positions = [positions[0] for positions in unanswered.values()]
        first_instances = store.answers.read_each_instance(run_id, first_positions)
        for key, stored in zip(unanswered, first_instances, strict=True):
            assert stored.instance is not None
            in_flight[key] = stored.instance
            yield key, plan.request(stored.instance, capabilities)

    def keep(key: bytes, result: Response | Failure) -> None:
        first, *repeats = unanswered[key]  # instances with equal prompts share one question
        cases = [(first, in_flight.pop(key))]
        for stored in store.answers.read_each_instance(run_id, repeats):
            if stored.instance:
                cases.append((stored.position, stored.instance))
        live.count_reply(server, result)
        live.count_answer()
        writer.keep(key, cases, result)

    before = await read_figures(plan.deployment, context.limits)
    at_once = min(plan.max_in_flight * len(list_addresses(plan.deployment)), len(unanswered))
    live = LiveForecast(len(unanswered), at_once, {server: len(unanswered)})
    writer.progress.show_left(live.describe_remaining)
    with writer.asking():
        await ask_all(
            plan.deployment,
            requests(),
            keep,
            max_in_flight=plan.max_in_flight,
            limits=context.limits,
            capabilities=capabilities,
            prompt_limit=plan.prompt_limit,
            watch=context.watch,
        )
    taken = live.end()
    if before is None:
        return taken
    after = await read_figures(plan.deployment, context.limits)
    return replace(taken, figures=subtract_figures(after, before))
