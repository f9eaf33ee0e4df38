"""The site's deployments as pages list them: who serves them, and what is known without asking a server."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from agent.catalog.deployments import Deployment, read_deployments
from agent.errors import AgentError
from agent.inference.capabilities import Capabilities
from agent.inference.kept_probes import KeptProbe, read_probe
from agent.model_servers.running import RunningServer, list_running
from agent.service.capability_words import summarise_features
from agent.service.web.service import Desk
from agent.store import Run


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One deployment.

    Attributes:
        served_by: "this site" for a managed server, else "another program".
        state: in words, what is known without asking the server now.
        probed: what the newest probe found, in a few words; empty if there was none.
        age: how long ago that was, in words; empty if there was none.
        has_failed: whether the newest probe could not be done.
        is_usable: whether the agent can use the deployment, as far as its file tells.
        is_resting: whether it is a server of this site's own that does not run now.
        runs: number of stored runs.
    """

    deployment: str
    model: str
    served_by: str
    state: str
    probed: str
    age: str
    has_failed: bool
    is_usable: bool
    is_resting: bool
    runs: int


@dataclass(frozen=True, slots=True)
class Models:
    """All deployments in the order of their file, and the faults of that file, if it cannot be read."""

    lines: tuple[ModelLine, ...]
    faults: tuple[str, ...] = ()


def read_models(desk: Desk) -> Models:
    """Return the deployments. No server is asked."""
    try:
        deployments = read_deployments(desk.site.deployments)
    except AgentError as error:
        return Models((), list_file_faults(desk, error))
    runs = desk.store.runs.select()
    running = {server.deployment: server for server in list_running(desk.site.servers)}
    return Models(
        tuple(
            _build_line(desk, name, deployment, running, runs)
            for name, deployment in deployments.items()
        )
    )


def list_file_faults(desk: Desk, error: AgentError) -> tuple[str, ...]:
    """Return the faults of a file of the site, without the folders of this machine."""
    return tuple(str(error).replace(f"{desk.site.directory}/", "").splitlines())


def find_newest_probe(desk: Desk, deployment: str, runs: list[Run]) -> KeptProbe | None:
    """Return the newest outcome of a probe, sent from a page or before a run; None if there was none."""
    kept = read_probe(desk.site.probes, deployment)
    for run in runs:
        if run.deployment != deployment or run.imported or not run.details.capabilities:
            continue
        if kept is None or run.started_at > kept.probed_at:
            capabilities = _read_capabilities(run.details.capabilities)
            if capabilities is not None:
                kept = KeptProbe(deployment, run.started_at, capabilities)
    return kept


def _read_capabilities(value: Mapping[str, object]) -> Capabilities | None:
    """Return what a run kept of its probe; None if another version kept it otherwise."""
    try:
        return Capabilities.from_json(value)
    except ValueError:
        return None


def _build_line(
    desk: Desk,
    name: str,
    deployment: Deployment,
    running: Mapping[str, RunningServer],
    runs: list[Run],
) -> ModelLine:
    probe = find_newest_probe(desk, name, runs)
    return ModelLine(
        deployment=name,
        model=deployment.model_name,
        served_by="this site" if deployment.managed else "another program",
        state=_describe_deployment(deployment, probe, is_running=name in running),
        probed=_describe_probe(probe),
        age="" if probe is None else describe_age(time.time() - probe.probed_at),
        has_failed=probe is not None and bool(probe.problem),
        is_usable=deployment.problem is None,
        is_resting=deployment.managed is not None and name not in running,
        runs=sum(run.deployment == name for run in runs),
    )


def _describe_deployment(
    deployment: Deployment, probe: KeptProbe | None, *, is_running: bool
) -> str:
    if deployment.problem:
        return deployment.problem
    if deployment.managed is not None:
        return "runs" if is_running else "is started for a run"
    if probe is None:
        return "not asked yet"
    return "answered" if probe.capabilities is not None else "did not answer"


def _describe_probe(probe: KeptProbe | None) -> str:
    if probe is None:
        return ""
    if probe.capabilities is None:
        return "could not be probed"
    return summarise_features(probe.capabilities)


def describe_age(seconds: float) -> str:
    """Return how long ago something was, in words: "5 minutes ago"."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        count = int(seconds // length)
        if count >= 1:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"
