"""What the service costs: part of `make bench`.

Fifty people read pages, each one page every five seconds, while the queue runs 2,000 instances against a mock server
of 50 ms. Prints how long the pages take, and how long the run takes beside the same run without readers, in turn. The
goal: pages within 500 ms at the 95th percentile, and a run at most 15 % slower.

    python tests/bench/service_bench.py [--rounds 3] [--readers 50] [--instances 2000]
"""

import argparse
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from run_bench import write_task

HERE = Path(__file__).resolve().parent
INTRAMURAL = (sys.executable, "-m", "agent")
PAUSE_S = 5.0
GOAL_PAGE_MS = 500.0
GOAL_SLOWER = 1.15
PASSWORD = "correct horse battery"
IN_FLIGHT = 8
SUITES = 4  # with results of their own, for the pages


@dataclass
class Readers:
    """People who read pages until they are told to stop, with the seconds that each page took."""

    url: str
    cookie: str
    pages: list[str]
    seconds: dict[str, list[float]] = field(default_factory=dict)
    faults: list[int] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def read(self, count: int) -> Iterator[None]:
        """Have `count` people read during the `with` block."""
        threads = [threading.Thread(target=self._read, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.stopping.set()
            for thread in threads:
                thread.join()

    def _read(self, number: int) -> None:
        chance = random.Random(number)
        with httpx.Client(
            base_url=self.url, cookies={"intramural": self.cookie}, timeout=60
        ) as client:
            self.stopping.wait(chance.uniform(0, PAUSE_S))
            while not self.stopping.is_set():
                page = chance.choice(self.pages)
                began = time.perf_counter()
                status = client.get(page).status_code
                taken = time.perf_counter() - began
                self.seconds.setdefault(re.sub(r"[0-9a-f]{16,}", "ID", page), []).append(taken)
                if status != 200:
                    self.faults.append(status)
                self.stopping.wait(max(0.0, PAUSE_S - taken))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--instances", type=int, default=2000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, serve_mock() as url:
        site = Path(name) / "site"
        prepare_site(site, url)
        with serve_site(site) as service:
            cookie = sign_in(service)
            fill_suites(site, Path(name))
            alone: list[float] = []
            beside: list[float] = []
            readers = Readers(service, cookie, list_pages(service, cookie))
            for round_number in range(options.rounds):
                alone.append(
                    time_run(site, Path(name), service, cookie, options.instances, 2 * round_number)
                )
                readers.stopping.clear()
                with readers.read(options.readers):
                    beside.append(
                        time_run(
                            site,
                            Path(name),
                            service,
                            cookie,
                            options.instances,
                            2 * round_number + 1,
                        )
                    )
            print_pages(readers)
            print_runs(alone, beside)


def prepare_site(site: Path, url: str) -> None:
    """Create a site with an account and a deployment."""
    run_agent("init", str(site), "--site-name", "bench")
    (site / "model_deployments.yaml").write_text(
        "model_deployments:\n  - name: mock/mock-model\n    client_spec:\n"
        "      class_name: helm.clients.vllm_client.VLLMChatClient\n"
        f"      args: {{base_url: '{url}', vllm_model_name: mock-model}}\n"
    )
    password = site.parent / "password"
    password.write_text(PASSWORD)
    words = (
        "accounts",
        "add",
        "dana",
        "--role",
        "data_scientist",
        "--own-password",
        "--password-file",
        str(password),
    )
    run_agent("--site", str(site), *words)


def fill_suites(site: Path, folder: Path) -> None:
    """Run some instances of shipped benchmarks in several suites."""
    for suite in range(SUITES):
        entries = [
            f"{name}:model=mock/mock-model" for name in ("pubmed_qa", "med_qa", "head_qa", "medec")
        ]
        run_agent(
            "--site",
            str(site),
            "run",
            "--quiet",
            "-m",
            "100",
            "--suite",
            f"suite{suite}",
            "--run-entries",
            *entries,
        )


def list_pages(service: str, cookie: str) -> list[str]:
    """Return the pages that people read: the start, the queue, suites, runs and instances."""
    pages = ["/", "/jobs", "/results/index.html", "/new-run", "/benchmarks"]
    pages += [f"/results/suites/suite{suite}/index.html" for suite in range(SUITES)]
    with httpx.Client(base_url=service, cookies={"intramural": cookie}) as client:
        runs = client.get("/api/v1/runs").json()
    for run in runs[:8]:
        pages.append(f"/results/runs/{run['run_id']}/index.html")
        pages.append(f"/results/runs/{run['run_id']}/instances-1.html")
    return pages


def time_run(
    site: Path, folder: Path, service: str, cookie: str, instances: int, number: int
) -> float:
    """Queue a run of new notes and return the seconds from its start to its end."""
    task = folder / f"task{number}"
    task.mkdir()
    config = write_task(task, instances, first=1_000_000 * (number + 1))
    entry = f"medhelm_configurable_benchmark:config_path={config},model=mock/mock-model"
    words = (
        "--suite",
        "bench",
        "--replace",
        "--max-in-flight",
        str(IN_FLIGHT),
        "--run-entries",
        entry,
    )
    run_agent("--site", str(site), "run", "--queue", *words)
    with httpx.Client(base_url=service, cookies={"intramural": cookie}, timeout=60) as client:
        while True:
            job = client.get("/api/v1/jobs").json()
            ended = [line for line in job if line["ended"] is not None]
            if all(line["ended"] is not None for line in job):
                newest = max(ended, key=lambda line: line["queued"])
                if newest["state"] != "done":
                    sys.exit(f"the run failed: {newest['problem']}")
                return parse_time(newest["ended"]) - parse_time(newest["started"])
            time.sleep(0.5)


def parse_time(text: str) -> float:
    """Return seconds since 1970 of an ISO time."""
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


def print_pages(readers: Readers) -> None:
    """Print the median and the 95th percentile of each page."""
    everything = sorted(second for seconds in readers.seconds.values() for second in seconds)
    print(f"{len(everything)} pages read, {len(readers.faults)} refused")
    print(f"{'page':<44}{'n':>6}{'median ms':>11}{'95 % ms':>9}")
    for page, seconds in sorted(readers.seconds.items()):
        print_line(page, sorted(seconds))
    print_line("all", everything)
    if find_percentile(everything) * 1000 > GOAL_PAGE_MS:
        print(f"  above the goal of {GOAL_PAGE_MS:.0f} ms at the 95th percentile")


def print_line(name: str, seconds: list[float]) -> None:
    """Print one line of the table."""
    median, high = statistics.median(seconds) * 1000, find_percentile(seconds) * 1000
    print(f"{name:<44}{len(seconds):>6}{median:>11.0f}{high:>9.0f}")


def find_percentile(ordered: list[float]) -> float:
    """Return the 95th percentile of ordered values."""
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def print_runs(alone: list[float], beside: list[float]) -> None:
    """Print how much longer a run takes beside the readers."""
    ratio = statistics.median(beside) / statistics.median(alone)
    print(f"run without readers {statistics.median(alone):.1f} s")
    print(f"run with readers {statistics.median(beside):.1f} s: {ratio:.2f}")
    if ratio > GOAL_SLOWER:
        print(f"  above the goal of {GOAL_SLOWER:.2f}")


@contextmanager
def serve_mock() -> Iterator[str]:
    """Serve the mock inference server; yield its address."""
    command = [sys.executable, str(HERE / "mock_server.py"), "--latency-ms", "50", "--slots", "256"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


@contextmanager
def serve_site(site: Path) -> Iterator[str]:
    """Start `intramural serve`; yield its address."""
    command = [*INTRAMURAL, "--site", str(site), "serve", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield process.stdout.readline().split()[0].rstrip("/")
    finally:
        process.terminate()
        process.wait()


def sign_in(service: str) -> str:
    """Return the cookie of a new session."""
    fields = {"name": "dana", "password": PASSWORD}
    done = httpx.post(f"{service}/sign-in", data=fields, headers={"Origin": service}, timeout=30)
    return done.cookies["intramural"]


def run_agent(*words: str) -> None:
    """Run a command of the agent; end if it fails."""
    done = subprocess.run([*INTRAMURAL, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)} left with {done.returncode}\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    main()
