"""Probe replicas that did not answer before a run again, while the others are asked, and let them take part then."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from agent.errors import ConfigError
from agent.inference.capabilities import Capabilities
from agent.inference.endpoint import Endpoint
from agent.inference.limits import HttpLimits
from agent.inference.replica_probe import find_misfit
from agent.inference.replicas import Replica, ReplicaPool

_PROBED_WITHIN_S = 30.0  # for one reply; a server that is still loading is tried again later
_LOOK_AGAIN_S = 0.5


@asynccontextmanager
async def readmit_replicas(
    deployment: Endpoint,
    capabilities: Capabilities | None,
    pool: ReplicaPool,
    limits: HttpLimits,
) -> AsyncIterator[None]:
    """Within this context, probe each replica of the pool that must be probed, after growing waits.

    Args:
        deployment: the servers and their model.
        capabilities: what the replicas in use honour together; None if nothing was probed.
        pool: the replicas; one that can be asked like the others gets requests at once.
        limits: limits of time.
    """
    if capabilities is None or not pool.list_unprobed():
        yield
        return
    patience_s = min(_PROBED_WITHIN_S, limits.attempt_timeout_s)
    limits = replace(
        limits, max_attempts=1, attempt_timeout_s=patience_s, first_attempt_timeout_s=patience_s
    )
    probing = asyncio.create_task(_probe_when_due(deployment, capabilities, pool, limits))
    try:
        yield
    finally:
        probing.cancel()
        await asyncio.gather(probing, return_exceptions=True)


async def _probe_when_due(
    deployment: Endpoint, capabilities: Capabilities, pool: ReplicaPool, limits: HttpLimits
) -> None:
    while unprobed := pool.list_unprobed():
        now = time.monotonic()
        for replica in unprobed:
            if now >= replica.health.due:
                await _probe_again(deployment, capabilities, replica, limits)
        await asyncio.sleep(_LOOK_AGAIN_S)


async def _probe_again(
    deployment: Endpoint, capabilities: Capabilities, replica: Replica, limits: HttpLimits
) -> None:
    try:
        misfit = await find_misfit(deployment, replica.url, limits, capabilities)
    except ConfigError:
        misfit = None  # its token file or CA bundle is being replaced
    if misfit is None:
        replica.health.note_failed_probe()
    elif misfit:
        replica.health.reject(misfit)
    else:
        replica.health.admit()
