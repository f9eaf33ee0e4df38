"""Several servers in one run: part of `make bench`.

Two mock servers of different latency answer as many questions as each can in the same time. Their answers a second in
one `intramural run` are divided by the sum of their answers a second in a run of each alone. Goal: at least 0.95.

    python tests/bench/lanes_bench.py [--seconds 10] [--rounds 3] [--latencies-ms 200 500]
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
GOAL = 0.95
AT_ONCE = 8
_TOOK = re.compile(r"(\S+)  (\d+)/\2  ([\d.]+) s")


def write_site(folder: Path, urls: list[str], rows: list[int]) -> Path:
    """Write a site with one benchmark for each server."""
    from agent.site.directory import create_site
    from tests.agent.runs.suites import write_benchmark

    site = create_site(folder, "bench")
    lines = ["model_deployments:"]
    for number, (url, count) in enumerate(zip(urls, rows, strict=True)):
        notes = [
            {"note": f"An invented note {number}.{row}", "gold": "Yes"} for row in range(count)
        ]
        write_benchmark(
            site,
            f"b{number}",
            notes,
            "parser: text\ngold: {column: gold, form: text}\nmetrics: [{name: exact_match}]\n",
        )
        client = f"{{class_name: VLLMChatClient, args: {{base_url: '{url}', vllm_model_name: mock/mock-model}}}}"
        lines.append(
            f"  - {{name: local/s{number}, model_name: mock/s{number}, client_spec: {client}}}"
        )
    site.deployments.write_text("\n".join(lines))
    return site.directory


def measure_rates(urls: list[str], rows: list[int], numbers: list[int]) -> float:
    """Run the entries of these servers in one command; return the answers a second until the last one has come."""
    with tempfile.TemporaryDirectory() as name:
        directory = write_site(Path(name) / "site", urls, rows)
        entries = [f"b{number}:model=mock/s{number}" for number in numbers]
        words = ["run", "--suite", "s", "--max-in-flight", str(AT_ONCE), "-r", *entries]
        done = subprocess.run(
            [sys.executable, "-m", "agent", "--site", str(directory), *words],
            capture_output=True,
            text=True,
            check=True,
        )
    took = [(int(count), float(seconds)) for _, count, seconds in _TOOK.findall(done.stderr)]
    assert len(took) == len(numbers), done.stderr
    return sum(count for count, _ in took) / max(seconds for _, seconds in took)


def main() -> None:
    """Measure and print; leave with 1 below the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latencies-ms", type=int, nargs=2, default=[200, 500])
    options = parser.parse_args()
    latencies = options.latencies_ms
    rows = [round(options.seconds * AT_ONCE * 1000 / latency) for latency in latencies]
    servers: list[subprocess.Popen[str]] = []
    urls: list[str] = []
    try:
        for latency in latencies:
            server = subprocess.Popen(
                [sys.executable, "tests/bench/mock_server.py", "--latency-ms", str(latency)],
                stdout=subprocess.PIPE,
                text=True,
            )
            servers.append(server)
            assert server.stdout is not None
            urls.append(server.stdout.readline().strip())
        shares: list[float] = []
        print(f"{'answers a second':24}{'alone':>16}{'sum':>8}{'at once':>9}{'share':>7}")
        for _ in range(options.rounds):
            alone = [measure_rates(urls, rows, [number]) for number in range(len(urls))]
            at_once = measure_rates(urls, rows, list(range(len(urls))))
            shares.append(at_once / sum(alone))
            each = " + ".join(f"{rate:.1f}" for rate in alone)
            print(f"{'':24}{each:>16}{sum(alone):8.1f}{at_once:9.1f}{shares[-1]:7.3f}")
    finally:
        for server in servers:
            server.kill()
    share = statistics.median(shares)
    print(f"two servers of {latencies[0]} and {latencies[1]} ms at once: {share:.3f} of their sum")
    if share < GOAL:
        sys.exit(f"below the goal of {GOAL}")


if __name__ == "__main__":
    main()
