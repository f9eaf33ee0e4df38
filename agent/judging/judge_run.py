"""Ask the jury about every stored answer that can be judged, for every seat that has not judged it yet.

Each seat gets one request and, if its reply contains no valid verdict, one request to correct it. Replies are stored in
small transactions as they arrive and are never requested again. A missing reply leaves its seat open for the next run.
"""

import asyncio
import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent.inference.client import ask_all
from agent.inference.endpoint import identify_server, list_addresses
from agent.inference.limits import HttpLimits
from agent.inference.live_forecast import LiveForecast, WorkTaken
from agent.inference.outage import ServerWatch
from agent.inference.server_groups import group_by_server
from agent.inference.server_load import identify_host
from agent.inference.wire import request_identity
from agent.io.progress import Progress
from agent.judging.judge_server import JudgeQuestion, JudgeServer
from agent.judging.judgement_writer import JudgementWriter
from agent.judging.jury_selection import JudgeKey, SeatedJudge
from agent.judging.probe_judges import JudgeCapabilities
from agent.jury.fence import extend_marker
from agent.jury.prompts import (
    Matter,
    build_matter,
    write_judge_messages,
)
from agent.jury.rubric import Rubric, read_rubric
from agent.jury.seats import (
    WITHHELD,
    compute_jury_score,
    cut_reply,
    is_open,
)
from agent.metrics import Means, MetricUse
from agent.monitoring.counters import SEATS
from agent.monitoring.events import JudgingEnded
from agent.monitoring.log import log_event
from agent.redaction import Redactor, open_redactor
from agent.scoring.jury_scores import Judged, read_judged_answer, score_by_jury
from agent.scoring.measures import Measure, Rules
from agent.site.directory import Site
from agent.store import RETRIED, Judgement, Seat, Store, StoredInstance
from agent.vocabulary import Failure, Reason, Response, Unscored

if TYPE_CHECKING:
    from agent.redaction.gateway.cases import Clearer

PAGE = 200  # instances whose judgements are held in memory at a time


@dataclass(frozen=True, slots=True)
class JudgingOutcome:
    """Counts for the judging of one run.

    Attributes:
        asked: number of requests sent to judges, including requests for corrections.
        answers: number of answers that were graded now, or that could not be graded.
        open: number of answers that still lack a judge's reply; the next run asks that judge again.
        seconds: the time taken.
        taken: what judging was forecast to take, and took; None if nothing was judged.
    """

    asked: int = 0
    answers: int = 0
    open: int = 0
    seconds: float = 0.0
    taken: WorkTaken | None = None


NOTHING_JUDGED = JudgingOutcome()


def find_open_positions(store: Store, run_id: str, rules: Rules) -> list[int]:
    """Return the positions of the answers in a run that its jury has not completely graded."""
    measures = select_jury_measures(rules)
    if not measures or not measures[0].use.judges:
        return []
    use = measures[0].use
    return store.juries.find_unjudged(
        run_id, use.name, [measure.name for measure in measures], len(use.judges)
    )


def select_jury_measures(rules: Rules) -> list[Measure]:
    """Return the measures whose scores come from the jury's seats."""
    return [measure for measure in rules.measures if measure.of_jury]


@dataclass(frozen=True, slots=True)
class RunContext:
    """The limits, servers and tools for running and judging.

    Attributes:
        limits: limits on requests to a server.
        progress: the progress display.
        judges: capabilities of each judge's server. A judge without an entry is not asked now; its seat stays open.
        redactor: redacts texts for outside judges; None if all judges are inside.
        means: resources for metrics that are measured after the run.
        watch: the servers that fell silent, for which the whole command waits only once.
    """

    limits: HttpLimits
    progress: Progress
    judges: JudgeCapabilities = field(default_factory=dict)
    redactor: Redactor | None = None
    means: Means = Means()  # noqa: RUF009 (frozen)
    watch: ServerWatch | None = None


def open_redactor_for(site: Site, juries: Sequence[Sequence[SeatedJudge]]) -> Redactor | None:
    """Open the site's redactor if any judge is outside.

    Raises:
        RedactionError: see `agent.redaction.open_redactor`.
    """
    if not any(judge.outside for jury in juries for judge in jury):
        return None
    return open_redactor(site.settings.redaction_policy, site.directory, key=site.surrogate_key())


def _open_clearer(redactor: Redactor) -> "Clearer":
    from agent.redaction.gateway.cases import Redacting  # takes longer to import than a small run

    return Redacting(redactor)


async def judge_run(
    store: Store,
    run_id: str,
    rules: Rules,
    jury: Sequence[SeatedJudge],
    model: str,
    context: RunContext,
) -> JudgingOutcome:
    """Ask the jury about answers that it has not judged yet, and store the scores. The caller must hold the run's lock.

    Args:
        store: the site's store.
        run_id: the run with the answers.
        rules: the scoring rules, whose jury is `jury`.
        jury: the seats in order.
        model: the model that gave the answers, for the progress display.
        context: limits, servers and tools for judging.
    """
    positions = find_open_positions(store, run_id, rules)
    if not positions:
        return NOTHING_JUDGED
    began = time.monotonic()
    context.progress.begin(f"jury: {model}", len(positions), phase="judging")
    writer = JudgementWriter(store, run_id, context.progress)
    judging = _RunJudging(store, run_id, rules, jury, context.judges, context.redactor, writer)
    _record_outside_judges(store, run_id, jury, len(positions), context.redactor)
    try:
        await judging.ask(positions, context.limits, context.watch)
    finally:
        writer.write()
    _score_by_helm(store, run_id, rules, positions)
    context.progress.end()
    seconds = time.monotonic() - began
    log_event(JudgingEnded(run_id, len(jury), judging.asked, writer.done, writer.open, seconds))
    return JudgingOutcome(
        asked=judging.asked,
        answers=writer.done,
        open=writer.open,
        seconds=seconds,
        taken=None if judging.live is None else judging.live.end(),
    )


def count_answers_at_once(judges: Sequence[SeatedJudge]) -> int:
    """Return how many answers these judges have at the same time, if each is asked about every answer.

    Judges with a common server share its places, so that it works on fewer answers than it has places. Of several
    groups of judges, the one with the most answers counts.
    """
    addresses = [list_addresses(judge.deployment) for judge in judges]
    most = 1
    for group in group_by_server(addresses):
        hosts = {identify_host(url) for number in group for url in addresses[number]}
        places = len(hosts) * min(judges[number].max_in_flight for number in group)
        most = max(most, math.ceil(places / len(group)))
    return most


def _record_outside_judges(
    store: Store, run_id: str, jury: Sequence[SeatedJudge], answers: int, redactor: Redactor | None
) -> None:
    """Record in the audit log, before anything is sent, that redacted text goes to outside judges."""
    outside = sorted({judge.deployment.name for judge in jury if judge.outside})
    if outside:
        assert redactor is not None
        store.audit.record(
            "outside judges",
            f"run={run_id} answers={answers} judges={','.join(outside)} redacted under policy {redactor.policy}",
        )


class _RunJudging:
    """The judging of one run.

    Attributes:
        asked: number of requests sent.
        writer: stores judgements, seats and scores.
        live: the forecast; None until judges are asked.
    """

    def __init__(
        self,
        store: Store,
        run_id: str,
        rules: Rules,
        jury: Sequence[SeatedJudge],
        capabilities: JudgeCapabilities,
        redactor: Redactor | None,
        writer: JudgementWriter,
    ) -> None:
        self.asked = 0
        self.writer = writer
        self.live: LiveForecast | None = None
        self._replied: set[int] = set()  # unfinished answers with a reply to this command
        self._seats_filled = 0
        self._seats_to_fill = 0
        self._store = store
        self._run_id = run_id
        self._rules = rules
        self._jury = jury
        self._capabilities = capabilities
        self._clearer = None if redactor is None else _open_clearer(redactor)
        measures = select_jury_measures(rules)
        self._use: MetricUse = measures[0].use
        self._measure = next(
            (measure.name for measure in measures if measure.rules == "intramural"), None
        )
        self._rubric: Rubric = read_rubric(self._use)
        self._seats_asked_now: list[int] = []
        for number, judge in enumerate(jury):
            if identify_server(judge.deployment) in capabilities:
                self._seats_asked_now.append(number)
        self._seats: dict[
            int, dict[int, Seat]
        ] = {}  # by position and seat number, until the answer is finished
        self._open: dict[bytes, JudgeQuestion] = {}

    async def ask(
        self, positions: Sequence[int], limits: HttpLimits, watch: ServerWatch | None
    ) -> None:
        """Ask all judges concurrently, each within the limit of its server, whose places they share."""
        watch = watch or ServerWatch(limits)
        stored = self._store.juries.read_seats(self._run_id, self._use.name)
        for position in positions:
            seats: dict[int, Seat] = {}
            for seat in stored.get(position, ()):
                is_asked_again = is_open(seat) and seat.seat in self._seats_asked_now
                if not is_asked_again:
                    seats[seat.seat] = seat
            self._seats[position] = seats
            self._finish_if_asked(position)
        judges: dict[JudgeKey, SeatedJudge] = {}  # seats with the same requests share the replies
        for number in self._seats_asked_now:
            judge = self._jury[number]
            judges[judge.identity] = judge
        servers = [self._build_server(judge, positions) for judge in judges.values()]
        at_once = count_answers_at_once([server.judge for server in servers])
        self.live = self._begin_forecast(servers, at_once)
        tasks = [asyncio.create_task(self._ask_server(server, limits, watch)) for server in servers]
        clock = asyncio.create_task(self.writer.show_time())
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in (*tasks, clock):
                task.cancel()
            await asyncio.gather(*tasks, clock, return_exceptions=True)

    async def _ask_server(
        self,
        server: JudgeServer,
        limits: HttpLimits,
        watch: ServerWatch,
    ) -> None:
        await ask_all(
            server.judge.deployment,
            server,
            lambda question, result: self._take_result(server, question, result),
            max_in_flight=server.judge.max_in_flight,
            limits=limits,
            capabilities=server.capabilities,
            watch=watch,
        )

    def _begin_forecast(self, servers: Sequence[JudgeServer], max_in_flight: int) -> LiveForecast:
        """Begin the forecast of judging the answers that lack a seat, and show it."""
        questions: dict[str, int] = {}
        for server in servers:
            name = server.judge.deployment.name
            asked = [
                seats for seats in self._seats.values() if not seats.keys() >= set(server.seats)
            ]
            questions[name] = questions.get(name, 0) + len(asked)
        for seats in self._seats.values():
            self._seats_to_fill += len(set(self._seats_asked_now) - seats.keys())
        answers = len(self._seats)
        live = LiveForecast(answers, min(max_in_flight, answers), questions)
        self.writer.show_left(self._describe_work)
        return live

    def _describe_work(self) -> str:
        """Return how many seats are filled, and how long the rest takes, for the progress display."""
        remaining = self.live.describe_remaining() if self.live is not None else ""
        seats = f"{self._seats_filled}/{self._seats_to_fill} seats"
        return f"{seats}, {remaining}" if remaining else seats

    def _build_server(self, judge: SeatedJudge, positions: Sequence[int]) -> JudgeServer:
        seats = [
            number for number, seat in enumerate(self._jury) if seat.identity == judge.identity
        ]
        capabilities = self._capabilities[identify_server(judge.deployment)]
        server = JudgeServer(judge, capabilities, self._rubric, seats)
        server.firsts = self._prepare_questions(server, positions)
        return server

    # asking

    def _prepare_questions(
        self, server: JudgeServer, positions: Sequence[int]
    ) -> Iterator[JudgeQuestion]:
        """Yield the questions to this judge. Texts are read from the store page by page."""
        for stored in self._store.answers.read_each_instance(self._run_id, positions):
            filled_seats = self._seats.get(stored.position)
            if filled_seats is None:
                continue
            seats = [seat for seat in server.seats if seat not in filled_seats]
            if not seats:
                continue
            matter = self._build_matter(stored)
            if matter is None:
                self._seats.pop(stored.position, None)
                continue
            shown = self._redact(stored, matter) if server.judge.outside else matter
            if shown is None:
                for seat in seats:
                    self._fill(stored.position, Seat(seat, None, WITHHELD))
                continue
            waiting = [(stored.position, seat) for seat in seats]
            question = self._prepare_question(server, shown, waiting)
            if question is not None:
                yield question

    def _build_matter(self, stored: StoredInstance) -> Matter | None:
        """Return the texts to judge; None if the answer was purged, or if it contains nothing to judge."""
        if stored.instance is None or stored.response is None:
            return None
        answer = read_judged_answer(self._rules, stored.response)
        if isinstance(answer, Unscored) or not answer.strip():
            return None
        return build_matter(stored.instance, answer)

    def _redact(self, stored: StoredInstance, matter: Matter) -> Matter | None:
        """Return the texts that an outside judge may see; None if any of them could not be redacted."""
        assert self._clearer is not None
        assert stored.instance is not None
        instance = stored.instance
        if not self._use.gold_shown:
            instance = replace(instance, references=())
        withheld_before = self._clearer.withheld
        [(cleared, answer)] = self._clearer.clear_answered([(instance, matter.answer)], "")
        if self._clearer.withheld > withheld_before:
            return None
        return build_matter(cleared, answer)

    def _prepare_question(
        self, server: JudgeServer, matter: Matter, waiting: list[tuple[int, int]]
    ) -> JudgeQuestion | None:
        """Return the question if it must be asked; None if its reply is stored or has already been requested."""
        marker = extend_marker(
            self._store.identities.fence_marker(json.dumps(matter.texts).encode()), matter.texts
        )
        request = server.build_request(write_judge_messages(self._use, matter, marker))
        key = self._store.identities.judgement_key(
            server.judge.deployment.answers_name, request_identity(request)
        )
        if key in self._open:
            self._open[key].waiting += waiting
            if self.live is not None:
                self.live.skip_question(server.judge.deployment.name)
            return None
        judgement = self.writer.judgement(key)
        if judgement is None:
            judgement = Judgement((), marker, matter.texts if server.judge.outside else ())
        question = JudgeQuestion(key, server.fit_room(request), matter.texts, judgement, waiting)
        if not question.judgement.replies:
            self._open[key] = question
            return question
        if server.queue_repair(question):
            self._open[key] = question
            return question
        if self.live is not None:
            self.live.skip_question(server.judge.deployment.name)
        self._settle(question, None)
        return None

    # Handling replies

    def _take_result(
        self, server: JudgeServer, question: JudgeQuestion, result: Response | Failure
    ) -> None:
        self.writer.check()
        if not _is_not_sent(result):
            self.asked += 1
            self._count_reply(server, question, result)
            self._replied.update(position for position, _ in question.waiting)
        if isinstance(result, Failure) and result.reason == Reason.EMPTY:
            result = _EMPTY_REPLY
        if isinstance(result, Failure):
            self._settle(question, result)
            return
        replies = (*question.judgement.replies, cut_reply(result))
        question.judgement = replace(question.judgement, replies=replies)
        self.writer.keep_judgement(question.key, question.judgement)
        if not server.queue_repair(question):
            self._settle(question, None)

    def _count_reply(
        self, server: JudgeServer, question: JudgeQuestion, result: Response | Failure
    ) -> None:
        if self.live is not None:
            is_correction = bool(question.judgement.replies)
            self.live.count_reply(server.judge.deployment.name, result, is_correction=is_correction)

    def _settle(self, question: JudgeQuestion, failure: Failure | None) -> None:
        """Fill the seats that wait for this question."""
        self._open.pop(question.key, None)
        for position, seat in question.waiting:
            if question.filled is not None and (failure is None or failure.reason not in RETRIED):
                self._fill(position, replace(question.filled, seat=seat))
                continue
            assert failure is not None
            key = question.key if question.judgement.replies else None
            self._fill(position, Seat(seat, None, failure.reason.value, judgement_key=key))

    def _fill(self, position: int, seat: Seat) -> None:
        """Fill a seat. When all seats are filled, the answer is finished."""
        SEATS.add(value=_name_outcome(seat))
        self._seats[position][seat.seat] = seat
        self._seats_filled += 1
        self._finish_if_asked(position)

    def _finish_if_asked(self, position: int) -> None:
        """Score an answer once all of its seats to be asked now have been asked."""
        if any(number not in self._seats[position] for number in self._seats_asked_now):
            return
        seats_by_number = self._seats.pop(position)
        seats = [seats_by_number[number] for number in sorted(seats_by_number)]
        score = None
        if self._measure is not None:
            score = (self._measure, compute_jury_score(seats, self._use))
        if self.live is not None and position in self._replied:
            self._replied.discard(position)
            self.live.count_answer()
        elif self.live is not None:
            self.live.skip_answer()
        self.writer.keep_answer(position, self._use.name, seats, score)


def _name_outcome(seat: Seat) -> str:
    """Return what became of a seat, in a word, for the counter."""
    if seat.grades is not None:
        return "valid"
    if seat.reason == WITHHELD:
        return "withheld"
    return "no_reply" if is_open(seat) else "invalid"


# A reply without any text needs correction.
_EMPTY_REPLY = Response("", "", "other", None, None, 0.0)
_NOT_SENT = (Reason.NOT_ASKED, Reason.CONTEXT_LENGTH)


def _is_not_sent(result: Response | Failure) -> bool:
    return isinstance(result, Failure) and result.status is None and result.reason in _NOT_SENT


def _score_by_helm(store: Store, run_id: str, rules: Rules, positions: Sequence[int]) -> None:
    """Score by HELM's rule, which uses only first replies."""
    if not any(measure.rules == "helm" for measure in select_jury_measures(rules)):
        return
    metric = select_jury_measures(rules)[0].use.name
    for start in range(0, len(positions), PAGE):
        page = positions[start : start + PAGE]
        seats_by_position = store.juries.read_every_seat(run_id, page)
        scores: list[tuple[int, str, float | Unscored]] = []
        for stored in store.answers.read_each_instance(run_id, page):
            if stored.response is None:
                continue
            judged: list[Judged] = []
            for seat_metric, seat, judgement in seats_by_position.get(stored.position, ()):
                if seat_metric == metric:
                    judged.append((seat, judgement))
            for score in score_by_jury(rules, stored.response, judged):
                if score.measure.rules == "helm" and isinstance(score.value, float | Unscored):
                    scores.append((stored.position, score.measure.name, score.value))
        store.scores.keep(run_id, scores)
