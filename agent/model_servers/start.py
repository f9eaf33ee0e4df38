"""Start a deployment's server, wait until it answers, and stop it."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from agent.catalog.deployments import Deployment
from agent.catalog.model_server import ModelServer
from agent.errors import ConfigError, InferenceError
from agent.io.atomic_files import lock_folder, write_atomically
from agent.model_servers.chat_templates import read_chat_template
from agent.model_servers.engines import describe_start
from agent.model_servers.failures import explain_failure
from agent.model_servers.loopback import ADDRESS, choose_port, is_ready
from agent.model_servers.running import RunningServer, ServerFolder, read_begin
from agent.model_servers.weights import check_weights, compute_server_digest, stamp_weights
from agent.monitoring.events import ModelServerFailed, ModelServerStarted, ModelServerStopped
from agent.monitoring.log import log_event

if TYPE_CHECKING:
    from agent.site.directory import Site

READY_S = 900.0  # the first start of a large model takes minutes
_ASK_EVERY_S = 0.2
_STOP_S = 40.0  # longer than the guardian's patience with an engine
_GUARDIAN = (sys.executable, "-P", "-m", "agent.model_servers.guardian")
Waiting = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class _Started:
    server: RunningServer
    port: int
    guardian: "subprocess.Popen[bytes]"


def resolve_managed(deployment: Deployment, site: "Site") -> Deployment:
    """Return a managed deployment with the address, the token and the weights' digest of its running server.

    Other deployments stay as they are.

    Raises:
        ConfigError: its server does not run, or its weights or chat template have changed since it was started.
    """
    if deployment.managed is None:
        return deployment
    folder = ServerFolder.find(site.servers, deployment.name)
    running = folder.read()
    if running is None:
        raise ConfigError(
            f"deployment {deployment.name}: its server does not run",
            f"Start it with `intramural models serve {deployment.name} --background`, or add --serve "
            f"{deployment.name} to `run`.",
        )
    digest = compute_server_digest(deployment.managed, site.servers)
    if digest != running.weights:
        raise ConfigError(
            f"deployment {deployment.name}: its weights or its chat template have changed since its server was started",
            f"Run `intramural models stop {deployment.name}`, and start it again to serve what is there now.",
        )
    managed = replace(deployment.managed, digest=digest)
    return replace(deployment, base_url=running.address, token_file=folder.token, managed=managed)


def start_in_background(site: "Site", deployment: Deployment, waiting: Waiting) -> RunningServer:
    """Start the server so that it outlives this command, and return it once it answers.

    Raises:
        ConfigError: the deployment is not managed, its engine is not installed, or its weights cannot be used.
        InferenceError: the server runs already, or does not become ready.
    """
    return _start(site, deployment, waiting, outlives=True).server


@contextmanager
def serve(site: "Site", deployment: Deployment, waiting: Waiting) -> Iterator[RunningServer]:
    """Start the server, and stop it at the end of the block, or when this process ends in any way.

    Raises:
        ConfigError, InferenceError: see `start_in_background`.
    """
    started = _start(site, deployment, waiting, outlives=False)
    try:
        yield started.server
    finally:
        _end_guardian(started.guardian)
        ServerFolder.find(site.servers, deployment.name).forget()
        log_event(ModelServerStopped(deployment.name))


def stop(site: "Site", name: str) -> bool:
    """Stop a running server; return False if there is none of this name.

    Raises:
        InferenceError: it does not end.
    """
    folder = ServerFolder.find(site.servers, name)
    running = folder.read()
    if running is None:
        return False
    with suppress(ProcessLookupError):
        os.kill(running.guardian, signal.SIGTERM)
    until = time.monotonic() + _STOP_S
    while running.is_alive():
        if time.monotonic() > until:
            raise InferenceError(
                f"the server of {name} does not end", f"End process {running.guardian} by hand."
            )
        time.sleep(_ASK_EVERY_S)
    folder.forget()
    log_event(ModelServerStopped(name))
    return True


def _start(site: "Site", deployment: Deployment, waiting: Waiting, *, outlives: bool) -> _Started:
    managed = deployment.managed
    if managed is None:
        raise ConfigError(
            f"deployment {deployment.name} has no model_server, so the agent cannot start its server",
            "Add model_server with engine and weights to it in model_deployments.yaml.",
        )
    check_weights(managed, deployment.name)
    stamp = stamp_weights(managed.weights)
    compute_server_digest(managed, site.servers)  # takes minutes, so before the lock; it is kept
    folder = ServerFolder.find(site.servers, deployment.name)
    folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_folder(folder.path):
        running = folder.read()
        if running is not None:
            raise InferenceError(
                f"the server of {deployment.name} runs already",
                f"Stop it with `intramural models stop {deployment.name}`.",
            )
        copied = _copy_template(folder, managed)
        served = replace(copied, digest=compute_server_digest(copied, site.servers))
        started = _start_guardian(folder, deployment, served, stamp, outlives=outlives)
    began = time.monotonic()
    try:
        _await_ready(started, folder, waiting)
        _check_unchanged(managed, stamp, deployment.name)
    except BaseException as error:
        seconds = time.monotonic() - began
        log_event(ModelServerFailed(deployment.name, type(error).__name__, seconds))
        _end_guardian(started.guardian)
        folder.forget()
        raise
    log_event(ModelServerStarted(deployment.name, time.monotonic() - began))
    return started


def _check_unchanged(managed: ModelServer, stamp: str, name: str) -> None:
    """Refuse weights that were changed after they were hashed, since the engine may have read others."""
    try:
        is_unchanged = stamp_weights(managed.weights) == stamp
    except OSError:
        is_unchanged = False
    if not is_unchanged:
        raise InferenceError(
            f"the server of {name} did not start: its weights changed while they were read",
            "Start it again when they are complete.",
        )


def _copy_template(folder: ServerFolder, managed: ModelServer) -> ModelServer:
    """Return the server with a copy of its chat template, so that an engine that is started again reads the same."""
    template = read_chat_template(managed)
    if template is None:
        return managed
    write_atomically(folder.chat_template, template.encode())
    return replace(managed, chat_template=folder.chat_template)


def _start_guardian(
    folder: ServerFolder,
    deployment: Deployment,
    managed: ModelServer,
    stamp: str,
    *,
    outlives: bool,
) -> _Started:
    port = choose_port()
    token = secrets.token_urlsafe(32)
    start = describe_start(managed, deployment.served_model, port, token)
    write_atomically(folder.token, token.encode())
    folder.log.unlink(missing_ok=True)
    os.close(os.open(folder.log, os.O_CREAT | os.O_WRONLY, 0o600))
    guardian = subprocess.Popen(
        _GUARDIAN,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=outlives,
    )
    content = {
        **asdict(start),
        "log": str(folder.log.absolute()),
        "weights": str(managed.weights.absolute()),
        "stamp": stamp,
        "outlives": outlives,
    }
    _tell_guardian(guardian, content, outlives=outlives)
    server = RunningServer(
        deployment=deployment.name,
        engine=managed.engine,
        address=f"http://{ADDRESS}:{port}/v1",
        guardian=guardian.pid,
        began=read_begin(guardian.pid),
        started_at=int(time.time()),
        weights=managed.digest,
    )
    folder.write(server)
    return _Started(server, port, guardian)


def _tell_guardian(
    guardian: "subprocess.Popen[bytes]", content: dict[str, object], *, outlives: bool
) -> None:
    """Send the guardian what to start. Its input stays open unless the server outlives this process."""
    assert guardian.stdin is not None
    with suppress(BrokenPipeError):
        guardian.stdin.write(json.dumps(content).encode() + b"\n")
        guardian.stdin.flush()
    if outlives:
        guardian.stdin.close()


def _await_ready(started: _Started, folder: ServerFolder, waiting: Waiting) -> None:
    """Wait until the server answers to its token and to nothing else."""
    began = time.monotonic()
    token = folder.token.read_text("ascii")
    while not is_ready(started.port, token):
        seconds = time.monotonic() - began
        failure = explain_failure(folder.log)
        if failure is None and started.guardian.poll() is not None:
            failure = "its guardian ended"
        if failure is None and seconds > READY_S:
            failure = f"it was not ready after {READY_S:.0f} s"
        if failure is not None:
            raise InferenceError(
                f"the server of {started.server.deployment} did not start: {failure}",
                f"See its log: {folder.log}",
            )
        waiting(seconds)
        time.sleep(_ASK_EVERY_S)


def _end_guardian(guardian: "subprocess.Popen[bytes]") -> None:
    """End the guardian, which ends the engine first."""
    with suppress(OSError):
        guardian.terminate()
    if guardian.stdin is not None:
        with suppress(OSError):
            guardian.stdin.close()
    try:
        guardian.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        guardian.kill()
        guardian.wait()
