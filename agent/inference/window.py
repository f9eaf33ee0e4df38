"""How many tokens fit a deployment: its window of prompt and answer. Pure."""

from agent.inference.capabilities import Capabilities
from agent.inference.endpoint import Endpoint


def window_of(deployment: Endpoint, capabilities: Capabilities | None) -> int | None:
    """Return the tokens of prompt and answer together, or None when nobody says.

    The smaller of what the deployment says and what the server says it was started with: an operator may want less
    than the server takes, and never gets more.
    """
    said = (deployment.max_sequence_length, capabilities.window if capabilities else None)
    return min((tokens for tokens in said if tokens is not None), default=None)


def prompt_budget(window: int | None, max_tokens: int, prompt_limit: int | None) -> int | None:
    """Return the most tokens of a prompt that leave room for `max_tokens` of answer; None when nothing bounds it.

    Zero or less: no prompt fits.
    """
    bounds = (None if window is None else window - max_tokens, prompt_limit)
    return min((tokens for tokens in bounds if tokens is not None), default=None)
