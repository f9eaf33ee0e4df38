"""Meeting the judges: each server of a jury is probed before anything is asked of it."""

import asyncio
from collections.abc import Mapping, Sequence

from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities, Needs, check_needs
from agent.inference.limits import HttpLimits
from agent.inference.probe import probe
from agent.judging.jury_selection import SeatedJudge

_UNHELD = "its server was not seen to hold replies to a JSON schema, so verdicts are read from whatever it writes"
JudgeCapabilities = Mapping[tuple[str, str], Capabilities]  # what each judge's server honours


def identify_server(judge: SeatedJudge) -> tuple[str, str]:
    """Return what seats share that ask the same model of the same server."""
    return judge.deployment.name, judge.deployment.served_model


async def probe_judges(juries: Sequence[Sequence[SeatedJudge]], limits: HttpLimits) -> JudgeCapabilities:
    """Probe each judge's server once, before anything is asked.

    Raises:
        InferenceError: a judge cannot be reached, lacks what judging needs, or is no language model.
    """
    servers: dict[str, dict[tuple[str, str], SeatedJudge]] = {}
    for judge in (judge for jury in juries for judge in jury):
        servers.setdefault(judge.deployment.base_url, {})[identify_server(judge)] = judge
    found = await asyncio.gather(*(_meet_all(judges, limits) for judges in servers.values()))
    return {key: capabilities for server in found for key, capabilities in server.items()}


async def _meet_all(judges: Mapping[tuple[str, str], SeatedJudge], limits: HttpLimits) -> JudgeCapabilities:
    """Meet the judges of one server, one after the other: a probe is many requests at once already."""
    return {key: await _meet(judge, limits) for key, judge in judges.items()}


async def _meet(judge: SeatedJudge, limits: HttpLimits) -> Capabilities:
    name = judge.deployment.name
    try:
        found = await probe(judge.deployment, limits)
        check_needs(found, Needs())
    except InferenceError as error:
        said = str(error).removeprefix(f"deployment {name}: ")
        raise InferenceError(f"judge {name}: {said}", error.advice) from None
    if not found.language_model:
        raise InferenceError(
            f"judge {name}: the server says that it is no language model", "A reference baseline cannot be a judge."
        )
    return found


def describe_judges(jury: Sequence[SeatedJudge], found: JudgeCapabilities) -> list[str]:
    """Return what a person should know of the judges' servers, each a sentence."""
    met = {judge.deployment.name: found[identify_server(judge)] for judge in jury if identify_server(judge) in found}
    notes = [f"judge {name}: {note}" for name, seen in met.items() for note in check_needs(seen, Needs())]
    unheld = [f"judge {name}: {_UNHELD}" for name, seen in met.items() if seen.state("json_schema") != "honoured"]
    return [*notes, *unheld]
