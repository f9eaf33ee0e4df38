"""Finds out at connect time what a server that calls itself compatible really honours."""

from agent.inference.capabilities import Capabilities
from agent.inference.endpoint import Endpoint
from agent.inference.limits import HttpLimits


async def probe(deployment: Endpoint, limits: HttpLimits | None = None) -> Capabilities:
    """Ask the server about a dozen small questions, in two parallel rounds, and report what it honoured.

    The questions hold no text of any dataset.

    Raises:
        InferenceError: the server cannot be reached, refuses the token, or does not serve the model.
        ConfigError: the address, token file, proxy or CA bundle cannot be used.
    """
    raise NotImplementedError
