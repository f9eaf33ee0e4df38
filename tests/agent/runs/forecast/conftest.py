"""A site with a jury of three, and servers for the model and the judges."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.site.directory import Site, create_site
from tests.agent.fault_server import Body, FaultServer
from tests.agent.judging.juries import (
    acts,
    deploy,
    judge_server,
    open_benchmark,
    verdict,
    write_jury,
)

PRICES = (
    "    price_per_million_prompt_tokens: 100\n    price_per_million_completion_tokens: 100\n"
    "    gpu_hour_rate: 100000\n    gpus: 1\n    currency: EUR\n"
)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = create_site(tmp_path / "site", "Test")
    open_benchmark(site)
    write_jury(site.judges, "abc")
    return site


@pytest.fixture
def model() -> Iterator[FaultServer]:
    with FaultServer(models=["m"], answer="An answer") as server:
        yield server


@pytest.fixture
def judges(site: Site) -> Iterator[FaultServer]:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": verdict()},
        "finish_reason": "stop",
    }
    reply = {
        "id": "1",
        "choices": [choice],
        "usage": {"prompt_tokens": 200, "completion_tokens": 50},
    }
    with judge_server(acts(Body(json.dumps(reply).encode()))) as server:
        deploy(site, dict.fromkeys("abc", server.url), PRICES)
        yield server
