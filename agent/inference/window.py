"""The window of a deployment: the maximum number of tokens in prompt and answer. Pure."""

from agent.inference.capabilities import Capabilities
from agent.inference.endpoint import Endpoint


def window_of(deployment: Endpoint, capabilities: Capabilities | None) -> int | None:
    """Return the maximum number of tokens in prompt and answer together, or None if it is unknown.

    This is the smaller of the deployment's setting and the server's own window, since an operator can only reduce the
    window.
    """
    served_window = capabilities.window if capabilities else None
    return _find_smaller(deployment.max_sequence_length, served_window)


def prompt_budget(window: int | None, max_tokens: int, prompt_limit: int | None) -> int | None:
    """Return the maximum number of tokens in a prompt whose answer has up to `max_tokens`, or None if unlimited.

    If the result is zero or less, no prompt fits.
    """
    room = None if window is None else window - max_tokens
    return _find_smaller(room, prompt_limit)


def _find_smaller(first: int | None, second: int | None) -> int | None:
    """Return the smaller of two bounds, either of which may be missing."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)
