"""What asking a jury costs: part of `make bench`.

500 stored answers, three judges that answer in 50 ms, each on a server of its own with the default of eight requests
at once; then the same three on one server. The ideal is what the latency and the limit alone leave: 500 / 8 rounds of
50 ms a server. The named reference is a bare httpx client, one a worker, that sends the very same requests and keeps
nothing.

    python tests/bench/jury_bench.py [--instances 500] [--rounds 3]
"""

import argparse
import asyncio
import json
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

JUDGES = ("a", "b", "c")
LATENCY_S, AT_ONCE = 0.05, 8
LIMIT = 1.3  # of the ideal, or of the bare client where that takes longer
VERDICT = json.dumps(
    {
        name: {"explanation": "It follows from the note.", "score": 4}
        for name in ("accuracy", "clarity")
    }
)


class Server:
    """A mock judge in a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "mock_server.py"), "--slots", "64", "--answer", VERDICT],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        self.url = self._process.stdout.readline().strip()

    def stop(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


def make_site(folder: Path, urls: list[str], instances: int) -> Any:
    """Make a site whose one run is answered and not judged."""
    from agent.site.directory import create_site
    from tests.agent.judging.juries import open_benchmark, write_jury
    from tests.agent.runs.suites import run

    site = create_site(folder, "bench")
    open_benchmark(site, instances)
    entries = "".join(
        f"  - name: local/{name}\n    model_name: test/{name}\n    client_spec:\n      class_name: x.VLLMChatClient\n"
        f"      args: {{base_url: {url}, vllm_model_name: mock/mock-model}}\n"
        for name, url in zip(JUDGES, urls, strict=True)
    )
    site.deployments.write_text("model_deployments:\n" + entries)
    write_jury(site.judges, JUDGES)
    run(site, urls[0], "open:model=mock/mock-model", no_judging=True, max_in_flight=64)
    return site


def judging(site: Any) -> tuple[float, float, list[tuple[str, bytes]]]:
    """Judge the run; return wall and CPU seconds of the judging alone, and the requests that were sent, by server."""
    from agent.inference import client
    from agent.io.progress import Progress
    from agent.judging import judge_run as stage
    from agent.judging.judge_suite import JudgeOptions, judge_suite

    took: list[tuple[float, float]] = []
    sent: list[tuple[str, bytes]] = []
    real, real_encode, real_ask = stage._RunJudging.ask, client.encode_request, client.ask_all

    async def timed(self: Any, *given: Any) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        await real(self, *given)
        took.append((time.perf_counter() - wall, time.process_time() - cpu))

    async def noted(deployment: Any, requests: Any, *given: Any, **more: Any) -> None:
        def walk() -> Iterator[Any]:
            for key, request in requests:
                sent.append((deployment.base_url, real_encode(request)))
                yield key, request

        await real_ask(deployment, walk(), *given, **more)

    stage._RunJudging.ask = timed  # type: ignore[method-assign]
    stage.ask_all = noted  # type: ignore[assignment]
    try:
        heard, _ = judge_suite(site, JudgeOptions("s"), Progress(quiet=True))
    finally:
        stage._RunJudging.ask, stage.ask_all = real, real_ask  # type: ignore[method-assign]
    assert heard[0].judged.open == 0
    assert heard[0].summary.main.mean.value == 4.0
    return *took[0], sent


async def bare(sent: list[tuple[str, bytes]]) -> None:
    """Send the same requests with bare clients, as many a server as the limit says."""
    import httpx

    context = ssl.create_default_context()
    lines = {
        url: iter([body for at, body in sent if at == url]) for url in {url for url, _ in sent}
    }

    async def worker(url: str) -> None:
        async with httpx.AsyncClient(verify=context, trust_env=False, timeout=60) as http:
            for body in lines[url]:
                reply = await http.post(
                    f"{url}/chat/completions",
                    content=body,
                    headers={"content-type": "application/json"},
                )
                assert reply.json()["choices"][0]["message"]["content"] == VERDICT

    await asyncio.gather(*(worker(url) for url in lines for _ in range(AT_ONCE)))


def main() -> None:
    """Measure and print; leave with 1 above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    n = options.instances
    print(
        f"jury: {len(JUDGES)} judges of {LATENCY_S * 1000:.0f} ms, {AT_ONCE} requests at once a server, {n} answers"
    )
    print(f"{'':34}{'wall s':>8}{'ideal s':>9}{'ratio':>7}{'bare s':>8}{'CPU s':>7}")
    ratios = {}
    for how, servers in (("three servers", 3), ("one server", 1)):
        rows = [measured(n, servers) for _ in range(options.rounds)]
        wall, cpu, reference = (statistics.median(column) for column in zip(*rows, strict=True))
        ideal = n * len(JUDGES) / servers / AT_ONCE * LATENCY_S
        ratios[how] = wall / max(ideal, reference)  # on a busy machine nobody reaches the ideal
        print(f"{how:34}{wall:8.2f}{ideal:9.2f}{wall / ideal:7.2f}{reference:8.2f}{cpu:7.2f}")
    over = [f"{how} {ratio:.2f}" for how, ratio in ratios.items() if ratio > LIMIT]
    if over:
        sys.exit(f"above {LIMIT} times the ideal and the bare client: {', '.join(over)}")


def measured(instances: int, number: int) -> tuple[float, float, float]:
    """Judge once on so many servers; return wall and CPU seconds, and the wall seconds of the bare client."""
    servers = [Server() for _ in range(number)]
    try:
        urls = [servers[place % number].url for place in range(len(JUDGES))]
        with tempfile.TemporaryDirectory() as name:
            wall, cpu, sent = judging(make_site(Path(name) / "site", urls, instances))
            began = time.perf_counter()
            asyncio.run(bare(sent))
            return wall, cpu, time.perf_counter() - began
    finally:
        for server in servers:
            server.stop()


if __name__ == "__main__":
    main()
