"""How many tokens fit a deployment: its window of prompt and answer. Pure."""

from agent.inference.capabilities import Capabilities
from agent.inference.endpoint import Endpoint


def window_of(deployment: Endpoint, capabilities: Capabilities | None) -> int | None:
    """Return the tokens of prompt and answer together, or None when neither side states them.

    The smaller of the deployment's window and that with which the server says it was started: an operator may want
    less than the server takes, and never gets more.
    """
    served_window = capabilities.window if capabilities else None
    return _find_smaller(deployment.max_sequence_length, served_window)


def prompt_budget(window: int | None, max_tokens: int, prompt_limit: int | None) -> int | None:
    """Return the most tokens of a prompt that leave room for `max_tokens` of answer; None when it has no bound.

    Zero or less: no prompt fits.
    """
    room = None if window is None else window - max_tokens
    return _find_smaller(room, prompt_limit)


def _find_smaller(first: int | None, second: int | None) -> int | None:
    """Return the smaller of two bounds, of which each may be missing."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)
