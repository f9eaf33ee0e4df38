"""The main path of a run: plan, ask, score, summarise. A killed run continues where it stopped.

States of a run in the store: (planned) -> asking -> ended; an ended run with failed instances goes back to asking
when the command is given again. Answers and scores are kept in small transactions as they arrive.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.errors import AgentError, ConfigError
from agent.evaluation.plan import Plan, RunOptions, http_limits, plan_runs, request_identity
from agent.evaluation.progress import Progress
from agent.evaluation.score import score_response
from agent.evaluation.summarise import RunSummary, summarise_run
from agent.inference.capabilities import Capabilities, Needs, check_needs
from agent.inference.client import ask_all
from agent.inference.limits import HttpLimits
from agent.inference.probe import probe
from agent.site import Site
from agent.store import Run, Store
from agent.vocabulary import ChatRequest, Failure, Reason, Response, RunEntry, Unscored

# What a kill may cost: so many answers, or so many seconds of them, are asked again.
KEEP_EVERY_ANSWERS = 64
KEEP_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What one run came to.

    Attributes:
        asked: questions sent now.
        kept: instances whose answers or scores were there already.
        failed: instances that have no answer now, and would be asked by the same command again.
    """

    summary: RunSummary
    asked: int
    kept: int
    failed: int


def run_entries(site: Site, entries: Sequence[RunEntry], options: RunOptions, progress: Progress) -> list[RunOutcome]:
    """Run every entry, one after the other, and return what each came to.

    Raises:
        ConfigError, BenchmarkError: found while planning; nothing was asked.
        InferenceError: a server is not there or lacks what a run needs; nothing was asked.
    """
    plans = plan_runs(site, entries, options)
    limits = http_limits(site)
    with site.store() as store:
        settled = {plan.name: outcome for plan in plans if (outcome := _settled(store, plan)) is not None}
        open_plans = [plan for plan in plans if plan.name not in settled]
        for plan in open_plans:
            if not options.replace:
                _refuse_to_lose(store, plan)
        found = asyncio.run(_probe_all(open_plans, limits))
        workarounds = {plan.name: check_needs(found[_served(plan)], _needs(plan)) for plan in open_plans}
        return [
            settled.get(plan.name)
            or _evaluate(store, plan, found[_served(plan)], workarounds[plan.name], limits, progress)
            for plan in plans
        ]


async def _probe_all(plans: Sequence[Plan], limits: HttpLimits) -> Mapping[tuple[str, str], Capabilities]:
    """Probe each model of each deployment once."""
    deployments = {_served(plan): plan.deployment for plan in plans}
    return {served: await probe(deployment, limits) for served, deployment in deployments.items()}


def _served(plan: Plan) -> tuple[str, str]:
    return plan.deployment.name, plan.deployment.served_model


def _needs(plan: Plan) -> Needs:
    return Needs.of(ChatRequest(plan.model, (), plan.max_tokens, plan.temperature, plan.stop))


def _settled(store: Store, plan: Plan) -> RunOutcome | None:
    """Return what a run came to that has nothing left to ask; its server need not even be there."""
    run = _stored(store, plan)
    if run is None:
        return None
    try:
        capabilities = Capabilities.from_json(run.details["capabilities"])
    except ValueError:
        return None  # written by another version: probe again
    if plan.details(capabilities, run.details["workarounds"]) != run.details:
        return None
    planned = list(zip(plan.instances, _keys(store, plan, capabilities), strict=True))
    if not store.holds_plan(run.run_id, store.plan_digest(planned, plan.scored_by())):
        return None
    if len(store.settled_positions(run.run_id)) < len(planned):
        return None
    return RunOutcome(summarise_run(store, run), asked=0, kept=len(planned), failed=0)


def _refuse_to_lose(store: Store, plan: Plan) -> None:
    """Raise ConfigError where this plan would take scores away that the suite holds under the same name."""
    run = _stored(store, plan)
    if run is None:
        return
    changed = [
        what
        for what, key, now in (
            ("another scoring", "scoring", plan.scoring),
            ("another definition of the benchmark", "benchmark_digest", plan.benchmark.digest),
        )
        if run.details[key] != now
    ]
    lost = store.left_out(run.run_id, plan.benchmark.id, [instance.id for instance in plan.instances])
    if lost:
        changed.append(f"without {lost} of the instances scored there")
    if changed and store.settled_positions(run.run_id):
        raise ConfigError(
            f"suite {plan.suite} holds {plan.name} already, and this command would replace it: {', '.join(changed)}",
            "Name another --suite to keep both, or give --replace.",
        )


def _stored(store: Store, plan: Plan) -> Run | None:
    return store.run(store.run_id(plan.suite, plan.name))


def _keys(store: Store, plan: Plan, capabilities: Capabilities) -> list[bytes]:
    """Return the request key of every instance, in order."""
    requests = (plan.request(instance, capabilities.extra_body) for instance in plan.instances)
    return [store.request_key(plan.deployment.name, request_identity(request)) for request in requests]


def _evaluate(
    store: Store,
    plan: Plan,
    capabilities: Capabilities,
    workarounds: Sequence[str],
    limits: HttpLimits,
    progress: Progress,
) -> RunOutcome:
    with store.run_lock(store.run_id(plan.suite, plan.name)):
        keys = _keys(store, plan, capabilities)
        run_id = store.begin_run(
            suite=plan.suite,
            name=plan.name,
            benchmark=plan.benchmark.id,
            lineage=plan.lineage,
            model=plan.model,
            deployment=plan.deployment.name,
            details=plan.details(capabilities, workarounds),
            planned=list(zip(plan.instances, keys, strict=True)),
            scored_by=plan.scored_by(),
        )
        keeper = _Keeper(store, plan, run_id, progress)
        progress.begin(f"{plan.benchmark.display_name}: {plan.model}", len(keys))
        try:
            unanswered = _score_what_is_stored(store, run_id, keys, keeper)
            if unanswered:
                asyncio.run(_ask(plan, unanswered, keeper, limits, capabilities))
        finally:
            keeper.write()
        store.end_run(run_id)
        progress.end()
        run = _stored(store, plan)
        assert run is not None
        return RunOutcome(
            summary=summarise_run(store, run),
            asked=len(unanswered) - keeper.not_asked,
            kept=len(keys) - sum(map(len, unanswered.values())),
            failed=keeper.failed,
        )


def _score_what_is_stored(
    store: Store, run_id: str, keys: Sequence[bytes], keeper: "_Keeper"
) -> dict[bytes, list[int]]:
    """Score stored answers; return the positions that still have to be asked, by request: equal ones are asked once."""
    unanswered: dict[bytes, list[int]] = {}
    settled = store.settled_positions(run_id)
    for position, key in enumerate(keys):
        if position in settled:
            keeper.progress.advance()
        elif (answer := store.answer(key)) is not None:
            keeper.score([position], answer)
        else:
            unanswered.setdefault(key, []).append(position)
    return unanswered


async def _ask(
    plan: Plan,
    unanswered: Mapping[bytes, list[int]],
    keeper: "_Keeper",
    limits: HttpLimits,
    capabilities: Capabilities,
) -> None:
    await ask_all(
        plan.deployment,
        (
            (key, plan.request(plan.instances[positions[0]], capabilities.extra_body))
            for key, positions in unanswered.items()
        ),
        lambda key, result: keeper.keep(key, unanswered[key], result),
        max_in_flight=min(plan.max_in_flight, len(unanswered)),
        limits=limits,
        capabilities=capabilities,
    )


class _Keeper:
    """Scores answers as they arrive and writes them in batches, so that little is lost when the process is killed."""

    def __init__(self, store: Store, plan: Plan, run_id: str, progress: Progress) -> None:
        self.progress = progress
        self._store = store
        self._plan = plan
        self._run_id = run_id
        self._answers: list[tuple[bytes, Response]] = []
        self._scores: list[tuple[int, str, float | Unscored]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._broken: AgentError | None = None
        self.failed = 0
        self.not_asked = 0

    def score(self, positions: Sequence[int], result: Response | Failure) -> None:
        """Score the instances at these positions."""
        plan = self._plan
        for position in positions:
            scores = score_response(plan.benchmark.metrics, plan.instances[position], result, plan.scoring)
            self._scores.extend((position, metric, value) for metric, value in scores)
        self.progress.advance(len(positions))

    def keep(self, key: bytes, positions: Sequence[int], result: Response | Failure) -> None:
        """Keep a new answer and score the instances it belongs to.

        Raises:
            StoreError: the store refused this or an earlier batch; asking on would waste what the server says.
        """
        if self._broken is not None:
            raise self._broken
        if isinstance(result, Response):
            self._answers.append((key, result))  # before it is scored: whatever scoring does, it is kept
        else:
            self.failed += len(positions)
            self.not_asked += result.reason is Reason.NOT_ASKED
        self.score(positions, result)
        if len(self._scores) >= KEEP_EVERY_ANSWERS * len(self._plan.benchmark.metrics):
            self.write()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(KEEP_EVERY_S, self._write_in_time)

    def _write_in_time(self) -> None:
        try:
            self.write()
        except AgentError as error:  # nobody awaits a timer: the next answer ends the run with it
            self._broken = error

    def write(self) -> None:
        """Write what has not been written yet, in one transaction."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._answers or self._scores:
            self._store.settle(self._run_id, self._answers, self._scores)
            self._answers, self._scores = [], []
