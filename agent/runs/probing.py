"""Probe a deployment on request, outside a run, and keep what was found."""

import asyncio
import time
from dataclasses import replace

from agent.catalog.deployments import Deployment
from agent.errors import AgentError, InferenceError
from agent.inference.capabilities import Capabilities
from agent.inference.kept_probes import KeptProbe, write_probe
from agent.inference.replica_probe import probe_deployment
from agent.runs.plan import check_reachable
from agent.site.directory import Site
from agent.site.http_limits import http_limits

_ATTEMPT_S = 60.0  # shorter than the limit of runs, because a person is waiting
_ALL_S = 180.0


def probe_and_keep(site: Site, deployment: Deployment) -> KeptProbe:
    """Probe a deployment's servers and keep the outcome, also if they cannot be used.

    Raises:
        StoreError: the outcome cannot be written.
    """
    try:
        capabilities = asyncio.run(_probe(site, deployment))
        probe = KeptProbe(deployment.name, time.time(), capabilities)
    except AgentError as error:
        problem = str(error).removeprefix(f"deployment {deployment.name}: ")
        probe = KeptProbe(deployment.name, time.time(), problem=f"{problem}. {error.advice}")
    write_probe(site.probes, probe)
    return probe


async def _probe(site: Site, deployment: Deployment) -> Capabilities:
    limits = http_limits(site)
    limits = replace(
        limits,
        first_attempt_timeout_s=min(_ATTEMPT_S, limits.first_attempt_timeout_s),
        attempt_timeout_s=min(_ATTEMPT_S, limits.attempt_timeout_s),
        max_attempts=1,
    )
    reachable = check_reachable(deployment, site)
    try:
        async with asyncio.timeout(_ALL_S):
            return await probe_deployment(reachable, limits)
    except TimeoutError:
        raise InferenceError(
            f"the probe did not end within {_ALL_S:.0f} seconds", "Look at the server's log."
        ) from None
