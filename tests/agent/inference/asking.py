"""Asks a real server through the real client, for the tests of this folder."""

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pytest

from agent.catalog.deployments import Deployment
from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities
from agent.inference.client import ask_all
from agent.inference.limits import HttpLimits
from agent.inference.outage import ServerWatch
from agent.inference.probe import probe
from agent.vocabulary import ChatRequest, Failure, Message, Reason, Response
from tests.agent.fault_server import FaultServer

QUICK = HttpLimits(
    connect_timeout_s=2,
    attempt_timeout_s=1,
    first_attempt_timeout_s=1,
    total_timeout_s=20,
    max_attempts=3,
    outage_grace_s=2,
    retry_wait_max_s=0.2,
)
PATIENT = replace(QUICK, first_attempt_timeout_s=8)


def deployment(url: str, model: str = "test-model") -> Deployment:
    return Deployment(name="local/test", model_name="test/model", base_url=url, served_model=model)


def chat(prompt: str, **fields: object) -> ChatRequest:
    return replace(ChatRequest("test-model", (Message("user", prompt),), max_tokens=50), **fields)


@dataclass
class Outcome:
    results: Mapping[str, Response | Failure]
    seconds: float

    def texts(self) -> dict[str, str]:
        return {
            key: result.text for key, result in self.results.items() if isinstance(result, Response)
        }

    def reasons(self) -> dict[str, Reason]:
        return {
            key: result.reason
            for key, result in self.results.items()
            if isinstance(result, Failure)
        }


def ask(
    where: str | Deployment,
    prompts: Iterable[str | ChatRequest],
    *,
    limits: HttpLimits = QUICK,
    max_in_flight: int = 4,
    capabilities: Capabilities | None = None,
    prompt_limit: int | None = None,
    watch: ServerWatch | None = None,
) -> Outcome:
    """Ask all prompts; each result is kept under its prompt, and a second result for one fails the test."""
    results: dict[str, Response | Failure] = {}

    def keep(key: str, result: Response | Failure) -> None:
        assert key not in results
        results[key] = result

    requests = (prompt if isinstance(prompt, ChatRequest) else chat(prompt) for prompt in prompts)
    began = time.perf_counter()
    asyncio.run(
        ask_all(
            where if isinstance(where, Deployment) else deployment(where),
            ((request.messages[0].content, request) for request in requests),
            keep,
            max_in_flight=max_in_flight,
            limits=limits,
            capabilities=capabilities,
            prompt_limit=prompt_limit,
            watch=watch,
        )
    )
    return Outcome(results, time.perf_counter() - began)


def ask_one(
    where: str | Deployment, prompt: str | ChatRequest = "How are you?", **options: object
) -> Response | Failure:
    (result,) = ask(where, [prompt], **options).results.values()
    return result


def probe_server(server: FaultServer, model: str = "test-model", **fields: object) -> Capabilities:
    """Probe a server as a deployment with these fields."""
    return asyncio.run(probe(replace(deployment(server.url, model), **fields), PATIENT))


def expect_refusal(server: FaultServer, model: str = "test-model") -> InferenceError:
    """Probe a server that the probe must refuse; return the error."""
    with pytest.raises(InferenceError) as caught:
        probe_server(server, model)
    return caught.value
