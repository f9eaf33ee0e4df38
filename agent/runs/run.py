"""The main path of a command: plan its runs, probe their servers, and carry the runs out."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent.catalog.deployments import Deployment
from agent.errors import AgentError, ConfigError, InferenceError
from agent.inference.capabilities import Capabilities, Needs
from agent.inference.endpoint import (
    ServerKey,
    identify_server,
    list_addresses,
)
from agent.inference.limits import HttpLimits
from agent.inference.outage import ServerWatch
from agent.inference.replica_probe import describe_problems, probe_deployment
from agent.inference.server_groups import group_by_server
from agent.io.progress import Progress
from agent.io.wording import format_count
from agent.judging.judge_run import (
    RunContext,
    find_open_positions,
    open_redactor_for,
    select_jury_measures,
)
from agent.judging.jury_selection import advise_judging_later
from agent.judging.probe_judges import probe_judges
from agent.monitoring.events import (
    ServerProbed,
)
from agent.monitoring.log import log_event
from agent.results.summarize import summarise_run
from agent.runs.carry_out import (
    SharedWork,
    carry_out,
    derive_needs,
    derive_request_keys,
    find_stored_run,
    list_workarounds,
)
from agent.runs.outcomes import NotStarted, RunOutcome, RunsDone
from agent.runs.plan import Plan, RunOptions, plan_runs
from agent.scoring.measures import Rules
from agent.site.directory import Site
from agent.site.http_limits import http_limits
from agent.store import Run, Store
from agent.vocabulary import RunEntry


def run_entries(
    site: Site, entries: Sequence[RunEntry], options: RunOptions, progress: Progress
) -> RunsDone:
    """Run every entry: one after the other on each server, and at once on different servers.

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
        settled = _find_all_settled(store, plans)
        open_plans = [plan for plan in plans if plan.name not in settled]
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
        begun = [number for number, plan in enumerate(plans) if plan.name not in left_out]
        lanes = _Lanes(store, plans, settled, capabilities, context, SharedWork(site))
        asyncio.run(lanes.work_off(begun, exit_on_error=options.exit_on_error))
        return RunsDone(lanes.outcomes, not_started, is_stopped=lanes.is_stopped)


class _Lanes:
    """The runs of a command, carried out one after the other on each server, and at once on different servers.

    Attributes:
        outcomes: the outcome of each run, by its position among the plans.
        is_stopped: whether no further run is started, because an instance failed and that is to end the command.
    """

    def __init__(
        self,
        store: Store,
        plans: Sequence[Plan],
        settled: Mapping[str, RunOutcome],
        capabilities: Mapping[ServerKey, Capabilities],
        context: RunContext,
        shared: SharedWork,
    ) -> None:
        self.outcomes: dict[int, RunOutcome] = {}
        self.is_stopped = False
        self._store = store
        self._plans = plans
        self._settled = settled
        self._capabilities = capabilities
        self._context = context
        self._shared = shared
        self._waiting: set[int] = set()  # runs that have not been started
        self._at_work = 0  # lanes that have not ended
        self._errors: dict[int, Exception] = {}

    async def work_off(self, numbers: Sequence[int], *, exit_on_error: bool) -> None:
        """Carry out these plans.

        Raises:
            AgentError: the first error by the order of the plans. It ends the lane in which it occurs, not the others.
        """
        self._waiting = set(numbers)
        addresses = [list_addresses(self._plans[number].deployment) for number in numbers]
        lanes = group_by_server(addresses)
        self._at_work = len(lanes)
        async with asyncio.TaskGroup() as group:
            for lane, positions in enumerate(lanes):
                progress = self._context.progress
                if len(lanes) > 1:
                    progress = progress.open_lane()
                context = replace(self._context, progress=progress)
                chosen = [numbers[position] for position in positions]
                group.create_task(self._work_off_lane(lane, chosen, context, exit_on_error))
        if self._errors:
            raise self._errors[min(self._errors)]

    async def _work_off_lane(
        self, lane: int, numbers: Sequence[int], context: RunContext, exit_on_error: bool
    ) -> None:
        """Carry out the runs of one lane, one after the other."""
        for number in numbers:
            if self.is_stopped:
                break
            self._waiting.remove(number)
            plan = self._plans[number]
            try:
                outcome = await self._carry_out(plan, context)
            except Exception as error:  # noqa: BLE001 (raised again when the other lanes have ended)
                self._errors[number] = error
                self._end_with_error(plan, error, context.progress)
                self.is_stopped |= exit_on_error
                break
            self.outcomes[number] = replace(outcome, lane=lane)
            if exit_on_error and outcome.failed and self._waiting:
                self._stop(plan)
        self._at_work -= 1

    async def _carry_out(self, plan: Plan, context: RunContext) -> RunOutcome:
        outcome = self._settled.get(plan.name)
        if outcome is not None:
            return outcome
        server = self._capabilities[identify_server(plan.deployment)]
        outcome = await carry_out(self._store, plan, server, context, self._shared)
        assert context.watch is not None
        return replace(outcome, lost=context.watch.list_lost())

    def _end_with_error(self, plan: Plan, error: Exception, progress: Progress) -> None:
        """End the lane's line, and tell of an error that is reported when the other lanes have ended."""
        if progress.is_open:
            progress.end()
        if self._at_work > 1:
            reason = f": {error}" if isinstance(error, AgentError) else ""
            progress.note(
                f"{plan.name} has ended with an error{reason}; the runs on other servers go on"
            )

    def _stop(self, plan: Plan) -> None:
        """Start no further run."""
        if not self.is_stopped:
            runs = format_count(len(self._waiting), "further run")
            self._context.progress.note(f"{plan.name}: instances failed; {runs} not started")
        self.is_stopped = True


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


def _find_all_settled(store: Store, plans: Sequence[Plan]) -> dict[str, RunOutcome]:
    """Return the outcome of each run that has no work left, by its name."""
    found = ((plan.name, _find_settled(store, plan)) for plan in plans)
    return {name: outcome for name, outcome in found if outcome is not None}


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
