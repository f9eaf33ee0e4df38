"""The forecast of `run --dry-run`: data, time, cost and possible refusal of each planned run."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from agent.catalog.deployments import Prices
from agent.errors import InferenceError
from agent.inference.endpoint import (
    ServerKey,
    describe_deployment,
    identify_server,
    list_addresses,
)
from agent.inference.limits import HttpLimits
from agent.inference.replica_probe import describe_problems
from agent.inference.server_figures import describe_cache, describe_load
from agent.inference.server_groups import group_by_server
from agent.io.plain_text import printable
from agent.io.wording import format_count
from agent.judging.judge_run import select_jury_measures
from agent.judging.jury_selection import (
    describe_equal_judges,
    describe_own_judge,
    is_on_own_jury,
)
from agent.runs.carry_out import list_workarounds
from agent.runs.forecast.cost import Forecast, Pace, apply_seen, describe_forecast, describe_total
from agent.runs.forecast.find_seen import find_seen_answers
from agent.runs.forecast.judging import (
    JudgeForecast,
    JudgeTrials,
    describe_judging,
    describe_judging_total,
    forecast_judging,
    try_judges,
)
from agent.runs.forecast.remaining import RemainingWork, find_remaining
from agent.runs.forecast.trial import ServerTrial, forecast_plan, try_servers
from agent.runs.plan import Plan
from agent.site.directory import Site
from agent.site.http_limits import http_limits


@dataclass(frozen=True, slots=True)
class PlanForecast:
    """The forecast of one planned run.

    Attributes:
        remaining: the requests that have not been answered yet.
        pace: the pace of the model's server; None if it could not be timed.
        judging: one forecast for each judge of its jury.
    """

    plan: Plan
    remaining: RemainingWork
    asking: Forecast
    pace: Pace | None
    judging: Sequence[JudgeForecast]

    @property
    def prices(self) -> Prices | None:
        """The prices of the model's deployment."""
        return self.plan.deployment.prices


def print_forecasts(site: Site, plans: Sequence[Plan], *, no_judging: bool) -> None:
    """Print the data, cost and time of each plan.

    Raises:
        InferenceError: a server lacks a feature that its run needs; raised after all plans are printed.
    """
    limits = http_limits(site)
    servers = asyncio.run(try_servers(plans, limits))
    judges = asyncio.run(try_judges([plan.jury for plan in plans], limits))
    forecasts: list[PlanForecast] = []
    refusals: list[InferenceError] = []
    said: set[str] = set()
    for problem in _describe_replicas(plans, {**judges, **servers}):
        click.echo(f"note: {printable(problem)}", err=True)
    for plan in plans:
        _print_plan(plan, said)
        server = servers[identify_server(plan.deployment)]
        forecast = _forecast_plan(site, plan, server, judges, limits)
        forecasts.append(forecast)
        refusal = _find_refusal(plan, server)
        if refusal is not None:
            refusals.append(refusal)
        lines = _describe_asking(forecast)
        lines += _describe_server(plan, server, refusal)
        lines += _describe_judging(forecast, no_judging=no_judging)
        for line in lines:
            if line not in said:
                click.echo(f"  {line}")
            if line.startswith("note: "):
                said.add(line)
    if len(forecasts) > 1:
        silent = [_name_problem(plan, servers[identify_server(plan.deployment)]) for plan in plans]
        _print_total(forecasts, [problem for problem in dict.fromkeys(silent) if problem])
    if refusals:
        reasons = "; ".join(dict.fromkeys(map(str, refusals)))
        raise InferenceError(f"a run would be refused: {reasons}", refusals[0].advice)


def _describe_replicas(plans: Sequence[Plan], trials: Mapping[ServerKey, ServerTrial]) -> list[str]:
    """Return a sentence about each replica of a model or judge that a run would not ask."""
    problems: list[str] = []
    for plan in plans:
        for deployment in (plan.deployment, *(seat.deployment for seat in plan.jury)):
            capabilities = trials[identify_server(deployment)].capabilities
            if capabilities is not None:
                problems += describe_problems(deployment, capabilities)
    return list(dict.fromkeys(problems))


def _print_plan(plan: Plan, said: set[str]) -> None:
    """Print the data of a plan. Notes in `said` are not repeated."""
    if plan.data_note and plan.data_note not in said:
        click.echo(f"note: {plan.data_note}", err=True)
        said.add(plan.data_note)
    click.echo(
        f"{plan.name}  {len(plan.instances)} of {plan.available} instances ({plan.dataset.known} data), "
        f"at most {plan.max_tokens} tokens per answer"
    )


def _forecast_plan(
    site: Site, plan: Plan, server: ServerTrial, judges: JudgeTrials, limits: HttpLimits
) -> PlanForecast:
    with site.store() as store:
        remaining = find_remaining(store, plan, server.capabilities)
        asking = asyncio.run(forecast_plan(plan, remaining.ask, server.capabilities, limits))
        asking = apply_seen(asking, find_seen_answers(store, plan), plan.max_in_flight)
        judging = asyncio.run(forecast_judging(store, plan, remaining, judges, limits))
    return PlanForecast(
        plan=plan, remaining=remaining, asking=asking, pace=server.pace, judging=judging
    )


def _describe_asking(forecast: PlanForecast) -> list[str]:
    lines = describe_forecast(forecast.asking, forecast.pace, forecast.prices)
    planned = len(forecast.plan.instances)
    not_asked = planned - len(forecast.remaining.ask)
    if not_asked:
        lines.append(
            f"{format_count(not_asked, 'instance')} of {planned:,} not asked: stored, or identical to another"
        )
    return lines


def _find_refusal(plan: Plan, server: ServerTrial) -> InferenceError | None:
    """Return the error with which the run would be refused, if the server lacks a required feature."""
    if server.capabilities is None:
        return None
    try:
        list_workarounds(plan, server.capabilities)
    except InferenceError as error:
        return error
    return None


def _describe_server(plan: Plan, server: ServerTrial, refusal: InferenceError | None) -> list[str]:
    """Return lines with the reason for a missing duration, and the features that the server lacks.

    Each line names the deployment: of several runs, the note of one is not known by its place.
    """
    name = describe_deployment(plan.deployment)
    lines = []
    if server.problem:
        problem = _name_problem(plan, server)
        lines.append(f"no expected duration, and prompts were not counted: {problem}")
    if server.figures is not None:
        figures = filter(None, [describe_load(server.figures), describe_cache(server.figures)])
        lines += [f"{name}: {line}" for line in figures]
    if refusal is not None:
        lines.append(f"would be refused: {refusal}")
    elif server.capabilities is not None:
        workarounds = list_workarounds(plan, server.capabilities)
        lines += [f"note: {name}: {workaround}" for workaround in workarounds]
    return lines


def _name_problem(plan: Plan, server: ServerTrial) -> str:
    """Return why a server could not be timed, with its deployment's name; empty if it was timed."""
    name = describe_deployment(plan.deployment)
    if not server.problem or name in server.problem:
        return server.problem
    return f"{name}: {server.problem}"


def _describe_judging(forecast: PlanForecast, *, no_judging: bool) -> list[str]:
    plan = forecast.plan
    lines = describe_judging(forecast.judging, other_jury=forecast.remaining.other_jury)
    if select_jury_measures(plan.rules) and not plan.jury:
        lines.append(
            "judging is postponed"
            if no_judging
            else "no jury: answers are stored without being judged"
        )
    if is_on_own_jury(plan.deployment.name, plan.jury):
        lines.append(f"note: {describe_own_judge(plan.deployment.name)}")
    deployments = {seat.deployment.name: seat.deployment for seat in plan.jury}
    judges = [seat.judge for seat in plan.jury]
    lines += [f"note: {warning}" for warning in describe_equal_judges(judges, deployments)]
    return lines


def _print_total(forecasts: Sequence[PlanForecast], problems: Sequence[str]) -> None:
    """Print the sum of all runs, and first why it has no duration: the problem of each server that did not answer."""
    click.echo(f"all {len(forecasts)} runs")
    lines = describe_total(
        [forecast.asking for forecast in forecasts],
        [forecast.pace for forecast in forecasts],
        [forecast.prices for forecast in forecasts],
        group_by_server([list_addresses(forecast.plan.deployment) for forecast in forecasts]),
    )
    lines += describe_judging_total([forecast.judging for forecast in forecasts])
    for line in (*(f"no expected duration: {problem}" for problem in problems), *lines):
        click.echo(f"  {line}")
