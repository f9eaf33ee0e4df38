"""The servers of a jury are probed before its first question."""

import asyncio

import pytest

from agent.catalog.deployments import Deployment, read_deployments
from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities, Feature, Needs
from agent.inference.limits import HttpLimits
from agent.judging import probe_judges as module
from agent.judging.jury_selection import SeatedJudge
from agent.metrics import Judge
from agent.site.directory import Site
from tests.agent.fault_server import FaultServer
from tests.agent.judging.juries import (
    NOTE,
    deploy,
    judge_server,
    open_benchmark,
    says,
    verdict,
    write_jury,
)
from tests.agent.runs.suites import NOWHERE, run

ENTRY = "open:model=m"


def test_nothing_is_asked_where_a_judge_is_not_there(site: Site):
    open_benchmark(site)
    with FaultServer(models=["m"], answer="Words") as model:
        deploy(site, {"a": "http://127.0.0.1:9/v1"})
        write_jury(site.judges, "a")
        with pytest.raises(
            InferenceError, match=r"judge local/a: the server 127\.0\.0\.1:\d+ refuses connections"
        ) as raised:
            run(site, model.url, ENTRY)
        assert "run --no-judging" in raised.value.advice
        assert [asked for asked in model.asked if NOTE in asked.prompt] == []


def test_a_reference_baseline_is_no_judge(site: Site):
    open_benchmark(site)
    with (
        FaultServer(models=["m"], answer="Words") as model,
        judge_server(says(verdict()), extra_model_keys={"language_model": False}) as a,
    ):
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        with pytest.raises(InferenceError, match="not a language model"):
            run(site, model.url, ENTRY)
        assert not any(NOTE in asked.prompt for asked in model.asked)


def test_judges_on_one_server_are_met_one_after_the_other(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    """A probe is many requests at once; three of them overran a small server, which then seemed to lack features."""
    now: list[str] = []
    most: dict[str, int] = {}

    async def probe(deployment: Deployment, limits: HttpLimits, needs: Needs) -> Capabilities:
        now.append(deployment.base_url)
        most[deployment.base_url] = max(
            most.get(deployment.base_url, 0), now.count(deployment.base_url)
        )
        await asyncio.sleep(0.01)
        now.remove(deployment.base_url)
        return Capabilities(
            "vllm", {"max_tokens": Feature("honoured", ""), "json_schema": Feature("ignored", "")}
        )

    monkeypatch.setattr(module, "probe_deployment", probe)
    deploy(site, {"a": NOWHERE, "b": NOWHERE, "c": NOWHERE.replace("9", "8")})
    deployments = read_deployments(site.deployments)
    jury = [SeatedJudge(Judge(name, "m"), deployments[f"local/{name}"], 1) for name in "abc"]
    found = asyncio.run(module.probe_judges([jury], HttpLimits()))
    assert len(found) == 3
    assert set(most.values()) == {1}
    assert len(module.describe_judges(jury, found)) == 3
