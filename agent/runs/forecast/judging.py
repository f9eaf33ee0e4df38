"""Before a jury is asked: what that would take, judge by judge. Nothing of a case is sent anywhere."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agent.inference.limits import HttpLimits
from agent.inference.window import prompt_budget, window_of
from agent.judging.judge_run import limit_verdict_tokens, select_jury_measures
from agent.judging.judge_suite import Case
from agent.judging.jury_selection import SeatedJudge
from agent.judging.probe_judges import identify_server
from agent.jury.prompts import Matter, write_judge_messages
from agent.metrics import MetricUse
from agent.runs.forecast.cost import (
    CHARACTERS_A_TOKEN,
    Forecast,
    PromptSize,
    describe_forecast,
    describe_total,
    forecast,
)
from agent.runs.forecast.remaining import RemainingWork, find_open_answers
from agent.runs.forecast.trial import ServerTrial, try_server
from agent.runs.plan import Plan
from agent.scoring.jury_scores import read_judged_answer
from agent.store import Store
from agent.vocabulary import Instance

_MARKER = "0123456789abcdef"
_REPAIRS = "a judge's reply that is no verdict is asked for once more, which is not in these figures"
_OTHER_JURY = "replies that these judges gave as another jury are not asked for again, which is not in these figures"

JudgeTrials = Mapping[tuple[str, str], ServerTrial]


@dataclass(frozen=True, slots=True)
class JudgeForecast:
    """What one judge of a run would take; seats of one deployment share their replies."""

    judge: SeatedJudge
    met: ServerTrial
    found: Forecast

    def lines(self) -> list[str]:
        """Return what a person should know, one thing a line."""
        name = self.judge.deployment.name
        if not self.found.requests and not self.found.not_fitting:
            return [f"judge {name}: nothing is left to judge"]
        problem = [f"judge {name} cannot be asked: {self.met.problem}"] if self.met.problem else []
        own = describe_forecast(self.found, self.met.pace, self.judge.deployment.prices)
        return [*problem, *(f"judge {name}: {line}" for line in own)]


async def try_judges(juries: Sequence[Sequence[SeatedJudge]], limits: HttpLimits) -> JudgeTrials:
    """Probe and time each judge's server; one that cannot be met is no error here."""
    judges = {identify_server(judge): judge for jury in juries for judge in jury}
    return {key: await try_server(judge.deployment, judge.max_in_flight, limits) for key, judge in judges.items()}


def forecast_judging(plan: Plan, left: RemainingWork, met: JudgeTrials) -> list[JudgeForecast]:
    """Return what each judge of the plan would take, every reply being a verdict at once.

    Answers are taken to be as long as their references; where there are none, as long as is allowed.
    """
    if not plan.jury:
        return []
    use = select_jury_measures(plan.rules)[0].use
    frame = _frame(use)
    most = round(plan.max_tokens * CHARACTERS_A_TOKEN)
    sizes: dict[int, PromptSize] = {}
    for position, instance in enumerate(plan.instances):
        right = [len(reference.text) for reference in instance.references if reference.correct]
        sizes[position] = _size(use, frame, instance, min(most, max(right)) if right else most)
    return _forecasts(plan.jury, plan.jury, left.judge, sizes, met)


def forecast_case(store: Store, case: Case, met: JudgeTrials) -> list[JudgeForecast]:
    """Return what each judge that is asked now about a stored run would take, every reply being a verdict at once."""
    frame = _frame(case.use)
    sizes: dict[int, PromptSize] = {}
    for stored in store.answers.read_each_instance(case.run.run_id):
        if stored.instance is None or stored.response is None:
            continue
        answer = read_judged_answer(case.rules, stored.response)
        if isinstance(answer, str) and answer.strip():
            sizes[stored.position] = _size(case.use, frame, stored.instance, len(answer))
    everything = [frozenset(sizes)] * len(case.jury)
    left = everything if case.changed else find_open_answers(store, case.run.run_id, case.rules)
    return _forecasts(case.jury, case.asked, left, sizes, met)


def _forecasts(
    jury: Sequence[SeatedJudge],
    asked: Collection[SeatedJudge],
    left: Sequence[frozenset[int]],
    sizes: Mapping[int, PromptSize],
    met: JudgeTrials,
) -> list[JudgeForecast]:
    found = []
    for key, judge in {identify_server(judge): judge for judge in asked}.items():
        seats = [left[number] for number, other in enumerate(jury) if identify_server(other) == key]
        positions = sorted(frozenset[int]().union(*seats) & sizes.keys())
        found.append(JudgeForecast(judge, met[key], _forecast(judge, met[key], [sizes[one] for one in positions])))
    return found


def _forecast(judge: SeatedJudge, met: ServerTrial, sizes: Sequence[PromptSize]) -> Forecast:
    window = window_of(judge.deployment, met.capabilities)
    room = limit_verdict_tokens(window)
    budget = prompt_budget(window, room, None)
    return forecast(sizes, {}, max_tokens=room, budget=budget, can_shorten=False, thinks=True)


def _frame(use: MetricUse) -> int:
    return sum(len(message.content) for message in write_judge_messages(use, Matter("", "", ""), _MARKER))


def _size(use: MetricUse, frame: int, instance: Instance, answer: int) -> PromptSize:
    gold = sum(len(reference.text) for reference in instance.references if reference.correct) if use.gold_shown else 0
    characters = frame + sum(len(message.content) for message in instance.messages) + gold + answer
    return PromptSize(characters, 4 * characters, characters, None)


def describe_judging(forecasts: Sequence[JudgeForecast], *, other_jury: bool) -> list[str]:
    """Return what a person should know before a run's jury is asked; nothing where there is none.

    Args:
        forecasts: of its judges.
        other_jury: judges have graded these answers as another jury.
    """
    lines = [line for one in forecasts for line in one.lines()]
    if any(one.found.requests for one in forecasts):
        lines += [_REPAIRS, *([_OTHER_JURY] if other_jury else [])]
    return lines


def describe_judging_total(forecasts: Sequence[Sequence[JudgeForecast]]) -> list[str]:
    """Return what each judge would take for several runs together."""
    by_judge: dict[tuple[str, str], list[JudgeForecast]] = {}
    for of_run in forecasts:
        for one in of_run:
            by_judge.setdefault(identify_server(one.judge), []).append(one)
    return [
        f"judge {each[0].judge.deployment.name}: {line}"
        for each in by_judge.values()
        for line in describe_total(
            [one.found for one in each],
            [one.met.pace for one in each],
            [one.judge.deployment.prices for one in each],
        )
    ]
