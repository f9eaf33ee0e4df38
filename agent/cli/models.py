"""The commands `intramural models`: inference servers that the agent starts itself."""

import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.output import with_site
from agent.errors import ConfigError, InferenceError

if TYPE_CHECKING:
    from agent.catalog.deployments import Deployment
    from agent.model_servers.running import RunningServer
    from agent.site.directory import Site

_NOTE_EVERY_S = 10.0
_WATCH_EVERY_S = 0.5


@click.group()
def models() -> None:
    """Start, stop and check inference servers of the site's own.

    They serve the deployments with `model_server` in model_deployments.yaml.
    """


@models.command("serve")
@click.argument("name")
@click.option(
    "--background", is_flag=True, help="Leave the server running; stop it with `models stop`."
)
@click.pass_obj
def serve_command(site: "Site", name: str, background: bool) -> None:
    """Start the server of a deployment.

    The command waits until the server is ready. The server listens on 127.0.0.1 and answers only to this site. Without
    --background it runs until Ctrl-C.
    """
    from agent.model_servers.chat_templates import TEMPLATE_ADVICE, describe_missing_template
    from agent.model_servers.start import serve, start_in_background

    deployment = _find_managed(site, name)
    assert deployment.managed is not None
    missing = describe_missing_template(deployment.managed)
    if missing:
        click.echo(f"{name}: {missing} {TEMPLATE_ADVICE}", err=True)
    # A command that is ended must not leave a server that is half started.
    signal.signal(signal.SIGTERM, _end_command)
    if background:
        server = start_in_background(site, deployment, WaitingNotes(name))
        click.echo(f"{name} is ready at {server.address}")
        click.echo(with_site(f"Stop it with `intramural models stop {name}`."))
        return
    with serve(site, deployment, WaitingNotes(name)) as server:
        click.echo(f"{name} is ready at {server.address}; stop it with Ctrl-C")
        _wait_until_ended(site, server)


@models.command("stop")
@click.argument("name")
@click.pass_obj
def stop_command(site: "Site", name: str) -> None:
    """Stop the server of a deployment."""
    from agent.model_servers.start import stop

    if stop(site, name):
        click.echo(f"{name} has stopped")
    else:
        click.echo(f"{name} does not run")


@models.command("list")
@click.pass_obj
def list_command(site: "Site") -> None:
    """List the servers.

    Each line states whether the server runs, and the beginning of the digest of its weights.
    """
    from agent.errors import AgentError
    from agent.model_servers.running import list_running
    from agent.model_servers.weights import compute_server_digest

    running = {server.deployment: server for server in list_running(site.servers)}
    for name, deployment in _read_managed(site).items():
        assert deployment.managed is not None
        state = _describe_state(running.pop(name, None))
        try:
            digest = compute_server_digest(deployment.managed, site.servers)[:16]
        except AgentError as error:
            digest = str(error)
        click.echo(f"{name}  {deployment.managed.engine}  {state}  weights {digest}")
    for name, server in running.items():
        click.echo(
            f"{name}  {server.engine}  {_describe_state(server)}  not in {site.deployments.name}"
        )


@models.command("check")
@click.argument("names", nargs=-1)
@click.pass_obj
def check_command(site: "Site", names: tuple[str, ...]) -> None:
    """Check weights and engines.

    Nothing is started. Without NAMES, all deployments with `model_server` are checked.
    """
    from agent.io.plain_text import printable
    from agent.model_servers.chat_templates import TEMPLATE_ADVICE, describe_missing_template
    from agent.model_servers.engines import check_installed
    from agent.model_servers.weights import check_weights

    managed = _read_managed(site)
    problems: list[ConfigError] = []
    for name in names or tuple(managed):
        deployment = managed.get(name) or _find_managed(site, name)
        assert deployment.managed is not None
        try:
            check_weights(deployment.managed, name)
            check_installed(deployment.managed.engine)
        except ConfigError as error:
            problems.append(error)
            click.echo(f"{name}: cannot be served, see below")
            continue
        click.echo(f"{name}: the engine is installed, and the weights are of its kind")
        missing = describe_missing_template(deployment.managed)
        if missing:
            click.echo(f"{name}: {missing} {TEMPLATE_ADVICE}", err=True)
    if problems:
        *others, last = problems
        for problem in others:
            click.echo(f"error: {printable(str(problem))}\n  {printable(problem.advice)}", err=True)
        raise last


def _describe_state(server: "RunningServer | None") -> str:
    if server is None:
        return "does not run"
    minutes = (time.time() - server.started_at) / 60
    return f"runs at {server.address} for {minutes:.0f} min"


class WaitingNotes:
    """Tells a person that a server is still starting.

    Args:
        name: the deployment's name.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._next_s = _NOTE_EVERY_S
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, seconds: float) -> None:
        """Show the seconds waited so far: steadily on a terminal, elsewhere now and then."""
        if self._is_terminal:
            click.echo(f"\rstarting {self._name}: {seconds:.0f} s ", err=True, nl=False)
        elif seconds >= self._next_s:
            self._next_s += _NOTE_EVERY_S
            click.echo(f"starting {self._name}: {seconds:.0f} s", err=True)


def _wait_until_ended(site: "Site", server: "RunningServer") -> None:
    """Wait until Ctrl-C.

    Raises:
        InferenceError: the server ended by itself, or another command stopped it.
    """
    from agent.model_servers.running import ServerFolder

    try:
        while server.is_alive():
            time.sleep(_WATCH_EVERY_S)
    except KeyboardInterrupt:
        return
    log = ServerFolder.find(site.servers, server.deployment).log
    raise InferenceError(f"the server of {server.deployment} has ended", f"See its log: {log}")


def _end_command(number: int, frame: object) -> None:
    """Raise SystemExit, so that what the command has started is ended."""
    del frame
    raise SystemExit(128 + number)


def _read_managed(site: "Site") -> "dict[str, Deployment]":
    from agent.catalog.deployments import read_deployments

    deployments = read_deployments(site.deployments)
    return {name: each for name, each in deployments.items() if each.managed is not None}


def _find_managed(site: "Site", name: str) -> "Deployment":
    from agent.io.wording import nearest

    managed = _read_managed(site)
    if name not in managed:
        raise ConfigError(
            f"no deployment with model_server is called {name!r}{nearest(name, managed)}",
            f"See {Path(site.deployments).name}: a deployment needs model_server with engine and weights.",
        )
    return managed[name]
