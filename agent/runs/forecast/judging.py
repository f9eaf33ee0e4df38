"""Forecast the questions to each judge of a jury before the jury is asked.

No text of an instance is sent anywhere.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agent.inference.endpoint import ServerKey, identify_server
from agent.inference.limits import HttpLimits
from agent.inference.window import prompt_budget, window_of
from agent.judging.judge_run import select_jury_measures
from agent.judging.judge_suite import JudgingTask
from agent.judging.jury_selection import JudgeKey, SeatedJudge
from agent.jury.prompts import Matter, write_judge_messages
from agent.jury.rubric import Rubric, read_rubric
from agent.jury.verdict_limits import limit_verdict_tokens
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

_MARKER = "0123456789abcdef"  # as long as a real marker, which is random
_MAX_BYTES_A_CHARACTER = 4  # in UTF-8
_REPAIRS = "not included: second questions to judges whose first reply is not a valid verdict"
_OTHER_JURY = (
    "not subtracted: replies that these judges gave as part of another jury, which are reused"
)

JudgeTrials = Mapping[ServerKey, ServerTrial]


@dataclass(frozen=True, slots=True)
class JudgeForecast:
    """The forecast of a run's questions to one judge. Seats that ask it in the same way share its replies."""

    judge: SeatedJudge
    trial: ServerTrial
    forecast: Forecast

    def describe(self) -> list[str]:
        """Return lines for the user."""
        name = self.judge.label
        if not self.forecast.requests and not self.forecast.not_fitting:
            return [f"judge {name}: nothing is left to judge"]
        lines = []
        if self.trial.problem:
            lines.append(f"judge {name} cannot be asked: {self.trial.problem}")
        for line in describe_forecast(self.forecast, self.trial.pace, self.judge.deployment.prices):
            lines.append(f"judge {name}: {line}")
        return lines


async def try_judges(juries: Sequence[Sequence[SeatedJudge]], limits: HttpLimits) -> JudgeTrials:
    """Probe and time each judge's server. An unreachable server does not raise an error."""
    judges: dict[ServerKey, SeatedJudge] = {}
    for jury in juries:
        for judge in jury:
            judges[identify_server(judge.deployment)] = judge
    trials = {}
    for key, judge in judges.items():
        trials[key] = await try_server(judge.deployment, judge.max_in_flight, limits)
    return trials


def forecast_judging(
    plan: Plan, remaining: RemainingWork, trials: JudgeTrials
) -> list[JudgeForecast]:
    """Forecast the questions to each judge of the plan, assuming that every first reply is a valid verdict.

    Answers are assumed to be as long as their references, or as long as allowed if there are none.
    """
    if not plan.jury:
        return []
    use = select_jury_measures(plan.rules)[0].use
    template_length = _measure_template(use)
    longest_answer = round(plan.max_tokens * CHARACTERS_A_TOKEN)
    sizes: dict[int, PromptSize] = {}
    for position, instance in enumerate(plan.instances):
        reference_lengths = [
            len(reference.text) for reference in instance.references if reference.correct
        ]
        answer_length = min(longest_answer, max(reference_lengths, default=longest_answer))
        sizes[position] = _measure_judge_prompt(use, template_length, instance, answer_length)
    return _forecast_judges(read_rubric(use), plan.jury, plan.jury, remaining.judge, sizes, trials)


def forecast_run_judging(
    store: Store, task: JudgingTask, trials: JudgeTrials
) -> list[JudgeForecast]:
    """Forecast the questions about a stored run to each judge that is asked now.

    As in `forecast_judging`, every first reply is assumed to be a valid verdict.
    """
    template_length = _measure_template(task.use)
    sizes: dict[int, PromptSize] = {}
    for stored in store.answers.read_each_instance(task.run.run_id):
        if stored.instance is None or stored.response is None:
            continue
        answer = read_judged_answer(task.rules, stored.response)
        if isinstance(answer, str) and answer.strip():
            sizes[stored.position] = _measure_judge_prompt(
                task.use, template_length, stored.instance, len(answer)
            )
    if task.changed:
        all_positions = frozenset(sizes)
        open_by_seat = [all_positions for _ in task.jury]
    else:
        open_by_seat = find_open_answers(store, task.run.run_id, task.rules)
    rubric = read_rubric(task.use)
    return _forecast_judges(rubric, task.jury, task.asked, open_by_seat, sizes, trials)


def _forecast_judges(
    rubric: Rubric,
    jury: Sequence[SeatedJudge],
    asked: Collection[SeatedJudge],
    open_by_seat: Sequence[frozenset[int]],
    sizes: Mapping[int, PromptSize],
    trials: JudgeTrials,
) -> list[JudgeForecast]:
    """Return one forecast for each judge that is asked; seats that share its replies count once.

    Args:
        rubric: the rubric of the jury, from which the length of a verdict follows.
        jury: all seats.
        asked: the seats that are asked now.
        open_by_seat: positions of the answers that each seat of the jury has yet to judge.
        sizes: prompt sizes by position, without answers that are not shown to judges.
        trials: trials of the judges' servers.
    """
    open_by_judge: dict[JudgeKey, set[int]] = {}
    for judge, positions in zip(jury, open_by_seat, strict=True):
        open_by_judge.setdefault(judge.identity, set()).update(positions)
    judges = {judge.identity: judge for judge in asked}
    forecasts = []
    for key, judge in judges.items():
        open_positions = sorted(open_by_judge[key] & sizes.keys())
        judge_sizes = [sizes[position] for position in open_positions]
        trial = trials[identify_server(judge.deployment)]
        judge_forecast = _forecast_judge(rubric, judge, trial, judge_sizes)
        forecasts.append(JudgeForecast(judge, trial, judge_forecast))
    return forecasts


def _forecast_judge(
    rubric: Rubric, judge: SeatedJudge, trial: ServerTrial, sizes: Sequence[PromptSize]
) -> Forecast:
    window = window_of(judge.deployment, trial.capabilities)
    is_seen_thinking = trial.capabilities is not None and trial.capabilities.thinks
    thinks = judge.deployment.reasoning or is_seen_thinking
    verdict_tokens = limit_verdict_tokens(rubric, window, thinks=thinks)
    budget = prompt_budget(window, verdict_tokens, None)
    return forecast(
        sizes, {}, max_tokens=verdict_tokens, budget=budget, can_shorten=False, thinks=True
    )


def _measure_template(use: MetricUse) -> int:
    """Return the number of characters in a judge's prompt without question, reference and answer."""
    messages = write_judge_messages(use, Matter("", "", ""), _MARKER)
    return sum(len(message.content) for message in messages)


def _measure_judge_prompt(
    use: MetricUse, template_length: int, instance: Instance, answer_length: int
) -> PromptSize:
    characters = template_length + answer_length
    for message in instance.messages:
        characters += len(message.content)
    if use.gold_shown:
        for reference in instance.references:
            if reference.correct:
                characters += len(reference.text)
    # No part of a judge's prompt may be cut, and references do not predict the length of a verdict.
    return PromptSize(
        characters, _MAX_BYTES_A_CHARACTER * characters, fixed=characters, answer=None
    )


def describe_judging(forecasts: Sequence[JudgeForecast], *, other_jury: bool) -> list[str]:
    """Return lines for the user before a run's jury is asked; empty if the run has no jury.

    Args:
        forecasts: forecasts of the run's judges.
        other_jury: whether judges have graded these answers as part of another jury.
    """
    lines = []
    for judge_forecast in forecasts:
        lines += judge_forecast.describe()
    if any(judge_forecast.forecast.requests for judge_forecast in forecasts):
        lines.append(_REPAIRS)
        if other_jury:
            lines.append(_OTHER_JURY)
    return lines


def describe_judging_total(forecasts: Sequence[Sequence[JudgeForecast]]) -> list[str]:
    """Return lines for the user with each judge's total over several runs."""
    by_judge: dict[JudgeKey, list[JudgeForecast]] = {}
    for run_forecasts in forecasts:
        for judge_forecast in run_forecasts:
            by_judge.setdefault(judge_forecast.judge.identity, []).append(judge_forecast)
    lines = []
    for judge_forecasts in by_judge.values():
        total = describe_total(
            [judge_forecast.forecast for judge_forecast in judge_forecasts],
            [judge_forecast.trial.pace for judge_forecast in judge_forecasts],
            [judge_forecast.judge.deployment.prices for judge_forecast in judge_forecasts],
        )
        name = judge_forecasts[0].judge.label
        lines += [f"judge {name}: {line}" for line in total]
    return lines
