"""Carry out one run: ask, score, judge, summarise. A killed run resumes where it stopped.

States of a run in the store: (planned) -> asking -> ended. If the command is repeated, an ended run with failed
instances or with open seats of its jury returns to asking. Answers, judgements and scores are stored in small
transactions as they arrive.

Several runs may be carried out at once, in one event loop. Work that would keep the others waiting is done in parts, or
in a thread.
"""

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities, Needs, check_needs
from agent.inference.client import ask_all
from agent.inference.closed_questions import TEXT_MODES
from agent.inference.endpoint import describe_deployment, list_addresses
from agent.inference.live_forecast import LiveForecast, WorkTaken
from agent.inference.read_figures import read_figures
from agent.inference.server_figures import subtract_figures
from agent.inference.wire import request_identity
from agent.judging.judge_run import JudgingOutcome, RunContext, judge_run
from agent.metrics import Means
from agent.monitoring.events import RunEnded, RunStarted, RunStopped, name_benchmark
from agent.monitoring.log import log_event
from agent.results.summarize import summarise_run
from agent.runs.outcomes import RunOutcome
from agent.runs.plan import Plan
from agent.runs.score_writer import ScoreWriter
from agent.scoring.deferred import compute_later_scores
from agent.scoring.measures import Rules
from agent.scoring.whole_run import compute_stored_run_scores
from agent.site.directory import Site
from agent.store import Run, Store
from agent.vocabulary import ChatRequest, Failure, Instance, Response

SCORES_AT_ONCE = 500  # scores per transaction, for metrics that are computed later
_STORED_AT_ONCE = 200  # stored answers that are scored before other runs have their turn

T = TypeVar("T")


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


class SharedWork:
    """What the runs of a command share while several of them are carried out at once.

    Attributes:
        judging: held while a run is judged. Two at once would ask a judge for the same verdict twice.
        measuring: held while metrics are computed from stored answers; they use all processors by themselves.
        at_work: number of runs that are carried out now.
    """

    def __init__(self, site: Site) -> None:
        """Note how the process takes Ctrl-C, before an event loop takes it."""
        self.judging = asyncio.Lock()
        self.measuring = asyncio.Lock()
        self.at_work = 0
        self._site = site
        self._on_interrupt = signal.getsignal(signal.SIGINT)

    @contextmanager
    def work(self) -> Iterator[None]:
        """Return a context in which one more run is carried out."""
        self.at_work += 1
        try:
            yield
        finally:
            self.at_work -= 1

    @contextmanager
    def interrupt_at_once(self) -> Iterator[None]:
        """Return a context that Ctrl-C ends at once. An event loop would notice it only after the context."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._on_interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    async def measure(self, store: Store, run_id: str, rules: Rules, means: Means) -> None:
        """Compute the metrics of a run that need stored answers. Other runs go on meanwhile."""
        if not store.scores.find_unmeasured(run_id):
            return
        async with self.measuring:
            if self.at_work == 1:
                with self.interrupt_at_once():
                    _measure(store, run_id, rules, means)
            else:
                await self._measure_apart(run_id, rules, means)

    async def _measure_apart(self, run_id: str, rules: Rules, means: Means) -> None:
        """Measure in a thread with a connection of its own. If this call is cancelled, the thread ends soon."""
        loop = asyncio.get_running_loop()
        is_stopped = threading.Event()

        def note(text: str) -> None:
            loop.call_soon_threadsafe(means.note, text)

        def measure() -> None:
            with self._site.store() as store:
                _measure(store, run_id, rules, replace(means, note=note), is_stopped)

        try:
            await asyncio.to_thread(measure)
        finally:
            is_stopped.set()


async def carry_out(
    store: Store,
    plan: Plan,
    capabilities: Capabilities,
    context: RunContext,
    shared: SharedWork,
) -> RunOutcome:
    """Ask, score and judge one plan while holding the lock of its run."""
    workarounds = list_workarounds(plan, capabilities)
    run_id = store.identities.run_id(plan.suite, plan.name)
    with shared.work(), store.runs.lock(run_id), _log_run(plan, run_id) as note_outcome:
        run_id = await _take_turns(_begin_run(store, plan, capabilities, workarounds))
        asking = await _ask_and_score(store, plan, run_id, capabilities, context)
        await shared.measure(store, run_id, plan.rules, context.means)
        judged = JudgingOutcome()
        if plan.jury:
            async with shared.judging:
                judged = await judge_run(store, run_id, plan.rules, plan.jury, plan.model, context)
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


async def _take_turns(parts: Generator[None, None, T]) -> T:
    """Do work part by part, with other runs in between; return its result."""
    with closing(parts):
        while True:
            try:
                next(parts)
            except StopIteration as end:
                result: T = end.value
                return result
            await asyncio.sleep(0)


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
        # Ctrl-C cancels the work in an event loop.
        is_interrupted = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
        kind = KeyboardInterrupt if is_interrupted else type(error)
        log_event(RunStopped(run_id, name, benchmark, kind.__name__, seconds))
        raise


def _begin_run(
    store: Store, plan: Plan, capabilities: Capabilities, workarounds: Sequence[str]
) -> Generator[None, None, str]:
    """Begin the run part by part; return its id."""
    return store.runs.begin_in_parts(
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


async def _ask_and_score(
    store: Store, plan: Plan, run_id: str, capabilities: Capabilities, context: RunContext
) -> _AskingCounts:
    """Score the stored answers, then ask the open questions and score each answer as it arrives."""
    instances = len(plan.instances)
    writer = ScoreWriter(store, plan.rules, run_id, context.progress)
    label = f"{plan.benchmark.display_name}: {plan.model}"
    context.progress.begin(label, instances, phase="asking")
    taken = None
    try:
        unanswered = await _take_turns(_score_stored_answers(store, run_id, instances, writer))
        if unanswered:
            taken = await _ask(store, plan, run_id, unanswered, writer, context, capabilities)
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


def _measure(
    store: Store,
    run_id: str,
    rules: Rules,
    means: Means,
    is_stopped: threading.Event | None = None,
) -> None:
    """Compute the metrics that need stored answers, batch by batch, until `is_stopped` is set."""

    def read_cases() -> Iterator[tuple[int, Instance, Response]]:
        positions = store.scores.find_unmeasured(run_id)
        for stored in store.answers.read_each_instance(run_id, positions):
            if is_stopped is not None and is_stopped.is_set():
                raise InterruptedError
            if stored.instance and stored.response:
                yield stored.position, stored.instance, stored.response

    scores = compute_later_scores(rules, read_cases(), means)
    while batch := list(islice(scores, SCORES_AT_ONCE)):
        store.scores.keep(run_id, batch)


def _score_stored_answers(
    store: Store, run_id: str, instances: int, writer: ScoreWriter
) -> Generator[None, None, dict[bytes, list[int]]]:
    """Score the stored answers part by part; return the positions still to be asked, grouped by request key.

    Equal requests are sent once.
    """
    unsettled = store.answers.find_unsettled(run_id)
    writer.progress.advance_stored(instances - len(unsettled))
    answered = [position for position, _, is_answered in unsettled if is_answered]
    for number, stored in enumerate(store.answers.read_each_instance(run_id, answered), start=1):
        assert stored.instance is not None
        assert stored.response is not None
        writer.score(stored.position, stored.instance, stored.response)
        if number % _STORED_AT_ONCE == 0:
            yield
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
