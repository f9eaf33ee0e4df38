"""Why a page is not shown, beyond what a form can correct."""

from agent.errors import ConfigError


class NoPageError(ConfigError):
    """There is no page at an address, or none that the caller may know of."""

    advice = "Go back to the list of suites."


class NotAllowedError(ConfigError):
    """The caller's roles do not allow what a page would show."""

    advice = "An administrator can give your account another role."
