"""Asks a model server many requests at once, and hands back a response or a failure for each."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from agent.inference.capabilities import Capabilities
from agent.inference.endpoint import Endpoint
from agent.inference.limits import HttpLimits
from agent.vocabulary import ChatRequest, Failure, Response

Key = TypeVar("Key")


async def ask_all(
    deployment: Endpoint,
    requests: Iterable[tuple[Key, ChatRequest]],
    on_result: Callable[[Key, Response | Failure], None],
    *,
    max_in_flight: int,
    limits: HttpLimits,
    capabilities: Capabilities | None = None,
) -> None:
    """Ask every request, at most `max_in_flight` at once, and call `on_result` once for each, as answers arrive.

    `requests` is pulled lazily, one item whenever a place is free, so a run of any size stays small in memory.
    `on_result` runs in the event loop; what it raises ends the call. Order is that of arrival.

    A request that fails becomes a Failure, never an exception. When the server is plainly down (nothing
    answered for `limits.outage_grace_s` while requests failed), the rest is reported as `Reason.NOT_ASKED`
    without being asked. Cancelling leaves at once; requests in flight then get no result.

    `capabilities` decides the name of the token limit and the fields that must always be sent
    (`Capabilities.extra_body`, under the request's own). Stop sequences are cut here in any case.

    Raises:
        ConfigError: the address, token file, proxy or CA bundle cannot be used.
    """
    raise NotImplementedError
