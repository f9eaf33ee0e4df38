"""Forecast the questions to each judge of a jury before the jury is asked.

A judge inside the hospital counts the tokens of a sample of its prompts; it will see these texts anyway. A judge
outside is sent no text of an instance: it counts the tokens of the prompt without them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from agent.inference.endpoint import ServerKey, identify_server
from agent.inference.limits import HttpLimits
from agent.inference.window import prompt_budget, window_of
from agent.judging.judge_run import select_jury_measures
from agent.judging.judge_suite import JudgingTask
from agent.judging.jury_selection import JudgeKey, SeatedJudge
from agent.jury.prompts import Matter, build_matter, write_judge_messages
from agent.jury.rubric import Rubric, read_rubric
from agent.jury.verdict_limits import estimate_verdict_tokens, limit_verdict_tokens
from agent.metrics import MetricUse
from agent.runs.forecast.cost import (
    CHARACTERS_A_TOKEN,
    Forecast,
    PromptSize,
    apply_seen,
    describe_forecast,
    describe_times,
    describe_total,
    estimate_seconds,
    forecast,
)
from agent.runs.forecast.find_seen import find_seen_answers, find_seen_judgements
from agent.runs.forecast.remaining import RemainingWork, find_open_answers
from agent.runs.forecast.trial import SAMPLED, ServerTrial, count_prompts, try_server
from agent.runs.plan import Plan
from agent.scoring.jury_scores import read_judged_answer
from agent.statistics.prediction import Range
from agent.store import Store
from agent.vocabulary import Instance, Message

_MARKER = "0123456789abcdef"  # as long as a real marker, which is random
_MAX_BYTES_A_CHARACTER = 4  # in UTF-8
_FILLER = "The answer is as long as this. "  # stands for an answer that is yet to be given
_SHORTEST_VERDICT = (
    3  # a verdict may be this many times shorter than one with a sentence or two for each text
)
_CORRECTIONS = "not included: corrections by judges whose first reply is not a valid verdict; how many is not known yet"
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


@dataclass(frozen=True, slots=True)
class _JudgePrompts:
    """The prompts about all answers of a run.

    Attributes:
        use: the jury's metric.
        benchmark: the benchmark's name.
        template_length: characters of a prompt without question, reference and answer.
        step: distance between two prompts of the sample.
        sizes: prompt sizes by position, without answers that are not shown to judges.
        sample: the texts of some of these prompts, by position.
    """

    use: MetricUse
    benchmark: str
    template_length: int
    step: int
    sizes: dict[int, PromptSize] = field(default_factory=dict)
    sample: dict[int, Matter] = field(default_factory=dict)

    @classmethod
    def begin(cls, use: MetricUse, benchmark: str, answers: int) -> Self:
        """Return the prompts about so many answers, none of which has been added yet."""
        return cls(use, benchmark, _measure_template(use), step=max(1, answers // SAMPLED))

    def add(self, position: int, instance: Instance, answer_length: int, answer: str = "") -> None:
        """Add the prompt about an answer; `answer` is empty if it is yet to be given."""
        self.sizes[position] = _measure_judge_prompt(
            self.use, self.template_length, instance, answer_length
        )
        if position % self.step == 0 and len(self.sample) < SAMPLED:
            stand_in = (_FILLER * (answer_length // len(_FILLER) + 1))[:answer_length]
            self.sample[position] = build_matter(instance, answer or stand_in)


async def forecast_judging(
    store: Store, plan: Plan, remaining: RemainingWork, trials: JudgeTrials, limits: HttpLimits
) -> list[JudgeForecast]:
    """Forecast the questions to each judge of the plan.

    Answers are assumed to be as long as those that were seen, else as their references, or as long as allowed.
    """
    if not plan.jury:
        return []
    use = select_jury_measures(plan.rules)[0].use
    seen = find_seen_answers(store, plan)
    usual_answer = round(plan.max_tokens * CHARACTERS_A_TOKEN)
    if seen is not None:
        usual_answer = round(seen.completion_tokens.mean * CHARACTERS_A_TOKEN)
    prompts = _JudgePrompts.begin(use, plan.benchmark.id, len(plan.instances))
    for position, instance in enumerate(plan.instances):
        reference_lengths = [
            len(reference.text) for reference in instance.references if reference.correct
        ]
        answer_length = usual_answer
        if reference_lengths and seen is None:
            answer_length = min(usual_answer, max(reference_lengths))
        prompts.add(position, instance, answer_length)
    return await _forecast_judges(
        store, prompts, plan.jury, plan.jury, remaining.judge, trials, limits
    )


async def forecast_run_judging(
    store: Store, task: JudgingTask, trials: JudgeTrials, limits: HttpLimits
) -> list[JudgeForecast]:
    """Forecast the questions about a stored run to each judge that is asked now."""
    answers = store.answers.count_instances(task.run.run_id)
    prompts = _JudgePrompts.begin(task.use, task.run.benchmark, answers)
    for stored in store.answers.read_each_instance(task.run.run_id):
        if stored.instance is None or stored.response is None:
            continue
        answer = read_judged_answer(task.rules, stored.response)
        if isinstance(answer, str) and answer.strip():
            prompts.add(stored.position, stored.instance, len(answer), answer)
    if task.changed:
        all_positions = frozenset(prompts.sizes)
        open_by_seat = [all_positions for _ in task.jury]
    else:
        open_by_seat = find_open_answers(store, task.run.run_id, task.rules)
    return await _forecast_judges(
        store, prompts, task.jury, task.asked, open_by_seat, trials, limits
    )


async def _forecast_judges(
    store: Store,
    prompts: _JudgePrompts,
    jury: Sequence[SeatedJudge],
    asked: Collection[SeatedJudge],
    open_by_seat: Sequence[frozenset[int]],
    trials: JudgeTrials,
    limits: HttpLimits,
) -> list[JudgeForecast]:
    """Return one forecast for each judge that is asked; seats that share its replies count once.

    Args:
        store: the store with earlier judgements.
        prompts: the prompts about all answers.
        jury: all seats.
        asked: the seats that are asked now.
        open_by_seat: positions of the answers that each seat of the jury has yet to judge.
        trials: trials of the judges' servers.
        limits: limits for counting.
    """
    open_by_judge: dict[JudgeKey, set[int]] = {}
    for judge, open_positions in zip(jury, open_by_seat, strict=True):
        open_by_judge.setdefault(judge.identity, set()).update(open_positions)
    judges = {judge.identity: judge for judge in asked}
    forecasts: list[JudgeForecast] = []
    for key, judge in judges.items():
        positions = sorted(open_by_judge[key] & prompts.sizes.keys())
        trial = trials[identify_server(judge.deployment)]
        judge_forecast = await _forecast_judge(prompts, positions, judge, trial, limits)
        seen = find_seen_judgements(store, judge, prompts.benchmark, prompts.use)
        judge_forecast = apply_seen(judge_forecast, seen, judge.max_in_flight)
        forecasts.append(JudgeForecast(judge, trial, judge_forecast))
    return forecasts


async def _forecast_judge(
    prompts: _JudgePrompts,
    positions: Sequence[int],
    judge: SeatedJudge,
    trial: ServerTrial,
    limits: HttpLimits,
) -> Forecast:
    """Forecast the questions about the answers at these positions, without earlier judgements."""
    window = window_of(judge.deployment, trial.capabilities)
    rubric = read_rubric(prompts.use)
    thinks = _is_thinking(judge, trial)
    verdict_tokens = limit_verdict_tokens(rubric, window, thinks=thinks)
    counts: dict[int, int] = {}
    characters_a_token = CHARACTERS_A_TOKEN
    if judge.outside:
        characters_a_token = await _measure_token(prompts.use, judge, trial, limits)
    elif positions:
        counts = await _count_sample(prompts, positions, judge, trial, limits)
    return forecast(
        [prompts.sizes[position] for position in positions],
        counts,
        max_tokens=verdict_tokens,
        budget=prompt_budget(window, verdict_tokens, None),
        can_shorten=False,
        thinks=True,  # references do not predict the length of a verdict
        characters_a_token=characters_a_token,
        least_tokens=_estimate_shortest_verdict(rubric),
    )


def _is_thinking(judge: SeatedJudge, trial: ServerTrial) -> bool:
    is_seen_thinking = trial.capabilities is not None and trial.capabilities.thinks
    return judge.deployment.reasoning or is_seen_thinking


def _estimate_shortest_verdict(rubric: Rubric) -> int:
    return estimate_verdict_tokens(rubric) // _SHORTEST_VERDICT


async def _count_sample(
    prompts: _JudgePrompts,
    positions: Sequence[int],
    judge: SeatedJudge,
    trial: ServerTrial,
    limits: HttpLimits,
) -> dict[int, int]:
    """Return the tokens of sampled prompts, by their index in `positions`."""
    texts: dict[int, Sequence[Message]] = {}
    for index, position in enumerate(positions):
        if position in prompts.sample:
            texts[index] = write_judge_messages(prompts.use, prompts.sample[position], _MARKER)
    if trial.capabilities is None or not texts:
        return {}
    return await count_prompts(
        judge.deployment, texts, judge.max_in_flight, trial.capabilities, limits
    )


async def _measure_token(
    use: MetricUse, judge: SeatedJudge, trial: ServerTrial, limits: HttpLimits
) -> float:
    """Return the characters of a token in a judge's prompt without any text of an instance."""
    if trial.capabilities is None:
        return CHARACTERS_A_TOKEN
    messages = write_judge_messages(use, Matter("", "", ""), _MARKER)
    counts = await count_prompts(judge.deployment, {0: messages}, 1, trial.capabilities, limits)
    return (
        sum(len(message.content) for message in messages) / counts[0]
        if counts
        else CHARACTERS_A_TOKEN
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
    asked = [each for each in forecasts if each.forecast.requests]
    if len(asked) > 1:
        lines += describe_times("judging", estimate_judging_seconds(asked))
    if any(each.forecast.corrections is None for each in asked):
        lines.append(_CORRECTIONS)
    if asked and other_jury:
        lines.append(_OTHER_JURY)
    return lines


def estimate_judging_seconds(forecasts: Sequence[JudgeForecast]) -> Range | None:
    """Return the time of all judges, which are asked at once; None unless it is known for each.

    Judges on one server share its places, so their times add up.
    """
    by_address: dict[str, Range] = {}
    for each in forecasts:
        seconds = estimate_seconds(each.forecast, each.trial.pace)
        if seconds is None:
            return None
        address = each.judge.deployment.base_url
        by_address[address] = by_address.get(address, Range(0.0, 0.0)) + seconds
    if not by_address:
        return None
    times = by_address.values()
    return Range(max(time.low for time in times), max(time.high for time in times))


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
