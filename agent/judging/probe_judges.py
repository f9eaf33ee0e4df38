"""Probe each server of a jury before the first question."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities, Needs, check_needs
from agent.inference.endpoint import ServerKey, identify_server
from agent.inference.limits import HttpLimits
from agent.inference.replica_probe import probe_deployment
from agent.judging.judge_server import enforces_schema
from agent.judging.jury_selection import SeatedJudge

_UNHELD = "the probe did not show that the server enforces a JSON schema, so verdicts are read from free text"
JudgeCapabilities = Mapping[ServerKey, Capabilities]


async def probe_judges(
    juries: Sequence[Sequence[SeatedJudge]], limits: HttpLimits
) -> JudgeCapabilities:
    """Probe each judge's server once, before anything is asked.

    Raises:
        InferenceError: a judge cannot be reached, lacks a capability that judging needs, or is not a language model.
    """
    judges_by_address: dict[str, dict[ServerKey, list[SeatedJudge]]] = {}
    for jury in juries:
        for judge in jury:
            judges_at_address = judges_by_address.setdefault(judge.deployment.base_url, {})
            judges_at_address.setdefault(identify_server(judge.deployment), []).append(judge)
    probes = [_probe_server(judges, limits) for judges in judges_by_address.values()]
    capabilities: dict[ServerKey, Capabilities] = {}
    for capabilities_of_server in await asyncio.gather(*probes):
        capabilities.update(capabilities_of_server)
    return capabilities


async def _probe_server(
    judges: Mapping[ServerKey, Sequence[SeatedJudge]], limits: HttpLimits
) -> JudgeCapabilities:
    """Probe the judges on one server in turn, because a single probe already sends many concurrent requests."""
    capabilities = {}
    for key, seats in judges.items():
        capabilities[key] = await _probe_judge(seats, limits)
    return capabilities


async def _probe_judge(seats: Sequence[SeatedJudge], limits: HttpLimits) -> Capabilities:
    """Probe the judge that has these seats."""
    judge = seats[0]
    name = judge.deployment.name
    needs = find_needs(seats)
    try:
        capabilities = await probe_deployment(judge.deployment, limits, needs)
        check_needs(capabilities, needs)
    except InferenceError as error:
        fault = str(error).removeprefix(f"deployment {name}: ")
        raise InferenceError(f"judge {name}: {fault}", error.advice) from None
    if not capabilities.language_model:
        raise InferenceError(
            f"judge {name}: the server reports that it is not a language model",
            "A reference baseline cannot be a judge.",
        )
    return capabilities


def find_needs(seats: Iterable[SeatedJudge]) -> Needs:
    """Return the features that the requests of these seats need."""
    judges = [seat.judge for seat in seats]
    return Needs(
        seed=any(judge.seed is not None for judge in judges),
        temperature_zero=any(judge.temperature == 0 for judge in judges),
    )


def describe_judges(jury: Sequence[SeatedJudge], capabilities: JudgeCapabilities) -> list[str]:
    """Return notes about the judges' servers for the user, one sentence each."""
    servers = {}
    seats_by_name: dict[str, list[SeatedJudge]] = {}
    for judge in jury:
        key = identify_server(judge.deployment)
        if key in capabilities:
            servers[judge.deployment.name] = capabilities[key]
            seats_by_name.setdefault(judge.deployment.name, []).append(judge)
    notes = []
    for name, server in servers.items():
        needs = find_needs(seats_by_name[name])
        notes += [f"judge {name}: {note}" for note in check_needs(server, needs)]
    for name, server in servers.items():
        if not enforces_schema(server):
            notes.append(f"judge {name}: {_UNHELD}")
    return notes
