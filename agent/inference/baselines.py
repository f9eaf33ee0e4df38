"""The reference baselines: an OpenAI-compatible server whose "models" are simple rules and need no weights.

They are floors on the board, and labelled as not language models wherever they are named.
"""

from collections.abc import Callable
from pathlib import Path

import click

BASELINES = ("baseline/first-choice", "baseline/retrieval", "baseline/lead", "baseline/random")


def serve(host: str = "127.0.0.1", port: int = 0, on_ready: Callable[[str], None] | None = None) -> None:
    """Serve until interrupted. `on_ready` gets the base URL (ending in /v1) once connections are accepted."""
    raise NotImplementedError


@click.group()
def baselines() -> None:
    """Reference baselines: simple rules behind a model server's interface."""


@baselines.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8001, show_default=True, help="0 takes a free port.")
@click.option("--ready-file", type=click.Path(dir_okay=False, path_type=Path), help="Write the URL here when ready.")
def serve_command(host: str, port: int, ready_file: Path | None) -> None:
    """Serve the reference baselines (not language models) until interrupted."""
    raise NotImplementedError
