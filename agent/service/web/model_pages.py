"""The pages of models: all deployments, and one with what its servers can do, its log, and the form that probes it."""

import time
from typing import Final
from urllib.parse import quote

from starlette.responses import Response

from agent.access.roles import Action
from agent.catalog.deployments import Deployment, read_deployments
from agent.errors import AgentError, ConfigError
from agent.inference.endpoint import list_addresses
from agent.io.plain_text import printable
from agent.io.wording import format_count
from agent.model_servers.running import ServerFolder
from agent.runs.probing import probe_and_keep
from agent.service.capability_words import list_features, summarise_features
from agent.service.web.call import Call
from agent.service.web.model_lines import (
    describe_age,
    find_newest_probe,
    list_file_faults,
    read_models,
)
from agent.service.web.service import Desk

PATH: Final = "/models/{deployment:path}"
_LOG_SHOWN: Final = 16 * 1024  # bytes at the end of a server's log


def list_models(desk: Desk, call: Call) -> Response:
    """Show the deployments."""
    return desk.draw(
        "models.html",
        call,
        models=read_models(desk),
        can_probe=call.signed_in.can_enter(Action.PROBE_MODELS),
    )


def show_model(desk: Desk, call: Call) -> Response:
    """Show one deployment."""
    caller = call.signed_in
    deployment = _find_deployment(desk, call)
    runs = [run for run in desk.store.runs.select() if run.deployment == deployment.name]
    probe = find_newest_probe(desk, deployment.name, runs)
    capabilities = None if probe is None else probe.capabilities
    folder = ServerFolder.find(desk.site.servers, deployment.name)
    running = folder.read() if deployment.managed else None
    return desk.draw(
        "model.html",
        call,
        deployment=deployment,
        facts=_list_facts(deployment),
        running=running,
        running_for=describe_age(time.time() - running.started_at) if running else "",
        probe=probe,
        probe_age="" if probe is None else describe_age(time.time() - probe.probed_at),
        capabilities=capabilities,
        summary="" if capabilities is None else summarise_features(capabilities),
        features=[] if capabilities is None else list(list_features(capabilities)),
        runs=len(runs),
        log=_read_log(folder) if caller.can_enter(Action.VIEW_HEALTH) else "",
        can_probe=caller.can_enter(Action.PROBE_MODELS) and _is_askable(deployment, running),
        can_queue=caller.can_enter(Action.QUEUE_JOBS),
    )


def probe(desk: Desk, call: Call) -> Response:
    """Send the capability probe to a deployment's servers, and keep what was found."""
    deployment = _find_deployment(desk, call)
    account = call.signed_in.account.account_id
    with desk.service.probing.begin(deployment.name):
        desk.store.audit.record("model probed", f"deployment={deployment.name}", by=account)
        probe_and_keep(desk.site, deployment)
    return desk.confirm(call, f"/models/{quote(deployment.name)}", "The probe has ended.")


def _find_deployment(desk: Desk, call: Call) -> Deployment:
    """Return the deployment of a route. Raises ConfigError."""
    try:
        deployments = read_deployments(desk.site.deployments)
    except AgentError as error:
        faults = "; ".join(list_file_faults(desk, error))
        raise ConfigError(faults, "Correct the file on the site's own machine.") from None
    deployment = deployments.get(call.path["deployment"])
    if deployment is None:
        raise ConfigError("there is no such deployment", "Choose one from the list of models.")
    return deployment


def _is_askable(deployment: Deployment, running: object) -> bool:
    return deployment.problem is None and (deployment.managed is None or running is not None)


def _list_facts(deployment: Deployment) -> dict[str, str]:
    """Return what model_deployments.yaml says, without addresses and files of this machine."""
    managed = deployment.managed
    prices = deployment.prices
    servers = (
        ""
        if managed or deployment.problem
        else format_count(len(list_addresses(deployment)), "server")
    )
    facts = {
        "Model": deployment.model_name,
        "Served by": f"this site, with {managed.engine}" if managed else "another program",
        "Name at the server": deployment.served_model,
        "Servers": servers,
        "Reasons before it answers": "yes" if deployment.reasoning else "no",
        "Longest prompt and answer": f"{deployment.max_sequence_length:,} tokens"
        if deployment.max_sequence_length
        else "",
        "Requests at a time": str(deployment.max_in_flight or ""),
        "Token": "set" if deployment.token_file else "none",
        "Prices": "set" if prices else "not set, so no cost is computed",
    }
    return {name: words for name, words in facts.items() if words}


def _read_log(folder: ServerFolder) -> str:
    """Return the end of what a server that this site started wrote; empty if there is nothing.

    Engines are started so that they write no prompts and no answers.
    """
    try:
        with folder.log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _LOG_SHOWN))
            content = file.read()
    except OSError:
        return ""
    if size > _LOG_SHOWN:
        content = content.partition(b"\n")[2]
    return printable(content.decode("utf-8", "replace"))
