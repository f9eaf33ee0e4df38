"""Before a run: what asking its jury would take, judge by judge. Nothing of a case is sent anywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.evaluation.forecast import CHARACTERS_A_TOKEN, Forecast, PromptSize, forecast, forecast_lines
from agent.evaluation.judging import jury_measures, room_for_verdict, served
from agent.evaluation.plan import Plan
from agent.evaluation.seating import SeatedJudge
from agent.evaluation.trial import Met, meet
from agent.inference.limits import HttpLimits
from agent.inference.window import prompt_budget, window_of
from agent.jury.prompts import Matter, judge_messages
from agent.metrics import MetricUse
from agent.vocabulary import Instance

_MARKER = "0123456789abcdef"


@dataclass(frozen=True, slots=True)
class JudgeForecast:
    """What one judge of a run would take; seats of one deployment share their replies."""

    judge: SeatedJudge
    met: Met
    found: Forecast

    def lines(self) -> list[str]:
        """Return what a person should know, one thing a line."""
        name = self.judge.deployment.name
        problem = [f"judge {name} cannot be asked: {self.met.problem}"] if self.met.problem else []
        own = forecast_lines(self.found, self.met.pace, self.judge.deployment.prices)
        return [*problem, *(f"judge {name}: {line}" for line in own)]


async def meet_all_judges(plans: Sequence[Plan], limits: HttpLimits) -> Mapping[tuple[str, str], Met]:
    """Probe and time each judge's server; one that cannot be met is no error here."""
    judges = {served(judge): judge for plan in plans for judge in plan.jury}
    return {key: await meet(judge.deployment, judge.max_in_flight, limits) for key, judge in judges.items()}


def forecast_judging(plan: Plan, met: Mapping[tuple[str, str], Met]) -> list[JudgeForecast]:
    """Return what each judge of the plan would take, every reply being a verdict at once.

    Answers are taken to be as long as their references; where there are none, as long as is allowed.
    """
    judges = {served(judge): judge for judge in plan.jury}
    if not judges:
        return []
    use = jury_measures(plan.rules)[0].use
    sizes = _sizes(plan, use)
    return [JudgeForecast(judge, met[key], _forecast(judge, met[key], sizes)) for key, judge in judges.items()]


def _forecast(judge: SeatedJudge, met: Met, sizes: Sequence[PromptSize]) -> Forecast:
    window = window_of(judge.deployment, met.capabilities)
    room = room_for_verdict(window)
    budget = prompt_budget(window, room, None)
    return forecast(sizes, {}, max_tokens=room, budget=budget, can_shorten=False, thinks=True)


def _sizes(plan: Plan, use: MetricUse) -> list[PromptSize]:
    frame = sum(len(message.content) for message in judge_messages(use, Matter("", "", ""), _MARKER))
    most = round(plan.max_tokens * CHARACTERS_A_TOKEN)
    sizes = []
    for instance in plan.instances:
        right = [len(reference.text) for reference in instance.references if reference.correct]
        gold = sum(right) if use.gold_shown else 0
        characters = frame + _length(instance) + gold + (min(most, max(right)) if right else most)
        sizes.append(PromptSize(characters, 4 * characters, characters, None))
    return sizes


def _length(instance: Instance) -> int:
    return sum(len(message.content) for message in instance.messages)


def judging_lines(plan: Plan, met: Mapping[tuple[str, str], Met]) -> list[str]:
    """Return what a person should know before a jury is asked; nothing where there is none."""
    lines = [line for one in forecast_judging(plan, met) for line in one.lines()]
    if lines:
        lines.append("a judge's reply that is no verdict is asked for once more, which is not in these figures")
    return lines
