"""Options shared by all commands that redact: policy, language and level."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agent.errors import RedactionError

if TYPE_CHECKING:
    from agent.redaction.files.worker import EngineChoice
    from agent.redaction.policy.policy import Level
    from agent.site.directory import Site

Command = TypeVar("Command", bound=Callable[..., Any])


def engine_options(command: Command) -> Command:
    """Add the options that select the rules of redaction."""
    for option in (
        click.option(
            "--policy", help="Name of a policy in policies/redaction, or a file ending in .yaml."
        ),
        click.option(
            "--language",
            help="Language of the texts: en, es, or auto for that of each text.  [default: the policy's, auto]",
        ),
        click.option(
            "--level",
            type=click.Choice(["default", "strict", "readable"]),
            help="Level of redaction: strict misses less and removes more, readable misses more and removes less. Not "
            "with --policy.  [default: default]",
        ),
    ):
        command = option(command)
    return command


def chosen(level: "Level | None", language: str | None, policy: str | None) -> "EngineChoice":
    """Return the engine that the options select, or that of the site named by --site if they select none.

    Raises:
        RedactionError: the options contradict each other.
        ConfigError, StoreError: there is no such site, or its key cannot be read.
    """
    from agent.redaction.files.worker import EngineChoice
    from agent.redaction.policy.policy import choose_policy

    if policy is not None and level is not None:
        raise RedactionError("--level and --policy cannot be combined", "Give only one of them.")
    site = _named_site()
    if site is None:
        return EngineChoice(
            policy or choose_policy(level or "default", language), str(Path.cwd()), language
        )
    key = site.surrogate_key().hex()
    if (level, language, policy) == (None, None, None):
        return EngineChoice(site.settings.redaction_policy, str(site.directory.absolute()), key=key)
    return EngineChoice(
        policy or choose_policy(level or "default", language), str(Path.cwd()), language, key=key
    )


def _named_site() -> "Site | None":
    """Return the site named by the command line or the environment; None if neither names one."""
    context = click.get_current_context().find_root()
    source = context.get_parameter_source("directory")
    named = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)
    return context.obj if source in named else None
