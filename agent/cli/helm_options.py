"""HELM's options that have no option of the same meaning here, as data.

An option for which nothing has to be done is accepted with a line that says why. An option whose meaning would be lost
is refused with advice. The commands' own options accept HELM's names too and are defined with their commands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from agent.cli.options import Command
from agent.errors import ConfigError
from agent.site.directory import Site


@dataclass(frozen=True, slots=True)
class HelmOption:
    """One option of HELM.

    Attributes:
        names: its names in HELM.
        reason: why nothing has to be done or, if the option is refused, why it cannot be honoured.
        advice: what to do instead of a refused option; empty if the option is accepted.
        values: how many values follow it.
    """

    names: tuple[str, ...]
    reason: str
    advice: str = ""
    values: Literal["none", "one", "many"] = "none"


_LOG_CONFIG = HelmOption(
    ("--log-config",),
    "the log goes to standard error; `intramural --log-level` sets its level",
    values="one",
)
_NO_CODE = "Describe a benchmark of your own in files instead: `intramural benchmarks new`."
_SERVE = (
    "Serve the model, for example with `vllm serve MODEL`, and name the server with --server URL or in "
    "model_deployments.yaml."
)
_NO_PROXY = "Name an OpenAI-compatible server with --server URL or in model_deployments.yaml."

RUN_OPTIONS = (
    HelmOption(
        ("--disable-cache",),
        "a stored answer is a result and is not requested again; give a changed model another "
        "deployment name",
    ),
    HelmOption(
        ("--skip-completed-runs",),
        "a stored answer is never requested again, with or without this option",
    ),
    HelmOption(("--cache-instances",), "the store keeps the instances of every run, encrypted"),
    _LOG_CONFIG,
    HelmOption(
        ("--cache-instances-only",),
        "instances are stored only together with a run",
        "Check entries and data without asking the model: --skip-instances or --dry-run.",
    ),
    HelmOption(
        ("--enable-huggingface-models", "--enable-local-huggingface-models"),
        "models are not loaded by this program, but served by a separate server",
        _SERVE,
        values="many",
    ),
    HelmOption(
        ("--mongo-uri",),
        "answers are kept only in the site's encrypted store",
        "Leave the option out.",
        values="one",
    ),
    HelmOption(("--server-url",), "HELM's proxy server cannot be asked", _NO_PROXY, values="one"),
    HelmOption(
        ("--api-key-path",),
        "HELM's proxy server cannot be asked",
        "Name the file of a server's token in model_deployments.yaml (docs/deployments.md).",
        values="one",
    ),
    HelmOption(("--plugins",), "HELM's Python code is not run here", _NO_CODE, values="many"),
    HelmOption(
        ("--runner-class-name",), "HELM's Python code is not run here", _NO_CODE, values="one"
    ),
)

SUMMARIZE_OPTIONS = (
    HelmOption(
        ("-o", "--output-path"),
        "results are read from the site's store; `intramural import helm PATH` adds HELM's",
        values="one",
    ),
    HelmOption(
        ("--schema", "--schema-path"),
        "each benchmark's definition states its metrics and category",
        values="one",
    ),
    HelmOption(("--schema-validation",), "there is no schema to check", values="one"),
    HelmOption(
        ("--auto-generate-schema",), "each benchmark's definition states its metrics and category"
    ),
    HelmOption(("-n", "--num-threads"), "one thread is enough", values="one"),
    HelmOption(("--debug",), "`intramural --log-level debug` shows more"),
    HelmOption(("--skip-completed-run-display-json",), "no display files are written"),
    HelmOption(("--allow-unknown-models",), "every model is shown", values="one"),
    _LOG_CONFIG,
    HelmOption(
        ("--summarizer-class-name",),
        "HELM's Python code is not run here",
        "Export the rows with --format json or csv, and summarise them further.",
        values="one",
    ),
)

VIEW_OPTIONS = (
    HelmOption(("--cache-output-path",), "the pages need no cached files", values="one"),
    HelmOption(("--project",), "the first page lists every suite and release", values="one"),
)


def accept_helm_options(options: Sequence[HelmOption]) -> Callable[[Command], Command]:
    """Return a decorator that adds options of HELM to a command; the help text does not list them."""

    def add_options(command: Command) -> Command:
        for option in options:
            for names in _split_names(option):
                command = click.option(
                    *names,
                    is_flag=option.values == "none",
                    multiple=option.values == "many",
                    expose_value=False,
                    hidden=True,
                    help=f"An option of HELM: {option.reason}.",
                    callback=_build_callback(option, names[-1]),
                )(command)
        return command

    return add_options


def _split_names(option: HelmOption) -> list[tuple[str, ...]]:
    """Return the names of each option; a short name belongs to the long name that follows it."""
    split: list[tuple[str, ...]] = []
    short: tuple[str, ...] = ()
    for name in option.names:
        if not name.startswith("--"):
            short = (name,)
            continue
        split.append((*short, name))
        short = ()
    return split


def _build_callback(
    option: HelmOption, name: str
) -> Callable[[click.Context, click.Parameter, Any], None]:
    def explain(context: click.Context, parameter: click.Parameter, value: Any) -> None:  # noqa: ARG001
        if not value:
            return
        if option.advice:
            raise ConfigError(f"{name} is not supported: {option.reason}", option.advice)
        print_reason(name, option.reason)

    return explain


def print_reason(name: str, reason: str) -> None:
    """Print why nothing has to be done for an option of HELM."""
    click.echo(f"note: {name}: {reason}", err=True)


def local_path_option(command: Command) -> Command:
    """Add HELM's folder of configuration, which must not name other deployments than the site's."""
    add_option = click.option(
        "--local-path",
        type=click.Path(path_type=Path),
        expose_value=False,
        hidden=True,
        help="HELM's folder of configuration; deployments are read from the site.",
        callback=_check_local_path,
    )
    return add_option(command)


def _check_local_path(
    context: click.Context,
    parameter: click.Parameter,  # noqa: ARG001
    path: Path | None,
) -> None:
    """Refuse a folder whose deployments are not the site's, because they would not be asked."""
    if path is None:
        return
    site = context.find_object(Site)
    theirs = _read_if_present(path / "model_deployments.yaml")
    if site is not None and theirs and theirs != _read_if_present(site.deployments):
        raise ConfigError(
            f"--local-path: {path / 'model_deployments.yaml'} is not read and differs from the site's",
            f"Copy its deployments into {site.deployments}, and leave out --local-path.",
        )
    print_reason("--local-path", "deployments are read from the site's model_deployments.yaml")


def _read_if_present(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def train_trials_option(command: Command) -> Command:
    """Add HELM's number of draws of solved examples, of which there is one here."""
    add_option = click.option(
        "-t",
        "--num-train-trials",
        type=int,
        expose_value=False,
        hidden=True,
        help="HELM's number of draws of solved examples; only 1 is accepted.",
        callback=_check_train_trials,
    )
    return add_option(command)


def _check_train_trials(
    context: click.Context,  # noqa: ARG001
    parameter: click.Parameter,  # noqa: ARG001
    trials: int | None,
) -> None:
    if trials is None:
        return
    if trials != 1:
        raise ConfigError(
            f"--num-train-trials {trials} is not supported: solved examples are drawn once",
            "Give 1 or leave the option out; MedHELM's benchmarks have no solved examples.",
        )
    print_reason("--num-train-trials", "solved examples are always drawn once")


def view_output_path_option(command: Command) -> Command:
    """Add HELM's location of results, which pages do not read."""
    add_option = click.option(
        "-o",
        "--output-path",
        expose_value=False,
        hidden=True,
        help="HELM's location of results; pages are made from the site's store.",
        callback=_check_view_output_path,
    )
    return add_option(command)


def _check_view_output_path(
    context: click.Context,  # noqa: ARG001
    parameter: click.Parameter,  # noqa: ARG001
    path: str | None,
) -> None:
    if path is None:
        return
    if path.startswith(("http://", "https://")):
        raise ConfigError(
            "--output-path is not supported with an address: results on the web are not read",
            "Download the release, and import it with `intramural import helm-leaderboard DIR`.",
        )
    print_reason(
        "--output-path",
        "pages are made from the site's store; `intramural import helm PATH` adds HELM's results",
    )
