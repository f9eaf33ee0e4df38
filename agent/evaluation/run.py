"""The main path of a run: plan, ask, score, summarise. A killed run continues where it stopped.

States of a run in the store: (planned) -> asking -> ended; an ended run with failed instances goes back to asking
when the command is given again. Answers and scores are kept in small transactions as they arrive.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.evaluation.plan import Plan, RunOptions, http_limits, plan_runs, request_identity
from agent.evaluation.progress import Progress
from agent.evaluation.score import score_response
from agent.evaluation.summarise import RunSummary, summarise_run
from agent.inference.capabilities import Capabilities, Needs, check_needs
from agent.inference.client import ask_all
from agent.inference.limits import HttpLimits
from agent.inference.probe import probe
from agent.site import Site
from agent.store import Store
from agent.vocabulary import ChatRequest, Failure, Response, RunEntry, Unscored

# What a kill may cost: so many answers, or so many seconds of them, are asked again.
KEEP_EVERY_ANSWERS = 64
KEEP_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What one run came to. `asked` counts questions sent now, `kept` those answered by an earlier run."""

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
    found = asyncio.run(_probe_all(plans, limits))
    workarounds = [check_needs(found[plan.deployment.name], _needs(plan)) for plan in plans]
    outcomes = []
    with site.store() as store:
        for plan, notes in zip(plans, workarounds, strict=True):
            outcomes.append(_evaluate(store, plan, found[plan.deployment.name], notes, limits, progress))
    return outcomes


async def _probe_all(plans: Sequence[Plan], limits: HttpLimits) -> Mapping[str, Capabilities]:
    """Probe each deployment once."""
    deployments = {plan.deployment.name: plan.deployment for plan in plans}
    return {name: await probe(deployment, limits) for name, deployment in deployments.items()}


def _needs(plan: Plan) -> Needs:
    return Needs.of(ChatRequest(plan.model, (), plan.max_tokens, plan.temperature, plan.stop))


def _evaluate(
    store: Store,
    plan: Plan,
    capabilities: Capabilities,
    workarounds: Sequence[str],
    limits: HttpLimits,
    progress: Progress,
) -> RunOutcome:
    with store.run_lock(store.run_id(plan.suite, plan.name)):
        requests = [plan.request(instance, capabilities.extra_body) for instance in plan.instances]
        keys = [store.request_key(plan.deployment.name, request_identity(request)) for request in requests]
        run_id = store.begin_run(
            suite=plan.suite,
            name=plan.name,
            benchmark=plan.benchmark.id,
            model=plan.model,
            deployment=plan.deployment.name,
            details=plan.details(capabilities, workarounds),
            planned=list(zip(plan.instances, keys, strict=True)),
            scored_by=plan.scored_by(),
        )
        keeper = _Keeper(store, plan, run_id)
        progress.begin(f"{plan.benchmark.display_name}: {plan.model}", len(requests))
        unanswered: dict[bytes, list[int]] = {}  # equal requests are asked once
        settled = store.settled_positions(run_id)
        for position, key in enumerate(keys):
            if position in settled:
                progress.advance()
            elif (answer := store.answer(key)) is not None:
                keeper.score(position, answer)
                progress.advance()
            else:
                unanswered.setdefault(key, []).append(position)

        def on_result(key: bytes, result: Response | Failure) -> None:
            keeper.keep(key, unanswered[key], result)
            progress.advance(len(unanswered[key]))

        try:
            asyncio.run(
                ask_all(
                    plan.deployment,
                    ((key, requests[positions[0]]) for key, positions in unanswered.items()),
                    on_result,
                    max_in_flight=min(plan.max_in_flight, max(1, len(unanswered))),
                    limits=limits,
                    capabilities=capabilities,
                )
            )
        finally:
            keeper.write()
        store.end_run(run_id)
        progress.end()
        run = store.run(run_id)
        assert run is not None
        return RunOutcome(
            summary=summarise_run(store, run),
            asked=len(unanswered),
            kept=len(keys) - sum(map(len, unanswered.values())),
            failed=keeper.failed,
        )


class _Keeper:
    """Scores answers as they arrive and writes them in batches, so that little is lost when the process is killed."""

    def __init__(self, store: Store, plan: Plan, run_id: str) -> None:
        self._store = store
        self._plan = plan
        self._run_id = run_id
        self._answers: list[tuple[bytes, Response]] = []
        self._scores: list[tuple[int, str, float | Unscored]] = []
        self._timer: asyncio.TimerHandle | None = None
        self.failed = 0

    def score(self, position: int, result: Response | Failure) -> None:
        """Score one instance."""
        plan = self._plan
        scores = score_response(plan.benchmark.metrics, plan.instances[position], result, plan.scoring)
        self._scores.extend((position, metric, value) for metric, value in scores)

    def keep(self, key: bytes, positions: Sequence[int], result: Response | Failure) -> None:
        """Keep a new answer and score the instances it belongs to."""
        if isinstance(result, Response):
            self._answers.append((key, result))
        else:
            self.failed += len(positions)
        for position in positions:
            self.score(position, result)
        if len(self._scores) >= KEEP_EVERY_ANSWERS * len(self._plan.benchmark.metrics):
            self.write()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(KEEP_EVERY_S, self.write)

    def write(self) -> None:
        """Write what has not been written yet, in one transaction."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._answers or self._scores:
            self._store.settle(self._run_id, self._answers, self._scores)
            self._answers, self._scores = [], []
