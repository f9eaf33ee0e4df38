"""Asking the jury: every stored answer that can be judged, by every seat that has not judged it yet.

Each seat gets one request and, where its reply is no valid verdict, one request to repair it. Replies are kept in small
transactions as they arrive and are never asked for again; what did not come leaves its seat open for the next time.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from agent.inference.capabilities import Capabilities
from agent.inference.client import ask_all
from agent.inference.limits import HttpLimits
from agent.inference.window import window_of
from agent.inference.wire import request_identity
from agent.io.progress import Progress
from agent.judging.judgement_writer import JudgementWriter
from agent.judging.jury_selection import SeatedJudge
from agent.judging.probe_judges import JudgeCapabilities, identify_server
from agent.jury.fence import extend_marker
from agent.jury.prompts import Matter, build_matter, build_response_format, write_judge_messages, write_repair_messages
from agent.jury.rubric import Rubric, read_rubric
from agent.jury.seats import WITHHELD, compute_jury_score, cut_reply, fill_seat, is_open, is_too_long
from agent.jury.verdict import Fault
from agent.metrics import Means, MetricUse
from agent.redaction import Redactor, open_redactor
from agent.redaction.gateway.subject import Whose
from agent.scoring.jury_scores import compute_jury_scores, read_judged_answer
from agent.scoring.measures import Measure, Rules
from agent.site.directory import Site
from agent.store import RETRIED, Judgement, Seat, Store, StoredInstance
from agent.vocabulary import ChatRequest, Failure, Reason, Response, Unscored

MAX_TOKENS = 4096  # of a verdict with its explanations, and of the thoughts before it
PAGE = 200  # instances whose judgements are in memory at a time


@dataclass(frozen=True, slots=True)
class JudgingOutcome:
    """What the judging of one run came to.

    Attributes:
        asked: requests that were sent to judges, repairs among them.
        answers: those that were graded now, or could not be.
        open: answers of which a seat brought no reply, and is asked again by the next run.
        seconds: that it took.
    """

    asked: int = 0
    answers: int = 0
    open: int = 0
    seconds: float = 0.0


NOTHING_JUDGED = JudgingOutcome()


def limit_verdict_tokens(window: int | None) -> int:
    """Return how many tokens a verdict may have: never more than half of its judge's window, the rest is to read."""
    return MAX_TOKENS if window is None else max(1, min(MAX_TOKENS, window // 2))


def find_open_positions(store: Store, run_id: str, rules: Rules) -> list[int]:
    """Return the positions of a run whose answers its jury has yet to grade, or to grade in full."""
    measures = select_jury_measures(rules)
    if not measures or not measures[0].use.judges:
        return []
    use = measures[0].use
    return store.juries.find_unjudged(run_id, use.name, [measure.name for measure in measures], len(use.judges))


def select_jury_measures(rules: Rules) -> list[Measure]:
    """Return the measures that rest on what the seats of the jury give."""
    return [measure for measure in rules.measures if measure.of_jury]


@dataclass(frozen=True, slots=True)
class RunContext:
    """How runs are asked and judged.

    Attributes:
        limits: of talking to a server.
        progress: says how far it is.
        judges: what each judge's server honours; one that is not among them is not asked now, and its seat stays.
        redactor: clears what judges outside are sent; None where there is none.
        means: what metrics that are measured later may use.
    """

    limits: HttpLimits
    progress: Progress
    judges: JudgeCapabilities = field(default_factory=dict)
    redactor: Redactor | None = None
    means: Means = Means()  # noqa: RUF009 (frozen)


def open_redactor_for(site: Site, juries: Sequence[Sequence[SeatedJudge]]) -> Redactor | None:
    """Open the site's redactor if a judge is outside.

    Raises:
        RedactionError: see `agent.redaction.open_redactor`.
    """
    if not any(judge.outside for jury in juries for judge in jury):
        return None
    return open_redactor(site.settings.redaction_policy, site.directory, key=site.surrogate_key())


def judge_run(
    store: Store, run_id: str, rules: Rules, jury: Sequence[SeatedJudge], model: str, ways: RunContext
) -> JudgingOutcome:
    """Ask the jury what it has not judged yet, and write scores. The caller holds the run's lock.

    Args:
        store: the site's.
        run_id: whose answers.
        rules: how they are scored; its jury is `jury`.
        jury: the seats, in order.
        model: whose answers they are, for the progress.
        ways: how judges are asked.
    """
    positions = find_open_positions(store, run_id, rules)
    if not positions:
        return NOTHING_JUDGED
    began = time.monotonic()
    ways.progress.begin(f"jury: {model}", len(positions))
    keeper = JudgementWriter(store, run_id, ways.progress)
    hearing = _Hearing(store, run_id, rules, jury, ways.judges, ways.redactor, keeper)
    _note_what_leaves(store, run_id, jury, len(positions), ways.redactor)
    try:
        asyncio.run(hearing.ask(positions, ways.limits))
    finally:
        keeper.write()
    _score_by_helm(store, run_id, rules, positions)
    ways.progress.end()
    return JudgingOutcome(hearing.asked, keeper.done, keeper.open, time.monotonic() - began)


def _note_what_leaves(
    store: Store, run_id: str, jury: Sequence[SeatedJudge], answers: int, redactor: Redactor | None
) -> None:
    """Write to the audit log, before anything is sent, that redacted text goes to judges outside."""
    outside = sorted({judge.deployment.name for judge in jury if judge.outside})
    if outside:
        assert redactor is not None
        store.audit.record(
            "outside judges",
            f"run={run_id} answers={answers} judges={','.join(outside)} redacted under policy {redactor.policy}",
        )


@dataclass(slots=True, eq=False)
class _Question:
    """One request to a judge, with all the seats that wait for what it brings."""

    key: bytes
    asked: ChatRequest
    texts: tuple[str, ...]  # of the case, as this judge is shown them
    judgement: Judgement
    waiting: list[tuple[int, int]]  # (position, seat)
    given: Seat | None = None  # what the replies so far give, whichever seat it is


@dataclass(slots=True, eq=False)
class _Server:
    """One judge as the stage asks it: its seats, and what is left to be asked."""

    judge: SeatedJudge
    capabilities: Capabilities
    seats: list[int]
    firsts: Iterator[_Question]
    repairs: deque[tuple[_Question, ChatRequest]] = field(default_factory=deque)

    def __iter__(self) -> Iterator[tuple[_Question, ChatRequest]]:
        return self

    def __next__(self) -> tuple[_Question, ChatRequest]:
        """Return the next request: a repair before anything new, so that answers get done in their order."""
        if self.repairs:
            return self.repairs.popleft()
        for question in self.firsts:
            if self.repairs:  # it is one itself: its first reply was there already
                return self.repairs.popleft()
            return question, question.asked
        if self.repairs:
            return self.repairs.popleft()
        raise StopIteration


class _Hearing:
    """The judging of one run.

    Attributes:
        asked: requests sent.
        keeper: writes what comes.
    """

    def __init__(
        self,
        store: Store,
        run_id: str,
        rules: Rules,
        jury: Sequence[SeatedJudge],
        found: JudgeCapabilities,
        redactor: Redactor | None,
        keeper: JudgementWriter,
    ) -> None:
        self.asked = 0
        self.keeper = keeper
        self._store = store
        self._run_id = run_id
        self._rules = rules
        self._jury = jury
        self._found = found
        self._redactor = redactor
        measures = select_jury_measures(rules)
        self._use: MetricUse = measures[0].use
        self._measure = next((one.name for one in measures if one.rules == "intramural"), None)
        self._rubric: Rubric = read_rubric(self._use)
        self._now = [
            number for number, judge in enumerate(jury) if identify_server(judge) in found
        ]  # seats that are asked
        self._given: dict[int, dict[int, Seat]] = {}
        self._open: dict[bytes, _Question] = {}

    async def ask(self, positions: Sequence[int], limits: HttpLimits) -> None:
        """Ask every judge at once, each within the limit of its server."""
        stored = self._store.juries.read_seats(self._run_id, self._use.name)
        for position in positions:
            self._given[position] = {
                seat.seat: seat for seat in stored.get(position, ()) if not (is_open(seat) and seat.seat in self._now)
            }
            self._done_if_asked(position)
        judges = {identify_server(self._jury[number]): self._jury[number] for number in self._now}
        servers = [self._server(judge, positions) for judge in judges.values()]
        at_once: dict[str, int] = {}
        for server in servers:
            address, limit = server.judge.deployment.base_url, server.judge.max_in_flight
            at_once[address] = min(limit, at_once.get(address, limit))
        slots = {address: asyncio.Semaphore(limit) for address, limit in at_once.items()}
        tasks = [
            asyncio.create_task(
                ask_all(
                    server.judge.deployment,
                    server,
                    lambda question, result, server=server: self._take(server, question, result),  # type: ignore[misc]
                    max_in_flight=min(at_once[server.judge.deployment.base_url], len(positions)),
                    limits=limits,
                    capabilities=server.capabilities,
                    slots=slots[server.judge.deployment.base_url],
                )
            )
            for server in servers
        ]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _server(self, judge: SeatedJudge, positions: Sequence[int]) -> _Server:
        seats = [number for number, other in enumerate(self._jury) if identify_server(other) == identify_server(judge)]
        server = _Server(judge, self._found[identify_server(judge)], seats, iter(()))
        server.firsts = self._questions(server, positions)
        return server

    # asking

    def _questions(self, server: _Server, positions: Sequence[int]) -> Iterator[_Question]:
        """Yield what this judge has to be asked; texts come from the store page by page."""
        for stored in self._store.answers.read_each_instance(self._run_id, positions):
            given = self._given.get(stored.position)
            seats = [] if given is None else [seat for seat in server.seats if seat not in given]
            if not seats:
                continue
            matter = self._matter(stored)
            if matter is None:
                self._given.pop(stored.position, None)
                continue
            shown = self._cleared(stored, matter) if server.judge.outside else matter
            if shown is None:
                for seat in seats:
                    self._fill(stored.position, Seat(seat, None, WITHHELD))
                continue
            waiting = [(stored.position, seat) for seat in seats]
            question = self._question(server, shown, waiting)
            if question is not None:
                yield question

    def _matter(self, stored: StoredInstance) -> Matter | None:
        """Return what is judged; None where the answer is gone, or nothing of it can be judged."""
        if stored.instance is None or stored.response is None:
            return None
        answer = read_judged_answer(self._rules, stored.response)
        if isinstance(answer, Unscored) or not answer.strip():
            return None
        return build_matter(stored.instance, answer)

    def _cleared(self, stored: StoredInstance, matter: Matter) -> Matter | None:
        """Return what a judge outside may see, or None where a text could not be cleared."""
        assert self._redactor is not None
        whose = Whose.of(stored.instance)
        before = sum(self._redactor.withheld.values())
        gold = matter.gold if self._use.gold_shown else ""
        question, gold, answer = self._redactor.redact_record(
            [matter.question, gold, matter.answer], whose.identifiers, whose.unit
        )
        if sum(self._redactor.withheld.values()) > before:
            return None
        return Matter(question=question, gold=gold, answer=answer)

    def _question(self, server: _Server, matter: Matter, waiting: list[tuple[int, int]]) -> _Question | None:
        """Return the question if it has to be asked; None if its reply is there, or is on its way."""
        marker = extend_marker(self._store.identities.fence_marker(json.dumps(matter.texts).encode()), matter.texts)
        deployment, capabilities = server.judge.deployment, server.capabilities
        more = dict(capabilities.extra_body) | (
            {"response_format": build_response_format(self._rubric)}
            if capabilities.state("json_schema") == "honoured"
            else {}
        )
        asked = ChatRequest(
            deployment.served_model,
            write_judge_messages(self._use, matter, marker),
            limit_verdict_tokens(window_of(deployment, capabilities)),
            extra_body=more,
        )
        key = self._store.identities.judgement_key(deployment.name, request_identity(asked))
        if key in self._open:
            self._open[key].waiting += waiting
            return None
        new = Judgement((), marker, matter.texts if server.judge.outside else ())
        question = _Question(key, asked, matter.texts, self.keeper.judgement(key) or new, waiting)
        if not question.judgement.replies:
            self._open[key] = question
            return question
        if self._needs_repair(server, question):
            self._open[key] = question
            return question
        self._settle(question, None)
        return None

    def _needs_repair(self, server: _Server, question: _Question) -> bool:
        """Read what there is. Whether the one reply must be repaired; if so, that is put in line."""
        said = question.judgement
        question.given = fill_seat(0, question.key, said, self._rubric, question.texts)
        if len(said.replies) != 1 or question.given.reason is None or is_too_long(said.replies[0]):
            return False
        fault, reply = Fault(question.given.reason), said.replies[0]
        messages = write_repair_messages(question.asked.messages, reply.text, fault, self._rubric, said.marker)
        server.repairs.append((question, replace(question.asked, messages=messages)))
        return True

    # taking replies

    def _take(self, server: _Server, question: _Question, result: Response | Failure) -> None:
        self.keeper.check()
        self.asked += not (isinstance(result, Failure) and result.status is None and result.reason in _NOT_SENT)
        if isinstance(result, Failure) and result.reason == Reason.EMPTY:
            result = _NOTHING_SAID
        if isinstance(result, Failure):
            self._settle(question, result)
            return
        replies = (*question.judgement.replies, cut_reply(result))
        question.judgement = replace(question.judgement, replies=replies)
        self.keeper.keep_judgement(question.key, question.judgement)
        if not self._needs_repair(server, question):
            self._settle(question, None)

    def _settle(self, question: _Question, failure: Failure | None) -> None:
        """Fill the seats that wait for this question."""
        self._open.pop(question.key, None)
        for position, seat in question.waiting:
            if question.given is not None and (failure is None or failure.reason not in RETRIED):
                filled = replace(question.given, seat=seat)
            else:
                assert failure is not None
                filled = Seat(
                    seat, None, failure.reason.value, judgement_key=question.key if question.judgement.replies else None
                )
            self._fill(position, filled)

    def _fill(self, position: int, seat: Seat) -> None:
        """Take what a seat gave; when all have, the answer is done."""
        self._given[position][seat.seat] = seat
        self._done_if_asked(position)

    def _done_if_asked(self, position: int) -> None:
        """Score an answer of which every seat has been asked that is asked now."""
        if any(number not in self._given[position] for number in self._now):
            return
        given = self._given.pop(position)
        seats = [given[number] for number in sorted(given)]
        score = None if self._measure is None else (self._measure, compute_jury_score(seats, self._use))
        self.keeper.keep_answer(position, self._use.name, seats, score)


_NOTHING_SAID = Response("", "", "other", None, None, 0.0)  # a reply without any text is one to be repaired
_NOT_SENT = (Reason.NOT_ASKED, Reason.CONTEXT_LENGTH)


def _score_by_helm(store: Store, run_id: str, rules: Rules, positions: Sequence[int]) -> None:
    """Score by HELM's rule, which reads first replies."""
    if not any(measure.rules == "helm" for measure in select_jury_measures(rules)):
        return
    metric = select_jury_measures(rules)[0].use.name
    for start in range(0, len(positions), PAGE):
        page = positions[start : start + PAGE]
        found = store.juries.read_every_seat(run_id, page)
        scores: list[tuple[int, str, float | Unscored]] = []
        for stored in store.answers.read_each_instance(run_id, page):
            seats = [(seat, judgement) for of, seat, judgement in found.get(stored.position, ()) if of == metric]
            if stored.response is not None:
                scores += [
                    (stored.position, verdict.measure.name, verdict.value)
                    for verdict in compute_jury_scores(rules, stored.response, seats)
                    if verdict.measure.rules == "helm" and isinstance(verdict.value, float | Unscored)
                ]
        store.scores.keep(run_id, scores)
